/* Signals while no command runs that they could be meant for: before the lock is had, under --min-hold, and between two
 * campaigns. */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include "keeper.h"

/* Takes in what has come: Ctrl-Z stops zklock, children that have ended are reaped, as process 1 gets them. Returns the
 * first signal that asks us to go, or 0. `keeper` may be NULL; one that has ended is forgotten. */
int waiting_end_signal(int signal_fd, struct keeper *keeper);

#endif
