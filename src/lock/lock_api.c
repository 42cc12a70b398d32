/* The public calls on a lock: acquire, release, look. The blocking ones are thin over the others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/line.h"
#include "lock/lock_state.h"

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
        zkl_session_describe(lock->session, lock->detail, sizeof lock->detail);
        return ZKLOCK_DENIED;
    }
    size_t room = zkl_attempt_room(lock->directory, kind_of(lock), is_try);
    if (!zkl_session_reserve(lock->session, room)) {
        snprintf(lock->detail, sizeof lock->detail,
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
    return zkl_lock_start(lock, zkl_lock_limit(lock->session, timeout_ms), is_try || timeout_ms == 0);
}

/* @locks expects the session's mutex, gives it up while waiting */
static zklock_status wait_for_result(zklock *lock)
{
    struct zkl_attempt *attempt = lock->attempt;

    zkl_attempt_ref(attempt);
    while (attempt->result == ZKLOCK_PENDING)
        pthread_cond_wait(&lock->changed, zkl_session_mutex(lock->session));
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

    return status == ZKLOCK_OK ? zkl_lock_leave(lock, start(lock, timeout_ms, false)) : status;
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
    bool was_lost = zkl_lock_is_lost(lock) || !zkl_session_has_lease(lock->session);
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
    struct zkl_attempt *attempt = lock->attempt;
    status = let_go(lock, timeout_ms);
    if (status != ZKLOCK_OK && status != ZKLOCK_LOST)
        return zkl_lock_leave(lock, status);
    zkl_attempt_ref(attempt);
    lock->releasers++;
    while (zkl_attempt_release_status(attempt, status) == ZKLOCK_PENDING)
        pthread_cond_wait(&lock->changed, zkl_session_mutex(lock->session));
    lock->releasers--;
    status = zkl_attempt_release_status(attempt, status);
    zkl_attempt_unref(attempt);
    return zkl_lock_leave(lock, status);
}

zklock_status zklock_release_send(zklock *lock)
{
    zklock_status status = zkl_lock_enter(lock);

    return status == ZKLOCK_OK ? zkl_lock_leave(lock, let_go(lock, -1)) : status;
}

/* ---------------------------------------------------------------- look */

/* Not by zklock_remaining_ms(): its last, broken millisecond would be "no" for a lock whose lease may be prolonged yet. */
bool zklock_is_held(zklock *lock)
{
    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return false;
    bool is_held = zkl_lock_is_granted(lock) && zkl_session_lease_remaining(lock->session) > 0;
    zkl_session_unlock(lock->session);
    return is_held;
}

int64_t zklock_remaining_ms(zklock *lock)
{
    int64_t remaining_ns = 0;

    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return 0;
    if (zkl_lock_is_granted(lock))
        remaining_ns = zkl_session_lease_remaining(lock->session);
    zkl_session_unlock(lock->session);
    return remaining_ns / ZKL_NS_PER_MS;
}

/* @locks expects the session's mutex */
static zklock_state state_now(zklock *lock)
{
    if (!lock->attempt)
        return ZKLOCK_STATE_IDLE;
    switch (lock->attempt->machine.state) {
    case ZKL_NEW:
    case ZKL_CREATING:
    case ZKL_PREPARING:
    case ZKL_FINDING:
    case ZKL_LISTING:
    case ZKL_SURVEYING:
    case ZKL_WATCHING:
    case ZKL_WAITING:
        return lock->attempt->result == ZKLOCK_PENDING ? ZKLOCK_STATE_ACQUIRING : ZKLOCK_STATE_RELEASING;
    case ZKL_HELD:
        if (!zkl_session_has_lease(lock->session))
            return ZKLOCK_STATE_LOST;
        return lock->is_silent ? ZKLOCK_STATE_SUSPENDED : ZKLOCK_STATE_HELD;
    case ZKL_LOST:
        return ZKLOCK_STATE_LOST;
    case ZKL_DELETING:
        return ZKLOCK_STATE_RELEASING;
    case ZKL_GONE:
    case ZKL_STATE_COUNT:
        break;
    }
    return ZKLOCK_STATE_IDLE;
}

zklock_state zklock_state_get(zklock *lock, zklock_loss *out_loss)
{
    if (out_loss)
        *out_loss = ZKLOCK_LOSS_NONE;
    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return ZKLOCK_STATE_IDLE;
    zklock_state state = state_now(lock);
    zklock_loss loss = lock->loss;
    if (state == ZKLOCK_STATE_LOST && loss == ZKLOCK_LOSS_NONE)
        loss = ZKLOCK_LOSS_LEASE;
    if (out_loss)
        *out_loss = loss;
    zkl_session_unlock(lock->session);
    return state;
}

zklock_status zklock_token(zklock *lock, uint64_t *out_token)
{
    zklock_status status = out_token ? zkl_lock_enter(lock) : ZKLOCK_BAD_ARGUMENT;

    if (status != ZKLOCK_OK)
        return status;
    if (!lock->has_token)
        return zkl_lock_leave(lock, ZKLOCK_NOT_HELD);
    *out_token = lock->token;
    return zkl_lock_leave(lock, ZKLOCK_OK);
}

unsigned zklock_revocations(zklock *lock)
{
    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return 0;
    unsigned revocations = lock->revocations;
    zkl_session_unlock(lock->session);
    return revocations;
}

void zklock_contender_name(zklock *lock, char *buffer, size_t size)
{
    if (size > 0)
        buffer[0] = '\0';
    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return;
    const struct zkl_attempt *shown = lock->attempt ? zkl_attempt_shown(lock->attempt) : NULL;
    if (shown && shown->machine.node_is_known)
        snprintf(buffer, size, "%s", shown->own_path + strlen(lock->path) + 1);
    zkl_session_unlock(lock->session);
}

void zklock_detail(zklock *lock, char *buffer, size_t size)
{
    if (size > 0)
        buffer[0] = '\0';
    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return;
    snprintf(buffer, size, "%s", lock->detail);
    if (size > 0)
        zkl_line_tame(buffer);
    zkl_session_unlock(lock->session);
}

zklock_status zklock_fd(zklock *lock, int *out_fd)
{
    zklock_status status = out_fd ? zkl_lock_enter(lock) : ZKLOCK_BAD_ARGUMENT;

    if (status != ZKLOCK_OK)
        return status;
    if (lock->event_fd < 0)
        lock->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (lock->event_fd < 0)
        return zkl_lock_leave(lock, ZKLOCK_SYSTEM);
    *out_fd = lock->event_fd;
    return zkl_lock_leave(lock, ZKLOCK_OK);
}

void zklock_fd_clear(zklock *lock)
{
    uint64_t count;

    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return;
    if (lock->event_fd >= 0)
        (void)!read(lock->event_fd, &count, sizeof count);
    zkl_session_unlock(lock->session);
}
