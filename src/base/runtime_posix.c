/*
 * The second port on Linux: CLOCK_BOOTTIME, getrandom, pthreads and timerfd.
 *
 * A worker sleeps in a read of its timer. A wake sets the timer earlier, if nobody has asked for an earlier turn, so
 * that one descriptor serves both the timed and the untimed turn, and a wake that changes nothing costs no system call.
 * A condition variable would not do: it refuses CLOCK_BOOTTIME.
 */
#include "base/runtime.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Enough for getaddrinfo() and the name services behind it. */
#define DETACHED_STACK_SIZE ((size_t)512 * 1024)
/* Linux cuts thread names at fifteen characters and refuses longer ones. */
#define THREAD_NAME_SIZE 16

struct zkl_worker {
    pthread_mutex_t mutex; /* guards what follows; the innermost of all locks */
    int64_t wish_ns;       /* when the next turn is wanted */
    int64_t armed_ns;      /* what the timer is set to; ZKL_NEVER: not set, or it has fired */
    bool is_in_turn;       /* no need to set the timer: the thread looks at the wish after the turn */
    bool is_stopping;
    bool is_detached; /* stopped from inside its own turn: nobody joins, the thread frees it */

    int timer_fd;
    pthread_t thread;
    zkl_turn_fn *turn;
    void *arg;
    char name[THREAD_NAME_SIZE];
};

static int64_t read_clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * ZKL_NS_PER_S + now.tv_nsec;
}

static int64_t now_ns(struct zkl_runtime *runtime)
{
    (void)runtime;
    return read_clock_ns(CLOCK_BOOTTIME);
}

static int64_t wall_ms(struct zkl_runtime *runtime)
{
    (void)runtime;
    return read_clock_ns(CLOCK_REALTIME) / ZKL_NS_PER_MS;
}

static void fill_random(struct zkl_runtime *runtime, void *bytes, size_t size)
{
    unsigned char *next = bytes;

    (void)runtime;
    while (size > 0) {
        ssize_t count = getrandom(next, size, 0);

        if (count < 0 && errno == EINTR)
            continue;
        /* Two contenders with one token would believe in the same node: rather no lock at all. */
        if (count < 0)
            abort();
        next += count;
        size -= (size_t)count;
    }
}

/* Threads inherit the mask of their creator, so it is changed around the creation only. */
static int create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    int failure;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failure = pthread_create(thread, attributes, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

static zklock_status status_of(int failure)
{
    return failure == ENOMEM ? ZKLOCK_NO_MEMORY : ZKLOCK_SYSTEM;
}

/* @locks expects the worker's mutex */
static void arm(struct zkl_worker *worker, int64_t when_ns)
{
    /* Zero would switch the timer off instead of firing it. */
    int64_t at_ns = when_ns > 0 ? when_ns : 1;
    struct itimerspec setting = {
        .it_value = {.tv_sec = (time_t)(at_ns / ZKL_NS_PER_S), .tv_nsec = (long)(at_ns % ZKL_NS_PER_S)},
    };

    timerfd_settime(worker->timer_fd, TFD_TIMER_ABSTIME, &setting, NULL);
    worker->armed_ns = when_ns;
}

static void free_worker(struct zkl_worker *worker)
{
    if (worker->timer_fd >= 0)
        close(worker->timer_fd);
    pthread_mutex_destroy(&worker->mutex);
    free(worker);
}

/*
 * Wishes made during the turn and the turn's own are merged afterwards: whichever is earlier.
 * @thread the worker's  @locks expects the worker's mutex; releases it during the turn
 */
static void take_turn(struct zkl_worker *worker)
{
    int64_t next_ns;

    worker->wish_ns = ZKL_NEVER;
    worker->is_in_turn = true;
    pthread_mutex_unlock(&worker->mutex);
    next_ns = worker->turn(worker->arg);
    pthread_mutex_lock(&worker->mutex);
    worker->is_in_turn = false;
    if (next_ns < worker->wish_ns)
        worker->wish_ns = next_ns;
}

/* @thread the worker's  @locks expects the worker's mutex; releases it while asleep */
static void sleep_until_wish(struct zkl_worker *worker)
{
    uint64_t expirations;
    ssize_t count;

    if (worker->wish_ns != ZKL_NEVER && worker->wish_ns != worker->armed_ns)
        arm(worker, worker->wish_ns);
    pthread_mutex_unlock(&worker->mutex);
    /* A wake between the unlock and the read has set the timer already, so that the read returns at once. */
    count = read(worker->timer_fd, &expirations, sizeof(expirations));
    pthread_mutex_lock(&worker->mutex);
    if (count > 0)
        worker->armed_ns = ZKL_NEVER;
}

static void *run_worker(void *arg)
{
    struct zkl_worker *worker = arg;
    bool is_detached;

    pthread_setname_np(pthread_self(), worker->name);
    pthread_mutex_lock(&worker->mutex);
    while (!worker->is_stopping) {
        if (worker->wish_ns != ZKL_NEVER && worker->wish_ns <= read_clock_ns(CLOCK_BOOTTIME))
            take_turn(worker);
        else
            sleep_until_wish(worker);
    }
    is_detached = worker->is_detached;
    pthread_mutex_unlock(&worker->mutex);
    if (is_detached)
        free_worker(worker);
    return NULL;
}

static struct zkl_worker *new_worker(const char *name, zkl_turn_fn *turn, void *arg)
{
    struct zkl_worker *worker = calloc(1, sizeof(*worker));

    if (!worker)
        return NULL;
    pthread_mutex_init(&worker->mutex, NULL);
    worker->wish_ns = ZKL_NEVER;
    worker->armed_ns = ZKL_NEVER;
    worker->turn = turn;
    worker->arg = arg;
    snprintf(worker->name, sizeof(worker->name), "%s", name);
    return worker;
}

static zklock_status worker_start(struct zkl_runtime *runtime, const char *name, zkl_turn_fn *turn, void *arg,
                                  struct zkl_worker **out_worker)
{
    struct zkl_worker *worker = new_worker(name, turn, arg);
    int failure;

    (void)runtime;
    if (!worker)
        return ZKLOCK_NO_MEMORY;
    worker->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    failure = worker->timer_fd < 0 ? errno : create_thread(&worker->thread, NULL, run_worker, worker);
    if (failure) {
        free_worker(worker);
        return status_of(failure);
    }
    *out_worker = worker;
    return ZKLOCK_OK;
}

/* @thread any  @locks takes the worker's mutex */
static void worker_wake(struct zkl_worker *worker, int64_t when_ns)
{
    pthread_mutex_lock(&worker->mutex);
    if (when_ns < worker->wish_ns) {
        worker->wish_ns = when_ns;
        if (!worker->is_in_turn)
            arm(worker, when_ns);
    }
    pthread_mutex_unlock(&worker->mutex);
}

/* @thread any  @locks takes the worker's mutex; none may be held */
static void worker_stop(struct zkl_worker *worker)
{
    bool is_own_turn = pthread_equal(worker->thread, pthread_self());

    pthread_mutex_lock(&worker->mutex);
    worker->is_stopping = true;
    worker->is_detached = is_own_turn;
    arm(worker, 0);
    pthread_mutex_unlock(&worker->mutex);
    if (is_own_turn) {
        pthread_detach(pthread_self());
        return;
    }
    pthread_join(worker->thread, NULL);
    free_worker(worker);
}

struct detached_job {
    void (*run)(void *arg);
    void *arg;
};

static void *run_job(void *arg)
{
    struct detached_job job = *(struct detached_job *)arg;

    free(arg);
    pthread_setname_np(pthread_self(), "zklock-job");
    job.run(job.arg);
    return NULL;
}

static zklock_status run_detached(struct zkl_runtime *runtime, void (*run)(void *arg), void *arg)
{
    struct detached_job *job = malloc(sizeof(*job));
    pthread_attr_t attributes;
    pthread_t thread;
    int failure;

    (void)runtime;
    if (!job)
        return ZKLOCK_NO_MEMORY;
    *job = (struct detached_job){run, arg};
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, DETACHED_STACK_SIZE);
    failure = create_thread(&thread, &attributes, run_job, job);
    pthread_attr_destroy(&attributes);
    if (failure)
        free(job);
    return failure ? status_of(failure) : ZKLOCK_OK;
}

struct zkl_runtime *zkl_runtime_posix(void)
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
