/* Not getting the lock: somebody is ahead, no server, a signal, a removal. */
#include "cli_stage.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* C27's tolerance, and what a busy machine adds to it. */
enum { LIMIT_MS = 2000, LATENESS_MS = 6000 };

static bool ended_at_the_limit(int64_t start_ms)
{
    int64_t passed_ms = monotonic_ms() - start_ms;

    return passed_ms >= LIMIT_MS - 100 && passed_ms < LIMIT_MS + LATENESS_MS;
}

static void nonblocking_finds_the_holder_and_names_it(void)
{
    struct process *holder = stage_hold("nightly");
    struct process *process = stage_start("exec", "-n", LOCK, "--", "echo", "never", NULL);
    char expected[64];

    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    snprintf(expected, sizeof(expected), ":%d (", (int)process_pid(holder));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "zklock: " LOCK ": not acquired: held by "));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), expected));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), ", nightly), in the queue since "));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
}

static void nonblocking_takes_a_free_lock(void)
{
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-n", LOCK, "--", "true", NULL)), 0);
}

/* Each style that has readers. */
static void shared_commands_run_together_and_exclusive_ones_alone(void)
{
    static const char *const styles[] = {"curator", "curator-rw", "kazoo"};

    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        struct process *shared =
            stage_start("exec", "-s", "--style", styles[i], LOCK, "--", "sh", "-c", "echo in; exec sleep 300", NULL);
        CU_ASSERT_TRUE(process_wait_output(shared, "in", PATIENCE_MS));
        CU_ASSERT_EQUAL(
            stage_end(stage_start("exec", "-n", "-s", "--style", styles[i], LOCK, "--", "true", NULL)), 0);
        CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-n", "--style", styles[i], LOCK, "--", "true", NULL)), 1);
        process_signal(shared, SIGTERM);
        CU_ASSERT_EQUAL(stage_end(shared), 128 + SIGTERM);
    }
}

static void conflict_status_is_chosen(void)
{
    struct process *none;

    stage_hold("x");
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-n", "-E", "9", LOCK, "--", "true", NULL)), 9);
    none = stage_start("exec", "-n", "-E", "0", LOCK, "--", "echo", "never", NULL);
    CU_ASSERT_EQUAL(stage_end(none), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(none), "");
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-w", "0", LOCK, "--", "true", NULL)), 1);
}

static void quiet_says_nothing(void)
{
    struct process *process;

    stage_hold("x");
    process = stage_start("exec", "-q", "-n", LOCK, "--", "true", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_STRING_EQUAL(stage_error(process), "");
}

static void limit_passes_behind_a_holder(void)
{
    struct process *process;
    int64_t start_ms;

    stage_hold("x");
    start_ms = monotonic_ms();
    process = stage_start("exec", "-w", "2", LOCK, "--", "true", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_TRUE(ended_at_the_limit(start_ms));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "not acquired within 2 s: held by "));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
}

static void waiter_runs_when_the_holder_is_done(void)
{
    struct process *holder = stage_hold("x");
    struct process *process = stage_start("exec", "-w", "8640000", LOCK, "--", "echo", "mine", NULL);

    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "mine\n");
}

static void limit_passes_without_a_server(void)
{
    struct process *process;
    int64_t start_ms;

    zk_server_stop(stage_server);
    start_ms = monotonic_ms();
    process = stage_start("exec", "-w", "2", LOCK, "--", "true", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 69);
    CU_ASSERT_TRUE(ended_at_the_limit(start_ms));
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "no usable ZooKeeper server within 2 s: 127.0.0.1:"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "refused"));
}

static void connect_timeout_ends_an_unlimited_wait(void)
{
    struct process *process;

    zk_server_stop(stage_server);
    process = stage_start("exec", "--connect-timeout", "0.5", LOCK, "--", "true", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 69);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "within 0.5 s"));
}

static void limit_passes_in_a_hole(void)
{
    struct process *process;
    int64_t start_ms;

    stage_put_proxy_between();
    fault_proxy_set_mood(stage_proxy, FAULT_HOLE);
    start_ms = monotonic_ms();
    process = stage_start("exec", "-w", "2", LOCK, "--", "true", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 69);
    CU_ASSERT_TRUE(ended_at_the_limit(start_ms));
}

static void limit_passes_when_the_server_falls_silent_in_mid_wait(void)
{
    struct process *process;
    int64_t start_ms;

    stage_hold("x");
    stage_put_proxy_between();
    start_ms = monotonic_ms();
    process = stage_start("exec", "-w", "2", LOCK, "--", "true", NULL);
    /* It has its place, and asks about the one ahead. */
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage_proxy, FAULT_OP_GET_DATA, 1, PATIENCE_MS));
    fault_proxy_set_mood(stage_proxy, FAULT_HOLE);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 1);
    CU_ASSERT_TRUE(ended_at_the_limit(start_ms));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "not acquired within 2 s: the servers do not answer\n"));
}

static void usage_error_leaves_nothing_on_the_server(void)
{
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "--bogus", LOCK, "--", "true", NULL)), 64);
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", LOCK, "--", NULL)), 64);
    CU_ASSERT_FALSE(observer_exists(stage_observer, "/locks"));
}

/* The server grants at most 60 s. */
static void grace_is_checked_against_the_granted_timeout(void)
{
    struct process *process = stage_start("exec", "-T", "100", "-k", "20", LOCK, "--", "true", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 64);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "granted a session timeout of 60 s"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "give at most 18"));
    CU_ASSERT_FALSE(observer_exists(stage_observer, LOCK));
}

static void expect_end_by(int signal_number)
{
    struct process *process = stage_start("exec", LOCK, "--", "true", NULL);
    int64_t start_ms;

    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    start_ms = monotonic_ms();
    process_signal(process, signal_number);
    CU_ASSERT_EQUAL(stage_end(process), 128 + signal_number);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms < 1000 + LATENESS_MS);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
}

static void signal_ends_a_wait_and_removes_the_contender(void)
{
    stage_hold("x");
    expect_end_by(SIGTERM);
    expect_end_by(SIGINT);
    expect_end_by(SIGHUP);
    expect_end_by(SIGQUIT);
}

static void signal_twice_ends_a_wait_once(void)
{
    struct process *process;

    stage_hold("x");
    process = stage_start("exec", LOCK, "--", "true", NULL);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    process_signal(process, SIGINT);
    process_signal(process, SIGINT);
    CU_ASSERT_EQUAL(stage_end(process), 130);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
}

static void signal_while_connecting_ends_at_once(void)
{
    struct process *process;

    stage_put_proxy_between();
    fault_proxy_set_mood(stage_proxy, FAULT_HOLE);
    process = stage_start("exec", LOCK, "--", "true", NULL);
    CU_ASSERT_TRUE(fault_proxy_wait_accepted(stage_proxy, 1, PATIENCE_MS));
    process_signal(process, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(process), 143);
}

static void signal_ends_a_wait_at_a_silent_server(void)
{
    struct process *process;
    int64_t start_ms;

    stage_hold("x");
    stage_put_proxy_between();
    process = stage_start("exec", "-T", "60", LOCK, "--", "true", NULL);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    fault_proxy_set_mood(stage_proxy, FAULT_HOLE);
    start_ms = monotonic_ms();
    process_signal(process, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(process), 143);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms < 1000 + LATENESS_MS);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "the contender may stay for up to 60 s"));
}

static void signal_during_the_create_leaves_no_contender(void)
{
    struct process *process;

    stage_hold("x");
    stage_put_proxy_between();
    fault_proxy_hold_reply(stage_proxy, FAULT_OP_CREATE2, 1);
    process = stage_start("exec", LOCK, "--", "true", NULL);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage_proxy, 1, PATIENCE_MS));
    process_signal(process, SIGTERM);
    fault_proxy_release(stage_proxy);
    CU_ASSERT_EQUAL(stage_end(process), 143);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 1, PATIENCE_MS));
}

static void ignore_hangup(void *context)
{
    (void)context;
    signal(SIGHUP, SIG_IGN);
}

/* As under nohup. */
static void signal_that_the_caller_ignores_does_not_end_a_wait(void)
{
    const char *const arguments[] = {"exec", LOCK, "--", "echo", "mine", NULL};
    struct process_options options = {.arguments = arguments, .before_exec = ignore_hangup};
    struct process *holder = stage_hold("x");
    struct process *process = stage_start_with(&options);

    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    process_signal(process, SIGHUP);
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "mine\n");
}

static void removed_waiter_says_so_and_the_next_one_waits_on(void)
{
    struct process *holder = stage_hold("x");
    struct process *removed = stage_start("exec", LOCK, "--", "echo", "never", NULL);
    struct process *next;

    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    next = stage_start("exec", LOCK, "--", "echo", "mine", NULL);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 3, PATIENCE_MS));
    CU_ASSERT_TRUE(stage_delete_contender(1));
    CU_ASSERT_EQUAL(stage_end(removed), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(removed), "removed"));
    CU_ASSERT_TRUE(process_is_running(next));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(next), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(removed), "");
}

static void denied_path_is_77_and_names_path_and_right(void)
{
    struct ACL only_read[] = {{ZOO_PERM_READ, {(char *)"world", (char *)"anyone"}}};
    struct ACL_vector nobody_creates = {1, only_read};
    struct process *process;

    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, "/denied", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL_FATAL(zoo_set_acl(observer_handle(stage_observer), "/denied", -1, &nobody_creates), ZOK);
    process = stage_start("exec", "/denied", "--", "echo", "never", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 77);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "/denied"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "CREATE"));
}

/* C06: frozen for longer than its session, with a third one holding when it thaws. */
static void thawed_waiter_does_not_start_its_command(void)
{
    struct process *holder = stage_hold("x");
    struct process *frozen = stage_start("exec", "-T", "1", "-w", "6", LOCK, "--", "echo", "never", NULL);

    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    process_signal(frozen, SIGSTOP);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 1, PATIENCE_MS));
    stage_let_go(holder);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
    stage_hold("third");
    process_signal(frozen, SIGCONT);
    CU_ASSERT_TRUE(process_wait(frozen, PATIENCE_MS));
    CU_ASSERT_NOT_EQUAL(process_exit_status(frozen), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(frozen), "");
}

#define ON_STAGE(test) SUITE_TEST_WITH(test, stage_set_up, stage_tear_down)

static const struct suite_test tests[] = {
    ON_STAGE(nonblocking_finds_the_holder_and_names_it),
    ON_STAGE(nonblocking_takes_a_free_lock),
    ON_STAGE(shared_commands_run_together_and_exclusive_ones_alone),
    ON_STAGE(conflict_status_is_chosen),
    ON_STAGE(quiet_says_nothing),
    ON_STAGE(limit_passes_behind_a_holder),
    ON_STAGE(waiter_runs_when_the_holder_is_done),
    ON_STAGE(limit_passes_without_a_server),
    ON_STAGE(connect_timeout_ends_an_unlimited_wait),
    ON_STAGE(limit_passes_in_a_hole),
    ON_STAGE(limit_passes_when_the_server_falls_silent_in_mid_wait),
    ON_STAGE(usage_error_leaves_nothing_on_the_server),
    ON_STAGE(grace_is_checked_against_the_granted_timeout),
    ON_STAGE(signal_ends_a_wait_and_removes_the_contender),
    ON_STAGE(signal_twice_ends_a_wait_once),
    ON_STAGE(signal_while_connecting_ends_at_once),
    ON_STAGE(signal_ends_a_wait_at_a_silent_server),
    ON_STAGE(signal_during_the_create_leaves_no_contender),
    ON_STAGE(signal_that_the_caller_ignores_does_not_end_a_wait),
    ON_STAGE(removed_waiter_says_so_and_the_next_one_waits_on),
    ON_STAGE(denied_path_is_77_and_names_path_and_right),
    ON_STAGE(thawed_waiter_does_not_start_its_command),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_wait", tests);
}
