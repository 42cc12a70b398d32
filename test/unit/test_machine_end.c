/* The lease, the loss, the release. */
#include "machine_story.h"

static void nothing_is_granted_without_a_lease(void)
{
    go_creating();
    has_lease = false;
    placed(ZKL_EV_CREATED, AT_FRONT);
    EXPECT_STATE(ZKL_WATCHING);
    EXPECT_ASK(ZKL_ASK_WATCH_OWN);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_WAITING);
    go_waiting_for_lease();
    EXPECT_STATE(ZKL_WAITING);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    go_watching();
    has_lease = false;
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NO_NODE);
    EXPECT_STATE(ZKL_WAITING);
    go_surveying();
    has_lease = false;
    placed(ZKL_EV_SURVEYED, AT_FRONT);
    EXPECT_STATE(ZKL_WATCHING);
}

static void lease_that_was_earned_at_the_front_lists_before_the_grant(void)
{
    go_waiting_for_lease();
    has_lease = true;
    tell(ZKL_EV_LEASED);
    EXPECT_STATE(ZKL_LISTING);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    placed(ZKL_EV_LISTED, AT_FRONT);
    EXPECT_STATE(ZKL_HELD);
}

static void lease_that_ends_before_the_listing_is_waited_for_again(void)
{
    go_waiting_for_lease();
    has_lease = true;
    tell(ZKL_EV_LEASED);
    has_lease = false;
    placed(ZKL_EV_LISTED, AT_FRONT);
    EXPECT_STATE(ZKL_WAITING);
    has_lease = true;
    tell(ZKL_EV_LEASED);
    EXPECT_STATE(ZKL_LISTING);
}

static void lease_that_was_earned_during_the_watch_flight_lists_before_the_grant(void)
{
    go_creating();
    has_lease = false;
    placed(ZKL_EV_CREATED, AT_FRONT);
    has_lease = true;
    tell(ZKL_EV_LEASED);
    EXPECT_STATE(ZKL_WATCHING);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_LISTING);
    placed(ZKL_EV_LISTED, AT_FRONT);
    EXPECT_STATE(ZKL_HELD);
}

static void waiter_at_the_front_whose_node_changes_looks_at_it_again(void)
{
    go_waiting_for_lease();
    tell(ZKL_EV_OWN_CHANGED);
    EXPECT_ASK(ZKL_ASK_WATCH_OWN);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_WAITING);
    tell(ZKL_EV_AHEAD_GONE);
    tell(ZKL_EV_AHEAD_CHANGED);
    EXPECT_STATE(ZKL_WAITING);
}

static void lease_that_ends_while_waiting_costs_no_place(void)
{
    go_waiting();
    has_lease = false;
    tell(ZKL_EV_LAPSED);
    EXPECT_STATE(ZKL_WAITING);
    has_lease = true;
    tell(ZKL_EV_LEASED);
    EXPECT_STATE(ZKL_WAITING);
    tell(ZKL_EV_AHEAD_GONE);
    EXPECT_STATE(ZKL_HELD);
}

static void holder_without_lease_has_lost_and_stays_so(void)
{
    go_held();
    has_lease = false;
    tell(ZKL_EV_LAPSED);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_LEASE);
    has_lease = true;
    tell(ZKL_EV_LEASED);
    tell(ZKL_EV_CONNECTED);
    EXPECT_STATE(ZKL_LOST);
    tell(ZKL_EV_OWN_GONE);
    tell(ZKL_EV_EXPIRED);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    EXPECT_STATE(ZKL_LOST);
}

static void each_loss_says_why(void)
{
    go_held();
    tell(ZKL_EV_OWN_GONE);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_REMOVED);
    go_held();
    has_lease = false;
    tell(ZKL_EV_OWN_GONE);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_LEASE);
    go_held();
    tell(ZKL_EV_EXPIRED);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_EXPIRED);
    go_held();
    tell(ZKL_EV_OWN_CHANGED);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_REMOVED);
}

static void holder_asks_again_for_its_own_watch(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, AT_FRONT);
    tell(ZKL_EV_LOOK);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_HELD);
    EXPECT_ASK(ZKL_ASK_WATCH_OWN);
}

static void release_deletes_and_tells(void)
{
    go_deleting();
    EXPECT_ASK(ZKL_ASK_DELETE);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_GONE);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_OK);
}

static void release_during_a_cut_deletes_after_it(void)
{
    go_held();
    tell(ZKL_EV_DISCONNECTED);
    tell(ZKL_EV_RELEASE);
    EXPECT_STATE(ZKL_DELETING);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_CONNECTED);
    EXPECT_ASK(ZKL_ASK_DELETE);
}

static void delete_with_an_unknown_fate_is_sent_until_it_is_certain(void)
{
    go_deleting();
    answer(ZKL_EV_DELETED, ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_DELETING);
    EXPECT_ASK(ZKL_ASK_DELETE);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_OK);
}

static void first_delete_that_finds_no_node_says_that_the_lock_was_lost(void)
{
    go_deleting();
    answer(ZKL_EV_DELETED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_LOST);
}

static void delete_that_was_not_sent_is_no_delete(void)
{
    go_deleting();
    answer(ZKL_EV_UNSENT, ZKL_ANSWER_NONE, ZKL_ANSWER_NONE);
    tell(ZKL_EV_RETRY);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_LOST);
}

static void denied_delete_is_told(void)
{
    go_deleting();
    answer(ZKL_EV_DELETED, ZKL_ANSWER_DENIED, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_DENIED);
    CU_ASSERT_TRUE(did.node_stays);
    go_deleting();
    answer(ZKL_EV_DELETED, ZKL_ANSWER_REFUSED, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_REFUSED);
    CU_ASSERT_TRUE(did.node_stays);
}

static void denied_delete_after_a_failed_acquire_leaves_the_node_to_the_session(void)
{
    go_waiting();
    give_up(ZKL_OUTCOME_CANCELLED);
    CU_ASSERT_FALSE(did.node_stays);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_DENIED, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_GONE);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    CU_ASSERT_TRUE(did.node_stays);
}

static void release_of_a_lost_lock_says_so(void)
{
    go_lost();
    tell(ZKL_EV_RELEASE);
    EXPECT_ASK(ZKL_ASK_DELETE);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_LOST);
    go_held();
    tell(ZKL_EV_OWN_GONE);
    tell(ZKL_EV_RELEASE);
    EXPECT_STATE(ZKL_GONE);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_LOST);
}

/* The clock says so before anybody was told. */
static void release_without_a_lease_says_that_the_lock_was_lost(void)
{
    go_held();
    has_lease = false;
    tell(ZKL_EV_RELEASE);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_LOST);
}

static void contender_that_expired_waits_again_on_the_next_session(void)
{
    go_waiting();
    tell(ZKL_EV_EXPIRED);
    EXPECT_TOLD(ZKL_NOTICE_REQUEUED, ZKL_OUTCOME_OK);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_CONNECTED);
    EXPECT_ASK(ZKL_ASK_CREATE);
    placed(ZKL_EV_CREATED, AT_FRONT);
    EXPECT_STATE(ZKL_HELD);
}

/* ---------------------------------------------------------------- the hold limit */

static void go_overdue(void)
{
    go_held();
    tell(ZKL_EV_HOLD_OVER);
}

static void hold_limit_ends_the_hold_and_deletes_at_once(void)
{
    go_overdue();
    EXPECT_STATE(ZKL_LOST);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_HOLD_LIMIT);
    EXPECT_ASK(ZKL_ASK_DELETE);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_LOST);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_RELEASE);
    EXPECT_STATE(ZKL_GONE);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_LOST);
}

/* No answer that there is: nothing is concluded from it. */
static void unknown_answer_to_the_delete_of_a_hold_limit_changes_nothing(void)
{
    struct zkl_machine lost = {.state = ZKL_LOST, .is_in_flight = true, .flight = 1, .node_is_known = true};

    init();
    machine = lost;
    answer(ZKL_EV_DELETED, (enum zkl_answer)99, ZKL_ANSWER_NONE);
    CU_ASSERT_EQUAL(machine.state, ZKL_LOST);
    CU_ASSERT_TRUE(machine.node_is_known);
}

static void hold_limit_concerns_holders_alone(void)
{
    go_waiting();
    tell(ZKL_EV_HOLD_OVER);
    EXPECT_STATE(ZKL_WAITING);
    go_lost();
    tell(ZKL_EV_HOLD_OVER);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    EXPECT_ASK(ZKL_ASK_NOTHING);
}

static void hold_limit_deletes_until_it_is_certain(void)
{
    go_held();
    tell(ZKL_EV_DISCONNECTED);
    tell(ZKL_EV_HOLD_OVER);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_CONNECTED);
    EXPECT_ASK(ZKL_ASK_DELETE);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_NONE);
    EXPECT_ASK(ZKL_ASK_DELETE);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NONE);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    EXPECT_STATE(ZKL_LOST);
}

static void release_during_the_delete_of_a_hold_limit_deletes_itself(void)
{
    go_overdue();
    tell(ZKL_EV_RELEASE);
    EXPECT_STATE(ZKL_DELETING);
    EXPECT_ASK(ZKL_ASK_DELETE);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_LOST);
}

/* Or it would be asked again and again. */
static void delete_that_a_hold_limit_is_denied_is_left_to_the_release(void)
{
    static const enum zkl_answer refusals[] = {ZKL_ANSWER_DENIED, ZKL_ANSWER_REFUSED, ZKL_ANSWER_NONE};

    for (int i = 0; i < 3; i++) {
        go_overdue();
        answer(ZKL_EV_DELETED, refusals[i], ZKL_ANSWER_NONE);
        EXPECT_STATE(ZKL_LOST);
        EXPECT_ASK(ZKL_ASK_NOTHING);
        tell(ZKL_EV_RELEASE);
        EXPECT_ASK(ZKL_ASK_DELETE);
    }
}

static const struct suite_test tests[] = {
    SUITE_TEST(nothing_is_granted_without_a_lease),
    SUITE_TEST(lease_that_was_earned_at_the_front_lists_before_the_grant),
    SUITE_TEST(lease_that_ends_before_the_listing_is_waited_for_again),
    SUITE_TEST(lease_that_was_earned_during_the_watch_flight_lists_before_the_grant),
    SUITE_TEST(waiter_at_the_front_whose_node_changes_looks_at_it_again),
    SUITE_TEST(lease_that_ends_while_waiting_costs_no_place),
    SUITE_TEST(holder_without_lease_has_lost_and_stays_so),
    SUITE_TEST(each_loss_says_why),
    SUITE_TEST(holder_asks_again_for_its_own_watch),
    SUITE_TEST(release_deletes_and_tells),
    SUITE_TEST(release_during_a_cut_deletes_after_it),
    SUITE_TEST(delete_with_an_unknown_fate_is_sent_until_it_is_certain),
    SUITE_TEST(first_delete_that_finds_no_node_says_that_the_lock_was_lost),
    SUITE_TEST(delete_that_was_not_sent_is_no_delete),
    SUITE_TEST(denied_delete_is_told),
    SUITE_TEST(denied_delete_after_a_failed_acquire_leaves_the_node_to_the_session),
    SUITE_TEST(release_of_a_lost_lock_says_so),
    SUITE_TEST(release_without_a_lease_says_that_the_lock_was_lost),
    SUITE_TEST(hold_limit_ends_the_hold_and_deletes_at_once),
    SUITE_TEST(unknown_answer_to_the_delete_of_a_hold_limit_changes_nothing),
    SUITE_TEST(hold_limit_concerns_holders_alone),
    SUITE_TEST(hold_limit_deletes_until_it_is_certain),
    SUITE_TEST(release_during_the_delete_of_a_hold_limit_deletes_itself),
    SUITE_TEST(delete_that_a_hold_limit_is_denied_is_left_to_the_release),
    SUITE_TEST(contender_that_expired_waits_again_on_the_next_session),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "machine_end", tests);
}
