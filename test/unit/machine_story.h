/*
 * The words in which the tests of the machine tell their stories. Each program that includes this has one
 * machine, and what its last step did.
 */
#ifndef TEST_MACHINE_STORY_H
#define TEST_MACHINE_STORY_H

#include "recipe/machine.h"

#include <stdio.h>

#include "support/suite.h"

static struct zkl_machine machine;
static struct zkl_actions did;
static bool has_lease;

static inline void feed(struct zkl_event event)
{
    event.has_lease = has_lease;
    did = zkl_machine_step(&machine, &event);
}

static inline void tell(enum zkl_event_type type)
{
    feed((struct zkl_event){.type = type});
}

static inline void give_up(enum zkl_outcome why)
{
    feed((struct zkl_event){.type = ZKL_EV_GIVE_UP, .why = why});
}

static inline void answer(enum zkl_event_type type, enum zkl_answer first, enum zkl_answer second)
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

static inline void placed(enum zkl_event_type type, struct zkl_place place)
{
    feed((struct zkl_event){.type = type,
                            .flight = machine.flight,
                            .first = ZKL_ANSWER_OK,
                            .second = ZKL_ANSWER_OK,
                            .place = place});
}

static inline void init(void)
{
    has_lease = true;
    zkl_machine_init(&machine, false, true);
}

static inline void init_try(void)
{
    has_lease = true;
    zkl_machine_init(&machine, true, true);
}

#define EXPECT_STATE(expected) expect_state(expected, __LINE__)
#define EXPECT_ASK(expected) expect_ask(expected, __LINE__)
#define EXPECT_TOLD(expected, how) expect_told(expected, how, __LINE__)

static inline void expect_state(enum zkl_state expected, int line)
{
    if (machine.state != expected)
        printf("\n  line %d: %s instead of %s\n", line, zkl_state_name(machine.state),
               zkl_state_name(expected));
    CU_ASSERT_EQUAL(machine.state, expected);
}

static inline void expect_ask(enum zkl_ask expected, int line)
{
    if (did.ask != expected)
        printf("\n  line %d: asks %s instead of %s\n", line, zkl_ask_name(did.ask), zkl_ask_name(expected));
    CU_ASSERT_EQUAL(did.ask, expected);
}

static inline void expect_told(enum zkl_notice notice, enum zkl_outcome outcome, int line)
{
    if (did.notice != notice || did.outcome != outcome)
        printf("\n  line %d: told %d, %d\n", line, did.notice, did.outcome);
    CU_ASSERT_EQUAL(did.notice, notice);
    CU_ASSERT_EQUAL(did.outcome, outcome);
}

/* Ways into each state. */

static inline void go_creating(void)
{
    init();
    tell(ZKL_EV_START);
}

static inline void go_preparing(void)
{
    go_creating();
    answer(ZKL_EV_CREATED, ZKL_ANSWER_NO_NODE, ZKL_ANSWER_NO_NODE);
}

static inline void go_finding(void)
{
    go_creating();
    answer(ZKL_EV_CREATED, ZKL_ANSWER_UNKNOWN, ZKL_ANSWER_UNKNOWN);
}

static inline void go_listing(void)
{
    go_creating();
    answer(ZKL_EV_CREATED, ZKL_ANSWER_OK, ZKL_ANSWER_UNKNOWN);
}

static inline void go_surveying(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, AMBIGUOUS);
}

static inline void go_watching(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, NEXT);
}

static inline void go_waiting(void)
{
    go_watching();
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
}

static inline void go_waiting_deep(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, DEEP);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_OK);
}

/* At the front, without a lease. */
static inline void go_waiting_for_lease(void)
{
    go_waiting();
    has_lease = false;
    tell(ZKL_EV_AHEAD_GONE);
}

static inline void go_held(void)
{
    go_creating();
    placed(ZKL_EV_CREATED, AT_FRONT);
    tell(ZKL_EV_LOOK);
    answer(ZKL_EV_WATCHED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
}

static inline void go_lost(void)
{
    go_held();
    has_lease = false;
    tell(ZKL_EV_LAPSED);
}

static inline void go_deleting(void)
{
    go_held();
    tell(ZKL_EV_RELEASE);
}

static inline void go_gone(void)
{
    go_deleting();
    answer(ZKL_EV_DELETED, ZKL_ANSWER_OK, ZKL_ANSWER_NONE);
}

#endif
