/* One world from its beginning to its end: a time of chaos, a calm time in which everybody must be served, and the
 * end, after which nothing may be left. */
#ifndef SIMULATOR_RUN_H
#define SIMULATOR_RUN_H

#include "checker.h"
#include "ensemble.h"
#include "figures.h"
#include "plan.h"

#define MOST_PATHS_OF_A_WORLD 32
#define MOST_CLIENTS 64

struct run {
    struct world world;
    struct ensemble ensemble;
    const struct plan *plan;
    size_t next_item; /* of the plan */
    struct figures figures;
    bool is_quiet;
    uint64_t look_count;
    bool has_departures; /* for the main loop */

    struct process *slots[MOST_CLIENTS]; /* who lives there; NULL: nobody */
    int slot_generations[MOST_CLIENTS];
    struct process *processes; /* all that ever lived, the youngest first */
    struct lock_path paths[MOST_PATHS_OF_A_WORLD];
};

struct run_options {
    bool is_traced;
    bool is_quiet; /* of what is violated, only the exit status tells */
};

/* Plays the plan. Does not return if a property is violated. */
void run_play(const struct plan *plan, const struct run_options *options, struct figures *out_figures);

/* For tests that play something of their own. */
void run_init(struct run *run, const struct plan *plan, const struct run_options *options);
/* Lets the world go on until then. */
void run_until(struct run *run, int64_t until_ns);
void run_clear(struct run *run);
/* One event, and nothing else. For calls that would wait. */
void run_pump(void);

#endif
