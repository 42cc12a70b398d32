/* Private directories below $TMPDIR (or /tmp). */
#ifndef ZKLOCK_TEST_DIRECTORY_H
#define ZKLOCK_TEST_DIRECTORY_H

#include <stdbool.h>

/* A new directory whose name starts with this; the caller frees the path. NULL on failure. */
char *directory_make(const char *name);
/* Removes it and all below, without following symbolic links. */
bool directory_remove(const char *path);

#endif
