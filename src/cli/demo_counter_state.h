/* What demo_counter.c and demo_counter_judge.c share. */
#ifndef CLI_DEMO_COUNTER_STATE_H
#define CLI_DEMO_COUNTER_STATE_H

#include "demo_counter.h"
#include "demo_counter_link.h"

enum { DEMO_PATH_SIZE = 2048 };

struct demo_counter {
    struct demo_link *link;
    char lock[DEMO_PATH_SIZE];    /* full paths, with the chroot */
    char counter[DEMO_PATH_SIZE];
    char tally[DEMO_PATH_SIZE];
    char run[DEMO_PATH_SIZE];
    const char *run_name;
    int64_t joined_session;       /* that made PATH/run-RUN */
    int64_t added;                /* the worker's tally, as far as it is certain */
    int32_t tally_version;
    bool knows_tally;
};

/* How long the servers may be away before the demonstration gives up. */
int64_t demo_counter_deadline_ms(void);
/* Says so, and returns DEMO_FAILED; or DEMO_STOPPED for that code. */
enum demo_result demo_counter_fail(int code, const char *what, const char *path);
/* Parses "VALUE TOKEN"; zeros where there is nothing. */
void demo_counter_parse(const char *text, struct demo_reading *out_reading);

#endif
