/* zklock status: who holds a lock, and who waits, in true order. */
#include "status.h"

#include <stdio.h>

#include "commands.h"
#include "connection.h"
#include "message.h"
#include "subcommand.h"

static const char help[] =
    "Usage: zklock status [OPTION]... PATH...\n"
    "Shows who holds each lock, and who waits, in the order of the queue.\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; or localhost:2181\n"
    "      --json                  for programs; the fields stay as they are\n"
    "      --watch                 look again every second, until q is pressed; where\n"
    "                              there is no terminal: a line for every change\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "      --auth-file FILE        with scheme:credentials; or ZKLOCK_AUTH_FILE\n"
    "      --tls CA[,CERT,KEY]     encrypt, if the client library can; or ZKLOCK_TLS\n"
    "  -v, --verbose   what the server granted, and the names of the znodes\n"
    "  -q, --quiet   -h, --help   -V, --version\n"
    "A queue is the moment's: by the time that you read it, it may be another.\n"
    "AGE counts from queueing, by the server's clock. TOKEN rises with each holder.\n"
    "Exit status: 0 read; 64 usage; 69 no server; 77 denied.\n";

struct status_options {
    struct common_options common;
    bool is_json;
    bool is_watching;
};

static enum options_result read_options(int argc, char **argv, struct words *words, void *options)
{
    struct status_options *own = options;
    struct option_rule common[COMMON_RULES];
    const struct option_rule rules[] = {
        {"json", 0, OPTION_FLAG, &own->is_json, {0, 0}, NULL},
        {"watch", 0, OPTION_FLAG, &own->is_watching, {0, 0}, NULL},
        {NULL, 0, OPTION_FLAG, NULL, {0, 0}, NULL},
    };
    enum options_result result;

    common_options_init(&own->common);
    own->is_json = false;
    own->is_watching = false;
    common_options_rules(&own->common, common);
    result = options_read(argc, argv, common, rules, words);
    if (result != OPTIONS_READ)
        return result;
    if (!options_check_paths("status", words, argc))
        return OPTIONS_WRONG;
    if (own->is_json && own->is_watching) {
        message_usage("status: options --json and --watch contradict each other; give one of them");
        return OPTIONS_WRONG;
    }
    return common_options_settle("status", &own->common, words) ? OPTIONS_READ : OPTIONS_WRONG;
}

/* Prints the table at once, or adds to `list`. */
static int show(zklock_session *session, const struct status_options *options, const char *path, json_t *list)
{
    zklock_queue *queue;
    zklock_status status = zklock_queue_read(session, path, connection_limit_ms(&options->common), &queue);

    if (status != ZKLOCK_OK)
        return subcommand_fail(session, &options->common, path, "READ", status);
    if (list)
        json_array_append_new(list, status_json(path, queue, subcommand_wall_ms()));
    else
        status_table_print(path, queue, subcommand_wall_ms());
    zklock_queue_free(queue);
    return 0;
}

static void print_session(const zklock_session_info *info)
{
    char timeout[32];

    number_print_seconds(info->session_timeout_ms, timeout, sizeof(timeout));
    printf("session 0x%llx, timeout %s s as the server granted it\n", (unsigned long long)info->session_id,
           timeout);
}

static int print_json(const zklock_session_info *info, json_t *list)
{
    json_t *whole = json_pack("{s:i, s:i, s:O}", "version", 1, "session_timeout_ms",
                              (int)info->session_timeout_ms, "locks", list);
    int result = whole ? json_dumpf(whole, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) : -1;

    json_decref(whole);
    putchar('\n');
    return result == 0 ? 0 : EXIT_SYSTEM;
}

static int run(zklock_session *session, const void *options, const struct words *words)
{
    const struct status_options *own = options;
    json_t *list = own->is_json ? json_array() : NULL;
    zklock_session_info info = {0};
    int status = 0;

    if (own->is_watching)
        return status_watch(session, words);
    if (zklock_session_info_get(session, &info) != ZKLOCK_OK)
        status = EXIT_INTERNAL;
    if (!status && !list && message_level() >= MESSAGE_VERBOSE)
        print_session(&info);
    for (int i = 0; i < words->count && !status; i++)
        status = show(session, own, words->items[i], list);
    if (!status && list)
        status = print_json(&info, list);
    json_decref(list);
    return status ? status : commands_finish(status);
}

int status_main(int argc, char **argv)
{
    static const struct subcommand subcommand = {help, read_options, run, NULL};
    struct status_options options;

    return subcommand_main(argc, argv, &subcommand, &options);
}
