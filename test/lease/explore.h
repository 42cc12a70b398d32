/*
 * Every schedule within bounds: at each moment of a grid, and at those where something is due, whatever can happen may
 * happen, in any order. States that were seen are not looked into again.
 */
#ifndef TEST_LEASE_EXPLORE_H
#define TEST_LEASE_EXPLORE_H

#include "world.h"

struct bounds {
    int64_t grid_ms;
    bool at_instants; /* time stops at each moment that matters, too */
    int64_t horizon_ms;
    int64_t most_states;
    int most_moves; /* 0: no limit */
};

#define MOST_STEPS 600

/* What was found, the worst schedule included. */
struct finding {
    int64_t states;     /* explored: states; roamed: moves */
    int64_t schedules;  /* ends of schedules that were reached */
    int64_t violations; /* schedules that end in one */
    int64_t margin_ns;  /* the least; NEVER: there was no lease */
    bool is_cut_short;  /* most_states was reached */
    struct timed_move {
        int64_t at_ns;
        struct move move;
    } steps[MOST_STEPS]; /* of the first violation */
    int step_count;
    struct setting setting; /* and where it happened */
};

/* Adds to `out_finding`, which the caller has cleared. Stops at the first violation if so asked. */
void explore(const struct setting *setting, const struct bounds *bounds, bool stops_at_violation,
             struct finding *out_finding);
/* A violation with the fewest moves; false when none has so few. */
#define MOST_SHORT_MOVES 24
bool explore_shortest(const struct setting *setting, const struct bounds *bounds, struct finding *out_finding);

void finding_clear(struct finding *finding);
void finding_add(struct finding *sum, const struct finding *added);

#endif
