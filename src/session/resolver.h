/* Names become addresses here and not in libzookeeper, which would ask again on every turn of its I/O thread. */
#ifndef ZKL_RESOLVER_H
#define ZKL_RESOLVER_H

#include <stddef.h>

#include "zklock.h"

/*
 * Turns "name:port,..." into numeric addresses: all that a name has, in the order of the names, each address once.
 * A name that cannot be resolved is skipped as long as there is any other; `detail` names it all the same, and is
 * empty when nothing is to be said. Blocks for as long as the system's resolver does, but not for names that hang once
 * others have been answered: those have a second more.
 *
 * returns ZKLOCK_OK and a list that the caller frees; ZKLOCK_NO_SERVER: none could be resolved; ZKLOCK_NO_MEMORY.
 */
zklock_status zkl_resolver_resolve(const char *hosts, char **out_addresses, char *detail, size_t detail_size);

#endif
