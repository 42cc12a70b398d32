/* What can happen, and time. */
#include "world.h"

#include <string.h>

/* The client's clock at the beginning: a lease takes 0 for "none". */
#define CLOCK_BASE (INT64_C(1000000) * MS)
#define MILLION 1000000

size_t world_size(const struct world *world)
{
    return offsetof(struct world, lease) + offsetof(struct zkl_lease, beats) +
           (size_t)world->lease.beat_count * sizeof(struct zkl_beat);
}

void world_begin(const struct setting *setting, struct world *out_world)
{
    memset(out_world, 0, sizeof *out_world);
    servers_begin(setting, out_world);
    client_begin(setting, out_world);
}

void world_wait(struct world *world, int64_t until_ns)
{
    world->now_ns = until_ns;
    world->client.clock_ns = 0;
}

int64_t world_clock(const struct setting *setting, const struct world *world)
{
    return CLOCK_BASE + world->client.clock_ns + world->now_ns + world->now_ns / MILLION * setting->rate_ppm +
           world->now_ns % MILLION * setting->rate_ppm / MILLION;
}

int64_t world_time_of(const struct setting *setting, int64_t client_ns)
{
    int64_t rate = MILLION + setting->rate_ppm;
    int64_t passed_ns = client_ns - CLOCK_BASE;
    struct world then = {.now_ns = passed_ns / rate * MILLION + passed_ns % rate * MILLION / rate};

    while (world_clock(setting, &then) < client_ns)
        then.now_ns++;
    return then.now_ns;
}

int64_t world_session_end(const struct setting *setting, const struct world *world)
{
    const struct server *leader = &world->servers[world->authority];

    if (leader->taken_ns > 0)
        return leader->taken_ns;
    return (leader->expiry_ms - setting->phase_ms[world->authority]) * MS;
}

bool world_has_lease(const struct setting *setting, const struct world *world)
{
    return zkl_lease_remaining(&world->lease, world_clock(setting, world)) > 0;
}

int64_t world_margin(const struct setting *setting, const struct world *world)
{
    bool is_told = world->lease.timeout_ns == setting->other_timeout_ms * MS;

    if (!world_has_lease(setting, world) || (setting->is_judged_once_told && !is_told))
        return NEVER;
    return world_session_end(setting, world) - world_time_of(setting, world->lease.until_ns);
}

struct list {
    struct move *moves;
    int count;
};

static void add(struct list *list, enum move_type type, int subject)
{
    list->moves[list->count++] = (struct move){(uint8_t)type, (uint8_t)subject};
}

static int64_t close_due(const struct setting *setting, const struct server *leader)
{
    return leader->taken_ns + setting->condemned_ms * MS;
}

/* Whether the callbacks of a broken connection can be kept. */
static bool has_room(const struct world *world)
{
    return world->client.note_count + MOST_REQUESTS + 2 <= MOST_CALLBACKS;
}

/* Answers come in the order of the requests. */
static bool is_answer_ready(const struct world *world)
{
    const struct client *client = &world->client;

    return client->request_count > 0 && client->requests[0].stage == STAGE_READY && has_room(world);
}

/* What cannot wait any longer. */
static void add_urgent(const struct setting *setting, const struct world *world, struct list *list)
{
    const struct server *leader = &world->servers[world->authority];

    for (int i = 0; i < setting->server_count; i++)
        if (server_is_pinging(setting, world, i) && server_ping_due(setting, world, i) <= world->now_ns)
            add(list, MOVE_PING, i);
    if (leader->taken_ns > 0 && !leader->is_closing && close_due(setting, leader) <= world->now_ns)
        add(list, MOVE_CLOSE, 0);
    if (!setting->callbacks_are_late && world->client.note_count > 0)
        add(list, MOVE_CALLBACK, 0);
    else if (setting->answers_are_prompt && is_answer_ready(world))
        add(list, MOVE_ANSWER, 0);
}

static void add_server_moves(const struct setting *setting, const struct world *world, struct list *list)
{
    const struct server *leader = &world->servers[world->authority];
    struct client client = world->client;

    if (client.server != NOBODY && server_heard(&client))
        add(list, MOVE_FORWARD, 0);
    for (int i = 0; i < setting->server_count; i++) {
        const struct server *server = &world->servers[i];
        if (server_may_ping(setting, world, i))
            add(list, MOVE_PING, i);
        if (setting->loses_touches && server->is_touched)
            add(list, MOVE_FORGET, i);
        if (server->down.count > 0)
            add(list, MOVE_DOWN, i);
        if (server->up.count > 0)
            add(list, MOVE_UP, i);
    }
    if (leader->taken_ns == 0 && world_session_end(setting, world) <= world->now_ns)
        add(list, MOVE_TAKE, 0);
    if (leader->taken_ns > 0 && !leader->is_closing)
        add(list, MOVE_CLOSE, 0);
    if (world->elections < setting->most_elections && world->authority == 0 && has_room(world))
        for (int i = 0; i < 2; i++)
            add(list, MOVE_ELECT, i);
}

/* One heartbeat at a time; other requests as they come. */
static bool may_send(const struct setting *setting, const struct world *world, enum kind kind)
{
    const struct client *client = &world->client;
    bool is_out = false;

    for (int i = 0; i < client->request_count; i++)
        is_out |= client->requests[i].kind == kind;
    return (setting->kinds & 1u << kind) && client->is_connected && client->request_count < MOST_REQUESTS &&
           world->sends < setting->most_sends && !is_out;
}

static void add_client_moves(const struct setting *setting, const struct world *world, struct list *list)
{
    const struct client *client = &world->client;

    for (int kind = 0; kind < KIND_COUNT; kind++)
        if (may_send(setting, world, (enum kind)kind))
            add(list, MOVE_SEND, kind);
    if (is_answer_ready(world))
        add(list, MOVE_ANSWER, 0);
    if (client->note_count > 0)
        add(list, MOVE_CALLBACK, 0);
    if ((client->server != NOBODY || client->asked != NOBODY) && world->losses < setting->most_losses &&
        has_room(world))
        add(list, MOVE_LOSE, 0);
    for (int i = 0; i < setting->server_count && client->server == NOBODY && client->asked == NOBODY; i++)
        if (has_room(world))
            add(list, MOVE_CONNECT, i);
}

int world_moves(const struct setting *setting, const struct world *world, struct move out_moves[MOST_MOVES])
{
    struct list list = {out_moves, 0};

    add_urgent(setting, world, &list);
    if (list.count > 0)
        return list.count;
    add_server_moves(setting, world, &list);
    add_client_moves(setting, world, &list);
    return list.count;
}

int64_t world_latest(const struct setting *setting, const struct world *world)
{
    const struct server *leader = &world->servers[world->authority];
    int64_t latest_ns = NEVER;

    for (int i = 0; i < setting->server_count; i++)
        if (server_is_pinging(setting, world, i) && server_ping_due(setting, world, i) < latest_ns)
            latest_ns = server_ping_due(setting, world, i);
    if (leader->taken_ns > 0 && !leader->is_closing && close_due(setting, leader) < latest_ns)
        latest_ns = close_due(setting, leader);
    if ((!setting->callbacks_are_late && world->client.note_count > 0) ||
        (setting->answers_are_prompt && is_answer_ready(world)))
        latest_ns = world->now_ns;
    return latest_ns > world->now_ns ? latest_ns : world->now_ns;
}

static void take_bucket(struct world *world)
{
    struct server *leader = &world->servers[world->authority];

    leader->taken_ns = world->now_ns > 0 ? world->now_ns : 1;
}

void world_move(const struct setting *setting, struct world *world, struct move move)
{
    switch ((enum move_type)move.type) {
    case MOVE_SEND: client_send(setting, world, move.subject); break;
    case MOVE_ANSWER: client_answer(setting, world); break;
    case MOVE_CALLBACK: client_run_callback(setting, world); break;
    case MOVE_FORWARD: server_go_on(world); break;
    case MOVE_FORGET: world->servers[move.subject].is_touched = false; break;
    case MOVE_PING: server_ping(world, move.subject); break;
    case MOVE_DOWN: server_take_down(setting, world, move.subject); break;
    case MOVE_UP: server_take_up(setting, world, move.subject); break;
    case MOVE_TAKE: take_bucket(world); break;
    case MOVE_CLOSE: world->servers[world->authority].is_closing = true; break;
    case MOVE_LOSE:
        world->losses++;
        client_lose(setting, world);
        break;
    case MOVE_CONNECT: client_connect(setting, world, move.subject); break;
    case MOVE_ELECT:
        world->elections++;
        servers_elect(setting, world, move.subject);
        break;
    }
}
