/* The clock of leases and limits: time spent in suspend counts. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_boottime_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t clock_boottime_ms(void)
{
    return clock_boottime_ns() / 1000000;
}

/* What is left until then, never below 0; INT64_MAX stands for a time that never comes. */
static inline int64_t clock_left_ms(int64_t deadline_ms)
{
    int64_t left_ms = deadline_ms == INT64_MAX ? INT64_MAX : deadline_ms - clock_boottime_ms();

    return left_ms > 0 ? left_ms : 0;
}

#endif
