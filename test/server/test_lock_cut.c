/* What an owner does while the connection is cut: releasing, running into limits, freeing, closing. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>

enum { LIMIT_MS = 1000, WIDE_MS = 3000 };

static struct contender *contender;
static char node[OBSERVER_PATH_SIZE];

static void start(void)
{
    stage_start();
    contender = contender_new(stage.session, STAGE_PATH);
    contender_hold(contender);
    contender_node(contender, node);
}

/* In a way that the session has noticed. */
static void cut(void)
{
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    contender_await_event(contender, ZKLOCK_EVENT_SUSPENDED);
}

static void heal(void)
{
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
}

/* ---------------------------------------------------------------- releasing */

static void release_during_a_cut_is_done_when_the_connection_is_back(void)
{
    struct blocking_call call;

    cut();
    blocking_call_start(&call, contender, zklock_release, STAGE_LIMIT_MS);
    contender_await_state(contender, ZKL_DELETING);
    CU_ASSERT_TRUE(observer_exists(stage.observer, node));
    heal();
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_OK);
    CU_ASSERT_FALSE(observer_exists(stage.observer, node));
    CU_ASSERT_FALSE(contender_heard(contender, ZKLOCK_EVENT_LOST));
}

static void release_that_nobody_confirms_ends_at_its_limit(void)
{
    int64_t start_ms;

    cut();
    start_ms = monotonic_ms();
    CU_ASSERT_EQUAL(zklock_release(contender->lock, LIMIT_MS), ZKLOCK_UNCONFIRMED);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms >= LIMIT_MS - 1);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms < LIMIT_MS + WIDE_MS);
    CU_ASSERT_FALSE(zklock_is_held(contender->lock));
    heal();
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_FALSE(observer_exists(stage.observer, node));
}

static void release_in_a_hole_that_nobody_confirms_ends_at_its_limit(void)
{
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, LIMIT_MS), ZKLOCK_UNCONFIRMED);
    heal();
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_FALSE(observer_exists(stage.observer, node));
}

static void lock_freed_during_a_cut_is_released_when_the_connection_is_back(void)
{
    cut();
    contender_free_lock(contender);
    CU_ASSERT_TRUE(observer_exists(stage.observer, node));
    heal();
    CU_ASSERT_TRUE(observer_wait_gone(stage.observer, node, STAGE_TIMEOUT_MS / 2));
}

static bool is_suspended_while_connected(void *unused)
{
    zklock_session_info info;

    (void)unused;
    return zklock_state_get(contender->lock, NULL) == ZKLOCK_STATE_SUSPENDED &&
           zklock_session_info_get(stage.session, &info) == ZKLOCK_OK && info.is_connected;
}

static void try_after_a_release_that_nobody_confirmed_is_not_behind_it(void)
{
    struct blocking_call call;

    cut();
    CU_ASSERT_EQUAL(zklock_release(contender->lock, 0), ZKLOCK_UNCONFIRMED);
    blocking_call_start(&call, contender, zklock_try, STAGE_LIMIT_MS);
    contender_await_state(contender, ZKL_CREATING);
    heal();
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_OK);
    CU_ASSERT_FALSE(observer_exists(stage.observer, node));
}

/* Also the one that follows a reconnect at once: the server takes the connection and answers nothing on it. */
static void each_silence_is_told(void)
{
    fault_proxy_set_mood(stage.proxy, FAULT_STALL);
    contender_await_event(contender, ZKLOCK_EVENT_SUSPENDED);
    CU_ASSERT_EQUAL(zklock_state_get(contender->lock, NULL), ZKLOCK_STATE_SUSPENDED);
    fault_proxy_cut(stage.proxy);
    fault_proxy_hold_request(stage.proxy, FAULT_OP_EVERY, 1);
    heal();
    contender_await_event(contender, ZKLOCK_EVENT_RESUMED);
    CU_ASSERT_TRUE(eventually(is_suspended_while_connected, NULL, STAGE_TIMEOUT_MS / 2));
    fault_proxy_release(stage.proxy);
}

static void release_whose_answer_is_lost_is_a_release(void)
{
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_DELETE, 1, FAULT_THEN_CUT);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_FALSE(observer_exists(stage.observer, node));
}

static void release_whose_request_is_lost_is_sent_again(void)
{
    fault_proxy_drop_request(stage.proxy, FAULT_OP_DELETE, 1, FAULT_THEN_CUT);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_FALSE(observer_exists(stage.observer, node));
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_DELETE), 2);
}

/* The client library calls this a run-time inconsistency. */
static void release_whose_answer_alone_is_lost_is_a_release(void)
{
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_DELETE, 1, FAULT_GO_ON);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_FALSE(observer_exists(stage.observer, node));
}

/* ---------------------------------------------------------------- limits */

enum { LOCKS = 5 };

/* Several locks of one process and one session, each behind a holder outside. */
static void limits_during_a_cut_are_kept_and_what_is_left_is_removed_later(void)
{
    zklock_session *outside = stage_open_outside();
    struct contender *holders[LOCKS], *waiters[LOCKS], *next[LOCKS];
    struct blocking_call calls[LOCKS];
    char path[64];

    for (int i = 0; i < LOCKS; i++) {
        snprintf(path, sizeof(path), "/stage/several-%d", i);
        holders[i] = contender_new(outside, path);
        contender_hold(holders[i]);
        waiters[i] = contender_new(stage.session, path);
        blocking_call_start(&calls[i], waiters[i], zklock_acquire, LIMIT_MS);
        contender_await_state(waiters[i], ZKL_WAITING);
        next[i] = contender_new(outside, path);
        contender_queue(next[i]);
    }
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    for (int i = 0; i < LOCKS; i++)
        CU_ASSERT_EQUAL(blocking_call_join(&calls[i]), ZKLOCK_TIMEOUT);
    CU_ASSERT_EQUAL(observer_count(stage.observer, path), 3);
    heal();
    for (int i = 0; i < LOCKS; i++) {
        contender_await_event(waiters[i], ZKLOCK_EVENT_RELEASED);
        CU_ASSERT_EQUAL(zklock_release(holders[i]->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
        CU_ASSERT_EQUAL(contender_result(next[i]), ZKLOCK_OK);
    }
    CU_ASSERT_EQUAL(observer_count(stage.observer, path), 1);
}

/* Neither the create nor its answer got through, and the limit has passed when they do. */
static void create_under_way_at_the_limit_is_found_and_removed(void)
{
    struct contender *late = contender_new(stage.session, "/stage/late");

    CU_ASSERT_EQUAL(observer_create(stage.observer, "/stage/late", "", 0, NULL), ZOK);
    fault_proxy_set_mood(stage.proxy, FAULT_STALL);
    CU_ASSERT_EQUAL(zklock_acquire(late->lock, LIMIT_MS), ZKLOCK_NO_SERVER);
    heal();
    contender_await_event(late, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_EQUAL(observer_count(stage.observer, "/stage/late"), 0);
    CU_ASSERT_TRUE(observer_exists(stage.observer, node));
}

/* ---------------------------------------------------------------- closing */

static void close_during_a_cut_ends_within_its_bound_and_says_so(void)
{
    int64_t start_ms;

    cut();
    start_ms = monotonic_ms();
    CU_ASSERT_EQUAL(stage_close(stage.session, LIMIT_MS), ZKLOCK_UNCONFIRMED);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms < LIMIT_MS + WIDE_MS);
    CU_ASSERT_EQUAL(contender_await_event(contender, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_CLOSED);
    CU_ASSERT_TRUE(observer_wait_gone(stage.observer, node, 2 * STAGE_TIMEOUT_MS));
}

static void close_in_a_hole_ends_within_its_bound_and_says_so(void)
{
    int64_t start_ms;

    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    start_ms = monotonic_ms();
    CU_ASSERT_EQUAL(stage_close(stage.session, LIMIT_MS), ZKLOCK_UNCONFIRMED);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms < LIMIT_MS + 2 * WIDE_MS);
}

static void close_in_time_for_the_reconnect_leaves_nothing(void)
{
    struct contender *observed = contender;

    cut();
    heal();
    CU_ASSERT_EQUAL(stage_close(stage.session, STAGE_TIMEOUT_MS / 2), ZKLOCK_OK);
    CU_ASSERT_FALSE(observer_exists(stage.observer, node));
    CU_ASSERT_EQUAL(zklock_acquire(observed->lock, -1), ZKLOCK_CLOSED);
}

#define TEST(test) SUITE_TEST_WITH(test, start, stage_end)

static const struct suite_test tests[] = {
    TEST(release_during_a_cut_is_done_when_the_connection_is_back),
    TEST(release_that_nobody_confirms_ends_at_its_limit),
    TEST(release_in_a_hole_that_nobody_confirms_ends_at_its_limit),
    TEST(lock_freed_during_a_cut_is_released_when_the_connection_is_back),
    TEST(try_after_a_release_that_nobody_confirmed_is_not_behind_it),
    TEST(each_silence_is_told),
    TEST(release_whose_answer_is_lost_is_a_release),
    TEST(release_whose_request_is_lost_is_sent_again),
    TEST(release_whose_answer_alone_is_lost_is_a_release),
    TEST(limits_during_a_cut_are_kept_and_what_is_left_is_removed_later),
    TEST(create_under_way_at_the_limit_is_found_and_removed),
    TEST(close_during_a_cut_ends_within_its_bound_and_says_so),
    TEST(close_in_a_hole_ends_within_its_bound_and_says_so),
    TEST(close_in_time_for_the_reconnect_leaves_nothing),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_cut", tests);
}
