/* What an operator does with one lock: verify, break, revoke, status --watch. */
#include "cli_stage.h"

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

static void revoke_says_that_the_lock_is_kept_for_the_least_time(void)
{
    struct process *holder = stage_start("exec", "--revoke-signal", "USR1", "--min-hold", "300", LOCK, "--", "sh", "-c",
                                         "sleep 20 & exit 0", NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_error(holder, "left 1 process running", PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_end(stage_start("revoke", LOCK, NULL)), 0);
    CU_ASSERT_TRUE(process_wait_error(holder, "the command is over, and --min-hold keeps the lock for another ", PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
}

static void revoke_of_a_free_lock_is_1(void)
{
    struct process *process = stage_start("revoke", LOCK, NULL);

    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), LOCK ": nobody holds it"));
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
    ON_STAGE(revoke_says_that_the_lock_is_kept_for_the_least_time),
    ON_STAGE(revoke_of_a_free_lock_is_1),
    ON_STAGE(watch_tells_changes_where_there_is_no_terminal),
    ON_STAGE(watch_redraws_until_q_is_pressed),
    ON_STAGE(colours_are_for_terminals_only),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "operate", tests);
}
