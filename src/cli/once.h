/* --once-per: whether the command has run somewhere within the period, by the clock of ZooKeeper's leader. */
#ifndef CLI_ONCE_H
#define CLI_ONCE_H

#include "exec.h"

/* With the lock held. EXEC_GOES_ON: it is to be run. 0: it has run. Else the exit status; why was said. */
int once_check(struct exec *exec);

/* It has run, and with success. Returns 0 or the exit status; why was said. */
int once_note(struct exec *exec);

#endif
