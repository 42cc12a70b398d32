/* The two faces of "zklock status". */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include <jansson.h>

#include "options.h"
#include "zklock.h"

/* One path's queue as a table of at most 80 columns on standard output. `now_ms` since 1970. */
void status_table_print(const char *path, const zklock_queue *queue, int64_t now_ms);

/* One path's queue as the JSON object that README.md of this directory describes; NULL without memory. */
json_t *status_json(const char *path, const zklock_queue *queue, int64_t now_ms);

/* Shows all paths again and again until a key or a signal ends it. Returns the exit status. */
int status_watch(zklock_session *session, const struct words *words);

/* "12s", "3m05", "2h07", "9d04": at most five characters until it is 100 days. */
void status_print_age(int64_t age_ms, char *buffer, size_t size);

/* "exclusive", "shared", "latch", "permit" */
const char *status_mode_name(zklock_mode mode);

#endif
