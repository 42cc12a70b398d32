/* A server list as libzookeeper can bear it: numeric, since it would ask a name service at every turn of its
 * thread. */
#ifndef CLI_DEMO_ADDRESSES_H
#define CLI_DEMO_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>

struct demo_addresses {
    char *hosts;  /* "10.0.0.1:2181,::1:2181", odd in number */
    char *chroot; /* "" or "/a/b" */
};

/* `servers` has passed zklock_servers_check(); NULL: the default. May block in the resolver. False: `problem`
 * says why. */
bool demo_addresses_init(struct demo_addresses *addresses, const char *servers, char *problem, size_t size);
void demo_addresses_clear(struct demo_addresses *addresses);

#endif
