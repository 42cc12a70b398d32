/*
 * Long random schedules at full grain. Whoever plays against the lease knows what hurts: time goes on to where
 * something is due, and whole directions stand still for a while.
 */
#ifndef TEST_LEASE_ROAM_H
#define TEST_LEASE_ROAM_H

#include "explore.h"

struct journey {
    int64_t runs;
    uint64_t seed;
    int most_moves; /* a run */
};

/* Each run draws T, tick, phases and one of the three clock rates that `setting` allows. */
void roam(const struct setting *setting, const struct journey *journey, struct finding *out_finding);

#endif
