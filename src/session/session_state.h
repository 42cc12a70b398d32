/* The inside of a session, for src/session only. */
#ifndef ZKL_SESSION_STATE_H
#define ZKL_SESSION_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "recipe/lease.h"
#include "recipe/name.h"
#include "session/servers.h"
#include "session/session.h"

enum zkl_phase {
    ZKL_PHASE_RESOLVING, /* a job looks the hosts up */
    ZKL_PHASE_PAUSING,   /* looking up failed; again at retry_ns */
    ZKL_PHASE_OPENING,   /* a handle was opened and has not connected yet */
    ZKL_PHASE_CONNECTED,
    ZKL_PHASE_DISCONNECTED,
    ZKL_PHASE_CLOSED,
};

/* One handle of the client library, from open to the end of its close. */
struct zkl_handle {
    zklock_session *session; /* counted */
    struct zkl_store *store;
    int outstanding;         /* calls without a reply yet */
    bool is_unproved;        /* it goes on with a session, and no quorum write was answered on it yet */
    struct zkl_handle *next_unclosed;
};

struct zkl_zombie {
    struct zkl_zombie *next;
    char *parent;
    char prefix[ZKL_PREFIX_SIZE];
};

#define ZKL_ROOM_BUCKETS 256

struct zkl_left_watch;

/* Bytes of watched and of own paths: see room.c. */
struct zkl_room {
    size_t reserved; /* for what members watch and own */
    size_t left;     /* of watches that members left behind */
    struct zkl_left_watch *left_watches[ZKL_ROOM_BUCKETS];
};

struct zkl_beat_call;
struct zkl_sweep;

struct zkl_heartbeat {
    struct zkl_beat_call *out; /* the one under way, or NULL */
    bool is_overdue;           /* its interval passed without an answer */
    bool root_is_denied;
    int64_t next_ns;
    unsigned turn; /* which own nodes come next */
};

struct zkl_queued_notice {
    struct zkl_queued_notice *next;
    struct zkl_notice_to_user to_user; /* run NULL: a log line */
    zklock_log_level level;
    char line[];
};

struct zkl_notifier {
    struct zkl_worker *worker; /* NULL: the owner dispatches */
    int fd;                    /* readable when he has something to dispatch; -1: there is a worker */
    bool is_open;              /* started, and not stopped */
    struct zkl_queued_notice *first;
    struct zkl_queued_notice **last;
    int line_count;          /* log lines queued */
    int lines_dropped;       /* since the last one that was queued */
    const void *running_key; /* whose callback runs now */
    bool is_running;
    pthread_t thread;        /* of the running callback */
    pthread_cond_t idle;     /* a callback has returned, or the queue is empty */
};

/* A walk over the members, any of which may leave meanwhile. */
struct zkl_walk {
    struct zkl_member *next;
    struct zkl_walk *outer;
};

struct zklock_session {
    pthread_mutex_t mutex;
    int cancel_state; /* of the thread that has the mutex: what it is set back to */
    pthread_cond_t changed; /* phase, members, outstanding calls */
    int refs;
    pid_t pid;

    struct zkl_runtime *runtime;
    struct zkl_store_driver *driver;
    struct zkl_servers servers;
    char *label;
    char user[256];
    struct zkl_credentials credentials;
    zklock_acl acl;
    char *tls; /* NULL: in the clear */
    unsigned asked_timeout_ms;
    enum zkl_lease_rule rule;
    int64_t tick_ns;
    zklock_log_fn *log;
    void *log_arg;
    zklock_log_level log_level;

    struct zkl_worker *timer;
    int64_t planned_ns; /* the timer's next turn, as far as it was asked for */
    enum zkl_phase phase;
    bool is_closing;
    struct zkl_handle *handle; /* NULL: none */
    int closing_handles;       /* handles whose close has not ended */
    struct zkl_handle *unclosed; /* and those of them for which no thread was to be had yet */
    int64_t session_id;
    zklock_session_key key;    /* of this session */
    unsigned timeout_ms;       /* negotiated */
    int64_t retry_ns;          /* PAUSING, OPENING, DISCONNECTED: when to try something else */
    int64_t replace_ns;        /* DISCONNECTED: when to go on with the session on another handle */
    int tries;                 /* handles opened, or look-ups failed, since the last connection */
    bool is_refused;           /* the servers do not accept the credentials; until some do */
    char *addresses;
    char detail[512];

    struct zkl_lease lease;
    bool had_lease;
    struct zkl_heartbeat heartbeat;
    struct zkl_zombie *zombies;
    struct zkl_sweep *sweep; /* the one under way, or NULL */
    int64_t sweep_ns;
    bool is_spoilt;
    struct zkl_room room;

    struct zkl_member *members; /* the oldest first */
    struct zkl_walk *walk;      /* the one over the members that is under way, the innermost; NULL: none */
    struct zkl_member *last_member;
    int member_count;
    struct zkl_notifier notifier;
};

/* handle.c @locks all expect the session's mutex */
void zkl_handle_resolve(zklock_session *session, bool with_probe);
/* Gives the handle up: its close runs on a thread of its own. */
void zkl_handle_drop(zklock_session *session);
/* The session is over, at the server or by our choice: tells the members, and begins a fresh one. */
void zkl_handle_renew(zklock_session *session);
/* What is due of phases OPENING, PAUSING and DISCONNECTED. Returns when it wants the next turn. */
int64_t zkl_handle_turn(zklock_session *session, int64_t now_ns);

/* Opens a handle on the addresses that were looked up; with a key, to go on with that session. */
zklock_status zkl_handle_open(zklock_session *session, const zklock_session_key *key);
/* How long one may take to connect before another one tries the next address. */
int64_t zkl_handle_window(zklock_session *session);
/* The session answers (again): tells the members. */
void zkl_handle_answers(zklock_session *session, bool is_fresh);

/* handle_close.c @locks expect the session's mutex */
/* Begins the close of a handle that the session has left. */
void zkl_handle_close(struct zkl_handle *handle);
/* Begins the closes that are due. One for which there is no thread now stays in the list for the next turn. */
void zkl_handle_close_due(zklock_session *session);
/* Closes on the caller's thread what there was no other for: nobody will look again. May block for seconds.
 * @thread one that may block, after the timer has stopped  @locks none; takes the session's mutex */
void zkl_handle_close_rest(zklock_session *session);

/* replace.c @locks all expect the session's mutex */
void zkl_replace_plan(zklock_session *session, int64_t now_ns);
/* What is due while the session is disconnected. Returns when it wants the next turn. */
int64_t zkl_replace_turn(zklock_session *session, int64_t now_ns);
/* The handle that goes on with the session is connected: members hear of it when a quorum write was answered. */
void zkl_replace_prove(zklock_session *session);

/* session.c */
/* Hands a request on, whatever the phase. False: not sent, and never answered. */
bool zkl_session_send(zklock_session *session, struct zkl_call *call, const struct zkl_request *request);
/* From the first member to the last: begin, then on until that returns NULL, which ends the walk. */
void zkl_walk_begin(zklock_session *session, struct zkl_walk *walk);
struct zkl_member *zkl_walk_on(zklock_session *session);
void zkl_session_tell_members(zklock_session *session, enum zkl_link link);
void zkl_session_review_lease(zklock_session *session, int64_t now_ns);
void zkl_session_plan(zklock_session *session, int64_t when_ns);
/* One turn of everything that depends on time. @thread the timer  @locks takes the session's mutex */
int64_t zkl_session_turn(void *arg);

/* heartbeat.c */
int64_t zkl_heartbeat_interval(const zklock_session *session);
int64_t zkl_heartbeat_turn(zklock_session *session, int64_t now_ns);
void zkl_heartbeat_connected(zklock_session *session, int64_t now_ns, bool is_fresh);
/* The handle is given up: the beat under way concerns nobody any more. */
void zkl_heartbeat_forget(zklock_session *session);

/* zombies.c */
int64_t zkl_zombies_turn(zklock_session *session, int64_t now_ns);
void zkl_zombies_connected(zklock_session *session, int64_t now_ns);
void zkl_zombies_clear(zklock_session *session);

/* room.c */
void zkl_room_watch_fired(zklock_session *session, const char *path);
/* The handle is given up, and all its watches with it. */
void zkl_room_clear(zklock_session *session);
/* Whether watches that nobody waits for take so much room that an idle session should begin afresh. */
bool zkl_room_is_crowded(const zklock_session *session);

/* notifier.c */
zklock_status zkl_notifier_start(zklock_session *session, bool by_dispatch);
/* Lets what is queued run, for as long as it takes, and ends the thread. @locks none may be held */
void zkl_notifier_stop(zklock_session *session);

#endif
