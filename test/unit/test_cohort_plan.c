/*
 * Cohorts: the plan by itself, and threads who follow it beside strangers in the queue outside, in every interleaving of
 * threads that come, release and give up, of grants, failures and losses, of strangers and of time. Each world is checked;
 * and every run must end with all threads served or told, and nothing left behind.
 */
#include "recipe/cohort.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"

enum { THREADS = 4, NOW = 100 };

enum phase { AWAY, WAITS, OWNS };

/* Ours, in the queue outside. */
enum contender { NONE, QUEUED, GRANTED, TAKEN };

/* Worlds are compared byte by byte, so that there is no padding in it. */
struct limits {
    uint8_t threads, rounds, passes, age, strangers, failures, losses, departures, tries, dismissals;
};

struct world {
    struct zkl_cohort cohort;
    struct zkl_cohort_waiter waiters[THREADS];
    uint8_t phase[THREADS];
    uint8_t rounds[THREADS];    /* how often each still comes */
    uint8_t order[THREADS + 1]; /* who waits, in the order in which they came: number + 1; 0: nobody more */
    uint8_t contender;
    uint8_t is_try;
    uint8_t owners;             /* of this contender so far */
    uint8_t age;                /* of its grant */
    uint8_t has_lapsed;
    uint8_t turn_is_due;
    uint8_t ahead, behind;      /* strangers, in the queue outside */
    struct limits left;         /* what may still happen */
};

/* Its parts point to each other: whatever world is looked at is brought here. */
static struct world stage;
static struct limits limits;

/* ---------------------------------------------------------------- what must never be */

/* What is done wrong on purpose. */
static enum fault {
    NO_FAULT, PASSES_FORGOTTEN, TIME_FORGOTTEN, LEASE_IMAGINED, TURN_FORGOTTEN, CANCEL_FORGOTTEN, NEWCOMER_FIRST,
    FAULT_COUNT
} fault;

static long violations;
static const char *first_violation;

static void forbid(bool is_wrong, const char *what)
{
    if (!is_wrong)
        return;
    violations++;
    if (!first_violation)
        first_violation = what;
}

static int count(enum phase phase)
{
    int found = 0;

    for (int who = 0; who < THREADS; who++)
        found += stage.phase[who] == phase;
    return found;
}

static void check_world(void)
{
    int waiting = count(WAITS);
    int owners = count(OWNS);

    forbid(owners > 1, "two owners");
    forbid(owners == 1 && stage.contender != GRANTED && stage.contender != TAKEN, "an owner without the lock");
    forbid(stage.contender == GRANTED && owners == 0, "held by nobody");
    forbid(stage.contender == GRANTED && stage.ahead > 0, "granted behind somebody");
    forbid(waiting > 0 && stage.contender == NONE && !stage.turn_is_due, "waiting for nothing");
    forbid(waiting + owners == 0 && stage.contender != NONE, "a contender that nobody wants");
    for (const struct zkl_cohort_waiter *at = stage.cohort.first; at && waiting >= 0; at = at->next)
        waiting--;
    forbid(waiting != 0, "waiting, but not in the queue");
}

/* ---------------------------------------------------------------- what the plan wants done */

static int number_of(const struct zkl_cohort_waiter *waiter)
{
    return (int)(waiter - stage.waiters);
}

static void strike_out(int who)
{
    int at = 0;

    while (stage.order[at] && stage.order[at] != who + 1)
        at++;
    if (stage.order[at])
        memmove(stage.order + at, stage.order + at + 1, (size_t)(THREADS - at));
}

static bool may_refuse(const struct zkl_cohort_event *event, const struct zkl_cohort_waiter *waiter)
{
    switch (event->type) {
    case ZKL_COHORT_FAILED:
    case ZKL_COHORT_DISMISS:
        return true;
    case ZKL_COHORT_BUSY:
        return waiter->is_try;
    case ZKL_COHORT_ARRIVE:
        return waiter->is_try && waiter == event->waiter;
    case ZKL_COHORT_GIVE_UP:
        return waiter == event->waiter;
    case ZKL_COHORT_GRANTED:
    case ZKL_COHORT_TAKEN:
    case ZKL_COHORT_RELEASE:
    case ZKL_COHORT_TURN:
        break;
    }
    return false;
}

static void refuse(const struct zkl_cohort_event *event, struct zkl_cohort_waiter *waiter)
{
    while (waiter) {
        struct zkl_cohort_waiter *next = waiter->next;
        forbid(!may_refuse(event, waiter), "refused without a reason");
        stage.phase[number_of(waiter)] = AWAY;
        strike_out(number_of(waiter));
        waiter->next = NULL;
        waiter = next;
    }
}

static void admit(const struct zkl_cohort_event *event, const struct zkl_cohort_waiter *waiter)
{
    bool is_handed_on = event->type == ZKL_COHORT_RELEASE;

    forbid(stage.order[0] != number_of(waiter) + 1, "admitted before who came first");
    forbid(is_handed_on && stage.has_lapsed, "handed on without a lease");
    forbid(is_handed_on && stage.age >= limits.age, "handed on too late");
    forbid(stage.owners > limits.passes, "handed on too often");
    stage.owners++;
    stage.phase[number_of(waiter)] = OWNS;
    strike_out(number_of(waiter));
}

static void leave_queue_outside(void)
{
    stage.contender = NONE;
    stage.ahead += stage.behind;
    stage.behind = stage.owners = stage.age = stage.has_lapsed = 0;
}

static void carry_out(const struct zkl_cohort_event *event, const struct zkl_cohort_actions *actions)
{
    refuse(event, actions->refused);
    if (actions->admitted)
        admit(event, actions->admitted);
    if (actions->cancel && fault != CANCEL_FORGOTTEN) {
        forbid(stage.contender != QUEUED, "cancelled, but not asked for");
        leave_queue_outside();
    }
    if (actions->let_go) {
        forbid(stage.contender != GRANTED && stage.contender != TAKEN, "let go, but not had");
        leave_queue_outside();
    }
    if (actions->ask) {
        forbid(stage.contender != NONE, "two contenders");
        stage.contender = QUEUED;
        stage.is_try = actions->is_try;
    }
    if (actions->turn && fault != TURN_FORGOTTEN)
        stage.turn_is_due = true;
}

/* After a thread has come. */
static void put_last_first(struct zkl_cohort *cohort)
{
    struct zkl_cohort_waiter *last = cohort->last;
    struct zkl_cohort_waiter *at = cohort->first;

    if (at == last)
        return;
    while (at->next != last)
        at = at->next;
    at->next = NULL;
    cohort->last = at;
    last->next = cohort->first;
    cohort->first = last;
}

/* From state to state, since the program began. */
enum { STATES = ZKL_COHORT_LOST + 1 };
static long moves[STATES][STATES];

static void step(enum zkl_cohort_event_type type, int who)
{
    struct zkl_cohort_event event = {
        .type = type,
        .waiter = who >= 0 ? &stage.waiters[who] : NULL,
        .now_ns = fault == TIME_FORGOTTEN ? stage.cohort.granted_ns : NOW,
        .has_lease = !stage.has_lapsed || fault == LEASE_IMAGINED,
    };
    enum zkl_cohort_state before = stage.cohort.state;
    struct zkl_cohort_actions actions = zkl_cohort_step(&stage.cohort, &event);

    moves[before][stage.cohort.state]++;
    carry_out(&event, &actions);
    if (fault == PASSES_FORGOTTEN)
        stage.cohort.passes = 0;
    if (fault == NEWCOMER_FIRST && type == ZKL_COHORT_ARRIVE && stage.cohort.first)
        put_last_first(&stage.cohort);
    check_world();
}

/* ---------------------------------------------------------------- what may happen next */

/* False: nothing is left of it. */
static bool spend(uint8_t *left)
{
    if (*left == 0)
        return false;
    --*left;
    return true;
}

static bool come(int who, bool is_try)
{
    int at = 0;

    if (stage.phase[who] != AWAY || (is_try && !stage.left.tries) || !spend(&stage.rounds[who]))
        return false;
    stage.left.tries -= is_try;
    stage.waiters[who].is_try = is_try;
    stage.phase[who] = WAITS;
    while (stage.order[at])
        at++;
    stage.order[at] = (uint8_t)(who + 1);
    step(ZKL_COHORT_ARRIVE, who);
    return true;
}

enum { COME, TRY, RELEASE, GIVE_UP, THREAD_MOVES };

static bool thread_move(int who, int move)
{
    if (move == COME || move == TRY)
        return come(who, move == TRY);
    if (move == RELEASE && stage.phase[who] == OWNS) {
        stage.phase[who] = AWAY;
        step(ZKL_COHORT_RELEASE, -1);
        return true;
    }
    if (move == GIVE_UP && stage.phase[who] == WAITS && spend(&stage.left.departures)) {
        step(ZKL_COHORT_GIVE_UP, who);
        return true;
    }
    return false;
}

static bool end_asking(enum zkl_cohort_event_type type)
{
    leave_queue_outside();
    step(type, -1);
    return true;
}

static bool take_away(void)
{
    leave_queue_outside();
    stage.contender = TAKEN;
    stage.has_lapsed = true;
    step(ZKL_COHORT_TAKEN, -1);
    return true;
}

static bool grant(void)
{
    stage.contender = GRANTED;
    step(ZKL_COHORT_GRANTED, -1);
    return true;
}

static bool stranger_comes(void)
{
    if (!spend(&stage.left.strangers))
        return false;
    if (stage.contender == QUEUED || stage.contender == GRANTED)
        stage.behind++;
    else
        stage.ahead++;
    return true;
}

/* The clock stands; the grant becomes older. */
static bool time_passes(void)
{
    if (stage.contender != GRANTED || stage.age > limits.age)
        return false;
    stage.age++;
    stage.cohort.granted_ns--;
    return true;
}

static bool turn_comes(void)
{
    stage.turn_is_due = false;
    step(ZKL_COHORT_TURN, -1);
    return true;
}

static bool dismissed(void)
{
    step(ZKL_COHORT_DISMISS, -1);
    return true;
}

enum { OUTSIDE_MOVES = 11 };

static bool outside_move(int move)
{
    switch (move) {
    case 0:
        return stage.contender == QUEUED && stage.ahead == 0 && grant();
    case 1:
        return stage.contender == QUEUED && stage.is_try && stage.ahead > 0 && end_asking(ZKL_COHORT_BUSY);
    case 2:
        return stage.contender == QUEUED && spend(&stage.left.failures) && end_asking(ZKL_COHORT_FAILED);
    case 3: /* told at once, as when somebody removes it */
        return stage.contender == GRANTED && !stage.has_lapsed && spend(&stage.left.losses) && take_away();
    case 4: /* not told yet */
        return stage.contender == GRANTED && !stage.has_lapsed && spend(&stage.left.losses) && (stage.has_lapsed = true);
    case 5:
        return stage.contender == GRANTED && stage.has_lapsed && take_away();
    case 6:
        return stage.turn_is_due && turn_comes();
    case 7:
        return time_passes();
    case 8:
        return stranger_comes();
    case 9:
        return spend(&stage.ahead);
    default:
        return spend(&stage.left.dismissals) && dismissed();
    }
}

/* ---------------------------------------------------------------- all interleavings */

enum { BUCKETS = 1 << 21 };

struct seen {
    struct world world;
    bool is_there;
    bool is_open; /* on the way that is being tried */
};

static struct seen *seen;
static long worlds, steps, dead_ends, circles;

static struct seen *place_of(const struct world *world)
{
    uint64_t hash = 1469598103934665603u;

    for (size_t i = 0; i < sizeof(*world); i++)
        hash = (hash ^ ((const uint8_t *)world)[i]) * 1099511628211u;
    struct seen *at = seen + (hash ^ hash >> 32) % BUCKETS;
    while (at->is_there && memcmp(&at->world, world, sizeof(*world)) != 0)
        at = at + 1 == seen + BUCKETS ? seen : at + 1;
    return at;
}

static bool has_finished(void)
{
    for (int who = 0; who < THREADS; who++) {
        if (stage.rounds[who] || stage.phase[who] != AWAY)
            return false;
    }
    return stage.contender == NONE && stage.ahead == 0;
}

static bool happen(int number)
{
    int of_threads = limits.threads * THREAD_MOVES;

    if (number < of_threads)
        return thread_move(number / THREAD_MOVES, number % THREAD_MOVES);
    return outside_move(number - of_threads);
}

/* From the world on the stage. */
static void explore(void)
{
    struct seen *place = place_of(&stage);
    bool is_dead_end = true;

    if (place->is_there) {
        circles += place->is_open;
        return;
    }
    memcpy(&place->world, &stage, sizeof(stage));
    place->is_there = place->is_open = true;
    CU_ASSERT_TRUE_FATAL(++worlds < BUCKETS / 2);
    for (int number = 0; number < limits.threads * THREAD_MOVES + OUTSIDE_MOVES; number++) {
        memcpy(&stage, &place->world, sizeof(stage));
        if (violations > 0 || !happen(number))
            continue;
        is_dead_end = false;
        steps++;
        explore();
    }
    memcpy(&stage, &place->world, sizeof(stage));
    place->is_open = false;
    dead_ends += is_dead_end && violations == 0 && !has_finished();
}

static void explore_within(const struct limits *these)
{
    limits = *these;
    memset(&stage, 0, sizeof(stage));
    stage.left = limits;
    stage.cohort.most_passes = limits.passes;
    stage.cohort.most_ns = limits.age;
    for (unsigned who = 0; who < limits.threads; who++)
        stage.rounds[who] = limits.rounds;
    worlds = steps = dead_ends = circles = violations = 0;
    first_violation = NULL;
    seen = calloc(BUCKETS, sizeof(*seen));
    CU_ASSERT_PTR_NOT_NULL_FATAL(seen);
    explore();
    free(seen);
}

static void expect_all_to_be_well(const struct limits *these)
{
    fault = NO_FAULT;
    explore_within(these);
    printf("[%ld worlds, %ld steps%s%s] ", worlds, steps, first_violation ? ": " : "",
           first_violation ? first_violation : "");
    CU_ASSERT_EQUAL(violations, 0);
    CU_ASSERT_EQUAL(dead_ends, 0);
    CU_ASSERT_EQUAL(circles, 0);
}

static void threads_that_wait_are_all_served_in_their_order(void)
{
    expect_all_to_be_well(&(struct limits){.threads = 3, .rounds = 2, .passes = 1, .age = 2, .strangers = 1});
    expect_all_to_be_well(&(struct limits){.threads = 4, .rounds = 1, .passes = 2, .age = 1, .strangers = 2});
}

static void nothing_is_handed_on_where_that_is_not_wanted(void)
{
    expect_all_to_be_well(&(struct limits){.threads = 3, .rounds = 2, .passes = 0, .age = 2, .strangers = 1});
}

static void losses_failures_and_departures_strand_nobody(void)
{
    expect_all_to_be_well(&(struct limits){.threads = 3, .rounds = 1, .passes = 1, .age = 1, .strangers = 1,
                                           .failures = 1, .losses = 1, .departures = 2, .tries = 1, .dismissals = 1});
    expect_all_to_be_well(&(struct limits){.threads = 2, .rounds = 2, .passes = 1, .age = 1, .strangers = 1,
                                           .failures = 1, .losses = 1, .departures = 1, .tries = 2, .dismissals = 1});
}

/* Those of the picture in recipe/cohort.h, and no others. */
static void each_move_of_the_picture_is_taken(void)
{
    static const bool allowed[STATES][STATES] = {
        [ZKL_COHORT_IDLE] = {[ZKL_COHORT_ASKED] = true},
        [ZKL_COHORT_ASKED] = {[ZKL_COHORT_IDLE] = true, [ZKL_COHORT_DUE] = true, [ZKL_COHORT_HELD] = true},
        [ZKL_COHORT_DUE] = {[ZKL_COHORT_IDLE] = true, [ZKL_COHORT_ASKED] = true},
        [ZKL_COHORT_HELD] = {[ZKL_COHORT_IDLE] = true, [ZKL_COHORT_ASKED] = true, [ZKL_COHORT_LOST] = true},
        [ZKL_COHORT_LOST] = {[ZKL_COHORT_IDLE] = true, [ZKL_COHORT_ASKED] = true},
    };

    memset(moves, 0, sizeof(moves));
    losses_failures_and_departures_strand_nobody();
    for (int from = 0; from < STATES; from++)
        for (int to = 0; to < STATES; to++)
            CU_ASSERT_TRUE(from == to || (moves[from][to] > 0) == allowed[from][to]);
}

static void unknown_event_changes_nothing(void)
{
    struct zkl_cohort cohort = {.state = ZKL_COHORT_IDLE};
    struct zkl_cohort_event event = {.type = (enum zkl_cohort_event_type)99};
    struct zkl_cohort_actions actions = zkl_cohort_step(&cohort, &event);

    CU_ASSERT_EQUAL(cohort.state, ZKL_COHORT_IDLE);
    CU_ASSERT_FALSE(actions.ask || actions.cancel || actions.let_go || actions.turn);
}

/* That each of these shows proves that the tests above can fail. */
static void planted_faults_are_seen(void)
{
    static const char *const names[FAULT_COUNT] = {
        "", "passes forgotten", "time forgotten", "lease imagined", "turn forgotten", "cancel forgotten", "newcomer first",
    };
    struct limits these = {.threads = 3, .rounds = 1, .passes = 1, .age = 1, .strangers = 1, .losses = 1,
                           .departures = 1, .tries = 1};

    for (int which = NO_FAULT + 1; which < FAULT_COUNT; which++) {
        fault = (enum fault)which;
        explore_within(&these);
        printf("[%s: %s] ", names[which], first_violation ? first_violation : "not seen");
        CU_ASSERT_TRUE(violations + dead_ends > 0);
    }
    fault = NO_FAULT;
}

/* ---------------------------------------------------------------- the plan by itself */

static struct zkl_cohort plain;
static struct zkl_cohort_waiter one, two;

static struct zkl_cohort_actions tell(enum zkl_cohort_event_type type, struct zkl_cohort_waiter *waiter, int64_t now_ns)
{
    struct zkl_cohort_event event = {type, waiter, now_ns, true};

    return zkl_cohort_step(&plain, &event);
}

static void begin(unsigned most_passes, int64_t most_ns)
{
    plain = (struct zkl_cohort){.most_passes = most_passes, .most_ns = most_ns};
    one = two = (struct zkl_cohort_waiter){0};
}

static void release_hands_on_without_a_request(void)
{
    begin(1, 10);
    CU_ASSERT_TRUE(tell(ZKL_COHORT_ARRIVE, &one, 0).ask);
    CU_ASSERT_FALSE(tell(ZKL_COHORT_ARRIVE, &two, 0).ask);
    CU_ASSERT_PTR_EQUAL(tell(ZKL_COHORT_GRANTED, NULL, 5).admitted, &one);
    struct zkl_cohort_actions actions = tell(ZKL_COHORT_RELEASE, NULL, 14);
    CU_ASSERT_PTR_EQUAL(actions.admitted, &two);
    CU_ASSERT_FALSE(actions.let_go || actions.ask);
    CU_ASSERT_TRUE(tell(ZKL_COHORT_RELEASE, NULL, 14).let_go);
    CU_ASSERT_EQUAL(plain.state, ZKL_COHORT_IDLE);
}

static void release_after_the_time_lets_go_and_asks_anew(void)
{
    begin(1, 10);
    (void)tell(ZKL_COHORT_ARRIVE, &one, 0);
    (void)tell(ZKL_COHORT_ARRIVE, &two, 0);
    (void)tell(ZKL_COHORT_GRANTED, NULL, 5);
    struct zkl_cohort_actions actions = tell(ZKL_COHORT_RELEASE, NULL, 15);
    CU_ASSERT_PTR_NULL(actions.admitted);
    CU_ASSERT_TRUE(actions.let_go && actions.ask);
    CU_ASSERT_EQUAL(plain.state, ZKL_COHORT_ASKED);
}

static void last_one_to_give_up_cancels(void)
{
    begin(1, 10);
    (void)tell(ZKL_COHORT_ARRIVE, &one, 0);
    (void)tell(ZKL_COHORT_ARRIVE, &two, 0);
    CU_ASSERT_FALSE(tell(ZKL_COHORT_GIVE_UP, &one, 0).cancel);
    CU_ASSERT_TRUE(tell(ZKL_COHORT_GIVE_UP, &two, 0).cancel);
    CU_ASSERT_EQUAL(plain.state, ZKL_COHORT_IDLE);
}

static void try_waits_for_nobody(void)
{
    begin(1, 10);
    one.is_try = two.is_try = true;
    CU_ASSERT_TRUE(tell(ZKL_COHORT_ARRIVE, &one, 0).is_try);
    CU_ASSERT_PTR_EQUAL(tell(ZKL_COHORT_ARRIVE, &two, 0).refused, &two);
    two.is_try = false;
    (void)tell(ZKL_COHORT_ARRIVE, &two, 0);
    struct zkl_cohort_actions actions = tell(ZKL_COHORT_BUSY, NULL, 0);
    CU_ASSERT_PTR_EQUAL(actions.refused, &one);
    CU_ASSERT_PTR_NULL(one.next);
    CU_ASSERT_TRUE(actions.turn);
    CU_ASSERT_TRUE(tell(ZKL_COHORT_TURN, NULL, 0).ask);
}

static const struct suite_test tests[] = {
    SUITE_TEST(release_hands_on_without_a_request),
    SUITE_TEST(release_after_the_time_lets_go_and_asks_anew),
    SUITE_TEST(last_one_to_give_up_cancels),
    SUITE_TEST(try_waits_for_nobody),
    SUITE_TEST(threads_that_wait_are_all_served_in_their_order),
    SUITE_TEST(nothing_is_handed_on_where_that_is_not_wanted),
    SUITE_TEST(losses_failures_and_departures_strand_nobody),
    SUITE_TEST(each_move_of_the_picture_is_taken),
    SUITE_TEST(unknown_event_changes_nothing),
    SUITE_TEST(planted_faults_are_seen),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "cohort_plan", tests);
}
