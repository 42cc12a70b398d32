/* What passes between a follower and its leader: in order, until it is cut. */
#include <stdlib.h>
#include <string.h>

#include "ensemble.h"

struct relay *relay_new(enum relay_kind kind, int touched_count)
{
    struct relay *relay = must_have(calloc(1, sizeof *relay + (size_t)touched_count * sizeof relay->touched[0]));

    relay->kind = kind;
    relay->touched_count = touched_count;
    return relay;
}

static void free_relay(struct relay *relay)
{
    if (relay->request)
        request_unref(relay->request);
    if (relay->connection)
        connection_unref(relay->connection);
    free(relay);
}

/* ---------------------------------------------------------------- at the leader */

static void take_touches(struct ensemble *ensemble, const struct relay *relay)
{
    for (int i = 0; i < relay->touched_count; i++)
        session_touch(ensemble, relay->touched[i]);
}

static void revalidate(struct server *follower, struct relay *relay)
{
    struct zk_session *session = relay->connection->session;

    relay->is_valid = !session->is_closing;
    if (relay->is_valid) {
        session->owner = follower->index;
        session_touch(follower->ensemble, session);
    }
    relay->kind = RELAY_REVALIDATED;
    link_send(follower, LANE_TO_FOLLOWER, relay);
}

/* At once, whatever is not committed yet, and whether or not the session lives: no more can be counted on. */
static void answer_sync(struct server *follower, struct relay *relay)
{
    relay->kind = RELAY_SYNCED;
    link_send(follower, LANE_TO_FOLLOWER, relay);
}

static void take_at_leader(struct server *follower, struct relay *relay)
{
    struct request *request = relay->request;

    switch (relay->kind) {
    case RELAY_FORWARD:
        if (request->op == ZKL_OP_SYNC && !request->is_close && !request->is_create_session) {
            answer_sync(follower, relay);
            return;
        }
        relay->request = NULL;
        ensemble_prepare(follower->ensemble, request);
        break;
    case RELAY_TOUCHES:
        take_touches(follower->ensemble, relay);
        break;
    case RELAY_REVALIDATE:
        revalidate(follower, relay);
        return;
    default:
        break;
    }
    free_relay(relay);
}

/* ---------------------------------------------------------------- at the follower */

static void answer_ping(struct server *follower)
{
    struct relay *relay = relay_new(RELAY_TOUCHES, follower->touched_count);

    server_take_touched(follower, relay->touched);
    link_send(follower, LANE_TO_LEADER, relay);
}

static void take_at_follower(struct server *follower, struct relay *relay)
{
    struct request *request = relay->request;

    switch (relay->kind) {
    case RELAY_COMMIT:
        server_apply(follower, relay->end);
        break;
    case RELAY_PING:
        answer_ping(follower);
        break;
    case RELAY_SYNCED:
        relay->request = NULL;
        server_synced(follower, request);
        break;
    case RELAY_REVALIDATED:
        server_revalidated(relay->connection, relay->is_valid);
        break;
    default:
        break;
    }
    free_relay(relay);
}

/* ---------------------------------------------------------------- the way */

static void arrive(struct server *follower, enum lane lane, struct relay *relay)
{
    struct link *link = &follower->link;

    if (relay->incarnation != link->incarnation) {
        free_relay(relay);
    } else if (link->is_blocked[lane]) {
        relay->next = NULL;
        *link->stalled_end[lane] = relay;
        link->stalled_end[lane] = &relay->next;
    } else if (lane == LANE_TO_LEADER) {
        take_at_leader(follower, relay);
    } else {
        take_at_follower(follower, relay);
    }
}

static void arrive_at_leader(void *subject, void *detail)
{
    arrive(subject, LANE_TO_LEADER, detail);
}

static void arrive_at_follower(void *subject, void *detail)
{
    arrive(subject, LANE_TO_FOLLOWER, detail);
}

void link_send(struct server *follower, enum lane lane, struct relay *relay)
{
    struct ensemble *ensemble = follower->ensemble;
    struct link *link = &follower->link;
    int64_t at_ns = ensemble->world->now_ns + latency_draw(&ensemble->link_latency, &ensemble->chance);

    relay->incarnation = link->incarnation;
    if (ensemble->leader < 0) {
        free_relay(relay);
        return;
    }
    if (at_ns <= link->floor_ns[lane])
        at_ns = link->floor_ns[lane] + 1;
    link->floor_ns[lane] = at_ns;
    if (lane == LANE_TO_LEADER)
        world_post(&ensemble_leader(ensemble)->actor, at_ns, arrive_at_leader, follower, relay);
    else
        world_post(&follower->actor, at_ns, arrive_at_follower, follower, relay);
}

static void take_stalled(struct server *follower, enum lane lane)
{
    struct link *link = &follower->link;

    while (link->stalled[lane] && !link->is_blocked[lane]) {
        struct relay *relay = link->stalled[lane];
        link->stalled[lane] = relay->next;
        if (!link->stalled[lane])
            link->stalled_end[lane] = &link->stalled[lane];
        arrive(follower, lane, relay);
    }
}

void link_unblock(struct server *follower)
{
    struct link *link = &follower->link;

    for (int lane = 0; lane < 2; lane++)
        link->is_blocked[lane] = false;
    take_stalled(follower, LANE_TO_FOLLOWER);
    take_stalled(follower, LANE_TO_LEADER);
}

void link_reset(struct server *follower)
{
    struct link *link = &follower->link;

    for (int lane = 0; lane < 2; lane++) {
        while (link->stalled[lane]) {
            struct relay *relay = link->stalled[lane];
            link->stalled[lane] = relay->next;
            free_relay(relay);
        }
    }
    *link = (struct link){.incarnation = link->incarnation + 1};
    for (int lane = 0; lane < 2; lane++)
        link->stalled_end[lane] = &link->stalled[lane];
}
