#include "recipe/cohort.h"

#include <stddef.h>

/* ---------------------------------------------------------------- the queue */

static void append(struct zkl_cohort *cohort, struct zkl_cohort_waiter *waiter)
{
    waiter->next = NULL;
    if (cohort->last)
        cohort->last->next = waiter;
    else
        cohort->first = waiter;
    cohort->last = waiter;
}

static struct zkl_cohort_waiter *take_all(struct zkl_cohort *cohort)
{
    struct zkl_cohort_waiter *first = cohort->first;

    cohort->first = cohort->last = NULL;
    return first;
}

static void take_out(struct zkl_cohort *cohort, struct zkl_cohort_waiter *waiter)
{
    struct zkl_cohort_waiter *before = NULL;

    while ((before ? before->next : cohort->first) != waiter)
        before = before ? before->next : cohort->first;
    if (before)
        before->next = waiter->next;
    else
        cohort->first = waiter->next;
    if (cohort->last == waiter)
        cohort->last = before;
    waiter->next = NULL;
}

static struct zkl_cohort_waiter *take_first(struct zkl_cohort *cohort)
{
    struct zkl_cohort_waiter *first = cohort->first;

    take_out(cohort, first);
    return first;
}

/* ---------------------------------------------------------------- what to do */

/* There is no contender. */
static void ask_if_wanted(struct zkl_cohort *cohort, struct zkl_cohort_actions *actions)
{
    cohort->state = cohort->first ? ZKL_COHORT_ASKED : ZKL_COHORT_IDLE;
    actions->ask = cohort->first != NULL;
    actions->is_try = cohort->first && cohort->first->is_try;
}

/* What is on its way, or would be, is for nobody. */
static void stop_asking(struct zkl_cohort *cohort, struct zkl_cohort_actions *actions)
{
    actions->cancel = cohort->state == ZKL_COHORT_ASKED;
    if (cohort->state == ZKL_COHORT_ASKED || cohort->state == ZKL_COHORT_DUE)
        cohort->state = ZKL_COHORT_IDLE;
}

static void arrive(struct zkl_cohort *cohort, struct zkl_cohort_waiter *waiter, struct zkl_cohort_actions *actions)
{
    waiter->next = NULL;
    if (waiter->is_try && cohort->state != ZKL_COHORT_IDLE) {
        actions->refused = waiter;
        return;
    }
    append(cohort, waiter);
    if (cohort->state == ZKL_COHORT_IDLE)
        ask_if_wanted(cohort, actions);
}

static void granted(struct zkl_cohort *cohort, int64_t now_ns, struct zkl_cohort_actions *actions)
{
    cohort->state = ZKL_COHORT_HELD;
    cohort->granted_ns = now_ns;
    cohort->passes = 0;
    actions->admitted = take_first(cohort);
}

/* The one who tried is told; others, who came after him, mean to wait. */
static void busy(struct zkl_cohort *cohort, struct zkl_cohort_actions *actions)
{
    if (cohort->first->is_try)
        actions->refused = take_first(cohort);
    actions->turn = cohort->first != NULL;
    cohort->state = cohort->first ? ZKL_COHORT_DUE : ZKL_COHORT_IDLE;
}

static bool may_hand_on(const struct zkl_cohort *cohort, const struct zkl_cohort_event *event)
{
    return cohort->state == ZKL_COHORT_HELD && event->has_lease && cohort->first &&
           cohort->passes < cohort->most_passes && event->now_ns - cohort->granted_ns < cohort->most_ns;
}

static void release(struct zkl_cohort *cohort, const struct zkl_cohort_event *event,
                    struct zkl_cohort_actions *actions)
{
    if (may_hand_on(cohort, event)) {
        cohort->passes++;
        actions->admitted = take_first(cohort);
        return;
    }
    actions->let_go = true;
    ask_if_wanted(cohort, actions);
}

static void give_up(struct zkl_cohort *cohort, struct zkl_cohort_waiter *waiter, struct zkl_cohort_actions *actions)
{
    take_out(cohort, waiter);
    actions->refused = waiter;
    if (!cohort->first)
        stop_asking(cohort, actions);
}

struct zkl_cohort_actions zkl_cohort_step(struct zkl_cohort *cohort, const struct zkl_cohort_event *event)
{
    struct zkl_cohort_actions actions = {0};

    switch (event->type) {
    case ZKL_COHORT_ARRIVE:
        arrive(cohort, event->waiter, &actions);
        break;
    case ZKL_COHORT_GRANTED:
        granted(cohort, event->now_ns, &actions);
        break;
    case ZKL_COHORT_BUSY:
        busy(cohort, &actions);
        break;
    case ZKL_COHORT_FAILED:
        actions.refused = take_all(cohort);
        cohort->state = ZKL_COHORT_IDLE;
        break;
    case ZKL_COHORT_TAKEN:
        cohort->state = ZKL_COHORT_LOST;
        break;
    case ZKL_COHORT_RELEASE:
        release(cohort, event, &actions);
        break;
    case ZKL_COHORT_GIVE_UP:
        give_up(cohort, event->waiter, &actions);
        break;
    case ZKL_COHORT_DISMISS:
        actions.refused = take_all(cohort);
        stop_asking(cohort, &actions);
        break;
    case ZKL_COHORT_TURN:
        if (cohort->state == ZKL_COHORT_DUE)
            ask_if_wanted(cohort, &actions);
        break;
    }
    return actions;
}
