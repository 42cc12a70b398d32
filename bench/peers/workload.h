/* The workloads of the peers in C, and what they share. */
#ifndef ZKLOCK_BENCH_WORKLOAD_H
#define ZKLOCK_BENCH_WORKLOAD_H

#include <stdio.h>

#include "peer.h"

/* One line of the input: a name, and key=value pairs. */
struct order {
    char *words[32];
    int word_count;
};

/* The value of a key, or the fallback. */
const char *order_text(const struct order *order, const char *key, const char *fallback);
long order_number(const struct order *order, const char *key, long fallback);

struct bench {
    const struct peer *peer;
    const char *servers;
    const char *path;
    long count;
    unsigned timeout_ms;
    const struct order *order;
    FILE *out; /* the answer: " key=value" for each figure */
};

void workload_cycle(struct bench *bench);
void workload_latency(struct bench *bench);
void workload_handover(struct bench *bench);
void workload_drain(struct bench *bench);
void workload_locks(struct bench *bench);
void workload_footprint(struct bench *bench);
void workload_hold(struct bench *bench);
void workload_drop(struct bench *bench);
void workload_acquire(struct bench *bench);
void workload_capacity(struct bench *bench);

/* ---- what they share */

/* One lock on a session of its own. */
struct contender {
    void *session;
    void *lock;
};

void contender_open(const struct bench *bench, const char *path, struct contender *contender);
void contender_close(const struct bench *bench, struct contender *contender);

struct usage {
    int64_t cpu_us;
    long resident_bytes;
    long threads;
    long descriptors;
};

void usage_read(struct usage *usage);

/* Sorts the samples and writes their median and 99th percentile as `name` and `name_p99`. */
void samples_report(const struct bench *bench, const char *name, int64_t *samples, long count);
/* Lets what was begun come to rest, for as long as the order says (rest_ms). It is part of the workload, and not timed. */
void bench_rest(const struct bench *bench);
void *bench_allocate(size_t count, size_t size);

#endif
