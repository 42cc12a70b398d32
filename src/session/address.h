/* Numeric addresses: "10.0.0.1:2181" and "[::1]:2181". Nothing here asks a name service. */
#ifndef ZKL_ADDRESS_H
#define ZKL_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* "[fe80::1%a-long-name]:65535" and its end. */
#define ZKL_ADDRESS_TEXT_SIZE 80

struct zkl_address {
    struct sockaddr_storage socket_address;
    socklen_t size;
};

/* The place of one "host:port" in a list: where it begins, how long its parts are. */
struct zkl_endpoint {
    char host[256]; /* without brackets */
    char port[8];
};

/* Takes the next entry off `*list`; false at the end of the list or when it is malformed or too long. */
bool zkl_endpoint_next(const char **list, struct zkl_endpoint *out_endpoint);

bool zkl_address_equal(const struct zkl_address *one, const struct zkl_address *other);
/* Brackets around IPv6; `buffer` has ZKL_ADDRESS_TEXT_SIZE bytes. False, and a question mark: no memory. */
bool zkl_address_format(const struct zkl_address *address, char *buffer);
/* How many entries a list has that is not empty. */
int zkl_addresses_count(const char *list);
/* The entries from the `first`-th on, and the others behind it. Caller frees; NULL without memory. */
char *zkl_addresses_rotate(const char *list, int first);
/* Reads a list of numeric addresses; returns how many, or -1 when one is not numeric or there are too many. */
int zkl_address_parse(const char *list, struct zkl_address *out_addresses, int capacity);

#endif
