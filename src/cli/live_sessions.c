#include "live_sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"

enum { PATIENCE_MS = 1500, HOST_SIZE = 256, PORT_SIZE = 8, FIRST_SIZE = 16384 };

static bool await(int fd, short events, int64_t deadline_ms)
{
    struct pollfd descriptor = {fd, events, 0};
    int64_t left_ms = deadline_ms - clock_boottime_ms();

    return left_ms > 0 && poll(&descriptor, 1, (int)left_ms) == 1;
}

static int connect_to(const struct addrinfo *address, int64_t deadline_ms)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = 0;
    socklen_t size = sizeof(error);

    if (fd < 0)
        return -1;
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0)
        return fd;
    if (errno == EINPROGRESS && await(fd, POLLOUT, deadline_ms) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
        return fd;
    close(fd);
    return -1;
}

/* All that comes until the end, terminated; NULL: the end did not come, or there is no memory. The caller frees. */
static char *read_all(int fd, int64_t deadline_ms)
{
    size_t capacity = FIRST_SIZE;
    size_t used = 0;
    char *text = malloc(capacity);

    while (text && await(fd, POLLIN, deadline_ms)) {
        ssize_t count = read(fd, text + used, capacity - used - 1);

        if (count <= 0) {
            text[used] = '\0';
            if (count == 0)
                return text;
            break;
        }
        used += (size_t)count;
        if (capacity - used < FIRST_SIZE / 2) {
            char *longer = realloc(text, capacity *= 2);

            if (!longer)
                break;
            text = longer;
        }
    }
    free(text);
    return NULL;
}

static char *ask_address(const struct addrinfo *address, const char *word)
{
    int64_t deadline_ms = clock_boottime_ms() + PATIENCE_MS;
    int fd = connect_to(address, deadline_ms);
    char *answer = NULL;

    if (fd < 0)
        return NULL;
    if (send(fd, word, strlen(word), MSG_NOSIGNAL) == (ssize_t)strlen(word))
        answer = read_all(fd, deadline_ms);
    close(fd);
    return answer;
}

/* "host", "host:port", "[v6]:port", of `size` bytes. */
static bool split(const char *text, size_t size, char host[HOST_SIZE], char port[PORT_SIZE])
{
    const char *end = text + size;
    const char *colon = memrchr(text, ':', size);
    const char *bracket = memrchr(text, ']', size);

    if (colon && bracket && colon < bracket)
        colon = NULL;
    if ((size_t)((colon ? colon : end) - text) >= HOST_SIZE || (colon && end - colon > PORT_SIZE))
        return false;
    snprintf(host, HOST_SIZE, "%.*s", (int)((colon ? colon : end) - text), text);
    snprintf(port, PORT_SIZE, "%.*s", colon ? (int)(end - colon - 1) : 4, colon ? colon + 1 : "2181");
    if (host[0] == '[') {
        memmove(host, host + 1, strlen(host));
        host[strcspn(host, "]")] = '\0';
    }
    return true;
}

/* The dump of the server at this address, if it is the one that knows all sessions. */
static char *dump_of(const struct addrinfo *address, const char **out_reason)
{
    char *mode = ask_address(address, "srvr");
    char *dump = NULL;
    bool knows_all = mode && (strstr(mode, "Mode: leader") || strstr(mode, "Mode: standalone"));

    if (mode && strstr(mode, "not in the whitelist"))
        *out_reason = "the servers do not allow the four-letter word srvr";
    free(mode);
    if (!knows_all)
        return NULL;
    dump = ask_address(address, "dump");
    if (dump && strstr(dump, "SessionTracker dump"))
        return dump;
    *out_reason = "the leader does not allow the four-letter word dump";
    free(dump);
    return NULL;
}

static char *ask_host(const char *host, const char *port, const char **out_reason)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *addresses = NULL;
    char *dump = NULL;

    if (getaddrinfo(host, port, &hints, &addresses) != 0)
        return NULL;
    for (const struct addrinfo *at = addresses; at && !dump; at = at->ai_next)
        dump = dump_of(at, out_reason);
    freeaddrinfo(addresses);
    return dump;
}

static bool add(struct live_sessions *sessions, int64_t id)
{
    /* Grows at every power of two. */
    if ((sessions->count & (sessions->count - 1)) == 0) {
        size_t capacity = sessions->count ? 2 * sessions->count : 1;
        int64_t *ids = realloc(sessions->ids, capacity * sizeof(*ids));

        if (!ids)
            return false;
        sessions->ids = ids;
    }
    sessions->ids[sessions->count++] = id;
    return true;
}

/* The first part has all sessions, one number a line; the second those that own nodes, with the nodes. */
static bool take_ids(char *dump, struct live_sessions *out_sessions)
{
    char *second = strstr(dump, "ephemeral nodes dump");
    char *rest = NULL;

    if (second)
        *second = '\0';
    for (char *line = strtok_r(dump, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        line += strspn(line, " \t");
        if (strncmp(line, "0x", 2) == 0 && !add(out_sessions, (int64_t)strtoull(line, NULL, 16)))
            return false;
    }
    return true;
}

bool live_sessions_add(const char *servers, struct live_sessions *sessions, const char **out_reason)
{
    const char *at = servers ? servers : "localhost:2181";
    const char *end = at + strcspn(at, "/");
    char *dump = NULL;
    bool is_read;

    *out_reason = "no leader answered";
    while (at < end && !dump) {
        size_t size = strcspn(at, ",/");
        char host[HOST_SIZE];
        char port[PORT_SIZE];

        if (split(at, size, host, port))
            dump = ask_host(host, port, out_reason);
        at += size + (at + size < end);
    }
    if (!dump)
        return false;
    is_read = take_ids(dump, sessions);
    free(dump);
    if (!is_read)
        *out_reason = "out of memory";
    return is_read;
}

bool live_sessions_contain(const struct live_sessions *sessions, int64_t id)
{
    for (size_t i = 0; i < sessions->count; i++) {
        if (sessions->ids[i] == id)
            return true;
    }
    return false;
}

void live_sessions_clear(struct live_sessions *sessions)
{
    free(sessions->ids);
    *sessions = (struct live_sessions){0};
}
