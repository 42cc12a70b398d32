#include "session/resolver.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/line.h"
#include "base/runtime.h"
#include "session/address.h"
#include "session/servers.h"

/* How long names may still take once the addresses of another one are known. */
#define STRAGGLERS_MS 1000

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

/* ---------------------------------------------------------------- asking */

/* One host. Names are asked for all at once, each on a thread of its own: one that hangs shall not hold up the others. */
struct question {
    struct lookup *lookup;
    struct zkl_endpoint endpoint;
    bool is_answered;
    int failure; /* of getaddrinfo; 0: none */
    int system_error;
    struct addrinfo *entries;
};

/* Shared by the one who asks and the threads that wait for the name service; the last one frees it. */
struct lookup {
    pthread_mutex_t mutex;
    int refs;
    int bell; /* an eventfd: a thread has an answer */
    int count;
    struct question questions[];
};

static int count_hosts(const char *hosts)
{
    int count = 1;

    for (; *hosts; hosts++)
        count += *hosts == ',';
    return count;
}

static struct lookup *lookup_new(const char *hosts)
{
    struct lookup *lookup = calloc(1, sizeof(*lookup) + (size_t)count_hosts(hosts) * sizeof(struct question));

    if (!lookup)
        return NULL;
    lookup->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (lookup->bell < 0) {
        free(lookup);
        return NULL;
    }
    pthread_mutex_init(&lookup->mutex, NULL);
    lookup->refs = 1;
    while (zkl_endpoint_next(&hosts, &lookup->questions[lookup->count].endpoint))
        lookup->questions[lookup->count++].lookup = lookup;
    return lookup;
}

static void lookup_drop(struct lookup *lookup)
{
    pthread_mutex_lock(&lookup->mutex);
    bool is_last = --lookup->refs == 0;
    pthread_mutex_unlock(&lookup->mutex);
    if (!is_last)
        return;
    for (int i = 0; i < lookup->count; i++) {
        if (lookup->questions[i].entries)
            freeaddrinfo(lookup->questions[i].entries);
    }
    close(lookup->bell);
    pthread_mutex_destroy(&lookup->mutex);
    free(lookup);
}

static void answer(struct question *question, int flags)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *entries = NULL;
    int failure = getaddrinfo(question->endpoint.host, question->endpoint.port, &hints, &entries);
    int system_error = errno;

    if (failure == EAI_NONAME && (flags & AI_NUMERICHOST))
        return;
    pthread_mutex_lock(&question->lookup->mutex);
    question->failure = failure;
    question->system_error = system_error;
    question->entries = failure ? NULL : entries;
    question->is_answered = true;
    pthread_mutex_unlock(&question->lookup->mutex);
}

/* @thread one of its own  @locks takes the lookup's mutex */
static void answer_job(void *arg)
{
    struct question *question = arg;
    const uint64_t one = 1;

    answer(question, 0);
    /* Cannot fail: nobody rings that often. */
    (void)!write(question->lookup->bell, &one, sizeof(one));
    lookup_drop(question->lookup);
}

/* A numeric host is no question for a name service, which may be slow or away; a name alone needs no thread. */
static void ask(struct question *question)
{
    struct lookup *lookup = question->lookup;
    struct zkl_runtime *runtime = zkl_runtime_posix();

    answer(question, AI_NUMERICHOST);
    if (question->is_answered)
        return;
    pthread_mutex_lock(&lookup->mutex);
    lookup->refs++;
    pthread_mutex_unlock(&lookup->mutex);
    if (lookup->count > 1 && runtime->run_detached(runtime, answer_job, question) == ZKLOCK_OK)
        return;
    answer_job(question);
}

static bool is_waiting(struct lookup *lookup, bool *out_is_any_known)
{
    bool is_any_open = false;

    *out_is_any_known = false;
    pthread_mutex_lock(&lookup->mutex);
    for (int i = 0; i < lookup->count; i++) {
        is_any_open |= !lookup->questions[i].is_answered;
        *out_is_any_known |= lookup->questions[i].entries != NULL;
    }
    pthread_mutex_unlock(&lookup->mutex);
    return is_any_open;
}

/* Until all have been answered; with one answer that is of use the others have STRAGGLERS_MS left. */
static void await_answers(struct lookup *lookup)
{
    struct zkl_runtime *runtime = zkl_runtime_posix();
    int64_t deadline_ns = ZKL_NEVER;
    bool is_any_known;
    uint64_t rings;

    while (is_waiting(lookup, &is_any_known)) {
        struct pollfd bell = {lookup->bell, POLLIN, 0};
        int64_t now_ns = runtime->now_ns(runtime);

        if (is_any_known && deadline_ns == ZKL_NEVER)
            deadline_ns = now_ns + STRAGGLERS_MS * ZKL_NS_PER_MS;
        if (now_ns >= deadline_ns)
            return;
        poll(&bell, 1, deadline_ns == ZKL_NEVER ? -1 : (int)((deadline_ns - now_ns) / ZKL_NS_PER_MS + 1));
        (void)!read(lookup->bell, &rings, sizeof(rings));
    }
}

/* ---------------------------------------------------------------- what came of it */

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

static void collect(const struct question *question, struct found *found, struct zkl_line *line)
{
    if (!question->is_answered)
        zkl_line_append(line, "%sno answer yet about host %s", line->length > 0 ? "; " : "", question->endpoint.host);
    else if (question->failure)
        say_failure(line, question->endpoint.host, question->failure, question->system_error);
    for (const struct addrinfo *entry = question->entries; entry; entry = entry->ai_next)
        add(found, entry);
}

zklock_status zkl_resolver_resolve(const char *hosts, char **out_addresses, char *detail, size_t detail_size)
{
    struct lookup *lookup = lookup_new(hosts);
    struct found found = {.count = 0};
    struct zkl_line line;

    zkl_line_init(&line, detail, detail_size);
    if (!lookup)
        return ZKLOCK_NO_MEMORY;
    for (int i = 0; i < lookup->count; i++)
        ask(&lookup->questions[i]);
    await_answers(lookup);
    pthread_mutex_lock(&lookup->mutex);
    for (int i = 0; i < lookup->count; i++)
        collect(&lookup->questions[i], &found, &line);
    pthread_mutex_unlock(&lookup->mutex);
    lookup_drop(lookup);
    return found.count > 0 ? format_found(&found, out_addresses) : ZKLOCK_NO_SERVER;
}
