/* What starting a program and following it share. */
#ifndef ZKLOCK_TEST_PROCESS_INTERNAL_H
#define ZKLOCK_TEST_PROCESS_INTERNAL_H

#include "support/process.h"

/* A stream that is captured: an unlinked file, and the copy that was last handed out. */
struct capture {
    int file;
    char *text;
};

struct process {
    pid_t pid;
    bool is_reaped;
    bool is_stopped;
    int status;
    int terminal;           /* our end; -1: none */
    struct capture output;
    struct capture error;
};

#endif
