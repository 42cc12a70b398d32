/* The machine as a table: every event in every state, flights and their answers, moves and names. */
#include <string.h>

#include "machine_story.h"

/* Each state, and a way into it. */
static const struct way {
    void (*go)(void);
    enum zkl_state state;
} ways[] = {
    {init, ZKL_NEW},
    {go_creating, ZKL_CREATING},
    {go_preparing, ZKL_PREPARING},
    {go_finding, ZKL_FINDING},
    {go_listing, ZKL_LISTING},
    {go_surveying, ZKL_SURVEYING},
    {go_watching, ZKL_WATCHING},
    {go_waiting, ZKL_WAITING},
    {go_held, ZKL_HELD},
    {go_lost, ZKL_LOST},
    {go_deleting, ZKL_DELETING},
    {go_gone, ZKL_GONE},
};

#define WAY_COUNT (sizeof ways / sizeof ways[0])

/* What is not listed here is ignored. */
static const struct pair {
    enum zkl_state from;
    enum zkl_event_type event;
    enum zkl_state to;
    enum zkl_ask ask;
    enum zkl_notice notice;
} pairs[] = {
    {ZKL_NEW, ZKL_EV_START, ZKL_CREATING, ZKL_ASK_CREATE, ZKL_NOTICE_NONE},
    {ZKL_NEW, ZKL_EV_GIVE_UP, ZKL_GONE, ZKL_ASK_NOTHING, ZKL_NOTICE_ENDED},
    {ZKL_CREATING, ZKL_EV_GIVE_UP, ZKL_CREATING, ZKL_ASK_NOTHING, ZKL_NOTICE_ENDED},
    {ZKL_FINDING, ZKL_EV_GIVE_UP, ZKL_FINDING, ZKL_ASK_NOTHING, ZKL_NOTICE_ENDED},
    {ZKL_PREPARING, ZKL_EV_GIVE_UP, ZKL_GONE, ZKL_ASK_NOTHING, ZKL_NOTICE_ENDED},
    {ZKL_LISTING, ZKL_EV_GIVE_UP, ZKL_DELETING, ZKL_ASK_DELETE, ZKL_NOTICE_ENDED},
    {ZKL_SURVEYING, ZKL_EV_GIVE_UP, ZKL_DELETING, ZKL_ASK_DELETE, ZKL_NOTICE_ENDED},
    {ZKL_WATCHING, ZKL_EV_GIVE_UP, ZKL_DELETING, ZKL_ASK_DELETE, ZKL_NOTICE_ENDED},
    {ZKL_WAITING, ZKL_EV_GIVE_UP, ZKL_DELETING, ZKL_ASK_DELETE, ZKL_NOTICE_ENDED},

    {ZKL_PREPARING, ZKL_EV_EXPIRED, ZKL_CREATING, ZKL_ASK_NOTHING, ZKL_NOTICE_REQUEUED},
    {ZKL_FINDING, ZKL_EV_EXPIRED, ZKL_CREATING, ZKL_ASK_NOTHING, ZKL_NOTICE_REQUEUED},
    {ZKL_LISTING, ZKL_EV_EXPIRED, ZKL_CREATING, ZKL_ASK_NOTHING, ZKL_NOTICE_REQUEUED},
    {ZKL_SURVEYING, ZKL_EV_EXPIRED, ZKL_CREATING, ZKL_ASK_NOTHING, ZKL_NOTICE_REQUEUED},
    {ZKL_WATCHING, ZKL_EV_EXPIRED, ZKL_CREATING, ZKL_ASK_NOTHING, ZKL_NOTICE_REQUEUED},
    {ZKL_WAITING, ZKL_EV_EXPIRED, ZKL_CREATING, ZKL_ASK_NOTHING, ZKL_NOTICE_REQUEUED},
    {ZKL_HELD, ZKL_EV_EXPIRED, ZKL_LOST, ZKL_ASK_NOTHING, ZKL_NOTICE_LOST},
    {ZKL_DELETING, ZKL_EV_EXPIRED, ZKL_GONE, ZKL_ASK_NOTHING, ZKL_NOTICE_RELEASED},

    {ZKL_WAITING, ZKL_EV_OWN_GONE, ZKL_WATCHING, ZKL_ASK_WATCH, ZKL_NOTICE_NONE},
    {ZKL_HELD, ZKL_EV_OWN_GONE, ZKL_LOST, ZKL_ASK_NOTHING, ZKL_NOTICE_LOST},

    {ZKL_WAITING, ZKL_EV_OWN_CHANGED, ZKL_WATCHING, ZKL_ASK_WATCH, ZKL_NOTICE_NONE},
    {ZKL_HELD, ZKL_EV_OWN_CHANGED, ZKL_HELD, ZKL_ASK_WATCH_OWN, ZKL_NOTICE_NONE},
    {ZKL_WAITING, ZKL_EV_AHEAD_CHANGED, ZKL_WATCHING, ZKL_ASK_WATCH, ZKL_NOTICE_NONE},
    {ZKL_WAITING, ZKL_EV_LOOK, ZKL_WATCHING, ZKL_ASK_WATCH, ZKL_NOTICE_NONE},
    {ZKL_WAITING, ZKL_EV_AHEAD_GONE, ZKL_HELD, ZKL_ASK_NOTHING, ZKL_NOTICE_GRANTED},
    {ZKL_HELD, ZKL_EV_LAPSED, ZKL_LOST, ZKL_ASK_NOTHING, ZKL_NOTICE_LOST},

    {ZKL_HELD, ZKL_EV_HOLD_OVER, ZKL_LOST, ZKL_ASK_DELETE, ZKL_NOTICE_LOST},
    {ZKL_HELD, ZKL_EV_DOWNGRADE, ZKL_HELD, ZKL_ASK_DOWNGRADE, ZKL_NOTICE_NONE},
    {ZKL_HELD, ZKL_EV_RELEASE, ZKL_DELETING, ZKL_ASK_DELETE, ZKL_NOTICE_NONE},
    {ZKL_LOST, ZKL_EV_RELEASE, ZKL_DELETING, ZKL_ASK_DELETE, ZKL_NOTICE_NONE},
};

static struct pair expected_of(enum zkl_state from, enum zkl_event_type event)
{
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i].from == from && pairs[i].event == event)
            return pairs[i];
    return (struct pair){from, event, from, ZKL_ASK_NOTHING, ZKL_NOTICE_NONE};
}

static bool is_answer(enum zkl_event_type event)
{
    return event >= ZKL_EV_CREATED && event <= ZKL_EV_UNSENT;
}

static void try_pair(const struct way *way, enum zkl_event_type event)
{
    struct pair expected = expected_of(way->state, event);
    bool is_right;

    way->go();
    CU_ASSERT_EQUAL_FATAL(machine.state, way->state);
    feed((struct zkl_event){.type = event, .why = ZKL_OUTCOME_CANCELLED});
    is_right = machine.state == expected.to && did.ask == expected.ask && did.notice == expected.notice &&
               !did.zombie;
    if (!is_right)
        printf("\n  %s in %s: to %s, asks %s, tells %d\n", zkl_event_name(event), zkl_state_name(way->state),
               zkl_state_name(machine.state), zkl_ask_name(did.ask), did.notice);
    CU_ASSERT_TRUE(is_right);
}

static void each_event_in_each_state_does_what_is_listed(void)
{
    for (size_t i = 0; i < WAY_COUNT; i++)
        for (int event = 0; event < ZKL_EV_COUNT; event++)
            if (!is_answer(event))
                try_pair(&ways[i], event);
}

static void try_answer_of(const struct way *way, enum zkl_event_type event, unsigned flight)
{
    for (int first = ZKL_ANSWER_NONE; first <= ZKL_ANSWER_REFUSED; first++) {
        struct zkl_machine before = machine;
        feed((struct zkl_event){
            .type = event, .flight = flight, .first = first, .second = first, .place = AT_FRONT});
        CU_ASSERT_EQUAL(memcmp(&before, &machine, sizeof machine), 0);
        CU_ASSERT_EQUAL(machine.state, way->state);
        EXPECT_ASK(ZKL_ASK_NOTHING);
        EXPECT_TOLD(ZKL_NOTICE_NONE, ZKL_OUTCOME_OK);
        CU_ASSERT_FALSE(did.zombie);
    }
}

static void answer_of_another_flight_changes_nothing_in_any_state(void)
{
    for (size_t i = 0; i < WAY_COUNT; i++) {
        for (int event = ZKL_EV_CREATED; event <= ZKL_EV_UNSENT; event++) {
            ways[i].go();
            try_answer_of(&ways[i], event, machine.flight - 1);
            try_answer_of(&ways[i], event, machine.flight + 1);
            if (!machine.is_in_flight)
                try_answer_of(&ways[i], event, machine.flight);
        }
    }
}

static void nothing_is_asked_while_disconnected(void)
{
    for (size_t i = 0; i < WAY_COUNT; i++) {
        for (int event = 0; event < ZKL_EV_COUNT; event++) {
            if (is_answer(event) || event == ZKL_EV_CONNECTED)
                continue;
            ways[i].go();
            tell(ZKL_EV_DISCONNECTED);
            feed((struct zkl_event){.type = event, .why = ZKL_OUTCOME_CANCELLED});
            EXPECT_ASK(ZKL_ASK_NOTHING);
        }
    }
}

static void each_state_goes_on_after_the_answer_was_lost_with_the_connection(void)
{
    static const struct {
        void (*go)(void);
        enum zkl_event_type answer;
        enum zkl_ask again;
    } cases[] = {
        {go_creating, ZKL_EV_CREATED, ZKL_ASK_FIND},      {go_preparing, ZKL_EV_PREPARED, ZKL_ASK_CREATE},
        {go_finding, ZKL_EV_FOUND, ZKL_ASK_FIND},         {go_listing, ZKL_EV_LISTED, ZKL_ASK_LIST},
        {go_surveying, ZKL_EV_SURVEYED, ZKL_ASK_LIST},    {go_watching, ZKL_EV_WATCHED, ZKL_ASK_WATCH},
        {go_deleting, ZKL_EV_DELETED, ZKL_ASK_DELETE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cases[i].go();
        tell(ZKL_EV_DISCONNECTED);
        EXPECT_ASK(ZKL_ASK_NOTHING);
        answer(cases[i].answer, ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_UNKNOWN);
        EXPECT_ASK(ZKL_ASK_NOTHING);
        tell(ZKL_EV_CONNECTED);
        EXPECT_ASK(cases[i].again);
    }
}

static void flight_that_could_not_be_sent_is_tried_again(void)
{
    static const struct {
        void (*go)(void);
        enum zkl_ask again;
    } cases[] = {
        {go_creating, ZKL_ASK_CREATE}, {go_preparing, ZKL_ASK_PREPARE}, {go_finding, ZKL_ASK_FIND},
        {go_listing, ZKL_ASK_LIST},    {go_surveying, ZKL_ASK_SURVEY},  {go_watching, ZKL_ASK_WATCH},
        {go_deleting, ZKL_ASK_DELETE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned flight;
        cases[i].go();
        flight = machine.flight;
        answer(ZKL_EV_UNSENT, ZKL_ANSWER_NONE, ZKL_ANSWER_NONE);
        EXPECT_ASK(ZKL_ASK_NOTHING);
        tell(ZKL_EV_LEASED);
        EXPECT_ASK(ZKL_ASK_NOTHING);
        tell(i % 2 ? ZKL_EV_RETRY : ZKL_EV_CONNECTED);
        EXPECT_ASK(cases[i].again);
        CU_ASSERT_EQUAL(machine.flight, flight + 1);
    }
}

static void flights_are_numbered_and_one_is_out_at_a_time(void)
{
    init();
    CU_ASSERT_EQUAL(machine.flight, 0);
    tell(ZKL_EV_START);
    CU_ASSERT_EQUAL(machine.flight, 1);
    tell(ZKL_EV_CONNECTED);
    EXPECT_ASK(ZKL_ASK_NOTHING);
    placed(ZKL_EV_CREATED, NEXT);
    CU_ASSERT_EQUAL(machine.flight, 2);
    give_up(ZKL_OUTCOME_CANCELLED);
    EXPECT_ASK(ZKL_ASK_DELETE);
    CU_ASSERT_EQUAL(machine.flight, 3);
}

static void no_state_is_entered_from_outside_the_picture(void)
{
    int moves = 0;

    for (int from = -1; from <= ZKL_STATE_COUNT; from++)
        for (int to = -1; to <= ZKL_STATE_COUNT; to++)
            moves += zkl_move_is_allowed((enum zkl_state)from, (enum zkl_state)to);
    CU_ASSERT_TRUE(moves > 0);
    for (int to = 0; to < ZKL_STATE_COUNT; to++) {
        CU_ASSERT_FALSE(zkl_move_is_allowed(ZKL_GONE, to));
        CU_ASSERT_FALSE(zkl_move_is_allowed(to, ZKL_NEW));
        CU_ASSERT_FALSE(zkl_move_is_allowed(to, to));
        CU_ASSERT_FALSE(zkl_move_is_allowed(to, ZKL_STATE_COUNT));
    }
    CU_ASSERT_FALSE(zkl_move_is_allowed(ZKL_LOST, ZKL_HELD));
}

static void everything_has_a_name(void)
{
    for (int i = 0; i < ZKL_STATE_COUNT; i++)
        CU_ASSERT_STRING_NOT_EQUAL(zkl_state_name(i), "unknown");
    for (int i = 0; i < ZKL_EV_COUNT; i++)
        CU_ASSERT_STRING_NOT_EQUAL(zkl_event_name(i), "unknown");
    for (int i = 0; i <= ZKL_ASK_DOWNGRADE; i++)
        CU_ASSERT_STRING_NOT_EQUAL(zkl_ask_name(i), "unknown");
    CU_ASSERT_STRING_EQUAL(zkl_state_name(ZKL_STATE_COUNT), "unknown");
    CU_ASSERT_STRING_EQUAL(zkl_event_name((enum zkl_event_type)-1), "unknown");
    CU_ASSERT_STRING_EQUAL(zkl_ask_name((enum zkl_ask)99), "unknown");
}

static const struct suite_test tests[] = {
    SUITE_TEST(each_event_in_each_state_does_what_is_listed),
    SUITE_TEST(answer_of_another_flight_changes_nothing_in_any_state),
    SUITE_TEST(nothing_is_asked_while_disconnected),
    SUITE_TEST(each_state_goes_on_after_the_answer_was_lost_with_the_connection),
    SUITE_TEST(flight_that_could_not_be_sent_is_tried_again),
    SUITE_TEST(flights_are_numbered_and_one_is_out_at_a_time),
    SUITE_TEST(no_state_is_entered_from_outside_the_picture),
    SUITE_TEST(everything_has_a_name),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "machine", tests);
}
