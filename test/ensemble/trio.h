/* Three servers that form an ensemble: in containers where that is possible. Where it is not, three on this machine
 * stand in, and a test that passed on them ends as skipped, with the reason. */
#ifndef ZKLOCK_TEST_ENSEMBLE_TRIO_H
#define ZKLOCK_TEST_ENSEMBLE_TRIO_H

#include "ensemble/compose.h"

struct trio;

struct trio *trio_start(int tick_time_ms);
/* Accepts NULL. Does not return when it has to report the stand-in. */
void trio_free(struct trio *trio);

const char *trio_hosts(const struct trio *trio);
/* NULL: the stand-in. */
struct compose *trio_compose(const struct trio *trio);

/* index from 0 to 2. Starting does not wait until it serves. */
void trio_server_stop(struct trio *trio, int index);
void trio_server_begin(struct trio *trio, int index);
/* As in compose.h. */
int trio_leader(struct trio *trio);
bool trio_wait_serving(struct trio *trio, int count, int timeout_ms);

#endif
