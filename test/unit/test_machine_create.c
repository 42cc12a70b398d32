/* The own node: made, found, given up. */
#include "machine_story.h"

static void denied_create_leaves_nothing_behind(void)
{
    go_creating();
    answer(ZKL_EV_CREATED, ZKL_ANSWER_DENIED, ZKL_ANSWER_OK);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_DENIED);
    EXPECT_STATE(ZKL_GONE);
    CU_ASSERT_FALSE(did.zombie);
    go_creating();
    answer(ZKL_EV_CREATED, ZKL_ANSWER_REFUSED, ZKL_ANSWER_OK);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_REFUSED);
    EXPECT_STATE(ZKL_GONE);
}

static void missing_parents_are_made(void)
{
    go_preparing();
    EXPECT_STATE(ZKL_PREPARING);
    EXPECT_ASK(ZKL_ASK_PREPARE);
    answer(ZKL_EV_PREPARED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_CREATING);
    EXPECT_ASK(ZKL_ASK_CREATE);
}

static void unknown_fate_of_the_parents_shows_at_the_create(void)
{
    go_preparing();
    answer(ZKL_EV_PREPARED, ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_CREATING);
}

static void denied_parents_end_the_acquire(void)
{
    go_preparing();
    answer(ZKL_EV_PREPARED, ZKL_ANSWER_DENIED, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_DENIED);
    go_preparing();
    answer(ZKL_EV_PREPARED, ZKL_ANSWER_REFUSED, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_REFUSED);
    EXPECT_STATE(ZKL_GONE);
}

static int make_parents_until_refused(void)
{
    int rounds = 0;

    while (machine.state == ZKL_CREATING && rounds < 100) {
        answer(ZKL_EV_CREATED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NO_NODE);
        if (machine.state != ZKL_PREPARING)
            break;
        rounds++;
        answer(ZKL_EV_PREPARED, rounds % 2 ? ZKL_ANSWER_OK : ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NONE);
    }
    return rounds;
}

static void parents_that_vanish_again_and_again_end_the_acquire(void)
{
    go_creating();
    CU_ASSERT_EQUAL(make_parents_until_refused(), 10);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_REFUSED);
    EXPECT_STATE(ZKL_GONE);
}

/* Years of waiting see many sessions, and many parents. */
static void rounds_are_counted_in_a_row(void)
{
    go_preparing();
    answer(ZKL_EV_PREPARED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    placed(ZKL_EV_CREATED, NEXT);
    tell(ZKL_EV_EXPIRED);
    tell(ZKL_EV_CONNECTED);
    CU_ASSERT_EQUAL(make_parents_until_refused(), 10);
}

static void create_that_was_applied_is_adopted(void)
{
    go_finding();
    EXPECT_ASK(ZKL_ASK_FIND);
    placed(ZKL_EV_FOUND, AT_FRONT);
    EXPECT_STATE(ZKL_WATCHING);
    EXPECT_ASK(ZKL_ASK_WATCH_OWN);
    CU_ASSERT_FALSE(did.zombie);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_GRANTED, ZKL_OUTCOME_OK);
}

static void adopted_node_is_not_trusted_before_its_owner_is_known(void)
{
    go_finding();
    placed(ZKL_EV_FOUND, AT_FRONT);
    feed((struct zkl_event){.type = ZKL_EV_WATCHED, .flight = machine.flight, .first = ZKL_ANSWER_OK});
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_REMOVED);
    EXPECT_STATE(ZKL_GONE);
}

static void create_that_is_absent_becomes_a_zombie(void)
{
    go_finding();
    placed(ZKL_EV_FOUND, ABSENT);
    CU_ASSERT_TRUE(did.zombie);
    EXPECT_STATE(ZKL_CREATING);
    EXPECT_ASK(ZKL_ASK_CREATE);
}

static void create_without_a_parent_becomes_a_zombie(void)
{
    go_finding();
    answer(ZKL_EV_FOUND, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NO_NODE);
    CU_ASSERT_TRUE(did.zombie);
    EXPECT_STATE(ZKL_PREPARING);
    go_finding();
    answer(ZKL_EV_FOUND, ZKL_ANSWER_OK, ZKL_ANSWER_NO_NODE);
    CU_ASSERT_TRUE(did.zombie);
    EXPECT_STATE(ZKL_PREPARING);
}

static void listing_without_the_barrier_finds_nothing(void)
{
    go_finding();
    feed((struct zkl_event){.type = ZKL_EV_FOUND, .flight = machine.flight, .first = ZKL_ANSWER_UNKNOWN,
                            .second = ZKL_ANSWER_OK, .place = ABSENT});
    EXPECT_STATE(ZKL_FINDING);
    EXPECT_ASK(ZKL_ASK_FIND);
    CU_ASSERT_FALSE(did.zombie);
}

static void barrier_without_the_listing_finds_nothing(void)
{
    go_finding();
    answer(ZKL_EV_FOUND, ZKL_ANSWER_OK, ZKL_ANSWER_UNKNOWN);
    EXPECT_STATE(ZKL_FINDING);
    EXPECT_ASK(ZKL_ASK_FIND);
    CU_ASSERT_FALSE(did.zombie);
}

static void create_that_nobody_may_look_for_is_handed_on(void)
{
    static const struct {
        enum zkl_answer barrier;
        enum zkl_answer list;
        enum zkl_outcome outcome;
    } cases[] = {{ZKL_ANSWER_OK, ZKL_ANSWER_DENIED, ZKL_OUTCOME_DENIED},
                 {ZKL_ANSWER_DENIED, ZKL_ANSWER_OK, ZKL_OUTCOME_DENIED},
                 {ZKL_ANSWER_REFUSED, ZKL_ANSWER_OK, ZKL_OUTCOME_REFUSED},
                 {ZKL_ANSWER_OK, ZKL_ANSWER_REFUSED, ZKL_OUTCOME_REFUSED}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        go_finding();
        answer(ZKL_EV_FOUND, cases[i].barrier, cases[i].list);
        EXPECT_TOLD(ZKL_NOTICE_ENDED, cases[i].outcome);
        EXPECT_STATE(ZKL_GONE);
        CU_ASSERT_TRUE(did.zombie);
    }
}

static void create_that_was_given_up_in_flight_is_deleted(void)
{
    go_creating();
    give_up(ZKL_OUTCOME_CANCELLED);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_CANCELLED);
    placed(ZKL_EV_CREATED, AT_FRONT);
    EXPECT_ASK(ZKL_ASK_DELETE);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_GONE);
}

static void create_that_was_given_up_before_it_was_sent_is_over(void)
{
    has_lease = true;
    zkl_machine_init(&machine, false, false);
    tell(ZKL_EV_START);
    give_up(ZKL_OUTCOME_CANCELLED);
    EXPECT_STATE(ZKL_GONE);
    go_creating();
    give_up(ZKL_OUTCOME_CANCELLED);
    answer(ZKL_EV_UNSENT, ZKL_ANSWER_NONE, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_GONE);
}

static void create_that_was_given_up_and_refused_is_over(void)
{
    static const enum zkl_answer answers[] = {ZKL_ANSWER_NO_NODE, ZKL_ANSWER_DENIED, ZKL_ANSWER_REFUSED};

    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        go_creating();
        give_up(ZKL_OUTCOME_CANCELLED);
        answer(ZKL_EV_CREATED, answers[i], ZKL_ANSWER_NO_NODE);
        EXPECT_STATE(ZKL_GONE);
        EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    }
}

static void create_that_was_given_up_with_an_unknown_fate_is_found_first(void)
{
    go_finding();
    give_up(ZKL_OUTCOME_CANCELLED);
    EXPECT_STATE(ZKL_FINDING);
    placed(ZKL_EV_FOUND, AT_FRONT);
    EXPECT_ASK(ZKL_ASK_DELETE);
    go_finding();
    give_up(ZKL_OUTCOME_CANCELLED);
    placed(ZKL_EV_FOUND, ABSENT);
    EXPECT_STATE(ZKL_GONE);
    CU_ASSERT_TRUE(did.zombie);
    go_finding();
    give_up(ZKL_OUTCOME_CANCELLED);
    answer(ZKL_EV_FOUND, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NO_NODE);
    EXPECT_STATE(ZKL_GONE);
    CU_ASSERT_TRUE(did.zombie);
}

static void contender_that_was_given_up_dies_with_its_session(void)
{
    go_finding();
    give_up(ZKL_OUTCOME_CANCELLED);
    tell(ZKL_EV_EXPIRED);
    EXPECT_STATE(ZKL_GONE);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    go_creating();
    give_up(ZKL_OUTCOME_CANCELLED);
    tell(ZKL_EV_EXPIRED);
    EXPECT_STATE(ZKL_GONE);
}

static void limit_says_whether_a_place_in_the_queue_was_known(void)
{
    go_waiting();
    give_up(ZKL_OUTCOME_LIMIT);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_LIMIT);
    go_creating();
    give_up(ZKL_OUTCOME_LIMIT);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_NO_SERVER);
}

static void only_one_result_is_told(void)
{
    go_creating();
    give_up(ZKL_OUTCOME_LIMIT);
    give_up(ZKL_OUTCOME_CANCELLED);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    placed(ZKL_EV_CREATED, AT_FRONT);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    go_held();
    give_up(ZKL_OUTCOME_CANCELLED);
    give_up(ZKL_OUTCOME_LIMIT);
    EXPECT_STATE(ZKL_HELD);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
}

static void closing_ends_what_is_held_or_lost(void)
{
    go_held();
    give_up(ZKL_OUTCOME_CLOSED);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_CLOSED);
    EXPECT_STATE(ZKL_DELETING);
    EXPECT_ASK(ZKL_ASK_DELETE);
    go_lost();
    give_up(ZKL_OUTCOME_CLOSED);
    EXPECT_STATE(ZKL_DELETING);
    go_held();
    tell(ZKL_EV_OWN_GONE);
    give_up(ZKL_OUTCOME_CLOSED);
    EXPECT_STATE(ZKL_GONE);
}

static const struct suite_test tests[] = {
    SUITE_TEST(denied_create_leaves_nothing_behind),
    SUITE_TEST(missing_parents_are_made),
    SUITE_TEST(unknown_fate_of_the_parents_shows_at_the_create),
    SUITE_TEST(denied_parents_end_the_acquire),
    SUITE_TEST(parents_that_vanish_again_and_again_end_the_acquire),
    SUITE_TEST(rounds_are_counted_in_a_row),
    SUITE_TEST(create_that_was_applied_is_adopted),
    SUITE_TEST(adopted_node_is_not_trusted_before_its_owner_is_known),
    SUITE_TEST(create_that_is_absent_becomes_a_zombie),
    SUITE_TEST(create_without_a_parent_becomes_a_zombie),
    SUITE_TEST(listing_without_the_barrier_finds_nothing),
    SUITE_TEST(barrier_without_the_listing_finds_nothing),
    SUITE_TEST(create_that_nobody_may_look_for_is_handed_on),
    SUITE_TEST(create_that_was_given_up_in_flight_is_deleted),
    SUITE_TEST(create_that_was_given_up_before_it_was_sent_is_over),
    SUITE_TEST(create_that_was_given_up_and_refused_is_over),
    SUITE_TEST(create_that_was_given_up_with_an_unknown_fate_is_found_first),
    SUITE_TEST(contender_that_was_given_up_dies_with_its_session),
    SUITE_TEST(limit_says_whether_a_place_in_the_queue_was_known),
    SUITE_TEST(only_one_result_is_told),
    SUITE_TEST(closing_ends_what_is_held_or_lost),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "machine_create", tests);
}
