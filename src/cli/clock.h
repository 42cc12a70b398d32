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

#endif
