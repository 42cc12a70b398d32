/* The inside of a lock object, for src/lock only. */
#ifndef ZKL_LOCK_STATE_H
#define ZKL_LOCK_STATE_H

#include <pthread.h>

#include "lock/attempt.h"
#include "zklock.h"

struct zklock {
    zklock_session *session; /* counted */
    char *path;              /* with the chroot */
    char *directory;         /* of its contenders: the path, or below it */
    unsigned permits;        /* of a semaphore; 0: as many as it has */
    int64_t hold_limit_ms;   /* negative: none */
    char *payload; /* what its contenders say about their owner */
    zklock_style style;
    zklock_mode mode;
    bool is_persistent_parent;
    bool is_reentrant;
    zklock_event_fn *on_event;
    void *event_arg;

    struct zkl_attempt *attempt; /* counted; the latest one, NULL before the first */
    pthread_cond_t changed;
    bool is_being_freed;         /* its callback may still run, and begins nothing any more */
    int releasers;               /* threads that wait for the release of `attempt` */
    int event_fd;                /* -1: nobody asked for one */
    struct zkl_notice_stock notices;
    bool resume_is_due;          /* SUSPENDED was told to the callback, and its RESUMED is in the stock */
    bool has_token;
    uint64_t token;
    bool is_silent;              /* held, and the server does not answer */
    zklock_loss loss;
    unsigned revocations;        /* how often the present contender was asked to let go */
    struct zkl_detail detail;

    uint64_t owner;          /* of one that is re-entrant: who began the latest acquire; a cohort has its own */
    unsigned entries;        /* and how often its owner has to release */

    zklock_multi *multi;     /* whose part it is; NULL: its own master */
    bool is_in_multi_flight; /* `attempt` is the one that its multi takes it by */
    struct zklock_cohort *cohort; /* whose contender it is; NULL: none */
};

/* What every acquire may have to tell: its end, a loss, and that its contender is gone. */
enum { ZKL_NOTICES_OF_AN_ACQUIRE = 3 };

/* lock_api.c: into a public call and out of it. @locks takes the session's mutex, unless this is not the owning process */
zklock_status zkl_lock_enter(zklock *lock);
/* The same for a call that waits. */
zklock_status zkl_lock_enter_blocking(zklock *lock);
/* Returns `status`. @locks gives the session's mutex up */
zklock_status zkl_lock_leave(zklock *lock, zklock_status status);

/* Whether others take it: its own calls to acquire and let go are not for use. */
static inline bool zkl_lock_has_master(const zklock *lock)
{
    return lock->multi || lock->cohort;
}

/* Whether a lock may be at this path. Needs no lock. */
zklock_status zkl_lock_check_path(const zklock_session *session, const char *path);
/* Begins an acquire that ends at `limit_ns`, unless something speaks against it. @locks expects the session's mutex */
zklock_status zkl_lock_start(zklock *lock, int64_t limit_ns, bool is_try);
/* When an acquire with this wait limit ends at the latest. @locks expects the session's mutex */
int64_t zkl_lock_limit(zklock_session *session, int64_t timeout_ms);
/* Begins a release: OK, LOST, or NOT_HELD and nothing was begun. @locks expects the session's mutex */
zklock_status zkl_lock_let_go(zklock *lock, int64_t limit_ns);
/* What became of it, so far: PENDING before it is certain or its limit has passed. `begun` is what zkl_lock_let_go() said.
 * @locks expects the session's mutex */
zklock_status zkl_attempt_release_status(const struct zkl_attempt *attempt, zklock_status begun);

/* lock.c: it begins nothing any more, and its contender goes without it. @locks expects the session's mutex */
void zkl_lock_abandon(zklock *lock);
/* lock_look.c: by the clock; *out_loss: why, where it is lost. @locks expects the session's mutex */
zklock_state zkl_lock_state_now(zklock *lock, zklock_loss *out_loss);

/* Whether the latest attempt holds, by its state alone. @locks expects the session's mutex */
static inline bool zkl_lock_is_granted(const zklock *lock)
{
    return lock->attempt && lock->attempt->machine.state == ZKL_HELD;
}

/* Whether nothing of the clock speaks against holding: neither the lease nor a hold limit. */
static inline bool zkl_lock_is_in_time(const zklock *lock)
{
    return zkl_session_has_lease(lock->session) && !(lock->attempt && zkl_attempt_is_overdue(lock->attempt));
}

/* Nanoseconds for which it is held for certain; 0: it is not held. */
static inline int64_t zkl_lock_remaining(const zklock *lock)
{
    return lock->attempt ? zkl_attempt_remaining(lock->attempt) : 0;
}

static inline bool zkl_lock_is_lost(const zklock *lock)
{
    return lock->attempt && lock->attempt->machine.state == ZKL_LOST;
}

#endif
