/* Re-entry: the thread that holds acquires again, and releases as often. */
#include "server/lock_stage.h"

#include "support/suite.h"
#include "zklock_cohort.h"

#include <stdio.h>
#include <string.h>

static struct contender *holder;

static zklock_options reentrant(void)
{
    zklock_options options;

    zklock_options_init(&options);
    options.is_reentrant = true;
    return options;
}

static void start(void)
{
    zklock_options options = reentrant();

    stage_start();
    holder = contender_new_with(stage.session, STAGE_PATH, &options);
}

static zklock_status on_another_thread(zklock_status (*call)(zklock *, int64_t))
{
    struct blocking_call other;

    blocking_call_start(&other, holder, call, STAGE_LIMIT_MS);
    return blocking_call_join(&other);
}

static void enter_again(void)
{
    CU_ASSERT_EQUAL(zklock_acquire(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void owner_enters_again_without_a_request(void)
{
    contender_hold(holder);
    uint64_t token = contender_token(holder);
    stage_fence(stage.session);
    fault_proxy_reset_counts(stage.proxy);
    enter_again();
    CU_ASSERT_EQUAL(zklock_try(holder->lock, 0), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_entries(holder->lock), 3);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), 0);
    CU_ASSERT_EQUAL(contender_token(holder), token);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
}

static void last_of_as_many_releases_lets_go(void)
{
    contender_hold(holder);
    enter_again();
    enter_again();
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_release_send(holder->lock), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_EQUAL(zklock_entries(holder->lock), 1);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_entries(holder->lock), 0);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_NOT_HELD);
    contender_hold(holder);
    CU_ASSERT_EQUAL(zklock_entries(holder->lock), 1);
}

static zklock_status count_entries(zklock *lock, int64_t unused)
{
    (void)unused;
    return zklock_entries(lock) == 0 ? ZKLOCK_OK : ZKLOCK_INTERNAL;
}

static zklock_status upgrade(zklock *lock, int64_t unused)
{
    (void)unused;
    return zklock_upgrade(lock);
}

static void for_other_threads_it_is_held_by_somebody_else(void)
{
    contender_hold(holder);
    CU_ASSERT_EQUAL(on_another_thread(zklock_acquire), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(on_another_thread(zklock_try), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(on_another_thread(zklock_release), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(on_another_thread(zklock_downgrade), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(on_another_thread(upgrade), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(on_another_thread(count_entries), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(on_another_thread(zklock_acquire), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_acquire(holder->lock, STAGE_LIMIT_MS), ZKLOCK_ALREADY);
}

static void object_without_the_option_is_not_entered_again(void)
{
    struct contender *plain = contender_new(stage.session, STAGE_PATH);

    contender_hold(plain);
    CU_ASSERT_EQUAL(zklock_acquire(plain->lock, STAGE_LIMIT_MS), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(zklock_entries(plain->lock), 0);
    CU_ASSERT_EQUAL(zklock_release(plain->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void lost_lock_is_not_entered_again_and_released_as_often(void)
{
    char node[OBSERVER_PATH_SIZE];

    contender_hold(holder);
    enter_again();
    contender_node(holder, node);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), ZOK);
    contender_await_event(holder, ZKLOCK_EVENT_LOST);
    CU_ASSERT_EQUAL(zklock_acquire(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
    CU_ASSERT_EQUAL(zklock_entries(holder->lock), 2);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
    CU_ASSERT_EQUAL(zklock_state_get(holder->lock, NULL), ZKLOCK_STATE_LOST);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
    contender_hold(holder);
}

static void downgraded_lock_is_not_entered_again(void)
{
    zklock_options options = reentrant();

    options.style = ZKLOCK_STYLE_CURATOR_RW;
    struct contender *writer = contender_new_with(stage.session, STAGE_PATH, &options);
    contender_hold(writer);
    CU_ASSERT_EQUAL(zklock_acquire(writer->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_downgrade(writer->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_acquire(writer->lock, STAGE_LIMIT_MS), ZKLOCK_NO_UPGRADE);
    CU_ASSERT_EQUAL(zklock_entries(writer->lock), 2);
}

static void what_no_thread_waits_for_is_refused(void)
{
    zklock_options options = reentrant();
    zklock_multi *multi = NULL;
    zklock *lock = NULL;
    char detail[1200];

    CU_ASSERT_EQUAL(zklock_acquire_start(holder->lock, -1), ZKLOCK_BAD_ARGUMENT);
    zklock_detail(holder->lock, detail, sizeof detail);
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "belongs to the thread that waits"));
    CU_ASSERT_EQUAL_FATAL(zklock_multi_new(stage.session, &multi), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_add(multi, STAGE_PATH, &options), ZKLOCK_BAD_ARGUMENT);
    zklock_multi_detail(multi, detail, sizeof detail);
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "none is re-entrant"));
    zklock_multi_free(multi);
    options.mode = ZKLOCK_MODE_SEMAPHORE;
    CU_ASSERT_EQUAL(zklock_new(stage.session, STAGE_PATH, &options, &lock), ZKLOCK_BAD_ARGUMENT);
}

static void freed_object_lets_go_of_all_entries(void)
{
    contender_hold(holder);
    enter_again();
    contender_free_lock(holder);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 0, STAGE_LIMIT_MS));
}

static void owner_of_a_cohort_enters_again(void)
{
    zklock_options options = reentrant();
    zklock_cohort *cohort = NULL;

    CU_ASSERT_EQUAL_FATAL(zklock_cohort_new(stage.session, STAGE_PATH, &options, NULL, &cohort), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_cohort_acquire(cohort, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_cohort_acquire(cohort, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_entries(zklock_cohort_lock(cohort)), 2);
    CU_ASSERT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_cohort_is_held(cohort));
    CU_ASSERT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_OK);
    CU_ASSERT_FALSE(zklock_cohort_is_held(cohort));
    CU_ASSERT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_NOT_HELD);
    zklock_cohort_free(cohort);
}

#define TEST(name) SUITE_TEST_WITH(name, start, stage_end)

static const struct suite_test tests[] = {
    TEST(owner_enters_again_without_a_request),
    TEST(last_of_as_many_releases_lets_go),
    TEST(for_other_threads_it_is_held_by_somebody_else),
    TEST(object_without_the_option_is_not_entered_again),
    TEST(lost_lock_is_not_entered_again_and_released_as_often),
    TEST(downgraded_lock_is_not_entered_again),
    TEST(what_no_thread_waits_for_is_refused),
    TEST(freed_object_lets_go_of_all_entries),
    TEST(owner_of_a_cohort_enters_again),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_reentry", tests);
}
