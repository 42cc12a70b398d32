#include "session/address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool zkl_endpoint_next(const char **list, struct zkl_endpoint *out_endpoint)
{
    const char *entry = *list;
    size_t size = strcspn(entry, ",");
    const char *colon = memrchr(entry, ':', size);
    size_t host_size, port_size;

    if (!colon)
        return false;
    host_size = (size_t)(colon - entry);
    port_size = size - host_size - 1;
    *list = entry + size + (entry[size] == ',' ? 1 : 0);
    if (host_size > 2 && entry[0] == '[' && colon[-1] == ']') {
        entry++;
        host_size -= 2;
    }
    if (host_size == 0 || host_size >= sizeof(out_endpoint->host) || port_size >= sizeof(out_endpoint->port))
        return false;
    memcpy(out_endpoint->host, entry, host_size);
    out_endpoint->host[host_size] = '\0';
    memcpy(out_endpoint->port, colon + 1, port_size);
    out_endpoint->port[port_size] = '\0';
    return true;
}

static bool is_same_ipv4(const struct zkl_address *one, const struct zkl_address *other)
{
    const struct sockaddr_in *left = (const void *)&one->socket_address;
    const struct sockaddr_in *right = (const void *)&other->socket_address;

    return left->sin_port == right->sin_port && left->sin_addr.s_addr == right->sin_addr.s_addr;
}

static bool is_same_ipv6(const struct zkl_address *one, const struct zkl_address *other)
{
    const struct sockaddr_in6 *left = (const void *)&one->socket_address;
    const struct sockaddr_in6 *right = (const void *)&other->socket_address;

    return left->sin6_port == right->sin6_port && left->sin6_scope_id == right->sin6_scope_id &&
           memcmp(&left->sin6_addr, &right->sin6_addr, sizeof(left->sin6_addr)) == 0;
}

bool zkl_address_equal(const struct zkl_address *one, const struct zkl_address *other)
{
    if (one->socket_address.ss_family != other->socket_address.ss_family)
        return false;
    switch (one->socket_address.ss_family) {
    case AF_INET:
        return is_same_ipv4(one, other);
    case AF_INET6:
        return is_same_ipv6(one, other);
    }
    return false;
}

bool zkl_address_format(const struct zkl_address *address, char *buffer)
{
    char host[ZKL_ADDRESS_TEXT_SIZE - sizeof("[]:65535")];
    char port[sizeof("65535")];

    if (getnameinfo((const struct sockaddr *)&address->socket_address, address->size, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        snprintf(buffer, ZKL_ADDRESS_TEXT_SIZE, "?");
        return false;
    }
    snprintf(buffer, ZKL_ADDRESS_TEXT_SIZE, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
    return true;
}

static bool parse_endpoint(const struct zkl_endpoint *endpoint, struct zkl_address *out_address)
{
    const struct addrinfo hints = {
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
    };
    struct addrinfo *found;

    if (getaddrinfo(endpoint->host, endpoint->port, &hints, &found) != 0)
        return false;
    memset(out_address, 0, sizeof(*out_address));
    memcpy(&out_address->socket_address, found->ai_addr, found->ai_addrlen);
    out_address->size = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

int zkl_address_parse(const char *list, struct zkl_address *out_addresses, int capacity)
{
    struct zkl_endpoint endpoint;
    int count = 0;

    while (*list != '\0') {
        if (count == capacity || !zkl_endpoint_next(&list, &endpoint) ||
            !parse_endpoint(&endpoint, &out_addresses[count]))
            return -1;
        count++;
    }
    return count;
}

int zkl_addresses_count(const char *list)
{
    int count = 1;

    for (const char *at = strchr(list, ','); at; at = strchr(at + 1, ','))
        count++;
    return count;
}

char *zkl_addresses_rotate(const char *list, int first)
{
    const char *split = list;
    char *rotated;

    while (first-- > 0) {
        const char *comma = strchr(split, ',');

        split = comma ? comma + 1 : list;
    }
    if (split == list)
        return strdup(list);
    rotated = malloc(strlen(list) + 2);
    if (rotated)
        sprintf(rotated, "%s,%.*s", split, (int)(split - list - 1), list);
    return rotated;
}
