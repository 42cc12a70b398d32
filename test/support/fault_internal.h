/* The inside of the fault proxy.
 *
 *     fault_proxy.c     what a test sets and reads, from the test's thread
 *     fault_relay.c     the proxy's thread: sockets, queues, time
 *     fault_frame.c     what a packet is, and what is to happen to it
 *     fault_count.c     counters, and waiting for them
 *
 * Everything is guarded by the proxy's mutex, which the relay gives up only while it polls. Only the relay
 * closes a connection's sockets; others shut them down. */
#ifndef ZKLOCK_TEST_FAULT_INTERNAL_H
#define ZKLOCK_TEST_FAULT_INTERNAL_H

#include "support/fault_proxy.h"
#include "support/port.h"

#include <pthread.h>

enum fault_direction { TO_SERVER, TO_CLIENT, DIRECTIONS };

enum { FAULT_RULES = 32, FAULT_OPS = 128, FAULT_TRACE = 512, READ_SIZE = 64 * 1024 };

struct packet {
    struct packet *next;
    size_t length;
    size_t sent;
    int64_t due_ms;
    bool is_held;
    unsigned char bytes[];
};

/* One direction of one connection. */
struct lane {
    unsigned char *input;       /* the beginning of a packet that is not whole yet */
    size_t input_length;
    struct packet *first;
    struct packet *last;
    int64_t next_byte_ms;       /* for trickling */
    bool has_opened;            /* the connect request or answer has passed */
    bool is_ended;              /* the source has closed */
    bool is_shut;               /* the destination has been told, or is gone */
};

/* A request whose answer has not come. */
struct asked {
    int32_t xid;
    int op;
    bool is_reply_lost;
    bool is_reply_held;
    enum fault_after after;
};

struct connection {
    struct connection *next;
    int sockets[DIRECTIONS];    /* by destination: [TO_CLIENT] is the client's socket; -1: none */
    int poll_slots[DIRECTIONS];
    struct lane lanes[DIRECTIONS];
    struct asked *asked;
    int asked_count;
    bool is_raw;
    bool is_silent;
    bool has_loss;
    bool is_cut;
    bool is_closed;             /* only its counters are left */
    int64_t session_id;
    long requests[FAULT_OPS];
    long events;
};

enum rule_kind { DROP_REQUEST, LOSE_REPLY, HOLD_REQUEST, HOLD_REPLY };

struct rule {
    bool is_armed;
    enum rule_kind kind;
    int op;
    int left;                   /* fires when this gets to 0 */
    enum fault_after after;
};

struct fault_proxy {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    bool is_ending;
    int wake;                   /* an eventfd: look again */
    int listener;               /* -1: down */
    struct port port;
    char address[64];
    struct fault_proxy_options options;
    char *listen_address;
    char *target_address;

    enum fault_mood mood;
    int delay_ms[DIRECTIONS];
    int trickle_ms;
    struct rule rules[FAULT_RULES];

    struct connection *connections;
    int accepted;
    int fired;
    int trace[FAULT_TRACE];
    int trace_length;
};

/* fault_frame.c: takes the whole packets out of the lane's input; queues, drops or holds them. */
void fault_take_packets(struct fault_proxy *proxy, struct connection *connection, enum fault_direction way);
bool fault_is_swallowed(const struct fault_proxy *proxy, const struct connection *connection,
                        enum fault_direction way);
void fault_drop_queue(struct lane *lane);

/* fault_relay.c */
void *fault_relay_run(void *proxy);
void fault_cut_connection(struct connection *connection);
void fault_flush_connection(struct fault_proxy *proxy, struct connection *connection);
void fault_open_listener(struct fault_proxy *proxy);
void fault_free_connection(struct connection *connection);

/* fault_count.c */
void fault_count_request(struct fault_proxy *proxy, struct connection *connection, int op);
void fault_count_event(struct fault_proxy *proxy, struct connection *connection);

#endif
