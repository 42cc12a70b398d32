/* The public calls on a lock that only look. */
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/line.h"
#include "lock/lock_state.h"

/* Not by zklock_remaining_ms(): its last, broken millisecond would be "no" for a lock whose lease may be prolonged yet. */
bool zklock_is_held(zklock *lock)
{
    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return false;
    bool is_held = zkl_lock_remaining(lock) > 0;
    zkl_session_unlock(lock->session);
    return is_held;
}

int64_t zklock_remaining_ms(zklock *lock)
{
    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return 0;
    int64_t remaining_ns = zkl_lock_remaining(lock);
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
        if (!zkl_lock_is_in_time(lock))
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

zklock_state zkl_lock_state_now(zklock *lock, zklock_loss *out_loss)
{
    zklock_state state = state_now(lock);

    *out_loss = lock->loss;
    if (state == ZKLOCK_STATE_LOST && lock->loss == ZKLOCK_LOSS_NONE)
        *out_loss = zkl_session_has_lease(lock->session) ? ZKLOCK_LOSS_HOLD_LIMIT : ZKLOCK_LOSS_LEASE;
    return state;
}

zklock_state zklock_state_get(zklock *lock, zklock_loss *out_loss)
{
    zklock_state state = ZKLOCK_STATE_IDLE;
    zklock_loss loss = ZKLOCK_LOSS_NONE;

    if (zkl_lock_enter(lock) == ZKLOCK_OK) {
        state = zkl_lock_state_now(lock, &loss);
        zkl_session_unlock(lock->session);
    }
    if (out_loss)
        *out_loss = loss;
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
    if (!buffer)
        size = 0;
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
    if (!buffer)
        size = 0;
    if (size > 0)
        buffer[0] = '\0';
    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return;
    snprintf(buffer, size, "%s", zkl_detail_text(&lock->detail));
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
