/* zklock exec on three servers whose cables can be cut one way, and which are reached through a proxy each: cut-off
 * holders (C02), frozen waiters and holders (C06, C30), lost answers (C11), limits and releases during a cut (C12, C14),
 * servers that are up in turn (C16). */
#include "cli_stage.h"

#include "support/zk_ensemble.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { LONG_MS = 90000, ROUNDS = 12, MOVES = 6 };

static struct zk_ensemble *ensemble;
static struct fault_proxy *ways[ZK_ENSEMBLE_SIZE];
static char all_ways[128];
static char others[64];

static void set_up(void)
{
    ensemble = zk_ensemble_start_with_cables(NULL);
    all_ways[0] = '\0';
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        ways[i] = fault_proxy_start(zk_server_port(zk_ensemble_server(ensemble, i)));
        snprintf(all_ways + strlen(all_ways), sizeof(all_ways) - strlen(all_ways), "%s%s", i ? "," : "",
                 fault_proxy_address(ways[i]));
    }
}

static void tear_down(void)
{
    stage_tear_down();
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        fault_proxy_free(ways[i]);
        ways[i] = NULL;
    }
    zk_ensemble_free(ensemble);
    ensemble = NULL;
}

static void observe_all(void)
{
    stage_observer = observer_open(zk_ensemble_hosts(ensemble), 30000);
}

/* The observer, and whoever is started with `others`, know the other two servers. */
static void observe_others(int index)
{
    others[0] = '\0';
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        if (i != index)
            snprintf(others + strlen(others), sizeof(others) - strlen(others), "%s%s", others[0] ? "," : "",
                     zk_server_address(zk_ensemble_server(ensemble, i)));
    }
    stage_observer = observer_open(others, 30000);
}

static struct process *hold(const char *servers, const char *timeout_s)
{
    struct process *holder = stage_start("exec", "-S", servers, "-T", timeout_s, LOCK, "--", "sh", "-c",
                                         "trap 'exit 5' WINCH; echo held; while :; do sleep 0.05; done", NULL);

    if (!process_wait_output(holder, "held\n", LONG_MS))
        suite_abandon("the holder does not get the lock: %s", stage_error(holder));
    return holder;
}

static int end_of(struct process *process)
{
    return process_wait(process, LONG_MS) ? process_exit_status(process) : -1;
}

/* ---------------------------------------------------------------- C02 */

static void check_no_overlap(int index, void (*cut)(struct zk_ensemble *, int))
{
    const char *file = stage_file("sections");
    struct process *holder, *next;
    struct critical_verdict verdict;

    observe_others(index);
    holder = stage_start("exec", "-S", zk_server_address(zk_ensemble_server(ensemble, index)), "-T", "6", LOCK, "--",
                         critical_program(), file, "300000", "5", NULL);
    CU_ASSERT_TRUE_FATAL(critical_wait_sections(file, 1, LONG_MS));
    next = stage_start("exec", "-S", others, "-T", "30", LOCK, "--", critical_program(), file, "100", NULL);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, LONG_MS));
    cut(ensemble, index);
    CU_ASSERT_EQUAL(end_of(holder), 79);
    CU_ASSERT_EQUAL(end_of(next), 0);
    CU_ASSERT_TRUE_FATAL(critical_judge(file, &verdict));
    CU_ASSERT_STRING_EQUAL(verdict.problem, "");
    CU_ASSERT_TRUE(critical_is_clean(&verdict));
    CU_ASSERT_EQUAL(verdict.sections, 2);
}

static void command_behind_a_muted_follower_ends_before_the_next_begins(void)
{
    check_no_overlap(zk_ensemble_follower(ensemble), zk_ensemble_mute);
}

static void command_behind_a_deaf_follower_ends_before_the_next_begins(void)
{
    check_no_overlap(zk_ensemble_follower(ensemble), zk_ensemble_deafen);
}

static void command_behind_a_cut_off_follower_ends_before_the_next_begins(void)
{
    check_no_overlap(zk_ensemble_follower(ensemble), zk_ensemble_cut);
}

static void pause_server(struct zk_ensemble *servers, int index)
{
    zk_server_pause(zk_ensemble_server(servers, index));
}

static void command_at_a_leader_that_stands_still_ends_before_the_next_begins(void)
{
    check_no_overlap(zk_ensemble_leader(ensemble), pause_server);
}

/* ---------------------------------------------------------------- C06, C30 */

static void thawed_waiter_does_not_start_its_command(void)
{
    struct process *holder, *frozen, *third;

    observe_all();
    holder = hold(all_ways, "40");
    frozen = stage_start("exec", "-S", all_ways, "-T", "3", "-w", "20", LOCK, "--", "echo", "never", NULL);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, LONG_MS));
    process_signal(frozen, SIGSTOP);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 1, LONG_MS));
    stage_let_go(holder);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, LONG_MS));
    third = hold(all_ways, "30");
    process_signal(frozen, SIGCONT);
    CU_ASSERT_NOT_EQUAL(end_of(frozen), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(frozen), "");
    CU_ASSERT_TRUE(process_is_running(third));
}

/* The holder's process group or zklock alone is frozen until somebody else holds. */
static void check_frozen_holder(void (*send)(struct process *, int))
{
    const char *const arguments[] = {"exec", "-S", all_ways, "-T", "4", LOCK, "--", "sh", "-c",
                                     "echo $ZKLOCK_TOKEN; exec sleep 300", NULL};
    const struct process_options options = {.arguments = arguments, .is_group_leader = true};
    unsigned long long before, after;
    struct process *holder, *next;

    observe_all();
    holder = stage_start_with(&options);
    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "\n", LONG_MS));
    send(holder, SIGSTOP);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, LONG_MS));
    next = stage_start("exec", "-S", all_ways, LOCK, "--", "sh", "-c", "echo $ZKLOCK_TOKEN", NULL);
    CU_ASSERT_EQUAL(end_of(next), 0);
    send(holder, SIGCONT);
    CU_ASSERT_EQUAL(end_of(holder), 79);
    CU_ASSERT_EQUAL(sscanf(stage_output(holder), "%llu", &before), 1);
    CU_ASSERT_EQUAL(sscanf(stage_output(next), "%llu", &after), 1);
    CU_ASSERT_TRUE(after > before);
}

static void thawed_holder_stops_its_command(void)
{
    check_frozen_holder(process_signal);
}

static void holder_thawed_with_its_group_stops_its_command(void)
{
    check_frozen_holder(process_signal_group);
}

/* ---------------------------------------------------------------- C11, C12, C14 */

static void lost_answers_leave_one_contender_and_no_orphan(void)
{
    observe_all();
    for (int round = 0; round < ROUNDS; round++) {
        struct process *process;

        for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
            if (round % 2)
                fault_proxy_lose_reply(ways[i], FAULT_OP_CREATE2, 1, FAULT_THEN_CUT);
            else
                fault_proxy_drop_request(ways[i], FAULT_OP_CREATE2, 1, FAULT_THEN_CUT);
        }
        process = stage_start("exec", "-S", all_ways, "-T", "40", LOCK, "--", "true", NULL);
        CU_ASSERT_EQUAL(end_of(process), 0);
        for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++)
            fault_proxy_forget_faults(ways[i]);
        CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, LONG_MS));
    }
}

static void set_mood(enum fault_mood mood)
{
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++)
        fault_proxy_set_mood(ways[i], mood);
}

static void limit_that_passes_during_a_cut_leaves_nothing_for_long(void)
{
    struct process *holder, *limited, *next;

    observe_all();
    holder = hold(zk_ensemble_hosts(ensemble), "30");
    limited = stage_start("exec", "-S", all_ways, "-T", "5", "-w", "8", LOCK, "--", "echo", "never", NULL);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, LONG_MS));
    next = stage_start("exec", "-S", zk_ensemble_hosts(ensemble), "-T", "30", LOCK, "--", "echo", "mine", NULL);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 3, LONG_MS));
    set_mood(FAULT_HOLE);
    CU_ASSERT_TRUE(process_wait(limited, LONG_MS));
    CU_ASSERT_TRUE(process_exit_status(limited) == 69 || process_exit_status(limited) == 1);
    CU_ASSERT_STRING_EQUAL(stage_output(limited), "");
    set_mood(FAULT_PASS);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, LONG_MS));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(end_of(next), 0);
}

static void release_during_a_cut_is_done_by_whoever_serves_next(void)
{
    struct process *holder, *next;

    observe_all();
    holder = hold(all_ways, "30");
    next = stage_start("exec", "-S", zk_ensemble_hosts(ensemble), "-T", "30", LOCK, "--", "echo", "mine", NULL);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, LONG_MS));
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        if (fault_proxy_open_connections(ways[i]) > 0)
            fault_proxy_set_mood(ways[i], FAULT_DOWN);
    }
    process_signal(holder, SIGWINCH);
    CU_ASSERT_EQUAL(end_of(holder), 5);
    CU_ASSERT_EQUAL(end_of(next), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(next), "mine\n");
}

/* ---------------------------------------------------------------- C16 */

static void each_server_is_found_and_the_command_goes_on(void)
{
    struct process *holder;

    observe_all();
    holder = hold(all_ways, "20");
    for (int i = 0; i < MOVES; i++) {
        int up = i % ZK_ENSEMBLE_SIZE;

        fault_proxy_set_mood(ways[up], FAULT_PASS);
        for (int other = 0; other < ZK_ENSEMBLE_SIZE; other++) {
            if (other != up)
                fault_proxy_set_mood(ways[other], FAULT_DOWN);
        }
        fault_proxy_reset_counts(ways[up]);
        CU_ASSERT_TRUE(fault_proxy_wait_requests(ways[up], FAULT_OP_MULTI, 2, LONG_MS));
    }
    CU_ASSERT_TRUE(process_is_running(holder));
    process_signal(holder, SIGWINCH);
    CU_ASSERT_EQUAL(end_of(holder), 5);
}

#define ON_STAGE(test) SUITE_TEST_WITH(test, set_up, tear_down)

static const struct suite_test tests[] = {
    ON_STAGE(command_behind_a_muted_follower_ends_before_the_next_begins),
    ON_STAGE(command_behind_a_deaf_follower_ends_before_the_next_begins),
    ON_STAGE(command_behind_a_cut_off_follower_ends_before_the_next_begins),
    ON_STAGE(command_at_a_leader_that_stands_still_ends_before_the_next_begins),
    ON_STAGE(thawed_waiter_does_not_start_its_command),
    ON_STAGE(thawed_holder_stops_its_command),
    ON_STAGE(holder_thawed_with_its_group_stops_its_command),
    ON_STAGE(lost_answers_leave_one_contender_and_no_orphan),
    ON_STAGE(limit_that_passes_during_a_cut_leaves_nothing_for_long),
    ON_STAGE(release_during_a_cut_is_done_by_whoever_serves_next),
    ON_STAGE(each_server_is_found_and_the_command_goes_on),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_cables", tests);
}
