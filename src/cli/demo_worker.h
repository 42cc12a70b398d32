/* One worker of the demonstration, in a process of its own. */
#ifndef CLI_DEMO_WORKER_H
#define CLI_DEMO_WORKER_H

#include "demo_board.h"
#include "demo_options.h"

struct demo_worker_plan {
    const struct demo_options *options;
    struct demo_board *board;
    const char *run;
    int number;
    int start_fd; /* readable: begin */
    int stop_fd;  /* readable: end */
};

/* Works its rounds; returns the exit status of the process: 0, also when it was told to stop. */
int demo_worker_run(const struct demo_worker_plan *plan);

#endif
