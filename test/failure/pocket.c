/* Sessions of the pocket ZooKeeper, and the driver that makes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure/fail.h"
#include "failure/pocket_internal.h"
#include "failure/world.h"

enum { RECONNECT_MS = 50 };

struct pocket pocket;

struct zkl_store *pocket_store(uintptr_t number)
{
    struct zkl_store *store = pocket.stores;

    while (store && store->number != number)
        store = store->next;
    return store;
}

/* Later, for a store that may be closed by then. */
static void later(int64_t delay_ms, void (*run)(void *number), const struct zkl_store *store)
{
    world_later(delay_ms, run, (void *)store->number);
}

/* ---------------------------------------------------------------- sessions */

/* Kept alive by nobody: it ends when its time is over. */
static void end_abandoned(void *session_id)
{
    pocket_end_session((int64_t)(intptr_t)session_id);
}

static void connect_store(void *number)
{
    struct zkl_store *store = pocket_store((uintptr_t)number);

    if (!store || store->is_connected || pocket.is_silent)
        return;
    if (store->session_id == 0)
        store->session_id = ++pocket.last_session_id;
    store->is_connected = true;
    store->sink.on_state(store->ctx, ZKL_STORE_CONNECTED, store->session_id, POCKET_TIMEOUT_MS);
    pocket_catch_up(store);
}

void pocket_disconnect_store(struct zkl_store *store)
{
    if (!store->is_connected)
        return;
    store->is_connected = false;
    pocket_answer_unknown(store);
    store->sink.on_state(store->ctx, ZKL_STORE_DISCONNECTED, store->session_id, POCKET_TIMEOUT_MS);
    later(RECONNECT_MS, connect_store, store);
}

void pocket_disconnect(void)
{
    for (struct zkl_store *store = pocket.stores; store; store = store->next)
        pocket_disconnect_store(store);
}

void pocket_expire(void)
{
    for (struct zkl_store *store = pocket.stores; store; store = store->next) {
        pocket_end_session(store->session_id);
        store->is_connected = false;
        pocket_answer_unknown(store);
        store->sink.on_state(store->ctx, ZKL_STORE_EXPIRED, store->session_id, POCKET_TIMEOUT_MS);
    }
}

/* ---------------------------------------------------------------- the driver */

static zklock_status open_store(struct zkl_store_driver *driver, const struct zkl_store_options *options,
                                struct zkl_store **out_store)
{
    (void)driver;
    if (fail_is_due("open", __builtin_return_address(0)))
        return ZKLOCK_NO_MEMORY;
    struct zkl_store *store = calloc(1, sizeof *store);
    store->number = ++pocket.last_number;
    store->sink = *options->sink;
    store->ctx = options->ctx;
    store->last = &store->first;
    store->next = pocket.stores;
    pocket.stores = store;
    later(POCKET_LATENCY_MS, connect_store, store);
    *out_store = store;
    return ZKLOCK_OK;
}

static void serve(void *number)
{
    struct zkl_store *store = pocket_store((uintptr_t)number);

    if (store)
        pocket_serve(store);
}

static bool submit(struct zkl_store *store, const struct zkl_request *request, zkl_reply_fn *on_reply, void *arg)
{
    if (fail_is_due("submit", __builtin_return_address(0)) || !store->is_connected)
        return false;
    *store->last = pocket_copy_request(request, on_reply, arg);
    store->last = &(*store->last)->next;
    later(POCKET_LATENCY_MS, serve, store);
    return true;
}

/* The session goes with it when nothing was in flight; else, as libzookeeper leaves it, when its time is over. */
static void close_store(struct zkl_store *store)
{
    struct zkl_store **at = &pocket.stores;
    bool is_quiet = store->is_connected && !store->first;

    while (*at != store)
        at = &(*at)->next;
    *at = store->next;
    pocket_answer_unknown(store);
    world_later(is_quiet ? 0 : POCKET_TIMEOUT_MS, end_abandoned, (void *)(intptr_t)store->session_id);
    pocket_clear_watches(store);
    free(store);
}

static zklock_status resolve(struct zkl_store_driver *driver, const char *hosts, char **out_addresses, char *detail,
                             size_t detail_size)
{
    (void)driver;
    (void)detail;
    (void)detail_size;
    if (fail_is_due("resolve", __builtin_return_address(0)))
        return ZKLOCK_NO_MEMORY;
    *out_addresses = strdup(hosts);
    return ZKLOCK_OK;
}

static void probe(struct zkl_store_driver *driver, const char *addresses, int limit_ms, char *detail,
                  size_t detail_size)
{
    (void)driver;
    snprintf(detail, detail_size, "%s: no answer within %d ms", addresses, limit_ms);
}

struct zkl_store_driver *pocket_driver(void)
{
    static struct zkl_store_driver driver = {
        .open = open_store,
        .submit = submit,
        .close = close_store,
        .resolve = resolve,
        .probe = probe,
    };

    return &driver;
}

/* ---------------------------------------------------------------- from outside */

void pocket_begin(void)
{
    memset(&pocket, 0, sizeof pocket);
    pocket_tree_clear();
}

void pocket_end(void)
{
    pocket_tree_clear();
}

void pocket_break(enum zkl_op op, enum pocket_fault fault)
{
    pocket.is_broken[op] = true;
    pocket.faults[op] = fault;
}

void pocket_deny(enum zkl_op op, const char *text)
{
    pocket.denied[op] = text;
}

void pocket_be_silent(bool is_silent)
{
    pocket.is_silent = is_silent;
    for (struct zkl_store *store = pocket.stores; store && !is_silent; store = store->next)
        later(POCKET_LATENCY_MS, connect_store, store);
}

int pocket_stores(void)
{
    int count = 0;

    for (const struct zkl_store *store = pocket.stores; store; store = store->next)
        count++;
    return count;
}
