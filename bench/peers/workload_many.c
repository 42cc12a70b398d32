/* Workloads of many contenders: hand-over under contention, and a queue that is drained. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "workload.h"

static void wait_at(pthread_barrier_t *barrier)
{
    pthread_barrier_wait(barrier);
}

static pthread_t start_thread(void *(*run)(void *), void *arg)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 * 1024);
    if (pthread_create(&thread, &attributes, run, arg) != 0)
        peer_fail("no thread");
    pthread_attr_destroy(&attributes);
    return thread;
}

/* ---- hand-over: each takes the lock and releases it at once, again and again */

struct crowd {
    struct bench *bench;
    pthread_barrier_t ready;
    atomic_long rest; /* hand-overs still to be counted */
    _Atomic int64_t end_us;
    atomic_int inside;
};

struct crowd_member {
    struct crowd *crowd;
    struct contender contender;
    pthread_t thread;
};

static void *contend(void *arg)
{
    struct crowd_member *member = arg;
    struct crowd *crowd = member->crowd;
    const struct peer *peer = crowd->bench->peer;

    wait_at(&crowd->ready);
    while (atomic_load(&crowd->rest) > 0) {
        peer->acquire(member->contender.lock);
        if (atomic_fetch_add(&crowd->inside, 1) != 0)
            peer_fail("two holders at once");
        if (atomic_fetch_sub(&crowd->rest, 1) == 1)
            atomic_store(&crowd->end_us, peer_now_us());
        atomic_fetch_sub(&crowd->inside, 1);
        peer->release(member->contender.lock, false);
    }
    return NULL;
}

void workload_handover(struct bench *bench)
{
    long contenders = order_number(bench->order, "contenders", 2);
    struct crowd crowd = {.bench = bench, .rest = bench->count};
    struct crowd_member *members = bench_allocate((size_t)contenders, sizeof *members);
    struct usage before, after;

    pthread_barrier_init(&crowd.ready, NULL, (unsigned)contenders + 1);
    for (long i = 0; i < contenders; i++) {
        members[i].crowd = &crowd;
        contender_open(bench, bench->path, &members[i].contender);
        members[i].thread = start_thread(contend, &members[i]);
    }
    usage_read(&before);
    int64_t begin_us = peer_now_us();
    wait_at(&crowd.ready);
    for (long i = 0; i < contenders; i++)
        pthread_join(members[i].thread, NULL);
    usage_read(&after);
    double seconds = (double)(atomic_load(&crowd.end_us) - begin_us) / 1e6;
    fprintf(bench->out, " rate=%.2f cpu_us=%.2f", (double)bench->count / seconds,
            (double)(after.cpu_us - before.cpu_us) / (double)bench->count);
    for (long i = 0; i < contenders; i++)
        contender_close(bench, &members[i].contender);
    pthread_barrier_destroy(&crowd.ready);
    free(members);
}

/* ---- drain: all wait behind one holder, and each releases as soon as it is granted */

/* Each lists all that are there: without a bound, a server would have gigabytes of answers in its memory. */
enum { QUEUED_AT_ONCE = 200 };

struct queue {
    struct bench *bench;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    long served;
    int64_t end_us;
};

struct waiter {
    struct queue *queue;
    void *lock;
};

static void count_served(struct queue *queue, int64_t granted_us)
{
    pthread_mutex_lock(&queue->mutex);
    queue->served++;
    if (queue->end_us < granted_us)
        queue->end_us = granted_us;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

static void pass_on(void *arg)
{
    struct waiter *waiter = arg;
    int64_t granted_us = peer_now_us();

    /* Whoever has been counted may be freed. */
    waiter->queue->bench->peer->release(waiter->lock, true);
    count_served(waiter->queue, granted_us);
}

static void drain(struct queue *queue, struct contender *holder, struct waiter *waiters)
{
    struct bench *bench = queue->bench;
    const struct peer *peer = bench->peer;

    peer->acquire(holder->lock);
    int64_t queue_us = peer_now_us();
    for (long first = 0; first < bench->count; first += QUEUED_AT_ONCE) {
        long end = first + QUEUED_AT_ONCE < bench->count ? first + QUEUED_AT_ONCE : bench->count;
        for (long i = first; i < end; i++)
            peer->start(waiters[i].lock, pass_on, &waiters[i]);
        for (long i = first; i < end; i++)
            peer->wait_queued(waiters[i].lock);
    }
    int64_t queued_us = peer_now_us();
    bench_rest(bench);
    int64_t begin_us = peer_now_us();
    peer->release(holder->lock, false);
    pthread_mutex_lock(&queue->mutex);
    while (queue->served < bench->count)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    pthread_mutex_unlock(&queue->mutex);
    fprintf(bench->out, " us=%.2f queue_us=%.2f", (double)(queue->end_us - begin_us) / (double)bench->count,
            (double)(queued_us - queue_us) / (double)bench->count);
}

void workload_drain(struct bench *bench)
{
    long session_count = order_number(bench->order, "sessions", 1);
    struct queue queue = {
        .bench = bench, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    struct waiter *waiters = bench_allocate((size_t)bench->count, sizeof *waiters);
    void **sessions = bench_allocate((size_t)session_count, sizeof *sessions);
    struct contender holder;

    contender_open(bench, bench->path, &holder);
    for (long i = 0; i < session_count; i++)
        sessions[i] = bench->peer->open(bench->servers, bench->timeout_ms);
    for (long i = 0; i < bench->count; i++) {
        waiters[i].queue = &queue;
        waiters[i].lock = bench->peer->lock_new(sessions[i % session_count], bench->path);
    }
    drain(&queue, &holder, waiters);
    for (long i = 0; i < bench->count; i++)
        bench->peer->lock_free(waiters[i].lock);
    for (long i = 0; i < session_count; i++)
        bench->peer->close(sessions[i]);
    contender_close(bench, &holder);
    free(waiters);
    free(sessions);
}
