/*
 * Options of all subcommands: a table each, read with getopt_long. A mistake is one line on standard error
 * that names the option, the place in its text and what is right.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "number.h"
#include "zklock.h"

enum { EXIT_USAGE = 64, EXIT_NO_SERVER = 69, EXIT_INTERNAL = 70, EXIT_SYSTEM = 71, EXIT_LOST = 79 };

/* Limits in milliseconds: ten years is "for ever" to anybody who types it. */
#define OPTIONS_WAIT_RANGE ((struct number_range){0, INT64_C(315360000000)})

enum option_kind {
    OPTION_FLAG,    /* bool */
    OPTION_REPEATS, /* int: how often it was given */
    OPTION_TEXT,    /* const char *, of argv */
    OPTION_SECONDS, /* int64_t, milliseconds */
    OPTION_INTEGER, /* int64_t */
    OPTION_CHOICE,  /* int: the value of one of `choices` */
    OPTION_SIGNAL,  /* int */
    OPTION_HELP,
    OPTION_VERSION,
};

struct option_choice {
    const char *name; /* NULL ends the list */
    int value;
};

struct option_rule {
    const char *name; /* NULL ends the table */
    char letter;      /* 0: there is none */
    enum option_kind kind;
    void *target; /* as the kind says */
    struct number_range range;
    const struct option_choice *choices;
};

/* What stands between the options: paths. Points into argv. */
struct words {
    char **items;
    int count;
};

enum options_result {
    OPTIONS_READ,
    OPTIONS_WANT_HELP,
    OPTIONS_WANT_VERSION,
    OPTIONS_WRONG, /* said so */
};

/* Options that every subcommand which talks to a server has. */
struct common_options {
    const char *servers;
    int64_t session_timeout_ms;
    int64_t connect_timeout_ms; /* negative: not given */
    int64_t tick_time_ms;       /* 0: not given */
    int lease;
    int acl;
    const char *auth_file;      /* NULL: no credentials */
    const char *tls;            /* NULL: in the clear */
    int verbosity;
    bool is_quiet;
};

enum { COMMON_RULES = 12 };

void common_options_init(struct common_options *options);
void common_options_rules(struct common_options *options, struct option_rule out_rules[COMMON_RULES]);

/* Checks the server list, takes it and the file of credentials from the environment if need be, and sets the message
 * level. Says so if one of `locks` is "/" and the list has no chroot; NULL: "/" is as good as any. */
bool common_options_settle(const char *subcommand, struct common_options *options, const struct words *locks);

/*
 * Reads argv[1..] of the subcommand argv[0] by one or two tables (`more` may be NULL). `out_words->items`
 * must have room for argc pointers.
 */
enum options_result options_read(int argc, char **argv, const struct option_rule *rules,
                                 const struct option_rule *more, struct words *out_words);

/* Whether at least one word was given, at most `most`, and all are lock paths. Says what is wrong. */
bool options_check_paths(const char *subcommand, const struct words *words, int most);

#endif
