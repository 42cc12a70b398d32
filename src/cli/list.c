/* zklock list: all locks below a path, one line each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "commands.h"
#include "message.h"
#include "payload.h"
#include "safe_text.h"
#include "status.h"
#include "survey.h"

enum { COLUMNS = 80, LEAST_PATH = 8, OWNER_SIZE = 512, PATH_SIZE = 1200, FIXED_COLUMNS = 15 };

static const char help[] =
    "Usage: zklock list [OPTION]... [PATH]\n"
    "Shows all locks below PATH (default /) that somebody holds or waits for, a line\n"
    "each. Every directory there is looked at, so give a PATH where there are many.\n"
    "      --json                  for programs; as of zklock status --json\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; or localhost:2181\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "      --auth-file FILE        with scheme:credentials; or ZKLOCK_AUTH_FILE\n"
    "      --tls CA[,CERT,KEY]     encrypt, if the client library can; or ZKLOCK_TLS\n"
    "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
    "AGE is that of the holder's place in the queue. WAIT: how many wait.\n"
    "Exit status: 0 read; 64 usage; 69 no server; 77 denied.\n";

static void print_owner(const zklock_queue *queue, char *buffer, size_t size)
{
    const zklock_contender *holder = queue->contenders[0];
    struct payload payload;
    char raw[OWNER_SIZE];

    payload_read(holder, &payload);
    if (payload.is_readable)
        snprintf(raw, sizeof(raw), "%s:%s%s%s", payload.host[0] ? payload.host : "?",
                 payload.pid[0] ? payload.pid : "?", payload.label[0] ? " " : "", payload.label);
    else
        snprintf(raw, sizeof(raw), "session 0x%llx", (unsigned long long)holder->session_id);
    safe_text(raw, strlen(raw), buffer, size);
}

static size_t count_waiting(const zklock_queue *queue)
{
    size_t waiting = 0;

    for (size_t i = 0; i < queue->count; i++)
        waiting += !queue->contenders[i]->is_holder;
    return waiting;
}

/* Both texts share what the line has left; the holder gets what the path does not need, but at least a third. */
static void print_line(const char *path, const zklock_queue *queue, int path_width, int owner_width)
{
    char owner[OWNER_SIZE];
    char shown[PATH_SIZE];
    char age[16];

    safe_text(path, strlen(path), shown, sizeof(shown));
    print_owner(queue, owner, sizeof(owner));
    status_print_age(subcommand_wall_ms() - queue->contenders[0]->created_ms, age, sizeof(age));
    safe_text_cut(shown, path_width);
    safe_text_cut(owner, owner_width);
    printf("%s%*s %s%*s %6s %6zu\n", shown, path_width - safe_text_columns(shown), "", owner,
           owner_width - safe_text_columns(owner), "", age, count_waiting(queue));
}

static bool is_lock(const struct survey *survey, size_t index)
{
    return survey->queues[index] && survey->queues[index]->count > 0;
}

static int longest_path(const struct survey *survey)
{
    int longest = LEAST_PATH;

    for (size_t i = 0; i < survey->paths->count; i++) {
        char shown[PATH_SIZE];

        safe_text(survey->paths->items[i], strlen(survey->paths->items[i]), shown, sizeof(shown));
        if (safe_text_columns(shown) > longest)
            longest = safe_text_columns(shown);
    }
    return longest;
}

static void print_table(const struct survey *survey)
{
    int room = COLUMNS - FIXED_COLUMNS;
    int path_width = longest_path(survey);
    int owner_width;

    if (path_width > room * 2 / 3)
        path_width = room * 2 / 3;
    owner_width = room - path_width;
    printf("%s%-*s %-*s %6s %6s%s\n", colour_begin(COLOUR_HEAD), path_width, "LOCK", owner_width, "HELD BY", "AGE",
           "WAIT", colour_end());
    for (size_t i = 0; i < survey->paths->count; i++) {
        if (is_lock(survey, i))
            print_line(survey->paths->items[i], survey->queues[i], path_width, owner_width);
    }
}

static int print_json(zklock_session *session, const struct survey *survey)
{
    json_t *locks = json_array();
    zklock_session_info info = {0};
    json_t *whole;
    int result;

    if (zklock_session_info_get(session, &info) != ZKLOCK_OK)
        return EXIT_INTERNAL;
    for (size_t i = 0; i < survey->paths->count; i++) {
        if (is_lock(survey, i))
            json_array_append_new(locks,
                                  status_json(survey->paths->items[i], survey->queues[i], subcommand_wall_ms()));
    }
    whole = json_pack("{s:i, s:i, s:I, s:o}", "version", 1, "session_timeout_ms", (int)info.session_timeout_ms,
                      "denied_directories", (json_int_t)survey->denied_count, "locks", locks);
    result = whole ? json_dumpf(whole, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) : -1;
    json_decref(whole);
    putchar('\n');
    return result == 0 ? 0 : EXIT_SYSTEM;
}

static int run(zklock_session *session, const void *options, const struct words *words)
{
    const struct survey_options *own = options;
    struct survey survey;
    int status = survey_read(session, &own->common, survey_root(words), &survey);

    if (!status && own->is_json)
        status = print_json(session, &survey);
    else if (!status && survey.paths->count > 0)
        print_table(&survey);
    else if (!status)
        message_story("%s: no lock that anybody holds or waits for", survey_root(words));
    if (!status && survey.denied_count > 0)
        message_warn("%zu director%s left out for want of the right READ", survey.denied_count,
                     survey.denied_count == 1 ? "y was" : "ies were");
    survey_clear(&survey);
    return status ? status : commands_finish(status);
}

int list_main(int argc, char **argv)
{
    static const struct subcommand subcommand = {help, survey_options_read, run, NULL};
    struct survey_options options;

    return subcommand_main(argc, argv, &subcommand, &options);
}
