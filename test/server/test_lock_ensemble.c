/* Three servers with cables that can be cut one way: a holder behind a follower that has lost its leader, at a leader
 * that is one no more, at a server that stands still; lost answers and cuts when the next connection is to another
 * server. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"
#include "support/zk_ensemble.h"

#include <stdio.h>
#include <string.h>

#include "lock/lock_state.h"

enum {
    SHORT_TIMEOUT_MS = 6000,
    LONG_TIMEOUT_MS = 40000,
    LONGEST_TIMEOUT_MS = 60000, /* an election may take its time on a busy machine */
    LIMIT_MS = 1000,
    LONG_MS = 90000,
};

static struct zk_ensemble *ensemble;
static struct fault_proxy *ways[ZK_ENSEMBLE_SIZE]; /* to each server */
static char all_ways[128];
static struct contender *holder;
static struct contender *waiter;
static char node[OBSERVER_PATH_SIZE];

static void start(void)
{
    ensemble = zk_ensemble_start_with_cables(NULL);
    all_ways[0] = '\0';
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        ways[i] = fault_proxy_start(zk_server_port(zk_ensemble_server(ensemble, i)));
        snprintf(all_ways + strlen(all_ways), sizeof(all_ways) - strlen(all_ways), "%s%s", i ? "," : "",
                 fault_proxy_address(ways[i]));
    }
    holder = waiter = NULL;
}

static void set_mood(enum fault_mood mood)
{
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++)
        fault_proxy_set_mood(ways[i], mood);
}

static void end(void)
{
    for (int i = 0; i < ZK_ENSEMBLE_SIZE && ensemble; i++) {
        if (ways[i])
            fault_proxy_forget_faults(ways[i]);
    }
    stage_end();
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        fault_proxy_free(ways[i]);
        ways[i] = NULL;
    }
    zk_ensemble_free(ensemble);
    ensemble = NULL;
}

/* ---------------------------------------------------------------- a holder that only one server serves */

/* The holder knows this server alone; the waiter and the observer know the other two. */
static void hold_at(int index)
{
    char others[64] = "";

    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        if (i != index)
            snprintf(others + strlen(others), sizeof(others) - strlen(others), "%s%s", others[0] ? "," : "",
                     zk_server_address(zk_ensemble_server(ensemble, i)));
    }
    stage.observer = observer_open(others, 30000);
    holder = contender_new(stage_open(fault_proxy_address(ways[index]), SHORT_TIMEOUT_MS), STAGE_PATH);
    waiter = contender_new(stage_open(others, LONG_TIMEOUT_MS), STAGE_PATH);
    contender_hold(holder);
    contender_queue(waiter);
    contender_node(holder, node);
}

/* From the moment at which anybody can see the node gone, the holder says that it holds nothing. */
static void check_that_the_holder_gives_up_first(void)
{
    int64_t end_ms = monotonic_ms() + LONG_MS;

    while (observer_exists(stage.observer, node))
        CU_ASSERT_TRUE_FATAL(monotonic_ms() < end_ms);
    CU_ASSERT_FALSE(zklock_is_held(holder->lock));
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_LEASE);
    CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE - 1, LONG_MS));
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_TRUE(contender_token(waiter) > 0);
}

/* Back on the network, it is told again, and may queue behind the one that holds now. */
static void check_that_it_can_queue_again(void)
{
    CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE, LONG_MS));
    CU_ASSERT_FALSE(zklock_is_held(holder->lock));
    CU_ASSERT_TRUE(zklock_is_held(waiter->lock));
    CU_ASSERT_EQUAL(zklock_release(holder->lock, LONG_MS), ZKLOCK_LOST);
    probe_reset(&holder->events);
    contender_queue(holder);
    CU_ASSERT_EQUAL(zklock_release(waiter->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(holder), ZKLOCK_OK);
    CU_ASSERT_TRUE(contender_token(holder) > 0);
}

static void check_holder_at(int index, void (*cut)(struct zk_ensemble *, int))
{
    hold_at(index);
    cut(ensemble, index);
    check_that_the_holder_gives_up_first();
    zk_ensemble_heal(ensemble);
    check_that_it_can_queue_again();
}

static void holder_behind_a_muted_follower_gives_up_first(void)
{
    check_holder_at(zk_ensemble_follower(ensemble), zk_ensemble_mute);
}

static void holder_behind_a_deaf_follower_gives_up_first(void)
{
    check_holder_at(zk_ensemble_follower(ensemble), zk_ensemble_deafen);
}

static void holder_behind_a_cut_off_follower_gives_up_first(void)
{
    check_holder_at(zk_ensemble_follower(ensemble), zk_ensemble_cut);
}

/* What it has not heard of is there all the same. */
static void contender_unknown_to_a_deaf_follower_is_not_taken_for_broken(void)
{
    int deaf = zk_ensemble_follower(ensemble);
    zklock_queue *queue = NULL;
    zklock_session *session;
    zklock_status status;

    hold_at((deaf + 1) % ZK_ENSEMBLE_SIZE);
    session = stage_open(zk_server_address(zk_ensemble_server(ensemble, deaf)), SHORT_TIMEOUT_MS);
    zk_ensemble_deafen(ensemble, deaf);
    contender_hold(contender_new(holder->session, "/stage/unheard"));
    CU_ASSERT_EQUAL_FATAL(zklock_queue_read(holder->session, "/stage/unheard", STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(queue->count, 1);
    status = zklock_break(session, "/stage/unheard", queue->contenders[0], LIMIT_MS);
    CU_ASSERT_TRUE(status == ZKLOCK_TIMEOUT || status == ZKLOCK_NO_SERVER);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, "/stage/unheard", 1, STAGE_LIMIT_MS));
    zklock_queue_free(queue);
    zk_ensemble_heal(ensemble);
}

/* Perhaps nobody else comes to lead, and then nobody takes the lock either: the holder is told all the same. */
static void check_holder_at_the_leader(void (*cut)(struct zk_ensemble *, int))
{
    int leader = zk_ensemble_leader(ensemble);

    hold_at(leader);
    cut(ensemble, leader);
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_LEASE);
    CU_ASSERT_FALSE(zklock_is_held(holder->lock));
    zk_ensemble_heal(ensemble);
    CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE, LONG_MS));
    CU_ASSERT_EQUAL(zklock_release(holder->lock, LONG_MS), ZKLOCK_LOST);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
}

static void holder_at_a_muted_leader_is_told(void)
{
    check_holder_at_the_leader(zk_ensemble_mute);
}

static void holder_at_a_cut_off_leader_is_told(void)
{
    check_holder_at_the_leader(zk_ensemble_cut);
}

static void holder_at_a_deaf_leader_is_told(void)
{
    check_holder_at_the_leader(zk_ensemble_deafen);
}

static void holder_at_a_leader_that_stands_still_gives_up_first(void)
{
    int leader = zk_ensemble_leader(ensemble);

    hold_at(leader);
    zk_server_pause(zk_ensemble_server(ensemble, leader));
    check_that_the_holder_gives_up_first();
    zk_server_resume(zk_ensemble_server(ensemble, leader));
    check_that_it_can_queue_again();
}

static void holder_at_a_follower_that_stands_still_gives_up_first(void)
{
    int follower = zk_ensemble_follower(ensemble);

    hold_at(follower);
    zk_server_pause(zk_ensemble_server(ensemble, follower));
    check_that_the_holder_gives_up_first();
    zk_server_resume(zk_ensemble_server(ensemble, follower));
    check_that_it_can_queue_again();
}

/* ---------------------------------------------------------------- a holder that knows all of them */

static int server_of(zklock_session *session)
{
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        if (zk_server_received(zk_ensemble_server(ensemble, i), stage_session_id(session)) > 0)
            return i;
    }
    return -1;
}

static void hold_anywhere(unsigned timeout_ms)
{
    stage.observer = observer_open(zk_ensemble_hosts(ensemble), 30000);
    holder = contender_new(stage_open(all_ways, timeout_ms), STAGE_PATH);
    waiter = contender_new(stage_open(all_ways, timeout_ms), STAGE_PATH);
    contender_hold(holder);
    contender_queue(waiter);
    contender_node(holder, node);
}

static bool has_most_of_its_lease(void *context)
{
    return zklock_remaining_ms(((struct contender *)context)->lock) > LONG_TIMEOUT_MS / 2;
}

static void check_that_it_holds_on(int64_t session_id)
{
    CU_ASSERT_TRUE(eventually(has_most_of_its_lease, holder, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_FALSE(contender_heard(holder, ZKLOCK_EVENT_LOST));
    CU_ASSERT_EQUAL(stage_session_id(holder->session), session_id);
    CU_ASSERT_TRUE(observer_exists(stage.observer, node));
    CU_ASSERT_EQUAL(zklock_result(waiter->lock), ZKLOCK_PENDING);
}

/* Cut off from its leader, the follower that serves the holder gives up, and another server takes over. */
static void check_that_it_moves(void (*cut)(struct zk_ensemble *, int))
{
    int leader = zk_ensemble_leader(ensemble);
    int64_t session_id;

    fault_proxy_set_mood(ways[leader], FAULT_DOWN);
    hold_anywhere(LONG_TIMEOUT_MS);
    fault_proxy_set_mood(ways[leader], FAULT_PASS);
    session_id = stage_session_id(holder->session);
    cut(ensemble, server_of(holder->session));
    contender_await_event(holder, ZKLOCK_EVENT_SUSPENDED);
    contender_await_event(holder, ZKLOCK_EVENT_RESUMED);
    check_that_it_holds_on(session_id);
    zk_ensemble_heal(ensemble);
    CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE, LONG_MS));
    check_that_it_holds_on(session_id);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
}

static void holder_moves_from_a_muted_follower(void)
{
    check_that_it_moves(zk_ensemble_mute);
}

static void holder_moves_from_a_cut_off_follower(void)
{
    check_that_it_moves(zk_ensemble_cut);
}

/* C16: of the three ways one is open, another one each time; one write on the new connection keeps the lock. */
static void each_way_is_found(void)
{
    int64_t session_id;

    hold_anywhere(LONG_TIMEOUT_MS);
    session_id = stage_session_id(holder->session);
    for (int i = 0; i < 2 * ZK_ENSEMBLE_SIZE; i++) {
        probe_reset(&holder->events);
        fault_proxy_set_mood(ways[i % ZK_ENSEMBLE_SIZE], FAULT_PASS);
        for (int other = 0; other < ZK_ENSEMBLE_SIZE; other++) {
            if (other != i % ZK_ENSEMBLE_SIZE)
                fault_proxy_set_mood(ways[other], FAULT_DOWN);
        }
        CU_ASSERT_TRUE(fault_proxy_wait_open_connections(ways[i % ZK_ENSEMBLE_SIZE], 2, LONG_TIMEOUT_MS));
        check_that_it_holds_on(session_id);
    }
}

/* ---------------------------------------------------------------- lost answers, limits and releases */

enum { ROUNDS = 40 };

/* C11: the answer is lost, and the next connection is to another server, which may be behind; so may be the one that the
 * observer asks. */
static void lost_answers_leave_one_contender_whoever_serves_next(void)
{
    struct contender *contender;

    stage.observer = observer_open(zk_ensemble_hosts(ensemble), 30000);
    CU_ASSERT_EQUAL(observer_create(stage.observer, "/stage", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage.observer, STAGE_PATH, "", 0, NULL), ZOK);
    contender = contender_new(stage_open(all_ways, LONG_TIMEOUT_MS), STAGE_PATH);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
            if (round % 2)
                fault_proxy_lose_reply(ways[i], FAULT_OP_CREATE2, 1, FAULT_THEN_CUT);
            else
                fault_proxy_drop_request(ways[i], FAULT_OP_CREATE2, 1, FAULT_THEN_CUT);
        }
        contender_hold(contender);
        for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++)
            fault_proxy_forget_faults(ways[i]);
        CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 1, STAGE_LIMIT_MS));
        CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
        CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 0, STAGE_LIMIT_MS));
    }
}

/* C12 */
static void limit_during_a_cut_is_kept_and_the_remains_are_removed(void)
{
    struct contender *late;
    int64_t start_ms;

    hold_anywhere(LONG_TIMEOUT_MS);
    late = contender_new(waiter->session, STAGE_PATH);
    contender_queue(late);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 3, STAGE_LIMIT_MS));
    set_mood(FAULT_HOLE);
    CU_ASSERT_EQUAL(zklock_cancel(late->lock), ZKLOCK_OK);
    probe_reset(&late->events);
    start_ms = monotonic_ms();
    CU_ASSERT_EQUAL(zklock_release(holder->lock, LIMIT_MS), ZKLOCK_UNCONFIRMED);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms < LIMIT_MS + SHORT_TIMEOUT_MS);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 3, STAGE_LIMIT_MS));
    set_mood(FAULT_PASS);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 1, STAGE_LIMIT_MS));
}

/* C14 */
static void release_during_a_cut_is_done_by_whoever_serves_next(void)
{
    struct blocking_call call;
    int before;

    hold_anywhere(LONG_TIMEOUT_MS);
    before = server_of(holder->session);
    set_mood(FAULT_DOWN);
    contender_await_event(holder, ZKLOCK_EVENT_SUSPENDED);
    blocking_call_start(&call, holder, zklock_release, STAGE_LIMIT_MS);
    contender_await_state(holder, ZKL_DELETING);
    CU_ASSERT_TRUE(observer_exists(stage.observer, node));
    fault_proxy_set_mood(ways[(before + 1) % ZK_ENSEMBLE_SIZE], FAULT_PASS);
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_OK);
    CU_ASSERT_TRUE(observer_wait_gone(stage.observer, node, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_FALSE(contender_heard(holder, ZKLOCK_EVENT_LOST));
}

/* ---------------------------------------------------------------- C18: restarts in turn */

#ifndef ROLLS
#define ROLLS 3
#endif

static void servers_restarted_in_turn_leave_holder_and_order(void)
{
    struct contender *last;
    int64_t session_id;

    hold_anywhere(LONGEST_TIMEOUT_MS);
    last = contender_new(holder->session, STAGE_PATH);
    contender_queue(last);
    session_id = stage_session_id(holder->session);
    for (int i = 0; i < ROLLS; i++) {
        zk_server_stop(zk_ensemble_server(ensemble, i % ZK_ENSEMBLE_SIZE));
        CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE - 1, LONG_MS));
        zk_server_begin(zk_ensemble_server(ensemble, i % ZK_ENSEMBLE_SIZE));
        CU_ASSERT_TRUE(zk_ensemble_wait_serving(ensemble, ZK_ENSEMBLE_SIZE, LONG_MS));
        check_that_it_holds_on(session_id);
    }
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_result(last->lock), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(zklock_release(waiter->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(last), ZKLOCK_OK);
}

#define TEST(test) SUITE_TEST_WITH(test, start, end)

static const struct suite_test tests[] = {
    TEST(holder_behind_a_muted_follower_gives_up_first),
    TEST(holder_behind_a_deaf_follower_gives_up_first),
    TEST(holder_behind_a_cut_off_follower_gives_up_first),
    TEST(contender_unknown_to_a_deaf_follower_is_not_taken_for_broken),
    TEST(holder_at_a_muted_leader_is_told),
    TEST(holder_at_a_cut_off_leader_is_told),
    TEST(holder_at_a_deaf_leader_is_told),
    TEST(holder_at_a_leader_that_stands_still_gives_up_first),
    TEST(holder_at_a_follower_that_stands_still_gives_up_first),
    TEST(holder_moves_from_a_muted_follower),
    TEST(holder_moves_from_a_cut_off_follower),
    TEST(each_way_is_found),
    TEST(lost_answers_leave_one_contender_whoever_serves_next),
    TEST(limit_during_a_cut_is_kept_and_the_remains_are_removed),
    TEST(release_during_a_cut_is_done_by_whoever_serves_next),
    TEST(servers_restarted_in_turn_leave_holder_and_order),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_ensemble", tests);
}
