/* The server and the network: one quorum that applies one request at a time, and a connection a client. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"

struct setting setting;

void world_init(struct world *world)
{
    memset(world, 0, sizeof *world);
    world->has_parent = !setting.has_no_parent;
    world->numbers_left = setting.is_at_limit ? (uint8_t)setting.numbers_left : NONE;
    world->faults_left = (uint8_t)setting.faults;
    world->give_ups_left = (uint8_t)setting.give_ups;
    world->downgrades_left = (uint8_t)setting.downgrades;
    world->permits = (uint8_t)setting.permits;
    world->raises_left = (uint8_t)setting.raises;
    world->hold_limits_left = (uint8_t)setting.hold_limits;
    memset(world->writer_of, NONE, sizeof world->writer_of);
    for (int i = 0; i < setting.clients; i++) {
        struct client *client = &world->clients[i];
        zkl_machine_init(&client->machine, i < setting.tries, true);
        client->kind = setting.has_writers ? ZKL_KIND_WRITE : ZKL_KIND_LOCK;
        if (i >= setting.clients - setting.readers)
            client->kind = ZKL_KIND_READ;
        if (setting.permits > 0)
            client->kind = ZKL_KIND_LEASE;
        client->machine.is_guarded = setting.is_guarded;
        client->token = client->own = client->ahead = NONE;
        memset(client->tokens, NONE, sizeof client->tokens);
    }
}

/* The explorer's bounds are no property of the product: outgrowing them is a mistake in the setting. */
static void outgrow(const char *what)
{
    fprintf(stderr, "explorer: more %s than the world has room for; raise the bound in world.h\n", what);
    exit(2);
}

void world_send(struct client *client, struct message request)
{
    if (client->request_count == MOST_REQUESTS)
        outgrow("requests");
    client->requests[client->request_count++] = request;
}

void world_reply(struct client *client, struct message message)
{
    if (client->reply_count == MOST_REPLIES)
        outgrow("replies");
    client->replies[client->reply_count++] = message;
}

/* An event goes to whoever planted a watch on his present connection. */
static void notify(struct world *world, int slot, enum op event)
{
    for (int i = 0; i < setting.clients; i++) {
        struct client *client = &world->clients[i];
        if (!has_bit(client->planted, slot))
            continue;
        client->planted &= (uint8_t)~BIT(slot);
        world_reply(client, (struct message){.op = event, .subject = (uint8_t)slot});
    }
}

static void delete_node(struct world *world, int slot)
{
    world->alive &= (uint8_t)~BIT(slot);
    notify(world, slot, OP_DELETED);
    world_leases_changed(world);
}

static int number_of(const struct world *world, int slot)
{
    return world->writer_of[slot] == NONE ? slot : world->writer_of[slot];
}

uint8_t world_ahead_of(const struct world *world, int slot)
{
    uint8_t ahead = 0;

    for (int other = 0; other < MOST_NODES; other++) {
        int difference = number_of(world, other) - number_of(world, slot);
        if (difference < 0 || (difference == 0 && other < slot))
            ahead |= BIT(other);
    }
    if (has_bit(world->readers, slot))
        ahead &= (uint8_t)~world->readers;
    return ahead & world->alive;
}

bool world_must_wait(const struct world *world, int slot)
{
    int ahead = __builtin_popcount(world_ahead_of(world, slot));

    return world->permits > 0 ? ahead >= world->permits : ahead > 0;
}

static uint8_t find_reader(const struct world *world, uint8_t among, int writer)
{
    for (uint8_t slot = 0; slot < MOST_NODES; slot++)
        if (has_bit(among, slot) && world->writer_of[slot] == writer)
            return slot;
    return NONE;
}

uint8_t world_reader_of(const struct world *world, int writer)
{
    return find_reader(world, world->alive, writer);
}

void world_kill(struct world *world, int slot)
{
    world->killed |= BIT(slot);
    if (world->writer_of[slot] < MOST_NODES)
        world->killed |= BIT(world->writer_of[slot]);
    if (world_must_wait(world, slot))
        world->killed_early |= BIT(slot);
    delete_node(world, slot);
}

void world_change(struct world *world, int slot)
{
    for (int i = 0; i < setting.clients; i++) {
        struct client *client = &world->clients[i];
        if (has_bit(client->watches, slot) && !has_bit(client->planted, slot))
            client->missed |= BIT(slot);
    }
    notify(world, slot, OP_CHANGED);
}

static int make_node(struct world *world, const struct client *client, bool is_negative)
{
    int slot = world->node_count;

    if (slot == MOST_NODES)
        outgrow("nodes");
    world->node_count++;
    world->alive |= BIT(slot);
    if (client->kind == ZKL_KIND_READ)
        world->readers |= BIT(slot);
    else if (client->kind == ZKL_KIND_WRITE)
        world->writers |= BIT(slot);
    if (world->numbers_left == 0 && is_negative)
        world->negative |= BIT(slot);
    else if (world->numbers_left == 0)
        world->at_limit |= BIT(slot);
    else if (world->numbers_left != NONE)
        world->numbers_left--;
    world_leases_changed(world);
    return slot;
}

/* What the server of this connection shows. */
static uint8_t visible(const struct world *world, const struct client *client)
{
    return client->link == LINK_FROZEN ? client->past : world->alive;
}

static bool is_write(enum op op)
{
    return op == OP_CREATE || op == OP_PREPARE || op == OP_BARRIER || op == OP_DELETE || op == OP_SWEEP ||
           op == OP_DELETE_WRITER || op == OP_DELETE_READER || op == OP_DOWNGRADE;
}

bool world_can_apply(const struct world *world, const struct client *client)
{
    (void)world;
    if (client->request_count == 0)
        return false;
    /* A server without its quorum holds a session's reads back behind its writes. */
    return client->link == LINK_UP || (client->link == LINK_FROZEN && !is_write(client->requests[0].op));
}

static void create(struct world *world, struct client *client, struct message *answer, bool is_negative)
{
    if (!world->has_parent) {
        answer->code = ZKL_ANSWER_NO_NODE;
        return;
    }
    client->tokens[answer->subject] = (uint8_t)make_node(world, client, is_negative);
}

/* Both or none. */
static bool downgrade(struct world *world, struct client *client, uint8_t writer)
{
    int reader = world->node_count;

    if (!has_bit(world->alive, writer))
        return false;
    if (reader == MOST_NODES)
        outgrow("nodes");
    delete_node(world, writer);
    world->node_count++;
    world->alive |= BIT(reader);
    world->readers |= BIT(reader);
    world->writer_of[reader] = writer;
    for (int token = 0; token < MOST_TOKENS; token++)
        if (client->tokens[token] == writer)
            client->tokens[token] = (uint8_t)reader;
    return true;
}

static void get(const struct world *world, struct client *client, struct message *answer)
{
    if (!has_bit(visible(world, client), answer->subject)) {
        answer->code = ZKL_ANSWER_NO_NODE;
    } else if (setting.is_unreadable && answer->op == OP_GET_AHEAD) {
        answer->code = ZKL_ANSWER_DENIED;
    } else if (client->link == LINK_UP && !(setting.is_blind && answer->op == OP_EXISTS_AHEAD)) {
        client->planted |= BIT(answer->subject);
    }
}

static void get_reader(const struct world *world, struct client *client, struct message *answer)
{
    uint8_t reader = find_reader(world, visible(world, client), answer->subject);

    if (reader == NONE) {
        answer->code = ZKL_ANSWER_NO_NODE;
        return;
    }
    answer->subject = reader;
    get(world, client, answer);
}

static uint8_t zombie_slots(const struct client *client)
{
    uint8_t slots = 0;

    for (int token = 0; token < MOST_TOKENS; token++)
        if (has_bit(client->zombies, token) && client->tokens[token] < MOST_NODES)
            slots |= BIT(client->tokens[token]);
    return slots;
}

static void list(const struct world *world, struct client *client, struct message *answer)
{
    uint8_t children = visible(world, client);
    uint8_t own = client->token == NONE ? NONE : client->tokens[client->token];

    if (!world->has_parent && client->link != LINK_FROZEN) {
        answer->code = ZKL_ANSWER_NO_NODE;
        return;
    }
    if (answer->op == OP_LIST_LEASES)
        world_watch_leases(world, client);
    if (answer->op == OP_SURVEY)
        listing_survey(world, client->listed, children, own, answer);
    else
        listing_place(world, children, own, answer);
    if (!listing_unpack(answer).needs_survey)
        children &= zombie_slots(client);
    answer->children = children;
}

static void delete_or_miss(struct world *world, uint8_t slot, struct message *answer)
{
    if (has_bit(world->alive, slot))
        delete_node(world, slot);
    else
        answer->code = ZKL_ANSWER_NO_NODE;
}

static void answer(struct world *world, struct client *client, struct message *message, bool is_negative)
{
    message->code = ZKL_ANSWER_OK;
    switch ((enum op)message->op) {
    case OP_CREATE:
        create(world, client, message, is_negative);
        break;
    case OP_PREPARE:
        world->has_parent = true;
        break;
    case OP_BARRIER:
        message->code = world->has_parent ? ZKL_ANSWER_OK : ZKL_ANSWER_NO_NODE;
        break;
    case OP_CREATE_LIST:
    case OP_FIND_LIST:
    case OP_LIST:
    case OP_SURVEY:
    case OP_LIST_LEASES:
        list(world, client, message);
        break;
    case OP_GET_OWN:
    case OP_GET_AHEAD:
    case OP_EXISTS_AHEAD:
    case OP_WATCH_OWN:
        get(world, client, message);
        break;
    case OP_DELETE:
    case OP_SWEEP:
    case OP_DELETE_WRITER:
        delete_or_miss(world, message->subject, message);
        break;
    case OP_DELETE_READER:
        delete_or_miss(world, world_reader_of(world, message->subject), message);
        break;
    case OP_DOWNGRADE:
        if (!downgrade(world, client, message->subject))
            message->code = ZKL_ANSWER_NO_NODE;
        break;
    case OP_GET_READER:
        get_reader(world, client, message);
        break;
    case OP_DELETED:
    case OP_CHANGED:
    case OP_CHILDREN:
    case OP_COUNT:
        break;
    }
}

void world_apply(struct world *world, struct client *client, bool is_negative)
{
    struct message message = client->requests[0];

    client->request_count--;
    memmove(client->requests, client->requests + 1, client->request_count * sizeof message);
    answer(world, client, &message, is_negative);
    world_reply(client, message);
}

void world_apply_late_create(struct world *world, struct client *client, int token, bool is_negative)
{
    client->late_creates &= (uint8_t)~BIT(token);
    if (world->has_parent)
        client->tokens[token] = (uint8_t)make_node(world, client, is_negative);
}

void world_apply_late_downgrade(struct world *world, struct client *client, int slot)
{
    client->late_downgrades &= (uint8_t)~BIT(slot);
    downgrade(world, client, (uint8_t)slot);
}

void world_apply_late_delete(struct world *world, struct client *client, int slot)
{
    client->late_deletes &= (uint8_t)~BIT(slot);
    if (has_bit(world->alive, slot))
        delete_node(world, slot);
}

/* The end of a session and of all its nodes is one transaction. Its own client hears of the nodes before it is cut off. */
void world_expire(struct world *world, struct client *client)
{
    uint8_t dying = 0;

    client->life = LIFE_OVER;
    client->late_creates = 0;
    client->late_deletes = 0;
    client->late_downgrades = 0;
    if (client->link == LINK_UP)
        client->link = LINK_CUT;
    for (int token = 0; token < MOST_TOKENS; token++)
        if (client->tokens[token] < MOST_NODES)
            dying |= world->alive & BIT(client->tokens[token]);
    world->alive &= (uint8_t)~dying;
    for (int slot = 0; slot < MOST_NODES; slot++)
        if (has_bit(dying, slot))
            notify(world, slot, OP_DELETED);
    if (dying)
        world_leases_changed(world);
    client->planted = 0;
    client->planted_leases = false;
}

void world_cut(struct client *client)
{
    for (int i = 0; i < client->request_count && client->life == LIFE_ALIVE; i++) {
        const struct message *request = &client->requests[i];
        if (request->op == OP_CREATE)
            client->late_creates |= BIT(request->subject);
        if (request->op == OP_DELETE || request->op == OP_SWEEP || request->op == OP_DELETE_WRITER)
            client->late_deletes |= BIT(request->subject);
        if (request->op == OP_DOWNGRADE)
            client->late_downgrades |= BIT(request->subject);
    }
    client->link = LINK_CUT;
    client->planted = 0;
    client->planted_leases = false;
}

void world_freeze(const struct world *world, struct client *client)
{
    client->link = LINK_FROZEN;
    client->past = world->alive;
    client->planted = 0;
    client->planted_leases = false;
}

/* The events come in the order of the client's hash table, that is in any. */
void world_reconnect(struct world *world, struct client *client, bool is_backwards)
{
    client->link = LINK_UP;
    client->planted = client->watches & world->alive;
    for (int i = 0; i < MOST_NODES; i++) {
        int slot = is_backwards ? MOST_NODES - 1 - i : i;
        if (!has_bit(client->watches, slot))
            continue;
        if (!has_bit(world->alive, slot)) {
            world_reply(client, (struct message){.op = OP_DELETED, .subject = (uint8_t)slot});
        } else if (has_bit(client->missed, slot)) {
            client->planted &= (uint8_t)~BIT(slot);
            world_reply(client, (struct message){.op = OP_CHANGED, .subject = (uint8_t)slot});
        }
    }
    client->missed = 0;
    if (client->watches_leases && client->missed_leases)
        world_reply(client, (struct message){.op = OP_CHILDREN, .subject = NONE});
    else
        client->planted_leases = client->watches_leases;
    client->missed_leases = false;
}
