/* Ending a session of a process that is no more, by its key. */
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/runtime.h"
#include "session/address.h"
#include "session/servers.h"
#include "session/session.h"

/* The server takes its least timeout instead, if that is longer. So much is left of the session if we end on the way. */
#define TIMEOUT_MS 4000
/* How long one handle may take before another begins with the next server. Doubled with each round over all of them. */
#define FIRST_WINDOW_MS 600
#define PAUSE_MS 100

/* What a store has reported; the event wakes whoever waits for it. */
struct ending {
    int event_fd;
    atomic_bool is_connected;
    atomic_bool is_over; /* a server says that there is no such session */
};

/* @thread the store's  @locks none */
static void on_state(void *ctx, enum zkl_store_state state, int64_t session_id, unsigned timeout_ms)
{
    struct ending *ending = ctx;
    uint64_t one = 1;

    (void)session_id;
    (void)timeout_ms;
    atomic_store(&ending->is_connected, state == ZKL_STORE_CONNECTED);
    if (state == ZKL_STORE_EXPIRED)
        atomic_store(&ending->is_over, true);
    if (write(ending->event_fd, &one, sizeof one) < 0)
        return;
}

static void on_node(void *ctx, enum zkl_node_event event, const char *path)
{
    (void)ctx;
    (void)event;
    (void)path;
}

static void await_news(struct ending *ending, int64_t until_ns)
{
    struct zkl_runtime *runtime = zkl_runtime_posix();
    struct pollfd news = {.fd = ending->event_fd, .events = POLLIN};
    uint64_t count;
    int64_t left_ns;

    while (!atomic_load(&ending->is_connected) && !atomic_load(&ending->is_over) &&
           (left_ns = until_ns - runtime->now_ns(runtime)) > 0) {
        if (poll(&news, 1, (int)zkl_time_earlier(left_ns / ZKL_NS_PER_MS + 1, 60000)) > 0 &&
            read(ending->event_fd, &count, sizeof count) < 0)
            return;
    }
}

/*
 * One handle: it goes on with the session, and its close ends that. Whether the close has arrived says the next handle,
 * which then finds the session over.
 */
static zklock_status end_once(struct ending *ending, const char *addresses, const zklock_session_key *key,
                              int64_t until_ns)
{
    static const struct zkl_store_sink sink = {.on_state = on_state, .on_node = on_node};
    struct zkl_store_driver *driver = zkl_store_driver_zookeeper();
    struct zkl_store_options options = {
        .addresses = addresses, .timeout_ms = TIMEOUT_MS, .key = key, .sink = &sink, .ctx = ending};
    struct zkl_store *store;
    zklock_status status;

    atomic_store(&ending->is_connected, false);
    status = driver->open(driver, &options, &store);
    if (status != ZKLOCK_OK)
        return status;
    await_news(ending, until_ns);
    driver->close(store);
    return ZKLOCK_OK;
}

static zklock_status end_by(const char *addresses, const zklock_session_key *key, int64_t deadline_ns)
{
    struct zkl_runtime *runtime = zkl_runtime_posix();
    struct ending ending = {.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    int count = zkl_addresses_count(addresses);
    zklock_status status = ending.event_fd < 0 ? ZKLOCK_SYSTEM : ZKLOCK_OK;

    for (int tries = 0; status == ZKLOCK_OK && !atomic_load(&ending.is_over); tries++) {
        int rounds = tries / count;
        int64_t now_ns = runtime->now_ns(runtime);
        int64_t window_ns = FIRST_WINDOW_MS * ZKL_NS_PER_MS << (rounds < 3 ? rounds : 3);
        /* A close that has not been heard of needs no other server. */
        char *turned = zkl_addresses_rotate(addresses, tries / 2 % count);

        if (now_ns >= deadline_ns)
            status = ZKLOCK_NO_SERVER;
        else if (!turned)
            status = ZKLOCK_NO_MEMORY;
        else
            status = end_once(&ending, turned, key, zkl_time_earlier(deadline_ns, now_ns + window_ns));
        free(turned);
    }
    if (ending.event_fd >= 0)
        close(ending.event_fd);
    return status;
}

/* Until names can be looked up, or the limit. Caller frees *out_addresses. */
static zklock_status resolve_by(const char *hosts, int64_t deadline_ns, char **out_addresses)
{
    struct zkl_store_driver *driver = zkl_store_driver_zookeeper();
    struct zkl_runtime *runtime = zkl_runtime_posix();
    char detail[8];
    zklock_status status = driver->resolve(driver, hosts, out_addresses, detail, sizeof detail);

    while (status == ZKLOCK_NO_SERVER && runtime->now_ns(runtime) < deadline_ns) {
        poll(NULL, 0, PAUSE_MS);
        status = driver->resolve(driver, hosts, out_addresses, detail, sizeof detail);
    }
    return status;
}

zklock_status zklock_session_end(const char *servers, const zklock_session_key *key, int64_t timeout_ms)
{
    struct zkl_runtime *runtime = zkl_runtime_posix();
    int64_t deadline_ns = zkl_time_after(runtime->now_ns(runtime), timeout_ms);
    struct zkl_servers parsed;
    char *addresses;
    zklock_status status;

    if (!key || key->session_id == 0)
        return ZKLOCK_BAD_ARGUMENT;
    if (zkl_is_notifier_thread())
        return ZKLOCK_DEADLOCK;
    status = zkl_servers_parse(servers ? servers : ZKL_DEFAULT_SERVERS, &parsed, NULL, 0);
    if (status != ZKLOCK_OK)
        return status;
    int before = zkl_cancel_forbid();
    status = resolve_by(parsed.hosts, deadline_ns, &addresses);
    zkl_servers_clear(&parsed);
    if (status == ZKLOCK_OK) {
        status = end_by(addresses, key, deadline_ns);
        free(addresses);
    }
    zkl_cancel_restore(before);
    return status;
}
