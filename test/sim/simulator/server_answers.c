/* What a server answers: reads from what it has applied, writes when it has applied them; and news for watchers. */
#include <stdlib.h>
#include <string.h>

#include "ensemble.h"

/* ---------------------------------------------------------------- reads */

static int seen_children(const struct znode *parent, int64_t zxid)
{
    int count = 0;

    for (const struct znode *node = parent->first_child; node; node = node->next)
        count += tree_is_seen(node, zxid);
    return count;
}

static void take_stat(struct request *request, const struct znode *node, int64_t zxid)
{
    request->stat = (struct zkl_stat){
        .czxid = node->czxid,
        .ctime_ms = node->czxid,
        .owner = node->owner ? node->owner->id : 0,
        .present_children = seen_children(node, zxid),
        /* One change back is all that a server lags behind in the data of these worlds. */
        .version = node->version - (node->mzxid > zxid),
    };
    strcpy(request->data, node->owner ? "{}" : node->mzxid > zxid ? node->old_data : node->data);
}

/* One block: the pointers, then the names. The order is anything, as with a real server. */
static void take_children(struct request *request, struct znode *parent, int64_t zxid, bool is_backwards)
{
    size_t text_size = 0;
    int count = 0;

    for (struct znode *node = parent->first_child; node; node = node->next) {
        if (!tree_is_seen(node, zxid))
            continue;
        text_size += strlen(node->name) + 1;
        count++;
    }
    request->children = must_have(malloc((size_t)count * sizeof(char *) + text_size + 1));
    request->child_count = count;
    char *text = (char *)(request->children + count);
    int at = is_backwards ? count : 0;
    for (struct znode *node = parent->first_child; node; node = node->next) {
        if (!tree_is_seen(node, zxid))
            continue;
        request->children[is_backwards ? --at : at++] = text;
        text = stpcpy(text, node->name) + 1;
    }
}

/* A contender reads its own node, and then the one ahead. */
static void plant_watch(struct connection *connection, struct znode *node, bool is_of_children)
{
    struct ensemble *ensemble = connection->server->ensemble;
    struct watch *watch = watch_add(node, connection, is_of_children, &connection->watches);

    if (!watch || node->owner == connection->session)
        return;
    watch->for_czxid = connection->own_czxid;
    connection->own_czxid = 0;
    ensemble->listener.on_watch(ensemble->listener.ctx, watch);
}

/* Whoever of the session planted it. */
static void forget_watch(const struct connection *connection, struct znode *node)
{
    struct watch *next;

    for (struct watch *watch = node->watches; watch; watch = next) {
        next = watch->next_of_node;
        if (watch->connection == connection && !watch->is_of_children)
            watch_free(watch);
    }
}

static void read_node(struct connection *connection, struct request *request)
{
    struct server *server = connection->server;
    struct ensemble *ensemble = server->ensemble;
    struct znode *node = tree_find(&ensemble->tree, request->paths[0], server->applied_zxid);

    if (request->op == ZKL_OP_FORGET_WATCH) {
        if (node)
            forget_watch(connection, node);
        return;
    }
    if (!node) {
        connection->own_czxid = 0;
        request->code = ZKL_CODE_NO_NODE;
        return;
    }
    take_stat(request, node, server->applied_zxid);
    if (request->op == ZKL_OP_LIST)
        take_children(request, node, server->applied_zxid, chance_one_in(&ensemble->chance, 2));
    if (node->owner == connection->session)
        connection->own_czxid = node->czxid;
    if (request->with_watch)
        plant_watch(connection, node, request->op == ZKL_OP_LIST);
}

static bool is_write(const struct request *request)
{
    if (request->is_close)
        return true;
    return request->op == ZKL_OP_CREATE || request->op == ZKL_OP_CREATE_PARENT || request->op == ZKL_OP_DELETE ||
           request->op == ZKL_OP_SET || request->op == ZKL_OP_CHECK || request->op == ZKL_OP_REPLACE;
}

/* A sync goes the same way, though nobody else hears of it. */
static bool is_forwarded(const struct request *request)
{
    return is_write(request) || request->op == ZKL_OP_SYNC;
}

/* A session's answers keep the order of its requests. The queue's reference goes with the answer. */
static void answer_queue(struct connection *connection)
{
    while (connection->queue && (connection->queue->is_done || !is_forwarded(connection->queue))) {
        struct request *request = connection->queue;
        connection->queue = request->next_queued;
        if (!connection->queue)
            connection->queue_end = &connection->queue;
        if (!is_forwarded(request))
            read_node(connection, request);
        request->message.kind = MESSAGE_REPLY;
        request->message.zxid = connection->server->applied_zxid;
        wire_send(connection, TO_CLIENT, &request->message);
    }
}

/* ---------------------------------------------------------------- requests */

void server_forward(struct server *server, struct request *request)
{
    bool is_sync = request->op == ZKL_OP_SYNC && !request->is_close && !request->is_create_session;

    request->origin = server->index;
    if (is_sync && (server->is_deposed || server_leads(server))) {
        server_synced(server, request);
    } else if (server->is_deposed) {
        request_unref(request);
    } else if (server_leads(server)) {
        ensemble_prepare(server->ensemble, request);
    } else {
        struct relay *relay = relay_new(RELAY_FORWARD, 0);
        relay->request = request;
        link_send(server, LANE_TO_LEADER, relay);
    }
}

struct held {
    struct request *request;
    unsigned incarnation;
};

/* A thread of the server stood still between reading a request and handing it on; its connection is long gone. */
static void forward_late(void *subject, void *detail)
{
    struct server *server = subject;
    struct held *held = detail;

    TRACE(server->ensemble->world, "server %d: a request that was held goes on", server->index);
    if (held->incarnation == server->incarnation && server->is_serving && is_forwarded(held->request))
        server_forward(server, held->request);
    else
        request_unref(held->request);
    free(held);
}

static void hold(struct connection *connection, struct request *request)
{
    struct server *server = connection->server;
    struct held *held = must_have(malloc(sizeof *held));

    *held = (struct held){request, server->incarnation};
    request->session = connection->session;
    world_post(&server->actor, server->ensemble->world->now_ns + request->trap_ns, forward_late, server, held);
    server_drop(connection, true);
}

static void enqueue(struct connection *connection, struct request *request)
{
    request->session = connection->session;
    request->next_queued = NULL;
    *connection->queue_end = request;
    connection->queue_end = &request->next_queued;
    if (is_forwarded(request)) {
        request->refs++;
        server_forward(connection->server, request);
    }
    answer_queue(connection);
}

void server_take_request(struct connection *connection, struct request *request)
{
    enum trap trap = request->trap;

    if (!connection->session || trap == TRAP_LOST_BEFORE) {
        request_unref(request);
        server_drop(connection, true);
        return;
    }
    if (trap == TRAP_HELD) {
        hold(connection, request);
        return;
    }
    connection_ref(connection);
    enqueue(connection, request);
    if (trap == TRAP_LOST_AFTER)
        server_drop(connection, true);
    connection_unref(connection);
}

/* ---------------------------------------------------------------- watches */

static void tell(struct connection *connection, const char *path, enum zkl_node_event event)
{
    size_t size = strlen(path) + 1;
    struct watch_message *news = message_new(sizeof *news + sizeof(char *) + size, MESSAGE_NEWS);

    news->event = event;
    news->count = 1;
    news->paths[0] = (char *)(news->paths + 1);
    memcpy(news->paths[0], path, size);
    wire_send(connection, TO_CLIENT, &news->message);
}

/* A client that is back says what it watched, and what it had seen. */
void server_take_watches(struct connection *connection, const struct watch_message *watches)
{
    struct server *server = connection->server;

    for (int i = 0; i < watches->count; i++) {
        bool is_of_children = watches->paths[i][0] == CHILDREN_MARK;
        const char *path = watches->paths[i] + is_of_children;
        struct znode *node = tree_find(&server->ensemble->tree, path, server->applied_zxid);
        int64_t changed_zxid = !node ? 0 : is_of_children ? node->pzxid : node->mzxid;
        if (!node)
            tell(connection, path, ZKL_NODE_DELETED);
        else if (changed_zxid > watches->message.zxid && changed_zxid <= server->applied_zxid)
            tell(connection, path, is_of_children ? ZKL_NODE_CHILDREN : ZKL_NODE_CHANGED);
        else
            watch_add(node, connection, is_of_children, &connection->watches);
    }
}

static void fire(struct server *server, struct znode *node, enum zkl_node_event event)
{
    struct watch *next;

    for (struct watch *watch = node->watches; watch; watch = next) {
        next = watch->next_of_node;
        bool is_meant = event == ZKL_NODE_DELETED || watch->is_of_children == (event == ZKL_NODE_CHILDREN);
        if (watch->connection->server != server || !is_meant)
            continue;
        tell(watch->connection, node->path, event);
        watch_free(watch);
    }
}

/* ---------------------------------------------------------------- what is committed */

static void drop_session(struct server *server, const struct zk_session *session)
{
    struct connection *next;

    for (struct connection *connection = server->connections; connection; connection = next) {
        next = connection->next_of_server;
        if (connection->session == session)
            server_drop(connection, true);
    }
}

static void finish(struct server *server, struct request *request, struct zk_session *created)
{
    struct connection *connection = request->message.connection;

    if (connection->is_open_at_server && connection->server == server) {
        if (request->is_create_session) {
            server_greet(connection, created);
        } else {
            request->is_done = true;
            answer_queue(connection);
        }
    }
    request_unref(request);
}

void server_synced(struct server *server, struct request *request)
{
    finish(server, request, NULL);
}

static void answer(struct server *server, struct txn *txn)
{
    struct request *request = txn->request;

    txn->request = NULL;
    finish(server, request, txn->session);
}

static void fire_deletion(struct server *server, struct znode *node)
{
    fire(server, node, ZKL_NODE_DELETED);
    fire(server, node->parent, ZKL_NODE_CHILDREN);
}

static void apply_one(struct server *server, struct txn *txn)
{
    server->applied_zxid = txn->zxid;
    switch (txn->kind) {
    case TXN_DELETE:
    case TXN_REPLACE:
        fire_deletion(server, txn->node);
        break;
    case TXN_CREATE:
        fire(server, txn->node->parent, ZKL_NODE_CHILDREN);
        break;
    case TXN_SET:
        fire(server, txn->node, ZKL_NODE_CHANGED);
        break;
    case TXN_CLOSE_SESSION:
        for (struct znode *node = txn->session->first_owned; node; node = node->next_owned)
            if (node->dzxid == txn->zxid)
                fire_deletion(server, node);
        break;
    case TXN_NOTHING:
    case TXN_CREATE_SESSION:
        break;
    }
    if (txn->request && txn->request->origin == server->index)
        answer(server, txn);
    if (txn->kind == TXN_CLOSE_SESSION)
        drop_session(server, txn->session);
}

void server_apply(struct server *server, int64_t end)
{
    while (server->applied < end)
        apply_one(server, ensemble_txn(server->ensemble, server->applied++));
}
