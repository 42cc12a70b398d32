/* The server list "host[:port],...[/chroot]", taken apart without looking anything up. Pure. */
#ifndef ZKL_SERVERS_H
#define ZKL_SERVERS_H

#include <stddef.h>

#include "zklock.h"

#define ZKL_SERVERS_MAX 63
#define ZKL_DEFAULT_PORT 2181
#define ZKL_DEFAULT_SERVERS "localhost:2181"
/* Bytes of a lock's path, chroot included. The server's limit is a megabyte; a session's watches and ephemerals
 * together have to stay below that. */
#define ZKL_LONGEST_PATH 900

struct zkl_servers {
    char *hosts;  /* "host:port,host:port", every port given; IPv6 as [::1]:2181 */
    char *chroot; /* "" or "/a/b", without a slash at the end */
};

/* On failure writes what is wrong and at which character into `detail` (may be NULL), and leaves `out_servers`. */
zklock_status zkl_servers_parse(const char *text, struct zkl_servers *out_servers, char *detail, size_t detail_size);
void zkl_servers_clear(struct zkl_servers *servers);

/* ZooKeeper's rules for a path, plus: at most 900 bytes, no control characters. The same manners. */
zklock_status zkl_path_check(const char *path, char *detail, size_t detail_size);

#endif
