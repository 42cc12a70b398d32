/* ZooKeeper's rules for a path, as one question, and paths put together. */
#ifndef ZKL_PATH_H
#define ZKL_PATH_H

#include <stddef.h>

/* Static text of what is wrong with a path, and the character (from 1) where; NULL: nothing is. */
const char *zkl_path_fault(const char *path, size_t *out_position);

/* "parent/name"; the caller frees it. NULL: no memory. */
char *zkl_path_join(const char *parent, const char *name);
/* `path` with a chroot ("" for none) in front of it; "/" is the chroot itself. The caller frees it. NULL: no memory. */
char *zkl_path_below(const char *chroot, const char *path);

#endif
