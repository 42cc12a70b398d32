/* The hold limit: whoever holds for so long has lost the lock, and others get it. */
#include "server/lock_stage.h"

#include "lock/lock_state.h"
#include "support/eventually.h"
#include "support/suite.h"
#include "zklock_cohort.h"

#include <stdio.h>

enum { SHORT_MS = 200, QUEUE_MS = 2000 * ZKLOCK_TEST_SLOWNESS, LONG_MS = 600000 };

static zklock_session *outside;

static void start(void)
{
    stage_start();
    outside = stage_open_outside();
}

static zklock_options with_limit(int64_t hold_limit_ms)
{
    zklock_options options;

    zklock_options_init(&options);
    options.hold_limit_ms = hold_limit_ms;
    return options;
}

static struct contender *limited(zklock_session *session, int64_t hold_limit_ms)
{
    zklock_options options = with_limit(hold_limit_ms);

    return contender_new_with(session, STAGE_PATH, &options);
}

static bool wait_nobody_queues(void)
{
    return observer_wait_count(stage.observer, STAGE_PATH, 0, STAGE_LIMIT_MS);
}

static void hold_limit_is_a_loss_of_its_own(void)
{
    struct contender *holder = limited(stage.session, SHORT_MS);
    zklock_loss loss = ZKLOCK_LOSS_NONE;

    contender_hold(holder);
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_HOLD_LIMIT);
    CU_ASSERT_FALSE(zklock_is_held(holder->lock));
    CU_ASSERT_EQUAL(zklock_remaining_ms(holder->lock), 0);
    CU_ASSERT_EQUAL(zklock_state_get(holder->lock, &loss), ZKLOCK_STATE_LOST);
    CU_ASSERT_EQUAL(loss, ZKLOCK_LOSS_HOLD_LIMIT);
    CU_ASSERT_TRUE(wait_nobody_queues());
    CU_ASSERT_EQUAL(zklock_acquire(holder->lock, -1), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, -1), ZKLOCK_LOST);
    contender_hold(holder);
}

static void next_one_is_granted_though_the_owner_has_not_released(void)
{
    struct contender *holder = limited(stage.session, QUEUE_MS);
    struct contender *next = contender_new(outside, STAGE_PATH);

    contender_hold(holder);
    contender_queue(next);
    CU_ASSERT_EQUAL(contender_result(next), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_state_get(holder->lock, NULL), ZKLOCK_STATE_LOST);
    CU_ASSERT_TRUE(contender_token(next) > contender_token(holder));
    CU_ASSERT_EQUAL(zklock_release_send(holder->lock), ZKLOCK_LOST);
    CU_ASSERT_TRUE(zklock_is_held(next->lock));
}

static void remaining_time_ends_with_the_hold_limit(void)
{
    struct contender *holder = limited(stage.session, STAGE_TIMEOUT_MS / 4);
    struct contender *other = limited(outside, LONG_MS);

    contender_hold(holder);
    CU_ASSERT_TRUE(zklock_remaining_ms(holder->lock) <= STAGE_TIMEOUT_MS / 4);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_hold(other);
    CU_ASSERT_TRUE(zklock_remaining_ms(other->lock) <= STAGE_TIMEOUT_MS);
}

static void release_in_time_is_no_loss(void)
{
    struct contender *holder = limited(stage.session, LONG_MS);

    contender_hold(holder);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_hold(holder);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_FALSE(contender_heard(holder, ZKLOCK_EVENT_LOST));
}

static int64_t end_of_hold(struct contender *contender)
{
    zkl_session_lock(contender->session);
    int64_t ends_ns = contender->lock->attempt->hold_ends_ns;
    zkl_session_unlock(contender->session);
    return ends_ns;
}

/* The first one holds for longer than the limit of the second, who waits behind it. */
static void hold_limit_counts_from_the_grant(void)
{
    struct contender *holder = limited(stage.session, QUEUE_MS);
    struct contender *next = limited(outside, QUEUE_MS / 2);

    contender_hold(holder);
    contender_queue(next);
    CU_ASSERT_EQUAL(end_of_hold(next), ZKL_NEVER);
    CU_ASSERT_EQUAL(contender_result(next), ZKLOCK_OK);
    CU_ASSERT_NOT_EQUAL(end_of_hold(next), ZKL_NEVER);
    CU_ASSERT_EQUAL(contender_await_event(next, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_HOLD_LIMIT);
}

/* By the clock, before the timer has had its turn. */
static void late_release_says_that_the_lock_was_lost(void)
{
    struct contender *holder = limited(stage.session, LONG_MS);

    contender_hold(holder);
    zkl_session_lock(stage.session);
    holder->lock->attempt->hold_ends_ns = zkl_session_now(stage.session);
    zkl_session_unlock(stage.session);
    CU_ASSERT_FALSE(zklock_is_held(holder->lock));
    CU_ASSERT_EQUAL(zklock_state_get(holder->lock, NULL), ZKLOCK_STATE_LOST);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_HOLD_LIMIT);
    CU_ASSERT_TRUE(wait_nobody_queues());
}

static void hold_limit_ends_each_kind_of_hold(void)
{
    static const struct {
        const char *path;
        zklock_mode mode;
        unsigned permits;
    } kinds[] = {
        {STAGE_PATH "/shared", ZKLOCK_MODE_SHARED, 0},
        {STAGE_PATH "/latch", ZKLOCK_MODE_LEADER_LATCH, 0},
        {STAGE_PATH "/permits", ZKLOCK_MODE_SEMAPHORE, 2},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        zklock_options options = with_limit(SHORT_MS);
        options.mode = kinds[i].mode;
        options.permits = kinds[i].permits;
        struct contender *holder = contender_new_with(stage.session, kinds[i].path, &options);
        contender_hold(holder);
        CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_HOLD_LIMIT);
        CU_ASSERT_EQUAL(zklock_wait_free(outside, kinds[i].path, STAGE_LIMIT_MS), ZKLOCK_OK);
        CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
    }
}

static void hold_limit_ends_a_downgraded_hold(void)
{
    zklock_options options = with_limit(5 * SHORT_MS);

    options.style = ZKLOCK_STYLE_CURATOR_RW;
    struct contender *holder = contender_new_with(stage.session, STAGE_PATH, &options);
    contender_hold(holder);
    zklock_status status = zklock_downgrade(holder->lock, STAGE_LIMIT_MS);
    CU_ASSERT_TRUE(status == ZKLOCK_OK || status == ZKLOCK_LOST);
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_HOLD_LIMIT);
    CU_ASSERT_TRUE(wait_nobody_queues());
    CU_ASSERT_EQUAL(zklock_downgrade(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
}

static void holder_that_is_cut_off_meanwhile_deletes_when_it_is_connected(void)
{
    struct contender *holder = limited(stage.session, SHORT_MS);

    fault_proxy_hold_request(stage.proxy, FAULT_OP_DELETE, 1);
    contender_hold(holder);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_HOLD_LIMIT);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
    fault_proxy_cut(stage.proxy);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_TRUE(wait_nobody_queues());
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
}

static bool is_lost(void *multi)
{
    zklock_loss loss;

    return zklock_multi_state_get(multi, &loss) == ZKLOCK_STATE_LOST && loss == ZKLOCK_LOSS_HOLD_LIMIT;
}

/* The first part is held for longer than its limit until the second one is. */
static void several_locks_count_from_the_last_grant(void)
{
    zklock_options options = with_limit(2 * SHORT_MS);
    zklock_options others = with_limit(4 * SHORT_MS);
    struct contender *other = contender_new_with(outside, STAGE_PATH "/b", &others);
    zklock_multi *multi = NULL;

    contender_hold(other);
    CU_ASSERT_EQUAL_FATAL(zklock_multi_new(stage.session, &multi), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_add(multi, STAGE_PATH "/a", &options), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_add(multi, STAGE_PATH "/b", NULL), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_await_event(other, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_HOLD_LIMIT);
    CU_ASSERT_TRUE(zklock_multi_remaining_ms(multi) <= 2 * SHORT_MS);
    CU_ASSERT_TRUE(eventually(is_lost, multi, STAGE_LIMIT_MS));
    CU_ASSERT_FALSE(zklock_multi_is_held(multi));
    CU_ASSERT_EQUAL(zklock_multi_release(multi, STAGE_LIMIT_MS), ZKLOCK_LOST);
    zklock_multi_free(multi);
}

static bool is_taken_away(void *cohort)
{
    return zklock_state_get(zklock_cohort_lock(cohort), NULL) == ZKLOCK_STATE_LOST;
}

static void thread_of_a_cohort_loses_by_the_hold_limit(void)
{
    zklock_options options = with_limit(SHORT_MS);
    zklock_cohort *cohort = NULL;

    CU_ASSERT_EQUAL_FATAL(zklock_cohort_new(stage.session, STAGE_PATH, &options, NULL, &cohort), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_cohort_acquire(cohort, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_cohort_remaining_ms(cohort) <= SHORT_MS);
    CU_ASSERT_TRUE(eventually(is_taken_away, cohort, STAGE_LIMIT_MS));
    CU_ASSERT_FALSE(zklock_cohort_is_held(cohort));
    CU_ASSERT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_LOST);
    CU_ASSERT_EQUAL(zklock_cohort_acquire(cohort, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_NOT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_NOT_HELD);
    zklock_cohort_free(cohort);
}

#define TEST(name) SUITE_TEST_WITH(name, start, stage_end)

static const struct suite_test tests[] = {
    TEST(hold_limit_is_a_loss_of_its_own),
    TEST(next_one_is_granted_though_the_owner_has_not_released),
    TEST(remaining_time_ends_with_the_hold_limit),
    TEST(release_in_time_is_no_loss),
    TEST(hold_limit_counts_from_the_grant),
    TEST(late_release_says_that_the_lock_was_lost),
    TEST(hold_limit_ends_each_kind_of_hold),
    TEST(hold_limit_ends_a_downgraded_hold),
    TEST(holder_that_is_cut_off_meanwhile_deletes_when_it_is_connected),
    TEST(several_locks_count_from_the_last_grant),
    TEST(thread_of_a_cohort_loses_by_the_hold_limit),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_hold", tests);
}
