/* What a lock costs, counted at the proxy and at the server: requests, round trips, and who is woken. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

/* A session timeout so long that no heartbeat is due while requests are counted. */
enum { HOLD_BACK_MS = 20000, LONG_TIMEOUT_MS = 60000 };

static void start(void)
{
    stage_start_without_session();
    stage.session = stage_open(fault_proxy_address(stage.proxy), LONG_TIMEOUT_MS);
    fault_proxy_reset_counts(stage.proxy);
}

/* ---------------------------------------------------------------- a free lock */

static void free_lock_is_granted_by_two_requests(void)
{
    struct contender *contender = contender_new(stage.session, STAGE_PATH);
    char trace[256];

    contender_hold(contender);
    fault_proxy_trace(stage.proxy, trace, sizeof(trace));
    CU_ASSERT_EQUAL(strncmp(trace, "create2 getChildren", strlen("create2 getChildren")), 0);
}

/* It plants the watch on the own node, a while after the grant. */
static void lock_that_stays_held_costs_a_third_request(void)
{
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    contender_hold(contender);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 1, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(stage_requests() - 1, 3);
}

/* How many of them a busy machine lets go in time is another matter; it is far from none. */
static void locks_that_are_released_soon_are_not_watched(void)
{
    enum { ROUNDS = 100 };
    struct contender *contender = contender_new(stage.session, STAGE_PATH);
    int watches;

    for (int i = 0; i < ROUNDS; i++) {
        contender_hold(contender);
        CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    }
    watches = fault_proxy_requests(stage.proxy, FAULT_OP_GET_DATA);
    printf(" [%d of %d] ", watches, ROUNDS);
    CU_ASSERT_TRUE(watches < ROUNDS);
    CU_ASSERT_EQUAL(stage_requests(), 3 * ROUNDS + watches);
}

static void create_and_list_are_sent_in_one_flight(void)
{
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    fault_proxy_hold_reply(stage.proxy, FAULT_OP_CREATE2, 1);
    contender_begin(contender, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_CHILDREN, 1, HOLD_BACK_MS));
    CU_ASSERT_EQUAL(zklock_result(contender->lock), ZKLOCK_PENDING);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, HOLD_BACK_MS));
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(contender_result(contender), ZKLOCK_OK);
}

static void grant_of_a_free_lock_awaits_no_third_answer(void)
{
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    fault_proxy_hold_reply(stage.proxy, FAULT_OP_GET_DATA, 1);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_TIMEOUT_MS / 2), ZKLOCK_OK);
}

/* The delay is the clock: two round trips in a row would take twice as long. */
static void free_lock_takes_one_round_trip(void)
{
    enum { ONE_WAY_MS = 300 };
    struct contender *contender = contender_new(stage.session, STAGE_PATH);
    int64_t start_ms;

    fault_proxy_set_delay(stage.proxy, ONE_WAY_MS, ONE_WAY_MS);
    start_ms = monotonic_ms();
    contender_hold(contender);
    printf(" [%lld ms with a round trip of %d ms] ", (long long)(monotonic_ms() - start_ms), 2 * ONE_WAY_MS);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms >= 2 * ONE_WAY_MS);
    fault_proxy_set_delay(stage.proxy, 0, 0);
}

static void release_is_one_request(void)
{
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    contender_hold(contender);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 1, STAGE_LIMIT_MS));
    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_DELETE), 1);
    CU_ASSERT_EQUAL(stage_requests(), 1);
}

static void busy_try_costs_three_requests(void)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    contender_hold(holder);
    CU_ASSERT_EQUAL(zklock_try(contender->lock, STAGE_LIMIT_MS), ZKLOCK_BUSY);
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), 1);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_GET_CHILDREN), 1);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_DELETE), 1);
    CU_ASSERT_EQUAL(stage_requests(), 3);
}

/* ---------------------------------------------------------------- hand-over */

static void waiting_costs_two_more_requests_in_one_flight(void)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);
    struct contender *waiter = contender_new(stage.session, STAGE_PATH);

    contender_hold(holder);
    fault_proxy_hold_reply(stage.proxy, FAULT_OP_GET_DATA, 1);
    contender_begin(waiter, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 2, HOLD_BACK_MS));
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, HOLD_BACK_MS));
    fault_proxy_release(stage.proxy);
    contender_await_state(waiter, ZKL_WAITING);
    CU_ASSERT_EQUAL(stage_requests(), 4);
    CU_ASSERT_TRUE(zk_server_wait_watch_count(stage.server, 3, STAGE_LIMIT_MS));
}

/* Nothing that the waiter could ask reaches the server any more when the holder lets go. */
static void next_in_line_is_granted_without_a_request(void)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);
    struct contender *waiter = contender_new(stage.session, STAGE_PATH);

    contender_hold(holder);
    contender_queue(waiter);
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE_TO_SERVER);
    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_EQUAL(stage_requests(), 0);
}

/* The third in line has two ahead when it lists: it lists once more, then waits, then is granted by the event. */
static void deeper_waiter_lists_once_when_woken(void)
{
    zklock_session *outside = stage_open_outside();
    struct contender *holder = contender_new(outside, STAGE_PATH);
    struct contender *second = contender_new(outside, STAGE_PATH);
    struct contender *third = contender_new(stage.session, STAGE_PATH);

    contender_hold(holder);
    contender_queue(second);
    contender_queue(third);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(second), ZKLOCK_OK);
    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(zklock_release(second->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(third), ZKLOCK_OK);
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_GET_CHILDREN) - 1, 1);
    CU_ASSERT_EQUAL(stage_requests() - 1, 1);
}

enum { MOST_WAITERS = 1000 };

static struct contender *waiters[MOST_WAITERS];

/* The waiters stand in line over several sessions through the proxy, behind a holder that is outside. */
static struct contender *start_line(int count, zklock_session *lines[], int line_count)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);

    contender_hold(holder);
    for (int i = 0; i < line_count; i++)
        lines[i] = stage_open(fault_proxy_address(stage.proxy), LONG_TIMEOUT_MS);
    for (int i = 0; i < count; i++) {
        waiters[i] = contender_new(lines[i % line_count], STAGE_PATH);
        contender_queue(waiters[i]);
    }
    return holder;
}

/* Of all waiters, one hears one event, and nobody asks anything. */
static void check_that_one_is_woken(int count, zklock_session *lines[], int line_count)
{
    struct contender *holder = start_line(count, lines, line_count);

    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiters[0]), ZKLOCK_OK);
    for (int i = 0; i < line_count; i++)
        stage_fence(lines[i]);
    CU_ASSERT_EQUAL(fault_proxy_events(stage.proxy, 0), 1);
    CU_ASSERT_EQUAL(stage_requests() - line_count, 0);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), count);
}

/* From holder to holder through the whole line: each hears of its own node's end and its follower of the same. Watches
 * that were left behind are told in vain. */
static void check_that_all_get_their_turn(int count, int left_watches)
{
    for (int i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(contender_result(waiters[i]), ZKLOCK_OK);
        CU_ASSERT_EQUAL(zklock_release(waiters[i]->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    }
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_DELETE), count);
    CU_ASSERT_EQUAL(fault_proxy_events(stage.proxy, 0), 2 * count + left_watches);
    CU_ASSERT_TRUE(zk_server_wait_watch_count(stage.server, 0, STAGE_LIMIT_MS));
}

static void release_wakes_one_of_eight_sessions(void)
{
    zklock_session *lines[8];

    check_that_one_is_woken(8, lines, 8);
    check_that_all_get_their_turn(8, 0);
}

/* Twice: what the first one's answer overtakes in a session is on its way before the second one. */
static void fence_all(zklock_session *lines[], int line_count)
{
    for (int i = 0; i < 2 * line_count; i++)
        stage_fence(lines[i / 2]);
}

/* Who goes from the middle wakes the one behind, who looks for somebody else to wait for. */
static void check_that_the_middle_wakes_its_follower(int count, zklock_session *lines[], int line_count)
{
    int middle = count / 2;

    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(zklock_cancel(waiters[middle]->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiters[middle]), ZKLOCK_CANCELLED);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, count, STAGE_LIMIT_MS));
    fence_all(lines, line_count);
    CU_ASSERT_EQUAL(fault_proxy_events(stage.proxy, 0), 2);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_GET_CHILDREN) - 2 * line_count, 1);
    for (int i = middle; i < count - 1; i++)
        waiters[i] = waiters[i + 1];
}

static void release_wakes_one_of_a_thousand_waiters(void)
{
    zklock_session *lines[4];
    struct contender *holder = start_line(MOST_WAITERS, lines, 4);

    check_that_the_middle_wakes_its_follower(MOST_WAITERS, lines, 4);
    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiters[0]), ZKLOCK_OK);
    fence_all(lines, 4);
    CU_ASSERT_EQUAL(fault_proxy_events(stage.proxy, 0), 1);
    check_that_all_get_their_turn(MOST_WAITERS - 1, 1);
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(free_lock_is_granted_by_two_requests, start, stage_end),
    SUITE_TEST_WITH(lock_that_stays_held_costs_a_third_request, start, stage_end),
    SUITE_TEST_WITH(locks_that_are_released_soon_are_not_watched, start, stage_end),
    SUITE_TEST_WITH(create_and_list_are_sent_in_one_flight, start, stage_end),
    SUITE_TEST_WITH(grant_of_a_free_lock_awaits_no_third_answer, start, stage_end),
    SUITE_TEST_WITH(free_lock_takes_one_round_trip, start, stage_end),
    SUITE_TEST_WITH(release_is_one_request, start, stage_end),
    SUITE_TEST_WITH(busy_try_costs_three_requests, start, stage_end),
    SUITE_TEST_WITH(waiting_costs_two_more_requests_in_one_flight, start, stage_end),
    SUITE_TEST_WITH(next_in_line_is_granted_without_a_request, start, stage_end),
    SUITE_TEST_WITH(deeper_waiter_lists_once_when_woken, start, stage_end),
    SUITE_TEST_WITH(release_wakes_one_of_eight_sessions, start, stage_end),
    SUITE_TEST_WITH(release_wakes_one_of_a_thousand_waiters, start, stage_end),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_cost", tests);
}
