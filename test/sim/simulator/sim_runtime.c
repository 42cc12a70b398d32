#include "sim_runtime.h"

#include <stdlib.h>
#include <string.h>

/* How late a thread runs after it was woken: most often next to nothing. */
#define THREAD_DELAY (2 * MILLISECOND)
#define JOB_DELAY (20 * MILLISECOND)

struct zkl_worker {
    struct sim_runtime *runtime;
    zkl_turn_fn *turn;
    void *arg;
    int64_t wish_ns; /* by the process's clock */
    bool is_in_turn;
    bool is_stopped;
    struct event *planned;
    int64_t planned_ns; /* the wish that `planned` is for */
};

/* ---------------------------------------------------------------- the clock */

int64_t runtime_clock(const struct sim_runtime *runtime)
{
    int64_t now_ns = runtime->host->actor.world->now_ns;

    return runtime->clock_base_ns + now_ns + now_ns / 1000000 * runtime->rate_ppm;
}

int64_t runtime_when(const struct sim_runtime *runtime, int64_t clock_ns)
{
    int64_t shown_ns = clock_ns - runtime->clock_base_ns;

    if (shown_ns <= 0)
        return 0;
    /* A little late rather than early: a turn before its time would only be repeated. */
    return shown_ns - shown_ns / (1000000 + runtime->rate_ppm) * runtime->rate_ppm + 2 * MILLISECOND / 100;
}

static struct sim_runtime *runtime_of(struct zkl_runtime *port)
{
    return (struct sim_runtime *)port;
}

static int64_t now_ns(struct zkl_runtime *port)
{
    return runtime_clock(runtime_of(port));
}

static int64_t wall_ms(struct zkl_runtime *port)
{
    return runtime_clock(runtime_of(port)) / MILLISECOND + INT64_C(1700000000000);
}

static void fill_random(struct zkl_runtime *port, void *bytes, size_t size)
{
    struct chance *chance = &runtime_of(port)->host->chance;

    for (char *at = bytes; size > 0;) {
        uint64_t bits = chance_bits(chance);
        size_t part = size < sizeof bits ? size : sizeof bits;
        memcpy(at, &bits, part);
        at += part;
        size -= part;
    }
}

/* ---------------------------------------------------------------- threads */

static void plan(struct zkl_worker *worker);

static void take_turn(void *subject, void *detail)
{
    struct zkl_worker *worker = subject;

    (void)detail;
    worker->planned = NULL;
    worker->wish_ns = ZKL_NEVER;
    worker->is_in_turn = true;
    int64_t next_ns = worker->turn(worker->arg);
    worker->is_in_turn = false;
    if (worker->is_stopped) {
        free(worker);
        return;
    }
    if (next_ns < worker->wish_ns)
        worker->wish_ns = next_ns;
    plan(worker);
}

static void plan(struct zkl_worker *worker)
{
    struct sim_runtime *runtime = worker->runtime;
    struct host *host = runtime->host;

    if (worker->wish_ns == ZKL_NEVER || (worker->planned && worker->planned_ns == worker->wish_ns))
        return;
    world_cancel(worker->planned);
    int64_t at_ns = worker->wish_ns > runtime_clock(runtime) ? runtime_when(runtime, worker->wish_ns)
                                                             : host->actor.world->now_ns;
    at_ns += chance_near(&host->chance, 0, chance_one_in(&host->chance, 100) ? THREAD_DELAY : THREAD_DELAY / 50);
    worker->planned_ns = worker->wish_ns;
    worker->planned = world_post(&host->actor, at_ns, take_turn, worker, NULL);
}

static zklock_status worker_start(struct zkl_runtime *port, const char *name, zkl_turn_fn *turn, void *arg,
                                  struct zkl_worker **out_worker)
{
    struct zkl_worker *worker = must_have(calloc(1, sizeof *worker));

    (void)name;
    *worker = (struct zkl_worker){
        .runtime = runtime_of(port), .turn = turn, .arg = arg, .wish_ns = ZKL_NEVER, .planned_ns = ZKL_NEVER};
    *out_worker = worker;
    return ZKLOCK_OK;
}

static void worker_wake(struct zkl_worker *worker, int64_t when_ns)
{
    if (when_ns >= worker->wish_ns)
        return;
    worker->wish_ns = when_ns;
    if (!worker->is_in_turn)
        plan(worker);
}

static void worker_stop(struct zkl_worker *worker)
{
    world_cancel(worker->planned);
    worker->is_stopped = true;
    if (!worker->is_in_turn)
        free(worker);
}

struct job {
    void (*run)(void *arg);
    void *arg;
};

static void run_job(void *subject, void *detail)
{
    struct job *job = subject;

    (void)detail;
    job->run(job->arg);
    free(job);
}

static zklock_status run_detached(struct zkl_runtime *port, void (*run)(void *arg), void *arg)
{
    struct host *host = runtime_of(port)->host;
    struct job *job = must_have(malloc(sizeof *job));
    int64_t delay_ns = chance_near(&host->chance, 0, chance_one_in(&host->chance, 10) ? JOB_DELAY : JOB_DELAY / 100);

    *job = (struct job){run, arg};
    world_post(&host->actor, host->actor.world->now_ns + delay_ns, run_job, job, NULL);
    return ZKLOCK_OK;
}

void runtime_init(struct sim_runtime *runtime, struct host *host, int64_t rate_ppm)
{
    *runtime = (struct sim_runtime){
        .runtime = {.now_ns = now_ns,
                    .wall_ms = wall_ms,
                    .random = fill_random,
                    .worker_start = worker_start,
                    .worker_wake = worker_wake,
                    .worker_stop = worker_stop,
                    .run_detached = run_detached},
        .host = host,
        .clock_base_ns = SECOND * chance_between(&host->chance, 100, 100000),
        .rate_ppm = rate_ppm,
    };
}
