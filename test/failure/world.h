/*
 * A world on one thread and on virtual time: the library's second port (world_runtime()), and a queue of what is to
 * happen. Whenever the library waits for a condition, the world goes on instead. So each run is the same as the last
 * one, nothing takes time, and a wait that would never end is seen at once.
 */
#ifndef ZKLOCK_TEST_WORLD_H
#define ZKLOCK_TEST_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/runtime.h"

void world_begin(void);
/* Lets happen what is still to come. */
void world_end(void);

int64_t world_now_ns(void);
/* Runs it that much later. What is to happen at the same time happens in the order of these calls. */
void world_later(int64_t delay_ms, void (*run)(void *arg), void *arg);
/* Goes on until that much later. */
void world_pass(int64_t duration_ms);
/* Goes on until it is so, for at most that long; whether it is. */
bool world_pass_until(bool (*is_so)(void), int64_t limit_ms);

/* The world's clock, workers and detached jobs. Starting one of these can fail. */
struct zkl_runtime *world_runtime(void);
/* Workers that have not been stopped, and jobs that have not run. */
int world_workers(void);
int world_jobs(void);

#endif
