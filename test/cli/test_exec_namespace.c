/* zklock in a PID namespace: as its process 1, and where /proc is another one's and shows nobody of the job. */
#include "cli_stage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char script[16384];

/* A container's root may lack the right. */
static void start(void)
{
    struct process *process = process_run("unshare", "--pid", "--fork", "--mount-proc", "true", NULL);
    bool is_made = process_wait(process, PATIENCE_MS) && process_exit_status(process) == 0;

    process_free(process);
    if (!is_made)
        suite_skip("no right to make PID namespaces");
    stage_set_up();
}

static struct process *run_script(bool has_own_proc)
{
    const char *arguments[] = {"unshare", "--pid", "--fork", "--kill-child=KILL", has_own_proc ? "--mount-proc" : "--",
                               "sh",      "-c",    script,   NULL};
    struct process_options options = {.arguments = arguments};

    return process_start(&options);
}

static struct process *queue_next(void)
{
    struct process *next = stage_start("exec", "-T", "60", LOCK, "--", "true", NULL);

    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    return next;
}

static bool has_ended(void *process)
{
    return !process_is_running(process);
}

/* A zklock whose command runs `job`, and which kill_victim() kills. Returns when it is "ready". */
static struct process *start_victim(const char *job)
{
    struct process *shell;

    snprintf(script, sizeof(script),
             ZKLOCK_COMMAND " exec -S %s -T 60 " LOCK " -- sh -c '%s' & victim=$!; until test -e %s; do sleep 0.05; done; "
             "kill -KILL $victim; wait $victim; echo killed; sleep 300",
             zk_server_address(stage_server), job, stage_file("go"));
    shell = run_script(false);
    CU_ASSERT_TRUE_FATAL(process_wait_output(shell, "ready\n", PATIENCE_MS));
    return shell;
}

static void say_go(void)
{
    FILE *file = fopen(stage_file("go"), "we");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fclose(file);
}

static void kill_victim(struct process *shell)
{
    say_go();
    CU_ASSERT_TRUE_FATAL(process_wait_output(shell, "killed\n", PATIENCE_MS));
}

static void lock_of_a_job_that_cannot_be_seen_stays_when_zklock_is_killed(void)
{
    struct process *shell = start_victim("setsid sh -c \"echo ready; exec sleep 300\" & wait");
    struct process *next = queue_next();

    kill_victim(shell);
    CU_ASSERT_FALSE(eventually(has_ended, next, 3000));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 2);
    process_free(shell);
}

static void lock_of_a_job_that_cannot_be_seen_passes_on_when_it_has_no_processes(void)
{
    struct process *shell = start_victim("echo ready; exec sleep 300");
    struct process *next = queue_next();

    kill_victim(shell);
    CU_ASSERT_EQUAL(stage_end(next), 0);
    process_free(shell);
}

/* The numbers in the host's /proc are others': its process 1 and 2 have many children. */
static void process_one_takes_nobody_of_the_host_for_its_job(void)
{
    struct process *process;

    snprintf(script, sizeof(script), "exec " ZKLOCK_COMMAND " exec -S %s --kill-leftovers " LOCK " -- sh -c 'exit 6'",
             zk_server_address(stage_server));
    process = run_script(false);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 6);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "/proc does not show the processes of this PID namespace"));
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    process_free(process);
}

/* Children of the shell whose place zklock took as process 1. */
static void process_one_reaps_what_ends_while_it_waits(void)
{
    struct process *process;

    stage_hold("x");
    snprintf(script, sizeof(script),
             "sleep 300 & orphan=$!; (until test -e %s; do sleep 0.05; done; kill $orphan; "
             "while test -e /proc/$orphan; do sleep 0.05; done; echo reaped) & "
             "exec " ZKLOCK_COMMAND " exec -S %s " LOCK " -- true",
             stage_file("go"), zk_server_address(stage_server));
    process = run_script(true);
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    say_go();
    CU_ASSERT_TRUE(process_wait_output(process, "reaped\n", PATIENCE_MS));
    process_free(process);
}

#define IN_NAMESPACE(test) SUITE_TEST_WITH(test, start, stage_tear_down)

static const struct suite_test tests[] = {
    IN_NAMESPACE(lock_of_a_job_that_cannot_be_seen_stays_when_zklock_is_killed),
    IN_NAMESPACE(lock_of_a_job_that_cannot_be_seen_passes_on_when_it_has_no_processes),
    IN_NAMESPACE(process_one_takes_nobody_of_the_host_for_its_job),
    IN_NAMESPACE(process_one_reaps_what_ends_while_it_waits),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_namespace", tests);
}
