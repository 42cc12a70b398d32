#include "session/resolver.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/line.h"
#include "session/address.h"
#include "session/servers.h"

struct found {
    struct zkl_address addresses[ZKL_SERVERS_MAX];
    int count;
};

static void add(struct found *found, const struct addrinfo *entry)
{
    struct zkl_address *address = &found->addresses[found->count];

    if (found->count == ZKL_SERVERS_MAX || entry->ai_addrlen > sizeof(address->socket_address))
        return;
    memset(address, 0, sizeof(*address));
    memcpy(&address->socket_address, entry->ai_addr, entry->ai_addrlen);
    address->size = entry->ai_addrlen;
    for (int i = 0; i < found->count; i++) {
        if (zkl_address_equal(&found->addresses[i], address))
            return;
    }
    found->count++;
}

/* A numeric host is no question for a name service, which may be slow or away. */
static int look_up(const struct zkl_endpoint *endpoint, struct addrinfo **out_entries)
{
    struct addrinfo hints = {
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
    };
    int failure = getaddrinfo(endpoint->host, endpoint->port, &hints, out_entries);

    if (failure != EAI_NONAME)
        return failure;
    hints.ai_flags = AI_NUMERICSERV;
    return getaddrinfo(endpoint->host, endpoint->port, &hints, out_entries);
}

static void say_failure(struct zkl_line *line, const char *host, int failure, int system_error)
{
    char text[128];

    zkl_line_append(line, "%scannot resolve host %s: %s", line->length > 0 ? "; " : "", host,
                    failure == EAI_SYSTEM ? strerror_r(system_error, text, sizeof(text)) : gai_strerror(failure));
}

static zklock_status format_found(const struct found *found, char **out_addresses)
{
    size_t size = (size_t)found->count * ZKL_ADDRESS_TEXT_SIZE;
    char *list = malloc(size);
    char text[ZKL_ADDRESS_TEXT_SIZE];
    struct zkl_line line;

    if (!list)
        return ZKLOCK_NO_MEMORY;
    zkl_line_init(&line, list, size);
    for (int i = 0; i < found->count; i++) {
        if (!zkl_address_format(&found->addresses[i], text)) {
            free(list);
            return ZKLOCK_NO_MEMORY;
        }
        zkl_line_append(&line, "%s%s", i > 0 ? "," : "", text);
    }
    *out_addresses = list;
    return ZKLOCK_OK;
}

zklock_status zkl_resolver_resolve(const char *hosts, char **out_addresses, char *detail, size_t detail_size)
{
    struct found found = {.count = 0};
    struct zkl_endpoint endpoint;
    struct zkl_line line;

    zkl_line_init(&line, detail, detail_size);
    while (zkl_endpoint_next(&hosts, &endpoint)) {
        struct addrinfo *entries = NULL;
        int failure = look_up(&endpoint, &entries);

        if (failure) {
            say_failure(&line, endpoint.host, failure, errno);
            continue;
        }
        for (const struct addrinfo *entry = entries; entry; entry = entry->ai_next)
            add(&found, entry);
        freeaddrinfo(entries);
    }
    return found.count > 0 ? format_found(&found, out_addresses) : ZKLOCK_NO_SERVER;
}
