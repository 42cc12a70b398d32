/* Waiting for an event that has no notification of its own, and the clocks that tests compare with. */
#ifndef ZKLOCK_TEST_EVENTUALLY_H
#define ZKLOCK_TEST_EVENTUALLY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Asks is_true(context) every few milliseconds, on the caller's thread, until it says yes or the time is
 * over. The condition is asked at least once. */
bool eventually(bool (*is_true)(void *context), void *context, int timeout_ms);

int64_t monotonic_ms(void);
/* CLOCK_BOOTTIME counts suspension too: the clock of leases and of the critical-section file. */
int64_t boottime_ns(void);
int64_t boottime_ms(void);

/* What is left until a deadline on monotonic_ms(), never below 0. */
int remaining_ms(int64_t deadline_ms);

/* For timed waits on a condition variable, which has to be on the same clock. */
void monotonic_condition_init(pthread_cond_t *condition);
struct timespec monotonic_deadline(int timeout_ms);

#endif
