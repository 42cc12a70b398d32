/* zklock doctor: what is wrong, or will be, with the locks below a path. */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "colour.h"
#include "commands.h"
#include "message.h"
#include "payload.h"
#include "safe_text.h"

static const char help[] =
    "Usage: zklock doctor [OPTION]... [PATH]\n"
    "Looks at all locks below PATH (default /), a line for each thing that it finds:\n"
    "  cycle        sessions that wait for each other over several locks\n"
    "  mixed        contenders of styles that do not exclude each other\n"
    "  foreign      children that are no contenders; some clients stumble over them\n"
    "  counter      sequence numbers that come near 2147483647, or have reached it\n"
    "  dead-owner   contenders whose session has ended (where dump is allowed)\n"
    "  no-session   contenders that no session owns: they stay until deleted by hand\n"
    "  payload      contenders that do not say in readable text whose they are\n"
    "      --json                  for programs; src/cli/README.md has the fields\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; or localhost:2181\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "      --auth-file FILE        with scheme:credentials; or ZKLOCK_AUTH_FILE\n"
    "      --tls CA[,CERT,KEY]     encrypt, if the client library can; or ZKLOCK_TLS\n"
    "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
    "What could not be looked at stands behind \"not checked:\".\n"
    "Exit status: 0 nothing found; 1 found; 64 usage; 69 no server; 77 denied.\n";

enum { RAW_SIZE = 2048, SAFE_SIZE = 4096, MOST_DUMPS = 8 };

void doctor_add(json_t *findings, const char *kind, const char *path, const char *format, ...)
{
    char raw[RAW_SIZE];
    char text[SAFE_SIZE];
    char shown[SAFE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(raw, sizeof(raw), format, arguments);
    va_end(arguments);
    safe_text(raw, strlen(raw), text, sizeof(text));
    safe_text(path ? path : "", path ? strlen(path) : 0, shown, sizeof(shown));
    json_array_append_new(findings, json_pack("{s:s, s:o, s:s}", "kind", kind, "path",
                                              path ? json_string(shown) : json_null(), "text", text));
}

void doctor_name(const zklock_contender *contender, char *buffer, size_t size)
{
    struct payload payload;

    payload_read(contender, &payload);
    if (payload.is_readable)
        snprintf(buffer, size, "%s:%s%s%s%s", payload.host[0] ? payload.host : "?",
                 payload.pid[0] ? payload.pid : "?", payload.label[0] ? " (" : "", payload.label,
                 payload.label[0] ? ")" : "");
    else
        snprintf(buffer, size, "session 0x%llx", (unsigned long long)contender->session_id);
}

static const char *text_of(const json_t *object, const char *field)
{
    const char *text = json_string_value(json_object_get(object, field));

    return text ? text : "";
}

static void print_lines(const json_t *findings, const json_t *not_checked, size_t lock_count)
{
    size_t index;
    const json_t *item;

    json_array_foreach(findings, index, item) {
        const char *path = text_of(item, "path");

        printf("%s%s%s: %s%s%s\n", colour_begin(COLOUR_BAD), text_of(item, "kind"), colour_end(), path,
               path[0] ? ": " : "", text_of(item, "text"));
    }
    json_array_foreach(not_checked, index, item) {
        printf("%snot checked: %s: %s%s\n", colour_begin(COLOUR_FAINT), text_of(item, "what"),
               text_of(item, "reason"), colour_end());
    }
    if (json_array_size(findings) == 0)
        printf("%s%zu lock%s looked at, nothing found%s\n", colour_begin(COLOUR_GOOD), lock_count,
               lock_count == 1 ? "" : "s", colour_end());
}

static void skip(json_t *not_checked, const char *what, const char *reason)
{
    json_array_append_new(not_checked, json_pack("{s:s, s:s}", "what", what, "reason", reason));
}

static bool is_surveyed(const struct survey *survey, const char *path)
{
    for (size_t i = 0; i < survey->paths->count; i++) {
        if (strcmp(survey->paths->items[i], path) == 0)
            return true;
    }
    return false;
}

/* A path that was named is looked at even while nobody is in its queue: its counter does not go back. */
static int examine_named(zklock_session *session, const struct survey *survey, const struct words *words,
                         const struct common_options *common, json_t *findings)
{
    zklock_queue *queue;
    zklock_status status;

    if (words->count == 0 || strcmp(words->items[0], "/") == 0 || is_surveyed(survey, words->items[0]))
        return 0;
    status = zklock_queue_read(session, words->items[0], connection_limit_ms(common), &queue);
    if (status != ZKLOCK_OK)
        return subcommand_fail(session, common, words->items[0], "READ", status);
    doctor_check_counter(words->items[0], queue, findings);
    zklock_queue_free(queue);
    return 0;
}

static bool has_every_owner(const struct survey *survey, const struct live_sessions *alive)
{
    for (size_t i = 0; i < survey->paths->count; i++) {
        for (size_t j = 0; survey->queues[i] && j < survey->queues[i]->count; j++) {
            int64_t owner = survey->queues[i]->contenders[j]->session_id;

            if (owner != 0 && !live_sessions_contain(alive, owner))
                return false;
        }
    }
    return true;
}

/* False: no leader told which sessions live. */
static bool read_alive(const struct survey *survey, const char *servers, struct live_sessions *out_alive,
                       const char **out_reason)
{
    bool is_told = true;

    *out_alive = (struct live_sessions){0};
    for (int i = 0; i < MOST_DUMPS && is_told && (i == 0 || !has_every_owner(survey, out_alive)); i++)
        is_told = live_sessions_add(servers, out_alive, out_reason);
    return is_told;
}

static int examine(const struct survey *survey, const struct common_options *common, json_t *findings,
                   json_t *not_checked)
{
    struct live_sessions alive;
    const char *reason;
    bool is_told = read_alive(survey, common->servers, &alive, &reason);

    for (size_t i = 0; i < survey->paths->count; i++) {
        if (survey->queues[i])
            doctor_check_path(survey->paths->items[i], survey->queues[i], is_told ? &alive : NULL, findings);
    }
    live_sessions_clear(&alive);
    if (!is_told)
        skip(not_checked, "dead owners", reason);
    skip(not_checked, "parents that will be reaped", "the servers do not tell containers from other nodes");
    if (survey->denied_count > 0)
        skip(not_checked, "some directories", "they may not be read");
    return doctor_check_cycles(survey, findings) ? 0 : EXIT_SYSTEM;
}

static int print_json(json_t *findings, json_t *not_checked, size_t lock_count)
{
    json_t *whole = json_pack("{s:i, s:I, s:O, s:O}", "version", 1, "lock_count", (json_int_t)lock_count,
                              "findings", findings, "not_checked", not_checked);
    int result = whole ? json_dumpf(whole, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) : -1;

    json_decref(whole);
    putchar('\n');
    return result == 0 ? 0 : EXIT_SYSTEM;
}

static int run(zklock_session *session, const void *options, const struct words *words)
{
    const struct survey_options *own = options;
    json_t *findings = json_array();
    json_t *not_checked = json_array();
    struct survey survey;
    int status = survey_read(session, &own->common, survey_root(words), &survey);

    if (!status)
        status = examine(&survey, &own->common, findings, not_checked);
    if (!status)
        status = examine_named(session, &survey, words, &own->common, findings);
    if (!status && own->is_json)
        status = print_json(findings, not_checked, survey.paths->count);
    else if (!status)
        print_lines(findings, not_checked, survey.paths->count);
    if (!status && json_array_size(findings) > 0)
        status = 1;
    status = commands_finish(status);
    survey_clear(&survey);
    json_decref(findings);
    json_decref(not_checked);
    return status;
}

int doctor_main(int argc, char **argv)
{
    static const struct subcommand subcommand = {help, survey_options_read, run, NULL};
    struct survey_options options;

    return subcommand_main(argc, argv, &subcommand, &options);
}
