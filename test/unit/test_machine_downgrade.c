/* A writer that goes on as a reader, and queues that have no order. */
#include "machine_story.h"

static void go_downgrading(void)
{
    go_held();
    tell(ZKL_EV_DOWNGRADE);
}

static void queue_without_an_order_ends_the_acquire(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, (struct zkl_place){.own_is_present = true, .is_unordered = true, .ahead = -1});
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_REFUSED);
    EXPECT_STATE(ZKL_DELETING);
}

static void holder_goes_on_as_a_reader(void)
{
    go_downgrading();
    EXPECT_STATE(ZKL_HELD);
    EXPECT_ASK(ZKL_ASK_DOWNGRADE);
    answer(ZKL_EV_DOWNGRADED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
    EXPECT_TOLD(ZKL_NOTICE_DOWNGRADED, ZKL_OUTCOME_OK);
    EXPECT_STATE(ZKL_HELD);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    CU_ASSERT_FALSE(zkl_machine_has_two_names(&machine));
    tell(ZKL_EV_OWN_GONE);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_REMOVED);
}

static void downgrade_waits_for_the_flight_that_is_out(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, AT_FRONT);
    tell(ZKL_EV_LOOK);
    EXPECT_ASK(ZKL_ASK_WATCH_OWN);
    tell(ZKL_EV_DOWNGRADE);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_ASK(ZKL_ASK_DOWNGRADE);
}

static void writers_end_during_the_downgrade_is_no_loss(void)
{
    go_downgrading();
    tell(ZKL_EV_OWN_GONE);
    EXPECT_STATE(ZKL_HELD);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    answer(ZKL_EV_DOWNGRADED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
    EXPECT_TOLD(ZKL_NOTICE_DOWNGRADED, ZKL_OUTCOME_OK);
}

static void downgrade_with_an_unknown_fate_is_sent_until_it_is_certain(void)
{
    go_downgrading();
    tell(ZKL_EV_DISCONNECTED);
    answer(ZKL_EV_DOWNGRADED, ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_UNKNOWN);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_CONNECTED);
    EXPECT_ASK(ZKL_ASK_DOWNGRADE);
    answer(ZKL_EV_DOWNGRADED, ZKL_ANSWER_OK, ZKL_ANSWER_UNKNOWN);
    EXPECT_ASK(ZKL_ASK_DOWNGRADE);
    answer(ZKL_EV_DOWNGRADED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_OK);
    EXPECT_TOLD(ZKL_NOTICE_DOWNGRADED, ZKL_OUTCOME_OK);
    CU_ASSERT_FALSE(zkl_machine_has_two_names(&machine));
}

static void transaction_that_was_applied_before_is_recognised(void)
{
    static const enum zkl_answer transactions[] = {ZKL_ANSWER_NO_NODE, ZKL_ANSWER_REFUSED, ZKL_ANSWER_UNKNOWN};

    for (size_t i = 0; i < sizeof transactions / sizeof transactions[0]; i++) {
        go_downgrading();
        answer(ZKL_EV_DOWNGRADED, transactions[i], ZKL_ANSWER_OK);
        EXPECT_TOLD(ZKL_NOTICE_DOWNGRADED, ZKL_OUTCOME_OK);
    }
}

static void reader_that_may_not_be_read_is_one(void)
{
    go_downgrading();
    answer(ZKL_EV_DOWNGRADED, ZKL_ANSWER_OK, ZKL_ANSWER_DENIED);
    EXPECT_TOLD(ZKL_NOTICE_DOWNGRADED, ZKL_OUTCOME_OK);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    go_downgrading();
    answer(ZKL_EV_DOWNGRADED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_REFUSED);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_REMOVED);
    tell(ZKL_EV_RELEASE);
    EXPECT_ASK(ZKL_ASK_DELETE);
    CU_ASSERT_TRUE(zkl_machine_has_two_names(&machine));
}

static void writer_that_somebody_else_removed_is_lost(void)
{
    static const enum zkl_answer transactions[] = {ZKL_ANSWER_NO_NODE, ZKL_ANSWER_OK};

    for (size_t i = 0; i < sizeof transactions / sizeof transactions[0]; i++) {
        go_downgrading();
        answer(ZKL_EV_DOWNGRADED, transactions[i], ZKL_ANSWER_NO_NODE);
        EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_REMOVED);
        EXPECT_STATE(ZKL_LOST);
        tell(ZKL_EV_RELEASE);
        EXPECT_STATE(ZKL_GONE);
    }
    /* A node of that name that is somebody else's is no reader of ours. */
    go_downgrading();
    feed((struct zkl_event){.type = ZKL_EV_DOWNGRADED, .flight = machine.flight, .first = ZKL_ANSWER_REFUSED,
                            .second = ZKL_ANSWER_OK});
    EXPECT_TOLD(ZKL_NOTICE_DOWNGRADED, ZKL_OUTCOME_REFUSED);
}

static void refused_downgrade_leaves_the_lock_as_it_was(void)
{
    go_downgrading();
    answer(ZKL_EV_DOWNGRADED, ZKL_ANSWER_DENIED, ZKL_ANSWER_NO_NODE);
    EXPECT_TOLD(ZKL_NOTICE_DOWNGRADED, ZKL_OUTCOME_DENIED);
    EXPECT_STATE(ZKL_HELD);
    CU_ASSERT_FALSE(zkl_machine_has_two_names(&machine));
    tell(ZKL_EV_DOWNGRADE);
    EXPECT_ASK(ZKL_ASK_DOWNGRADE);
}

static void refusal_after_an_unknown_fate_leaves_two_names(void)
{
    go_downgrading();
    answer(ZKL_EV_DOWNGRADED, ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_NO_NODE);
    EXPECT_ASK(ZKL_ASK_DOWNGRADE);
    answer(ZKL_EV_DOWNGRADED, ZKL_ANSWER_DENIED, ZKL_ANSWER_NO_NODE);
    EXPECT_STATE(ZKL_HELD);
    CU_ASSERT_TRUE(zkl_machine_has_two_names(&machine));
    tell(ZKL_EV_OWN_GONE);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_REMOVED);
    tell(ZKL_EV_OWN_GONE);
    tell(ZKL_EV_RELEASE);
    EXPECT_ASK(ZKL_ASK_DELETE);
}

static void release_during_the_downgrade_deletes_both(void)
{
    go_downgrading();
    tell(ZKL_EV_RELEASE);
    EXPECT_STATE(ZKL_DELETING);
    EXPECT_ASK(ZKL_ASK_DELETE);
    CU_ASSERT_TRUE(zkl_machine_has_two_names(&machine));
    answer(ZKL_EV_DELETED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_OK);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_OK);
    EXPECT_STATE(ZKL_GONE);
}

static void delete_of_both_counts_the_one_that_was_there(void)
{
    static const struct {
        enum zkl_answer writer, reader;
        enum zkl_notice notice;
        enum zkl_outcome outcome;
    } cases[] = {
        {ZKL_ANSWER_OK, ZKL_ANSWER_NO_NODE, ZKL_NOTICE_RELEASED, ZKL_OUTCOME_OK},
        {ZKL_ANSWER_NO_NODE, ZKL_ANSWER_OK, ZKL_NOTICE_RELEASED, ZKL_OUTCOME_OK},
        {ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NO_NODE, ZKL_NOTICE_RELEASED, ZKL_OUTCOME_LOST},
        {ZKL_ANSWER_OK, ZKL_ANSWER_UNKNOWN, ZKL_NOTICE_NONE, ZKL_OUTCOME_OK},
        {ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_NO_NODE, ZKL_NOTICE_NONE, ZKL_OUTCOME_OK},
        {ZKL_ANSWER_NO_NODE, ZKL_ANSWER_DENIED, ZKL_NOTICE_RELEASED, ZKL_OUTCOME_DENIED},
        {ZKL_ANSWER_DENIED, ZKL_ANSWER_NO_NODE, ZKL_NOTICE_RELEASED, ZKL_OUTCOME_DENIED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        go_downgrading();
        tell(ZKL_EV_RELEASE);
        answer(ZKL_EV_DELETED, cases[i].writer, cases[i].reader);
        EXPECT_TOLD(cases[i].notice, cases[i].outcome);
    }
}

static void loss_during_the_downgrade_leaves_both_to_the_release(void)
{
    go_downgrading();
    has_lease = false;
    tell(ZKL_EV_LAPSED);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_LEASE);
    tell(ZKL_EV_OWN_GONE);
    tell(ZKL_EV_RELEASE);
    EXPECT_ASK(ZKL_ASK_DELETE);
    CU_ASSERT_TRUE(zkl_machine_has_two_names(&machine));
    answer(ZKL_EV_DELETED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_OK);
    EXPECT_TOLD(ZKL_NOTICE_RELEASED, ZKL_OUTCOME_LOST);
}

static void nothing_is_downgraded_twice_or_unless_it_is_held(void)
{
    go_downgrading();
    answer(ZKL_EV_DOWNGRADED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
    tell(ZKL_EV_DOWNGRADE);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    go_waiting();
    tell(ZKL_EV_DOWNGRADE);
    tell(ZKL_EV_AHEAD_GONE);
    EXPECT_STATE(ZKL_HELD);
    EXPECT_ASK(ZKL_ASK_NOTHING);
}

static const struct suite_test tests[] = {
    SUITE_TEST(queue_without_an_order_ends_the_acquire),
    SUITE_TEST(holder_goes_on_as_a_reader),
    SUITE_TEST(downgrade_waits_for_the_flight_that_is_out),
    SUITE_TEST(writers_end_during_the_downgrade_is_no_loss),
    SUITE_TEST(downgrade_with_an_unknown_fate_is_sent_until_it_is_certain),
    SUITE_TEST(transaction_that_was_applied_before_is_recognised),
    SUITE_TEST(reader_that_may_not_be_read_is_one),
    SUITE_TEST(writer_that_somebody_else_removed_is_lost),
    SUITE_TEST(refused_downgrade_leaves_the_lock_as_it_was),
    SUITE_TEST(refusal_after_an_unknown_fate_leaves_two_names),
    SUITE_TEST(release_during_the_downgrade_deletes_both),
    SUITE_TEST(delete_of_both_counts_the_one_that_was_there),
    SUITE_TEST(loss_during_the_downgrade_leaves_both_to_the_release),
    SUITE_TEST(nothing_is_downgraded_twice_or_unless_it_is_held),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "machine_downgrade", tests);
}
