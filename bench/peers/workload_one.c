/* Workloads of one or two contenders: a free lock, and the time from a release to the next holder. */
#include <pthread.h>
#include <stdlib.h>

#include "workload.h"

/* One contender takes and releases a lock that nobody else wants. */
void workload_cycle(struct bench *bench)
{
    bool is_sent = order_number(bench->order, "sent", 0) != 0;
    struct contender contender;
    struct usage before, after;
    int64_t *samples = bench_allocate((size_t)bench->count, sizeof *samples);

    if (is_sent && !bench->peer->can_send) {
        fputs(" unsupported=1", bench->out);
        free(samples);
        return;
    }
    contender_open(bench, bench->path, &contender);
    bench->peer->acquire(contender.lock); /* makes the parents */
    bench->peer->release(contender.lock, false);
    usage_read(&before);
    int64_t begin_us = peer_now_us();
    int64_t last_us = begin_us;
    for (long i = 0; i < bench->count; i++) {
        bench->peer->acquire(contender.lock);
        bench->peer->release(contender.lock, is_sent);
        int64_t now_us = peer_now_us();
        samples[i] = now_us - last_us;
        last_us = now_us;
    }
    usage_read(&after);
    fprintf(bench->out, " us=%.2f cpu_us=%.2f", (double)(last_us - begin_us) / (double)bench->count,
            (double)(after.cpu_us - before.cpu_us) / (double)bench->count);
    samples_report(bench, "median_us", samples, bench->count);
    contender_close(bench, &contender);
    free(samples);
}

struct relay {
    struct bench *bench;
    struct contender contender;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_wanted;
    bool is_over;
    int64_t granted_us; /* 0: not yet */
};

static void *wait_and_tell(void *arg)
{
    struct relay *relay = arg;
    const struct peer *peer = relay->bench->peer;

    pthread_mutex_lock(&relay->mutex);
    for (;;) {
        while (!relay->is_wanted && !relay->is_over)
            pthread_cond_wait(&relay->changed, &relay->mutex);
        if (relay->is_over)
            break;
        relay->is_wanted = false;
        pthread_mutex_unlock(&relay->mutex);
        peer->acquire(relay->contender.lock);
        int64_t now_us = peer_now_us();
        peer->release(relay->contender.lock, false);
        pthread_mutex_lock(&relay->mutex);
        relay->granted_us = now_us;
        pthread_cond_broadcast(&relay->changed);
    }
    pthread_mutex_unlock(&relay->mutex);
    return NULL;
}

static void ask_for_lock(struct relay *relay)
{
    pthread_mutex_lock(&relay->mutex);
    relay->is_wanted = true;
    relay->granted_us = 0;
    pthread_cond_broadcast(&relay->changed);
    pthread_mutex_unlock(&relay->mutex);
}

static int64_t wait_for_grant(struct relay *relay)
{
    pthread_mutex_lock(&relay->mutex);
    while (relay->granted_us == 0)
        pthread_cond_wait(&relay->changed, &relay->mutex);
    int64_t granted_us = relay->granted_us;
    pthread_mutex_unlock(&relay->mutex);
    return granted_us;
}

static void end_relay(struct relay *relay, pthread_t thread)
{
    pthread_mutex_lock(&relay->mutex);
    relay->is_over = true;
    pthread_cond_broadcast(&relay->changed);
    pthread_mutex_unlock(&relay->mutex);
    pthread_join(thread, NULL);
    contender_close(relay->bench, &relay->contender);
}

/* From the call of release to the return of acquire in a thread that has waited in peace, on another session. */
void workload_latency(struct bench *bench)
{
    struct relay relay = {
        .bench = bench, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    struct contender holder;
    pthread_t thread;
    int64_t *samples = bench_allocate((size_t)bench->count, sizeof *samples);

    contender_open(bench, bench->path, &holder);
    contender_open(bench, bench->path, &relay.contender);
    if (pthread_create(&thread, NULL, wait_and_tell, &relay) != 0)
        peer_fail("no thread");
    for (long i = 0; i < bench->count; i++) {
        bench->peer->acquire(holder.lock);
        ask_for_lock(&relay);
        /* Part of the workload: what the other one sends before it can only wait shall not be measured. */
        bench_rest(bench);
        int64_t begin_us = peer_now_us();
        bench->peer->release(holder.lock, bench->peer->can_send);
        samples[i] = wait_for_grant(&relay) - begin_us;
    }
    end_relay(&relay, thread);
    samples_report(bench, "us", samples, bench->count);
    contender_close(bench, &holder);
    free(samples);
}
