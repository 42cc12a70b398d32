/* ZooKeeper's rules for a path, as one question. Pure. */
#ifndef ZKL_PATH_H
#define ZKL_PATH_H

#include <stddef.h>

/* Static text of what is wrong with a path, and the character (from 1) where; NULL: nothing is. */
const char *zkl_path_fault(const char *path, size_t *out_position);

#endif
