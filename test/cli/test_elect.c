/* zklock elect: leaders, losses, campaigns. */
#include "cli_stage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct process *campaign(const char *script)
{
    return stage_start("elect", "--label", "leader", LOCK, "--", "sh", "-c", script, NULL);
}

static bool leads_twice(void *process)
{
    const char *first = strstr(stage_output(process), "lead\n");

    return first && strstr(first + 1, "lead\n");
}

static void leader_campaigns_again_after_a_loss(void)
{
    struct process *leader = campaign("echo lead; env | grep -c ROUND; exec sleep 300");
    char name[OBSERVER_PATH_SIZE];
    char path[64];

    CU_ASSERT_TRUE_FATAL(process_wait_output(leader, "lead\n", PATIENCE_MS));
    observer_front(stage_observer, LOCK, name);
    CU_ASSERT_TRUE(stage_delete_contender(0));
    CU_ASSERT_TRUE(eventually(leads_twice, leader, PATIENCE_MS));
    CU_ASSERT_TRUE(observer_wait_front_other_than(stage_observer, LOCK, name, PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(leader), "stopping the command\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(leader), LOCK ": campaigning again in 0."));
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)process_pid(leader));
    CU_ASSERT_STRING_EQUAL(stage_read(path), "zklock\n");
    /* The same process, and nothing of its own in the command's environment. */
    process_signal(leader, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(leader), 143);
    CU_ASSERT_PTR_NULL(strstr(stage_output(leader), "1\n"));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
}

static void election_ends_with_the_commands_status(void)
{
    struct process *leader = campaign("exit 3");

    CU_ASSERT_EQUAL(stage_end(leader), 3);
    CU_ASSERT_STRING_EQUAL(stage_error(leader), "");
}

/* Curator's layout, and its candidates count each other. */
static void leader_latch_is_one_of_the_styles(void)
{
    struct process *leader = stage_start("elect", "--style", "curator-latch", LOCK, "--", "sh", "-c",
                                         "echo $ZKLOCK_CONTENDER; exec sleep 300", NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(leader, "-latch-00", PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_end(stage_start("elect", "-n", "--style", "curator-latch", LOCK, "--", "true", NULL)), 1);
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-n", LOCK, "--", "true", NULL)), 70);
}

/* Others have a turn while it pauses. */
static void leader_that_led_as_long_as_it_may_campaigns_again(void)
{
    struct process *leader = stage_start("elect", "-T", "4", "-k", "0.2", "--hold-limit", "1", LOCK, "--", "sh", "-c",
                                         "echo lead; exec sleep 300", NULL);

    CU_ASSERT_TRUE(eventually(leads_twice, leader, PATIENCE_MS));
    process_signal(leader, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(leader), 143);
}

static void other_takes_over_while_the_loser_pauses(void)
{
    struct process *leader = campaign("echo lead; exec sleep 300");
    struct process *other;

    CU_ASSERT_TRUE_FATAL(process_wait_output(leader, "lead\n", PATIENCE_MS));
    other = campaign("echo lead; exec sleep 300");
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    CU_ASSERT_TRUE(stage_delete_contender(0));
    CU_ASSERT_TRUE(process_wait_output(other, "lead\n", PATIENCE_MS));
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    CU_ASSERT_FALSE(leads_twice(leader));
}

static void signal_ends_a_candidate(void)
{
    struct process *candidate;

    stage_hold("x");
    candidate = campaign("echo lead");
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    process_signal(candidate, SIGINT);
    CU_ASSERT_EQUAL(stage_end(candidate), 130);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
}

static void cut_off_leader_campaigns_until_the_servers_are_back(void)
{
    struct process *leader;

    stage_put_proxy_between();
    leader = stage_start("elect", "-T", "2", "--connect-timeout", "0.5", LOCK, "--", "sh", "-c",
                         "echo lead; exec sleep 300", NULL);
    CU_ASSERT_TRUE_FATAL(process_wait_output(leader, "lead\n", PATIENCE_MS));
    fault_proxy_set_mood(stage_proxy, FAULT_DOWN);
    CU_ASSERT_TRUE(process_wait_error(leader, "no usable ZooKeeper", PATIENCE_MS));
    fault_proxy_set_mood(stage_proxy, FAULT_PASS);
    CU_ASSERT_TRUE(eventually(leads_twice, leader, PATIENCE_MS));
    process_signal(leader, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(leader), 143);
}

static void first_campaign_without_servers_is_69(void)
{
    struct process *candidate;

    zk_server_stop(stage_server);
    candidate = stage_start("elect", "--connect-timeout", "0.5", LOCK, "--", "true", NULL);
    CU_ASSERT_EQUAL(stage_end(candidate), 69);
}

/* A later campaign than the first, as the command counts them. */
static struct process *campaign_again(const char *round, const char *script)
{
    struct process *candidate;

    setenv("ZKLOCK_ELECT_ROUND", round, 1);
    candidate = stage_start("elect", "--connect-timeout", "0.5", LOCK, "--", "sh", "-c", script, NULL);
    unsetenv("ZKLOCK_ELECT_ROUND");
    return candidate;
}

static void command_that_ends_with_69_ends_a_later_campaign_too(void)
{
    CU_ASSERT_EQUAL(stage_end(campaign_again("1", "exit 69")), 69);
}

static void thousandth_campaign_is_not_the_first(void)
{
    struct process *candidate;

    zk_server_stop(stage_server);
    candidate = campaign_again("1000", "true");
    CU_ASSERT_TRUE(process_wait_error(candidate, "campaigning again", PATIENCE_MS));
    process_signal(candidate, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(candidate), 143);
}

static void stop_key_stops_a_candidate_that_pauses(void)
{
    struct process *candidate;

    zk_server_stop(stage_server);
    /* So late a campaign that the pause is a long one. */
    candidate = campaign_again("1000", "true");
    CU_ASSERT_TRUE_FATAL(process_wait_error(candidate, "campaigning again", PATIENCE_MS));
    process_signal(candidate, SIGTSTP);
    CU_ASSERT_TRUE(process_wait_stopped(candidate, PATIENCE_MS));
    process_signal(candidate, SIGCONT);
    process_signal(candidate, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(candidate), 143);
}

static void candidate_that_is_removed_campaigns_again(void)
{
    struct process *candidate;

    stage_hold("x");
    candidate = campaign("echo lead");
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    CU_ASSERT_TRUE(stage_delete_contender(1));
    CU_ASSERT_TRUE(process_wait_error(candidate, "campaigning again", PATIENCE_MS));
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    process_signal(candidate, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(candidate), 143);
}

#define ON_STAGE(test) SUITE_TEST_WITH(test, stage_set_up, stage_tear_down)

static const struct suite_test tests[] = {
    ON_STAGE(leader_campaigns_again_after_a_loss),
    ON_STAGE(election_ends_with_the_commands_status),
    ON_STAGE(leader_latch_is_one_of_the_styles),
    ON_STAGE(leader_that_led_as_long_as_it_may_campaigns_again),
    ON_STAGE(other_takes_over_while_the_loser_pauses),
    ON_STAGE(signal_ends_a_candidate),
    ON_STAGE(cut_off_leader_campaigns_until_the_servers_are_back),
    ON_STAGE(first_campaign_without_servers_is_69),
    ON_STAGE(command_that_ends_with_69_ends_a_later_campaign_too),
    ON_STAGE(thousandth_campaign_is_not_the_first),
    ON_STAGE(stop_key_stops_a_candidate_that_pauses),
    ON_STAGE(candidate_that_is_removed_campaigns_again),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "elect", tests);
}
