/* What exec holds: a lock for each of its paths, taken as one. Held while all of them are, lost as soon as one of them is. */
#ifndef CLI_HOLD_H
#define CLI_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "zklock.h"

struct hold {
    zklock_multi *multi;
    zklock **locks; /* in the order in which they were added; the multi's */
    int count;
    int fd; /* readable at every event of one of the locks; -1: none */
};

/* Room for `most` locks of this session. */
zklock_status hold_init(struct hold *hold, zklock_session *session, int most);
zklock_status hold_add(struct hold *hold, const char *path, const zklock_options *options);
/* Frees the locks, with which what they hold is released. */
void hold_clear(struct hold *hold);

/* Which of the locks is waited for, or decided how the acquire ended. */
int hold_current(const struct hold *hold);
/* Of all locks together. */
unsigned hold_revocations(const struct hold *hold);

#endif
