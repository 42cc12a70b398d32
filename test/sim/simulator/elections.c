/* Servers that go, come back, stand still or are cut off, and who leads meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "ensemble.h"

#define SHORTEST_ELECTION (30 * MILLISECOND)
#define LONGEST_ELECTION (1500 * MILLISECOND)

static void after(struct ensemble *ensemble, int64_t delay_ns, event_fn *run, void *detail)
{
    world_post(&ensemble->nobody, ensemble->world->now_ns + delay_ns, run, ensemble, detail);
}

/* ---------------------------------------------------------------- the log's end */

static void undo(struct ensemble *ensemble, struct txn *txn)
{
    switch (txn->kind) {
    case TXN_CREATE:
        txn->node->parent->child_count--;
        txn->node->parent->pending_changes--;
        tree_free(&ensemble->tree, txn->node);
        break;
    case TXN_REPLACE:
        txn->node->parent->child_count--;
        tree_free(&ensemble->tree, txn->made);
        txn->node->parent->pending_changes--;
        tree_restore(txn->node);
        break;
    case TXN_DELETE:
        txn->node->parent->pending_changes--;
        tree_restore(txn->node);
        break;
    case TXN_CREATE_SESSION:
        txn->session->closed_zxid = 0;
        break;
    case TXN_CLOSE_SESSION:
        txn->session->closed_zxid = NEVER;
        for (struct znode *node = txn->session->first_owned; node; node = node->next_owned)
            if (node->dzxid == txn->zxid)
                tree_restore(node);
        break;
    case TXN_SET:
        txn->node->version--;
        strcpy(txn->node->data, txn->data);
        break;
    case TXN_NOTHING:
        break;
    }
    if (txn->request)
        request_unref(txn->request);
}

static void settle_log(struct ensemble *ensemble)
{
    int64_t survivors = chance_between(&ensemble->chance, ensemble->committed, ensemble->log_end);

    while (ensemble->log_end > survivors)
        undo(ensemble, ensemble_txn(ensemble, --ensemble->log_end));
    while (ensemble->committed < survivors)
        ensemble_commit_one(ensemble);
}

/* ---------------------------------------------------------------- leaders */

static void rejoin(struct server *server)
{
    link_reset(server);
    server_return(server);
}

void ensemble_elect(struct ensemble *ensemble, int leader)
{
    settle_log(ensemble);
    ensemble->term++;
    ensemble->leader = leader;
    ensemble->zxid = ((ensemble->zxid >> 32) + 1) << 32;
    ensemble->commit_floor_ns = ensemble->world->now_ns;
    TRACE(ensemble->world, "server %d leads", leader);
    sessions_begin(ensemble);
    for (int i = 0; i < ensemble->server_count; i++)
        if (!ensemble->servers[i].is_away && !ensemble->servers[i].is_deposed)
            rejoin(&ensemble->servers[i]);
    ensemble_plan_timers(ensemble);
}

static void elect_somebody(void *subject, void *detail)
{
    struct ensemble *ensemble = subject;
    int candidates[MOST_SERVERS];
    int count = 0;

    (void)detail;
    for (int i = 0; i < ensemble->server_count; i++)
        if (!ensemble->servers[i].is_away && !ensemble->servers[i].is_deposed)
            candidates[count++] = i;
    if (ensemble->leader < 0 && count > 0)
        ensemble_elect(ensemble, candidates[chance_below(&ensemble->chance, count)]);
}

static void lose_leader(struct ensemble *ensemble)
{
    ensemble->leader = -1;
    ensemble->term++;
    for (int i = 0; i < ensemble->server_count; i++)
        link_reset(&ensemble->servers[i]);
}

static void leave(struct server *server)
{
    TRACE(server->ensemble->world, "server %d serves nobody", server->index);
    server_leave(server);
}

/* Those that followed the leader that was lost serve nobody until there is another. */
static void look_for_leader(void *subject, void *detail)
{
    struct ensemble *ensemble = subject;

    (void)detail;
    for (int i = 0; i < ensemble->server_count; i++)
        if (!ensemble->servers[i].is_away && !ensemble->servers[i].is_deposed)
            leave(&ensemble->servers[i]);
    after(ensemble, chance_near(&ensemble->chance, SHORTEST_ELECTION, LONGEST_ELECTION), elect_somebody, NULL);
}

/* ---------------------------------------------------------------- faults */

static void come_back(void *subject, void *detail)
{
    struct ensemble *ensemble = subject;
    struct server *server = detail;

    server->is_away = false;
    TRACE(ensemble->world, "server %d is back", server->index);
    if (ensemble->leader >= 0)
        rejoin(server);
    else if (ensemble->server_count == 1)
        elect_somebody(ensemble, NULL);
}

void ensemble_restart(struct ensemble *ensemble, int index, int64_t away_ns)
{
    struct server *server = &ensemble->servers[index];
    bool is_leader = ensemble->leader == index;

    TRACE(ensemble->world, "server %d goes", index);
    if (is_leader)
        lose_leader(ensemble);
    server->is_away = true;
    leave(server);
    link_reset(server);
    if (is_leader && ensemble->server_count > 1)
        look_for_leader(ensemble, NULL);
    after(ensemble, away_ns, come_back, server);
}

static void notice_deposition(void *subject, void *detail)
{
    struct server *server = detail;

    (void)subject;
    server->is_away = true;
    leave(server);
}

void ensemble_depose(struct ensemble *ensemble, const int64_t after_ns[3])
{
    struct server *server = ensemble_leader(ensemble);

    TRACE(ensemble->world, "server %d leads nobody any more", server->index);
    lose_leader(ensemble);
    server->is_deposed = true;
    after(ensemble, after_ns[0], look_for_leader, NULL);
    after(ensemble, after_ns[1], notice_deposition, server);
    after(ensemble, after_ns[2], come_back, server);
}

struct cut {
    struct ensemble *ensemble;
    struct server *follower;
    unsigned incarnation;
    bool is_given_up;
};

static void give_up(void *subject, void *detail)
{
    struct cut *cut = detail;

    (void)subject;
    if (cut->incarnation != cut->follower->link.incarnation)
        return;
    cut->is_given_up = true;
    cut->follower->is_away = true;
    leave(cut->follower);
    link_reset(cut->follower);
}

static void heal(void *subject, void *detail)
{
    struct cut *cut = detail;

    if (cut->is_given_up)
        come_back(subject, cut->follower);
    else if (cut->incarnation == cut->follower->link.incarnation)
        link_unblock(cut->follower);
    free(cut);
}

void ensemble_cut_follower(struct ensemble *ensemble, int follower, unsigned directions, int64_t for_ns)
{
    struct server *server = &ensemble->servers[follower];
    struct cut *cut = must_have(malloc(sizeof *cut));
    int64_t patience_ns = chance_between(&ensemble->chance, 1, SYNC_LIMIT * ensemble->tick_ns);

    TRACE(ensemble->world, "server %d is cut off from the leader (%u)", follower, directions);
    for (int lane = 0; lane < 2; lane++)
        server->link.is_blocked[lane] = directions >> lane & 1;
    *cut = (struct cut){ensemble, server, server->link.incarnation, false};
    if (patience_ns < for_ns)
        after(ensemble, patience_ns, give_up, cut);
    after(ensemble, for_ns, heal, cut);
}

static void resume(void *subject, void *detail)
{
    struct ensemble *ensemble = subject;
    struct server *server = detail;

    TRACE(ensemble->world, "server %d goes on", server->index);
    /* What is due comes before or after what has waited in the sockets. */
    if (server_leads(server) && chance_one_in(&ensemble->chance, 2))
        sessions_expire(ensemble);
    actor_resume(&server->actor);
}

void ensemble_pause(struct ensemble *ensemble, int index, int64_t for_ns)
{
    TRACE(ensemble->world, "server %d stands still", index);
    actor_pause(&ensemble->servers[index].actor);
    after(ensemble, for_ns, resume, &ensemble->servers[index]);
}

int ensemble_follower(const struct ensemble *ensemble, int which)
{
    int followers = ensemble->server_count - 1;
    int index = ensemble->leader < 0 ? 0 : ensemble->leader;

    return followers > 0 ? (index + 1 + which % followers) % ensemble->server_count : index;
}
