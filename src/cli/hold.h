/* Several locks of one session as one: held while all of them are, lost as soon as one of them is. */
#ifndef CLI_HOLD_H
#define CLI_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "zklock.h"

struct hold {
    zklock **locks;
    int count;
    int fd; /* readable when one of the locks' descriptors is; -1: none */
};

/* Room for `most` locks. Returns 0 or an errno. */
int hold_init(struct hold *hold, int most);
/* Takes a lock over. Returns 0 or an errno; then the lock stays the caller's. */
int hold_add(struct hold *hold, zklock *lock);
/* Frees the locks, with which what they hold is released. */
void hold_clear(struct hold *hold);

/* Makes the descriptor unreadable until the next event. */
void hold_clear_fd(const struct hold *hold);

bool hold_is_held(const struct hold *hold);
/* The least of all. */
int64_t hold_remaining_ms(const struct hold *hold);
/* The worst of all: LOST before SUSPENDED before HELD; how it was lost. `out_loss` may be NULL. */
zklock_state hold_state(const struct hold *hold, zklock_loss *out_loss);
/* Of all locks together. */
unsigned hold_revocations(const struct hold *hold);

/* Lets go of all of them, the last one first, within one limit. The first status that is not ZKLOCK_OK, and LOST before others. */
zklock_status hold_release(const struct hold *hold, int64_t timeout_ms);

#endif
