/* What is promised: of each notice when it is told, and of each world. */
#ifndef SIM_PROMISES_H
#define SIM_PROMISES_H

#include "world.h"

/* Looks at what a machine's step says; a broken promise goes to driver_violation. */
void promises_hear(const struct world *world, struct client *client, const struct zkl_actions *actions);

/* What is wrong with a world, in words; NULL: nothing. */
const char *promises_check(const struct world *world);

/* Whether all have come to an end and have left nothing. */
bool promises_are_kept(const struct world *world);

#endif
