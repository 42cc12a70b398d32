/* The resource that the locks are for: a file with a value and the highest token that was ever shown to it, by a reader or
 * a writer. Whoever comes with a lower one is refused; those without tokens (0) it cannot judge. Each call is atomic by
 * flock(2), read and write together are not. */
#ifndef ZKLOCK_LAB_STORE_H
#define ZKLOCK_LAB_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* False: refused. */
bool store_read(const char *file, uint64_t token, int64_t *out_value);
bool store_write(const char *file, int64_t value, uint64_t token);

#endif
