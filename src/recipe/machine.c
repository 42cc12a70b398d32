#include "recipe/machine.h"

#include <string.h>

#include "recipe/machine_step.h"

void zkl_machine_init(struct zkl_machine *machine, bool is_try, bool is_connected)
{
    memset(machine, 0, sizeof *machine);
    machine->is_try = is_try;
    machine->is_connected = is_connected;
}

/* What the state needs from the store. */
static enum zkl_ask wish(const struct zkl_machine *machine)
{
    switch (machine->state) {
    case ZKL_CREATING:
        return machine->is_guarded && !machine->has_guard ? ZKL_ASK_NOTHING : ZKL_ASK_CREATE;
    case ZKL_PREPARING:
        return ZKL_ASK_PREPARE;
    case ZKL_FINDING:
        return ZKL_ASK_FIND;
    case ZKL_LISTING:
        return ZKL_ASK_LIST;
    case ZKL_SURVEYING:
        return ZKL_ASK_SURVEY;
    case ZKL_WATCHING:
        return machine->is_behind ? ZKL_ASK_WATCH : ZKL_ASK_WATCH_OWN;
    case ZKL_HELD:
        if (machine->is_downgrading)
            return ZKL_ASK_DOWNGRADE;
        if (machine->own_is_watched || machine->watch_can_wait || machine->is_guard)
            return ZKL_ASK_NOTHING;
        return ZKL_ASK_WATCH_OWN;
    case ZKL_LOST:
        return machine->goes_unreleased && machine->node_is_known ? ZKL_ASK_DELETE : ZKL_ASK_NOTHING;
    case ZKL_DELETING:
        return ZKL_ASK_DELETE;
    case ZKL_NEW:
    case ZKL_WAITING:
    case ZKL_GONE:
    case ZKL_STATE_COUNT:
        break;
    }
    return ZKL_ASK_NOTHING;
}

static void ask(struct step *step)
{
    struct zkl_machine *machine = step->machine;

    if (!machine->is_connected || machine->is_in_flight || machine->is_blocked)
        return;
    step->actions.ask = wish(machine);
    step->actions.by_exists = machine->reads_by_exists;
    if (step->actions.ask != ZKL_ASK_NOTHING) {
        machine->is_in_flight = true;
        machine->flight++;
    }
}

/* Whether an answer belongs to the flight that is out. */
static bool is_awaited(const struct zkl_machine *machine, const struct zkl_event *event)
{
    return machine->is_in_flight && event->flight == machine->flight;
}

static bool is_answer(enum zkl_event_type type)
{
    return type >= ZKL_EV_CREATED && type <= ZKL_EV_UNSENT;
}

static void dispatch(struct step *step)
{
    struct zkl_machine *machine = step->machine;

    switch (step->event->type) {
    case ZKL_EV_START:
        if (machine->state == ZKL_NEW)
            zkl_step_move(step, ZKL_CREATING);
        break;
    case ZKL_EV_CREATED: zkl_step_on_created(step); break;
    case ZKL_EV_PREPARED: zkl_step_on_prepared(step); break;
    case ZKL_EV_FOUND: zkl_step_on_found(step); break;
    case ZKL_EV_LISTED: zkl_step_take_listing(step, step->event->first); break;
    case ZKL_EV_SURVEYED: zkl_step_on_surveyed(step); break;
    case ZKL_EV_WATCHED: zkl_step_on_watched(step); break;
    case ZKL_EV_DELETED: zkl_step_on_deleted(step); break;
    case ZKL_EV_DOWNGRADED: zkl_step_on_downgraded(step); break;
    case ZKL_EV_UNSENT: zkl_step_on_unsent(step); break;
    case ZKL_EV_RETRY: machine->is_blocked = false; break;
    case ZKL_EV_OWN_GONE: zkl_step_on_own_gone(step); break;
    case ZKL_EV_OWN_CHANGED: zkl_step_on_own_changed(step); break;
    case ZKL_EV_AHEAD_GONE: zkl_step_on_ahead(step, true); break;
    case ZKL_EV_AHEAD_CHANGED: zkl_step_on_ahead(step, false); break;
    case ZKL_EV_CONNECTED:
        machine->is_connected = true;
        machine->is_blocked = false;
        /* The news of all watches come now, in any order: that of the own node may be behind that of the one ahead. */
        machine->is_next = false;
        break;
    case ZKL_EV_DISCONNECTED: machine->is_connected = false; break;
    case ZKL_EV_EXPIRED: zkl_step_on_expired(step); break;
    case ZKL_EV_LEASED: zkl_step_on_leased(step); break;
    case ZKL_EV_LAPSED: zkl_step_on_lapsed(step); break;
    case ZKL_EV_GIVE_UP: zkl_step_on_give_up(step); break;
    case ZKL_EV_RELEASE: zkl_step_on_release(step); break;
    case ZKL_EV_DOWNGRADE: zkl_step_on_downgrade(step); break;
    case ZKL_EV_LOOK: zkl_step_on_look(step); break;
    case ZKL_EV_GUARDED: machine->has_guard = true; break;
    case ZKL_EV_HOLD_OVER: zkl_step_on_hold_over(step); break;
    case ZKL_EV_COUNT: break;
    }
}

struct zkl_actions zkl_machine_step(struct zkl_machine *machine, const struct zkl_event *event)
{
    struct step step = {.machine = machine, .event = event};

    if (is_answer(event->type)) {
        if (!is_awaited(machine, event))
            return step.actions;
        machine->is_in_flight = false;
    }
    dispatch(&step);
    ask(&step);
    return step.actions;
}

bool zkl_machine_awaits_look(const struct zkl_machine *machine)
{
    bool is_blind = machine->state == ZKL_WAITING && machine->is_behind && machine->reads_by_exists;

    return is_blind || machine->watch_can_wait;
}
