/* What the store said, each for the one flight that is out. */
#include "recipe/machine_step.h"

/* Parents that vanish between their making and the create, this often in a row, are somebody else's doing. */
#define MOST_ROUNDS 10

static void missing_parent(struct step *step)
{
    struct zkl_machine *machine = step->machine;

    if (machine->has_result)
        zkl_step_move(step, ZKL_GONE);
    else if (machine->rounds++ == MOST_ROUNDS)
        zkl_step_end_and_clean(step, ZKL_OUTCOME_REFUSED);
    else
        zkl_step_move(step, ZKL_PREPARING);
}

void zkl_step_on_created(struct step *step)
{
    struct zkl_machine *machine = step->machine;

    switch (step->event->first) {
    case ZKL_ANSWER_OK:
        machine->node_is_known = true;
        machine->is_verified = true;
        machine->rounds = 0;
        if (machine->has_result)
            zkl_step_move(step, ZKL_DELETING);
        else
            zkl_step_take_listing(step, step->event->second);
        break;
    case ZKL_ANSWER_UNKNOWN:
        zkl_step_move(step, ZKL_FINDING);
        break;
    case ZKL_ANSWER_NO_NODE:
        missing_parent(step);
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

void zkl_step_on_prepared(struct step *step)
{
    switch (step->event->first) {
    case ZKL_ANSWER_OK:
    case ZKL_ANSWER_UNKNOWN: /* the create will tell */
    case ZKL_ANSWER_NO_NODE: /* they vanish as we make them; the rounds are counted */
        zkl_step_move(step, ZKL_CREATING);
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

/* The create was not applied so far. It still can be: the server may keep it in a thread that stands still. */
static void forget_create(struct step *step, bool parent_is_missing)
{
    step->actions.zombie = true;
    if (step->machine->has_result)
        zkl_step_move(step, ZKL_GONE);
    else if (parent_is_missing)
        missing_parent(step);
    else
        zkl_step_move(step, ZKL_CREATING);
}

static void adopt(struct step *step)
{
    struct zkl_machine *machine = step->machine;

    machine->node_is_known = true;
    machine->is_verified = false;
    if (machine->has_result)
        zkl_step_move(step, ZKL_DELETING);
    else
        zkl_step_take_place(step);
}

/* Nobody may look: only the end of the session makes sure. */
static void give_create_up(struct step *step, enum zkl_outcome outcome)
{
    step->actions.zombie = true;
    zkl_step_end(step, outcome);
    zkl_step_move(step, ZKL_GONE);
}

void zkl_step_on_found(struct step *step)
{
    enum zkl_answer barrier = step->event->first;
    enum zkl_answer list = step->event->second;

    if (barrier == ZKL_ANSWER_NO_NODE || (barrier == ZKL_ANSWER_OK && list == ZKL_ANSWER_NO_NODE))
        forget_create(step, true);
    else if (barrier == ZKL_ANSWER_UNKNOWN || list == ZKL_ANSWER_UNKNOWN)
        return;
    else if (barrier == ZKL_ANSWER_DENIED || list == ZKL_ANSWER_DENIED)
        give_create_up(step, ZKL_OUTCOME_DENIED);
    else if (barrier != ZKL_ANSWER_OK || list != ZKL_ANSWER_OK)
        give_create_up(step, ZKL_OUTCOME_REFUSED);
    else if (step->event->place.own_is_present)
        adopt(step);
    else
        forget_create(step, false);
}

void zkl_step_on_surveyed(struct step *step)
{
    if (step->event->first == ZKL_ANSWER_UNKNOWN)
        zkl_step_move(step, ZKL_LISTING);
    else
        zkl_step_take_listing(step, step->event->first);
}

/* The answer about the one ahead, after one that the own node is there. */
static void take_answer_ahead(struct step *step, enum zkl_answer answer)
{
    struct zkl_machine *machine = step->machine;

    switch (answer) {
    case ZKL_ANSWER_OK:
        if (machine->ahead_is_gone)
            zkl_step_pass(step);
        else
            zkl_step_move(step, ZKL_WAITING);
        break;
    case ZKL_ANSWER_NO_NODE:
        zkl_step_pass(step);
        break;
    case ZKL_ANSWER_UNKNOWN:
        break;
    case ZKL_ANSWER_DENIED:
        if (machine->reads_by_exists)
            zkl_step_end_and_clean(step, ZKL_OUTCOME_DENIED);
        machine->reads_by_exists = true;
        break;
    case ZKL_ANSWER_REFUSED:
        zkl_step_end_and_clean(step, ZKL_OUTCOME_REFUSED);
        break;
    case ZKL_ANSWER_NONE: /* nobody is ahead */
        if (machine->must_list && step->event->has_lease)
            zkl_step_move(step, ZKL_LISTING);
        else
            zkl_step_come_to_front(step);
        break;
    }
}

void zkl_step_on_watched(struct step *step)
{
    struct zkl_machine *machine = step->machine;
    enum zkl_answer own = step->event->first;
    bool is_ours = own != ZKL_ANSWER_OK || step->event->owner_is_us;

    if (own == ZKL_ANSWER_UNKNOWN)
        return;
    if (machine->state == ZKL_HELD) {
        /* Where reading the own node is denied, the heartbeat alone tells. */
        machine->own_is_watched = true;
        if (own == ZKL_ANSWER_NO_NODE || !is_ours) {
            machine->node_is_known = false;
            zkl_step_lose(step, ZKL_OUTCOME_REMOVED);
        }
        return;
    }
    if (own == ZKL_ANSWER_NO_NODE || !is_ours) {
        zkl_step_removed(step);
    } else if (own == ZKL_ANSWER_OK) {
        machine->is_verified = true;
        machine->own_is_watched = !machine->own_has_changed;
        machine->own_has_changed = false;
        if (machine->own_is_watched)
            take_answer_ahead(step, step->event->second);
    } else {
        zkl_step_end_and_clean(step, own == ZKL_ANSWER_DENIED ? ZKL_OUTCOME_DENIED : ZKL_OUTCOME_REFUSED);
    }
}

/* Of the writer and of the reader in its place, at most one is there. */
static enum zkl_answer answer_of_both(enum zkl_answer writer, enum zkl_answer reader)
{
    bool is_told_by_writer = writer != ZKL_ANSWER_OK && writer != ZKL_ANSWER_NO_NODE;

    if (reader == ZKL_ANSWER_NONE || reader == ZKL_ANSWER_NO_NODE || is_told_by_writer)
        return writer;
    return reader;
}

/* By its hold limit: that its owner has to release is another matter. */
static void on_deleted_unreleased(struct step *step, enum zkl_answer answer)
{
    struct zkl_machine *machine = step->machine;

    switch (answer) {
    case ZKL_ANSWER_OK:
    case ZKL_ANSWER_NO_NODE:
        machine->node_is_known = false;
        machine->is_downgrading = false;
        machine->downgrade_may_be_done = false;
        break;
    case ZKL_ANSWER_UNKNOWN:
        break;
    case ZKL_ANSWER_DENIED:
    case ZKL_ANSWER_REFUSED:
    case ZKL_ANSWER_NONE: /* the release asks again, and tells */
        machine->goes_unreleased = false;
        break;
    }
}

void zkl_step_on_deleted(struct step *step)
{
    struct zkl_machine *machine = step->machine;
    enum zkl_answer answer = answer_of_both(step->event->first, step->event->second);

    if (machine->state == ZKL_LOST) {
        on_deleted_unreleased(step, answer);
        return;
    }
    switch (answer) {
    case ZKL_ANSWER_OK:
        zkl_step_finish(step, ZKL_OUTCOME_OK);
        break;
    case ZKL_ANSWER_NO_NODE:
        zkl_step_finish(step, machine->delete_may_be_done ? ZKL_OUTCOME_OK : ZKL_OUTCOME_LOST);
        break;
    case ZKL_ANSWER_UNKNOWN:
        machine->delete_may_be_done = true;
        break;
    case ZKL_ANSWER_DENIED:
        step->actions.node_stays = true;
        zkl_step_finish(step, ZKL_OUTCOME_DENIED);
        break;
    case ZKL_ANSWER_REFUSED:
    case ZKL_ANSWER_NONE:
        step->actions.node_stays = true;
        zkl_step_finish(step, ZKL_OUTCOME_REFUSED);
        break;
    }
}

static void settle_downgrade(struct step *step, enum zkl_outcome outcome)
{
    step->machine->is_downgrading = false;
    zkl_step_tell(step, ZKL_NOTICE_DOWNGRADED, outcome);
}

static void become_reader(struct step *step)
{
    settle_downgrade(step, ZKL_OUTCOME_OK);
    step->machine->downgrade_may_be_done = false;
    step->machine->is_downgraded = true;
    step->machine->own_is_watched = true;
}

/* A reader that may not be looked at may be there all the same: the release deletes both. */
static void lose_writer(struct step *step, bool reader_may_be_there)
{
    step->machine->is_downgrading = false;
    step->machine->downgrade_may_be_done = reader_may_be_there;
    step->machine->node_is_known = reader_may_be_there;
    zkl_step_lose(step, ZKL_OUTCOME_REMOVED);
}

/* The transaction is sent again until its fate is known: once the writer is gone it can change nothing any more. */
void zkl_step_on_downgraded(struct step *step)
{
    enum zkl_answer transaction = step->event->first;
    enum zkl_answer reader = step->event->second;
    bool is_hidden = reader == ZKL_ANSWER_DENIED || reader == ZKL_ANSWER_REFUSED;

    if (reader == ZKL_ANSWER_OK && step->event->owner_is_us)
        become_reader(step);
    else if (transaction == ZKL_ANSWER_UNKNOWN || reader == ZKL_ANSWER_UNKNOWN)
        step->machine->downgrade_may_be_done = true;
    else if (transaction == ZKL_ANSWER_OK && is_hidden)
        become_reader(step); /* the heartbeat alone tells of its end */
    else if (transaction == ZKL_ANSWER_OK || transaction == ZKL_ANSWER_NO_NODE)
        lose_writer(step, is_hidden);
    else
        settle_downgrade(step, transaction == ZKL_ANSWER_DENIED ? ZKL_OUTCOME_DENIED : ZKL_OUTCOME_REFUSED);
}

/* Nothing of the flight was applied. */
void zkl_step_on_unsent(struct step *step)
{
    step->machine->is_blocked = true;
    if (step->machine->state == ZKL_CREATING && step->machine->has_result)
        zkl_step_move(step, ZKL_GONE);
}
