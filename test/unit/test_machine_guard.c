/* A lease of a semaphore, which is made only under a guard, and the guard itself. */
#include "machine_story.h"

static const struct zkl_place FULL = {.own_is_present = true, .ahead_count = 1, .ahead = -1};
static const struct zkl_place OTHER_LIMIT = {.own_is_present = true, .has_other_limit = true, .ahead = -1};

static void go_unguarded(void)
{
    init();
    machine.is_guarded = true;
    tell(ZKL_EV_START);
}

static void go_guarded(void)
{
    go_unguarded();
    tell(ZKL_EV_GUARDED);
}

static void go_waiting_in_front(void)
{
    go_guarded();
    placed(ZKL_EV_CREATED, FULL);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
}

static void nothing_is_made_before_the_guard_is_had(void)
{
    go_unguarded();
    EXPECT_STATE(ZKL_CREATING);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_DISCONNECTED);
    tell(ZKL_EV_CONNECTED);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_GUARDED);
    EXPECT_ASK(ZKL_ASK_CREATE);
}

static void guard_that_is_had_while_cut_off_counts_afterwards(void)
{
    go_unguarded();
    tell(ZKL_EV_DISCONNECTED);
    tell(ZKL_EV_GUARDED);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_CONNECTED);
    EXPECT_ASK(ZKL_ASK_CREATE);
}

static void fresh_session_needs_the_guard_again(void)
{
    go_waiting_in_front();
    EXPECT_STATE(ZKL_WAITING);
    tell(ZKL_EV_EXPIRED);
    EXPECT_TOLD(ZKL_NOTICE_REQUEUED, ZKL_OUTCOME_OK);
    tell(ZKL_EV_CONNECTED);
    EXPECT_STATE(ZKL_CREATING);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_GUARDED);
    EXPECT_ASK(ZKL_ASK_CREATE);
}

/* Nobody was told to create yet: nothing was queued, and nothing is said of it. */
static void session_that_ends_before_the_guard_changes_nothing(void)
{
    go_unguarded();
    tell(ZKL_EV_EXPIRED);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    tell(ZKL_EV_CONNECTED);
    EXPECT_ASK(ZKL_ASK_NOTHING);
}

static void change_among_the_leases_is_listed_and_no_grant(void)
{
    go_waiting_in_front();
    tell(ZKL_EV_AHEAD_GONE);
    EXPECT_STATE(ZKL_LISTING);
    EXPECT_ASK(ZKL_ASK_LIST);
    placed(ZKL_EV_LISTED, FULL);
    EXPECT_ASK(ZKL_ASK_WATCH);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NO_NODE);
    EXPECT_ASK(ZKL_ASK_LIST);
    placed(ZKL_EV_LISTED, AT_FRONT);
    EXPECT_TOLD(ZKL_NOTICE_GRANTED, ZKL_OUTCOME_OK);
}

static void limit_of_time_before_the_guard_says_whether_others_wait(void)
{
    go_unguarded();
    feed((struct zkl_event){.type = ZKL_EV_GIVE_UP, .why = ZKL_OUTCOME_LIMIT, .guard_is_behind = true});
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_LIMIT);
    EXPECT_STATE(ZKL_GONE);
    go_unguarded();
    give_up(ZKL_OUTCOME_LIMIT);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_NO_SERVER);
}

static void other_limit_ends_the_acquire(void)
{
    go_guarded();
    placed(ZKL_EV_CREATED, OTHER_LIMIT);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_OTHER_LIMIT);
    EXPECT_STATE(ZKL_DELETING);
    go_unguarded();
    give_up(ZKL_OUTCOME_OTHER_LIMIT);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_OTHER_LIMIT);
    EXPECT_STATE(ZKL_GONE);
}

static void guard_that_was_free_is_not_watched(void)
{
    init();
    machine.is_guard = true;
    tell(ZKL_EV_START);
    placed(ZKL_EV_CREATED, AT_FRONT);
    EXPECT_STATE(ZKL_HELD);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    CU_ASSERT_FALSE(zkl_machine_awaits_look(&machine));
    tell(ZKL_EV_RELEASE);
    EXPECT_ASK(ZKL_ASK_DELETE);
}

static const struct suite_test tests[] = {
    SUITE_TEST(nothing_is_made_before_the_guard_is_had),
    SUITE_TEST(guard_that_is_had_while_cut_off_counts_afterwards),
    SUITE_TEST(fresh_session_needs_the_guard_again),
    SUITE_TEST(session_that_ends_before_the_guard_changes_nothing),
    SUITE_TEST(change_among_the_leases_is_listed_and_no_grant),
    SUITE_TEST(limit_of_time_before_the_guard_says_whether_others_wait),
    SUITE_TEST(other_limit_ends_the_acquire),
    SUITE_TEST(guard_that_was_free_is_not_watched),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "machine_guard", tests);
}
