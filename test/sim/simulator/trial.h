/* A plan played in a child process, so that nothing of it outlives a failure, whatever kind that is. */
#ifndef SIMULATOR_TRIAL_H
#define SIMULATOR_TRIAL_H

#include "run.h"

/* What a trial ended with: 0, STATUS_VIOLATION and a property, or anything else that is not well. */
int trial_play(const struct plan *plan, const struct run_options *options, struct figures *out_figures);
/* "two believe that they hold one lock", "signal 6", ... Valid until the next call. */
const char *trial_text(int status);

/* Leaves out of the plan whatever the failure `status` does not need. */
void shrink_plan(struct plan *plan, int status);

#endif
