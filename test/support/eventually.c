#include "support/eventually.h"

enum { POLL_INTERVAL_MS = 3 };

static int64_t read_clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t monotonic_ms(void)
{
    return read_clock_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t boottime_ns(void)
{
    return read_clock_ns(CLOCK_BOOTTIME);
}

int64_t boottime_ms(void)
{
    return boottime_ns() / 1000000;
}

int remaining_ms(int64_t deadline_ms)
{
    int64_t left = deadline_ms - monotonic_ms();

    return left > 0 ? (int)left : 0;
}

bool eventually(bool (*is_true)(void *context), void *context, int timeout_ms)
{
    const struct timespec interval = {0, POLL_INTERVAL_MS * 1000000L};
    int64_t deadline_ms = monotonic_ms() + timeout_ms;

    while (!is_true(context)) {
        if (remaining_ms(deadline_ms) == 0)
            return false;
        nanosleep(&interval, NULL);
    }
    return true;
}

void monotonic_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec monotonic_deadline(int timeout_ms)
{
    int64_t deadline_ns = read_clock_ns(CLOCK_MONOTONIC) + (int64_t)timeout_ms * 1000000;

    return (struct timespec){deadline_ns / 1000000000, deadline_ns % 1000000000};
}
