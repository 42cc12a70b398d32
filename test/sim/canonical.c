/* One form for each world: what cannot matter is forgotten, the rest is renamed in a fixed order. */
#include "world.h"

#include <stddef.h>
#include <string.h>

unsigned world_size(void)
{
    return (unsigned)(offsetof(struct world, clients) + (size_t)setting.clients * sizeof(struct client));
}

/* -------------------------------------------------------------------------------------- what is forgotten */

static bool is_under_way(const struct client *client, int token)
{
    for (int i = 0; i < client->request_count; i++)
        if (client->requests[i].op == OP_CREATE && client->requests[i].subject == token)
            return true;
    for (int i = 0; i < client->reply_count; i++)
        if (client->replies[i].op == OP_CREATE && client->replies[i].subject == token)
            return true;
    return has_bit(client->late_creates, token);
}

/* A zombie whose create can never be applied any more, or that was deleted, makes no difference. */
static void forget_tokens(const struct world *world, struct client *client)
{
    for (int token = 0; token < MOST_TOKENS; token++) {
        uint8_t slot = client->tokens[token];
        bool is_current = token == client->token && client->machine.state != ZKL_GONE;
        bool is_alive = has_bit(world->alive, slot);

        if (slot == NONE || is_current || is_alive || is_under_way(client, token))
            continue;
        client->tokens[token] = NONE;
        client->zombies &= (uint8_t)~BIT(token);
        if (token == client->token)
            client->token = NONE;
    }
}

static void forget_nodes(const struct world *world, struct client *client)
{
    enum zkl_state state = client->machine.state;
    uint8_t relevant;

    if (state == ZKL_GONE)
        client->own = NONE;
    if (state != ZKL_WATCHING && state != ZKL_WAITING)
        client->ahead = NONE;
    if (state != ZKL_SURVEYING)
        client->listed = 0;
    if (client->link != LINK_FROZEN)
        client->past = 0;
    client->late_deletes &= world->alive;
    client->late_downgrades &= world->alive;
    relevant = (client->own < MOST_NODES ? BIT(client->own) : 0) |
               (client->ahead < MOST_NODES ? BIT(client->ahead) : 0);
    /* Of a node that is gone only the event is left, and it is under way or will be made at the reconnect. */
    if (client->link == LINK_OUT || client->link == LINK_UP)
        client->watches &= (uint8_t)(world->alive | relevant);
    client->missed &= client->watches;
    /* Whoever has had its turn lists no more. */
    if (state == ZKL_HELD || state == ZKL_LOST || state == ZKL_DELETING || state == ZKL_GONE)
        client->watches_leases = client->planted_leases = client->missed_leases = client->seen_leases = 0;
}

/* Whoever is gone and has left nothing is like all others who are. */
static bool forget_client(struct client *client)
{
    if (client->machine.state != ZKL_GONE || client->request_count > 0 || client->reply_count > 0)
        return false;
    for (int token = 0; token < MOST_TOKENS; token++)
        if (client->tokens[token] != NONE)
            return false;
    memset(client, 0, sizeof *client);
    client->machine.state = ZKL_GONE;
    client->machine.has_result = true;
    client->told = TOLD_RESULT;
    client->token = client->own = client->ahead = NONE;
    memset(client->tokens, NONE, sizeof client->tokens);
    return true;
}

/* Requests that never arrive; which writes among them may still be applied was written down at the cut. */
static void forget_messages(struct client *client)
{
    if (client->link == LINK_OUT || client->link == LINK_CUT)
        client->request_count = 0;
    memset(client->requests + client->request_count, 0,
           (size_t)(MOST_REQUESTS - client->request_count) * sizeof client->requests[0]);
    memset(client->replies + client->reply_count, 0,
           (size_t)(MOST_REPLIES - client->reply_count) * sizeof client->replies[0]);
}

/* ---------------------------------------------------------------------------------------- what is renamed */

static bool has_flight(const struct client *client, uint8_t flight)
{
    for (int i = 0; i < client->request_count; i++)
        if (client->requests[i].flight == flight)
            return true;
    for (int i = 0; i < client->reply_count; i++)
        if (client->replies[i].flight == flight)
            return true;
    return client->machine.is_in_flight && client->machine.flight == flight;
}

static void shift_flights(struct message *messages, int count, uint8_t by)
{
    for (int i = 0; i < count; i++)
        if (messages[i].flight != 0)
            messages[i].flight -= by;
}

/* Flights are compared for equality only: the oldest that is out becomes the first. */
static void rename_flights(struct client *client)
{
    uint8_t oldest = (uint8_t)client->machine.flight;

    for (uint8_t flight = 1; flight < oldest; flight++)
        if (has_flight(client, flight))
            oldest = flight;
    if (!client->machine.is_in_flight)
        client->asked = ZKL_ASK_NOTHING;
    if (client->half_flight != 0 && !has_flight(client, client->half_flight))
        client->half_flight = client->half = 0;
    if (oldest <= 1)
        return;
    client->machine.flight -= oldest - 1u;
    shift_flights(client->requests, client->request_count, oldest - 1);
    shift_flights(client->replies, client->reply_count, oldest - 1);
    if (client->half_flight != 0)
        client->half_flight -= oldest - 1;
}

static void rename_token_messages(struct message *messages, int count, const uint8_t *names)
{
    for (int i = 0; i < count; i++)
        if (messages[i].op == OP_CREATE && messages[i].subject < MOST_TOKENS)
            messages[i].subject = names[messages[i].subject];
}

static uint8_t rename_mask(uint8_t mask, const uint8_t *names, int count)
{
    uint8_t renamed = 0;

    for (int i = 0; i < count; i++)
        if (has_bit(mask, i) && names[i] != NONE)
            renamed |= BIT(names[i]);
    return renamed;
}

/* The current one first, then by slot; free ones last. */
static bool stands_before(const struct client *client, int a, int b)
{
    if (a == client->token || b == client->token)
        return a == client->token;
    return client->tokens[a] < client->tokens[b];
}

static void rename_tokens(struct client *client)
{
    uint8_t names[MOST_TOKENS];
    uint8_t slots[MOST_TOKENS];
    bool is_sorted = true;

    for (int i = 0; i < MOST_TOKENS; i++) {
        int before = 0;
        for (int j = 0; j < MOST_TOKENS; j++)
            before += stands_before(client, j, i) || (j < i && !stands_before(client, i, j));
        names[i] = (uint8_t)(i == client->token ? 0 : before);
        is_sorted &= names[i] == i;
    }
    if (is_sorted)
        return;
    for (int i = 0; i < MOST_TOKENS; i++)
        slots[names[i]] = client->tokens[i];
    memcpy(client->tokens, slots, sizeof slots);
    client->zombies = rename_mask(client->zombies, names, MOST_TOKENS);
    client->late_creates = rename_mask(client->late_creates, names, MOST_TOKENS);
    if (client->token != NONE)
        client->token = names[client->token];
    rename_token_messages(client->requests, client->request_count, names);
    rename_token_messages(client->replies, client->reply_count, names);
}

static uint8_t slots_of_messages(const struct message *messages, int count)
{
    uint8_t slots = 0;

    for (int i = 0; i < count; i++) {
        slots |= messages[i].children;
        if (messages[i].op != OP_CREATE && messages[i].subject < MOST_NODES)
            slots |= BIT(messages[i].subject);
    }
    return slots;
}

static uint8_t slots_of(const struct client *client)
{
    uint8_t slots = client->past | client->listed | client->late_deletes | client->late_downgrades |
                    client->watches | client->missed | client->seen_leases;

    if (client->own < MOST_NODES)
        slots |= BIT(client->own);
    if (client->ahead < MOST_NODES)
        slots |= BIT(client->ahead);
    for (int token = 0; token < MOST_TOKENS; token++)
        if (client->tokens[token] < MOST_NODES)
            slots |= BIT(client->tokens[token]);
    return slots | slots_of_messages(client->requests, client->request_count) |
           slots_of_messages(client->replies, client->reply_count);
}

static uint8_t rename_slot(uint8_t slot, const uint8_t *names)
{
    return slot < MOST_NODES ? names[slot] : slot;
}

static void rename_slots_of_messages(struct message *messages, int count, const uint8_t *names)
{
    for (int i = 0; i < count; i++) {
        messages[i].children = rename_mask(messages[i].children, names, MOST_NODES);
        if (messages[i].op != OP_CREATE)
            messages[i].subject = rename_slot(messages[i].subject, names);
    }
}

static void rename_slots_of(struct client *client, const uint8_t *names)
{
    uint8_t *masks[] = {&client->past,    &client->listed,  &client->late_deletes, &client->late_downgrades,
                        &client->watches, &client->planted, &client->missed, &client->seen_leases};

    for (unsigned i = 0; i < sizeof masks / sizeof masks[0]; i++)
        *masks[i] = rename_mask(*masks[i], names, MOST_NODES);
    client->own = rename_slot(client->own, names);
    client->ahead = rename_slot(client->ahead, names);
    for (int token = 0; token < MOST_TOKENS; token++)
        client->tokens[token] = rename_slot(client->tokens[token], names);
    rename_slots_of_messages(client->requests, client->request_count, names);
    rename_slots_of_messages(client->replies, client->reply_count, names);
}

/* Nodes that are gone and that nobody remembers leave the row; the others move up. */
static void rename_writers(struct world *world, const uint8_t *names)
{
    uint8_t writer_of[MOST_NODES];

    memset(writer_of, NONE, sizeof writer_of);
    for (int slot = 0; slot < MOST_NODES; slot++)
        if (names[slot] != NONE)
            writer_of[names[slot]] = rename_slot(world->writer_of[slot], names);
    memcpy(world->writer_of, writer_of, sizeof writer_of);
    world->readers = rename_mask(world->readers, names, MOST_NODES);
    world->writers = rename_mask(world->writers, names, MOST_NODES);
}

static void rename_slots(struct world *world)
{
    uint8_t kept = world->alive;
    uint8_t names[MOST_NODES];
    uint8_t count = 0;

    for (int i = 0; i < setting.clients; i++)
        kept |= slots_of(&world->clients[i]);
    for (int slot = 0; slot < MOST_NODES; slot++)
        if (has_bit(kept, slot) && world->writer_of[slot] < MOST_NODES)
            kept |= BIT(world->writer_of[slot]);
    for (int slot = 0; slot < MOST_NODES; slot++)
        names[slot] = has_bit(kept, slot) ? count++ : NONE;
    if (count == world->node_count)
        return;
    world->node_count = count;
    world->alive = rename_mask(world->alive, names, MOST_NODES);
    rename_writers(world, names);
    world->at_limit = rename_mask(world->at_limit, names, MOST_NODES);
    world->negative = rename_mask(world->negative, names, MOST_NODES);
    world->killed = rename_mask(world->killed, names, MOST_NODES);
    world->killed_early = rename_mask(world->killed_early, names, MOST_NODES);
    for (int i = 0; i < setting.clients; i++)
        rename_slots_of(&world->clients[i], names);
}

static void sort_clients(struct world *world, uint8_t *from)
{
    for (int i = 1; i < setting.clients; i++) {
        for (int j = i; j > 0; j--) {
            struct client *left = &world->clients[j - 1];
            struct client *right = &world->clients[j];
            struct client other;
            uint8_t index;

            if (memcmp(left, right, sizeof *left) <= 0)
                break;
            memcpy(&other, left, sizeof other);
            memcpy(left, right, sizeof other);
            memcpy(right, &other, sizeof other);
            if (!from)
                continue;
            index = from[j - 1];
            from[j - 1] = from[j];
            from[j] = index;
        }
    }
}

void world_canonicalize(struct world *world, uint8_t *out_from)
{
    for (int i = 0; i < setting.clients; i++) {
        struct client *client = &world->clients[i];
        if (out_from)
            out_from[i] = (uint8_t)i;
        forget_tokens(world, client);
        forget_nodes(world, client);
        forget_messages(client);
        if (forget_client(client))
            continue;
        rename_flights(client);
        rename_tokens(client);
    }
    rename_slots(world);
    sort_clients(world, out_from);
}

/* --------------------------------------------------------------------------------------- packing, hashing */

static size_t message_bytes(int count)
{
    return (size_t)count * sizeof(struct message);
}

void world_pack(const struct world *world, struct packed *out_packed)
{
    unsigned char *to = out_packed->bytes;

    memcpy(to, world, offsetof(struct world, clients));
    to += offsetof(struct world, clients);
    for (int i = 0; i < setting.clients; i++) {
        const struct client *client = &world->clients[i];
        memcpy(to, client, offsetof(struct client, requests));
        to += offsetof(struct client, requests);
        memcpy(to, client->requests, message_bytes(client->request_count));
        to += message_bytes(client->request_count);
        memcpy(to, client->replies, message_bytes(client->reply_count));
        to += message_bytes(client->reply_count);
    }
    out_packed->size = (uint16_t)(to - out_packed->bytes);
}

void world_unpack(const unsigned char *bytes, struct world *out_world)
{
    memset(out_world, 0, world_size());
    memcpy(out_world, bytes, offsetof(struct world, clients));
    bytes += offsetof(struct world, clients);
    for (int i = 0; i < setting.clients; i++) {
        struct client *client = &out_world->clients[i];
        memcpy(client, bytes, offsetof(struct client, requests));
        bytes += offsetof(struct client, requests);
        memcpy(client->requests, bytes, message_bytes(client->request_count));
        bytes += message_bytes(client->request_count);
        memcpy(client->replies, bytes, message_bytes(client->reply_count));
        bytes += message_bytes(client->reply_count);
    }
}

/* Eight bytes at a time; a multiplication folds each into the rest. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    unsigned __int128 product = (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint64_t)product ^ (uint64_t)(product >> 64) ^ UINT64_C(0xd6e8feb86659fd93);
}

uint64_t world_fingerprint(const struct packed *packed)
{
    const unsigned char *bytes = packed->bytes;
    unsigned size = packed->size;
    uint64_t hash = size;
    uint64_t word;

    for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, bytes, size);
    return mix(mix(hash, word), UINT64_C(0x2545f4914f6cdd1d));
}
