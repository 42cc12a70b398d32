/* The options of "zklock exec". */
#ifndef CLI_EXEC_OPTIONS_H
#define CLI_EXEC_OPTIONS_H

#include "options.h"

/* Beside the library's styles: Curator's leader latches, which are a mode there. */
enum { EXEC_STYLE_LATCH = ZKLOCK_STYLE_CURATOR_RW + 1 };

enum on_loss { ON_LOSS_STOP, ON_LOSS_WARN };

struct exec_options {
    const char *subcommand; /* "exec" or "elect" */
    bool is_electing;
    struct common_options common;
    bool is_nonblocking;
    bool is_shared;
    int64_t permits;       /* of a semaphore, 0: as many as it has; negative: it is a lock */
    int64_t wait_ms;       /* negative: no limit */
    int64_t conflict_exit;
    int64_t grace_ms;      /* negative: by the session timeout */
    int64_t min_hold_ms;
    int64_t hold_limit_ms; /* 0: none */
    int64_t once_per_ms;   /* 0: always */
    int stop_signal;
    int revoke_signal;     /* 0: none */
    int on_loss;
    int style;
    const char *label;     /* NULL: the command's name */
    bool persistent_parent;
    bool kills_leftovers;
    bool is_guarded;       /* a keeper is asked for */
    bool is_unguarded;     /* and not to be had */
    const char **paths;    /* sorted, each once */
    int path_count;
    char *path;            /* all of them, a blank between them: for messages and for ZKLOCK_PATH */
    char **command;        /* argv of the command, NULL-terminated */
};

/* Reads and checks everything that can be checked without a server. With OPTIONS_READ the caller clears the
 * options, else nobody need. */
enum options_result exec_options_read(int argc, char **argv, struct exec_options *out_options);
/* The text, whether it was exec or elect that was asked for it. */
const char *exec_options_help(const struct exec_options *options);

void exec_options_clear(struct exec_options *options);

/* The longest time between stop signal and KILL that leaves room inside the lease. */
int64_t exec_options_most_grace_ms(int64_t session_timeout_ms);
/* What follows from the session timeout that was granted, or asked for. */
int64_t exec_options_grace_ms(const struct exec_options *options, int64_t session_timeout_ms);
/* What is left for the killing. */
int64_t exec_options_reserve_ms(int64_t session_timeout_ms);
/* Says so where --hold-limit leaves the command no time at all. */
bool exec_options_check_hold_limit(const struct exec_options *options, int64_t session_timeout_ms);

#endif
