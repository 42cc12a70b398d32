/* A TCP proxy in front of one ZooKeeper server that knows where a request and an answer begin and end, and
 * can do to them what networks do. It runs on a thread of its own, on a free port of 127.0.0.1.
 *
 * What a setting function sets is in force when it returns. Several clients can share a proxy; counters can
 * be read for one session. A function that cannot do its work ends the test program. */
#ifndef ZKLOCK_TEST_FAULT_PROXY_H
#define ZKLOCK_TEST_FAULT_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault_proxy;

/* ZooKeeper's numbers of the kinds of request, and some names of ours. */
enum fault_op {
    FAULT_OP_EVERY = -103,      /* every request but the opening of the session and pings */
    FAULT_OP_EVENT = -102,      /* a watch event; stands for "answer" in lose_reply and hold_reply */
    FAULT_OP_CONNECT = -101,    /* the opening of a session */
    FAULT_OP_CLOSE_SESSION = -11,
    FAULT_OP_CREATE = 1,
    FAULT_OP_DELETE = 2,
    FAULT_OP_EXISTS = 3,
    FAULT_OP_GET_DATA = 4,
    FAULT_OP_SET_DATA = 5,
    FAULT_OP_GET_ACL = 6,
    FAULT_OP_SET_ACL = 7,
    FAULT_OP_GET_CHILDREN = 8,
    FAULT_OP_SYNC = 9,
    FAULT_OP_PING = 11,
    FAULT_OP_GET_CHILDREN2 = 12,
    FAULT_OP_CHECK = 13,
    FAULT_OP_MULTI = 14,
    FAULT_OP_CREATE2 = 15,
    FAULT_OP_CHECK_WATCHES = 17,
    FAULT_OP_REMOVE_WATCHES = 18,
    FAULT_OP_CREATE_CONTAINER = 19,
    FAULT_OP_AUTH = 100,
    FAULT_OP_SET_WATCHES = 101
};

enum fault_mood {
    FAULT_PASS,             /* all goes through; the start */
    FAULT_DOWN,             /* connections are refused, existing ones cut */
    FAULT_HOLE,             /* connections are accepted, what comes is swallowed; no close is passed on */
    FAULT_HOLE_TO_SERVER,   /* only what clients send is swallowed */
    FAULT_HOLE_TO_CLIENT,   /* only what the server sends is swallowed */
    FAULT_STALL             /* nothing moves, nothing is lost: what waits goes on when the mood changes */
};
/* A connection that lost something in a hole is cut when the mood becomes one that is no hole (PASS again,
 * for a connection that a fault made silent), as its two ends no longer agree. */

/* What becomes of the connection after a fault on one request. What came before that request or answer has
 * been sent on by then. */
enum fault_after {
    FAULT_GO_ON,            /* libzookeeper then misses an answer and reports a run-time inconsistency */
    FAULT_THEN_CUT,
    FAULT_THEN_SILENT       /* a hole, for this connection alone */
};

struct fault_proxy_options {
    const char *listen_address;     /* NULL: 127.0.0.1; "::1" works too */
    int listen_port;                /* 0: a free one; else that of a proxy on another address, which outlives this */
    const char *target_address;     /* NULL: 127.0.0.1 */
    int target_port;
    bool is_raw;                    /* not a client port: bytes are passed on without a look inside */
};

struct fault_proxy *fault_proxy_start(int target_port);
struct fault_proxy *fault_proxy_open(const struct fault_proxy_options *options);
void fault_proxy_free(struct fault_proxy *proxy);
int fault_proxy_port(const struct fault_proxy *proxy);
/* "127.0.0.1:port" */
const char *fault_proxy_address(const struct fault_proxy *proxy);

/* For all connections, present and future. */
void fault_proxy_set_mood(struct fault_proxy *proxy, enum fault_mood mood);
void fault_proxy_set_delay(struct fault_proxy *proxy, int to_server_ms, int to_client_ms);
/* One byte each so many milliseconds, each way; 0: off. */
void fault_proxy_trickle(struct fault_proxy *proxy, int interval_ms);
/* Cuts the present connections, once. */
void fault_proxy_cut(struct fault_proxy *proxy);

/* Faults on one request: the nth (from 1) of this kind that comes in after the call, on any connection.
 * Each fires once. Requests that a hole swallows do not count for them. */
void fault_proxy_drop_request(struct fault_proxy *proxy, int op, int nth, enum fault_after after);
void fault_proxy_lose_reply(struct fault_proxy *proxy, int op, int nth, enum fault_after after);
/* Held until released, and all that comes behind it on that connection in that direction. A held request
 * reaches the server after the release even when its client has closed meanwhile. */
void fault_proxy_hold_request(struct fault_proxy *proxy, int op, int nth);
void fault_proxy_hold_reply(struct fault_proxy *proxy, int op, int nth);
void fault_proxy_release(struct fault_proxy *proxy);
/* Takes back the faults that have not fired. */
void fault_proxy_forget_faults(struct fault_proxy *proxy);

/* Counters, since the start or the last reset. A request counts when the proxy has read it whole, also when
 * it goes no further; an event when it was passed on towards the client. session_id 0: all sessions. */
long fault_proxy_requests(struct fault_proxy *proxy, int op);
long fault_proxy_session_requests(struct fault_proxy *proxy, int64_t session_id, int op);
long fault_proxy_connection_requests(struct fault_proxy *proxy, int connection, int op);
long fault_proxy_events(struct fault_proxy *proxy, int64_t session_id);
/* Not touched by a reset: connections accepted so far (numbered from 0), those open now, faults fired. */
int fault_proxy_accepted(struct fault_proxy *proxy);
int fault_proxy_open_connections(struct fault_proxy *proxy);
int fault_proxy_fired(struct fault_proxy *proxy);
void fault_proxy_reset_counts(struct fault_proxy *proxy);
/* The first requests since the reset in their order, without pings: "create2 getChildren getData event". */
void fault_proxy_trace(struct fault_proxy *proxy, char *out_text, size_t size);

/* Wait until the counter has reached n. */
bool fault_proxy_wait_requests(struct fault_proxy *proxy, int op, long n, int timeout_ms);
bool fault_proxy_wait_events(struct fault_proxy *proxy, long n, int timeout_ms);
bool fault_proxy_wait_accepted(struct fault_proxy *proxy, int n, int timeout_ms);
bool fault_proxy_wait_fired(struct fault_proxy *proxy, int n, int timeout_ms);
/* Until exactly so many packets are held, connections open. */
bool fault_proxy_wait_held(struct fault_proxy *proxy, int n, int timeout_ms);
bool fault_proxy_wait_open_connections(struct fault_proxy *proxy, int n, int timeout_ms);

#endif
