/* The ensemble fixture. */
#include "support/eventually.h"
#include "support/suite.h"
#include "support/zk_ensemble.h"

static struct zk_ensemble *ensemble;

static void start_ensemble(void)
{
    ensemble = zk_ensemble_start(NULL);
}

static void free_ensemble(void)
{
    zk_ensemble_free(ensemble);
    ensemble = NULL;
}

static void one_of_three_leads(void)
{
    int leader = zk_ensemble_leader(ensemble);

    CU_ASSERT_TRUE(leader >= 0 && leader < ZK_ENSEMBLE_SIZE);
    CU_ASSERT_TRUE(zk_ensemble_follower(ensemble) >= 0);
    CU_ASSERT_NOT_EQUAL(zk_ensemble_follower(ensemble), leader);
    CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE, 0));
}

static void another_leads_when_the_leader_is_killed(void)
{
    int leader = zk_ensemble_leader(ensemble);

    CU_ASSERT_TRUE_FATAL(leader >= 0);
    zk_server_kill(zk_ensemble_server(ensemble, leader));
    CU_ASSERT_TRUE(zk_ensemble_wait_leader(ensemble, leader, 30000) >= 0);
    zk_server_restart(zk_ensemble_server(ensemble, leader));
    CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE, 30000));
}

static void paused_leader_is_replaced(void)
{
    int leader = zk_ensemble_leader(ensemble);

    CU_ASSERT_TRUE_FATAL(leader >= 0);
    zk_server_pause(zk_ensemble_server(ensemble, leader));
    CU_ASSERT_TRUE(zk_ensemble_wait_leader(ensemble, leader, 30000) >= 0);
    zk_server_resume(zk_ensemble_server(ensemble, leader));
    CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE, 30000));
}

static void start_with_cables(void)
{
    ensemble = zk_ensemble_start_with_cables(NULL);
}

static void heal(void)
{
    zk_ensemble_heal(ensemble);
    CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE, 90000));
}

static bool has_stopped_serving(void *index)
{
    return !zk_ensemble_is_serving(ensemble, *(int *)index);
}

/* Who is cut off one way or the other is out, and the others go on without it; healed, all serve again. */
static void check_that_follower_falls_out(void (*cut)(struct zk_ensemble *, int))
{
    int index = zk_ensemble_follower(ensemble);

    cut(ensemble, index);
    CU_ASSERT_TRUE(eventually(has_stopped_serving, &index, 90000));
    CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE - 1, 30000));
    CU_ASSERT_NOT_EQUAL(zk_ensemble_wait_leader(ensemble, index, 30000), -1);
    heal();
}

static void follower_falls_out_whichever_way_its_cables_are_cut(void)
{
    check_that_follower_falls_out(zk_ensemble_mute);
    check_that_follower_falls_out(zk_ensemble_deafen);
    check_that_follower_falls_out(zk_ensemble_cut);
}

/* The others follow nobody, or one of themselves. */
static bool is_left_alone(void *leader)
{
    return zk_ensemble_follower(ensemble) < 0 || zk_ensemble_wait_leader(ensemble, *(int *)leader, 0) >= 0;
}

/* A leader that nobody hears may go on serving what it knows: each attempt to follow it counts as a follower for
 * initLimit + syncLimit ticks. */
static void check_that_leader_is_left_alone(void (*cut)(struct zk_ensemble *, int))
{
    int leader = zk_ensemble_leader(ensemble);

    CU_ASSERT_NOT_EQUAL_FATAL(leader, -1);
    cut(ensemble, leader);
    CU_ASSERT_TRUE(eventually(is_left_alone, &leader, 90000));
    heal();
}

static void leader_is_left_alone_whichever_way_its_cables_are_cut(void)
{
    check_that_leader_is_left_alone(zk_ensemble_mute);
    check_that_leader_is_left_alone(zk_ensemble_deafen);
    check_that_leader_is_left_alone(zk_ensemble_cut);
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(one_of_three_leads, start_ensemble, free_ensemble),
    SUITE_TEST_WITH(another_leads_when_the_leader_is_killed, start_ensemble, free_ensemble),
    SUITE_TEST_WITH(paused_leader_is_replaced, start_ensemble, free_ensemble),
    SUITE_TEST_WITH(follower_falls_out_whichever_way_its_cables_are_cut, start_with_cables, free_ensemble),
    SUITE_TEST_WITH(leader_is_left_alone_whichever_way_its_cables_are_cut, start_with_cables, free_ensemble),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "ensemble", tests);
}
