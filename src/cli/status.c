/* zklock status: who holds a lock, and who waits, in true order. */
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "commands.h"
#include "connection.h"
#include "message.h"
#include "options.h"

enum { CLOSE_LIMIT_MS = 300 };

static const char help[] =
    "Usage: zklock status [OPTION]... PATH...\n"
    "Shows who holds each lock, and who waits, in the order of the queue.\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; or localhost:2181\n"
    "      --json                  for programs; the fields stay as they are\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "  -v, --verbose   what the server granted, and the names of the znodes\n"
    "  -q, --quiet   -h, --help   -V, --version\n"
    "A queue is the moment's: by the time that you read it, it may be another.\n"
    "AGE counts from queueing, by the server's clock. TOKEN rises with each holder.\n"
    "Exit status: 0 read; 64 usage; 69 no server; 77 denied.\n";

struct status_options {
    struct common_options common;
    bool is_json;
};

static enum options_result read_options(int argc, char **argv, struct words *words,
                                        struct status_options *out_options)
{
    struct option_rule common[COMMON_RULES];
    const struct option_rule rules[] = {
        {"json", 0, OPTION_FLAG, &out_options->is_json, {0, 0}, NULL},
        {NULL, 0, OPTION_FLAG, NULL, {0, 0}, NULL},
    };
    enum options_result result;

    common_options_init(&out_options->common);
    out_options->is_json = false;
    common_options_rules(&out_options->common, common);
    result = options_read(argc, argv, common, rules, words);
    if (result == OPTIONS_READ && (!options_check_paths("status", words, argc) ||
                                   !common_options_settle("status", &out_options->common)))
        return OPTIONS_WRONG;
    return result;
}

static int64_t wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int fail(zklock_session *session, const char *path, zklock_status status, int64_t limit_ms)
{
    if (status == ZKLOCK_NO_SERVER || status == ZKLOCK_TIMEOUT)
        return connection_fail(session, limit_ms);
    message_error("%s: %s", path, zklock_status_text(status));
    return zklock_status_exit(status);
}

/* Prints the table at once, or adds to `list`. */
static int show(zklock_session *session, const char *path, int64_t limit_ms, json_t *list)
{
    zklock_queue *queue;
    zklock_status status = zklock_queue_read(session, path, limit_ms, &queue);

    if (status != ZKLOCK_OK)
        return fail(session, path, status, limit_ms);
    if (list)
        json_array_append_new(list, status_json(path, queue, wall_ms()));
    else
        status_table_print(path, queue, wall_ms());
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
    int result = whole ? json_dumpf(whole, stdout, JSON_INDENT(2)) : -1;

    json_decref(whole);
    putchar('\n');
    return result == 0 ? 0 : EXIT_SYSTEM;
}

static int show_all(zklock_session *session, const struct status_options *options, const struct words *words)
{
    int64_t limit_ms = connection_limit_ms(&options->common);
    json_t *list = options->is_json ? json_array() : NULL;
    zklock_session_info info = {0};
    int status = connection_wait(session, limit_ms);

    if (!status && zklock_session_info_get(session, &info) != ZKLOCK_OK)
        status = EXIT_INTERNAL;
    if (!status && !list && message_level() >= MESSAGE_VERBOSE)
        print_session(&info);
    for (int i = 0; i < words->count && !status; i++)
        status = show(session, words->items[i], limit_ms, list);
    if (!status && list)
        status = print_json(&info, list);
    json_decref(list);
    if (fflush(stdout) != 0 && !status)
        status = EXIT_SYSTEM;
    return status;
}

static int run(const struct status_options *options, const struct words *words)
{
    zklock_session *session;
    int status = connection_open(&options->common, NULL, &session);

    if (status)
        return status;
    status = show_all(session, options, words);
    zklock_session_close(session, CLOSE_LIMIT_MS);
    return status;
}

int status_main(int argc, char **argv)
{
    struct words words = {calloc((size_t)argc + 1, sizeof(char *)), 0};
    struct status_options options;
    int status = EXIT_SYSTEM;

    if (!words.items)
        return EXIT_SYSTEM;
    switch (read_options(argc, argv, &words, &options)) {
    case OPTIONS_READ: status = run(&options, &words); break;
    case OPTIONS_WANT_HELP: status = commands_print(help); break;
    case OPTIONS_WANT_VERSION: status = commands_print_version(); break;
    case OPTIONS_WRONG: status = EXIT_USAGE; break;
    }
    free(words.items);
    return status;
}
