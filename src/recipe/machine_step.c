/* The moves that more than one event leads to, and the place in the queue. */
#include "recipe/machine_step.h"

#include <assert.h>

/* The only place that changes the state. The answer of a flight that is still out belongs to the state that is left, and
 * so does what could wait there. */
void zkl_step_move(struct step *step, enum zkl_state to)
{
    struct zkl_machine *machine = step->machine;

    assert(zkl_move_is_allowed(machine->state, to));
    machine->state = to;
    machine->is_in_flight = false;
    machine->watch_can_wait = false;
}

void zkl_step_tell(struct step *step, enum zkl_notice notice, enum zkl_outcome outcome)
{
    step->actions.notice = notice;
    step->actions.outcome = outcome;
}

/* The acquire ends without the lock, unless it has its result already. */
void zkl_step_end(struct step *step, enum zkl_outcome outcome)
{
    if (step->machine->has_result)
        return;
    step->machine->has_result = true;
    zkl_step_tell(step, ZKL_NOTICE_ENDED, outcome);
}

void zkl_step_end_and_clean(struct step *step, enum zkl_outcome outcome)
{
    zkl_step_end(step, outcome);
    zkl_step_move(step, step->machine->node_is_known ? ZKL_DELETING : ZKL_GONE);
}

/* Somebody else deleted the contender while it waited. */
void zkl_step_removed(struct step *step)
{
    step->machine->node_is_known = false;
    zkl_step_end_and_clean(step, ZKL_OUTCOME_REMOVED);
}

void zkl_step_lose(struct step *step, enum zkl_outcome reason)
{
    step->machine->was_lost = true;
    zkl_step_tell(step, ZKL_NOTICE_LOST, reason);
    zkl_step_move(step, ZKL_LOST);
}

/* What RELEASE brought, or the clean-up after an acquire that failed. */
void zkl_step_finish(struct step *step, enum zkl_outcome outcome)
{
    struct zkl_machine *machine = step->machine;

    if (machine->is_released)
        zkl_step_tell(step, ZKL_NOTICE_RELEASED, machine->was_lost ? ZKL_OUTCOME_LOST : outcome);
    zkl_step_move(step, ZKL_GONE);
}

/* Nobody is ahead. */
void zkl_step_come_to_front(struct step *step)
{
    struct zkl_machine *machine = step->machine;

    machine->is_behind = false;
    if (!step->event->has_lease)
        machine->must_list = true;
    if (step->event->has_lease && machine->is_verified) {
        machine->has_result = true;
        machine->was_granted = true;
        zkl_step_tell(step, ZKL_NOTICE_GRANTED, ZKL_OUTCOME_OK);
        zkl_step_move(step, ZKL_HELD);
        machine->watch_can_wait = !machine->own_is_watched && !machine->is_guard;
    } else if (!machine->own_is_watched) {
        zkl_step_move(step, ZKL_WATCHING);
    } else if (machine->state != ZKL_WAITING) {
        zkl_step_move(step, ZKL_WAITING);
    }
}

/* A listing says where we stand. */
void zkl_step_take_place(struct step *step)
{
    struct zkl_machine *machine = step->machine;
    const struct zkl_place *place = &step->event->place;

    if (!place->own_is_present) {
        zkl_step_end_and_clean(step, ZKL_OUTCOME_REMOVED);
    } else if (place->has_other_limit) {
        zkl_step_end_and_clean(step, ZKL_OUTCOME_OTHER_LIMIT);
    } else if (place->is_mixed) {
        zkl_step_end_and_clean(step, ZKL_OUTCOME_MIXED);
    } else if (place->is_unordered) {
        zkl_step_end_and_clean(step, ZKL_OUTCOME_REFUSED);
    } else if (place->needs_survey) {
        zkl_step_move(step, ZKL_SURVEYING);
    } else if (place->ahead_count == 0) {
        machine->must_list = false;
        zkl_step_come_to_front(step);
    } else if (machine->is_try) {
        zkl_step_end_and_clean(step, ZKL_OUTCOME_BUSY);
    } else {
        machine->is_behind = true;
        machine->is_next = place->ahead_count == 1 && place->ahead_is_plain;
        machine->ahead_is_gone = false;
        machine->must_list = false;
        zkl_step_move(step, ZKL_WATCHING);
    }
}

void zkl_step_take_listing(struct step *step, enum zkl_answer answer)
{
    switch (answer) {
    case ZKL_ANSWER_OK:
        zkl_step_take_place(step);
        break;
    case ZKL_ANSWER_UNKNOWN:
        if (step->machine->state != ZKL_LISTING)
            zkl_step_move(step, ZKL_LISTING);
        break;
    case ZKL_ANSWER_NO_NODE:
        zkl_step_end_and_clean(step, ZKL_OUTCOME_REMOVED);
        break;
    case ZKL_ANSWER_DENIED:
        zkl_step_end_and_clean(step, ZKL_OUTCOME_DENIED);
        break;
    case ZKL_ANSWER_REFUSED:
    case ZKL_ANSWER_NONE:
        zkl_step_end_and_clean(step, ZKL_OUTCOME_REFUSED);
        break;
    }
}

/* The one right ahead is gone: that is the grant when no other was ahead. */
void zkl_step_pass(struct step *step)
{
    if (step->machine->is_next)
        zkl_step_come_to_front(step);
    else
        zkl_step_move(step, ZKL_LISTING);
}
