/* Losing a lock: a contender that somebody deletes, a holder that is cut off, a session that ends while waiting. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { SHORT_TIMEOUT_MS = 3000, SOON_MS = 5000, SLACK_MS = 3000 };

static struct contender *first;
static struct contender *second;
static struct contender *third;
static char node[OBSERVER_PATH_SIZE];

/* The first one's session goes through the proxy, the others' around it. */
static void start(void)
{
    zklock_session *outside;

    stage_start_without_session();
    stage.session = stage_open(fault_proxy_address(stage.proxy), SHORT_TIMEOUT_MS);
    outside = stage_open_outside();
    first = contender_new(stage.session, STAGE_PATH);
    second = contender_new(outside, STAGE_PATH);
    third = contender_new(outside, STAGE_PATH);
}

static void delete_node_of(struct contender *contender)
{
    contender_node(contender, node);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), ZOK);
}

/* ---------------------------------------------------------------- deleted by somebody else */

static void deleted_holder_is_told_at_once(void)
{
    zklock_loss loss = ZKLOCK_LOSS_NONE;

    contender_hold(first);
    delete_node_of(first);
    CU_ASSERT_TRUE(probe_wait_value(&first->events, ZKLOCK_EVENT_LOST, SOON_MS));
    CU_ASSERT_EQUAL(contender_await_event(first, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_REMOVED);
    CU_ASSERT_FALSE(zklock_is_held(first->lock));
    CU_ASSERT_EQUAL(zklock_state_get(first->lock, &loss), ZKLOCK_STATE_LOST);
    CU_ASSERT_EQUAL(loss, ZKLOCK_LOSS_REMOVED);
    CU_ASSERT_EQUAL(zklock_acquire(first->lock, -1), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(zklock_release(first->lock, -1), ZKLOCK_LOST);
    contender_hold(first);
}

/* The watch on the own node is planted behind the grant; here it comes too late. */
static void holder_deleted_before_its_watch_is_told_too(void)
{
    fault_proxy_hold_request(stage.proxy, FAULT_OP_GET_DATA, 1);
    contender_hold(first);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    delete_node_of(first);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(contender_await_event(first, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_REMOVED);
}

/* Nobody tells but the heartbeat. */
static void holder_without_the_event_is_told_by_the_heartbeat(void)
{
    contender_hold(first);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 1, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_EVENT, 1, FAULT_GO_ON);
    delete_node_of(first);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(contender_await_event(first, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_REMOVED);
}

static void deleted_waiter_is_told_and_the_one_behind_waits_on(void)
{
    contender_hold(second);
    contender_queue(first);
    contender_queue(third);
    delete_node_of(first);
    CU_ASSERT_EQUAL(contender_result(first), ZKLOCK_REMOVED);
    stage_fence(third->session);
    contender_await_state(third, ZKL_WAITING);
    CU_ASSERT_EQUAL(zklock_result(third->lock), ZKLOCK_PENDING);
    CU_ASSERT_TRUE(zklock_is_held(second->lock));
    CU_ASSERT_EQUAL(zklock_release(second->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(third), ZKLOCK_OK);
}

/* It may have seen the one ahead go before its own node did. */
static void check_that_waiter_is_told(struct contender *waiter)
{
    zklock_status result = contender_result(waiter);

    if (result == ZKLOCK_OK) {
        CU_ASSERT_EQUAL(contender_await_event(waiter, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_REMOVED);
    } else {
        CU_ASSERT_EQUAL(result, ZKLOCK_REMOVED);
    }
}

static void all_contenders_deleted_at_once_are_all_told(void)
{
    contender_hold(second);
    contender_queue(first);
    contender_queue(third);
    CU_ASSERT_EQUAL(observer_delete_below(stage.observer, STAGE_PATH), ZOK);
    CU_ASSERT_EQUAL(contender_await_event(second, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_REMOVED);
    check_that_waiter_is_told(first);
    check_that_waiter_is_told(third);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

/* ---------------------------------------------------------------- cut off */

/* What the contender must have been told before anybody can see its node gone. */
static void check_that_lost_comes_before_the_node_goes(void)
{
    while (observer_exists(stage.observer, node))
        CU_ASSERT_FALSE(contender_heard(second, ZKLOCK_EVENT_ENDED));
    CU_ASSERT_TRUE(contender_heard(first, ZKLOCK_EVENT_LOST));
    CU_ASSERT_FALSE(zklock_is_held(first->lock));
    CU_ASSERT_EQUAL(contender_await_event(first, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_LEASE);
    CU_ASSERT_EQUAL(contender_result(second), ZKLOCK_OK);
    CU_ASSERT_TRUE(contender_token(second) > contender_token(first));
}

static void check_cut_holder(enum fault_mood mood)
{
    int64_t start_ms;

    contender_hold(first);
    contender_queue(second);
    contender_node(first, node);
    start_ms = monotonic_ms();
    fault_proxy_set_mood(stage.proxy, mood);
    contender_await_event(first, ZKLOCK_EVENT_SUSPENDED);
    CU_ASSERT_EQUAL(zklock_state_get(first->lock, NULL), ZKLOCK_STATE_SUSPENDED);
    CU_ASSERT_TRUE(zklock_is_held(first->lock));
    check_that_lost_comes_before_the_node_goes();
    printf(" [%lld ms] ", (long long)(monotonic_ms() - start_ms));
    CU_ASSERT_TRUE(monotonic_ms() - start_ms < SHORT_TIMEOUT_MS + STAGE_TICK_MS + SLACK_MS);
}

static void holder_in_a_hole_is_told_before_its_node_goes(void)
{
    check_cut_holder(FAULT_HOLE);
}

static void holder_that_is_refused_is_told_before_its_node_goes(void)
{
    check_cut_holder(FAULT_DOWN);
}

/* Requests arrive and keep the session alive; the holder cannot know that. */
static void holder_that_hears_no_answer_is_told(void)
{
    contender_hold(first);
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE_TO_CLIENT);
    CU_ASSERT_EQUAL(contender_await_event(first, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_LEASE);
}

static void holder_in_a_hole_that_becomes_refusal_is_told(void)
{
    contender_hold(first);
    contender_queue(second);
    contender_node(first, node);
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    contender_await_event(first, ZKLOCK_EVENT_SUSPENDED);
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    check_that_lost_comes_before_the_node_goes();
}

static void short_cut_suspends_and_resumes_the_same_contender(void)
{
    int64_t session_id = stage_session_id(stage.session);

    contender_hold(first);
    contender_node(first, node);
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    contender_await_event(first, ZKLOCK_EVENT_SUSPENDED);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    contender_await_event(first, ZKLOCK_EVENT_RESUMED);
    CU_ASSERT_EQUAL(zklock_state_get(first->lock, NULL), ZKLOCK_STATE_HELD);
    CU_ASSERT_TRUE(observer_exists(stage.observer, node));
    CU_ASSERT_EQUAL(stage_session_id(stage.session), session_id);
    CU_ASSERT_FALSE(contender_heard(first, ZKLOCK_EVENT_LOST));
}

/* The lease is over a little before the session is: connected again in between, the node is there, the lock is not. */
static void contender_of_a_lost_lock_stays_until_it_is_released(void)
{
    contender_hold(first);
    contender_node(first, node);
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    contender_await_event(first, ZKLOCK_EVENT_LOST);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    if (zklock_session_wait_connected(stage.session, STAGE_LIMIT_MS) != ZKLOCK_OK)
        CU_FAIL("not connected again");
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(zklock_state_get(first->lock, NULL), ZKLOCK_STATE_LOST);
    CU_ASSERT_TRUE(observer_exists(stage.observer, node));
    CU_ASSERT_EQUAL(zklock_release(first->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
    CU_ASSERT_FALSE(observer_exists(stage.observer, node));
    contender_hold(first);
}

/* ---------------------------------------------------------------- expired while waiting */

/* Its dead node is passed by the holder's release and by a third one's grant; it must not take part in either. */
static void check_requeue(enum fault_mood mood)
{
    contender_hold(second);
    contender_queue(first);
    contender_node(first, node);
    fault_proxy_set_mood(stage.proxy, mood);
    CU_ASSERT_TRUE(observer_wait_gone(stage.observer, node, STAGE_LIMIT_MS));
    contender_queue(third);
    CU_ASSERT_EQUAL(zklock_release(second->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(third), ZKLOCK_OK);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    contender_await_event(first, ZKLOCK_EVENT_REQUEUED);
    contender_await_state(first, ZKL_WAITING);
    CU_ASSERT_EQUAL(zklock_result(first->lock), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(zklock_release(third->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(first), ZKLOCK_OK);
    CU_ASSERT_TRUE(contender_token(first) > contender_token(third));
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
}

static void waiter_that_expired_queues_again_and_says_so(void)
{
    check_requeue(FAULT_HOLE);
}

static void waiter_that_expired_while_it_heard_all_queues_again(void)
{
    check_requeue(FAULT_HOLE_TO_SERVER);
}

static void waiter_that_expired_while_it_was_refused_queues_again(void)
{
    check_requeue(FAULT_DOWN);
}

/* Nobody took the lock meanwhile: it is granted to the new contender, not to the dead one. */
static void front_waiter_that_expired_is_granted_by_a_new_node(void)
{
    contender_hold(second);
    contender_queue(first);
    contender_node(first, node);
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE_TO_SERVER);
    CU_ASSERT_TRUE(observer_wait_gone(stage.observer, node, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_release(second->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_result(first->lock), ZKLOCK_PENDING);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    CU_ASSERT_EQUAL(contender_result(first), ZKLOCK_OK);
    CU_ASSERT_TRUE(contender_heard(first, ZKLOCK_EVENT_REQUEUED));
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
}

#define TEST(test) SUITE_TEST_WITH(test, start, stage_end)

static const struct suite_test tests[] = {
    TEST(deleted_holder_is_told_at_once),
    TEST(holder_deleted_before_its_watch_is_told_too),
    TEST(holder_without_the_event_is_told_by_the_heartbeat),
    TEST(deleted_waiter_is_told_and_the_one_behind_waits_on),
    TEST(all_contenders_deleted_at_once_are_all_told),
    TEST(holder_in_a_hole_is_told_before_its_node_goes),
    TEST(holder_that_is_refused_is_told_before_its_node_goes),
    TEST(holder_that_hears_no_answer_is_told),
    TEST(holder_in_a_hole_that_becomes_refusal_is_told),
    TEST(short_cut_suspends_and_resumes_the_same_contender),
    TEST(contender_of_a_lost_lock_stays_until_it_is_released),
    TEST(waiter_that_expired_queues_again_and_says_so),
    TEST(waiter_that_expired_while_it_heard_all_queues_again),
    TEST(waiter_that_expired_while_it_was_refused_queues_again),
    TEST(front_waiter_that_expired_is_granted_by_a_new_node),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_loss", tests);
}
