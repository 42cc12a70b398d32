/*
 * A cohort: those who want the same lock through one contender, and hand it on among themselves. What to do next, as a
 * pure function of what happened. The queue of those who wait is part of it; its elements are the caller's.
 *
 *              arrive               granted            lost
 *      IDLE ----------> ASKED ----------------> HELD --------> LOST
 *       ^                ^ | ^                  |  ^ |           |
 *       |           turn | | busy, and   handed |  | | released: |
 *       |                | v others wait    on  +--+ | asked     |
 *       |                DUE                         | anew, or  |
 *       |                                            v idle      v
 *       +--- failed, dismissed, the last gave up ----+-----------+
 *
 * Invariants
 *  1. There is one owner in HELD and LOST, and none else: whoever was admitted last, until he releases.
 *  2. In ASKED and DUE somebody waits, in IDLE nobody.
 *  3. A grant is handed on at most `most_passes` times, never `most_ns` or later after it began, and only on a lease.
 *     So of one place in the queue outside come most_passes + 1 owners at most; whoever stands behind it is next then.
 *  4. Who came first is admitted first.
 */
#ifndef ZKL_COHORT_H
#define ZKL_COHORT_H

#include <stdbool.h>
#include <stdint.h>

enum zkl_cohort_state {
    ZKL_COHORT_IDLE,
    ZKL_COHORT_ASKED, /* the contender is on its way */
    ZKL_COHORT_DUE,   /* to be asked for at the next TURN */
    ZKL_COHORT_HELD,
    ZKL_COHORT_LOST,  /* and not released */
};

struct zkl_cohort_waiter {
    struct zkl_cohort_waiter *next;
    bool is_try; /* waits for nobody */
};

struct zkl_cohort {
    enum zkl_cohort_state state;
    struct zkl_cohort_waiter *first; /* who came first; NULL: nobody waits */
    struct zkl_cohort_waiter *last;
    int64_t granted_ns;
    unsigned passes; /* since then */
    unsigned most_passes;
    int64_t most_ns;
};

enum zkl_cohort_event_type {
    ZKL_COHORT_ARRIVE,  /* `waiter`, who is nowhere in the queue */
    ZKL_COHORT_GRANTED, /* what was asked for */
    ZKL_COHORT_BUSY,    /* what was asked as a try is somebody else's */
    ZKL_COHORT_FAILED,  /* what was asked for will not come */
    ZKL_COHORT_TAKEN,   /* the lock was lost */
    ZKL_COHORT_RELEASE, /* by the owner */
    ZKL_COHORT_GIVE_UP, /* `waiter`, who is in the queue */
    ZKL_COHORT_DISMISS, /* nobody has anything to wait for any more */
    ZKL_COHORT_TURN,
};

struct zkl_cohort_event {
    enum zkl_cohort_event_type type;
    struct zkl_cohort_waiter *waiter;
    int64_t now_ns;
    bool has_lease;
};

/* To be done in this order. */
struct zkl_cohort_actions {
    struct zkl_cohort_waiter *refused;  /* he, and those behind him by `next`, get nothing and are out of the queue */
    struct zkl_cohort_waiter *admitted; /* the owner from now on */
    bool cancel;                        /* what was asked for */
    bool let_go;                        /* of the contender that holds or was lost */
    bool ask;                           /* with a contender of its own; a failure to do so is FAILED */
    bool is_try;
    bool turn;                          /* feed TURN soon, from where asking is possible */
};

struct zkl_cohort_actions zkl_cohort_step(struct zkl_cohort *cohort, const struct zkl_cohort_event *event);

#endif
