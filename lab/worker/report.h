/* What a worker says of itself: lines of "NANOSECONDS EVENT DETAILS" on standard output, by CLOCK_MONOTONIC. */
#ifndef ZKLOCK_LAB_REPORT_H
#define ZKLOCK_LAB_REPORT_H

#include <stdbool.h>
#include <stdint.h>

void report(const char *event, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Counts looks in this file, which others may read at any time. */
bool report_count_looks_in(const char *file);
/* At the next point of this name: stop (true) or die. */
void report_arm_point(const char *name, bool is_stop);
/* Whether the holder was told since the last grant. */
bool report_is_told(void);
void report_begin_grant(void);
int64_t report_now_ns(void);

#endif
