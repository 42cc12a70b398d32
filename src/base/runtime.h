/*
 * The second port: clock, randomness and threads. The product uses runtime_posix.c; the simulator brings its own, on
 * virtual time and with one thread, which is why nothing above this file may call clock_gettime() or pthread_create().
 */
#ifndef ZKL_RUNTIME_H
#define ZKL_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "zklock.h"

#define ZKL_NS_PER_MS INT64_C(1000000)
#define ZKL_NS_PER_S INT64_C(1000000000)
/* A time that never comes. */
#define ZKL_NEVER INT64_MAX

/* `now_ns` and a limit; negative means for ever, and no sum overflows. */
static inline int64_t zkl_time_after(int64_t now_ns, int64_t timeout_ms)
{
    if (timeout_ms < 0 || timeout_ms > (ZKL_NEVER - now_ns) / ZKL_NS_PER_MS)
        return ZKL_NEVER;
    return now_ns + timeout_ms * ZKL_NS_PER_MS;
}

static inline int64_t zkl_time_earlier(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* A thread that runs its turn whenever it is woken, and at a time of its own choice. */
struct zkl_worker;

/*
 * One turn of a worker. Returns the time at which it wants the next one unless it is woken earlier; ZKL_NEVER: only
 * when woken.
 * @thread the worker's own
 */
typedef int64_t zkl_turn_fn(void *arg);

struct zkl_runtime {
    /* CLOCK_BOOTTIME in nanoseconds: time in suspend counts. Any thread. */
    int64_t (*now_ns)(struct zkl_runtime *runtime);
    /* Milliseconds since 1970, for people to read; never for decisions. Any thread. */
    int64_t (*wall_ms)(struct zkl_runtime *runtime);
    /* Fills `bytes` with random bytes that no other process has. Any thread. */
    void (*random)(struct zkl_runtime *runtime, void *bytes, size_t size);

    /* Starts a worker; its first turn comes at the first wake. All signals are blocked in it. */
    zklock_status (*worker_start)(struct zkl_runtime *runtime, const char *name, zkl_turn_fn *turn, void *arg,
                                  struct zkl_worker **out_worker);
    /*
     * Asks for a turn at `when_ns` or soon after it (0: at once). An earlier wish stands; the turn's own return value
     * replaces all wishes made before that turn began. Any thread, any lock held; does not block.
     */
    void (*worker_wake)(struct zkl_worker *worker, int64_t when_ns);
    /* Ends a worker: waits for a running turn, unless called from inside it, and frees it. No lock may be held. */
    void (*worker_stop)(struct zkl_worker *worker);

    /* Runs `job(arg)` once on a thread of its own, which may block for long. All signals are blocked in it. */
    zklock_status (*run_detached)(struct zkl_runtime *runtime, void (*job)(void *arg), void *arg);
};

/*
 * A time of that length, or up to a quarter shorter: clients that lost the same server at the same moment do not come
 * back in step, and nobody is later than was promised.
 */
static inline int64_t zkl_jitter(struct zkl_runtime *runtime, int64_t length_ns)
{
    uint64_t bits;

    runtime->random(runtime, &bits, sizeof bits);
    return length_ns < 4 ? length_ns : length_ns - (int64_t)(bits % (uint64_t)(length_ns / 4 + 1));
}

/* The runtime of the product: one for the process, never freed. Any thread. */
struct zkl_runtime *zkl_runtime_posix(void);

#endif
