/* What happened, and what the owner wants: each event is one switch over all states. */
#include "recipe/machine_step.h"

/*
 * The end of the session brings the same news to a client that was frozen meanwhile, and before that of the end itself:
 * who waits asks again, and only a session that lives is answered. A holder has no such doubt while its lease runs.
 */
void zkl_step_on_own_gone(struct step *step)
{
    struct zkl_machine *machine = step->machine;

    switch (machine->state) {
    case ZKL_LISTING:
    case ZKL_SURVEYING:
    case ZKL_WATCHING:
    case ZKL_WAITING:
        machine->is_verified = false;
        zkl_step_on_own_changed(step);
        break;
    case ZKL_HELD:
        /* The writer goes as the reader comes: the transaction's answer will tell. */
        if (machine->is_downgrading)
            break;
        machine->node_is_known = zkl_machine_has_two_names(machine);
        zkl_step_lose(step, step->event->has_lease ? ZKL_OUTCOME_REMOVED : ZKL_OUTCOME_LEASE);
        break;
    case ZKL_LOST:
        machine->node_is_known = zkl_machine_has_two_names(machine);
        break;
    case ZKL_DELETING: /* our own doing, or the delete's answer will tell */
    case ZKL_NEW:
    case ZKL_CREATING:
    case ZKL_PREPARING:
    case ZKL_FINDING:
    case ZKL_GONE:
    case ZKL_STATE_COUNT:
        break;
    }
}

void zkl_step_on_own_changed(struct step *step)
{
    struct zkl_machine *machine = step->machine;

    switch (machine->state) {
    case ZKL_WAITING:
        machine->own_is_watched = false;
        zkl_step_move(step, ZKL_WATCHING);
        break;
    case ZKL_LISTING:
    case ZKL_SURVEYING:
    case ZKL_HELD:
        machine->own_is_watched = false;
        break;
    case ZKL_WATCHING: /* the watch that this flight planted may be the one that fired */
        machine->own_has_changed = true;
        break;
    case ZKL_NEW:
    case ZKL_CREATING:
    case ZKL_PREPARING:
    case ZKL_FINDING:
    case ZKL_LOST:
    case ZKL_DELETING:
    case ZKL_GONE:
    case ZKL_STATE_COUNT:
        break;
    }
}

void zkl_step_on_ahead(struct step *step, bool is_gone)
{
    struct zkl_machine *machine = step->machine;

    switch (machine->state) {
    case ZKL_WATCHING:
        machine->ahead_is_gone |= is_gone;
        break;
    case ZKL_WAITING:
        if (machine->is_behind && is_gone)
            zkl_step_pass(step);
        else if (machine->is_behind)
            zkl_step_move(step, ZKL_WATCHING);
        break;
    case ZKL_NEW:
    case ZKL_CREATING:
    case ZKL_PREPARING:
    case ZKL_FINDING:
    case ZKL_LISTING:
    case ZKL_SURVEYING:
    case ZKL_HELD:
    case ZKL_LOST:
    case ZKL_DELETING:
    case ZKL_GONE:
    case ZKL_STATE_COUNT:
        break;
    }
}

/* Who waits asks as after any news of the one ahead; who holds asks for the watch that could wait. */
void zkl_step_on_look(struct step *step)
{
    step->machine->watch_can_wait = false;
    zkl_step_on_ahead(step, false);
}

/* Queue again on the next session, at the end. */
static void queue_again(struct step *step)
{
    struct zkl_machine *machine = step->machine;

    if (machine->has_result) {
        zkl_step_move(step, ZKL_GONE);
        return;
    }
    if (machine->state != ZKL_CREATING) {
        zkl_step_tell(step, ZKL_NOTICE_REQUEUED, ZKL_OUTCOME_OK);
        zkl_step_move(step, ZKL_CREATING);
    }
    machine->is_verified = false;
    machine->own_is_watched = false;
    machine->is_behind = false;
    machine->must_list = false;
    machine->has_guard = false;
}

void zkl_step_on_expired(struct step *step)
{
    struct zkl_machine *machine = step->machine;

    machine->is_connected = false;
    machine->is_in_flight = false;
    machine->node_is_known = false;
    switch (machine->state) {
    case ZKL_CREATING:
    case ZKL_PREPARING:
    case ZKL_FINDING:
    case ZKL_LISTING:
    case ZKL_SURVEYING:
    case ZKL_WATCHING:
    case ZKL_WAITING:
        queue_again(step);
        break;
    case ZKL_HELD:
        zkl_step_lose(step, ZKL_OUTCOME_EXPIRED);
        break;
    case ZKL_DELETING:
        zkl_step_finish(step, ZKL_OUTCOME_OK);
        break;
    case ZKL_NEW:
    case ZKL_LOST:
    case ZKL_GONE:
    case ZKL_STATE_COUNT:
        break;
    }
}

void zkl_step_on_leased(struct step *step)
{
    if (step->machine->state == ZKL_WAITING && !step->machine->is_behind)
        zkl_step_move(step, ZKL_LISTING);
}

void zkl_step_on_lapsed(struct step *step)
{
    if (step->machine->state == ZKL_HELD)
        zkl_step_lose(step, ZKL_OUTCOME_LEASE);
}

static enum zkl_outcome reason_to_give_up(const struct step *step)
{
    bool is_behind = step->machine->is_behind || step->event->guard_is_behind;

    if (step->event->why == ZKL_OUTCOME_LIMIT && !is_behind)
        return ZKL_OUTCOME_NO_SERVER;
    return step->event->why;
}

void zkl_step_on_give_up(struct step *step)
{
    struct zkl_machine *machine = step->machine;
    enum zkl_outcome why = reason_to_give_up(step);

    switch (machine->state) {
    case ZKL_CREATING:
        if (machine->is_in_flight)
            zkl_step_end(step, why);
        else
            zkl_step_end_and_clean(step, why);
        break;
    case ZKL_FINDING:
        zkl_step_end(step, why);
        break;
    case ZKL_NEW:
    case ZKL_PREPARING:
    case ZKL_LISTING:
    case ZKL_SURVEYING:
    case ZKL_WATCHING:
    case ZKL_WAITING:
        zkl_step_end_and_clean(step, why);
        break;
    case ZKL_HELD:
        if (why == ZKL_OUTCOME_CLOSED) {
            zkl_step_lose(step, why);
            zkl_step_move(step, ZKL_DELETING);
        }
        break;
    case ZKL_LOST:
        if (why == ZKL_OUTCOME_CLOSED)
            zkl_step_move(step, machine->node_is_known ? ZKL_DELETING : ZKL_GONE);
        break;
    case ZKL_DELETING:
    case ZKL_GONE:
    case ZKL_STATE_COUNT:
        break;
    }
}

void zkl_step_on_release(struct step *step)
{
    struct zkl_machine *machine = step->machine;

    if (machine->state != ZKL_HELD && machine->state != ZKL_LOST)
        return;
    machine->is_released = true;
    machine->was_lost |= !step->event->has_lease;
    if (machine->node_is_known)
        zkl_step_move(step, ZKL_DELETING);
    else
        zkl_step_finish(step, ZKL_OUTCOME_LOST);
}

void zkl_step_on_downgrade(struct step *step)
{
    if (step->machine->state == ZKL_HELD && !step->machine->is_downgraded)
        step->machine->is_downgrading = true;
}

/* Others shall have it, whatever its owner does meanwhile. */
void zkl_step_on_hold_over(struct step *step)
{
    if (step->machine->state != ZKL_HELD)
        return;
    step->machine->goes_unreleased = true;
    zkl_step_lose(step, ZKL_OUTCOME_HOLD_LIMIT);
}
