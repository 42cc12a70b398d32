/* The public calls on several locks as one that only look. */
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/line.h"
#include "lock/multi.h"

/* For which all are held for certain; 0: one is not. @locks takes the session's mutex */
static int64_t remaining_ns(zklock_multi *multi)
{
    if (zkl_multi_enter(multi) != ZKLOCK_OK)
        return 0;
    int64_t least_ns = multi->result == ZKLOCK_OK ? ZKL_NEVER : 0;
    for (int i = 0; i < multi->count; i++)
        least_ns = zkl_time_earlier(least_ns, zkl_lock_remaining(multi->parts[i]));
    zkl_session_unlock(multi->session);
    return least_ns;
}

/* By the nanosecond, as zklock_is_held(). */
bool zklock_multi_is_held(zklock_multi *multi)
{
    return remaining_ns(multi) > 0;
}

int64_t zklock_multi_remaining_ms(zklock_multi *multi)
{
    return remaining_ns(multi) / ZKL_NS_PER_MS;
}

/* The worst of all that were granted. @locks expects the session's mutex */
static zklock_state worst_state(const zklock_multi *multi, zklock_loss *out_loss)
{
    zklock_state worst = ZKLOCK_STATE_HELD;

    for (int i = 0; i < multi->count; i++) {
        zklock_loss loss;
        zklock_state state = zkl_lock_state_now(multi->parts[i], &loss);
        if (state == ZKLOCK_STATE_LOST) {
            *out_loss = loss;
            return state;
        }
        if (state != ZKLOCK_STATE_HELD)
            worst = state;
    }
    return worst;
}

zklock_state zklock_multi_state_get(zklock_multi *multi, zklock_loss *out_loss)
{
    zklock_state state = ZKLOCK_STATE_IDLE;
    zklock_loss loss = ZKLOCK_LOSS_NONE;

    if (zkl_multi_enter(multi) == ZKLOCK_OK) {
        if (multi->result == ZKLOCK_PENDING)
            state = ZKLOCK_STATE_ACQUIRING;
        else if (multi->result == ZKLOCK_OK)
            state = worst_state(multi, &loss);
        zkl_session_unlock(multi->session);
    }
    if (out_loss)
        *out_loss = loss;
    return state;
}

zklock *zklock_multi_current(zklock_multi *multi)
{
    if (zkl_multi_enter(multi) != ZKLOCK_OK)
        return NULL;
    zklock *current = multi->current;
    zkl_session_unlock(multi->session);
    return current;
}

void zklock_multi_detail(zklock_multi *multi, char *buffer, size_t size)
{
    if (!buffer)
        size = 0;
    if (size > 0)
        buffer[0] = '\0';
    if (zkl_multi_enter(multi) != ZKLOCK_OK)
        return;
    snprintf(buffer, size, "%s", multi->detail);
    if (size > 0)
        zkl_line_tame(buffer);
    zkl_session_unlock(multi->session);
}

zklock_status zklock_multi_fd(zklock_multi *multi, int *out_fd)
{
    zklock_status status = out_fd ? zkl_multi_enter(multi) : ZKLOCK_BAD_ARGUMENT;

    if (status != ZKLOCK_OK)
        return status;
    if (multi->event_fd < 0)
        multi->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (multi->event_fd < 0)
        return zkl_multi_leave(multi, ZKLOCK_SYSTEM);
    *out_fd = multi->event_fd;
    return zkl_multi_leave(multi, ZKLOCK_OK);
}

void zklock_multi_fd_clear(zklock_multi *multi)
{
    uint64_t count;

    if (zkl_multi_enter(multi) != ZKLOCK_OK)
        return;
    if (multi->event_fd >= 0)
        (void)!read(multi->event_fd, &count, sizeof count);
    zkl_session_unlock(multi->session);
}
