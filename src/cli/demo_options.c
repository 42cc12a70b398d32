#include "demo_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

static const char help[] =
    "Usage: zklock demo [OPTION]... [PATH]\n"
    "Workers, each a process, take the lock PATH in turn (default /zklock-demo). Who\n"
    "holds it reads a counter in ZooKeeper, thinks, and writes it back plus 1. Any\n"
    "update lost? Try it on several hosts at once, with one -S and one PATH.\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; without either a\n"
    "                          private server is started, and ended at the end\n"
    "  -n, --workers N         default 4\n"
    "      --rounds N          of each worker; default 25\n"
    "      --think MS          between reading and writing; default 10\n"
    "      --no-lock           the same workers without a lock: they lose updates\n"
    "      --counter PATH      default: the lock's PATH with -counter at its end\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "      --auth-file FILE        with scheme:credentials; or ZKLOCK_AUTH_FILE\n"
    "      --tls CA[,CERT,KEY]     encrypt, if the client library can; or ZKLOCK_TLS\n"
    "      --lease strict|standalone|cheap      --tick-time MS  of the servers\n"
    "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
    "Exit status: 0 all is right; 1 updates were lost, two were inside at once, or a\n"
    "token fell; 64 usage; 69 no server.\n";

static enum options_result read_table(int argc, char **argv, struct demo_options *options,
                                      struct words *words)
{
    struct option_rule common[COMMON_RULES];
    const struct option_rule rules[] = {
        {"workers", 'n', OPTION_INTEGER, &options->workers, {1, 64}, NULL},
        {"rounds", 0, OPTION_INTEGER, &options->rounds, {1, 100000}, NULL},
        {"think", 0, OPTION_INTEGER, &options->think_ms, {0, 60000}, NULL},
        {"no-lock", 0, OPTION_FLAG, &options->has_no_lock, {0, 0}, NULL},
        {"counter", 0, OPTION_TEXT, &options->counter, {0, 0}, NULL},
        {NULL, 0, OPTION_FLAG, NULL, {0, 0}, NULL},
    };

    common_options_rules(&options->common, common);
    return options_read(argc, argv, common, rules, words);
}

/* A child of the lock's directory would stand in its queue. Of "/" everything is one. */
static bool is_inside(const char *path, const char *lock)
{
    size_t length = strcmp(lock, "/") == 0 ? 0 : strlen(lock);

    return strncmp(path, lock, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool check_counter(struct demo_options *options)
{
    char problem[256];

    if (!options->counter) {
        snprintf(options->counter_text, sizeof(options->counter_text), "%s-counter", options->lock);
        options->counter = options->counter_text;
    }
    if (zklock_path_check(options->counter, problem, sizeof(problem)) != ZKLOCK_OK) {
        message_usage("demo: option --counter: '%s': %s", options->counter, problem);
        return false;
    }
    if (is_inside(options->counter, options->lock)) {
        message_usage("demo: the counter '%s' lies in the lock's own directory; give paths beside each other",
                      options->counter);
        return false;
    }
    return true;
}

static bool check(struct demo_options *options, struct words *words)
{
    static char default_lock[] = "/zklock-demo";

    if (words->count == 0)
        words->items[words->count++] = default_lock;
    if (!options_check_paths("demo", words, 1))
        return false;
    options->lock = words->items[0];
    return check_counter(options) && common_options_settle("demo", &options->common, NULL);
}

const char *demo_options_help(void)
{
    return help;
}

enum options_result demo_options_read(int argc, char **argv, struct demo_options *out_options)
{
    struct words words = {calloc((size_t)argc + 1, sizeof(char *)), 0};
    enum options_result result;

    if (!words.items) {
        message_error("out of memory");
        return OPTIONS_WRONG;
    }
    *out_options = (struct demo_options){.workers = 4, .rounds = 25, .think_ms = 10};
    common_options_init(&out_options->common);
    result = read_table(argc, argv, out_options, &words);
    if (result == OPTIONS_READ && !check(out_options, &words))
        result = OPTIONS_WRONG;
    free(words.items);
    return result;
}
