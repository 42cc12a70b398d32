/* zklock exec on three servers: a change of leader is a blip, not a loss (C18). */
#include "cli_stage.h"

#include "support/zk_ensemble.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#ifndef BLIPS
#define BLIPS 4
#endif

static struct zk_ensemble *ensemble;

static void start_ensemble(void)
{
    ensemble = zk_ensemble_start(NULL);
    stage_observer = observer_open(zk_ensemble_hosts(ensemble), 20000);
}

static void stop_ensemble(void)
{
    stage_tear_down();
    zk_ensemble_free(ensemble);
    ensemble = NULL;
}

static struct process *start(const char *file, const char *hold_ms)
{
    return stage_start("exec", "-S", zk_ensemble_hosts(ensemble), "-T", "10", LOCK, "--", critical_program(),
                       file, hold_ms, "50", NULL);
}

static void restart_leader(void)
{
    int leader = zk_ensemble_wait_leader(ensemble, -1, PATIENCE_MS);

    CU_ASSERT_TRUE_FATAL(leader >= 0);
    zk_server_kill(zk_ensemble_server(ensemble, leader));
    CU_ASSERT_TRUE(zk_ensemble_wait_leader(ensemble, leader, PATIENCE_MS) >= 0);
    zk_server_begin(zk_ensemble_server(ensemble, leader));
    CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE, PATIENCE_MS));
}

static void expect_same_queue(const struct observed_list *before)
{
    struct observed_list after;

    CU_ASSERT_EQUAL_FATAL(observer_list(stage_observer, LOCK, &after), ZOK);
    CU_ASSERT_EQUAL_FATAL(after.count, before->count);
    for (int i = 0; i < after.count; i++) {
        CU_ASSERT_STRING_EQUAL(after.nodes[i].name, before->nodes[i].name);
        CU_ASSERT_EQUAL(after.nodes[i].owner, before->nodes[i].owner);
    }
    observed_list_clear(&after);
}

static void restarts_of_the_leader_leave_holder_and_queue_alone(void)
{
    const char *file = stage_file("sections");
    struct process *holder = start(file, "600000");
    struct process *waiters[2];
    struct critical_verdict verdict;
    struct observed_list queue;

    CU_ASSERT_TRUE_FATAL(critical_wait_sections(file, 1, PATIENCE_MS));
    for (int i = 0; i < 2; i++) {
        waiters[i] = start(file, "50");
        CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2 + i, PATIENCE_MS));
    }
    CU_ASSERT_EQUAL_FATAL(observer_list(stage_observer, LOCK, &queue), ZOK);
    for (int i = 0; i < BLIPS; i++)
        restart_leader();
    expect_same_queue(&queue);
    observed_list_clear(&queue);
    CU_ASSERT_TRUE(process_is_running(holder));
    CU_ASSERT_TRUE(stage_lines(stage_error(holder)) <= BLIPS);
    process_signal(holder, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(holder), 143);
    CU_ASSERT_EQUAL(stage_end(waiters[0]), 0);
    CU_ASSERT_EQUAL(stage_end(waiters[1]), 0);
    CU_ASSERT_TRUE_FATAL(critical_judge(file, &verdict));
    CU_ASSERT_TRUE(critical_is_clean(&verdict));
    CU_ASSERT_EQUAL(verdict.sections, 3);
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(restarts_of_the_leader_leave_holder_and_queue_alone, start_ensemble, stop_ensemble),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_ensemble", tests);
}
