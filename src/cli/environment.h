/* The environment of the command: the caller's, and what it may know of its lock. */
#ifndef CLI_ENVIRONMENT_H
#define CLI_ENVIRONMENT_H

#include "exec.h"

enum { ENVIRONMENT_MOST = 4 };

/* What the command may know: "NAME=value" up to NULL. NULL without memory. */
char **environment_variables(const struct exec *exec);
void environment_variables_free(char **variables);

/* The caller's environment with these variables instead of its own of the same kind. Free the list alone; NULL without
 * memory. Made before the fork: afterwards nothing may allocate. */
char **environment_with(char *const *variables);

#endif
