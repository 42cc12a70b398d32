/* The options of "zklock demo". */
#ifndef CLI_DEMO_OPTIONS_H
#define CLI_DEMO_OPTIONS_H

#include "options.h"

struct demo_options {
    struct common_options common;
    int64_t workers;
    int64_t rounds;
    int64_t think_ms;
    bool has_no_lock;
    const char *lock;        /* the lock's path */
    const char *counter;     /* the counter's path; made from the lock's if not given */
    char counter_text[1024];
};

enum options_result demo_options_read(int argc, char **argv, struct demo_options *out_options);
const char *demo_options_help(void);

#endif
