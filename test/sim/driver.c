#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"
#include "promises.h"

uint64_t moves_taken[ZKL_STATE_COUNT][ZKL_STATE_COUNT];

static void feed(struct world *world, struct client *client, struct zkl_event *event);

static void count_moves(const struct client *client, enum zkl_state before, enum zkl_notice notice)
{
    enum zkl_state after = client->machine.state;

    if (before == after)
        return;
    /* The one event that moves twice: the session is closed while its lock is held. */
    if (before == ZKL_HELD && after != ZKL_LOST && notice == ZKL_NOTICE_LOST) {
        moves_taken[before][ZKL_LOST]++;
        before = ZKL_LOST;
    }
    if (!zkl_move_is_allowed(before, after))
        driver_violation = "the machine made a move that is not allowed";
    else
        moves_taken[before][after]++;
}

static uint8_t fresh_token(struct client *client)
{
    for (uint8_t token = 0; token < MOST_TOKENS; token++) {
        if (client->tokens[token] == NONE) {
            client->tokens[token] = UNBORN;
            return token;
        }
    }
    fprintf(stderr, "explorer: more tokens than the world has room for; raise the bound in world.h\n");
    exit(2);
}

static void send(struct client *client, enum op op, uint8_t subject)
{
    uint8_t flight = (uint8_t)client->machine.flight;

    world_send(client, (struct message){.op = op, .flight = flight, .subject = subject});
}

static void send_watch(struct client *client, bool by_exists)
{
    send(client, OP_GET_OWN, client->own);
    if (setting.permits > 0) {
        send(client, OP_LIST_LEASES, NONE);
        return;
    }
    send(client, by_exists ? OP_EXISTS_AHEAD : OP_GET_AHEAD, client->ahead);
}

static void send_create(struct client *client)
{
    /* The former token was refused for certain, or it is a zombie by now. */
    if (client->token != NONE)
        client->tokens[client->token] = NONE;
    client->token = fresh_token(client);
    client->own = NONE;
    send(client, OP_CREATE, client->token);
    send(client, OP_CREATE_LIST, NONE);
}

static void send_delete(struct client *client)
{
    if (zkl_machine_has_two_names(&client->machine)) {
        send(client, OP_DELETE_WRITER, client->own);
        send(client, OP_DELETE_READER, client->own);
    } else {
        send(client, OP_DELETE, client->own);
    }
}

static void carry_out(struct client *client, const struct zkl_actions *actions)
{
    client->asked = (uint8_t)actions->ask;
    switch (actions->ask) {
    case ZKL_ASK_CREATE:
        send_create(client);
        break;
    case ZKL_ASK_PREPARE:
        send(client, OP_PREPARE, NONE);
        break;
    case ZKL_ASK_FIND:
        send(client, OP_BARRIER, NONE);
        send(client, OP_FIND_LIST, NONE);
        break;
    case ZKL_ASK_LIST:
        send(client, OP_LIST, NONE);
        break;
    case ZKL_ASK_SURVEY:
        send(client, OP_SURVEY, NONE);
        break;
    case ZKL_ASK_WATCH:
        send_watch(client, actions->by_exists);
        break;
    case ZKL_ASK_WATCH_OWN:
        send(client, OP_WATCH_OWN, client->own);
        break;
    case ZKL_ASK_DELETE:
        send_delete(client);
        break;
    case ZKL_ASK_DOWNGRADE:
        send(client, OP_DOWNGRADE, client->own);
        send(client, OP_GET_READER, client->own);
        break;
    case ZKL_ASK_NOTHING:
        break;
    }
}

static void ask(struct world *world, struct client *client, const struct zkl_actions *actions)
{
    if (actions->ask == ZKL_ASK_NOTHING)
        return;
    if (client->is_failing) {
        client->is_failing = false;
        feed(world, client, &(struct zkl_event){.type = ZKL_EV_UNSENT, .flight = client->machine.flight});
        return;
    }
    carry_out(client, actions);
}

static void feed(struct world *world, struct client *client, struct zkl_event *event)
{
    enum zkl_state before = client->machine.state;
    struct zkl_actions actions;

    event->has_lease = client->lease == LEASE_RUNS;
    actions = zkl_machine_step(&client->machine, event);
    count_moves(client, before, actions.notice);
    promises_hear(world, client, &actions);
    if (actions.zombie && client->token != NONE) {
        client->zombies |= BIT(client->token);
        client->token = NONE;
        client->own = NONE;
    }
    ask(world, client, &actions);
}

void driver_tell(struct world *world, struct client *client, enum zkl_event_type type)
{
    feed(world, client, &(struct zkl_event){.type = type});
}

void driver_give_up(struct world *world, struct client *client, enum zkl_outcome why)
{
    feed(world, client, &(struct zkl_event){.type = ZKL_EV_GIVE_UP, .why = why});
}

static bool is_being_swept(const struct client *client, uint8_t slot)
{
    for (int i = 0; i < client->request_count; i++)
        if (client->requests[i].op == OP_SWEEP && client->requests[i].subject == slot)
            return true;
    for (int i = 0; i < client->reply_count; i++)
        if (client->replies[i].op == OP_SWEEP && client->replies[i].subject == slot)
            return true;
    return false;
}

/* Which of these slots are zombies that are not being deleted yet. */
static uint8_t zombies_among(const struct client *client, uint8_t slots)
{
    uint8_t found = 0;

    for (int token = 0; token < MOST_TOKENS; token++) {
        uint8_t slot = client->tokens[token];
        if (has_bit(client->zombies, token) && has_bit(slots, slot) && !is_being_swept(client, slot))
            found |= BIT(slot);
    }
    return found;
}

static void sweep(struct client *client, uint8_t slots)
{
    uint8_t found = zombies_among(client, slots);

    for (uint8_t slot = 0; slot < MOST_NODES; slot++)
        if (has_bit(found, slot))
            world_send(client, (struct message){.op = OP_SWEEP, .subject = slot});
}

bool driver_needs_sweep(const struct world *world, const struct client *client)
{
    return zombies_among(client, world->alive) != 0;
}

bool driver_is_blind(const struct client *client)
{
    return setting.is_blind && client->machine.state == ZKL_WAITING && client->machine.is_behind &&
           client->machine.reads_by_exists;
}

void driver_sweep(struct world *world, struct client *client)
{
    sweep(client, world->alive);
}

static enum zkl_event_type event_of(enum zkl_ask ask)
{
    switch (ask) {
    case ZKL_ASK_CREATE: return ZKL_EV_CREATED;
    case ZKL_ASK_PREPARE: return ZKL_EV_PREPARED;
    case ZKL_ASK_FIND: return ZKL_EV_FOUND;
    case ZKL_ASK_LIST: return ZKL_EV_LISTED;
    case ZKL_ASK_SURVEY: return ZKL_EV_SURVEYED;
    case ZKL_ASK_WATCH:
    case ZKL_ASK_WATCH_OWN: return ZKL_EV_WATCHED;
    case ZKL_ASK_DELETE: return ZKL_EV_DELETED;
    case ZKL_ASK_DOWNGRADE: return ZKL_EV_DOWNGRADED;
    case ZKL_ASK_NOTHING: break;
    }
    return ZKL_EV_COUNT;
}

static bool has_two_parts(const struct client *client)
{
    enum zkl_ask ask = client->asked;

    if (ask == ZKL_ASK_DELETE)
        return zkl_machine_has_two_names(&client->machine);
    return ask == ZKL_ASK_CREATE || ask == ZKL_ASK_FIND || ask == ZKL_ASK_WATCH || ask == ZKL_ASK_DOWNGRADE;
}

/* The flight that is out ends as unknown; of two answers the first may have come. */
static void settle_unknown(struct world *world, struct client *client)
{
    struct zkl_event event = {
        .flight = client->machine.flight, .first = ZKL_ANSWER_UNKNOWN, .owner_is_us = true};

    if (!client->machine.is_in_flight)
        return;
    event.type = event_of(client->asked);
    if (has_two_parts(client)) {
        if (client->half_flight == event.flight)
            event.first = client->half;
        event.second = ZKL_ANSWER_UNKNOWN;
    }
    feed(world, client, &event);
}

void driver_time_out(struct world *world, struct client *client)
{
    settle_unknown(world, client);
}

void driver_notice_cut(struct world *world, struct client *client)
{
    if (client->link == LINK_FROZEN)
        world_cut(client);
    for (int i = 0; i < client->reply_count; i++) {
        if (client->replies[i].op == OP_CHANGED)
            client->missed |= BIT(client->replies[i].subject) & client->watches;
        else if (client->replies[i].op == OP_CHILDREN)
            client->missed_leases = client->watches_leases;
    }
    client->request_count = 0;
    client->reply_count = 0;
    client->link = LINK_OUT;
    driver_tell(world, client, ZKL_EV_DISCONNECTED);
    settle_unknown(world, client);
}

void driver_notice_expiry(struct world *world, struct client *client)
{
    client->link = LINK_OUT;
    client->life = LIFE_NONE;
    client->lease = LEASE_TOLD;
    client->request_count = client->reply_count = 0;
    client->token = client->own = client->ahead = NONE;
    memset(client->tokens, NONE, sizeof client->tokens);
    client->zombies = 0;
    client->watches = client->missed = 0;
    client->watches_leases = client->planted_leases = client->missed_leases = false;
    driver_tell(world, client, ZKL_EV_EXPIRED);
}

/* ------------------------------------------------------------------------------------------- what arrives */

static bool is_current(const struct client *client, const struct message *message)
{
    return client->machine.is_in_flight && message->flight == client->machine.flight;
}

/* Remembers which contenders a listing showed: the own one, the one ahead, and zombies to be deleted. */
static void look_at_listing(struct client *client, const struct message *reply)
{
    struct zkl_place place = listing_unpack(reply);

    sweep(client, reply->children);
    if (reply->code != ZKL_ANSWER_OK || !is_current(client, reply))
        return;
    if (place.own_is_present && client->token != NONE)
        client->own = client->tokens[client->token];
    client->ahead = reply->subject;
    if (place.needs_survey && reply->op != OP_LIST_LEASES)
        client->seen_leases = reply->children;
    client->listed = place.needs_survey ? reply->children : 0;
}

static bool is_listing(enum op op)
{
    return op == OP_CREATE_LIST || op == OP_FIND_LIST || op == OP_LIST || op == OP_SURVEY || op == OP_LIST_LEASES;
}

static bool is_second(enum op op)
{
    return op == OP_CREATE_LIST || op == OP_FIND_LIST || op == OP_GET_AHEAD || op == OP_EXISTS_AHEAD ||
           op == OP_GET_READER || op == OP_DELETE_READER || op == OP_LIST_LEASES;
}

/* The last reply of its flight. */
static void finish(struct world *world, struct client *client, enum zkl_event_type type,
                   const struct message *reply)
{
    struct zkl_event event = {
        .type = type, .flight = reply->flight, .first = reply->code, .owner_is_us = true};

    if (is_listing(reply->op)) {
        event.place = listing_unpack(reply);
        look_at_listing(client, reply);
    }
    if (reply->op == OP_GET_READER && reply->code == ZKL_ANSWER_OK && is_current(client, reply))
        client->own = reply->subject;
    if (is_second(reply->op)) {
        event.first = client->half_flight == reply->flight ? client->half : ZKL_ANSWER_UNKNOWN;
        event.second = reply->code;
    }
    /* What it would wait for is past: it lists again. */
    if (reply->op == OP_LIST_LEASES && reply->code == ZKL_ANSWER_OK &&
        (event.place.needs_survey ? reply->children != client->seen_leases : event.place.ahead_count == 0))
        event.second = ZKL_ANSWER_NO_NODE;
    feed(world, client, &event);
}

static void note_watch(struct client *client, const struct message *reply)
{
    if (reply->code != ZKL_ANSWER_OK || (setting.is_blind && reply->op == OP_EXISTS_AHEAD))
        return;
    client->watches |= BIT(reply->subject);
    client->missed &= (uint8_t)~BIT(reply->subject);
}

static void note_half(struct client *client, const struct message *reply)
{
    client->half = reply->code;
    client->half_flight = reply->flight;
}

static void note_created(struct client *client, const struct message *reply)
{
    note_half(client, reply);
    if (reply->code == ZKL_ANSWER_OK && client->token == reply->subject)
        client->own = client->tokens[client->token];
}

static void note_swept(struct client *client, const struct message *reply)
{
    for (int token = 0; token < MOST_TOKENS; token++) {
        if (!has_bit(client->zombies, token) || client->tokens[token] != reply->subject)
            continue;
        client->zombies &= (uint8_t)~BIT(token);
        client->tokens[token] = NONE;
    }
}

static void dispatch(struct world *world, struct client *client, const struct message *event)
{
    bool is_gone = event->op == OP_DELETED;

    client->watches &= (uint8_t)~BIT(event->subject);
    client->missed &= (uint8_t)~BIT(event->subject);
    if (event->subject == client->own)
        driver_tell(world, client, is_gone ? ZKL_EV_OWN_GONE : ZKL_EV_OWN_CHANGED);
    else if (event->subject == client->ahead)
        driver_tell(world, client, is_gone ? ZKL_EV_AHEAD_GONE : ZKL_EV_AHEAD_CHANGED);
}

void driver_deliver(struct world *world, struct client *client)
{
    struct message message = client->replies[0];

    client->reply_count--;
    memmove(client->replies, client->replies + 1, client->reply_count * sizeof message);
    switch ((enum op)message.op) {
    case OP_CREATE: note_created(client, &message); break;
    case OP_BARRIER:
    case OP_DOWNGRADE:
    case OP_DELETE_WRITER: note_half(client, &message); break;
    case OP_GET_OWN:
        note_watch(client, &message);
        note_half(client, &message);
        break;
    case OP_CREATE_LIST: finish(world, client, ZKL_EV_CREATED, &message); break;
    case OP_PREPARE: finish(world, client, ZKL_EV_PREPARED, &message); break;
    case OP_FIND_LIST: finish(world, client, ZKL_EV_FOUND, &message); break;
    case OP_LIST: finish(world, client, ZKL_EV_LISTED, &message); break;
    case OP_SURVEY: finish(world, client, ZKL_EV_SURVEYED, &message); break;
    case OP_GET_AHEAD:
    case OP_EXISTS_AHEAD:
    case OP_WATCH_OWN:
        note_watch(client, &message);
        finish(world, client, ZKL_EV_WATCHED, &message);
        break;
    case OP_LIST_LEASES:
        if (message.code == ZKL_ANSWER_OK)
            client->watches_leases = true;
        finish(world, client, ZKL_EV_WATCHED, &message);
        break;
    case OP_CHILDREN:
        client->watches_leases = client->missed_leases = false;
        driver_tell(world, client, ZKL_EV_AHEAD_GONE);
        break;
    case OP_GET_READER:
        note_watch(client, &message);
        finish(world, client, ZKL_EV_DOWNGRADED, &message);
        break;
    case OP_DELETE:
    case OP_DELETE_READER: finish(world, client, ZKL_EV_DELETED, &message); break;
    case OP_SWEEP: note_swept(client, &message); break;
    case OP_DELETED:
    case OP_CHANGED: dispatch(world, client, &message); break;
    case OP_COUNT: break;
    }
}
