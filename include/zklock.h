/*
 * zklock.h - a distributed lock on Apache ZooKeeper
 *
 * Rules of lifetime, threads and callbacks
 *
 *  1. Open a session, make locks on it, free the locks, close the session. A lock must be freed before its
 *     session is closed; zklock_session_close() refuses nothing, but after it a lock holds nothing until it is
 *     freed: to acquire it answers ZKLOCK_CLOSED, to release, cancel or downgrade it ZKLOCK_NOT_HELD.
 *  2. Every function may be called from any thread, on the same lock too. Free and close are the exception: no
 *     other call on the object may run at the same time or later. Both accept NULL. A blocking call is no
 *     cancellation point: a thread that is ended by pthread_cancel() returns from it first.
 *  3. A lock object stands for one contender at a time. Threads of one process that must exclude each other
 *     use a lock object each; a second acquire on one object is the error ZKLOCK_ALREADY, at once, unless the object
 *     was made re-entrant and the thread is the one that holds.
 *  4. Callbacks run on one thread of the session (the notifier), or where zklock_session_dispatch() is called, if the
 *     session's options say so; one at a time, in order. They may call whatever
 *     does not block; a blocking call from a notifier thread answers ZKLOCK_DEADLOCK. A callback that takes long
 *     delays other callbacks only: never the state, the descriptor or zklock_remaining_ms(). A callback returns: it must
 *     not be left by a C++ exception, longjmp() or pthread_exit().
 *  5. A call that begins nothing (ZKLOCK_ALREADY, ZKLOCK_CLOSED...) runs no callback; an acquire that was begun tells
 *     its end by ZKLOCK_EVENT_ENDED, whatever that is. After zklock_free() returns, none of that lock's callbacks runs
 *     (it waits for a running one, except when called from inside it; an acquire that this one begins meanwhile
 *     answers ZKLOCK_CLOSED). After zklock_session_close() returns, none of that session's callbacks runs.
 *  6. After fork() the child may not use the parent's objects: every call answers ZKLOCK_FORKED and touches
 *     nothing. The parent goes on undisturbed. The child may open sessions of its own; one that a callback forked must
 *     not return from it. Descriptors of zklock and of its ZooKeeper client are closed on exec.
 *  7. Times are in milliseconds and measured on CLOCK_BOOTTIME: time spent in suspend counts. A negative limit
 *     means "for ever"; 0 means "do not wait", but an acquire on a session that is connected still waits for the
 *     server's answer, for the session timeout at most.
 *  8. Output parameters are written only on ZKLOCK_OK unless the function says otherwise. NULL where an object, a path or
 *     an output parameter has to be is ZKLOCK_BAD_ARGUMENT; functions that return no status take it for an idle object,
 *     and write nothing into a buffer that is NULL.
 *
 * What a lock promises, and what it cannot
 *
 *  - While the process runs, ZKLOCK_LOST is recorded before the server can give a cut-off holder's lock to
 *    anyone else. A contender that somebody else deletes is reported as soon as the news arrives, which is
 *    after it happened. Who gets a free lock begins to watch its contender up to 50 ms after the grant; what
 *    was done to it before, a request to let go included, is told then.
 *  - A process that is stopped or frozen learns of a loss only when it runs again. For that case every grant has
 *    a fencing token (zklock_token()): give it to the resource, and let the resource refuse older ones.
 *  - This rests on: clock rates of client and leader within 1 % of each other; the leader's timers late by at
 *    most 100 ms; all servers of the ensemble with the same tickTime and session limits, and
 *    minSessionTimeout of at least two ticks (the default).
 *  - The znodes are made with the open ACL unless the session's options say otherwise (`acl`): anyone who reaches the
 *    ensemble can then delete a contender. Nothing here is encrypted: see the manual for a tunnel.
 */
#ifndef ZKLOCK_H
#define ZKLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ZKLOCK_API __attribute__((visibility("default")))
#define ZKLOCK_MUST_CHECK __attribute__((warn_unused_result))
#else
#define ZKLOCK_API
#define ZKLOCK_MUST_CHECK
#endif

#define ZKLOCK_VERSION_MAJOR 0
#define ZKLOCK_VERSION_MINOR 1
#define ZKLOCK_VERSION_PATCH 0

/*
 * Status codes. Columns: name, code, text, worth trying again, exit status of the command.
 */
#define ZKLOCK_STATUS_MAP(X)                                                                                  \
    X(OK, 0, "success", false, 0)                                                                             \
    X(BUSY, 1, "somebody else is ahead", true, 1)                                                             \
    X(TIMEOUT, 2, "the wait limit passed", true, 1)                                                           \
    X(CANCELLED, 3, "the acquire was cancelled", true, 1)                                                     \
    X(REMOVED, 4, "the contender was removed by somebody else while it waited", true, 1)                      \
    X(NO_SERVER, 5, "no usable ZooKeeper server within the limit", true, 69)                                  \
    X(LOST, 6, "the lock was lost", true, 79)                                                                 \
    X(UNCONFIRMED, 7, "not confirmed within the limit; it goes on in the background", true, 75)               \
    X(DENIED, 8, "access denied by ZooKeeper", false, 77)                                                     \
    X(BAD_ARGUMENT, 9, "bad argument", false, 64)                                                             \
    X(ALREADY, 10, "this lock object already holds or waits", false, 70)                                      \
    X(NOT_HELD, 11, "this lock object holds nothing", false, 70)                                              \
    X(CLOSED, 12, "the session is closed", false, 70)                                                         \
    X(FORKED, 13, "not the owning process", false, 70)                                                        \
    X(DEADLOCK, 14, "a blocking call from a callback would never end", false, 70)                             \
    X(MIXED_STYLES, 15, "contenders of styles that do not exclude each other share this path", false, 70)     \
    X(REFUSED, 16, "ZooKeeper refused the request", false, 70)                                                \
    X(TOO_LARGE, 17, "a limit of this client would be exceeded", false, 70)                                   \
    X(NO_MEMORY, 18, "out of memory", true, 71)                                                               \
    X(SYSTEM, 19, "the operating system refused", true, 71)                                                   \
    X(PENDING, 20, "no result yet", true, 70)                                                                 \
    X(INTERNAL, 21, "internal failure", false, 70)                                                            \
    X(CHANGED, 22, "it has changed since it was read", false, 1)                                              \
    X(NO_UPGRADE, 23, "a shared lock is never made exclusive; release it, then acquire", false, 70)           \
    X(OTHER_PERMITS, 24, "the semaphore has another number of permits", false, 64)                            \
    X(NO_TLS, 25, "the ZooKeeper client library of this build has no TLS", false, 69)                         \
    X(STALE, 26, "a newer fencing token was seen", false, 79)

typedef enum zklock_status {
#define ZKLOCK_STATUS_ENUM(name, code, text, retriable, exit_status) ZKLOCK_##name = (code),
    ZKLOCK_STATUS_MAP(ZKLOCK_STATUS_ENUM)
#undef ZKLOCK_STATUS_ENUM
} zklock_status;

/* Static text of a status; never NULL, also for numbers that are none. Does not block; any thread. */
ZKLOCK_API const char *zklock_status_text(zklock_status status);
/* The status's symbol, such as "ZKLOCK_BUSY"; never NULL. Does not block; any thread. */
ZKLOCK_API const char *zklock_status_name(zklock_status status);
/* Whether the same call may succeed later without anything being changed. Does not block; any thread. */
ZKLOCK_API bool zklock_status_is_retriable(zklock_status status);
/* The exit status that the command uses for it. Does not block; any thread. */
ZKLOCK_API int zklock_status_exit(zklock_status status);
/* The library's version, such as "0.1.0": a static string. Does not block; any thread. */
ZKLOCK_API const char *zklock_version(void);

typedef struct zklock_session zklock_session;
typedef struct zklock zklock;
typedef struct zklock_multi zklock_multi;
typedef struct zklock_fence zklock_fence;

/* ---------------------------------------------------------------------------------------------- session */

typedef enum zklock_log_level {
    ZKLOCK_LOG_ERROR = 1,
    ZKLOCK_LOG_WARNING = 2,
    ZKLOCK_LOG_INFO = 3,  /* the story of each acquire */
    ZKLOCK_LOG_DEBUG = 4, /* and of each request */
} zklock_log_level;

/*
 * Receives one line without a newline or any other control character. It may quote names that others chose, in UTF-8 or
 * what was meant to be it: for a terminal, replace what such text can still do there. `message` is valid during the call only. Runs on the notifier thread, so
 * that it may block for a while; it must not call blocking functions of this library.
 */
typedef void zklock_log_fn(void *arg, zklock_log_level level, const char *message);

/* How a holder knows that its lease still runs. */
typedef enum zklock_lease {
    ZKLOCK_LEASE_STRICT = 0,     /* any server of an ensemble, or a single one: quorum heartbeats */
    ZKLOCK_LEASE_STANDALONE = 1, /* one standalone server only: any answered request counts */
    ZKLOCK_LEASE_CHEAP = 2,      /* no heartbeats: trusts the client library's own detection. A holder behind a
                                    server that is cut off from its leader is NOT told in time. */
} zklock_lease;

/* Who may do what with the znodes that a session makes: its contenders, and the parents that were missing. */
typedef enum zklock_acl {
    ZKLOCK_ACL_OPEN = 0,         /* anybody everything */
    ZKLOCK_ACL_CREATOR = 1,      /* whoever has the session's credentials everything, anybody else nothing: all who
                                    share a lock need the same ones */
    ZKLOCK_ACL_CREATOR_READ = 2, /* the same, but anybody may list and read: see who holds it, and wait until free */
} zklock_acl;

/*
 * A program that was compiled with an older header has a smaller struct, which its `size` says: what is missing there
 * keeps its default. One with a newer header has a larger one: it is refused if it asks for what this library does not
 * know, that is, if anything but zero stands there.
 */
typedef struct zklock_session_options {
    size_t size;                 /* sizeof(zklock_session_options), set by _init */
    const char *servers;         /* "host[:port],...[/chroot]"; IPv6 as [::1]:2181; copied. Default
                                    "localhost:2181" */
    unsigned session_timeout_ms; /* asked of the server, which may grant another; default 10000 */
    unsigned tick_time_ms;       /* the servers' tickTime; 0 (default): unknown, the worst case is assumed */
    zklock_lease lease;          /* default ZKLOCK_LEASE_STRICT */
    const char *label;           /* stands in the payload of every contender; copied; NULL: the program's name */
    zklock_log_fn *log;          /* may be NULL */
    void *log_arg;
    zklock_log_level log_level; /* what `log` gets; default ZKLOCK_LOG_WARNING */
    const char *auth_scheme;    /* of the credentials, such as "digest"; copied; NULL (default): none */
    const void *auth;           /* the credentials, for digest "user:password" without a NUL; copied, and the copy is
                                   wiped when the session is closed, as far as it is this library's. Never in logs,
                                   details or znodes. Over the network they go as they are */
    size_t auth_size;           /* in bytes; at most 65536 */
    zklock_acl acl;             /* of what is made; default ZKLOCK_ACL_OPEN; anything else needs credentials */
    const char *tls;            /* "CA[,CERTIFICATE,KEY[,PASSWORD]]": files in PEM that the ZooKeeper client library is
                                   to encrypt with, by its own rules; copied. NULL (default): in the clear. Only where
                                   that library can: see zklock_has_tls() */
    bool by_dispatch;           /* callbacks and log lines run in zklock_session_dispatch() alone, on the thread that
                                   calls it; default false: on a thread of the session, the notifier */
} zklock_session_options;

/* Fills in the defaults, `size` bytes of them: the caller's sizeof(zklock_session_options), whatever the library's is.
 * Does not block; any thread. */
ZKLOCK_API void zklock_session_options_init_sized(zklock_session_options *options, size_t size);
/* The same with the size of this header's struct. */
static inline void zklock_session_options_init(zklock_session_options *options)
{
    zklock_session_options_init_sized(options, sizeof(*options));
}

/*
 * Opens a session and begins to connect.
 *
 * options    copied; NULL stands for the defaults.
 * ownership  the caller ends *out_session with zklock_session_close().
 * blocking   not on the network, unless the user database is there; the connection is made in the background and re-made
 *            for as long as the session is open, over expiry too. Servers that do not accept the credentials end every wait at once with
 *            ZKLOCK_DENIED, and what is held is lost; it is tried again every few seconds all the same. Whether a
 *            digest is the right one, servers do not say: it shows when a right is missing.
 * threads    any. Starts two threads, and the ZooKeeper client's two; all signals are blocked in them.
 * returns    ZKLOCK_OK; ZKLOCK_BAD_ARGUMENT (see zklock_servers_check() for what is wrong with a server list);
 *            ZKLOCK_NO_TLS: asked for, but see zklock_has_tls(); ZKLOCK_NO_MEMORY, ZKLOCK_SYSTEM: later, perhaps.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_session_open(const zklock_session_options *options,
                                                               zklock_session **out_session);

/* Whether the ZooKeeper client library that this program runs with can encrypt. Debian 12's cannot; a tunnel can, see the
 * manual. Does not block; any thread. */
ZKLOCK_API bool zklock_has_tls(void);

/*
 * Closes a session: ends waits with ZKLOCK_CLOSED, deletes the session's contenders, ends it at the server.
 *
 * timeout_ms how long to try to reach the server; then the contenders stay until the session times out there.
 *            Negative: 3 seconds.
 * blocking   at most timeout_ms and about two seconds, for what is under way and for the end of the session itself; and
 *            as long as callbacks and log lines that are queued take to run.
 * threads    any but a notifier thread (ZKLOCK_DEADLOCK, and the session stays open). No other call on the session
 *            may run.
 * returns    ZKLOCK_OK: nothing is left at the server. ZKLOCK_UNCONFIRMED: closed, but contenders may stay for
 *            up to the session timeout. ZKLOCK_FORKED: nothing was touched.
 * since      0.1
 */
ZKLOCK_API zklock_status zklock_session_close(zklock_session *session, int64_t timeout_ms);

/*
 * Waits until the session is connected.
 *
 * blocking   at most timeout_ms. threads: any but a notifier thread.
 * returns    ZKLOCK_OK; ZKLOCK_NO_SERVER: not within the limit, see zklock_session_detail(); ZKLOCK_DENIED: the
 *            servers do not accept the credentials, at once; ZKLOCK_DEADLOCK; ZKLOCK_FORKED; ZKLOCK_CLOSED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_session_wait_connected(zklock_session *session,
                                                                         int64_t timeout_ms);

/*
 * A descriptor that becomes readable when there is something for zklock_session_dispatch(), for poll, epoll, libuv.
 *
 * ownership  the session's: do not read from it, write to it or close it. blocking: no. threads: any.
 * returns    ZKLOCK_OK; ZKLOCK_BAD_ARGUMENT: the session was opened without `by_dispatch`; ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_session_fd(zklock_session *session, int *out_fd);

/*
 * Runs the callbacks and log lines that are due, on this thread: an event loop's, which no callback then surprises on
 * another one. For them this thread is the notifier thread of the rules above. Of several threads that call it at a time
 * one runs them. zklock_session_close() runs what is left.
 *
 * blocking   not by itself, as long as they take. threads: any.
 * returns    ZKLOCK_OK; ZKLOCK_BAD_ARGUMENT: the session was opened without `by_dispatch`; ZKLOCK_DEADLOCK: from a
 *            callback; ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API zklock_status zklock_session_dispatch(zklock_session *session);

typedef struct zklock_session_info {
    bool is_connected;
    int64_t session_id;          /* 0 before the first connection; changes after expiry */
    unsigned session_timeout_ms; /* negotiated; what was asked for, before the first connection */
    int64_t lease_remaining_ms;  /* as zklock_remaining_ms() for a lock that is held */
} zklock_session_info;

/* What is known of the session now, `size` bytes of it: the caller's sizeof(zklock_session_info), whatever the library's is;
 * what the library does not know is zero. Does not block; any thread. Returns ZKLOCK_OK or ZKLOCK_FORKED. */
ZKLOCK_API zklock_status zklock_session_info_get_sized(zklock_session *session, zklock_session_info *out_info,
                                                       size_t size);
/* The same with the size of this header's struct. */
static inline zklock_status zklock_session_info_get(zklock_session *session, zklock_session_info *out_info)
{
    return zklock_session_info_get_sized(session, out_info, sizeof(*out_info));
}

/* What it takes to end a session from another process. Whoever has it can do with the session what its owner can. */
typedef struct zklock_session_key {
    int64_t session_id;
    unsigned char password[16];
} zklock_session_key;

/*
 * Writes the key of the present session, for a process that outlives this one and ends the session for it. It changes
 * when the session expires and a fresh one is opened.
 *
 * blocking   no. threads: any.
 * returns    ZKLOCK_OK; ZKLOCK_NO_SERVER: there is no session yet; ZKLOCK_BAD_ARGUMENT; ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_session_key_get(zklock_session *session, zklock_session_key *out_key);

/*
 * Ends a session by its key, and with it every contender of it: what a process can do at once that another one would
 * have done, had it not been killed. Only for sessions whose process is certainly gone, and everything that relied on
 * its locks too; nobody checks that.
 *
 * servers    as in zklock_session_options.
 * timeout_ms limit for all of it but looking up host names; negative: for ever.
 * blocking   at most timeout_ms, as long as host names take to be looked up, and some seconds more where the last
 *            connection is slow to close. threads: any but a notifier thread.
 * returns    ZKLOCK_OK: the servers say that this session is over. ZKLOCK_NO_SERVER: none said so within the limit.
 *            ZKLOCK_BAD_ARGUMENT; ZKLOCK_NO_MEMORY; ZKLOCK_SYSTEM; ZKLOCK_DEADLOCK.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_session_end(const char *servers, const zklock_session_key *key,
                                                              int64_t timeout_ms);

/*
 * Writes one line that says why the session is not connected ("127.0.0.1:2181: Connection refused; ..."), or an
 * empty string. It is cut to the buffer, of which 512 bytes are enough. Does not block; any thread.
 */
ZKLOCK_API void zklock_session_detail(zklock_session *session, char *buffer, size_t size);

/*
 * Checks a server list without looking anything up. On failure writes what is wrong and where ("character 12:
 * port '99999' is not between 1 and 65535") into `buffer`. Does not block; any thread.
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_servers_check(const char *servers, char *buffer, size_t size);

/* The same for a lock path ("character 5: empty component"). Does not block; any thread. */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_path_check(const char *path, char *buffer, size_t size);

/* ------------------------------------------------------------------------------------------------- locks */

typedef enum zklock_state {
    ZKLOCK_STATE_IDLE = 0,
    ZKLOCK_STATE_ACQUIRING = 1,
    ZKLOCK_STATE_HELD = 2,
    ZKLOCK_STATE_SUSPENDED = 3, /* held, but the server does not answer; the lease still runs */
    ZKLOCK_STATE_LOST = 4,      /* was held; stop what needs the lock, then release */
    ZKLOCK_STATE_RELEASING = 5,
} zklock_state;

typedef enum zklock_loss {
    ZKLOCK_LOSS_NONE = 0,
    ZKLOCK_LOSS_EXPIRED = 1, /* the server ended the session */
    ZKLOCK_LOSS_LEASE = 2,   /* the lease ran out without an answer from the servers */
    ZKLOCK_LOSS_REMOVED = 3, /* somebody deleted the contender */
    ZKLOCK_LOSS_CLOSED = 4,  /* the session was closed */
    ZKLOCK_LOSS_HOLD_LIMIT = 5, /* it was held for as long as `hold_limit_ms` allows */
} zklock_loss;

/* Static text of a loss's reason; never NULL. Does not block; any thread. */
ZKLOCK_API const char *zklock_loss_text(zklock_loss loss);

/* When memory is short, REQUEUED, REVOKE, and SUSPENDED with its RESUMED, may be left out; the others never are. */
typedef enum zklock_event_kind {
    ZKLOCK_EVENT_ENDED = 1,     /* the acquire has its result: `status` (ZKLOCK_OK: held) */
    ZKLOCK_EVENT_REQUEUED = 2,  /* the session expired while waiting; queued again, at the end */
    ZKLOCK_EVENT_SUSPENDED = 3, /* held, but the server does not answer */
    ZKLOCK_EVENT_RESUMED = 4,   /* held, and the server answers again */
    ZKLOCK_EVENT_LOST = 5,      /* `loss` says why; final */
    ZKLOCK_EVENT_RELEASED = 6,  /* the contender is gone from the server, or the acquire's remains are; or the session was
                                   closed, and zklock_session_close() says whether they may stay for a while. Not told
                                   when the next acquire was begun first, as after zklock_release_send() */
    ZKLOCK_EVENT_REVOKE = 7,    /* somebody asks to let go, while held or waiting; see zklock_revocations() */
} zklock_event_kind;

typedef struct zklock_event {
    zklock_event_kind kind;
    zklock_status status; /* ENDED: the acquire's; RELEASED: the release's, or the acquire's where it was never held;
                             LOST: ZKLOCK_LOST; REQUEUED: ZKLOCK_PENDING; else ZKLOCK_OK */
    zklock_loss loss;
    uint64_t token; /* of the grant, for ENDED with ZKLOCK_OK and for what follows it */
} zklock_event;

/* Runs on the notifier thread; `event` is valid during the call only. It must return: see rule 4. */
typedef void zklock_event_fn(zklock *lock, const zklock_event *event, void *arg);

/*
 * How contenders are named, which decides what other clients share the path (see the manual). Contenders that would
 * not count each other end an acquire with ZKLOCK_MIXED_STYLES; so do a lock's contenders a permit's, and the other way
 * round. Directories of a semaphore that nobody uses do no harm.
 */
typedef enum zklock_style {
    ZKLOCK_STYLE_CURATOR = 0,    /* exclusive: with Curator's mutex and go-zookeeper, unless somebody is shared: then
                                    among users of this library only */
    ZKLOCK_STYLE_KAZOO = 1,      /* kazoo's Lock and go-zookeeper; ReadLock and WriteLock */
    ZKLOCK_STYLE_CURATOR_RW = 2, /* Curator's read-write lock. The one after an exclusive holder lists before it is
                                    granted, since that holder may be downgraded: one round trip more a hand-over */
} zklock_style;

/*
 * One queue, in the order of arrival: a shared contender waits for the exclusive ones ahead of it, an exclusive one
 * for all. Shared contenders hold together; those that come behind a waiting exclusive one wait for it.
 */
typedef enum zklock_mode {
    ZKLOCK_MODE_EXCLUSIVE = 0,
    ZKLOCK_MODE_SHARED = 1,
    ZKLOCK_MODE_LEADER_LATCH = 2, /* exclusive among Curator's leader latches */
    ZKLOCK_MODE_SEMAPHORE = 3,    /* one of N permits, with Curator's InterProcessSemaphoreV2: N contenders hold
                                     together; of the others one at a time stands in front, in the order of arrival.
                                     Style ZKLOCK_STYLE_CURATOR only. It takes one round trip more than a mutex */
} zklock_mode;

/* The most permits that a semaphore can have. */
#define ZKLOCK_PERMITS_MAX 1000000

typedef struct zklock_options {
    size_t size;               /* sizeof(zklock_options), set by _init */
    zklock_style style;        /* default ZKLOCK_STYLE_CURATOR */
    const char *label;         /* instead of the session's; copied; NULL: the session's */
    bool persistent_parent;    /* make missing parents persistent instead of containers */
    zklock_event_fn *on_event; /* may be NULL */
    void *event_arg;
    zklock_mode mode;          /* default ZKLOCK_MODE_EXCLUSIVE */
    unsigned permits;          /* of ZKLOCK_MODE_SEMAPHORE: how many may hold together. Where the path has no limit yet,
                                  this is set; where it has another one, the acquire ends with ZKLOCK_OTHER_PERMITS.
                                  0 (default): as many as the path says, which has to say something */
    int64_t hold_limit_ms;     /* the lock is held for at most so long: then it is LOST, by ZKLOCK_LOSS_HOLD_LIMIT, and its
                                  contender is deleted at once, whether or not the owner has released. Counts from the
                                  grant; in a multi from that of the last one. 0 (default) or negative: no limit */
    bool is_reentrant;         /* the thread that holds may acquire again: see zklock_entries(). Not for semaphores; a
                                  multi takes none */
} zklock_options;

/* Fills in the defaults, `size` bytes of them: the caller's sizeof(zklock_options), whatever the library's is. Does not
 * block; any thread. */
ZKLOCK_API void zklock_options_init_sized(zklock_options *options, size_t size);
/* The same with the size of this header's struct. */
static inline void zklock_options_init(zklock_options *options)
{
    zklock_options_init_sized(options, sizeof(*options));
}

/*
 * Makes a lock object; nothing is asked of the server yet.
 *
 * path       absolute, below the session's chroot; copied.
 * options    copied; NULL stands for the defaults.
 * ownership  the caller ends *out_lock with zklock_free(), before the session is closed.
 * blocking   no. threads: any.
 * returns    ZKLOCK_OK; ZKLOCK_BAD_ARGUMENT (zklock_path_check() says where); ZKLOCK_TOO_LARGE: chroot and path have more
 *            than 900 bytes together; ZKLOCK_NO_MEMORY; ZKLOCK_CLOSED; ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_new(zklock_session *session, const char *path,
                                                      const zklock_options *options, zklock **out_lock);

/*
 * Frees a lock object. What it holds is released and what it waits for is given up, in the background, until the
 * server has confirmed it.
 *
 * blocking   only until a running callback of this lock returns. threads: any; no other call may run or follow.
 * since      0.1
 */
ZKLOCK_API void zklock_free(zklock *lock);

/*
 * Takes the lock if nobody is ahead at the moment the server looks.
 *
 * timeout_ms limit for connecting and for the answer; negative: for ever; 0: as zklock_acquire() with 0.
 * blocking   at most timeout_ms, with 0 the session timeout. threads: any but a notifier thread.
 * callback   ZKLOCK_EVENT_ENDED follows as for every acquire.
 * returns    ZKLOCK_OK: held. ZKLOCK_BUSY: somebody is ahead. Else as zklock_acquire().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_try(zklock *lock, int64_t timeout_ms);

/*
 * Queues for the lock and waits until it is held.
 *
 * timeout_ms one limit for connecting and waiting; negative: for ever; 0: as zklock_try() without waiting for a
 *            connection; where there is one, its answer is waited for, for the session timeout at most.
 * blocking   at most timeout_ms, with 0 the session timeout. threads: any but a notifier thread.
 * returns    ZKLOCK_OK: held, see zklock_token().
 *            ZKLOCK_TIMEOUT: the limit passed while others were ahead; ZKLOCK_NO_SERVER: it passed without an
 *            answer from a server. In both cases the contender is removed in the background.
 *            ZKLOCK_CANCELLED; ZKLOCK_REMOVED: somebody deleted the contender; ZKLOCK_ALREADY: this object holds,
 *            waits, is lost and not yet released, or a thread is in zklock_release(); ZKLOCK_DENIED,
 *            ZKLOCK_REFUSED, ZKLOCK_MIXED_STYLES: zklock_detail() names the path and the right;
 *            ZKLOCK_OTHER_PERMITS: it names both limits; ZKLOCK_TOO_LARGE:
 *            the session has as many locks as its connection can restore (some thousands), use another session
 *            for more; ZKLOCK_CLOSED; ZKLOCK_DEADLOCK; ZKLOCK_FORKED; ZKLOCK_NO_MEMORY.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_acquire(zklock *lock, int64_t timeout_ms);

/*
 * Begins an acquire and returns at once. The result comes as ZKLOCK_EVENT_ENDED, makes zklock_fd() readable, and
 * is what zklock_result() returns.
 *
 * returns    ZKLOCK_OK: begun. Else nothing was begun: ZKLOCK_ALREADY, ZKLOCK_TOO_LARGE, ZKLOCK_CLOSED,
 *            ZKLOCK_DENIED (the servers did not accept the session's credentials), ZKLOCK_FORKED, ZKLOCK_NO_MEMORY.
 * blocking   no. threads: any, callbacks too.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_acquire_start(zklock *lock, int64_t timeout_ms);

/* The result of the latest acquire, as zklock_acquire() returns it; ZKLOCK_PENDING while it runs; ZKLOCK_NOT_HELD before
 * the first; ZKLOCK_FORKED. It stays after a release or a loss: see zklock_is_held(). Does not block; any thread. */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_result(zklock *lock);

/* Waits for the result of an acquire that was begun with zklock_acquire_start(). Blocks until that has ended, by its
 * own limit at the latest; any thread but a notifier thread. Returns as zklock_result(), but never ZKLOCK_PENDING;
 * ZKLOCK_DEADLOCK. */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_wait(zklock *lock);

/*
 * A descriptor that becomes readable at every event of this lock (see zklock_event_kind), for poll, epoll, libuv.
 *
 * ownership  the lock's: do not close it, do not write to it; read 8 bytes from it (or call zklock_fd_clear()) to
 *            clear it, then ask zklock_result() and zklock_state_get().
 * blocking   no. threads: any. The first call makes the descriptor; close-on-exec, non-blocking.
 * returns    ZKLOCK_OK, ZKLOCK_SYSTEM (no descriptors left), ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_fd(zklock *lock, int *out_fd);

/* Makes the descriptor unreadable until the next event. Does not block; any thread. */
ZKLOCK_API void zklock_fd_clear(zklock *lock);

/*
 * Gives up an acquire that runs: it ends with ZKLOCK_CANCELLED, unless it has its result already. The contender is
 * removed in the background.
 *
 * blocking   no. threads: any, callbacks too.
 * returns    ZKLOCK_OK: cancelled, now or before. ZKLOCK_NOT_HELD: no acquire runs. ZKLOCK_ALREADY: it was granted
 *            first; release it. ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API zklock_status zklock_cancel(zklock *lock);

/*
 * Lets go and waits until the server has confirmed it.
 *
 * timeout_ms negative: for ever. Afterwards the removal goes on in the background in any case.
 * blocking   at most timeout_ms. threads: any but a notifier thread.
 * returns    ZKLOCK_OK: released, held until then. ZKLOCK_LOST: it had been lost before; the object is free for a
 *            new acquire. ZKLOCK_UNCONFIRMED: not confirmed within the limit. ZKLOCK_NOT_HELD: nothing to release,
 *            nothing changed. ZKLOCK_DENIED, ZKLOCK_REFUSED: the server refuses the delete; the contender goes with the
 *            session. ZKLOCK_DEADLOCK; ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API zklock_status zklock_release(zklock *lock, int64_t timeout_ms);

/*
 * Lets go and returns as soon as the request is handed on; the removal goes on in the background until it is certain.
 *
 * blocking   no. threads: any, callbacks too.
 * returns    ZKLOCK_OK; ZKLOCK_LOST: it had been lost before; ZKLOCK_NOT_HELD; ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API zklock_status zklock_release_send(zklock *lock);

/*
 * How often the calling thread has to release a lock that was made re-entrant; 0: it is not the one that holds. Of such a
 * lock the thread that waited is the owner:
 *
 *  - zklock_acquire() and zklock_try() by the owner return ZKLOCK_OK at once, without a request or an event, under the
 *    same token. ZKLOCK_LOST: the lock was lost, and this was not counted. ZKLOCK_NO_UPGRADE: it was downgraded.
 *    zklock_acquire_start() has no owner, and answers ZKLOCK_BAD_ARGUMENT.
 *  - zklock_release() and zklock_release_send() count down: ZKLOCK_OK, or ZKLOCK_LOST where it was lost meanwhile; the
 *    last one releases. After a loss the owner has to release as often.
 *  - For any other thread it is held by somebody else: to acquire it is ZKLOCK_ALREADY, to release, downgrade or upgrade it
 *    ZKLOCK_NOT_HELD. An owner that ends without a release leaves it held: zklock_free() releases it.
 *  - The lock of a cohort may be re-entrant: then its owner may acquire the cohort again.
 *
 * Does not block; any thread.
 */
ZKLOCK_API unsigned zklock_entries(zklock *lock);

/*
 * Makes an exclusive lock of the style ZKLOCK_STYLE_CURATOR_RW shared without letting go: no exclusive contender can
 * come between, and the shared ones right behind are granted at once. The token stays.
 *
 * timeout_ms negative: for ever. Afterwards it goes on in the background.
 * blocking   at most timeout_ms. threads: any but a notifier thread.
 * returns    ZKLOCK_OK: shared, from now on or before. ZKLOCK_UNCONFIRMED: held, and not confirmed as shared within the
 *            limit; ask again. ZKLOCK_BAD_ARGUMENT: of another style. ZKLOCK_DENIED, ZKLOCK_REFUSED: held as before,
 *            see zklock_detail(). ZKLOCK_LOST; ZKLOCK_NOT_HELD; ZKLOCK_NO_MEMORY; ZKLOCK_DEADLOCK; ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_downgrade(zklock *lock, int64_t timeout_ms);

/*
 * Asks for exclusiveness without letting go, which a shared lock never gets: two holders who both asked would wait for
 * each other for ever. Release it, and acquire with a lock object whose mode is exclusive; others may come between.
 *
 * blocking   no. threads: any, callbacks too.
 * returns    ZKLOCK_OK: it is held exclusively as it is. ZKLOCK_NO_UPGRADE: it is shared, and stays so. ZKLOCK_LOST;
 *            ZKLOCK_NOT_HELD; ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_upgrade(zklock *lock);

/* Whether the lock is held now, by the clock: false once the lease has run out, even if no event has been delivered.
 * Does not block; any thread. */
ZKLOCK_API bool zklock_is_held(zklock *lock);

/* Milliseconds for which the lock is surely held if the servers fall silent now; 0 when it is not held. With
 * ZKLOCK_LEASE_CHEAP and a connection: the session timeout. Does not block; any thread. */
ZKLOCK_API int64_t zklock_remaining_ms(zklock *lock);

/* The state by the clock, and why it was lost. `out_loss` may be NULL, and is written in any case; after fork() the
 * answer is ZKLOCK_STATE_IDLE. Does not block; any thread. */
ZKLOCK_API zklock_state zklock_state_get(zklock *lock, zklock_loss *out_loss);

/*
 * The fencing token of the present or latest grant: between exclusive holders of one path it strictly rises, over
 * restarts and re-created parents, though not over an ensemble restored from a backup. Shared holders have tokens of
 * their own, above that of every exclusive holder before them. So do holders of permits: with one permit, tokens rise
 * as those of a mutex; with more, one that was granted later has the greater one.
 *
 * returns    ZKLOCK_OK; ZKLOCK_NOT_HELD: never granted; ZKLOCK_FORKED. Does not block; any thread.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_token(zklock *lock, uint64_t *out_token);

/*
 * A stamp at the path of a lock says that something was done under it, and when: it is the path's own data, written
 * by zklock_stamp_write() together with a check of the own contender, so that only a holder can. Its time is that of
 * ZooKeeper's leader, as is the one that it is compared with. It lives as long as the path, so give the lock
 * `persistent_parent`; a path that others have made as a container goes with its last contender, and the stamp with it.
 * To learn the leader's time, zklock_stamp_age() writes the own contender as it is: its version rises.
 *
 * Semaphores have none: their path's data is the limit (ZKLOCK_BAD_ARGUMENT).
 *
 * out_age_ms milliseconds since the latest stamp; -1: there is none.
 * blocking   at most timeout_ms (negative: for ever). threads: any but a notifier thread.
 * returns    ZKLOCK_OK; ZKLOCK_NOT_HELD: this lock is not held; ZKLOCK_LOST: it was lost; ZKLOCK_REFUSED: somebody
 *            else keeps data at the path; ZKLOCK_DENIED: it needs the rights READ and WRITE on the path. Else as
 *            zklock_queue_read().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_stamp_age(zklock *lock, int64_t timeout_ms, int64_t *out_age_ms);

/*
 * Writes the stamp anew, as of now: see zklock_stamp_age(), also for what is returned. ZKLOCK_TIMEOUT: it may or may
 * not have been written; calling again is safe.
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_stamp_write(zklock *lock, int64_t timeout_ms);

/*
 * How often somebody has asked the present contender to let go, since its acquire was begun: by zklock_revoke(), by
 * Curator's Revoker ("__REVOKE__"), or by the recipe in ZooKeeper's manual ("unlock"). Whether to follow is up to the
 * owner. Each request is told as ZKLOCK_EVENT_REVOKE, makes zklock_fd() readable, and is answered by writing the
 * payload back with the member "revoked":true. A request whose answer is lost may count twice.
 *
 * blocking   no. threads: any. returns 0 after fork() and before the first acquire, too.
 * since      0.1
 */
ZKLOCK_API unsigned zklock_revocations(zklock *lock);

/* Writes the name of the own contender's znode below the path, or an empty string while there is none: a semaphore's
 * are in "locks/" while they wait for their turn, then in "leases/". It is cut to the buffer, of which 72 bytes are
 * enough. Does not block; any thread. */
ZKLOCK_API void zklock_contender_name(zklock *lock, char *buffer, size_t size);

/* Room for the path of any contender, with its end. */
#define ZKLOCK_HELD_PATH_SIZE 1200

/*
 * Writes the path of the contender that holds, below the session's chroot: for a check that makes a write to ZooKeeper
 * fail once the lock is lost. zklock_zookeeper.h has that check ready made.
 *
 * blocking   no. threads: any.
 * returns    ZKLOCK_OK; ZKLOCK_NOT_HELD; ZKLOCK_LOST; ZKLOCK_UNCONFIRMED: a downgrade is under way, and its name is not
 *            certain; ZKLOCK_TOO_LARGE: it does not fit, see ZKLOCK_HELD_PATH_SIZE; ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_held_path(zklock *lock, char *buffer, size_t size);

/* Writes one line about the latest failure of this lock: what, where, what is missing; or an empty string. It is
 * cut to the buffer, of which 256 bytes are enough, and left out when memory is short. Does not block; any thread. */
ZKLOCK_API void zklock_detail(zklock *lock, char *buffer, size_t size);

/* -------------------------------------------------------------------------------- several locks as one */

/*
 * Makes an object for several locks that are taken together, all or nothing: held while all of them are, lost as soon as
 * one of them is. It has no lock yet: see zklock_multi_add().
 *
 * Their contenders are sent at once, so that paths that are free take one round trip, however many there are. Where
 * somebody is ahead, the contenders of all paths that come later in order of their bytes are removed, held or not; the
 * rest is taken one by one in this order once that path is held. So those who take several paths never wait for each
 * other in a circle, as long as all of them do it this way, or one by one in this order.
 *
 * ownership  the caller ends *out_multi with zklock_multi_free(), before the session is closed.
 * blocking   no. threads: any.
 * returns    ZKLOCK_OK; ZKLOCK_BAD_ARGUMENT; ZKLOCK_NO_MEMORY; ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_multi_new(zklock_session *session, zklock_multi **out_multi);

/* Frees it with its locks, as zklock_free() does each of them: it waits for a running callback of any of them, which may
 * still ask for all of them, and begins and adds nothing (ZKLOCK_CLOSED). NULL is allowed. */
ZKLOCK_API void zklock_multi_free(zklock_multi *multi);

/*
 * Adds a lock, as zklock_new() makes it: of any style and mode.
 *
 * blocking   no. threads: any.
 * returns    ZKLOCK_OK. ZKLOCK_BAD_ARGUMENT: as from zklock_new(), or this path was added before, whose holder would wait
 *            for itself; zklock_multi_detail() says so. ZKLOCK_ALREADY: it is held or being acquired. Else as
 *            zklock_new().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_multi_add(zklock_multi *multi, const char *path,
                                                            const zklock_options *options);

/*
 * The lock that was added with this path, for its token, state, name, detail and revocations; NULL: there is none. It
 * tells its own events: one whose contender was removed because an earlier path was not free ends with ZKLOCK_CANCELLED,
 * and may end anew later. To acquire, cancel, release or free it by itself is an error; what returns a status answers
 * ZKLOCK_BAD_ARGUMENT. It may be downgraded. Does not block; any thread.
 */
ZKLOCK_API zklock *zklock_multi_lock(zklock_multi *multi, const char *path);

/*
 * Takes all locks, or none of them: as zklock_try() each, with one limit.
 *
 * returns    as zklock_multi_acquire(). ZKLOCK_BUSY: somebody is ahead at one of them.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_multi_try(zklock_multi *multi, int64_t timeout_ms);

/*
 * Queues for all locks and waits until all are held. What is lost again before all are held is begun anew, inside the
 * limit.
 *
 * timeout_ms one limit for all, as in zklock_acquire().
 * blocking   at most timeout_ms, with 0 the session timeout. threads: any but a notifier thread.
 * returns    ZKLOCK_OK: all are held. Else none is held, and what there is of contenders is removed in the background:
 *            the status is that of the lock that zklock_multi_current() names, as from zklock_acquire();
 *            ZKLOCK_BAD_ARGUMENT: no lock was added; ZKLOCK_ALREADY: it is held, or being acquired or released.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_multi_acquire(zklock_multi *multi, int64_t timeout_ms);

/* Begins an acquire of all locks and returns at once; its result makes zklock_multi_fd() readable. Returns ZKLOCK_OK:
 * begun; else nothing was begun, as zklock_acquire_start(). Does not block; any thread, callbacks too. */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_multi_acquire_start(zklock_multi *multi, int64_t timeout_ms);

/* As zklock_result(), of all locks. Does not block; any thread. */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_multi_result(zklock_multi *multi);

/* As zklock_wait(), for all locks. Blocks until the acquire that runs has ended, whatever is begun then; any thread but a
 * notifier thread. */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_multi_wait(zklock_multi *multi);

/* As zklock_cancel(), of all locks. Does not block; any thread, callbacks too. */
ZKLOCK_API zklock_status zklock_multi_cancel(zklock_multi *multi);

/*
 * Lets go of all locks, in one flight, and waits until the server has confirmed it for each.
 *
 * blocking   at most timeout_ms; negative: for ever. threads: any but a notifier thread.
 * returns    ZKLOCK_OK: all are released, and were held until then. ZKLOCK_LOST: one of them had been lost before. Else
 *            as zklock_release(), of one of them.
 * since      0.1
 */
ZKLOCK_API zklock_status zklock_multi_release(zklock_multi *multi, int64_t timeout_ms);

/* As zklock_release_send(), of all locks. Does not block; any thread, callbacks too. */
ZKLOCK_API zklock_status zklock_multi_release_send(zklock_multi *multi);

/* Whether all locks are held now, by the clock. Does not block; any thread. */
ZKLOCK_API bool zklock_multi_is_held(zklock_multi *multi);

/* As zklock_remaining_ms(), while all locks are held; else 0. Does not block; any thread. */
ZKLOCK_API int64_t zklock_multi_remaining_ms(zklock_multi *multi);

/* The state by the clock: of what is held, LOST where one of the locks is lost, and why; else SUSPENDED where one is. After
 * an acquire that failed it is IDLE, whatever is still being removed. `out_loss` as in zklock_state_get(). Does not block;
 * any thread. */
ZKLOCK_API zklock_state zklock_multi_state_get(zklock_multi *multi, zklock_loss *out_loss);

/* The lock that is being waited for, or that decided how the latest acquire ended; NULL: there was none. Does not block; any
 * thread. */
ZKLOCK_API zklock *zklock_multi_current(zklock_multi *multi);

/* As zklock_fd(): readable at every event of any of the locks, and at the result. Does not block; any thread. */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_multi_fd(zklock_multi *multi, int *out_fd);

/* Makes the descriptor unreadable until the next event. Does not block; any thread. */
ZKLOCK_API void zklock_multi_fd_clear(zklock_multi *multi);

/* Writes one line about the latest failure, the path first; or an empty string. It is cut to the buffer, of which 1200
 * bytes are enough. Does not block; any thread. */
ZKLOCK_API void zklock_multi_detail(zklock_multi *multi, char *buffer, size_t size);

/* ------------------------------------------------------------------------------- fencing at the resource */

/*
 * Opens a fence, which stands in front of what a lock protects and refuses whoever comes with an older fencing token than
 * the newest seen: a holder that was frozen and does not know yet that it holds no longer. It needs no session.
 *
 * file       remembers the newest token, over crashes and restarts, and shuts out other processes that have it open; made
 *            where it is missing, with the rights that the umask leaves; on a local file system. NULL: remembered by this
 *            object alone.
 * ownership  the caller ends *out_fence with zklock_fence_close().
 * blocking   while another process is inside, and for the disk. threads: any.
 * returns    ZKLOCK_OK; ZKLOCK_BAD_ARGUMENT: the file is there and is no fence; ZKLOCK_SYSTEM: errno says why;
 *            ZKLOCK_NO_MEMORY.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_fence_open(const char *file, zklock_fence **out_fence);

/* Closes a fence, and leaves it; the file stays. NULL is allowed. No other call on it may run or follow. A process that
 * ends inside without this call leaves it, too, unless a child that it forked meanwhile, without exec, lives on: then it
 * is left when that child ends. */
ZKLOCK_API void zklock_fence_close(zklock_fence *fence);

/*
 * Goes inside with a token, if it is as new as the newest seen or newer, and remembers it. Until zklock_fence_leave()
 * nobody else is let in: write there, and nothing older can come between or after.
 *
 * timeout_ms how long to wait for whoever is inside; negative: for ever.
 * blocking   at most timeout_ms, and for the disk where the token is newer. threads: any; each calls it for itself.
 * returns    ZKLOCK_OK: inside. ZKLOCK_STALE: the token is older than the newest seen; do not write. ZKLOCK_TIMEOUT:
 *            somebody else is still inside. ZKLOCK_SYSTEM: the token could not be written down, and so was not let in;
 *            errno says why. ZKLOCK_BAD_ARGUMENT: the file is no fence any more. ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_fence_enter(zklock_fence *fence, uint64_t token, int64_t timeout_ms);

/* Lets the next one in. Does not block; any thread. */
ZKLOCK_API void zklock_fence_leave(zklock_fence *fence);

/* Goes inside and leaves: for a resource that takes requests one by one by itself. As zklock_fence_enter(). */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_fence_admit(zklock_fence *fence, uint64_t token, int64_t timeout_ms);

/* -------------------------------------------------------------------------------------------- inspection */

typedef struct zklock_contender {
    const char *name;      /* as other clients wrote it: not to be printed raw. Of a semaphore with "locks/" or
                              "leases/" in front */
    int32_t number;        /* the server's sequence number */
    uint64_t token;        /* what a grant to it carries */
    int64_t session_id;    /* its owner; 0: not ephemeral */
    int64_t created_ms;    /* since 1970, by the leader's clock */
    zklock_mode mode;
    bool is_holder;        /* by its place in the queue */
    const char *payload;   /* what its owner wrote: any bytes, terminated for convenience; NULL: denied */
    size_t payload_size;
    int32_t version;       /* of the znode: how often it was written since its creation */
} zklock_contender;

typedef struct zklock_queue {
    const zklock_contender *const *contenders; /* in true order: the holder first; each may be larger than this header's */
    size_t count;
    size_t foreign_count; /* children that are no contenders of a known kind */
    bool exists;          /* whether the path exists at all */
    const char *const *foreign_names; /* not to be printed raw */
    bool is_mixed;        /* contenders of kinds that do not exclude each other */
    int32_t next_number;  /* the sequence number of the next contender, unless another client comes first; of a
                             semaphore, of the next lease */
    bool is_semaphore;    /* then the first ones are those with leases, and behind them those that wait to make one. Other
                             clients may hold a lock at its path as well: is_mixed then, and all holders come first */
    unsigned permits;     /* of a semaphore: its limit; 0: none that this library can read is set, and those with
                             leases are all taken for holders */
} zklock_queue;

/*
 * Reads who holds a lock and who waits, in order.
 *
 * ownership  the caller frees *out_queue with zklock_queue_free(); all pointers in it live until then.
 * blocking   at most timeout_ms (negative: for ever). threads: any but a notifier thread.
 * returns    ZKLOCK_OK (an empty queue where nobody is, or the path does not exist); ZKLOCK_BAD_ARGUMENT;
 *            ZKLOCK_NO_SERVER; ZKLOCK_TIMEOUT; ZKLOCK_DENIED; ZKLOCK_NO_MEMORY; ZKLOCK_CLOSED; ZKLOCK_DEADLOCK;
 *            ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_queue_read(zklock_session *session, const char *path,
                                                             int64_t timeout_ms, zklock_queue **out_queue);

/* Frees a queue; NULL is allowed. Does not block; any thread. */
ZKLOCK_API void zklock_queue_free(zklock_queue *queue);

/*
 * Waits, without queueing, until nobody holds the lock at some moment; of a semaphore, until a permit is free.
 *
 * blocking   at most timeout_ms (negative: for ever). threads: any but a notifier thread.
 * returns    ZKLOCK_OK: nobody held it. ZKLOCK_TIMEOUT: somebody still did. Else as zklock_queue_read().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_wait_free(zklock_session *session, const char *path,
                                                            int64_t timeout_ms);

/*
 * Waits, without queueing, until another contender than the one with the token `seen` stands first: who observes an
 * election calls it again and again, each time with the token that the last call brought.
 *
 * seen       0: none stood first. With it the call returns as soon as anybody does.
 * ownership  the caller frees *out_queue with zklock_queue_free(). It has the first contender alone, or nobody.
 * blocking   at most timeout_ms (negative: for ever). threads: any but a notifier thread. Where nobody stands first, a
 *            newcomer is noticed within a second.
 * returns    ZKLOCK_OK; ZKLOCK_TIMEOUT: it still is the one that was seen. Else as zklock_queue_read().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_observe(zklock_session *session, const char *path, uint64_t seen,
                                                          int64_t timeout_ms, zklock_queue **out_queue);

/*
 * Asks a majority of the servers whether a token is that of a holder: first a small write that changes nothing, then a
 * look behind it, so that no server that is cut off can answer out of date.
 *
 * token      as zklock_token() gave it, here or elsewhere.
 * blocking   at most timeout_ms (negative: for ever). threads: any but a notifier thread.
 * returns    ZKLOCK_OK: its contender stood in a holder's place at some moment during the call. ZKLOCK_NOT_HELD: it
 *            did not. Else as zklock_queue_read().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_token_verify(zklock_session *session, const char *path,
                                                               uint64_t token, int64_t timeout_ms);

/*
 * Breaks exactly this contender: deletes its znode if it still is the one that was read, unwritten since. Whose lock it
 * was learns of it after it happened, and may work on meanwhile: ask first, by zklock_revoke().
 *
 * contender  as zklock_queue_read() gave it; its name, token and version say which one is meant.
 * blocking   at most timeout_ms (negative: for ever). threads: any but a notifier thread.
 * returns    ZKLOCK_OK: it is gone, by this call or before it. ZKLOCK_CHANGED: it was written since, or another one has
 *            its name: nothing was done; read again. ZKLOCK_BAD_ARGUMENT: no contender's name. ZKLOCK_DENIED: it needs
 *            the right DELETE on the path. ZKLOCK_TIMEOUT: it may or may not have been broken; calling again is safe.
 *            Else as zklock_queue_read().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_break(zklock_session *session, const char *path,
                                                        const zklock_contender *contender, int64_t timeout_ms);

/*
 * Asks the owner of this contender to let go, by writing "__REVOKE__" into its znode. zklock tells its owner (see
 * zklock_revocations()), Curator does where the mutex was made revocable; others take no notice, and lose what they
 * had written about themselves.
 *
 * contender  as zklock_queue_read() gave it; its name and token say which one is meant.
 * blocking   at most timeout_ms (negative: for ever); not until the owner lets go. threads: any but a notifier thread.
 * returns    ZKLOCK_OK: the request was written. ZKLOCK_NOT_HELD: the contender is gone. ZKLOCK_CHANGED: another one
 *            has its name. ZKLOCK_BAD_ARGUMENT; ZKLOCK_DENIED: it needs the right WRITE. Else as zklock_queue_read().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_revoke(zklock_session *session, const char *path,
                                                         const zklock_contender *contender, int64_t timeout_ms);

typedef struct zklock_paths {
    const char *const *items; /* sorted by their bytes; not to be printed raw */
    size_t count;
    size_t denied_count;      /* directories that may not be listed, and so were left out with all below them */
} zklock_paths;

/*
 * Finds the locks below a path, itself included: every directory with at least one contender. What has none now looks
 * like any other directory.
 *
 * path       "/" stands for all that the session reaches.
 * ownership  the caller frees *out_paths with zklock_paths_free().
 * blocking   at most timeout_ms (negative: for ever); it lists every directory there. threads: any but a notifier
 *            thread.
 * returns    as zklock_queue_read().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_paths_read(zklock_session *session, const char *path,
                                                             int64_t timeout_ms, zklock_paths **out_paths);

/* Frees paths; NULL is allowed. Does not block; any thread. */
ZKLOCK_API void zklock_paths_free(zklock_paths *paths);

/*
 * Reads the limit of a semaphore: how many may hold together.
 *
 * out_permits 0: none is set.
 * blocking   at most timeout_ms (negative: for ever). threads: any but a notifier thread.
 * returns    ZKLOCK_OK; ZKLOCK_REFUSED: somebody else keeps data at the path. Else as zklock_queue_read().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_permits_read(zklock_session *session, const char *path,
                                                               int64_t timeout_ms, unsigned *out_permits);

/*
 * Changes the limit of a semaphore, in use or not; sets it where there is none, and makes the path then, persistent
 * with its parents. Who holds a permit keeps it, also where there are more of them than the new limit: the next ones
 * wait until there are fewer. Whoever waits follows the new limit; an acquire that begins later and names another is
 * refused. Curator's clients have their own number, and hear nothing of this.
 *
 * permits    1 to ZKLOCK_PERMITS_MAX.
 * blocking   at most timeout_ms (negative: for ever). threads: any but a notifier thread.
 * returns    ZKLOCK_OK: it was set. ZKLOCK_REFUSED: somebody else keeps data at the path. ZKLOCK_DENIED: it needs the
 *            rights READ and WRITE on the path. ZKLOCK_TIMEOUT: it may or may not have been set; calling again is safe.
 *            Else as zklock_queue_read().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_permits_write(zklock_session *session, const char *path,
                                                                unsigned permits, int64_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
