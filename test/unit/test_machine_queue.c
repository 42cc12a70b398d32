/* One contender in the queue: listed, surveyed, watching, woken. */
#include "machine_story.h"

static void free_lock_is_held_after_one_flight(void)
{
    go_creating();
    EXPECT_ASK(ZKL_ASK_CREATE);
    placed(ZKL_EV_CREATED, AT_FRONT);
    EXPECT_STATE(ZKL_HELD);
    EXPECT_TOLD(ZKL_NOTICE_GRANTED, ZKL_OUTCOME_OK);
    EXPECT_ASK(ZKL_ASK_NOTHING);
}

static void holder_that_never_looked_asks_for_its_watch_after_a_while(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, AT_FRONT);
    CU_ASSERT_TRUE(zkl_machine_awaits_look(&machine));
    tell(ZKL_EV_LOOK);
    EXPECT_ASK(ZKL_ASK_WATCH_OWN);
    CU_ASSERT_FALSE(zkl_machine_awaits_look(&machine));
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NONE);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_REMOVED);
}

static void holder_that_releases_soon_asks_for_no_watch(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, AT_FRONT);
    tell(ZKL_EV_RELEASE);
    EXPECT_ASK(ZKL_ASK_DELETE);
    CU_ASSERT_FALSE(zkl_machine_awaits_look(&machine));
}

static void waiter_that_hears_nothing_looks_only_while_it_is_behind(void)
{
    machine = (struct zkl_machine){.state = ZKL_WAITING, .is_behind = true, .reads_by_exists = true};
    CU_ASSERT_TRUE(zkl_machine_awaits_look(&machine));
    machine.is_behind = false;
    CU_ASSERT_FALSE(zkl_machine_awaits_look(&machine));
    machine = (struct zkl_machine){.state = ZKL_WAITING, .is_behind = true};
    CU_ASSERT_FALSE(zkl_machine_awaits_look(&machine));
}

static void holder_that_waited_has_its_watch_already(void)
{
    go_waiting();
    tell(ZKL_EV_AHEAD_GONE);
    EXPECT_STATE(ZKL_HELD);
    CU_ASSERT_FALSE(zkl_machine_awaits_look(&machine));
}

static void start_without_connection_asks_when_connected(void)
{
    has_lease = true;
    zkl_machine_init(&machine, false, false);
    tell(ZKL_EV_START);
    EXPECT_STATE(ZKL_CREATING);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_CONNECTED);
    EXPECT_ASK(ZKL_ASK_CREATE);
}

static void waiter_is_granted_by_the_deletion_of_the_only_one_ahead(void)
{
    go_waiting();
    EXPECT_STATE(ZKL_WAITING);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_AHEAD_GONE);
    EXPECT_STATE(ZKL_HELD);
    EXPECT_TOLD(ZKL_NOTICE_GRANTED, ZKL_OUTCOME_OK);
    EXPECT_ASK(ZKL_ASK_NOTHING);
}

static void waiter_deeper_in_the_queue_lists_when_woken(void)
{
    go_waiting_deep();
    tell(ZKL_EV_AHEAD_GONE);
    EXPECT_STATE(ZKL_LISTING);
    EXPECT_ASK(ZKL_ASK_LIST);
    placed(ZKL_EV_LISTED, NEXT);
    EXPECT_ASK(ZKL_ASK_WATCH);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
    tell(ZKL_EV_AHEAD_GONE);
    EXPECT_TOLD(ZKL_NOTICE_GRANTED, ZKL_OUTCOME_OK);
}

/* A downgraded reader appears later, with its writer's number. */
static void waiter_behind_a_style_that_can_be_downgraded_lists_when_woken(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, BEHIND_OTHER_STYLE);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
    tell(ZKL_EV_AHEAD_GONE);
    EXPECT_STATE(ZKL_LISTING);
    placed(ZKL_EV_LISTED, AT_FRONT);
    EXPECT_TOLD(ZKL_NOTICE_GRANTED, ZKL_OUTCOME_OK);
}

static void waiter_passes_when_the_one_ahead_is_gone_before_the_watch(void)
{
    go_watching();
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NO_NODE);
    EXPECT_STATE(ZKL_HELD);
    go_creating();
    placed(ZKL_EV_CREATED, DEEP);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NO_NODE);
    EXPECT_STATE(ZKL_LISTING);
}

static void deletion_that_is_noticed_before_the_answer_counts(void)
{
    go_watching();
    tell(ZKL_EV_AHEAD_GONE);
    EXPECT_STATE(ZKL_WATCHING);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
    EXPECT_STATE(ZKL_HELD);
}

static void new_listing_forgets_what_was_noticed_of_the_former_one_ahead(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, DEEP);
    tell(ZKL_EV_AHEAD_GONE);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NO_NODE);
    placed(ZKL_EV_LISTED, NEXT);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
    EXPECT_STATE(ZKL_WAITING);
}

static void change_of_the_one_ahead_plants_the_watch_again(void)
{
    go_waiting();
    tell(ZKL_EV_AHEAD_CHANGED);
    EXPECT_ASK(ZKL_ASK_WATCH);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
    EXPECT_STATE(ZKL_WAITING);
}

/* The get of the own node was answered, its watch fired, and only then was the one ahead heard of. */
static void change_of_the_own_node_during_the_watch_flight_plants_its_watch_again(void)
{
    go_watching();
    tell(ZKL_EV_OWN_CHANGED);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
    EXPECT_STATE(ZKL_WATCHING);
    EXPECT_ASK(ZKL_ASK_WATCH);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
    EXPECT_STATE(ZKL_WAITING);
    EXPECT_ASK(ZKL_ASK_NOTHING);
}

static void waiter_is_not_granted_while_its_own_watch_is_used_up(void)
{
    go_watching();
    tell(ZKL_EV_OWN_CHANGED);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NO_NODE);
    EXPECT_STATE(ZKL_WATCHING);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NO_NODE);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_REMOVED);
}

static void waiter_whose_node_is_gone_asks_whether_its_session_lives(void)
{
    go_waiting();
    tell(ZKL_EV_OWN_GONE);
    EXPECT_STATE(ZKL_WATCHING);
    EXPECT_ASK(ZKL_ASK_WATCH);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_OK);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_REMOVED);
    go_waiting();
    tell(ZKL_EV_OWN_GONE);
    tell(ZKL_EV_DISCONNECTED);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_UNKNOWN);
    tell(ZKL_EV_EXPIRED);
    EXPECT_TOLD(ZKL_NOTICE_REQUEUED, ZKL_OUTCOME_OK);
}

/* Of two watches that fired while nobody could tell, the one ahead's may be reported first. */
static void waiter_lists_when_woken_after_a_reconnect(void)
{
    go_waiting();
    tell(ZKL_EV_DISCONNECTED);
    tell(ZKL_EV_CONNECTED);
    EXPECT_STATE(ZKL_WAITING);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    tell(ZKL_EV_AHEAD_GONE);
    EXPECT_STATE(ZKL_LISTING);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
    placed(ZKL_EV_LISTED, ABSENT);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_REMOVED);
}

static void one_ahead_that_cannot_be_read_is_asked_for_by_exists(void)
{
    go_watching();
    CU_ASSERT_FALSE(did.by_exists);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_DENIED);
    EXPECT_ASK(ZKL_ASK_WATCH);
    CU_ASSERT_TRUE(did.by_exists);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
    EXPECT_STATE(ZKL_WAITING);
    tell(ZKL_EV_AHEAD_CHANGED);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_DENIED);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_DENIED);
    EXPECT_ASK(ZKL_ASK_DELETE);
}

static void watch_flight_whose_second_answer_was_lost_is_flown_again(void)
{
    go_watching();
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_UNKNOWN);
    EXPECT_STATE(ZKL_WATCHING);
    EXPECT_ASK(ZKL_ASK_WATCH);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_REFUSED);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_REFUSED);
    EXPECT_ASK(ZKL_ASK_DELETE);
}

static void node_of_another_owner_is_not_ours(void)
{
    go_watching();
    feed((struct zkl_event){.type = ZKL_EV_WATCHED, .flight = machine.flight, .first = ZKL_ANSWER_OK,
                            .second = ZKL_ANSWER_OK});
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_REMOVED);
    EXPECT_STATE(ZKL_GONE);
}

static void holder_whose_node_has_another_owner_has_lost(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, AT_FRONT);
    tell(ZKL_EV_LOOK);
    feed((struct zkl_event){.type = ZKL_EV_WATCHED, .flight = machine.flight, .first = ZKL_ANSWER_OK});
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_REMOVED);
}

static void holder_goes_on_where_its_own_node_cannot_be_read(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, AT_FRONT);
    tell(ZKL_EV_LOOK);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_DENIED, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_HELD);
    EXPECT_ASK(ZKL_ASK_NOTHING);
}

static void waiter_ends_where_its_own_node_cannot_be_read(void)
{
    go_watching();
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_DENIED, ZKL_ANSWER_OK);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_DENIED);
    go_watching();
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_REFUSED, ZKL_ANSWER_OK);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_REFUSED);
}

static void try_ends_behind_somebody(void)
{
    init_try();
    tell(ZKL_EV_START);
    placed(ZKL_EV_CREATED, NEXT);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_BUSY);
    EXPECT_ASK(ZKL_ASK_DELETE);
    answer(ZKL_EV_DELETED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_GONE);
    EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
}

static void mixed_styles_end_the_acquire_and_delete_the_contender(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, MIXED);
    EXPECT_TOLD(ZKL_NOTICE_ENDED, ZKL_OUTCOME_MIXED);
    EXPECT_ASK(ZKL_ASK_DELETE);
}

static void survey_decides_where_numbers_do_not(void)
{
    go_surveying();
    EXPECT_ASK(ZKL_ASK_SURVEY);
    placed(ZKL_EV_SURVEYED, AT_FRONT);
    EXPECT_STATE(ZKL_HELD);
    go_surveying();
    placed(ZKL_EV_SURVEYED, BEHIND_OTHER_STYLE);
    EXPECT_STATE(ZKL_WATCHING);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NO_NODE);
    EXPECT_STATE(ZKL_LISTING);
    go_surveying();
    answer(ZKL_EV_SURVEYED, ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_NONE);
    EXPECT_STATE(ZKL_LISTING);
}

static void denied_and_refused_listings_end_the_acquire(void)
{
    static const struct {
        enum zkl_answer answer;
        enum zkl_outcome outcome;
    } cases[] = {{ZKL_ANSWER_DENIED, ZKL_OUTCOME_DENIED},
                 {ZKL_ANSWER_REFUSED, ZKL_OUTCOME_REFUSED},
                 {ZKL_ANSWER_NO_NODE, ZKL_OUTCOME_REMOVED}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        go_listing();
        answer(ZKL_EV_LISTED, cases[i].answer, ZKL_ANSWER_NONE);
        EXPECT_TOLD(ZKL_NOTICE_ENDED, cases[i].outcome);
        EXPECT_ASK(ZKL_ASK_DELETE);
        go_creating();
        answer(ZKL_EV_CREATED, ZKL_ANSWER_OK, cases[i].answer);
        EXPECT_TOLD(ZKL_NOTICE_ENDED, cases[i].outcome);
        EXPECT_ASK(ZKL_ASK_DELETE);
    }
}

static const struct suite_test tests[] = {
    SUITE_TEST(free_lock_is_held_after_one_flight),
    SUITE_TEST(holder_that_never_looked_asks_for_its_watch_after_a_while),
    SUITE_TEST(holder_that_releases_soon_asks_for_no_watch),
    SUITE_TEST(waiter_that_hears_nothing_looks_only_while_it_is_behind),
    SUITE_TEST(holder_that_waited_has_its_watch_already),
    SUITE_TEST(start_without_connection_asks_when_connected),
    SUITE_TEST(waiter_is_granted_by_the_deletion_of_the_only_one_ahead),
    SUITE_TEST(waiter_deeper_in_the_queue_lists_when_woken),
    SUITE_TEST(waiter_behind_a_style_that_can_be_downgraded_lists_when_woken),
    SUITE_TEST(waiter_passes_when_the_one_ahead_is_gone_before_the_watch),
    SUITE_TEST(deletion_that_is_noticed_before_the_answer_counts),
    SUITE_TEST(new_listing_forgets_what_was_noticed_of_the_former_one_ahead),
    SUITE_TEST(change_of_the_one_ahead_plants_the_watch_again),
    SUITE_TEST(change_of_the_own_node_during_the_watch_flight_plants_its_watch_again),
    SUITE_TEST(waiter_is_not_granted_while_its_own_watch_is_used_up),
    SUITE_TEST(waiter_whose_node_is_gone_asks_whether_its_session_lives),
    SUITE_TEST(waiter_lists_when_woken_after_a_reconnect),
    SUITE_TEST(one_ahead_that_cannot_be_read_is_asked_for_by_exists),
    SUITE_TEST(watch_flight_whose_second_answer_was_lost_is_flown_again),
    SUITE_TEST(node_of_another_owner_is_not_ours),
    SUITE_TEST(holder_whose_node_has_another_owner_has_lost),
    SUITE_TEST(holder_goes_on_where_its_own_node_cannot_be_read),
    SUITE_TEST(waiter_ends_where_its_own_node_cannot_be_read),
    SUITE_TEST(try_ends_behind_somebody),
    SUITE_TEST(mixed_styles_end_the_acquire_and_delete_the_contender),
    SUITE_TEST(survey_decides_where_numbers_do_not),
    SUITE_TEST(denied_and_refused_listings_end_the_acquire),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "machine_queue", tests);
}
