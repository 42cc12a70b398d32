/*
 * What the demonstration's processes know of each other: shared memory in which every worker writes its own
 * part only. Times are of CLOCK_BOOTTIME, so that they can be compared on one host.
 */
#ifndef CLI_DEMO_BOARD_H
#define CLI_DEMO_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum demo_activity { DEMO_STARTING, DEMO_WAITING, DEMO_HOLDING, DEMO_BETWEEN, DEMO_FINISHED, DEMO_BROKEN };

/* One time in the critical section. */
struct demo_turn {
    int64_t asked_ns;
    int64_t start_ns;
    int64_t stop_ns;      /* when the worker was out of it, or its lease had ended */
    uint64_t token;       /* 0 without a lock */
    uint64_t token_found; /* in the counter: the last writer's */
};

struct demo_worker {
    atomic_int activity;
    _Atomic int64_t since_ns; /* of waiting or holding */
    atomic_int rounds;        /* done */
    atomic_int losses;        /* rounds begun again because the lock was lost */
    atomic_int turn_count;    /* turns that are complete, and may be read */
};

struct demo_board {
    int worker_count;
    int rounds;
    int turn_capacity; /* of each worker */
    struct demo_worker *workers;
    struct demo_turn *turns;
};

/* Shared with processes that are forked later. False without memory. */
bool demo_board_open(struct demo_board *board, int worker_count, int rounds);
void demo_board_close(struct demo_board *board);

/* @thread the worker's process */
void demo_board_act(struct demo_board *board, int worker, enum demo_activity activity);
void demo_board_add(struct demo_board *board, int worker, const struct demo_turn *turn);

/* @thread any process */
const struct demo_turn *demo_board_turn(const struct demo_board *board, int worker, int index);
int demo_board_rounds_done(const struct demo_board *board);

#endif
