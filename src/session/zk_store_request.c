/* Requests on their way into libzookeeper, and its completions on their way back. */
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "session/zk_store_internal.h"

/* ---- answers: on the store's thread, one at a time */

/*
 * What a code says about the request. Everything that does not surely mean "not applied" is unknown: losses of the
 * connection, a closing or expired session, and failures in the client itself.
 */
static enum zkl_code code_of(int raw_code)
{
    switch (raw_code) {
    case ZOK:
        return ZKL_CODE_OK;
    case ZNONODE:
        return ZKL_CODE_NO_NODE;
    case ZNODEEXISTS:
        return ZKL_CODE_NODE_EXISTS;
    case ZNOAUTH:
        return ZKL_CODE_NO_AUTH;
    case ZNOCHILDRENFOREPHEMERALS:
        return ZKL_CODE_NO_CHILDREN;
    case ZBADVERSION:
        return ZKL_CODE_BAD_VERSION;
    case ZUNIMPLEMENTED:
    case ZBADARGUMENTS:
        return ZKL_CODE_REFUSED;
    case ZSESSIONEXPIRED:
    case ZAUTHFAILED:
    case ZCLOSING:
    case ZSESSIONMOVED:
        return ZKL_CODE_UNKNOWN;
    }
    return raw_code < ZAPIERROR ? ZKL_CODE_REFUSED : ZKL_CODE_UNKNOWN;
}

static struct zkl_reply reply_of(int raw_code)
{
    return (struct zkl_reply){.code = code_of(raw_code), .raw_code = raw_code, .failed_index = -1};
}

static void copy_stat(struct zkl_reply *reply, const struct Stat *stat)
{
    if (!stat)
        return;
    reply->stat = (struct zkl_stat){
        .czxid = stat->czxid,
        .ctime_ms = stat->ctime,
        .mtime_ms = stat->mtime,
        .owner = stat->ephemeralOwner,
        .version = stat->version,
        /* The server shows twice what it counts, less the children that are there. */
        .created_children = (int32_t)(((uint32_t)stat->cversion + (uint32_t)stat->numChildren) >> 1),
        .present_children = stat->numChildren,
    };
}

static void answer(const void *data, const struct zkl_reply *reply)
{
    zkl_pending_answer((struct zkl_pending *)data, reply);
}

static void on_created(int raw_code, const char *path, const struct Stat *stat, const void *data)
{
    struct zkl_reply reply = reply_of(raw_code);

    reply.path = path;
    copy_stat(&reply, stat);
    answer(data, &reply);
}

static void on_done(int raw_code, const void *data)
{
    struct zkl_reply reply = reply_of(raw_code);

    answer(data, &reply);
}

static void on_stat(int raw_code, const struct Stat *stat, const void *data)
{
    struct zkl_reply reply = reply_of(raw_code);

    copy_stat(&reply, stat);
    answer(data, &reply);
}

static void on_data(int raw_code, const char *value, int size, const struct Stat *stat, const void *data)
{
    struct zkl_reply reply = reply_of(raw_code);

    /* A node without data has size -1. */
    if (value && size >= 0) {
        reply.data = value;
        reply.data_size = size;
    }
    copy_stat(&reply, stat);
    answer(data, &reply);
}

static void on_children(int raw_code, const struct String_vector *names, const void *data)
{
    struct zkl_reply reply = reply_of(raw_code);

    if (names) {
        reply.children = (const char *const *)names->data;
        reply.child_count = names->count;
    }
    answer(data, &reply);
}

/*
 * In a multi that was refused, the operations before the culprit say "ok" and those after it "inconsistency". When
 * the request as a whole was refused, all say the same, and there is no culprit.
 */
static int find_culprit(const struct zkl_pending *pending)
{
    int culprit = 0;

    while (culprit < pending->result_count && pending->results[culprit].err == ZOK)
        culprit++;
    for (int i = culprit + 1; i < pending->result_count; i++) {
        if (pending->results[i].err != ZRUNTIMEINCONSISTENCY)
            return -1;
    }
    return culprit < pending->result_count ? culprit : -1;
}

static void on_checked(int raw_code, const void *data)
{
    struct zkl_reply reply = reply_of(raw_code);

    if (reply.code != ZKL_CODE_OK && reply.code != ZKL_CODE_UNKNOWN)
        reply.failed_index = find_culprit(data);
    answer(data, &reply);
}

/* The last operation of a checked set is the set, and its Stat stands in the pending. */
static void on_set_checked(int raw_code, const void *data)
{
    const struct zkl_pending *pending = data;
    struct zkl_reply reply = reply_of(raw_code);

    if (reply.code == ZKL_CODE_OK)
        copy_stat(&reply, pending->set_stat);
    else if (reply.code != ZKL_CODE_UNKNOWN)
        reply.failed_index = find_culprit(pending);
    answer(data, &reply);
}

static void on_synced(int raw_code, const char *path, const void *data)
{
    (void)path;
    on_done(raw_code, data);
}

static void on_forgotten(int raw_code, const void *data)
{
    on_done(raw_code == ZNOWATCHER ? ZOK : raw_code, data);
}

/* ---- requests: on any thread */

static bool is_component_acceptable(const char *component, size_t size)
{
    if (size == 0 || (size == 1 && component[0] == '.') || (size == 2 && component[0] == '.' && component[1] == '.'))
        return false;
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)component[i] < 0x1F)
            return false;
    }
    return true;
}

/* libzookeeper's own rule. It has to be known beforehand, because zoo_amulti() goes on with garbage after a bad path. */
static bool is_path_acceptable(const char *path)
{
    const char *end = path;

    if (!path || path[0] != '/')
        return false;
    if (path[1] == '\0')
        return true;
    do {
        const char *component = end + 1;

        end = component + strcspn(component, "/");
        if (!is_component_acceptable(component, (size_t)(end - component)))
            return false;
    } while (*end == '/');
    return true;
}

static bool are_paths_acceptable(const struct zkl_request *request)
{
    for (int i = 0; i < request->path_count; i++) {
        if (!is_path_acceptable(request->paths[i]))
            return false;
    }
    return true;
}

static bool is_acceptable(const struct zkl_request *request)
{
    if (request->op == ZKL_OP_CHECK)
        return request->path_count > 0 && are_paths_acceptable(request);
    if (request->op == ZKL_OP_SET && !are_paths_acceptable(request))
        return false;
    bool has_data = request->op == ZKL_OP_CREATE || request->op == ZKL_OP_SET || request->op == ZKL_OP_REPLACE;

    if (has_data && (!request->data || request->data_size < 0))
        return false;
    if (request->op == ZKL_OP_REPLACE && !is_path_acceptable(request->replacement))
        return false;
    return is_path_acceptable(request->path);
}

static int version_of(const struct zkl_request *request)
{
    return request->has_version ? request->version : -1;
}

/*
 * With two or more operations, zoo_amulti() of 3.8 frees a path of ours when the session has ended before or ends in
 * the middle of the call. A connected handle is a whole reconnect away from that, so such a multi is handed on only
 * while connected. With one operation it does no harm, but its return code does not tell the reason.
 */
static int send_multi(zhandle_t *handle, const struct zkl_request *request, struct zkl_pending *pending)
{
    bool sets = request->op == ZKL_OP_SET;
    size_t checks = (size_t)request->path_count;
    int count = request->path_count + sets;
    zoo_op_t *ops;
    int failure;

    if (count > 1 ? zoo_state(handle) != ZOO_CONNECTED_STATE : is_unrecoverable(handle))
        return ZINVALIDSTATE;
    ops = calloc((size_t)count, sizeof(*ops));
    pending->results = calloc((size_t)count, sizeof(*pending->results));
    pending->set_stat = sets ? calloc(1, sizeof(*pending->set_stat)) : NULL;
    pending->result_count = count;
    if (!ops || !pending->results || (sets && !pending->set_stat)) {
        free(ops);
        return ZINVALIDSTATE;
    }
    for (size_t i = 0; i < checks; i++)
        zoo_check_op_init(&ops[i], request->paths[i], -1);
    if (sets)
        zoo_set_op_init(&ops[checks], request->path, request->data, request->data_size, version_of(request),
                        pending->set_stat);
    failure = zoo_amulti(handle, count, ops, pending->results, sets ? on_set_checked : on_checked, pending);
    free(ops);
    return failure;
}

static int send_set(zhandle_t *handle, const struct zkl_request *request, struct zkl_pending *pending)
{
    if (request->path_count > 0)
        return send_multi(handle, request, pending);
    return zoo_aset(handle, request->path, request->data, request->data_size, version_of(request), on_stat, pending);
}

/* The same trap as above. The delete stands first: where it was applied before, the whole fails and changes nothing. */
static int send_replace(zhandle_t *handle, const struct zkl_request *request, struct zkl_pending *pending)
{
    zoo_op_t ops[2];

    if (zoo_state(handle) != ZOO_CONNECTED_STATE)
        return ZINVALIDSTATE;
    pending->results = calloc(2, sizeof(*pending->results));
    if (!pending->results)
        return ZINVALIDSTATE;
    pending->result_count = 2;
    zoo_delete_op_init(&ops[0], request->path, -1);
    zoo_create_op_init(&ops[1], request->replacement, request->data, request->data_size,
                       zkl_zk_store_acl(pending->store->acl), ZOO_EPHEMERAL, NULL, 0);
    return zoo_amulti(handle, 2, ops, pending->results, on_done, pending);
}

static int send_create_parent(zhandle_t *handle, const struct zkl_request *request, struct zkl_pending *pending)
{
    return zoo_acreate2(handle, request->path, "", 0, zkl_zk_store_acl(pending->store->acl),
                        request->is_persistent ? ZOO_PERSISTENT : ZOO_CONTAINER, on_created, pending);
}

/* Removing "all" is the only form that reaches the server; and "all" is one, since all watches share one context. */
static int send_forget(zhandle_t *handle, const struct zkl_request *request, struct zkl_pending *pending)
{
    /* Declared as a pointer to a completion, but taken as the completion itself. */
    void_completion_t *completion = (void_completion_t *)(void *)on_forgotten;

    return zoo_aremove_all_watches(handle, request->path, ZWATCHTYPE_DATA, 0, completion, pending);
}

static int send_request(zhandle_t *handle, const struct zkl_request *request, struct zkl_pending *pending)
{
    watcher_fn watcher = request->with_watch ? zkl_zk_store_watch : NULL;

    switch (request->op) {
    case ZKL_OP_CREATE:
        return zoo_acreate2(handle, request->path, request->data, request->data_size,
                            zkl_zk_store_acl(pending->store->acl), ZOO_EPHEMERAL_SEQUENTIAL, on_created, pending);
    case ZKL_OP_CREATE_PARENT:
        return send_create_parent(handle, request, pending);
    case ZKL_OP_DELETE:
        return zoo_adelete(handle, request->path, version_of(request), on_done, pending);
    case ZKL_OP_LIST:
        return zoo_awget_children(handle, request->path, watcher, pending->store, on_children, pending);
    case ZKL_OP_GET:
        return zoo_awget(handle, request->path, watcher, pending->store, on_data, pending);
    case ZKL_OP_EXISTS:
        return zoo_awexists(handle, request->path, watcher, pending->store, on_stat, pending);
    case ZKL_OP_SET:
        return send_set(handle, request, pending);
    case ZKL_OP_CHECK:
        return send_multi(handle, request, pending);
    case ZKL_OP_SYNC:
        return zoo_async(handle, request->path, on_synced, pending);
    case ZKL_OP_REPLACE:
        return send_replace(handle, request, pending);
    case ZKL_OP_FORGET_WATCH:
        return send_forget(handle, request, pending);
    }
    return ZBADARGUMENTS;
}

/*
 * Only these codes are returned before libzookeeper has noted anything. After any other failure the completion may or
 * may not come; if it does not, the request is answered at the close.
 */
static bool is_refused(int failure)
{
    return failure == ZINVALIDSTATE || failure == ZBADARGUMENTS || failure == ZNOWATCHER;
}

/* @thread any  @locks takes the store's mutex, then libzookeeper's own, one after the other */
bool zkl_zk_store_submit(struct zkl_store *store, const struct zkl_request *request, zkl_reply_fn *on_reply, void *arg)
{
    struct zkl_pending *pending;
    bool is_accepted;

    if (!is_acceptable(request))
        return false;
    pending = zkl_pending_enter(store, on_reply, arg);
    if (!pending)
        return false;
    /* From here on the completion may run on the store's thread and free the pending. */
    is_accepted = !is_refused(send_request(store->handle, request, pending));
    if (!is_accepted)
        zkl_pending_withdraw(pending);
    zkl_pending_leave(store);
    return is_accepted;
}
