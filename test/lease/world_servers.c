/* The servers' side: the leader's session tracker, and followers that relay touches when they are pinged. */
#include <string.h>

#include "support/suite.h"
#include "world.h"

int64_t server_timeout(const struct setting *setting, int server)
{
    return server == 2 ? setting->other_timeout_ms : setting->timeout_ms;
}

static int64_t tracker_clock_ms(const struct setting *setting, const struct world *world, int leader)
{
    return world->now_ns / MS + setting->phase_ms[leader];
}

static bool is_alive(const struct server *leader)
{
    return !leader->is_closing;
}

/* A session whose bucket was taken accepts touches until its turn comes; they do not save it. */
static void touch(const struct setting *setting, struct world *world, int leader, int64_t timeout_ms)
{
    struct server *tracker = &world->servers[leader];

    if (tracker->taken_ns == 0)
        tracker->expiry_ms =
            ((tracker_clock_ms(setting, world, leader) + timeout_ms) / setting->tick_ms + 1) * setting->tick_ms;
}

static void push(struct queue *queue, enum message message, uint8_t serial)
{
    bool is_again = queue->count > 0 && queue->letters[queue->count - 1].message == message;

    if (is_again && (message == MESSAGE_PING || message == MESSAGE_TOUCH))
        return;
    if (queue->count == MOST_MESSAGES)
        suite_abandon("more than %d messages on their way", MOST_MESSAGES);
    queue->letters[queue->count++] = (struct letter){(uint8_t)message, serial};
}

static struct letter pop(struct queue *queue)
{
    struct letter letter = queue->letters[0];

    queue->count--;
    memmove(queue->letters, queue->letters + 1, (size_t)queue->count * sizeof queue->letters[0]);
    queue->letters[queue->count] = (struct letter){0, 0};
    return letter;
}

void servers_begin(const struct setting *setting, struct world *world)
{
    for (int i = 0; i < setting->server_count; i++) {
        world->servers[i].leader = 0;
        world->servers[i].owner = NOBODY;
        /* A follower that learns of a new session notes a touch. Server 2 would with the others' T; it does not. */
        world->servers[i].is_touched = i == 1;
    }
    world->authority = 0;
    world->servers[0].owner = setting->home;
    touch(setting, world, 0, server_timeout(setting, setting->home) - setting->untouched_ms);
}

/* Whether this leader would carry a request out; the first to speak for a session owns it. */
static bool admits(struct server *leader, int speaker)
{
    if (leader->owner == NOBODY)
        leader->owner = speaker;
    return is_alive(leader) && leader->owner == speaker;
}

static void carry_out_as_leader(struct world *world, int server, struct request *request)
{
    bool needs_quorum = request->kind == KIND_BEAT || request->kind == KIND_WRITE;
    bool is_admitted = admits(&world->servers[server], server);

    /* A sync is answered whatever has become of its session. */
    if (request->kind == KIND_SYNC || (is_admitted && (!needs_quorum || server == world->authority)))
        request->stage = STAGE_READY;
}

static void carry_out(struct world *world, int server, struct request *request)
{
    struct server *self = &world->servers[server];

    request->stage = STAGE_OUT;
    if (self->leader == server)
        carry_out_as_leader(world, server, request);
    else if (request->kind == KIND_READ)
        request->stage = STAGE_READY;
    else
        push(&self->up, request->kind == KIND_SYNC ? MESSAGE_SYNC : MESSAGE_REQUEST, request->serial);
}

void server_hear(const struct setting *setting, struct world *world, int server, struct request *request)
{
    struct server *self = &world->servers[server];

    request->stage = STAGE_HEARD;
    if (self->leader != server)
        self->is_touched = true;
    else if (is_alive(self))
        touch(setting, world, server, server_timeout(setting, server));
    if (!setting->stalls)
        carry_out(world, server, request);
}

struct request *server_heard(struct client *client)
{
    for (int i = 0; i < client->request_count; i++)
        if (client->requests[i].stage == STAGE_HEARD)
            return &client->requests[i];
    return NULL;
}

void server_go_on(struct world *world)
{
    carry_out(world, world->client.server, server_heard(&world->client));
}

bool server_connect(const struct setting *setting, struct world *world, int server)
{
    struct server *self = &world->servers[server];

    if (self->leader != server) {
        push(&self->up, MESSAGE_REVALIDATE, 0);
        return false;
    }
    if (!is_alive(self))
        return false;
    touch(setting, world, server, server_timeout(setting, server));
    self->owner = server;
    return true;
}

bool server_is_pinging(const struct setting *setting, const struct world *world, int server)
{
    for (int i = 0; i < setting->server_count; i++)
        if (i != server && world->servers[i].leader == server)
            return true;
    return false;
}

int64_t server_ping_due(const struct setting *setting, const struct world *world, int leader)
{
    return world->servers[leader].pinged_ns + (setting->tick_ms / 2 + setting->ping_late_ms) * MS;
}

bool server_may_ping(const struct setting *setting, const struct world *world, int leader)
{
    const struct server *self = &world->servers[leader];
    bool is_early = world->now_ns < self->pinged_ns + setting->tick_ms * MS / 2;
    bool is_first = self->pinged_ns == 0;

    return server_is_pinging(setting, world, leader) && (setting->pings_late ? is_first : !is_early);
}

void server_ping(struct world *world, int leader)
{
    world->servers[leader].pinged_ns = world->now_ns > 0 ? world->now_ns : 1;
    for (int i = 0; i < MOST_SERVERS; i++)
        if (i != leader && world->servers[i].leader == leader && world->servers[i].is_touched)
            push(&world->servers[i].down, MESSAGE_PING, 0);
}

static void make_ready(struct world *world, int follower, uint8_t serial)
{
    struct client *client = &world->client;

    for (int i = 0; i < client->request_count && client->server == follower; i++)
        if (client->requests[i].serial == serial)
            client->requests[i].stage = STAGE_READY;
}

void server_take_down(const struct setting *setting, struct world *world, int follower)
{
    struct server *self = &world->servers[follower];
    struct letter letter = pop(&self->down);

    if (letter.message == MESSAGE_PING && self->is_touched) {
        push(&self->up, MESSAGE_TOUCH, 0);
        self->is_touched = false;
    } else if (letter.message == MESSAGE_COMMIT) {
        make_ready(world, follower, letter.serial);
    } else if (letter.message == MESSAGE_VALID && world->client.asked == follower) {
        client_connected(setting, world, follower);
    }
}

void server_take_up(const struct setting *setting, struct world *world, int follower)
{
    struct server *self = &world->servers[follower];
    struct server *leader = &world->servers[self->leader];
    struct letter letter = pop(&self->up);
    bool needs_quorum = letter.message == MESSAGE_REQUEST;

    if (letter.message == MESSAGE_TOUCH) {
        if (is_alive(leader))
            touch(setting, world, self->leader, server_timeout(setting, follower));
    } else if (letter.message == MESSAGE_REVALIDATE) {
        if (!is_alive(leader))
            return;
        touch(setting, world, self->leader, server_timeout(setting, follower));
        leader->owner = follower;
        push(&self->down, MESSAGE_VALID, 0);
    } else if ((admits(leader, follower) || !needs_quorum) && (!needs_quorum || self->leader == world->authority)) {
        push(&self->down, MESSAGE_COMMIT, letter.serial);
    }
}

/* Every new leader gives each session its whole time; a session that was closed stays so. */
void servers_elect(const struct setting *setting, struct world *world, bool with_follower)
{
    struct server *next = &world->servers[2];
    const struct server *previous = &world->servers[world->authority];
    int joining = with_follower ? 1 : 2;

    for (int i = joining; i <= 2; i++) {
        world->servers[i] = (struct server){.leader = 2, .owner = NOBODY};
        if (world->client.server == i || world->client.asked == i)
            client_lose(setting, world);
    }
    world->authority = 2;
    next->pinged_ns = world->now_ns;
    if (previous->is_closing) {
        next->is_closing = true;
        next->taken_ns = previous->taken_ns;
    } else {
        touch(setting, world, 2, setting->timeout_ms);
    }
}
