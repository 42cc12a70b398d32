#include "ensemble.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_LOG_ROOM 1024
/* How often a leader looks for containers that nobody uses. */
#define CONTAINER_CHECK (20 * SECOND)

void ensemble_init(struct ensemble *ensemble, struct world *world, const struct ensemble_options *options)
{
    memset(ensemble, 0, sizeof *ensemble);
    ensemble->world = world;
    ensemble->chance = chance_stream(options->seed, 1);
    ensemble->tick_ns = options->tick_ns;
    ensemble->link_latency = options->link_latency;
    ensemble->commit_latency = options->commit_latency;
    ensemble->ping_slack_ns = 100 * MILLISECOND;
    ensemble->server_count = options->server_count;
    ensemble->log_room = FIRST_LOG_ROOM;
    ensemble->log = must_have(calloc((size_t)ensemble->log_room, sizeof *ensemble->log));
    ensemble->zxid = INT64_C(1) << 32;
    ensemble->committed_zxid = ensemble->zxid;
    actor_init(&ensemble->nobody, world);
    tree_init(&ensemble->tree);
    for (int i = 0; i < ensemble->server_count; i++)
        server_init(&ensemble->servers[i], ensemble, i);
    ensemble_elect(ensemble, 0);
}

void ensemble_stop(struct ensemble *ensemble)
{
    ensemble->is_over = true;
}

void ensemble_clear(struct ensemble *ensemble)
{
    for (int64_t i = ensemble->log_begin; i < ensemble->log_end; i++)
        if (ensemble_txn(ensemble, i)->request)
            request_unref(ensemble_txn(ensemble, i)->request);
    for (int i = 0; i < ensemble->server_count; i++) {
        while (ensemble->servers[i].connections)
            server_drop(ensemble->servers[i].connections, false);
        server_clear(&ensemble->servers[i]);
    }
    tree_clear(&ensemble->tree);
    sessions_clear(ensemble);
    free(ensemble->log);
}

/* ---------------------------------------------------------------- the log */

struct txn *ensemble_txn(struct ensemble *ensemble, int64_t index)
{
    return &ensemble->log[index & (ensemble->log_room - 1)];
}

static void make_room(struct ensemble *ensemble)
{
    int64_t room = ensemble->log_room * 2;
    struct txn *log = must_have(calloc((size_t)room, sizeof *log));

    for (int64_t i = ensemble->log_begin; i < ensemble->log_end; i++)
        log[i & (room - 1)] = *ensemble_txn(ensemble, i);
    free(ensemble->log);
    ensemble->log = log;
    ensemble->log_room = room;
}

/* Everybody has applied it: nobody can see what it removed. */
static void forget(struct ensemble *ensemble, struct txn *txn)
{
    struct znode *next;

    if (txn->request)
        request_unref(txn->request);
    txn->request = NULL;
    if (txn->kind == TXN_DELETE || txn->kind == TXN_REPLACE)
        tree_free(&ensemble->tree, txn->node);
    if (txn->kind != TXN_CLOSE_SESSION)
        return;
    for (struct znode *node = txn->session->first_owned; node; node = next) {
        next = node->next_owned;
        if (node->dzxid == txn->zxid)
            tree_free(&ensemble->tree, node);
    }
}

static void trim(struct ensemble *ensemble)
{
    int64_t begin = ensemble->committed;

    for (int i = 0; i < ensemble->server_count; i++)
        if (ensemble->servers[i].is_serving && ensemble->servers[i].applied < begin)
            begin = ensemble->servers[i].applied;
    while (ensemble->log_begin < begin)
        forget(ensemble, ensemble_txn(ensemble, ensemble->log_begin++));
}

void ensemble_commit_one(struct ensemble *ensemble)
{
    struct txn *txn = ensemble_txn(ensemble, ensemble->committed++);

    ensemble->committed_zxid = txn->zxid;
    if (txn->kind == TXN_CREATE || txn->kind == TXN_DELETE || txn->kind == TXN_REPLACE) {
        txn->node->parent->pending_changes--;
        if (txn->kind != TXN_DELETE && txn->counter > txn->node->parent->counter)
            txn->node->parent->counter = txn->counter;
    }
    if (txn->kind == TXN_DELETE || txn->kind == TXN_REPLACE)
        ensemble->listener.on_gone(ensemble->listener.ctx, txn->node);
    if (txn->kind == TXN_SET)
        ensemble->listener.on_write(ensemble->listener.ctx, txn->node);
    if (txn->kind == TXN_CLOSE_SESSION)
        for (struct znode *node = txn->session->first_owned; node; node = node->next_owned)
            if (node->dzxid == txn->zxid)
                ensemble->listener.on_gone(ensemble->listener.ctx, node);
}

static void commit(struct ensemble *ensemble)
{
    ensemble_commit_one(ensemble);
    server_apply(ensemble_leader(ensemble), ensemble->committed);
    for (int i = 0; i < ensemble->server_count; i++) {
        struct server *server = &ensemble->servers[i];
        if (i == ensemble->leader || !server->is_serving || server->is_deposed)
            continue;
        struct relay *relay = relay_new(RELAY_COMMIT, 0);
        relay->end = ensemble->committed;
        link_send(server, LANE_TO_FOLLOWER, relay);
    }
    if (ensemble->committed - ensemble->log_begin > 256)
        trim(ensemble);
}

/* One for each entry of the log, in its order. */
static void commit_due(void *subject, void *detail)
{
    struct ensemble *ensemble = subject;

    if ((unsigned)(uintptr_t)detail == ensemble->term && ensemble->leader >= 0)
        commit(ensemble);
}

struct txn *ensemble_append(struct ensemble *ensemble, enum txn_kind kind, struct request *request)
{
    if (ensemble->log_end - ensemble->log_begin == ensemble->log_room)
        make_room(ensemble);
    int64_t at_ns = ensemble->world->now_ns + latency_draw(&ensemble->commit_latency, &ensemble->chance);
    struct txn *txn = ensemble_txn(ensemble, ensemble->log_end++);

    *txn = (struct txn){.kind = kind, .zxid = ++ensemble->zxid, .request = request};
    if (at_ns <= ensemble->commit_floor_ns)
        at_ns = ensemble->commit_floor_ns + 1;
    ensemble->commit_floor_ns = at_ns;
    world_post(&ensemble_leader(ensemble)->actor, at_ns, commit_due, ensemble, (void *)(uintptr_t)ensemble->term);
    return txn;
}

void ensemble_delete(struct ensemble *ensemble, struct znode *node, enum removal removal, struct request *request)
{
    struct txn *txn = ensemble_append(ensemble, TXN_DELETE, request);

    txn->node = node;
    node->removal = removal;
    if (node->parent->pending_changes++ == 0)
        node->parent->pending_counter = node->parent->counter;
    tree_remove(node, txn->zxid);
}

void ensemble_close_session(struct ensemble *ensemble, struct zk_session *session, struct request *request)
{
    struct txn *txn = ensemble_append(ensemble, TXN_CLOSE_SESSION, request);

    TRACE(ensemble->world, "leader: session %llx ends%s", (unsigned long long)session->id,
          request ? ", closed by its owner" : "");
    txn->session = session;
    session->is_closing = true;
    session->closed_zxid = txn->zxid;
    for (struct znode *node = session->first_owned; node; node = node->next_owned) {
        if (node->dzxid != NEVER)
            continue;
        node->removal = request ? REMOVED_BY_OWNER : REMOVED_BY_EXPIRY;
        tree_remove(node, txn->zxid);
    }
}

/* ---------------------------------------------------------------- timers of a leader */

static void ping_followers(void *subject, void *detail)
{
    struct ensemble *ensemble = subject;

    if ((unsigned)(uintptr_t)detail != ensemble->term || ensemble->is_over)
        return;
    for (int i = 0; i < ensemble->server_count; i++)
        if (i != ensemble->leader && ensemble->servers[i].is_serving && !ensemble->servers[i].is_deposed)
            link_send(&ensemble->servers[i], LANE_TO_FOLLOWER, relay_new(RELAY_PING, 0));
    int64_t late_ns =
        chance_one_in(&ensemble->chance, 4) ? chance_near(&ensemble->chance, 0, ensemble->ping_slack_ns) : 0;
    world_post(&ensemble_leader(ensemble)->actor, ensemble->world->now_ns + ensemble->tick_ns / 2 + late_ns,
               ping_followers, ensemble, detail);
}

static void expire(void *subject, void *detail)
{
    struct ensemble *ensemble = subject;
    int64_t now_ns = ensemble->world->now_ns;

    if ((unsigned)(uintptr_t)detail != ensemble->term || ensemble->is_over)
        return;
    sessions_expire(ensemble);
    world_post(&ensemble_leader(ensemble)->actor, (now_ns / ensemble->tick_ns + 1) * ensemble->tick_ns, expire,
               ensemble, detail);
}

static void remove_empty(struct ensemble *ensemble, struct znode *parent)
{
    for (struct znode *node = parent->first_child; node; node = node->next) {
        if (node->dzxid != NEVER)
            continue;
        if (node->is_container && node->child_count == 0 && node->counter > 0)
            ensemble_delete(ensemble, node, REMOVED_AS_EMPTY, NULL);
        else if (!node->owner)
            remove_empty(ensemble, node);
    }
}

static void check_containers(void *subject, void *detail)
{
    struct ensemble *ensemble = subject;

    if ((unsigned)(uintptr_t)detail != ensemble->term || ensemble->is_over)
        return;
    remove_empty(ensemble, ensemble->tree.root);
    world_post(&ensemble_leader(ensemble)->actor, ensemble->world->now_ns + CONTAINER_CHECK, check_containers,
               ensemble, detail);
}

void ensemble_plan_timers(struct ensemble *ensemble)
{
    struct actor *leader = &ensemble_leader(ensemble)->actor;
    void *term = (void *)(uintptr_t)ensemble->term;
    int64_t now_ns = ensemble->world->now_ns;

    world_post(leader, now_ns, ping_followers, ensemble, term);
    world_post(leader, (now_ns / ensemble->tick_ns + 1) * ensemble->tick_ns, expire, ensemble, term);
    world_post(leader, now_ns + CONTAINER_CHECK, check_containers, ensemble, term);
}
