/* zklock status and zklock wait: what they say of a queue, whatever stands in it. */
#include "cli_stage.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX LOCK "/_c_01234567-89ab-cdef-0123-456789abcdef-lock-"

static void make_directory(void)
{
    stage_set_up();
    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, "/locks", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, LOCK, "", 0, NULL), ZOK);
}

/* A contender of another tool. The payload of a create is a text: bytes with a NUL go in afterwards. */
static void plant(const void *payload, size_t size)
{
    char path[OBSERVER_PATH_SIZE];

    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, PREFIX, payload ? "" : NULL,
                                          ZOO_EPHEMERAL | ZOO_SEQUENCE, path),
                          ZOK);
    if (payload && size > 0)
        CU_ASSERT_EQUAL(observer_set(stage_observer, path, payload, (int)size), ZOK);
}

static void plant_text(const char *text)
{
    plant(text, strlen(text));
}

static bool is_printable_in_80_columns(const char *text)
{
    int column = 0;

    for (; *text; text++) {
        column = *text == '\n' ? 0 : column + 1;
        if ((*text != '\n' && (*text < ' ' || *text > '~')) || column > 80)
            return false;
    }
    return true;
}

static const char *status_text(void)
{
    struct process *process = stage_start("status", LOCK, NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_error(process), "");
    return stage_output(process);
}

static void free_lock_is_said_to_be_free(void)
{
    struct process *process = stage_start("status", "/nowhere", LOCK, NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "/nowhere: free (no such path yet)\n" LOCK ": free\n");
}

static void holder_and_waiters_stand_in_their_order(void)
{
    struct process *holder = stage_hold("first");
    struct process *waiter = stage_start("exec", "--label", "second", LOCK, "--", "true", NULL);
    const char *text;
    const char *first;
    const char *second;
    char pid[16];

    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    text = status_text();
    CU_ASSERT_PTR_NOT_NULL(strstr(text, LOCK ": 1 holds, 1 waits\n"));
    first = strstr(text, "\n1 holds ");
    second = strstr(text, "\n2 waits ");
    CU_ASSERT_TRUE_FATAL(first && second && first < second);
    CU_ASSERT_TRUE(strstr(first, " first ") < second);
    CU_ASSERT_PTR_NOT_NULL(strstr(second, " second "));
    snprintf(pid, sizeof(pid), " %d ", (int)process_pid(holder));
    CU_ASSERT_PTR_NOT_NULL(strstr(first, pid));
    CU_ASSERT_TRUE(is_printable_in_80_columns(text));
    process_signal(waiter, SIGTERM);
}

static void odd_payloads_are_shown_safely(void)
{
    plant(NULL, 0);
    plant_text("");
    plant("\x00\xff\x1b[31m\n", 8);
    plant_text("{\"host\":\"\x1b[2Jevil\\nhost\",\"pid\":\"no number\",\"user\":7,\"label\":[]}");
    plant_text(
        "{\"host\":\"a-very-long-host-name-that-does-not-end-anywhere-near.example.org\","
        "\"pid\":123456789012345,"
        "\"user\":\"somebody-with-a-long-name\",\"label\":\"a command with a long name indeed, and more\"}");
    plant_text("web1.example.org");
    plant_text("[1,2,3]");
    CU_ASSERT_TRUE(is_printable_in_80_columns(status_text()));
    CU_ASSERT_PTR_NOT_NULL(strstr(status_text(), LOCK ": 1 holds, 6 wait\n"));
}

static void megabyte_of_payload_is_no_trouble(void)
{
    enum { SIZE = 1000000 };
    char *payload = malloc(SIZE);

    CU_ASSERT_PTR_NOT_NULL_FATAL(payload);
    memset(payload, '{', SIZE);
    plant(payload, SIZE);
    free(payload);
    CU_ASSERT_TRUE(is_printable_in_80_columns(status_text()));
    CU_ASSERT_PTR_NOT_NULL(strstr(status_text(), "1 holds, 0 wait"));
}

static void foreign_children_are_counted(void)
{
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK "/config", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK "/lock-", "", 0, NULL), ZOK);
    CU_ASSERT_PTR_NOT_NULL(strstr(status_text(), LOCK ": free; 2 foreign children\n"));
}

static void verbose_shows_what_was_granted_and_the_names(void)
{
    struct process *process;
    char name[OBSERVER_PATH_SIZE];

    stage_hold("x");
    observer_front(stage_observer, LOCK, name);
    process = stage_start("status", "-v", "-T", "100", LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "timeout 60 s as the server granted it"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), name));
}

static json_t *status_as_json(void)
{
    struct process *process = stage_start("status", "--json", LOCK, "/nowhere", NULL);
    json_t *whole;

    CU_ASSERT_EQUAL(stage_end(process), 0);
    whole = json_loads(stage_output(process), 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
    return whole;
}

static void json_has_the_documented_fields(void)
{
    json_t *whole;
    int version, timeout_ms, place, number, is_held, exists, is_holder;
    const char *path, *name, *token, *session, *mode, *host, *pid, *user, *label;
    json_int_t created_ms, age_ms, payload_bytes, foreign;

    stage_hold("x");
    whole = status_as_json();
    CU_ASSERT_EQUAL(
        json_unpack(whole,
                    "{s:i, s:i, s:[{s:s, s:b, s:b, s:I, s:[{s:i, s:b, s:s, s:i, s:s, s:s, s:I, s:I,"
                    " s:s, s:s, s:s, s:s, s:s, s:I}!]}, {s:b}]}",
                    "version", &version, "session_timeout_ms", &timeout_ms, "locks", "path", &path, "exists",
                    &exists, "is_held", &is_held, "foreign_children", &foreign, "contenders", "place", &place,
                    "is_holder", &is_holder, "name", &name, "number", &number, "token", &token, "session",
                    &session, "created_ms", &created_ms, "age_ms", &age_ms, "mode", &mode, "host", &host,
                    "pid", &pid, "user", &user, "label", &label, "payload_bytes", &payload_bytes, "exists",
                    &exists),
        0);
    CU_ASSERT_EQUAL(version, 1);
    CU_ASSERT_EQUAL(place, 1);
    CU_ASSERT_TRUE(is_held && is_holder && !exists);
    CU_ASSERT_STRING_EQUAL(mode, "exclusive");
    CU_ASSERT_STRING_EQUAL(label, "x");
    json_decref(whole);
}

static void json_stays_json_with_odd_payloads(void)
{
    json_t *whole;

    plant(NULL, 0);
    plant("\xff\xfe{\"", 4);
    plant_text("{\"host\":\"\\u0000\\u202e\xc3\xbc\",\"label\":\"\\\"quoted\\\"\"}");
    whole = status_as_json();
    CU_ASSERT_EQUAL(json_array_size(
                        json_object_get(json_array_get(json_object_get(whole, "locks"), 0), "contenders")),
                    3);
    json_decref(whole);
}

static void status_without_a_server_is_69(void)
{
    struct process *process;

    zk_server_stop(stage_server);
    process = stage_start("status", "--connect-timeout", "0.5", LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 69);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
}

static void wait_returns_at_once_from_a_free_lock(void)
{
    CU_ASSERT_EQUAL(stage_end(stage_start("wait", LOCK, NULL)), 0);
    CU_ASSERT_EQUAL(stage_end(stage_start("wait", "-w", "0", "/nowhere", NULL)), 0);
    CU_ASSERT_FALSE(observer_exists(stage_observer, "/nowhere"));
}

static void wait_returns_when_the_holder_lets_go(void)
{
    struct process *holder = stage_hold("x");
    struct process *process = stage_start("wait", LOCK, NULL);

    CU_ASSERT_TRUE(zk_server_wait_watch_count(stage_server, 2, PATIENCE_MS));
    CU_ASSERT_TRUE(process_is_running(process));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_error(process), "");
}

static void wait_says_who_still_holds_at_its_limit(void)
{
    struct process *process;

    stage_hold("x");
    process = stage_start("wait", "-w", "0.5", LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "still held after 0.5 s: by "));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
}

static void wait_without_a_server_is_69(void)
{
    struct process *process;

    zk_server_stop(stage_server);
    process = stage_start("wait", "-w", "0.5", LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 69);
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
}

#define ON_STAGE(test) SUITE_TEST_WITH(test, stage_set_up, stage_tear_down)
#define IN_DIRECTORY(test) SUITE_TEST_WITH(test, make_directory, stage_tear_down)

static const struct suite_test tests[] = {
    IN_DIRECTORY(free_lock_is_said_to_be_free),
    ON_STAGE(holder_and_waiters_stand_in_their_order),
    IN_DIRECTORY(odd_payloads_are_shown_safely),
    IN_DIRECTORY(megabyte_of_payload_is_no_trouble),
    IN_DIRECTORY(foreign_children_are_counted),
    ON_STAGE(verbose_shows_what_was_granted_and_the_names),
    ON_STAGE(json_has_the_documented_fields),
    IN_DIRECTORY(json_stays_json_with_odd_payloads),
    ON_STAGE(status_without_a_server_is_69),
    ON_STAGE(wait_returns_at_once_from_a_free_lock),
    ON_STAGE(wait_returns_when_the_holder_lets_go),
    ON_STAGE(wait_says_who_still_holds_at_its_limit),
    ON_STAGE(wait_without_a_server_is_69),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "report", tests);
}
