/* A ZooKeeper server, a fault proxy in front of it, an observer around the proxy, and sessions and locks of the
 * product. All of it is static: one stage a process. Functions that wait fail the test at their deadline. */
#ifndef ZKLOCK_TEST_LOCK_STAGE_H
#define ZKLOCK_TEST_LOCK_STAGE_H

#include <pthread.h>

#include "support/fault_proxy.h"
#include "support/observer.h"
#include "support/probe.h"
#include "support/zk_server.h"

#include "recipe/machine.h"
#include "zklock.h"

enum { STAGE_LIMIT_MS = 30000 * ZKLOCK_TEST_SLOWNESS, STAGE_TIMEOUT_MS = 6000, STAGE_TICK_MS = 500 };

struct stage {
    struct zk_server *server;
    struct fault_proxy *proxy;
    struct observer *observer;
    zklock_session *session; /* through the proxy, connected */
};

extern struct stage stage;

/* For SUITE_TEST_WITH: all of it; or all but the session. Both make the lock's parent, STAGE_PATH. */
#define STAGE_PATH "/stage/lock"
void stage_start(void);
void stage_start_without_session(void);
/* Server options, when they are not the default ones. */
void stage_start_with(const struct zk_server_options *options);
/* Frees all contenders, closes all sessions, ends the servers. */
void stage_end(void);

/* Opens a session without waiting; with the tick that the server has. Closed by stage_end() at the latest. With
 * ZKLOCK_STAGE_LOG in the environment its log is printed. */
zklock_session *stage_begin(const char *servers, unsigned timeout_ms);
zklock_session *stage_begin_with(const zklock_session_options *options);
/* And waits until it is connected. */
zklock_session *stage_open(const char *servers, unsigned timeout_ms);
/* One around the proxy. */
zklock_session *stage_open_outside(void);
zklock_status stage_close(zklock_session *session, int64_t timeout_ms);
/* A round trip: whatever the server sent to this session before has been taken in when it returns. */
void stage_fence(zklock_session *session);
int64_t stage_session_id(zklock_session *session);
/* Requests that the proxy saw since its counters were reset, without heartbeats and pings. */
long stage_requests(void);

/* ---- contenders: a lock object and the events that it told */

enum { CONTENDER_EVENTS = 64 };

struct contender {
    struct contender *next;
    zklock_session *session;
    zklock *lock;
    struct probe events; /* one note an event: its kind */
    zklock_event history[CONTENDER_EVENTS];
};

struct contender *contender_new(zklock_session *session, const char *path);
struct contender *contender_new_with(zklock_session *session, const char *path, const zklock_options *options);
/* Frees the lock object alone; what was heard of it stays. */
void contender_free_lock(struct contender *contender);

/* Acquires; fails the test unless it holds. */
void contender_hold(struct contender *contender);
/* Begins an acquire without a limit, and waits until it stands behind somebody with all its watches. */
void contender_queue(struct contender *contender);
void contender_begin(struct contender *contender, int64_t timeout_ms);
/* Waits for this state of its machine. */
void contender_await_state(struct contender *contender, enum zkl_state state);
enum zkl_state contender_state(struct contender *contender);
/* Waits for the result of what was begun. */
zklock_status contender_result(struct contender *contender);
/* Waits until an event of this kind has come, and gives it; the test fails if it does not. */
const zklock_event *contender_await_event(struct contender *contender, zklock_event_kind kind);
bool contender_heard(struct contender *contender, zklock_event_kind kind);
uint64_t contender_token(struct contender *contender);
/* Full path of its znode. */
void contender_node(struct contender *contender, char out_path[OBSERVER_PATH_SIZE]);

/* ---- a call that blocks, on a thread of its own */

struct blocking_call {
    pthread_t thread;
    struct contender *contender;
    int64_t timeout_ms;
    zklock_status (*call)(zklock *lock, int64_t timeout_ms);
    zklock_status status;
    struct probe done;
};

void blocking_call_start(struct blocking_call *call, struct contender *contender,
                         zklock_status (*function)(zklock *, int64_t), int64_t timeout_ms);
/* Waits for its end; the test fails if it does not come. */
zklock_status blocking_call_join(struct blocking_call *call);

#endif
