/* Many commands at once: more than the server takes connections of one host (C33), and quick hand-overs (C15). */
#include "cli_stage.h"

#include <stdio.h>
#include <string.h>

enum { CAP = 6, CROWD = 8, LONG_MS = 150000 };

static void set_up(void)
{
    stage_server = zk_server_start(&(struct zk_server_options){.max_client_connections = CAP});
    stage_observer = observer_open(zk_server_address(stage_server), 30000);
}

static int end_of(struct process *process)
{
    return process_wait(process, LONG_MS) ? process_exit_status(process) : -1;
}

/* The observer, the holder and as many waiters as the cap leaves room for; then one that has no time, and some more that
 * have. */
static void connections_beyond_the_cap_are_retried_and_the_cause_is_named(void)
{
    struct process *holder = stage_hold("x");
    struct process *waiters[CROWD];
    struct process *hurried;

    for (int i = 0; i < CROWD; i++) {
        waiters[i] = stage_start("exec", "-w", "140", "-T", "20", LOCK, "--", "true", NULL);
        if (i == CAP - 3) {
            CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, CAP - 1, PATIENCE_MS));
            hurried = stage_start("exec", "-w", "4", LOCK, "--", "echo", "never", NULL);
            CU_ASSERT_EQUAL(end_of(hurried), 69);
            CU_ASSERT_STRING_EQUAL(stage_output(hurried), "");
            if (!strstr(stage_error(hurried), "maxClientCnxns"))
                printf("\n%s\n", stage_error(hurried));
            CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(hurried), "maxClientCnxns"));
        }
    }
    stage_let_go(holder);
    for (int i = 0; i < CROWD; i++)
        CU_ASSERT_EQUAL(end_of(waiters[i]), 0);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
}

/* Eight loops of short commands. */
static void processes_hand_over_one_by_one(void)
{
    const char *file = stage_file("sections");
    struct process *loops[CROWD];
    struct critical_verdict verdict;
    char script[4096];

    snprintf(script, sizeof(script), "for i in 1 2 3; do %s exec -T 30 %s -- %s %s 5 || exit 1; done", ZKLOCK_COMMAND,
             LOCK, critical_program(), file);
    for (int i = 0; i < CROWD; i++) {
        /* The outer lock is another one, and costs nothing but a place for the loop to run in. */
        char path[32];

        snprintf(path, sizeof(path), "/locks/loop-%d", i);
        loops[i] = stage_start("exec", "-T", "30", path, "--", "sh", "-c", script, NULL);
    }
    for (int i = 0; i < CROWD; i++)
        CU_ASSERT_EQUAL(end_of(loops[i]), 0);
    CU_ASSERT_TRUE_FATAL(critical_judge(file, &verdict));
    CU_ASSERT_TRUE(critical_is_clean(&verdict));
    CU_ASSERT_EQUAL(verdict.sections, 3 * CROWD);
    CU_ASSERT_EQUAL(verdict.missing_tokens, 0);
    CU_ASSERT_TRUE(zk_server_wait_watch_count(stage_server, 0, PATIENCE_MS));
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(connections_beyond_the_cap_are_retried_and_the_cause_is_named, set_up, stage_tear_down),
    SUITE_TEST_WITH(processes_hand_over_one_by_one, stage_set_up, stage_tear_down),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_crowd", tests);
}
