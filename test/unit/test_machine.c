/* One contender's life: every event in every state, each path of the picture, and the traps found on the way. */
#include "recipe/machine.h"

#include <stdio.h>
#include <string.h>

#include "support/suite.h"

static struct zkl_machine machine;
static struct zkl_actions did;
static bool has_lease;

/* ------------------------------------------------------------------------------------ the words of the tests */

static void feed(struct zkl_event event)
{
    event.has_lease = has_lease;
    did = zkl_machine_step(&machine, &event);
}

static void tell(enum zkl_event_type type)
{
    feed((struct zkl_event){.type = type});
}

static void give_up(enum zkl_outcome why)
{
    feed((struct zkl_event){.type = ZKL_EV_GIVE_UP, .why = why});
}

static void answer(enum zkl_event_type type, enum zkl_answer first, enum zkl_answer second)
{
    feed((struct zkl_event){
        .type = type, .flight = machine.flight, .first = first, .second = second, .owner_is_us = true});
}

static const struct zkl_place AT_FRONT = {.own_is_present = true, .ahead = -1};
static const struct zkl_place NEXT = {.own_is_present = true, .ahead_is_plain = true, .ahead_count = 1};
static const struct zkl_place BEHIND_OTHER_STYLE = {.own_is_present = true, .ahead_count = 1};
static const struct zkl_place DEEP = {.own_is_present = true, .ahead_is_plain = true, .ahead_count = 2};
static const struct zkl_place ABSENT = {.own = -1, .ahead = -1};
static const struct zkl_place MIXED = {.own_is_present = true, .is_mixed = true, .ahead = -1};
static const struct zkl_place AMBIGUOUS = {.own_is_present = true, .needs_survey = true, .ahead = -1};

static void placed(enum zkl_event_type type, struct zkl_place place)
{
    feed((struct zkl_event){.type = type,
                            .flight = machine.flight,
                            .first = ZKL_ANSWER_OK,
                            .second = ZKL_ANSWER_OK,
                            .place = place});
}

static void init(void)
{
    has_lease = true;
    zkl_machine_init(&machine, false, true);
}

static void init_try(void)
{
    has_lease = true;
    zkl_machine_init(&machine, true, true);
}

#define EXPECT_STATE(expected) expect_state(expected, __LINE__)
#define EXPECT_ASK(expected) expect_ask(expected, __LINE__)
#define EXPECT_TOLD(expected, how) expect_told(expected, how, __LINE__)

static void expect_state(enum zkl_state expected, int line)
{
    if (machine.state != expected)
        printf("\n  line %d: %s instead of %s\n", line, zkl_state_name(machine.state), zkl_state_name(expected));
    CU_ASSERT_EQUAL(machine.state, expected);
}

static void expect_ask(enum zkl_ask expected, int line)
{
    if (did.ask != expected)
        printf("\n  line %d: asks %s instead of %s\n", line, zkl_ask_name(did.ask), zkl_ask_name(expected));
    CU_ASSERT_EQUAL(did.ask, expected);
}

static void expect_told(enum zkl_notice notice, enum zkl_outcome outcome, int line)
{
    if (did.notice != notice || did.outcome != outcome)
        printf("\n  line %d: told %d, %d\n", line, did.notice, did.outcome);
    CU_ASSERT_EQUAL(did.notice, notice);
    CU_ASSERT_EQUAL(did.outcome, outcome);
}

/* ---------------------------------------------------------------------------------------- ways into each state */

static void go_creating(void)
{
    init();
    tell(ZKL_EV_START);
}

static void go_preparing(void)
{
    go_creating();
    answer(ZKL_EV_CREATED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NO_NODE);
}

static void go_finding(void)
{
    go_creating();
    answer(ZKL_EV_CREATED, ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_UNKNOWN);
}

static void go_listing(void)
{
    go_creating();
    answer(ZKL_EV_CREATED, ZKL_ANSWER_OK, ZKL_ANSWER_UNKNOWN);
}

static void go_surveying(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, AMBIGUOUS);
}

static void go_watching(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, NEXT);
}

static void go_waiting(void)
{
    go_watching();
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
}

static void go_waiting_deep(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, DEEP);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
}

/* At the front, without a lease. */
static void go_waiting_for_lease(void)
{
    go_waiting();
    has_lease = false;
    tell(ZKL_EV_AHEAD_GONE);
}

static void go_held(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, AT_FRONT);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
}

static void go_lost(void)
{
    go_held();
    has_lease = false;
    tell(ZKL_EV_LAPSED);
}

static void go_deleting(void)
{
    go_held();
    tell(ZKL_EV_RELEASE);
}

static void go_gone(void)
{
    go_deleting();
    answer(ZKL_EV_DELETED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
}

static const struct way {
    void (*go)(void);
    enum zkl_state state;
} ways[] = {
    {init, ZKL_NEW},           {go_creating, ZKL_CREATING}, {go_preparing, ZKL_PREPARING}, {go_finding, ZKL_FINDING},
    {go_listing, ZKL_LISTING}, {go_surveying, ZKL_SURVEYING}, {go_watching, ZKL_WATCHING}, {go_waiting, ZKL_WAITING},
    {go_held, ZKL_HELD},       {go_lost, ZKL_LOST},         {go_deleting, ZKL_DELETING},   {go_gone, ZKL_GONE},
};

#define WAY_COUNT (sizeof ways / sizeof ways[0])

/* ------------------------------------------------------------------------------- every event in every state */

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

    {ZKL_LISTING, ZKL_EV_OWN_GONE, ZKL_GONE, ZKL_ASK_NOTHING, ZKL_NOTICE_ENDED},
    {ZKL_SURVEYING, ZKL_EV_OWN_GONE, ZKL_GONE, ZKL_ASK_NOTHING, ZKL_NOTICE_ENDED},
    {ZKL_WATCHING, ZKL_EV_OWN_GONE, ZKL_GONE, ZKL_ASK_NOTHING, ZKL_NOTICE_ENDED},
    {ZKL_WAITING, ZKL_EV_OWN_GONE, ZKL_GONE, ZKL_ASK_NOTHING, ZKL_NOTICE_ENDED},
    {ZKL_HELD, ZKL_EV_OWN_GONE, ZKL_LOST, ZKL_ASK_NOTHING, ZKL_NOTICE_LOST},

    {ZKL_WAITING, ZKL_EV_OWN_CHANGED, ZKL_WATCHING, ZKL_ASK_WATCH, ZKL_NOTICE_NONE},
    {ZKL_HELD, ZKL_EV_OWN_CHANGED, ZKL_HELD, ZKL_ASK_WATCH_OWN, ZKL_NOTICE_NONE},
    {ZKL_WAITING, ZKL_EV_AHEAD_CHANGED, ZKL_WATCHING, ZKL_ASK_WATCH, ZKL_NOTICE_NONE},
    {ZKL_WAITING, ZKL_EV_AHEAD_GONE, ZKL_HELD, ZKL_ASK_NOTHING, ZKL_NOTICE_GRANTED},
    {ZKL_HELD, ZKL_EV_LAPSED, ZKL_LOST, ZKL_ASK_NOTHING, ZKL_NOTICE_LOST},

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
    is_right = machine.state == expected.to && did.ask == expected.ask && did.notice == expected.notice && !did.zombie;
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
        feed((struct zkl_event){.type = event, .flight = flight, .first = first, .second = first, .place = AT_FRONT});
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

/* ----------------------------------------------------------------------------------------- paths of the picture */

static void free_lock_is_held_after_one_flight(void)
{
    go_creating();
    EXPECT_ASK(ZKL_ASK_CREATE);
    placed(ZKL_EV_CREATED, AT_FRONT);
    EXPECT_STATE(ZKL_HELD);
    EXPECT_TOLD(ZKL_NOTICE_GRANTED, ZKL_OUTCOME_OK);
    EXPECT_ASK(ZKL_ASK_WATCH_OWN);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
    EXPECT_ASK(ZKL_ASK_NOTHING);
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

/* The get of the own node was answered, its watch fired, and only then came the answer about the one ahead. */
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
    feed((struct zkl_event){.type = ZKL_EV_WATCHED, .flight = machine.flight, .first = ZKL_ANSWER_OK});
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_REMOVED);
}

static void holder_goes_on_where_its_own_node_cannot_be_read(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, AT_FRONT);
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

/* ------------------------------------------------------------------------------------------ creating the node */

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

/* --------------------------------------------------------------------------------------------------- giving up */

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

/* ------------------------------------------------------------------------------------------------------- lease */

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

/* -------------------------------------------------------------------------------------------- losing, releasing */

static void each_loss_says_why(void)
{
    go_held();
    tell(ZKL_EV_OWN_GONE);
    EXPECT_TOLD(ZKL_NOTICE_LOST, ZKL_OUTCOME_REMOVED);
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
    EXPECT_ASK(ZKL_ASK_WATCH_OWN);
}

/* ------------------------------------------------------------------------------------------------ moves, names */

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
    for (int i = 0; i <= ZKL_ASK_DELETE; i++)
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
    SUITE_TEST(free_lock_is_held_after_one_flight),
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
    SUITE_TEST(create_that_nobody_may_look_for_is_handed_on),
    SUITE_TEST(create_that_was_given_up_in_flight_is_deleted),
    SUITE_TEST(create_that_was_given_up_before_it_was_sent_is_over),
    SUITE_TEST(create_that_was_given_up_and_refused_is_over),
    SUITE_TEST(create_that_was_given_up_with_an_unknown_fate_is_found_first),
    SUITE_TEST(contender_that_was_given_up_dies_with_its_session),
    SUITE_TEST(limit_says_whether_a_place_in_the_queue_was_known),
    SUITE_TEST(only_one_result_is_told),
    SUITE_TEST(closing_ends_what_is_held_or_lost),
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
    SUITE_TEST(contender_that_expired_waits_again_on_the_next_session),
    SUITE_TEST(no_state_is_entered_from_outside_the_picture),
    SUITE_TEST(everything_has_a_name),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "machine", tests);
}
