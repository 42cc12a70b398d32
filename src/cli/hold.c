#include "hold.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"

int hold_init(struct hold *hold, int most)
{
    *hold = (struct hold){.locks = calloc((size_t)most, sizeof(zklock *)), .fd = epoll_create1(EPOLL_CLOEXEC)};
    if (hold->locks && hold->fd >= 0)
        return 0;
    return hold->locks ? errno : ENOMEM;
}

int hold_add(struct hold *hold, zklock *lock)
{
    struct epoll_event event = {.events = EPOLLIN};
    int fd;

    if (zklock_fd(lock, &fd) != ZKLOCK_OK)
        return EMFILE;
    if (epoll_ctl(hold->fd, EPOLL_CTL_ADD, fd, &event) != 0)
        return errno;
    hold->locks[hold->count++] = lock;
    return 0;
}

void hold_clear(struct hold *hold)
{
    for (int i = 0; i < hold->count; i++)
        zklock_free(hold->locks[i]);
    free(hold->locks);
    if (hold->fd >= 0)
        close(hold->fd);
    *hold = (struct hold){.fd = -1};
}

void hold_clear_fd(const struct hold *hold)
{
    for (int i = 0; i < hold->count; i++)
        zklock_fd_clear(hold->locks[i]);
}

bool hold_is_held(const struct hold *hold)
{
    for (int i = 0; i < hold->count; i++) {
        if (!zklock_is_held(hold->locks[i]))
            return false;
    }
    return true;
}

int64_t hold_remaining_ms(const struct hold *hold)
{
    int64_t least_ms = INT64_MAX;

    for (int i = 0; i < hold->count; i++) {
        int64_t left_ms = zklock_remaining_ms(hold->locks[i]);

        least_ms = left_ms < least_ms ? left_ms : least_ms;
    }
    return least_ms;
}

zklock_state hold_state(const struct hold *hold, zklock_loss *out_loss)
{
    zklock_state worst = ZKLOCK_STATE_HELD;

    for (int i = 0; i < hold->count; i++) {
        zklock_loss loss;
        zklock_state state = zklock_state_get(hold->locks[i], &loss);

        if (state == ZKLOCK_STATE_LOST) {
            if (out_loss)
                *out_loss = loss;
            return state;
        }
        if (state != ZKLOCK_STATE_HELD)
            worst = state;
    }
    return worst;
}

unsigned hold_revocations(const struct hold *hold)
{
    unsigned revocations = 0;

    for (int i = 0; i < hold->count; i++)
        revocations += zklock_revocations(hold->locks[i]);
    return revocations;
}

zklock_status hold_release(const struct hold *hold, int64_t timeout_ms)
{
    int64_t deadline_ms = clock_boottime_ms() + timeout_ms;
    zklock_status worst = ZKLOCK_OK;

    for (int i = hold->count - 1; i >= 0; i--) {
        zklock_status status = zklock_release(hold->locks[i], clock_left_ms(deadline_ms));

        if (status == ZKLOCK_LOST || worst == ZKLOCK_OK)
            worst = status;
    }
    return worst;
}
