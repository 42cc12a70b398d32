/* What the subcommands share that ask the servers something, or do one thing there, and leave nothing behind. */
#ifndef CLI_SUBCOMMAND_H
#define CLI_SUBCOMMAND_H

#include "connection.h"
#include "options.h"

struct subcommand {
    const char *help;
    /* Sets the defaults, then reads and checks by options_read(). */
    enum options_result (*read)(int argc, char **argv, struct words *words, void *options);
    /* With a session that is connected; `options` begin with struct common_options. Returns the exit status. */
    int (*run)(zklock_session *session, const void *options, const struct words *words);
    /* Instead of `run`, by those that connect in their own way, or not at all. */
    int (*run_alone)(const void *options);
};

/* Returns the exit status. */
int subcommand_main(int argc, char **argv, const struct subcommand *subcommand, void *options);

/* Says why a question about `path` was not answered; `right` is what it takes. Returns the exit status. */
int subcommand_fail(zklock_session *session, const struct common_options *common, const char *path,
                    const char *right, zklock_status status);
/* The same of ZKLOCK_DENIED: a missing right, or credentials that are not accepted. */
int subcommand_deny(zklock_session *session, const char *path, const char *right);

/* Milliseconds since 1970. */
int64_t subcommand_wall_ms(void);

#endif
