/* A wall clock that can be set without setting the machine's: what this program, and those that it starts with the
 * environment below, read as the time of day is off by so many seconds. The clocks that only run on are left alone.
 *
 * The odd functions (odd_time.c) take the C library's place in a test program that links zklock_test_odd_clock, and in
 * any other program by preloading. A function that cannot do its work ends the test program. */
#ifndef ZKLOCK_TEST_ODD_CLOCK_H
#define ZKLOCK_TEST_ODD_CLOCK_H

#include <stdint.h>

void odd_clock_start(void);
void odd_clock_end(void);
/* In force when it returns, at once in every program. */
void odd_clock_step(int64_t off_s);

/* "LD_PRELOAD=..." and where the offset is, for a program that is started; valid until odd_clock_end(). */
const char *odd_clock_preload(void);
const char *odd_clock_place(void);

#endif
