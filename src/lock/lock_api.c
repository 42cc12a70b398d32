/* The public calls on a lock: acquire, release. The blocking ones are thin over the others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/line.h"
#include "lock/reentry.h"

zklock_status zkl_lock_enter(zklock *lock)
{
    if (!lock)
        return ZKLOCK_BAD_ARGUMENT;
    if (!zkl_session_is_own(lock->session))
        return ZKLOCK_FORKED;
    zkl_session_lock(lock->session);
    return ZKLOCK_OK;
}

zklock_status zkl_lock_enter_blocking(zklock *lock)
{
    if (lock && zkl_session_is_own(lock->session) && zkl_is_notifier_thread())
        return ZKLOCK_DEADLOCK;
    return zkl_lock_enter(lock);
}

zklock_status zkl_lock_leave(zklock *lock, zklock_status status)
{
    zkl_session_unlock(lock->session);
    return status;
}

/* ---------------------------------------------------------------- acquire */

/* The latest attempt is over for its owner; its remains, if any, are cleaned up without this object. */
static void set_attempt_aside(zklock *lock)
{
    if (!lock->attempt)
        return;
    lock->attempt->lock = NULL;
    zkl_attempt_unref(lock->attempt);
    lock->attempt = NULL;
}

static bool is_in_use(const zklock *lock)
{
    return lock->attempt && (lock->attempt->result == ZKLOCK_PENDING || zkl_lock_is_granted(lock) ||
                             zkl_lock_is_lost(lock) || lock->releasers > 0);
}

static enum zkl_kind kind_of(const zklock *lock)
{
    static const enum zkl_kind kinds[][3] = {
        [ZKLOCK_STYLE_CURATOR] = {ZKL_KIND_LOCK, ZKL_KIND_READ, ZKL_KIND_LATCH},
        [ZKLOCK_STYLE_KAZOO] = {ZKL_KIND_KAZOO_LOCK, ZKL_KIND_KAZOO_READ, ZKL_KIND_KAZOO_LOCK},
        [ZKLOCK_STYLE_CURATOR_RW] = {ZKL_KIND_WRITE, ZKL_KIND_READ, ZKL_KIND_LATCH},
    };

    if (lock->mode == ZKLOCK_MODE_SEMAPHORE)
        return ZKL_KIND_LEASE;
    return kinds[lock->style][lock->mode];
}

/* NULL: no memory, for the attempt or for telling what becomes of it. @locks expects the session's mutex */
static struct zkl_attempt *new_attempt(zklock *lock, int64_t limit_ns, bool is_try, size_t room)
{
    struct zkl_attempt_options options = {
        .path = lock->directory,
        .semaphore = lock->mode == ZKLOCK_MODE_SEMAPHORE ? lock->path : NULL,
        .permits = lock->permits,
        .payload = lock->payload,
        .kind = kind_of(lock),
        .is_persistent_parent = lock->is_persistent_parent,
        .is_try = is_try,
        .room = room,
        .limit_ns = limit_ns,
        .hold_limit_ms = lock->hold_limit_ms,
    };

    if (lock->on_event && !zkl_notices_reserve(&lock->notices, ZKL_NOTICES_OF_AN_ACQUIRE))
        return NULL;
    return zkl_attempt_new(lock->session, lock, &options);
}

zklock_status zkl_lock_start(zklock *lock, int64_t limit_ns, bool is_try)
{
    if (lock->is_being_freed || zkl_session_is_closing(lock->session))
        return ZKLOCK_CLOSED;
    if (is_in_use(lock))
        return ZKLOCK_ALREADY;
    if (zkl_session_is_refused(lock->session)) {
        zkl_session_explain(lock->session, &lock->detail);
        return ZKLOCK_DENIED;
    }
    size_t room = zkl_attempt_room(lock->directory, kind_of(lock), is_try);
    if (!zkl_session_reserve(lock->session, room)) {
        zkl_detail_say(&lock->detail,
                 "this session has as many locks as its connection can restore; use another session for more");
        return ZKLOCK_TOO_LARGE;
    }
    struct zkl_attempt *attempt = new_attempt(lock, limit_ns, is_try, room);
    if (!attempt) {
        zkl_session_unreserve(lock->session, room);
        return ZKLOCK_NO_MEMORY;
    }
    set_attempt_aside(lock);
    lock->attempt = attempt;
    lock->loss = ZKLOCK_LOSS_NONE;
    lock->revocations = 0;
    lock->is_silent = false;
    zkl_attempt_start(lock->attempt);
    return ZKLOCK_OK;
}

int64_t zkl_lock_limit(zklock_session *session, int64_t timeout_ms)
{
    /* Not to wait: but the answer of a server that is there takes its time. */
    if (timeout_ms == 0 && zkl_session_is_connected(session))
        timeout_ms = zkl_session_timeout_ms(session);
    return zkl_time_after(zkl_session_now(session), timeout_ms);
}

/* @locks expects the session's mutex */
static zklock_status start(zklock *lock, int64_t timeout_ms, bool is_try)
{
    if (zkl_lock_has_master(lock))
        return ZKLOCK_BAD_ARGUMENT;
    if (zkl_reentry_is_owner(lock))
        return zkl_reentry_enter(lock);
    zklock_status status =
        zkl_lock_start(lock, zkl_lock_limit(lock->session, timeout_ms), is_try || timeout_ms == 0);
    if (status == ZKLOCK_OK)
        zkl_reentry_begin(lock);
    return status;
}

/* @locks expects the session's mutex, gives it up while waiting */
static zklock_status wait_for_result(zklock *lock)
{
    struct zkl_attempt *attempt = lock->attempt;

    zkl_attempt_ref(attempt);
    while (attempt->result == ZKLOCK_PENDING)
        zkl_session_wait(lock->session, &lock->changed);
    zklock_status status = attempt->result;
    zkl_attempt_unref(attempt);
    return status;
}

static zklock_status start_and_wait(zklock *lock, int64_t timeout_ms, bool is_try)
{
    zklock_status status = zkl_lock_enter_blocking(lock);

    if (status != ZKLOCK_OK)
        return status;
    status = start(lock, timeout_ms, is_try);
    if (status == ZKLOCK_OK)
        status = wait_for_result(lock);
    return zkl_lock_leave(lock, status);
}

zklock_status zklock_try(zklock *lock, int64_t timeout_ms)
{
    return start_and_wait(lock, timeout_ms, true);
}

zklock_status zklock_acquire(zklock *lock, int64_t timeout_ms)
{
    return start_and_wait(lock, timeout_ms, false);
}

zklock_status zklock_acquire_start(zklock *lock, int64_t timeout_ms)
{
    zklock_status status = zkl_lock_enter(lock);

    if (status != ZKLOCK_OK)
        return status;
    if (!lock->is_reentrant)
        return zkl_lock_leave(lock, start(lock, timeout_ms, false));
    zkl_detail_say(&lock->detail, "a re-entrant lock belongs to the thread that waits for it");
    return zkl_lock_leave(lock, ZKLOCK_BAD_ARGUMENT);
}

zklock_status zklock_result(zklock *lock)
{
    zklock_status status = zkl_lock_enter(lock);

    if (status != ZKLOCK_OK)
        return status;
    return zkl_lock_leave(lock, lock->attempt ? lock->attempt->result : ZKLOCK_NOT_HELD);
}

zklock_status zklock_wait(zklock *lock)
{
    zklock_status status = zkl_lock_enter_blocking(lock);

    if (status != ZKLOCK_OK)
        return status;
    return zkl_lock_leave(lock, lock->attempt ? wait_for_result(lock) : ZKLOCK_NOT_HELD);
}

zklock_status zklock_cancel(zklock *lock)
{
    zklock_status status = zkl_lock_enter(lock);

    if (status != ZKLOCK_OK)
        return status;
    if (!lock->attempt || zkl_lock_has_master(lock))
        return zkl_lock_leave(lock, zkl_lock_has_master(lock) ? ZKLOCK_BAD_ARGUMENT : ZKLOCK_NOT_HELD);
    if (lock->attempt->result == ZKLOCK_PENDING)
        zkl_attempt_give_up(lock->attempt, ZKL_OUTCOME_CANCELLED);
    if (lock->attempt->result == ZKLOCK_CANCELLED)
        return zkl_lock_leave(lock, ZKLOCK_OK);
    return zkl_lock_leave(lock, lock->attempt->result == ZKLOCK_OK && is_in_use(lock) ? ZKLOCK_ALREADY : ZKLOCK_NOT_HELD);
}

/* ---------------------------------------------------------------- release */

/* Whether the calling thread is to release it now; if not, *out_status says what its call came to. @locks expects the
 * session's mutex */
static bool is_last_exit(zklock *lock, zklock_status *out_status)
{
    if (!lock->is_reentrant || zkl_lock_has_master(lock))
        return true;
    *out_status = zkl_reentry_is_owner(lock) ? zkl_reentry_leave(lock) : ZKLOCK_NOT_HELD;
    return *out_status == ZKLOCK_PENDING;
}

/* Begins the release. @locks expects the session's mutex */
static zklock_status let_go(zklock *lock, int64_t timeout_ms)
{
    if (zkl_lock_has_master(lock))
        return ZKLOCK_BAD_ARGUMENT;
    return zkl_lock_let_go(lock, zkl_time_after(zkl_session_now(lock->session), timeout_ms));
}

zklock_status zkl_lock_let_go(zklock *lock, int64_t limit_ns)
{
    if (!zkl_lock_is_granted(lock) && !zkl_lock_is_lost(lock))
        return ZKLOCK_NOT_HELD;
    bool was_lost = zkl_lock_is_lost(lock) || !zkl_lock_is_in_time(lock);
    zkl_attempt_release(lock->attempt, limit_ns);
    return was_lost ? ZKLOCK_LOST : ZKLOCK_OK;
}

zklock_status zkl_attempt_release_status(const struct zkl_attempt *attempt, zklock_status begun)
{
    if (attempt->release_result != ZKLOCK_PENDING || !attempt->limit_has_passed)
        return attempt->release_result;
    return begun == ZKLOCK_OK ? ZKLOCK_UNCONFIRMED : begun;
}

zklock_status zklock_release(zklock *lock, int64_t timeout_ms)
{
    zklock_status status = zkl_lock_enter_blocking(lock);

    if (status != ZKLOCK_OK)
        return status;
    if (!is_last_exit(lock, &status))
        return zkl_lock_leave(lock, status);
    struct zkl_attempt *attempt = lock->attempt;
    status = let_go(lock, timeout_ms);
    if (status != ZKLOCK_OK && status != ZKLOCK_LOST)
        return zkl_lock_leave(lock, status);
    zkl_attempt_ref(attempt);
    lock->releasers++;
    while (zkl_attempt_release_status(attempt, status) == ZKLOCK_PENDING)
        zkl_session_wait(lock->session, &lock->changed);
    lock->releasers--;
    status = zkl_attempt_release_status(attempt, status);
    zkl_attempt_unref(attempt);
    return zkl_lock_leave(lock, status);
}

zklock_status zklock_release_send(zklock *lock)
{
    zklock_status status = zkl_lock_enter(lock);

    if (status != ZKLOCK_OK)
        return status;
    if (is_last_exit(lock, &status))
        status = let_go(lock, -1);
    return zkl_lock_leave(lock, status);
}
