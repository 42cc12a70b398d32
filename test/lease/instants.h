/* The moments that matter from here on: where something is due, or a condition of a rule comes true. */
#ifndef TEST_LEASE_INSTANTS_H
#define TEST_LEASE_INSTANTS_H

#include "world.h"

#define MOST_INSTANTS 16

struct instants {
    int64_t at_ns[MOST_INSTANTS];
    int count;
};

/* In no order, each once, none beyond what must happen first. */
void instants_find(const struct setting *setting, const struct world *world, struct instants *out_instants);
void instants_add(struct instants *instants, const struct world *world, int64_t at_ns);

#endif
