/* What the leader makes of requests, in the order of their arrival: checked against everything on the log so far. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ensemble.h"

static struct znode *find_latest(struct ensemble *ensemble, const char *path)
{
    return tree_find(&ensemble->tree, path, LATEST);
}

static void refuse(struct ensemble *ensemble, struct request *request, enum zkl_code code)
{
    request->code = code;
    ensemble_append(ensemble, TXN_NOTHING, request);
}

static struct znode *find_parent(struct ensemble *ensemble, const char *path)
{
    char parent[256];
    const char *slash = strrchr(path, '/');

    if (slash == path)
        return ensemble->tree.root;
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    return find_latest(ensemble, parent);
}

/* The counter sticks at its limit; but while changes are on their way it is one of them that counts, and wraps. */
static int32_t next_number(const struct znode *parent)
{
    return parent->pending_changes > 0 ? parent->pending_counter : parent->counter;
}

static struct znode *add(struct ensemble *ensemble, struct znode *parent, const char *path, struct request *request)
{
    struct txn *txn = ensemble_append(ensemble, TXN_CREATE, request);

    txn->counter = (int32_t)((uint32_t)next_number(parent) + 1);
    txn->node = tree_add(&ensemble->tree, parent, path, txn->zxid);
    parent->pending_counter = txn->counter;
    parent->pending_changes++;
    return txn->node;
}

static void create(struct ensemble *ensemble, struct request *request)
{
    struct znode *parent = find_parent(ensemble, request->paths[0]);
    size_t size = strlen(request->paths[0]) + sizeof "-2147483648";

    if (!parent || parent->owner) {
        refuse(ensemble, request, parent ? ZKL_CODE_NO_CHILDREN : ZKL_CODE_NO_NODE);
        return;
    }
    request->created = must_have(malloc(size));
    snprintf(request->created, size, "%s%010d", request->paths[0], next_number(parent));
    if (find_latest(ensemble, request->created)) {
        refuse(ensemble, request, ZKL_CODE_NODE_EXISTS);
        return;
    }
    struct znode *node = add(ensemble, parent, request->created, request);
    session_own(request->session, node);
    request->stat = (struct zkl_stat){.czxid = node->czxid, .ctime_ms = node->czxid, .owner = request->session->id};
}

static void create_parent(struct ensemble *ensemble, struct request *request)
{
    struct znode *parent = find_parent(ensemble, request->paths[0]);

    if (!parent)
        refuse(ensemble, request, ZKL_CODE_NO_NODE);
    else if (find_latest(ensemble, request->paths[0]))
        refuse(ensemble, request, ZKL_CODE_NODE_EXISTS);
    else if (parent->owner)
        refuse(ensemble, request, ZKL_CODE_NO_CHILDREN);
    else
        add(ensemble, parent, request->paths[0], request)->is_container = true;
}

static void delete(struct ensemble *ensemble, struct request *request)
{
    struct znode *node = find_latest(ensemble, request->paths[0]);

    if (!node)
        refuse(ensemble, request, ZKL_CODE_NO_NODE);
    else if (node->child_count > 0)
        refuse(ensemble, request, ZKL_CODE_REFUSED);
    else
        ensemble_delete(ensemble, node, REMOVED_BY_OWNER, request);
}

/* In one transaction: nobody sees neither of them. */
static void replace(struct ensemble *ensemble, struct request *request)
{
    struct znode *node = find_latest(ensemble, request->paths[0]);

    if (!node || find_latest(ensemble, request->paths[1])) {
        refuse(ensemble, request, node ? ZKL_CODE_NODE_EXISTS : ZKL_CODE_NO_NODE);
        return;
    }
    struct znode *parent = node->parent;
    struct txn *txn = ensemble_append(ensemble, TXN_REPLACE, request);
    txn->node = node;
    txn->counter = (int32_t)((uint32_t)next_number(parent) + 1);
    node->removal = REMOVED_FOR_ANOTHER;
    tree_remove(node, txn->zxid);
    txn->made = tree_add(&ensemble->tree, parent, request->paths[1], txn->zxid);
    parent->pending_counter = txn->counter;
    parent->pending_changes++;
    session_own(request->session, txn->made);
}

static void set(struct ensemble *ensemble, struct znode *node, struct request *request)
{
    struct txn *txn = ensemble_append(ensemble, TXN_SET, request);

    txn->node = node;
    strcpy(txn->data, node->data);
    strcpy(node->old_data, node->data);
    if (request)
        strcpy(node->data, request->data);
    node->mzxid = txn->zxid;
    node->version++;
}

static void set_data(struct ensemble *ensemble, struct request *request)
{
    struct znode *node = find_latest(ensemble, request->paths[0]);

    if (!node)
        refuse(ensemble, request, ZKL_CODE_NO_NODE);
    else if (request->has_version && request->version != node->version)
        refuse(ensemble, request, ZKL_CODE_BAD_VERSION);
    else
        set(ensemble, node, request);
}

static void check(struct ensemble *ensemble, struct request *request)
{
    for (int i = 0; i < request->path_count; i++) {
        if (find_latest(ensemble, request->paths[i]))
            continue;
        request->failed_index = i;
        refuse(ensemble, request, ZKL_CODE_NO_NODE);
        return;
    }
    ensemble_append(ensemble, TXN_NOTHING, request);
}

static void create_session(struct ensemble *ensemble, struct request *request)
{
    int64_t timeout_ns = request->stat.ctime_ms * MILLISECOND;
    int64_t least_ns = ensemble->tick_ns * 2;
    int64_t most_ns = ensemble->tick_ns * 20;
    struct txn *txn = ensemble_append(ensemble, TXN_CREATE_SESSION, request);

    timeout_ns = timeout_ns < least_ns ? least_ns : timeout_ns > most_ns ? most_ns : timeout_ns;
    txn->session = session_new(ensemble, request->message.connection->host, timeout_ns);
    txn->session->owner = request->origin;
}

static void prepare_write(struct ensemble *ensemble, struct request *request)
{
    switch (request->op) {
    case ZKL_OP_CREATE:
        create(ensemble, request);
        break;
    case ZKL_OP_CREATE_PARENT:
        create_parent(ensemble, request);
        break;
    case ZKL_OP_DELETE:
        delete(ensemble, request);
        break;
    case ZKL_OP_REPLACE:
        replace(ensemble, request);
        break;
    case ZKL_OP_SET:
        set_data(ensemble, request);
        break;
    case ZKL_OP_CHECK:
        check(ensemble, request);
        break;
    default:
        refuse(ensemble, request, ZKL_CODE_REFUSED);
        break;
    }
}

void ensemble_prepare(struct ensemble *ensemble, struct request *request)
{
    if (request->is_create_session)
        create_session(ensemble, request);
    else if (request->session->is_closing || request->session->owner != request->origin)
        request_unref(request);
    else if (request->is_close)
        ensemble_close_session(ensemble, request->session, request);
    else
        prepare_write(ensemble, request);
}

/* ---------------------------------------------------------------- the operator */

bool operator_remove(struct ensemble *ensemble, struct znode *node)
{
    if (ensemble->leader < 0 || !node || node->dzxid != NEVER || node->child_count > 0)
        return false;
    TRACE(ensemble->world, "operator: removes %s", node->path);
    ensemble_delete(ensemble, node, REMOVED_BY_OPERATOR, NULL);
    return true;
}

bool operator_remove_tree(struct ensemble *ensemble, struct znode *node)
{
    if (ensemble->leader < 0 || !node || node->dzxid != NEVER)
        return false;
    for (struct znode *child = node->first_child; child; child = child->next)
        operator_remove_tree(ensemble, child);
    return operator_remove(ensemble, node);
}

bool operator_touch(struct ensemble *ensemble, struct znode *node)
{
    if (ensemble->leader < 0 || !node || node->dzxid != NEVER)
        return false;
    TRACE(ensemble->world, "operator: writes to %s", node->path);
    set(ensemble, node, NULL);
    return true;
}

bool operator_write(struct ensemble *ensemble, struct znode *node, const char *data)
{
    /* A server knows of a node's data what stands there and what stood there before. */
    bool is_changing = node && node->mzxid > ensemble->committed_zxid;

    if (ensemble->leader < 0 || !node || node->dzxid != NEVER || is_changing)
        return false;
    TRACE(ensemble->world, "operator: writes %s to %s", data, node->path);
    set(ensemble, node, NULL);
    snprintf(node->data, sizeof node->data, "%s", data);
    return true;
}

bool operator_create(struct ensemble *ensemble, struct znode *parent, const char *name)
{
    char path[256];

    if (ensemble->leader < 0 || !parent || parent->dzxid != NEVER)
        return false;
    snprintf(path, sizeof path, "%s/%s", parent->path, name);
    if (find_latest(ensemble, path))
        return false;
    add(ensemble, parent, path, NULL);
    return true;
}

void operator_jump(struct znode *parent, int32_t number)
{
    if (parent->dzxid == NEVER && parent->counter < number && parent->pending_changes == 0)
        parent->counter = number;
}
