/*
 * The first port on libzookeeper 3.8. Only this file and its siblings zk_store_*.c know zookeeper.h, and what they know
 * of its faults stands where it is worked around.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "session/descriptors.h"
#include "session/probe.h"
#include "session/resolver.h"
#include "session/zk_store_internal.h"

/* ---- events: on the store's thread */

static void report(struct zkl_store *store, zhandle_t *handle, enum zkl_store_state state)
{
    store->sink.on_state(store->ctx, state, zoo_client_id(handle)->client_id, (unsigned)zoo_recv_timeout(handle));
}

void zkl_zk_store_report_connected(struct zkl_store *store)
{
    report(store, store->handle, ZKL_STORE_CONNECTED);
}

static void report_state(struct zkl_store *store, zhandle_t *handle, int state)
{
    enum zkl_store_state reported = ZKL_STORE_DISCONNECTED;

    if (state == ZOO_CONNECTED_STATE)
        reported = ZKL_STORE_CONNECTED;
    else if (state == ZOO_EXPIRED_SESSION_STATE)
        reported = ZKL_STORE_EXPIRED;
    else if (state == ZOO_AUTH_FAILED_STATE)
        reported = ZKL_STORE_FAILED;
    /* Before anybody hears of the connection and starts a program because of it. */
    zkl_descriptors_seal_sockets(store->peers, store->peer_count);
    if (reported == ZKL_STORE_CONNECTED && store->must_authenticate)
        zkl_zk_store_authenticate(store, handle);
    else
        report(store, handle, reported);
}

static void report_node(struct zkl_store *store, int type, const char *path)
{
    enum zkl_node_event event = ZKL_NODE_OTHER;

    if (type == ZOO_CHILD_EVENT)
        event = ZKL_NODE_CHILDREN;
    else if (type == ZOO_DELETED_EVENT)
        event = ZKL_NODE_DELETED;
    else if (type == ZOO_CHANGED_EVENT)
        event = ZKL_NODE_CHANGED;
    store->sink.on_node(store->ctx, event, path);
}

/*
 * The first events can come before zookeeper_init2() has returned, and whoever hears of them may want to send.
 * @thread the store's, or that of open()  @locks takes the store's mutex
 */
static void publish_handle(struct zkl_store *store, zhandle_t *handle)
{
    pthread_mutex_lock(&store->mutex);
    if (!store->handle)
        store->handle = handle;
    pthread_mutex_unlock(&store->mutex);
}

/*
 * The state is the event's own: zoo_state() is ahead of the events. With one watcher and one context for all nodes,
 * libzookeeper delivers a session event once and not once a node.
 */
void zkl_zk_store_watch(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    struct zkl_store *store = context;

    publish_handle(store, handle);
    if (type == ZOO_SESSION_EVENT)
        report_state(store, handle, state);
    else
        report_node(store, type, path);
}

/* ---- opening and closing */

/* Only in client libraries that were built with TLS: what is weak is NULL elsewhere, and found at run time if that library
 * is replaced by one that has it. Some headers declare it in some builds alone, always like this. */
extern zhandle_t *zookeeper_init_ssl(const char *host, const char *files, watcher_fn watch, int timeout_ms,
                                     const clientid_t *id, void *context, int flags) __attribute__((weak));

/*
 * libzookeeper may hold its own locks here, or be in the middle of a call of ours. At its default level it says
 * nothing that on_state() and the probe do not say better.
 */
static void discard_log(const char *message)
{
    (void)message;
}

/*
 * libzookeeper wants IPv6 without brackets. And after a failure it advances twice in its list, so that it never sees
 * every second server of an even one: then the first stands there once more.
 */
static char *format_for_client(const char *addresses, int count)
{
    size_t size = strlen(addresses);
    size_t first_size = strcspn(addresses, ",");
    char *list = malloc(size + first_size + 2);
    char *end = list;

    if (!list)
        return NULL;
    for (size_t i = 0; i < size; i++) {
        if (addresses[i] != '[' && addresses[i] != ']')
            *end++ = addresses[i];
    }
    *end = '\0';
    if (count % 2 == 0) {
        first_size = strcspn(list, ",");
        *end++ = ',';
        memcpy(end, list, first_size);
        end[first_size] = '\0';
    }
    return list;
}

static zhandle_t *init_encrypted(struct zkl_store *store, const char *list, const struct zkl_store_options *options,
                                 const clientid_t *id)
{
    zhandle_t *handle = zookeeper_init_ssl(list, options->tls, zkl_zk_store_watch, (int)options->timeout_ms, id, store,
                                           ZOO_NO_LOG_CLIENTENV);

    if (handle)
        zoo_set_log_callback(handle, discard_log);
    return handle;
}

/* The threads of a handle inherit the mask of their creator. */
static zhandle_t *init_with_signals_blocked(struct zkl_store *store, const char *list,
                                            const struct zkl_store_options *options)
{
    clientid_t id = {0};
    sigset_t all, before;
    zhandle_t *handle;
    int failure;

    if (options->key) {
        id.client_id = options->key->session_id;
        memcpy(id.passwd, options->key->password, sizeof(id.passwd));
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = 0;
    if (options->tls)
        handle = init_encrypted(store, list, options, options->key ? &id : NULL);
    else
        handle = zookeeper_init2(list, zkl_zk_store_watch, (int)options->timeout_ms, options->key ? &id : NULL, store,
                                 ZOO_NO_LOG_CLIENTENV, discard_log);
    failure = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failure;
    return handle;
}

/*
 * Two things of libzookeeper's belong to the whole process: whether it shuffles the servers, and which descriptors
 * it makes. Handles of ours are made one at a time because of them; the shuffling, which the rest of the program may
 * rely on, is switched off only meanwhile (its state cannot be asked, so its default comes back).
 */
static zhandle_t *init_handle(struct zkl_store *store, const char *list, const struct zkl_store_options *options)
{
    static pthread_mutex_t init_mutex = PTHREAD_MUTEX_INITIALIZER;
    struct zkl_descriptors before;
    zhandle_t *handle;
    int failure;

    pthread_mutex_lock(&init_mutex);
    zkl_descriptors_list(&before);
    zoo_deterministic_conn_order(1);
    handle = init_with_signals_blocked(store, list, options);
    failure = errno;
    zoo_deterministic_conn_order(0);
    zkl_descriptors_seal_new_pipes(&before);
    zkl_descriptors_clear(&before);
    pthread_mutex_unlock(&init_mutex);
    errno = failure;
    return handle;
}

static struct zkl_store *new_store(const struct zkl_store_options *options)
{
    struct zkl_store *store = calloc(1, sizeof(*store));

    if (!store)
        return NULL;
    if (options->credentials && !zkl_credentials_copy(&store->credentials, options->credentials->scheme,
                                                      options->credentials->bytes, options->credentials->size)) {
        free(store);
        return NULL;
    }
    store->must_authenticate = store->credentials.scheme != NULL;
    store->acl = options->acl;
    pthread_mutex_init(&store->mutex, NULL);
    pthread_cond_init(&store->is_quiet, NULL);
    store->pendings.next = &store->pendings;
    store->pendings.previous = &store->pendings;
    store->sink = *options->sink;
    store->ctx = options->ctx;
    return store;
}

static void free_store(struct zkl_store *store)
{
    pthread_cond_destroy(&store->is_quiet);
    pthread_mutex_destroy(&store->mutex);
    zkl_credentials_clear(&store->credentials);
    free(store);
}

static zklock_status connect_store(struct zkl_store *store, const struct zkl_store_options *options)
{
    zhandle_t *handle;
    char *list;
    int failure;

    store->peer_count = zkl_address_parse(options->addresses, store->peers, ZKL_SERVERS_MAX + 1);
    if (store->peer_count < 1)
        return ZKLOCK_BAD_ARGUMENT;
    list = format_for_client(options->addresses, store->peer_count);
    if (!list)
        return ZKLOCK_NO_MEMORY;
    handle = init_handle(store, list, options);
    failure = errno;
    free(list);
    if (!handle)
        return failure == ENOMEM ? ZKLOCK_NO_MEMORY : ZKLOCK_SYSTEM;
    /* Otherwise the I/O thread reads the list of servers again on each of its turns. */
    zoo_set_servers_resolution_delay(handle, -1);
    publish_handle(store, handle);
    return ZKLOCK_OK;
}

static zklock_status open_store(struct zkl_store_driver *driver, const struct zkl_store_options *options,
                                struct zkl_store **out_store)
{
    struct zkl_store *store = new_store(options);
    zklock_status status;

    (void)driver;
    if (!store)
        return ZKLOCK_NO_MEMORY;
    status = connect_store(store, options);
    if (status == ZKLOCK_OK)
        *out_store = store;
    else
        free_store(store);
    return status;
}

/*
 * On the store's own thread zookeeper_close() would put itself off and free the handle under our feet.
 * @thread any but the store's  @locks none may be held: the last callbacks run meanwhile
 */
static void close_store(struct zkl_store *store)
{
    const struct zkl_reply lost = {.code = ZKL_CODE_UNKNOWN, .raw_code = ZCLOSING, .failed_index = -1};

    zkl_pending_shut(store);
    if (store->is_retired)
        zkl_zk_store_await_rest(store);
    zookeeper_close(store->handle);
    zkl_pending_fail_all(store, &lost);
    free_store(store);
}

static void read_key(struct zkl_store *store, zklock_session_key *out_key)
{
    const clientid_t *id = zoo_client_id(store->handle);

    out_key->session_id = id->client_id;
    memcpy(out_key->password, id->passwd, sizeof(out_key->password));
}

static zklock_status resolve(struct zkl_store_driver *driver, const char *hosts, char **out_addresses, char *detail,
                             size_t detail_size)
{
    (void)driver;
    return zkl_resolver_resolve(hosts, out_addresses, detail, detail_size);
}

static void probe(struct zkl_store_driver *driver, const char *addresses, int limit_ms, char *detail,
                  size_t detail_size)
{
    (void)driver;
    zkl_probe_addresses(addresses, limit_ms, detail, detail_size);
}

static bool has_tls(void)
{
    return zookeeper_init_ssl != NULL;
}

struct zkl_store_driver *zkl_store_driver_zookeeper(void)
{
    static struct zkl_store_driver driver = {
        .has_tls = has_tls,
        .open = open_store,
        .submit = zkl_zk_store_submit,
        .key = read_key,
        .retire = zkl_zk_store_retire,
        .close = close_store,
        .resolve = resolve,
        .probe = probe,
    };

    return &driver;
}
