#include "sim_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_store_internal.h"

/* A heartbeat's root and own nodes are the most that one request names. */
#define MOST_PATHS 80

const char *op_name(enum zkl_op op)
{
    static const char *const names[] = {"create", "create parent", "delete", "list", "get", "exists", "set", "check",
                                        "sync",   "replace",       "forget watch"};
    return names[op];
}

/* ---------------------------------------------------------------- the port */

static struct request *copy_request(const struct zkl_request *asked)
{
    const char *const both[] = {asked->path, asked->replacement};
    const char *const *paths = asked->op == ZKL_OP_CHECK ? asked->paths : both;
    int count = asked->op == ZKL_OP_CHECK ? asked->path_count : asked->op == ZKL_OP_REPLACE ? 2 : 1;
    size_t sizes[MOST_PATHS];
    size_t size = 0;

    for (int i = 0; i < count; i++)
        size += sizes[i] = strlen(paths[i]) + 1;
    struct request *request = request_new(count, size);
    char *text = (char *)(request->paths + count);
    for (int i = 0; i < count; text += sizes[i++])
        request->paths[i] = memcpy(text, paths[i], sizes[i]);
    request->op = asked->op;
    request->with_watch = asked->with_watch;
    request->has_version = asked->has_version;
    request->version = asked->version;
    if (asked->op == ZKL_OP_SET && asked->data_size < DATA_SIZE)
        memcpy(request->data, asked->data, (size_t)asked->data_size);
    return request;
}

static void enqueue(struct sim_store *store, struct request *request)
{
    request->store = store;
    request->next_pending = NULL;
    *store->pending_end = request;
    store->pending_end = &request->next_pending;
    store->pending_count++;
}

static void set_trap(struct sim_driver *driver, struct request *request)
{
    if (driver->trap == TRAP_NONE || driver->trap_op != request->op)
        return;
    request->trap = driver->trap;
    request->trap_ns = driver->trap_ns;
    driver->trap = TRAP_NONE;
}

static bool submit(struct zkl_store *port, const struct zkl_request *asked, zkl_reply_fn *on_reply, void *arg)
{
    struct sim_store *store = (struct sim_store *)port;
    struct sim_driver *driver = store->driver;

    if (driver->is_dead || store->is_closed || store->phase == PHASE_DEAD)
        return false;
    if (driver->refusals > 0) {
        driver->refusals--;
        return false;
    }
    struct request *request = copy_request(asked);
    request->on_reply = on_reply;
    request->arg = arg;
    set_trap(driver, request);
    enqueue(store, request);
    TRACE(world_of(store), "%s: %s %s", host_name(driver->host), op_name(asked->op), request->paths[0]);
    if (store->phase == PHASE_CONNECTED) {
        request->refs++;
        store_send(store, &request->message);
    }
    return true;
}

/* "10.0.0.1:2181,..." */
static void read_order(struct sim_store *store, const char *addresses)
{
    for (const char *at = strstr(addresses, "10.0.0."); at; at = strstr(at + 1, "10.0.0.")) {
        int index = at[7] - '1';
        bool is_allowed = store->driver->only_server == 0 || store->driver->only_server == index + 1;
        if (is_allowed && index < store->driver->ensemble->server_count && store->order_count < MOST_SERVERS)
            store->order[store->order_count++] = index;
    }
}

/* A key has no more than the number: nobody guesses in this world. */
static struct zk_session *session_of(const struct ensemble *ensemble, const zklock_session_key *key)
{
    struct zk_session *session = ensemble->sessions;

    while (session && session->id != key->session_id)
        session = session->next;
    return session;
}

static zklock_status open_store(struct zkl_store_driver *port, const struct zkl_store_options *options,
                                struct zkl_store **out_store)
{
    struct sim_driver *driver = (struct sim_driver *)port;

    if (driver->is_dead)
        return ZKLOCK_SYSTEM;
    struct sim_store *store = must_have(calloc(1, sizeof *store));
    store->driver = driver;
    store->next = driver->stores;
    driver->stores = store;
    store->sink = *options->sink;
    store->ctx = options->ctx;
    store->timeout_ns = options->timeout_ms * MILLISECOND;
    store->session = options->key ? session_of(driver->ensemble, options->key) : NULL;
    store->pending_end = &store->pending;
    store->deliveries_end = &store->deliveries;
    read_order(store, options->addresses);
    store_plan_check(store, now_of(store) + chance_between(&driver->host->chance, 0, MILLISECOND));
    *out_store = (struct zkl_store *)store;
    return ZKLOCK_OK;
}

/* The session's end goes to the server if nothing is in flight; else its fate is anybody's guess. */
static void end_session(struct sim_store *store)
{
    if (store->phase != PHASE_CONNECTED || store->driver->is_dead)
        return;
    if (store->pending_count > 0 && chance_one_in(&store->driver->host->chance, 2))
        return;
    struct request *request = request_new(0, 0);
    request->is_close = true;
    store_send(store, &request->message);
}

static void answer_all(struct sim_store *store)
{
    while (store->deliveries) {
        struct delivery *delivery = store->deliveries;
        store->deliveries = delivery->next;
        if (delivery->lost)
            store_answer(delivery->lost, ZKL_CODE_UNKNOWN);
        else if (delivery->message && delivery->message->kind == MESSAGE_REPLY)
            store_answer((struct request *)delivery->message, ZKL_CODE_UNKNOWN);
        if (delivery->message)
            message_free(delivery->message);
        free(delivery);
    }
    while (store->pending) {
        struct request *request = store->pending;
        store->pending = request->next_pending;
        store_answer(request, ZKL_CODE_UNKNOWN);
    }
}

static void close_store(struct zkl_store *port)
{
    struct sim_store *store = (struct sim_store *)port;
    struct sim_store **at = &store->driver->stores;

    while (*at != store)
        at = &(*at)->next;
    *at = store->next;
    world_cancel(store->check);
    world_cancel(store->drain);
    end_session(store);
    store->is_closed = true;
    store_drop_connection(store, true);
    answer_all(store);
    while (store->watched)
        store_unwatch(store, store->watched->path, ZKL_NODE_DELETED);
    free(store);
}

static void read_key(struct zkl_store *port, zklock_session_key *out_key)
{
    *out_key = (zklock_session_key){.session_id = ((struct sim_store *)port)->session->id};
}

/* A greeting that is on its way may still arrive. */
static bool retire(struct zkl_store *port)
{
    struct sim_store *store = (struct sim_store *)port;

    if (store->phase == PHASE_CONNECTED)
        return false;
    TRACE(world_of(store), "%s: a handle is replaced", host_name(store->driver->host));
    store_drop_connection(store, true);
    world_cancel(store->check);
    store->check = NULL;
    store->phase = PHASE_DEAD;
    return true;
}

static zklock_status resolve(struct zkl_store_driver *port, const char *hosts, char **out_addresses,
                             char *detail, size_t detail_size)
{
    struct sim_driver *driver = (struct sim_driver *)port;
    static const char all[] = "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181";

    (void)hosts;
    snprintf(detail, detail_size, "%s", "");
    *out_addresses = driver->ensemble->server_count == 1 ? strndup(all, 13) : strdup(all);
    return *out_addresses ? ZKLOCK_OK : ZKLOCK_NO_MEMORY;
}

static void probe(struct zkl_store_driver *port, const char *addresses, int limit_ms, char *detail,
                  size_t detail_size)
{
    (void)port;
    (void)addresses;
    (void)limit_ms;
    snprintf(detail, detail_size, "nobody has answered in this world");
}

/* ---------------------------------------------------------------- what happens to a process */

void driver_init(struct sim_driver *driver, struct host *host, struct ensemble *ensemble)
{
    *driver = (struct sim_driver){
        .driver = {.open = open_store, .submit = submit, .key = read_key, .retire = retire, .close = close_store,
                   .resolve = resolve, .probe = probe},
        .host = host,
        .ensemble = ensemble,
    };
}

int driver_server(const struct sim_driver *driver)
{
    const struct sim_store *store = driver->stores;

    return store && store->phase == PHASE_CONNECTED ? server_index(store->connection->server) : -1;
}

void driver_cut(struct sim_driver *driver)
{
    for (struct sim_store *store = driver->stores; store; store = store->next) {
        if (store->phase != PHASE_CONNECTED)
            continue;
        wire_cut(store->connection, TO_SERVER, chance_near(&driver->host->chance, 0, MILLISECOND));
        TRACE(world_of(store), "%s: cut", host_name(driver->host));
        store_lose_connection(store);
    }
}

void driver_kill(struct sim_driver *driver, bool is_told)
{
    driver->is_dead = true;
    for (struct sim_store *store = driver->stores; store; store = store->next) {
        bool was_connected = store->phase == PHASE_CONNECTED;
        store_drop_connection(store, is_told);
        store->phase = PHASE_DEAD;
        world_cancel(store->check);
        store->check = NULL;
        if (was_connected)
            store->sink.on_state(store->ctx, ZKL_STORE_DISCONNECTED, 0, 0);
    }
}

void driver_unstall(struct sim_driver *driver)
{
    driver->stalled_until_ns = 0;
}
