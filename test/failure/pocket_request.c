/* Requests of the pocket ZooKeeper: what they do to the tree, and what may happen to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure/pocket_internal.h"
#include "failure/world.h"

enum { KEPT_MS = 2000 };

struct pocket_sent *pocket_copy_request(const struct zkl_request *request, zkl_reply_fn *on_reply, void *arg)
{
    struct pocket_sent *sent = calloc(1, sizeof *sent);

    sent->op = request->op;
    sent->path = strdup(request->path ? request->path : "");
    if (request->data_size > 0)
        sent->data = memcpy(malloc((size_t)request->data_size), request->data, (size_t)request->data_size);
    sent->data_size = request->data_size;
    sent->replacement = request->op == ZKL_OP_REPLACE ? strdup(request->replacement) : NULL;
    sent->with_watch = request->with_watch;
    sent->path_count = request->path_count;
    sent->has_version = request->has_version;
    sent->version = request->version;
    sent->paths = calloc((size_t)request->path_count + 1, sizeof *sent->paths);
    for (int i = 0; i < request->path_count; i++)
        sent->paths[i] = strdup(request->paths[i]);
    sent->on_reply = on_reply;
    sent->arg = arg;
    return sent;
}

void pocket_free_sent(struct pocket_sent *sent)
{
    for (int i = 0; i < sent->path_count; i++)
        free(sent->paths[i]);
    free(sent->paths);
    free(sent->path);
    free(sent->replacement);
    free(sent->data);
    free(sent);
}

static struct pocket_sent *take_first(struct zkl_store *store)
{
    struct pocket_sent *sent = store->first;

    if (!sent)
        return NULL;
    store->first = sent->next;
    if (!store->first)
        store->last = &store->first;
    return sent;
}

static void answer(struct pocket_sent *sent, const struct zkl_reply *reply)
{
    sent->on_reply(sent->arg, reply);
    pocket_free_sent(sent);
}

void pocket_answer_unknown(struct zkl_store *store)
{
    const struct zkl_reply unknown = {.code = ZKL_CODE_UNKNOWN, .failed_index = -1};

    for (struct pocket_sent *sent = take_first(store); sent; sent = take_first(store))
        answer(sent, &unknown);
}

/* ---------------------------------------------------------------- what they do */

static bool is_denied(const struct pocket_sent *sent)
{
    const char *text = pocket.denied[sent->op];

    return text && strstr(sent->path, text);
}

static enum zkl_code create(struct zkl_store *store, const struct pocket_sent *sent, struct zkl_reply *reply)
{
    bool is_sequential = sent->op == ZKL_OP_CREATE;
    char path[1024];

    if (!pocket_has_parent(sent->path))
        return ZKL_CODE_NO_NODE;
    if (!is_sequential && pocket_find(sent->path))
        return ZKL_CODE_NODE_EXISTS;
    snprintf(path, sizeof path, "%.*s", (int)(strrchr(sent->path, '/') - sent->path), sent->path);
    struct pocket_node *parent = pocket_find(path);
    if (is_sequential && parent) {
        snprintf(path, sizeof path, "%s%010d", sent->path, parent->counter);
        /* As the server's does: it sticks. */
        parent->counter += parent->counter < INT32_MAX;
    } else {
        snprintf(path, sizeof path, "%s", sent->path);
    }
    struct pocket_node *node = pocket_add(path, sent->data, sent->data_size, is_sequential ? store->session_id : 0);
    reply->path = node->path;
    reply->stat = pocket_stat(node);
    return ZKL_CODE_OK;
}

static enum zkl_code read_node(struct zkl_store *store, const struct pocket_sent *sent, struct zkl_reply *reply)
{
    const struct pocket_node *node = pocket_find(sent->path);

    /* A missing node leaves a watch behind "exists" and none behind "get". */
    if (sent->with_watch && (node || sent->op == ZKL_OP_EXISTS))
        pocket_plant_watch(store, sent->path, node);
    if (!node)
        return ZKL_CODE_NO_NODE;
    reply->stat = pocket_stat(node);
    if (sent->op == ZKL_OP_GET) {
        reply->data = node->data;
        reply->data_size = node->data_size;
    }
    return ZKL_CODE_OK;
}

/* The delete first: where that finds nothing, nothing is made. */
static enum zkl_code replace(struct zkl_store *store, const struct pocket_sent *sent, struct pocket_node *node)
{
    if (!node)
        return ZKL_CODE_NO_NODE;
    pocket_remove(node);
    pocket_add(sent->replacement, sent->data, sent->data_size, store->session_id);
    return ZKL_CODE_OK;
}

static void list(struct zkl_store *store, const struct pocket_sent *sent, const struct pocket_node *node,
                 struct zkl_reply *reply)
{
    if (!node)
        return;
    reply->children = pocket_names(sent->path, &reply->child_count);
    if (sent->with_watch)
        pocket_plant_child_watch(store, node);
}

static enum zkl_code check(const struct pocket_sent *sent, struct zkl_reply *reply)
{
    for (int i = 0; i < sent->path_count; i++) {
        if (strcmp(sent->paths[i], "/") == 0 || pocket_find(sent->paths[i]))
            continue;
        reply->failed_index = i;
        return ZKL_CODE_NO_NODE;
    }
    return ZKL_CODE_OK;
}

static enum zkl_code apply(struct zkl_store *store, const struct pocket_sent *sent, struct zkl_reply *reply)
{
    struct pocket_node *node = pocket_find(sent->path);
    enum zkl_code code = check(sent, reply);

    if (is_denied(sent))
        return ZKL_CODE_NO_AUTH;
    if (code != ZKL_CODE_OK)
        return code;
    if (node && sent->has_version && node->version != sent->version)
        return ZKL_CODE_BAD_VERSION;
    switch (sent->op) {
    case ZKL_OP_CREATE:
    case ZKL_OP_CREATE_PARENT:
        return create(store, sent, reply);
    case ZKL_OP_GET:
    case ZKL_OP_EXISTS:
        return read_node(store, sent, reply);
    case ZKL_OP_CHECK:
    case ZKL_OP_SYNC:
        return ZKL_CODE_OK;
    case ZKL_OP_FORGET_WATCH:
        pocket_take_watches(store, sent->path, ZKL_NODE_CHANGED);
        return ZKL_CODE_OK;
    case ZKL_OP_DELETE:
        if (node)
            pocket_remove(node);
        break;
    case ZKL_OP_SET:
        if (node)
            pocket_change(node, sent->data, sent->data_size);
        if (node)
            reply->stat = pocket_stat(node);
        break;
    case ZKL_OP_REPLACE:
        return replace(store, sent, node);
    case ZKL_OP_LIST:
        list(store, sent, node, reply);
        break;
    }
    return node ? ZKL_CODE_OK : ZKL_CODE_NO_NODE;
}

struct kept {
    uintptr_t store;
    int64_t session_id;
    struct pocket_sent *sent;
};

static void apply_kept(void *arg)
{
    struct kept *kept = arg;
    struct zkl_store *store = pocket_store(kept->store);
    struct zkl_reply unseen = {.failed_index = -1};

    if (store && store->session_id == kept->session_id)
        apply(store, kept->sent, &unseen);
    free((void *)unseen.children);
    pocket_free_sent(kept->sent);
    free(kept);
}

/* Nobody hears of this one. */
static void lose(struct zkl_store *store, struct pocket_sent *sent)
{
    const struct zkl_reply unknown = {.code = ZKL_CODE_UNKNOWN, .failed_index = -1};
    struct zkl_reply unseen = {.failed_index = -1};

    pocket.is_broken[sent->op] = false;
    if (pocket.faults[sent->op] == POCKET_LOSE_REPLY)
        apply(store, sent, &unseen);
    free((void *)unseen.children);
    sent->on_reply(sent->arg, &unknown);
    if (pocket.faults[sent->op] == POCKET_KEEP_REQUEST) {
        struct kept *kept = calloc(1, sizeof *kept);
        *kept = (struct kept){store->number, store->session_id, sent};
        world_later(KEPT_MS, apply_kept, kept);
    } else {
        pocket_free_sent(sent);
    }
    pocket_disconnect_store(store);
}

void pocket_serve(struct zkl_store *store)
{
    struct zkl_reply reply = {.failed_index = -1};
    struct pocket_sent *sent = store->is_connected ? take_first(store) : NULL;

    if (!sent)
        return;
    if (pocket.is_broken[sent->op]) {
        lose(store, sent);
        return;
    }
    reply.code = apply(store, sent, &reply);
    const char *const *children = reply.children;
    answer(sent, &reply);
    free((void *)children);
}
