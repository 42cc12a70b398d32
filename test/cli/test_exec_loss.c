/* A lock that is lost while the command runs, and a release that cannot be confirmed. */
#include "cli_stage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct process *start_critical(const char *file, const char *hold_ms)
{
    struct process *process =
        stage_start("exec", "-T", "2", LOCK, "--", critical_program(), file, hold_ms, "20", NULL);

    return process;
}

static bool is_clean(const char *file)
{
    struct critical_verdict verdict;

    CU_ASSERT_TRUE_FATAL(critical_judge(file, &verdict));
    if (!critical_is_clean(&verdict))
        printf("\n%s\n", verdict.problem);
    return critical_is_clean(&verdict);
}

static void deletion_by_hand_stops_the_command(void)
{
    struct process *process = stage_hold("x");

    CU_ASSERT_TRUE(stage_delete_contender(0));
    CU_ASSERT_EQUAL(stage_end(process), 79);
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(stage_error(process), "the lock was lost (somebody deleted the contender)"));
}

static void lost_lock_is_79_even_if_the_command_ends_with_0(void)
{
    struct process *process =
        stage_start("exec", LOCK, "--", "sh", "-c",
                    "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done", NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "ready\n", PATIENCE_MS));
    CU_ASSERT_TRUE(stage_delete_contender(0));
    CU_ASSERT_EQUAL(stage_end(process), 79);
}

static void stop_signal_is_chosen(void)
{
    struct process *process =
        stage_start("exec", "--stop-signal", "USR2", LOCK, "--", "sh", "-c",
                    "trap 'echo usr2; exit 0' USR2; echo ready; while :; do sleep 0.05; done", NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "ready\n", PATIENCE_MS));
    CU_ASSERT_TRUE(stage_delete_contender(0));
    CU_ASSERT_EQUAL(stage_end(process), 79);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "usr2\n"));
}

/* C04: two workers of a shell, one of them a daemon, both deaf to TERM. */
static void workers_of_a_shell_are_gone_as_well(void)
{
    const char *file = stage_file("beats");
    char script[8192];
    struct process *process;
    int beats;

    snprintf(
        script, sizeof(script),
        "beat() { trap '' TERM; while :; do echo $1 >> %s; sleep 0.02; done; }; "
        "beat one & (setsid sh -c \"trap '' TERM; while :; do echo two >> %s; sleep 0.02; done\" &) ; "
        "echo ready; wait",
        file, file);
    process = stage_start("exec", "-T", "2", LOCK, "--", "sh", "-c", script, NULL);
    CU_ASSERT_TRUE_FATAL(stage_wait_text(file, "one", PATIENCE_MS) &&
                         stage_wait_text(file, "two", PATIENCE_MS));
    CU_ASSERT_TRUE(stage_delete_contender(0));
    CU_ASSERT_EQUAL(stage_end(process), 79);
    beats = stage_count_text(file, "\n");
    /* Whoever were left would write within this time; nobody is waited for here. */
    CU_ASSERT_FALSE(eventually(stage_has_more, &(struct stage_growth){file, beats}, 300));
}

/* C02, C03: the holder is cut off; whether the command heeds TERM or not, it is gone before the next one
 * starts. */
static void expect_no_overlap(enum fault_mood mood, const char *const holder_command[])
{
    const char *file = stage_file("sections");
    const char *arguments[16] = {"exec", "-T", "2", LOCK, "--"};
    struct process_options options = {.arguments = arguments};
    struct process *holder;
    struct process *next;
    struct fault_proxy *proxy;

    setenv("SECTIONS", file, 1);
    setenv("CRITICAL", critical_program(), 1);
    for (int i = 0; holder_command[i]; i++)
        arguments[5 + i] = holder_command[i];
    stage_put_proxy_between();
    holder = stage_start_with(&options);
    CU_ASSERT_TRUE_FATAL(critical_wait_sections(file, 1, PATIENCE_MS));
    /* The next one reaches the server directly. */
    proxy = stage_proxy;
    stage_proxy = NULL;
    next = start_critical(file, "100");
    stage_proxy = proxy;
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    fault_proxy_set_mood(proxy, mood);
    CU_ASSERT_EQUAL(stage_end(holder), 79);
    CU_ASSERT_EQUAL(stage_end(next), 0);
    CU_ASSERT_TRUE(is_clean(file));
}

static void cut_off_command_ends_before_the_next_begins(void)
{
    expect_no_overlap(FAULT_HOLE,
                      (const char *const[]){"sh", "-c", "exec $CRITICAL $SECTIONS 300000 5", NULL});
}

static void refused_command_ends_before_the_next_begins(void)
{
    expect_no_overlap(FAULT_DOWN,
                      (const char *const[]){"sh", "-c", "exec $CRITICAL $SECTIONS 300000 5", NULL});
}

static void command_that_ignores_term_ends_before_the_next_begins(void)
{
    expect_no_overlap(FAULT_HOLE,
                      (const char *const[]){"sh", "-c", "trap '' TERM; exec $CRITICAL $SECTIONS 300000 5",
                                            NULL});
}

static void daemon_of_a_cut_off_command_ends_before_the_next_begins(void)
{
    expect_no_overlap(
        FAULT_HOLE,
        (const char *const[]){"sh", "-c",
                              "trap '' TERM; (setsid $CRITICAL $SECTIONS 300000 5 &); exec sleep 300", NULL});
}

static void short_silence_leaves_the_command_alone(void)
{
    struct process *process;

    stage_put_proxy_between();
    process = stage_hold("x");
    fault_proxy_set_mood(stage_proxy, FAULT_DOWN);
    CU_ASSERT_TRUE(process_wait_error(process, "the servers do not answer", PATIENCE_MS));
    fault_proxy_set_mood(stage_proxy, FAULT_PASS);
    CU_ASSERT_TRUE(fault_proxy_wait_open_connections(stage_proxy, 1, PATIENCE_MS));
    fault_proxy_reset_counts(stage_proxy);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage_proxy, FAULT_OP_MULTI, 3, PATIENCE_MS));
    process_signal(process, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(process), 143);
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
}

static void loss_is_only_told_on_request(void)
{
    struct process *process =
        stage_start("exec", "--on-loss", "warn", LOCK, "--", "sh", "-c",
                    "trap 'echo over; exit 0' WINCH; echo ready; while :; do sleep 0.05; done", NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "ready\n", PATIENCE_MS));
    CU_ASSERT_TRUE(stage_delete_contender(0));
    CU_ASSERT_TRUE(process_wait_error(process, "goes on without it", PATIENCE_MS));
    CU_ASSERT_TRUE(process_is_running(process));
    process_signal(process, SIGWINCH);
    CU_ASSERT_EQUAL(stage_end(process), 79);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "over\n"));
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
}

/* C30: zklock alone is frozen, the command goes on; after the thaw it is stopped. */
static void thawed_holder_stops_its_command(void)
{
    struct process *holder =
        stage_start("exec", "-T", "4", LOCK, "--", "sh", "-c", "echo held; exec sleep 300", NULL);
    struct process *next;

    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "held\n", PATIENCE_MS));
    process_signal(holder, SIGSTOP);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
    next = stage_start("exec", LOCK, "--", "sh", "-c", "echo $ZKLOCK_TOKEN", NULL);
    CU_ASSERT_EQUAL(stage_end(next), 0);
    process_signal(holder, SIGCONT);
    CU_ASSERT_EQUAL(stage_end(holder), 79);
}

/* C14: the command ends while cut off, and the server comes back in time. */
static void release_follows_the_reconnect(void)
{
    struct process *process;

    stage_put_proxy_between();
    process = stage_start("exec", "-T", "20", LOCK, "--", "sh", "-c",
                          "trap 'exit 5' WINCH; echo held; while :; do sleep 0.02; done", NULL);
    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "held\n", PATIENCE_MS));
    fault_proxy_set_mood(stage_proxy, FAULT_STALL);
    process_signal(process, SIGWINCH);
    fault_proxy_set_mood(stage_proxy, FAULT_PASS);
    CU_ASSERT_EQUAL(stage_end(process), 5);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
}

static void unconfirmed_release_says_how_long_the_lock_may_stay(void)
{
    struct process *process;
    int64_t start_ms;

    stage_put_proxy_between();
    process = stage_start("exec", "-T", "10", LOCK, "--", "sh", "-c",
                          "trap 'exit 5' WINCH; echo held; while :; do sleep 0.02; done", NULL);
    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "held\n", PATIENCE_MS));
    fault_proxy_set_mood(stage_proxy, FAULT_HOLE);
    start_ms = monotonic_ms();
    process_signal(process, SIGWINCH);
    CU_ASSERT_EQUAL(stage_end(process), 5);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms < 10000);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "the contender may stay for up to 10 s"));
}

static void killed_zklock_takes_its_command_along(void)
{
    const char *file = stage_file("pid");
    char script[8192];
    struct process *process;
    pid_t command;

    snprintf(script, sizeof(script), "echo $$ > %s; exec sleep 300", file);
    process = stage_start("exec", "-T", "4", LOCK, "--", "sh", "-c", script, NULL);
    CU_ASSERT_TRUE_FATAL(stage_wait_text(file, "\n", PATIENCE_MS));
    process_signal(process, SIGKILL);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    command = (pid_t)atoi(stage_read(file));
    CU_ASSERT_TRUE(eventually(stage_is_process_gone, &command, PATIENCE_MS));
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
}

/* ---------------------------------------------------------------- --hold-limit */

static void command_that_holds_too_long_is_stopped_and_the_next_one_has_its_turn(void)
{
    struct process *process = stage_start("exec", "-T", "4", "-k", "0.2", "--hold-limit", "1", LOCK, "--", "sh", "-c",
                                          "echo held; exec sleep 300", NULL);
    struct process *next;

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "held\n", PATIENCE_MS));
    next = stage_start("exec", LOCK, "--", "true", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 79);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "held for as long as --hold-limit allows; stopping the command"));
    CU_ASSERT_EQUAL(stage_end(next), 0);
}

/* Its contender stays for as long as any process of it lives. */
static void command_that_ignores_its_hold_limit_is_gone_before_the_next_begins(void)
{
    const char *file = stage_file("order");
    char script[8192];
    struct process *process;
    struct process *next;

    snprintf(script, sizeof(script), "trap '' TERM; echo held; while :; do echo first > %s; done", file);
    process = stage_start("exec", "-T", "4", "-k", "0.2", "--hold-limit", "1", LOCK, "--", "sh", "-c", script, NULL);
    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "held\n", PATIENCE_MS));
    snprintf(script, sizeof(script), "echo second > %s", file);
    next = stage_start("exec", LOCK, "--", "sh", "-c", script, NULL);
    CU_ASSERT_EQUAL(stage_end(next), 0);
    CU_ASSERT_EQUAL(stage_end(process), 79);
    CU_ASSERT_STRING_EQUAL(stage_read(file), "second\n");
}

static void command_that_ends_within_its_hold_limit_has_its_own_status(void)
{
    struct process *process = stage_start("exec", "--hold-limit", "300", LOCK, "--", "sh", "-c", "exit 5", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 5);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
}

#define ON_STAGE(test) SUITE_TEST_WITH(test, stage_set_up, stage_tear_down)

static const struct suite_test tests[] = {
    ON_STAGE(deletion_by_hand_stops_the_command),
    ON_STAGE(lost_lock_is_79_even_if_the_command_ends_with_0),
    ON_STAGE(stop_signal_is_chosen),
    ON_STAGE(workers_of_a_shell_are_gone_as_well),
    ON_STAGE(cut_off_command_ends_before_the_next_begins),
    ON_STAGE(refused_command_ends_before_the_next_begins),
    ON_STAGE(command_that_ignores_term_ends_before_the_next_begins),
    ON_STAGE(daemon_of_a_cut_off_command_ends_before_the_next_begins),
    ON_STAGE(short_silence_leaves_the_command_alone),
    ON_STAGE(loss_is_only_told_on_request),
    ON_STAGE(thawed_holder_stops_its_command),
    ON_STAGE(release_follows_the_reconnect),
    ON_STAGE(unconfirmed_release_says_how_long_the_lock_may_stay),
    ON_STAGE(killed_zklock_takes_its_command_along),
    ON_STAGE(command_that_holds_too_long_is_stopped_and_the_next_one_has_its_turn),
    ON_STAGE(command_that_ignores_its_hold_limit_is_gone_before_the_next_begins),
    ON_STAGE(command_that_ends_within_its_hold_limit_has_its_own_status),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_loss", tests);
}
