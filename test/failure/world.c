#include "failure/world.h"

#include <stdlib.h>
#include <string.h>

#include "failure/fail.h"
#include "failure/guarded_calls.h"
#include "support/suite.h"

/* Where the clock begins, and how long a test may take on it: any wait of the library has ended long before. */
#define FIRST_NS (INT64_C(1000) * ZKL_NS_PER_S)
#define LONGEST_NS (INT64_C(3600) * ZKL_NS_PER_S)
/* Steps in which the clock stands still; more are a loop that would eat a processor. */
enum { MOST_STEPS_AT_ONCE = 20000 };

struct happening {
    struct happening *next;
    int64_t when_ns;
    void (*run)(void *arg);
    void *arg;
};

struct zkl_worker {
    struct zkl_worker *next;
    int64_t wish_ns;
    zkl_turn_fn *turn;
    void *arg;
    bool is_in_turn;
    bool is_stopped; /* inside its own turn */
};

static struct {
    int64_t now_ns;
    struct happening *first;
    struct zkl_worker *workers;
    int jobs;
    int steps_at_once;
    uint64_t random;
} world;

int64_t world_now_ns(void)
{
    return world.now_ns;
}

static void insert(struct happening *happening)
{
    struct happening **at = &world.first;

    while (*at && (*at)->when_ns <= happening->when_ns)
        at = &(*at)->next;
    happening->next = *at;
    *at = happening;
}

void world_later(int64_t delay_ms, void (*run)(void *arg), void *arg)
{
    struct happening *happening = calloc(1, sizeof *happening);

    *happening = (struct happening){.when_ns = world.now_ns + delay_ms * ZKL_NS_PER_MS, .run = run, .arg = arg};
    insert(happening);
}

static struct zkl_worker *next_worker(void)
{
    struct zkl_worker *next = NULL;

    for (struct zkl_worker *worker = world.workers; worker; worker = worker->next)
        if (!worker->is_in_turn && (!next || worker->wish_ns < next->wish_ns))
            next = worker;
    return next;
}

static void forget_worker(struct zkl_worker *worker)
{
    struct zkl_worker **at = &world.workers;

    while (*at != worker)
        at = &(*at)->next;
    *at = worker->next;
    free(worker);
}

static void take_turn(struct zkl_worker *worker)
{
    worker->wish_ns = ZKL_NEVER;
    worker->is_in_turn = true;
    int64_t next_ns = worker->turn(worker->arg);
    worker->is_in_turn = false;
    if (next_ns < worker->wish_ns)
        worker->wish_ns = next_ns;
    if (worker->is_stopped)
        forget_worker(worker);
}

static void happen(void)
{
    struct happening happening = *world.first;

    free(world.first);
    world.first = happening.next;
    happening.run(happening.arg);
}

static void advance_to(int64_t when_ns)
{
    if (when_ns > world.now_ns) {
        world.now_ns = when_ns;
        world.steps_at_once = 0;
    } else if (++world.steps_at_once > MOST_STEPS_AT_ONCE) {
        suite_abandon("the library goes round and round (%s)", fail_text());
    }
}

/* The next thing, unless it comes after `limit_ns`: false. A turn comes before what happens at the same time. */
static bool step(int64_t limit_ns)
{
    struct zkl_worker *worker = next_worker();
    int64_t turn_ns = worker ? worker->wish_ns : ZKL_NEVER;
    int64_t happening_ns = world.first ? world.first->when_ns : ZKL_NEVER;
    int64_t next_ns = turn_ns <= happening_ns ? turn_ns : happening_ns;

    if (next_ns == ZKL_NEVER || next_ns > limit_ns)
        return false;
    advance_to(next_ns);
    if (turn_ns <= happening_ns)
        take_turn(worker);
    else
        happen();
    return true;
}

/* The library waits. */
static void go_on(void)
{
    if (!step(FIRST_NS + LONGEST_NS))
        suite_abandon("the library waits for what never comes (%s)", fail_text());
}

void world_pass(int64_t duration_ms)
{
    int64_t limit_ns = world.now_ns + duration_ms * ZKL_NS_PER_MS;

    while (step(limit_ns))
        ;
    world.now_ns = limit_ns;
}

bool world_pass_until(bool (*is_so)(void), int64_t limit_ms)
{
    int64_t limit_ns = world.now_ns + limit_ms * ZKL_NS_PER_MS;

    while (!is_so())
        if (!step(limit_ns))
            return false;
    return true;
}

void world_begin(void)
{
    memset(&world, 0, sizeof world);
    world.now_ns = FIRST_NS;
    guarded_calls_set_waiter(go_on);
}

void world_end(void)
{
    while (step(FIRST_NS + 2 * LONGEST_NS))
        ;
    guarded_calls_set_waiter(NULL);
    while (world.workers)
        forget_worker(world.workers);
}

int world_workers(void)
{
    int count = 0;

    for (const struct zkl_worker *worker = world.workers; worker; worker = worker->next)
        count++;
    return count;
}

int world_jobs(void)
{
    return world.jobs;
}

/* ---------------------------------------------------------------- the runtime */

static int64_t now_ns(struct zkl_runtime *runtime)
{
    (void)runtime;
    return world.now_ns;
}

static int64_t wall_ms(struct zkl_runtime *runtime)
{
    (void)runtime;
    return world.now_ns / ZKL_NS_PER_MS;
}

/* Different each time, and the same in each run: splitmix64. */
static void fill_random(struct zkl_runtime *runtime, void *bytes, size_t size)
{
    unsigned char *out = bytes;

    (void)runtime;
    for (size_t i = 0; i < size; i++) {
        uint64_t mixed = world.random += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        out[i] = (unsigned char)(mixed ^ (mixed >> 31));
    }
}

static zklock_status worker_start(struct zkl_runtime *runtime, const char *name, zkl_turn_fn *turn, void *arg,
                                  struct zkl_worker **out_worker)
{
    (void)runtime;
    (void)name;
    if (fail_is_due("worker_start", __builtin_return_address(0)))
        return ZKLOCK_SYSTEM;
    struct zkl_worker *worker = calloc(1, sizeof *worker);
    *worker = (struct zkl_worker){.next = world.workers, .wish_ns = ZKL_NEVER, .turn = turn, .arg = arg};
    world.workers = worker;
    *out_worker = worker;
    return ZKLOCK_OK;
}

static void worker_wake(struct zkl_worker *worker, int64_t when_ns)
{
    if (when_ns < worker->wish_ns)
        worker->wish_ns = when_ns;
}

/* One thread: a turn that runs can only be the caller's own, or below the caller's wait. */
static void worker_stop(struct zkl_worker *worker)
{
    worker->is_stopped = true;
    if (!worker->is_in_turn)
        forget_worker(worker);
}

struct job {
    void (*run)(void *arg);
    void *arg;
};

static void run_job(void *arg)
{
    struct job job = *(struct job *)arg;

    free(arg);
    world.jobs--;
    job.run(job.arg);
}

static zklock_status run_detached(struct zkl_runtime *runtime, void (*run)(void *arg), void *arg)
{
    (void)runtime;
    if (fail_is_due("run_detached", __builtin_return_address(0)))
        return ZKLOCK_SYSTEM;
    struct job *job = calloc(1, sizeof *job);
    *job = (struct job){run, arg};
    world.jobs++;
    world_later(0, run_job, job);
    return ZKLOCK_OK;
}

struct zkl_runtime *world_runtime(void)
{
    static struct zkl_runtime runtime = {
        .now_ns = now_ns,
        .wall_ms = wall_ms,
        .random = fill_random,
        .worker_start = worker_start,
        .worker_wake = worker_wake,
        .worker_stop = worker_stop,
        .run_detached = run_detached,
    };

    return &runtime;
}
