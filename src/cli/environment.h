/* The environment of the command: the caller's, and what it may know of its lock. */
#ifndef CLI_ENVIRONMENT_H
#define CLI_ENVIRONMENT_H

#include "exec.h"

/* NULL without memory. Made before the fork: afterwards nothing may allocate. */
char **environment_of_command(const struct exec *exec);
void environment_free(char **environment);

#endif
