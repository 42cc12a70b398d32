/* Why is there no connection? Asks each address itself, since libzookeeper does not tell. */
#ifndef ZKL_PROBE_H
#define ZKL_PROBE_H

#include <stddef.h>

/*
 * Tries a TCP connection to each numeric address, all at once, and writes one line: "127.0.0.1:2181: Connection
 * refused; 10.0.0.1:2181: no answer within 300 ms". Blocks for at most limit_ms.
 */
void zkl_probe_addresses(const char *addresses, int limit_ms, char *detail, size_t detail_size);

#endif
