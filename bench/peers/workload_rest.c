/* What many locks of one process cost; and to hold, for others to measure. */
#include <stdlib.h>
#include <string.h>

#include "workload.h"

static char *numbered_path(const struct bench *bench, const char *kind, long number)
{
    char *path = bench_allocate(strlen(bench->path) + strlen(kind) + 24, 1);

    sprintf(path, "%s/%s%ld", bench->path, kind, number);
    return path;
}

static void *new_numbered_lock(const struct bench *bench, void *session, const char *kind, long number)
{
    char *path = numbered_path(bench, kind, number);
    void *lock = bench->peer->lock_new(session, path);

    free(path);
    return lock;
}

static void nothing(void *arg)
{
    (void)arg;
}

/* Takes all, one after the other, or all at once where the peer can begin without waiting. */
static void take_all(const struct bench *bench, void **locks, bool at_once)
{
    const struct peer *peer = bench->peer;

    for (long i = 0; i < bench->count; i++) {
        if (at_once)
            peer->start(locks[i], nothing, NULL);
        else
            peer->acquire(locks[i]);
    }
    for (long i = 0; at_once && i < bench->count; i++)
        peer->wait_held(locks[i]);
}

/* Many different locks, held together and released by one process. */
void workload_locks(struct bench *bench)
{
    long session_count = order_number(bench->order, "sessions", 1);
    bool at_once = order_number(bench->order, "at_once", 0) != 0;
    void **locks = bench_allocate((size_t)bench->count, sizeof *locks);
    void **sessions = bench_allocate((size_t)session_count, sizeof *sessions);

    if (at_once && !bench->peer->start) {
        fputs(" unsupported=1", bench->out);
        goto out;
    }
    for (long i = 0; i < session_count; i++)
        sessions[i] = bench->peer->open(bench->servers, bench->timeout_ms);
    for (long i = 0; i < bench->count; i++)
        locks[i] = new_numbered_lock(bench, sessions[i % session_count], "lock", i);
    int64_t begin_us = peer_now_us();
    take_all(bench, locks, at_once);
    int64_t taken_us = peer_now_us();
    for (long i = 0; i < bench->count; i++)
        bench->peer->release(locks[i], at_once);
    for (long i = 0; i < bench->count; i++)
        bench->peer->lock_free(locks[i]);
    for (long i = 0; i < session_count; i++)
        bench->peer->close(sessions[i]); /* what was only sent is confirmed here */
    fprintf(bench->out, " us=%.2f release_us=%.2f", (double)(taken_us - begin_us) / (double)bench->count,
            (double)(peer_now_us() - taken_us) / (double)bench->count);
out:
    free(locks);
    free(sessions);
}

static void report_growth(const struct bench *bench, const char *name, const struct usage *before,
                          const struct usage *after)
{
    fprintf(bench->out, " %s_bytes=%.1f %s_threads=%ld %s_descriptors=%ld", name,
            (double)(after->resident_bytes - before->resident_bytes) / (double)bench->count, name,
            after->threads - before->threads, name, after->descriptors - before->descriptors);
}

/* Memory, threads and descriptors: of a session, then of `count` locks that are held, then of as many that wait. */
void workload_footprint(struct bench *bench)
{
    const struct peer *peer = bench->peer;
    void **locks = bench_allocate((size_t)bench->count, sizeof *locks);
    void **waiters = bench_allocate((size_t)bench->count, sizeof *waiters);
    struct usage none, open, held, waiting;

    memset(locks, 1, (size_t)bench->count * sizeof *locks);
    memset(waiters, 1, (size_t)bench->count * sizeof *waiters);
    usage_read(&none);
    void *holder = peer->open(bench->servers, bench->timeout_ms);
    void *waiter = peer->open(bench->servers, bench->timeout_ms);
    usage_read(&open);
    for (long i = 0; i < bench->count; i++) {
        locks[i] = new_numbered_lock(bench, holder, "held", i);
        peer->acquire(locks[i]);
    }
    bench_rest(bench);
    usage_read(&held);
    for (long i = 0; i < bench->count; i++) {
        waiters[i] = new_numbered_lock(bench, waiter, "held", i);
        peer->start(waiters[i], nothing, NULL);
        peer->wait_queued(waiters[i]);
    }
    bench_rest(bench);
    usage_read(&waiting);
    fprintf(bench->out, " session_bytes=%ld session_threads=%.1f session_descriptors=%.1f",
            (open.resident_bytes - none.resident_bytes) / 2, (double)(open.threads - none.threads) / 2,
            (double)(open.descriptors - none.descriptors) / 2);
    report_growth(bench, "lock", &open, &held);
    report_growth(bench, "waiter", &held, &waiting);
    for (long i = 0; i < bench->count; i++) {
        peer->lock_free(waiters[i]);
        peer->lock_free(locks[i]);
    }
    peer->close(waiter);
    peer->close(holder);
    free(locks);
    free(waiters);
}

/* ---- sessions that live beyond one order */

static struct contender *kept;
static long kept_count;

/* Opens sessions, each with a lock of its own unless they are to be idle. Answers when all are there. */
void workload_hold(struct bench *bench)
{
    bool is_idle = order_number(bench->order, "idle", 0) != 0;

    kept_count = bench->count;
    kept = bench_allocate((size_t)kept_count, sizeof *kept);
    for (long i = 0; i < kept_count; i++) {
        kept[i].session = bench->peer->open(bench->servers, bench->timeout_ms);
        if (is_idle)
            continue;
        if (kept_count > 1)
            kept[i].lock = new_numbered_lock(bench, kept[i].session, "hold", i);
        else
            kept[i].lock = bench->peer->lock_new(kept[i].session, bench->path);
        bench->peer->acquire(kept[i].lock);
    }
}

/* Ends what `hold` began. */
void workload_drop(struct bench *bench)
{
    for (long i = 0; i < kept_count; i++) {
        if (kept[i].lock)
            bench->peer->lock_free(kept[i].lock);
        bench->peer->close(kept[i].session);
    }
    free(kept);
    kept = NULL;
    kept_count = 0;
}

/* Waits for the lock, and says when it was had, by the machine's clock. */
void workload_acquire(struct bench *bench)
{
    struct contender contender;

    contender_open(bench, bench->path, &contender);
    bench->peer->acquire(contender.lock);
    fprintf(bench->out, " at_us=%lld", (long long)peer_now_us());
    bench->peer->release(contender.lock, false);
    contender_close(bench, &contender);
}

/* Writes a second, when nobody waits for an answer before the next one. */
void workload_capacity(struct bench *bench)
{
    void *session = bench->peer->open(bench->servers, bench->timeout_ms);

    bench->peer->write_many(session, bench->path, 100);
    int64_t begin_us = peer_now_us();
    bench->peer->write_many(session, bench->path, bench->count);
    fprintf(bench->out, " rate=%.2f", (double)bench->count * 1e6 / (double)(peer_now_us() - begin_us));
    bench->peer->close(session);
}
