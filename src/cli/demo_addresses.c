#include "demo_addresses.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define DEFAULT_SERVERS "localhost:2181"
#define DEFAULT_PORT "2181"

/* Room for the longest list that the check admits, in numbers. */
enum { LIST_SIZE = 16384 };

struct list {
    char text[LIST_SIZE];
    size_t used;
    int count;
};

/* libzookeeper wants "::1:2181", without brackets. */
static void add(struct list *list, const char *host, const char *port)
{
    int written = snprintf(list->text + list->used, LIST_SIZE - list->used, "%s%s:%s", list->used ? "," : "",
                           host, port);

    if (written < 0 || (size_t)written >= LIST_SIZE - list->used) {
        list->text[list->used] = '\0';
        return;
    }
    list->used += (size_t)written;
    list->count++;
}

static bool resolve(struct list *list, const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char numeric[256];

    if (getaddrinfo(host, port, &hints, &found) != 0)
        return false;
    for (const struct addrinfo *entry = found; entry; entry = entry->ai_next) {
        if (getnameinfo(entry->ai_addr, entry->ai_addrlen, numeric, sizeof(numeric), NULL, 0,
                        NI_NUMERICHOST) == 0)
            add(list, numeric, port);
    }
    freeaddrinfo(found);
    return true;
}

/* One "host", "host:port", "[v6]" or "[v6]:port"; changes `entry`. */
static void split(char *entry, const char **out_host, const char **out_port)
{
    char *end = strchr(entry, ']');
    char *colon;

    *out_host = entry;
    *out_port = DEFAULT_PORT;
    if (entry[0] == '[' && end) {
        *out_host = entry + 1;
        *end = '\0';
        colon = end[1] == ':' ? end + 1 : NULL;
    } else {
        colon = strrchr(entry, ':');
    }
    if (colon) {
        *colon = '\0';
        *out_port = colon + 1;
    }
}

/* libzookeeper steps over two addresses at each failure: of an even number it would try only half. */
static void make_odd(struct list *list)
{
    char first[300];
    char *port;
    size_t length = strcspn(list->text, ",");

    if (list->count % 2 != 0 || length >= sizeof(first))
        return;
    memcpy(first, list->text, length);
    first[length] = '\0';
    port = strrchr(first, ':');
    if (!port)
        return;
    *port = '\0';
    add(list, first, port + 1);
}

static void resolve_all(struct list *list, char *hosts, char *problem, size_t size)
{
    char *rest = hosts;

    snprintf(problem, size, "no address");
    for (char *entry = strsep(&rest, ","); entry; entry = strsep(&rest, ",")) {
        const char *host;
        const char *port;

        split(entry, &host, &port);
        if (!resolve(list, host, port))
            snprintf(problem, size, "cannot resolve host %s", host);
    }
    if (list->count > 0)
        make_odd(list);
}

static char *take_chroot(char *servers)
{
    char *slash = strchr(servers, '/');
    size_t length = slash ? strlen(slash) : 0;
    char *chroot;

    while (length > 0 && slash[length - 1] == '/')
        length--;
    chroot = strndup(slash ? slash : "", length);
    if (slash)
        *slash = '\0';
    return chroot;
}

bool demo_addresses_init(struct demo_addresses *addresses, const char *servers, char *problem, size_t size)
{
    struct list *list = calloc(1, sizeof(*list));
    char *copy = strdup(servers ? servers : DEFAULT_SERVERS);

    *addresses = (struct demo_addresses){NULL, NULL};
    snprintf(problem, size, "out of memory");
    if (list && copy) {
        addresses->chroot = take_chroot(copy);
        resolve_all(list, copy, problem, size);
        if (list->count > 0)
            addresses->hosts = strdup(list->text);
    }
    free(list);
    free(copy);
    if (addresses->hosts && addresses->chroot)
        return true;
    demo_addresses_clear(addresses);
    return false;
}

void demo_addresses_clear(struct demo_addresses *addresses)
{
    free(addresses->hosts);
    free(addresses->chroot);
    *addresses = (struct demo_addresses){NULL, NULL};
}
