/* zklock permits: how many may hold a semaphore together; and another number. */
#include <stdio.h>

#include "commands.h"
#include "message.h"
#include "subcommand.h"

static const char help[] =
    "Usage: zklock permits [OPTION]... PATH [N]\n"
    "Prints how many may hold PATH together, as zklock exec -p has it; with N, makes\n"
    "it so many from now on. Whoever holds a permit keeps it; those who wait follow\n"
    "the new limit at once. A zklock exec -p that begins later has to give the same\n"
    "number, or 0. PATH is made where it is missing, and stays.\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; or localhost:2181\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "      --auth-file FILE        with scheme:credentials; or ZKLOCK_AUTH_FILE\n"
    "      --tls CA[,CERT,KEY]     encrypt, if the client library can; or ZKLOCK_TLS\n"
    "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
    "Exit status: 0 printed, or set; 1 no limit is set; 64 usage, or other data are\n"
    "at PATH; 69 no server; 77 denied.\n";

struct permits_options {
    struct common_options common;
    int64_t permits; /* 0: to be printed */
};

static enum options_result read_options(int argc, char **argv, struct words *words, void *options)
{
    struct permits_options *own = options;
    struct option_rule common[COMMON_RULES];
    struct number_problem problem;
    enum options_result result;
    struct words path;

    common_options_init(&own->common);
    own->permits = 0;
    common_options_rules(&own->common, common);
    result = options_read(argc, argv, common, NULL, words);
    if (result != OPTIONS_READ)
        return result;
    path = (struct words){words->items, words->count > 1 ? words->count - 1 : words->count};
    if (!options_check_paths("permits", &path, 1))
        return OPTIONS_WRONG;
    if (words->count > 1 && !number_parse_integer(words->items[1], (struct number_range){1, ZKLOCK_PERMITS_MAX},
                                                  &own->permits, &problem)) {
        message_usage("permits: number %s", problem.text);
        return OPTIONS_WRONG;
    }
    return common_options_settle("permits", &own->common, &path) ? OPTIONS_READ : OPTIONS_WRONG;
}

static int fail(zklock_session *session, const struct permits_options *options, const char *path, zklock_status status)
{
    if (status != ZKLOCK_REFUSED)
        return subcommand_fail(session, &options->common, path, options->permits > 0 ? "READ and WRITE" : "READ", status);
    message_error("%s: it has data that are no limit of a semaphore, such as the stamp of exec --once-per; give another "
                  "path", path);
    return EXIT_USAGE;
}

static int run(zklock_session *session, const void *options, const struct words *words)
{
    const struct permits_options *own = options;
    const char *path = words->items[0];
    int64_t limit_ms = connection_limit_ms(&own->common);
    unsigned permits = 0;
    zklock_status status = own->permits > 0
                               ? zklock_permits_write(session, path, (unsigned)own->permits, limit_ms)
                               : zklock_permits_read(session, path, limit_ms, &permits);

    if (status != ZKLOCK_OK)
        return fail(session, own, path, status);
    if (own->permits > 0) {
        message_story("%s: %lld permits from now on", path, (long long)own->permits);
        return 0;
    }
    if (permits == 0) {
        message_error("%s: no limit is set; give it with zklock permits %s N, or with zklock exec -p N", path, path);
        return 1;
    }
    printf("%u\n", permits);
    return commands_finish(0);
}

int permits_main(int argc, char **argv)
{
    static const struct subcommand subcommand = {help, read_options, run, NULL};
    struct permits_options options;

    return subcommand_main(argc, argv, &subcommand, &options);
}
