/* Everything that can happen next in a world. */
#ifndef SIM_STEPS_H
#define SIM_STEPS_H

#include <stddef.h>

#include "world.h"

enum step_kind {
    /* The ordinary course: what will happen sooner or later, in the order in which a calm world goes on. */
    STEP_NOTICE_CUT,
    STEP_NOTICE_LAPSE,
    STEP_NOTICE_EXPIRY,
    STEP_OPEN_FRESH,
    STEP_RECONNECT,       /* argument: the events of the watches come backwards */
    STEP_LATE_CREATE,     /* argument: token, plus 8 for a negative number */
    STEP_LATE_DELETE,     /* argument: slot */
    STEP_LATE_DOWNGRADE,  /* argument: slot */
    STEP_DELIVER,
    STEP_APPLY,           /* argument: a create gets a negative number */
    STEP_RETRY,
    STEP_EARN_LEASE,
    STEP_BEAT,            /* a heartbeat finds that the own node is gone */
    STEP_SWEEP,
    STEP_START,
    STEP_WATCH,           /* a holder asks for the watch that could wait */
    STEP_GUARD,           /* it is its turn to make a lease */
    STEP_RELEASE,
    STEP_LOOK,            /* at the one ahead, whose events do not come; argument: it is gone */
    STEP_ORDINARY_COUNT,

    /* What may happen, out of a budget. */
    STEP_GIVE_UP = STEP_ORDINARY_COUNT, /* argument: why, cancelled or the limit */
    STEP_CLOSE,
    STEP_DOWNGRADE,
    STEP_RAISE,  /* the limit of the semaphore */
    STEP_HOLD_OVER, /* it has held for as long as it may */
    STEP_EXPIRE, /* free, once the lease is over */
    STEP_CUT,
    STEP_FREEZE,
    STEP_LAPSE,
    STEP_KILL,   /* argument: slot */
    STEP_CHANGE, /* argument: slot */
    STEP_REMOVE_PARENT,
    STEP_FAIL_TO_SEND,
    STEP_TIME_OUT,
    STEP_COUNT
};

struct step {
    uint8_t kind;
    uint8_t client; /* NONE: the world's */
    uint8_t argument;
};

#define MOST_STEPS 96
#define ALL_FAULTS (~UINT64_C(0) << STEP_CUT)

/* Fills in the steps that are possible; returns how many. */
int steps_list(const struct world *world, struct step out_steps[MOST_STEPS]);
/* From now on an assertion that fails in a step ends that step and not the program. */
void steps_catch_assertions(void);
/* Takes one; returns what it broke, or NULL. */
const char *steps_take(struct world *world, const struct step *step);
/* The next step of a world in which nothing goes wrong any more. False: nothing is left to do. */
bool steps_calm(const struct world *world, struct step *out_step);

#endif
