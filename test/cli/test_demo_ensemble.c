/* zklock demo on three servers, of which one after the other is stopped, killed and frozen meanwhile. */
#include "cli_stage.h"

#include "support/zk_ensemble.h"

#include <stdio.h>
#include <string.h>

static struct zk_ensemble *ensemble;

static void start_ensemble(void)
{
    ensemble = zk_ensemble_start(NULL);
}

static void stop_ensemble(void)
{
    stage_tear_down();
    zk_ensemble_free(ensemble);
    ensemble = NULL;
}

static struct process *start_demo(const char *rounds)
{
    return stage_start("demo", "-S", zk_ensemble_hosts(ensemble), "-T", "4", "--rounds", rounds, "--workers",
                       "3", "--think", "10", NULL);
}

static void expect_right(struct process *process)
{
    CU_ASSERT_TRUE(process_wait(process, 6 * PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 0);
    if (process_exit_status(process) != 0)
        printf("\n%s%s", stage_output(process), stage_error(process));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "right: no update was lost"));
}

/* Each server once, whichever leads at the time. */
static void disturb(void (*fall)(struct zk_server *), void (*rise)(struct zk_server *))
{
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        struct zk_server *server = zk_ensemble_server(ensemble, i);

        fall(server);
        CU_ASSERT_TRUE(zk_ensemble_wait_leader(ensemble, i, PATIENCE_MS) >= 0);
        rise(server);
        CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE, PATIENCE_MS));
    }
}

static void expect_two_right_demos(void (*fall)(struct zk_server *), void (*rise)(struct zk_server *))
{
    struct process *one = start_demo("150");
    struct process *other = start_demo("120");

    CU_ASSERT_TRUE_FATAL(process_wait_output(one, "progress", 2 * PATIENCE_MS));
    CU_ASSERT_TRUE_FATAL(process_wait_output(other, "progress", 2 * PATIENCE_MS));
    disturb(fall, rise);
    expect_right(one);
    expect_right(other);
}

static void two_demos_stay_right_while_servers_stop_in_turn(void)
{
    expect_two_right_demos(zk_server_stop, zk_server_begin);
}

static void two_demos_stay_right_while_servers_are_killed_in_turn(void)
{
    expect_two_right_demos(zk_server_kill, zk_server_begin);
}

static void two_demos_stay_right_while_servers_freeze_in_turn(void)
{
    expect_two_right_demos(zk_server_pause, zk_server_resume);
}

#define ON_ENSEMBLE(test) SUITE_TEST_WITH(test, start_ensemble, stop_ensemble)

static const struct suite_test tests[] = {
    ON_ENSEMBLE(two_demos_stay_right_while_servers_stop_in_turn),
    ON_ENSEMBLE(two_demos_stay_right_while_servers_are_killed_in_turn),
    ON_ENSEMBLE(two_demos_stay_right_while_servers_freeze_in_turn),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "demo_ensemble", tests);
}
