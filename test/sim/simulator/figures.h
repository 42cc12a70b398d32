/* What happened in a run, in numbers. */
#ifndef SIMULATOR_FIGURES_H
#define SIMULATOR_FIGURES_H

#include <stdint.h>

#include "plan.h"

#define STATUS_COUNT 32
#define LOSS_COUNT 5

struct figures {
    uint64_t worlds;
    uint64_t events;
    int64_t virtual_ns;
    uint64_t acquires;
    uint64_t grants;
    uint64_t shared_grants; /* of these, to readers */
    uint64_t downgrades;
    uint64_t several_grants; /* of several as one */
    uint64_t handed_on;      /* from a thread to the next */
    uint64_t requeued;
    uint64_t suspended;
    uint64_t writes; /* entries of the log */
    uint64_t sessions;
    uint64_t excused;  /* losses by an operator's deletion, seen while it was under way */
    uint64_t results[STATUS_COUNT];
    uint64_t losses[LOSS_COUNT];
    uint64_t items[ITEM_KIND_COUNT];
    uint64_t expired_holders; /* the server ended their sessions */
    int64_t narrowest_ns;     /* from the end of such a holder's lease to that */
    int64_t longest_drain_ns; /* from the end of the last fault until nobody waited */
    uint64_t digest;
};

void figures_add(struct figures *sum, const struct figures *more);
void figures_print(const struct figures *figures, double seconds, double cpu_seconds);

#endif
