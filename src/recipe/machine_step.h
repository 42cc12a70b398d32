/* One step of the machine, shared by the files that make it up: nobody else includes this. */
#ifndef ZKL_MACHINE_STEP_H
#define ZKL_MACHINE_STEP_H

#include "recipe/machine.h"

struct step {
    struct zkl_machine *machine;
    const struct zkl_event *event;
    struct zkl_actions actions;
};

/* machine_step.c: the moves that more than one event leads to. */
void zkl_step_move(struct step *step, enum zkl_state to);
void zkl_step_tell(struct step *step, enum zkl_notice notice, enum zkl_outcome outcome);
void zkl_step_end(struct step *step, enum zkl_outcome outcome);
void zkl_step_end_and_clean(struct step *step, enum zkl_outcome outcome);
void zkl_step_removed(struct step *step);
void zkl_step_lose(struct step *step, enum zkl_outcome reason);
void zkl_step_finish(struct step *step, enum zkl_outcome outcome);
void zkl_step_take_listing(struct step *step, enum zkl_answer answer);
void zkl_step_come_to_front(struct step *step);
void zkl_step_take_place(struct step *step);
void zkl_step_pass(struct step *step);

/* machine_answers.c: what the store said. */
void zkl_step_on_created(struct step *step);
void zkl_step_on_prepared(struct step *step);
void zkl_step_on_found(struct step *step);
void zkl_step_on_surveyed(struct step *step);
void zkl_step_on_watched(struct step *step);
void zkl_step_on_deleted(struct step *step);
void zkl_step_on_downgraded(struct step *step);
void zkl_step_on_unsent(struct step *step);

/* machine_news.c: what happened, and what the owner wants. Each a switch over all states. */
void zkl_step_on_own_gone(struct step *step);
void zkl_step_on_own_changed(struct step *step);
void zkl_step_on_ahead(struct step *step, bool is_gone);
void zkl_step_on_look(struct step *step);
void zkl_step_on_expired(struct step *step);
void zkl_step_on_leased(struct step *step);
void zkl_step_on_lapsed(struct step *step);
void zkl_step_on_give_up(struct step *step);
void zkl_step_on_release(struct step *step);
void zkl_step_on_downgrade(struct step *step);
void zkl_step_on_hold_over(struct step *step);

#endif
