/* What an operator does with locks: verify, break, revoke, list, doctor, status --watch. */
#include "cli_stage.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void first_contender(char out_name[OBSERVER_PATH_SIZE])
{
    observer_front(stage_observer, LOCK, out_name);
}

/* ---------------------------------------------------------------- verify */

static void token_of_the_command_is_the_holders(void)
{
    struct process *holder = stage_start("exec", LOCK, "--", "sh", "-c", "echo $ZKLOCK_TOKEN; exec sleep 300", NULL);
    struct process *process;
    char token[32];

    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "\n", PATIENCE_MS));
    snprintf(token, sizeof(token), "%.*s", (int)strcspn(stage_output(holder), "\n"), stage_output(holder));
    process = stage_start("verify", LOCK, token, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_error(process), "");
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
}

static void token_of_nobody_is_refused_and_the_holder_named(void)
{
    struct process *process = stage_start("verify", LOCK, "7", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "7 is not the holder's token; nobody holds it"));
    stage_hold("x");
    process = stage_start("verify", LOCK, "7", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "7 is not the holder's token; it is "));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), ", x), in the queue since"));
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
}

/* ---------------------------------------------------------------- break */

static void break_removes_exactly_one_and_says_whose_it_was(void)
{
    char name[OBSERVER_PATH_SIZE];
    struct process *process;

    stage_hold("first");
    first_contender(name);
    stage_start("exec", "--label", "second", LOCK, "--", "sleep", "300", NULL);
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    process = stage_start("break", "--contender", name, LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), " broke " LOCK "/_c_"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), name));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "which held the lock: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), ", first), in the queue since"));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
}

static void break_is_harmless_when_repeated(void)
{
    char name[OBSERVER_PATH_SIZE];
    struct process *process;

    stage_hold("x");
    first_contender(name);
    CU_ASSERT_EQUAL(stage_end(stage_start("break", "--contender", name, LOCK, NULL)), 0);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
    stage_hold("y");
    process = stage_start("break", "--contender", name, LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "there is no contender _c_"));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
}

static void broken_holder_is_79(void)
{
    struct process *holder = stage_hold("x");
    char name[OBSERVER_PATH_SIZE];

    first_contender(name);
    CU_ASSERT_EQUAL(stage_end(stage_start("break", "--contender", name, LOCK, NULL)), 0);
    CU_ASSERT_EQUAL(stage_end(holder), 79);
}

/* ---------------------------------------------------------------- revoke */

static void revoke_signals_the_command_that_asked_for_it(void)
{
    struct process *holder = stage_start("exec", "--revoke-signal", "USR1", LOCK, "--", "sh", "-c",
                                         "trap 'echo asked; exit 7' USR1; echo held; while :; do sleep 0.1; done", NULL);
    struct process *process;

    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "held\n", PATIENCE_MS));
    process = stage_start("revoke", LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), " asked to let go of " LOCK ": "));
    CU_ASSERT_EQUAL(stage_end(holder), 7);
    CU_ASSERT_STRING_EQUAL(stage_output(holder), "held\nasked\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(holder), "somebody asks to let go; the command was sent SIGUSR1"));
}

static void revoke_is_told_to_a_command_that_did_not(void)
{
    struct process *holder = stage_hold("x");

    CU_ASSERT_EQUAL(stage_end(stage_start("revoke", LOCK, NULL)), 0);
    CU_ASSERT_TRUE(process_wait_error(holder, "without --revoke-signal the command goes on\n", PATIENCE_MS));
    CU_ASSERT_TRUE(process_is_running(holder));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
}

static void revoke_of_a_free_lock_is_1(void)
{
    struct process *process = stage_start("revoke", LOCK, NULL);

    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), LOCK ": nobody holds it"));
}

/* ---------------------------------------------------------------- list */

static void make_parents(void)
{
    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, "/locks", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, LOCK, "", 0, NULL), ZOK);
}

static const char *find_line(const char *text, const char *start)
{
    const char *at = text;

    while (at && strncmp(at, start, strlen(start)) != 0) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return at;
}

static bool is_80_wide(const char *text)
{
    for (size_t length = strcspn(text, "\n"); *text; length = strcspn(text, "\n")) {
        if (length > 80)
            return false;
        text += length + (text[length] == '\n');
    }
    return true;
}

static void list_shows_each_lock_in_one_line(void)
{
    struct process *process = stage_start("list", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    stage_hold("first");
    stage_start("exec", LOCK, "--", "true", NULL);
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_create(stage_observer, "/locks/two", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage_observer, "/locks/two/x-1-", "", ZOO_EPHEMERAL | ZOO_SEQUENCE, NULL), ZOK);
    process = stage_start("list", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_EQUAL(stage_lines(stage_output(process)), 3);
    CU_ASSERT_PTR_NOT_NULL(find_line(stage_output(process), LOCK " "));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), " first "));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "     1\n"));
    CU_ASSERT_PTR_NOT_NULL(find_line(stage_output(process), "/locks/two session 0x"));
    CU_ASSERT_EQUAL(stage_end(process = stage_start("list", "/locks/two", NULL)), 0);
    CU_ASSERT_EQUAL(stage_lines(stage_output(process)), 2);
}

static json_t *json_of(struct process *process, int status)
{
    json_t *whole;

    CU_ASSERT_EQUAL(stage_end(process), status);
    whole = json_loads(stage_output(process), 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
    return whole;
}

static void list_as_json_has_the_fields_of_status(void)
{
    const char *path, *label;
    json_t *whole;
    int version, denied, is_held;

    stage_hold("x");
    whole = json_of(stage_start("list", "--json", NULL), 0);
    CU_ASSERT_EQUAL(json_unpack(whole, "{s:i, s:i, s:[{s:s, s:b, s:[{s:s}]}]}", "version", &version,
                                "denied_directories", &denied, "locks", "path", &path, "is_held", &is_held,
                                "contenders", "label", &label),
                    0);
    CU_ASSERT_STRING_EQUAL(path, LOCK);
    CU_ASSERT_TRUE(is_held && version == 1 && denied == 0);
    json_decref(whole);
}

static void long_names_fit_80_columns(void)
{
    static const char path[] = "/locks/a-very-long-name-for-a-lock-that-nobody-would-think-of-in-earnest-"
                               "but-that-will-be-met-some-day";
    struct process *holder = stage_start("exec", "--label", "a label that is rather long, and then goes on",
                                         path, "--", "sh", "-c", "echo held; exec sleep 300", NULL);
    struct process *process;

    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "held\n", PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_end(process = stage_start("list", NULL)), 0);
    CU_ASSERT_EQUAL(stage_lines(stage_output(process)), 2);
    CU_ASSERT_TRUE(is_80_wide(stage_output(process)));
}

/* ---------------------------------------------------------------- doctor */

static void doctor_finds_nothing_in_good_order(void)
{
    struct process *process;

    stage_hold("x");
    stage_start("exec", LOCK, "--", "true", NULL);
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_end(process = stage_start("doctor", NULL)), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "1 lock looked at, nothing found\n"));
    CU_ASSERT_PTR_NULL(strstr(stage_output(process), "not checked: dead owners"));
}

/* One holds X and waits for Y, the other holds Y and waits for X: each in a nested exec of one session. */
static void plant_ring(zhandle_t *one, zhandle_t *other)
{
    static const char *const names[] = {"/locks/one/x-1-", "/locks/two/x-2-", "/locks/two/x-1-", "/locks/one/x-2-"};
    char path[OBSERVER_PATH_SIZE];

    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL_FATAL(zoo_create(i % 2 == 0 ? one : other, names[i], "", 0, &ZOO_OPEN_ACL_UNSAFE,
                                         ZOO_EPHEMERAL | ZOO_SEQUENCE, path, sizeof(path)),
                              ZOK);
}

static void doctor_prints_a_dead_lock_as_a_chain(void)
{
    struct observer *other = observer_open(zk_server_address(stage_server), 10000);
    struct process *process;
    const char *line;

    make_parents();
    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, "/locks/two", "", 0, NULL), ZOK);
    plant_ring(observer_handle(stage_observer), observer_handle(other));
    CU_ASSERT_EQUAL(stage_end(process = stage_start("doctor", NULL)), 1);
    line = find_line(stage_output(process), "cycle: session 0x");
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, " holds /locks/one, waits for /locks/two held by session 0x"));
    CU_ASSERT_PTR_NOT_NULL(strstr(line, " holds /locks/two, waits for /locks/one held by session 0x"));
    CU_ASSERT_PTR_NULL(find_line(line + 1, "cycle: "));
    observer_close(other);
    /* With one of the two gone there is no ring any more. */
    CU_ASSERT_EQUAL(stage_end(process = stage_start("doctor", NULL)), 0);
}

static void doctor_names_odd_things_under_a_lock(void)
{
    const char *const kinds[] = {"mixed: " LOCK, "foreign: " LOCK ": 1 child is no contender: config",
                                 "payload: " LOCK, "no-session: " LOCK};
    struct process *process;

    make_parents();
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK "/config", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK "/a-lock-0000000003", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK "/a-__READ__0000000004", NULL, ZOO_EPHEMERAL, NULL), ZOK);
    CU_ASSERT_EQUAL(stage_end(process = stage_start("doctor", "/locks", NULL)), 1);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!find_line(stage_output(process), kinds[i]))
            printf("\n%s(expected: %s)\n", stage_output(process), kinds[i]);
        CU_ASSERT_PTR_NOT_NULL(find_line(stage_output(process), kinds[i]));
    }
    CU_ASSERT_EQUAL(stage_end(stage_start("doctor", "/nowhere", NULL)), 0);
}

/* A node without a session that lives cannot be had from a healthy server: the finding is shown with one whose owner
 * ends between the two looks of a doctor that waits in the proxy. */
static void doctor_finds_an_owner_that_has_died(void)
{
    struct observer *dying = observer_open(zk_server_address(stage_server), 10000);
    struct process *process;

    make_parents();
    stage_put_proxy_between();
    CU_ASSERT_EQUAL(observer_create(dying, LOCK "/x-1-", "", ZOO_EPHEMERAL | ZOO_SEQUENCE, NULL), ZOK);
    fault_proxy_hold_reply(stage_proxy, FAULT_OP_GET_DATA, 1);
    process = stage_start("doctor", NULL);
    CU_ASSERT_TRUE(fault_proxy_wait_held(stage_proxy, 1, PATIENCE_MS));
    observer_close(dying);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
    fault_proxy_release(stage_proxy);
    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_PTR_NOT_NULL(find_line(stage_output(process), "dead-owner: " LOCK ": x-1-0000000000 of session 0x"));
}

static void doctor_says_what_it_could_not_check(void)
{
    const struct zk_server_options options = {.extra_config = "4lw.commands.whitelist=ruok,srvr,stat,isro,conf,mntr\n"};
    const char *what;
    json_t *whole;

    stage_tear_down();
    stage_server = zk_server_start(&options);
    whole = json_of(stage_start("doctor", "--json", NULL), 0);
    CU_ASSERT_EQUAL(json_unpack(whole, "{s:i, s:i, s:[], s:[{s:s}]}", "version", &(int){0}, "lock_count", &(int){0},
                                "findings", "not_checked", "what", &what),
                    0);
    CU_ASSERT_STRING_EQUAL(what, "dead owners");
    json_decref(whole);
}

/* ---------------------------------------------------------------- watch, colours */

static void watch_tells_changes_where_there_is_no_terminal(void)
{
    struct process *watch = stage_start("status", "--watch", LOCK, NULL);
    struct process *holder;

    CU_ASSERT_TRUE(process_wait_output(watch, LOCK ": free, 0 wait\n", PATIENCE_MS));
    holder = stage_hold("x");
    CU_ASSERT_TRUE(process_wait_output(watch, ", x), in the queue since ", PATIENCE_MS));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(holder), 143);
    CU_ASSERT_TRUE(process_is_running(watch));
    process_signal(watch, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(watch), 143);
    CU_ASSERT_PTR_NULL(strstr(stage_output(watch), "\x1b"));
    CU_ASSERT_STRING_EQUAL(stage_error(watch), "");
}

static struct process *watch_on_terminal(const char *setting)
{
    const char *const arguments[] = {"status", "--watch", LOCK, NULL};
    const char *const environment[] = {"TERM=xterm", setting, NULL};
    struct process_options options = {.arguments = arguments, .environment = environment, .is_on_terminal = true};

    return stage_start_with(&options);
}

static void watch_redraws_until_q_is_pressed(void)
{
    struct process *watch = watch_on_terminal("NO_COLOR");

    CU_ASSERT_TRUE(process_wait_output(watch, LOCK ": free", PATIENCE_MS));
    stage_hold("x");
    CU_ASSERT_TRUE(process_wait_output(watch, LOCK ": 1 holds, 0 wait", PATIENCE_MS));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(watch), "\x1b[H\x1b[J"));
    process_type(watch, "q");
    CU_ASSERT_EQUAL(stage_end(watch), 0);
    /* The screen that was there before is back, with its cursor. */
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(watch), "\x1b[?25h\x1b[?1049l"));
}

static void colours_are_for_terminals_only(void)
{
    struct process *coloured, *plain, *piped;

    stage_hold("x");
    coloured = watch_on_terminal("NO_COLOR");
    plain = watch_on_terminal("NO_COLOR=1");
    CU_ASSERT_TRUE(process_wait_output(coloured, "1 holds", PATIENCE_MS));
    CU_ASSERT_TRUE(process_wait_output(plain, "1 holds", PATIENCE_MS));
    process_type(coloured, "q");
    process_type(plain, "q");
    CU_ASSERT_EQUAL(stage_end(coloured), 0);
    CU_ASSERT_EQUAL(stage_end(plain), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(coloured), "\x1b[32m"));
    CU_ASSERT_PTR_NULL(strstr(stage_output(plain), "\x1b[32m"));
    CU_ASSERT_PTR_NULL(strstr(stage_output(plain), "\x1b[2m"));
    CU_ASSERT_EQUAL(stage_end(piped = stage_start("list", NULL)), 0);
    CU_ASSERT_PTR_NULL(strstr(stage_output(piped), "\x1b"));
}

#define ON_STAGE(test) SUITE_TEST_WITH(test, stage_set_up, stage_tear_down)

static const struct suite_test tests[] = {
    ON_STAGE(token_of_the_command_is_the_holders),
    ON_STAGE(token_of_nobody_is_refused_and_the_holder_named),
    ON_STAGE(break_removes_exactly_one_and_says_whose_it_was),
    ON_STAGE(break_is_harmless_when_repeated),
    ON_STAGE(broken_holder_is_79),
    ON_STAGE(revoke_signals_the_command_that_asked_for_it),
    ON_STAGE(revoke_is_told_to_a_command_that_did_not),
    ON_STAGE(revoke_of_a_free_lock_is_1),
    ON_STAGE(list_shows_each_lock_in_one_line),
    ON_STAGE(list_as_json_has_the_fields_of_status),
    ON_STAGE(long_names_fit_80_columns),
    ON_STAGE(doctor_finds_nothing_in_good_order),
    ON_STAGE(doctor_prints_a_dead_lock_as_a_chain),
    ON_STAGE(doctor_names_odd_things_under_a_lock),
    ON_STAGE(doctor_finds_an_owner_that_has_died),
    ON_STAGE(doctor_says_what_it_could_not_check),
    ON_STAGE(watch_tells_changes_where_there_is_no_terminal),
    ON_STAGE(watch_redraws_until_q_is_pressed),
    ON_STAGE(colours_are_for_terminals_only),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "operate", tests);
}
