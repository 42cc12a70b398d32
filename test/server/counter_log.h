/* A directory whose sequence counter stands where two thousand million creates would have brought it. */
#ifndef ZKLOCK_TEST_COUNTER_LOG_H
#define ZKLOCK_TEST_COUNTER_LOG_H

#include <stdint.h>

/* Writes a transaction log below the data directory of a stopped server that never had a client: it creates the node
 * `path`, of one component, and the next sequential child below it gets this number. Ends the test program when
 * it cannot. */
void counter_log_write(const char *data_directory, const char *path, int32_t next_number);

#endif
