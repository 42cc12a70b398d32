/*
 * zklock_cohort.h - threads of one process that share a contender, and hand the lock on among themselves
 *
 * Threads that want the same lock can use a lock object each; then every hand-over goes through ZooKeeper. A cohort has
 * one contender for all of them. Its owner is a thread, and when that thread releases, the thread that has waited longest
 * gets the lock without a request, some microseconds later.
 *
 * What a cohort promises
 *
 *  - One owner at a time, in this process and all others, as far as the lock promises it. Within the process exclusion
 *    goes further: after a loss the next thread is admitted only when the former owner has released.
 *  - Threads are served in the order of arrival.
 *  - Bounded unfairness: a grant is handed on at most `most_passes` times in a row, and never later than `most_ms` after
 *    it began. Then the contender goes, whoever is next in the queue gets the lock, and the threads that still wait queue
 *    behind everybody who stands there by then. So another process waits for at most most_passes + 1 owners of this one.
 *  - The fencing token is the contender's: threads that hand on a grant share it, and it strictly rises from one grant to
 *    the next. A resource that refuses tokens older than the newest one must accept an equal one, as it must for
 *    repeated requests in any case. It cannot tell the threads of one grant apart: there, exclusion is the process's own.
 *  - The lock is handed on only while the lease runs. A loss is told to the owner by zklock_cohort_is_held(), by what
 *    zklock_cohort_release() returns, and to the callback of the lock's options.
 */
#ifndef ZKLOCK_COHORT_H
#define ZKLOCK_COHORT_H

#include <zklock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zklock_cohort zklock_cohort;

/* ----------------------------------------------------------------------------------------------- cohorts */

typedef struct zklock_cohort_options {
    size_t size;          /* sizeof(zklock_cohort_options), set by _init */
    unsigned most_passes; /* in a row without a request; 0: none; default 1000 */
    int64_t most_ms;      /* after the grant the lock is not handed on any more; negative: no such limit; default 100 */
} zklock_cohort_options;

/* Fills in the defaults, `size` bytes of them: the caller's sizeof(zklock_cohort_options), whatever the library's is. Does
 * not block; any thread. */
ZKLOCK_API void zklock_cohort_options_init_sized(zklock_cohort_options *options, size_t size);
/* The same with the size of this header's struct. */
static inline void zklock_cohort_options_init(zklock_cohort_options *options)
{
    zklock_cohort_options_init_sized(options, sizeof(*options));
}

/*
 * Makes a cohort; nothing is asked of the server yet.
 *
 * path       as in zklock_new(); copied.
 * lock       options of its contender, as in zklock_new(), callback and label too; copied; NULL: the defaults. Of a
 *            mode with one holder at a time.
 * options    copied; NULL stands for the defaults.
 * ownership  the caller ends *out_cohort with zklock_cohort_free(), before the session is closed.
 * blocking   no. threads: any.
 * returns    as zklock_new(); ZKLOCK_BAD_ARGUMENT for a mode with several holders at once, too.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_cohort_new(zklock_session *session, const char *path,
                                                             const zklock_options *lock,
                                                             const zklock_cohort_options *options,
                                                             zklock_cohort **out_cohort);

/*
 * Frees a cohort. What it holds is released in the background, until the server has confirmed it. NULL is allowed.
 *
 * blocking   only until a running callback of its lock returns. threads: any; no other call on the cohort may run or
 *            follow, so that no thread may wait in it.
 * since      0.1
 */
ZKLOCK_API void zklock_cohort_free(zklock_cohort *cohort);

/*
 * Takes the lock for the calling thread if nobody has it or waits for it, here or elsewhere.
 *
 * timeout_ms limit for connecting and for the answer, as in zklock_try().
 * blocking   at most timeout_ms, with 0 the session timeout; not at all where another thread of the cohort is ahead.
 *            threads: any but a notifier thread.
 * returns    ZKLOCK_OK: held by this thread. ZKLOCK_BUSY: somebody is ahead. Else as zklock_cohort_acquire().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_cohort_try(zklock_cohort *cohort, int64_t timeout_ms);

/*
 * Waits until the lock is held for the calling thread, which becomes its owner.
 *
 * timeout_ms of this thread alone, for connecting and waiting; negative: for ever; 0: as zklock_cohort_try(). When nobody
 *            of the cohort waits any more, the contender is removed in the background.
 * blocking   at most timeout_ms, with 0 the session timeout. threads: any but a notifier thread.
 * returns    ZKLOCK_OK: held by this thread. ZKLOCK_ALREADY: it is the owner already, or was when the lock was lost and
 *            has not released; where the lock's options say `is_reentrant`, it is counted instead (see zklock_entries()). ZKLOCK_TIMEOUT; ZKLOCK_NO_SERVER. Where the contender's wait fails, all who wait get its
 *            status, such as ZKLOCK_REMOVED; see zklock_acquire() for these, and zklock_detail() of zklock_cohort_lock().
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_cohort_acquire(zklock_cohort *cohort, int64_t timeout_ms);

/*
 * Lets go, at the last of several entries: hands the lock on to the thread that has waited longest, or sends the contender's removal, which goes on in
 * the background until it is certain.
 *
 * blocking   no. threads: the owner.
 * returns    ZKLOCK_OK: released, held until then. ZKLOCK_LOST: it had been lost before; the next thread queues anew.
 *            ZKLOCK_NOT_HELD: the calling thread is not the owner; nothing changed. ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API zklock_status zklock_cohort_release(zklock_cohort *cohort);

/* Whether the calling thread owns the lock and it is held now, by the clock. Does not block; any thread. */
ZKLOCK_API bool zklock_cohort_is_held(zklock_cohort *cohort);

/* As zklock_remaining_ms(), for the owner; 0 for any other thread. Does not block; any thread. */
ZKLOCK_API int64_t zklock_cohort_remaining_ms(zklock_cohort *cohort);

/* The fencing token of the grant that the calling thread owns, also when that was lost. Returns ZKLOCK_OK; ZKLOCK_NOT_HELD: it
 * owns none; ZKLOCK_FORKED. Does not block; any thread. */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_cohort_token(zklock_cohort *cohort, uint64_t *out_token);

/*
 * The lock object of the cohort's contender, to look at: its state, name, detail, revocations and descriptor. It is the
 * cohort's: to free it is an error, and to acquire, cancel, release or downgrade it answers ZKLOCK_BAD_ARGUMENT. NULL after
 * fork(). Does not block; any thread.
 */
ZKLOCK_API zklock *zklock_cohort_lock(zklock_cohort *cohort);

#ifdef __cplusplus
}
#endif

#endif
