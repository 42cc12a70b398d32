#include "promises.h"

#include <stddef.h>

#include "driver.h"

/* The client's node, or the reader that is in its place. */
static uint8_t node_of(const struct world *world, const struct client *client)
{
    uint8_t reader = has_bit(world->alive, client->own) ? NONE : world_reader_of(world, client->own);

    return reader < MOST_NODES && client->own < MOST_NODES ? reader : client->own;
}

static bool is_dead_by_operator(const struct world *world, const struct client *client)
{
    return has_bit(world->killed, node_of(world, client));
}

static bool has_somebody_ahead(const struct world *world, int slot)
{
    return world_must_wait(world, slot);
}

static const char *hear_grant(const struct world *world, struct client *client)
{
    uint8_t own = client->own;

    if (client->told & TOLD_RESULT)
        return "a second result was told";
    client->told |= TOLD_RESULT | TOLD_GRANT;
    if (client->lease != LEASE_RUNS)
        return "granted without a lease";
    if (own >= MOST_NODES)
        return "granted without a node of its own";
    if (has_bit(world->alive, own))
        return has_somebody_ahead(world, own) ? "granted out of order" : NULL;
    if (!is_dead_by_operator(world, client))
        return "granted although the own node was gone";
    /* The news of a removal may be under way, but not that of a removal before the own turn came. */
    if (has_bit(world->killed_early, own))
        return "granted to a contender that was removed before its turn";
    return NULL;
}

static const char *hear_end(const struct world *world, struct client *client, enum zkl_outcome why)
{
    if (client->told & TOLD_RESULT)
        return "a second result was told";
    client->told |= TOLD_RESULT;
    switch (why) {
    case ZKL_OUTCOME_CANCELLED:
        return client->told & DID_GIVE_UP ? NULL : "cancelled, but nobody did";
    case ZKL_OUTCOME_LIMIT:
    case ZKL_OUTCOME_NO_SERVER:
        return client->told & DID_GIVE_UP ? NULL : "told that the limit passed, but it did not";
    case ZKL_OUTCOME_REMOVED:
        return is_dead_by_operator(world, client) ? NULL : "told as removed, but nobody removed it";
    case ZKL_OUTCOME_REFUSED:
        return world->numbers_left == 0 && (setting.readers > 0 || setting.has_writers) ? NULL : "refused for no reason";
    case ZKL_OUTCOME_BUSY:
        return client->machine.is_try ? NULL : "busy, though it may wait";
    default:
        return "the acquire ended for no reason";
    }
}

static const char *hear_loss(const struct world *world, struct client *client, enum zkl_outcome why)
{
    bool was_told = (client->told & TOLD_LOSS) != 0;

    if (!(client->told & TOLD_GRANT))
        return "lost what was never granted";
    client->told |= TOLD_LOSS;
    if (was_told)
        return "the loss was told twice";
    if (why == ZKL_OUTCOME_REMOVED)
        return is_dead_by_operator(world, client) ? NULL : "told as removed, but nobody removed it";
    if (why == ZKL_OUTCOME_LEASE)
        return client->lease != LEASE_RUNS ? NULL : "lost by a lease that runs";
    if (why == ZKL_OUTCOME_EXPIRED)
        return client->life != LIFE_ALIVE ? NULL : "lost by a session that lives";
    if (why == ZKL_OUTCOME_HOLD_LIMIT)
        return world->hold_limits_left < setting.hold_limits ? NULL : "lost by a limit that was not reached";
    return why == ZKL_OUTCOME_CLOSED && (client->told & DID_CLOSE) ? NULL : "lost for no reason";
}

static const char *hear_release(const struct world *world, struct client *client, enum zkl_outcome how)
{
    bool may_be_lost = (client->told & TOLD_LOSS) || client->lease != LEASE_RUNS ||
                       client->life != LIFE_ALIVE || is_dead_by_operator(world, client);

    if (client->told & TOLD_RELEASE)
        return "the release was told twice";
    client->told |= TOLD_RELEASE;
    if (!(client->told & DID_RELEASE))
        return "released, but nobody asked";
    if (how == ZKL_OUTCOME_OK)
        return client->told & TOLD_LOSS ? "a lost lock was released as if it had been held" : NULL;
    return how == ZKL_OUTCOME_LOST && may_be_lost ? NULL : "released with the wrong outcome";
}

static const char *hear_downgrade(const struct world *world, struct client *client, enum zkl_outcome how)
{
    if (!(client->told & DID_DOWNGRADE))
        return "downgraded, but nobody asked";
    if (how != ZKL_OUTCOME_OK)
        return "a downgrade was refused for no reason";
    if (has_bit(world->alive, client->own) && !has_bit(world->readers, client->own))
        return "downgraded, but the writer is there";
    return NULL;
}

void promises_hear(const struct world *world, struct client *client, const struct zkl_actions *actions)
{
    const char *wrong = NULL;

    switch (actions->notice) {
    case ZKL_NOTICE_GRANTED:
        wrong = hear_grant(world, client);
        break;
    case ZKL_NOTICE_ENDED:
        wrong = hear_end(world, client, actions->outcome);
        break;
    case ZKL_NOTICE_LOST:
        wrong = hear_loss(world, client, actions->outcome);
        break;
    case ZKL_NOTICE_RELEASED:
        wrong = hear_release(world, client, actions->outcome);
        break;
    case ZKL_NOTICE_DOWNGRADED:
        wrong = hear_downgrade(world, client, actions->outcome);
        break;
    case ZKL_NOTICE_REQUEUED:
        if (client->life != LIFE_NONE || (client->told & TOLD_RESULT))
            wrong = "queued again for no reason";
        break;
    case ZKL_NOTICE_NONE:
        break;
    }
    if (wrong && !driver_violation)
        driver_violation = wrong;
}

/* ------------------------------------------------------------------------------- what holds in each world */

static bool is_holder(const struct client *client)
{
    return client->machine.state == ZKL_HELD && client->lease == LEASE_RUNS;
}

static const char *check_holders(const struct world *world)
{
    int holders = 0;
    bool is_exclusive = false;

    for (int i = 0; i < setting.clients; i++) {
        const struct client *client = &world->clients[i];
        if (!is_holder(client) || is_dead_by_operator(world, client))
            continue;
        uint8_t node = node_of(world, client);
        if (!has_bit(world->alive, node))
            return "a holder has no node";
        if (has_somebody_ahead(world, node))
            return "a holder's node is not the lowest";
        is_exclusive |= !has_bit(world->readers, node);
        holders++;
    }
    if (world->permits > 0)
        return holders > world->permits ? "more holders than permits" : NULL;
    return holders > 1 && is_exclusive ? "two holders" : NULL;
}

static bool is_create_under_way(const struct client *client, int token)
{
    for (int i = 0; i < client->request_count && client->link == LINK_UP; i++)
        if (client->requests[i].op == OP_CREATE && client->requests[i].subject == token)
            return true;
    return has_bit(client->late_creates, token);
}

/* A contender that is, or can be, without anybody who will delete it. */
static const char *check_orphans(const struct world *world, const struct client *client)
{
    bool is_over = client->machine.state == ZKL_GONE;

    if (client->life != LIFE_ALIVE)
        return NULL;
    for (int token = 0; token < MOST_TOKENS; token++) {
        bool is_there = client->tokens[token] == UNBORN ? is_create_under_way(client, token)
                                                        : has_bit(world->alive, client->tokens[token]);
        if (!is_there || has_bit(client->zombies, token))
            continue;
        if (token != client->token)
            return "a client has a second contender that it does not know";
        if (is_over)
            return "gone, but its contender stays";
    }
    return NULL;
}

/* Whether the contender was deleted and no news of it is under way, nor a look at it due: but for heartbeats, nobody will
 * know. */
static bool is_deaf(const struct world *world, const struct client *client)
{
    bool is_told = client->machine.state == ZKL_WAITING ||
                   (client->machine.state == ZKL_HELD && !client->machine.watch_can_wait);

    return is_told && !has_bit(world->alive, client->own) &&
           client->link == LINK_UP && !client->machine.is_blocked && client->request_count == 0 &&
           client->reply_count == 0;
}

static const char *check_client(const struct world *world, const struct client *client)
{
    uint8_t others = client->watches & world->alive;
    enum zkl_state state = client->machine.state;

    if (client->own < MOST_NODES)
        others &= (uint8_t)~(BIT(client->own) | BIT(node_of(world, client)));
    if (others & (others - 1))
        return "a waiter watches two nodes of others";
    if (state == ZKL_GONE && !(client->told & TOLD_RESULT))
        return "gone without a result";
    if (state == ZKL_GONE && (client->told & DID_RELEASE) && !(client->told & TOLD_RELEASE))
        return "gone, but the release's outcome was not told";
    if (state == ZKL_HELD && !(client->told & TOLD_GRANT))
        return "held, but not told";
    if (state == ZKL_HELD && client->lease == LEASE_TOLD)
        return "held after the end of the lease was told";
    if (is_deaf(world, client))
        return "a contender was deleted, and no news of it is under way";
    return check_orphans(world, client);
}

/* Nothing is under way for this client, and nothing is wrong with its session. */
static bool is_still(const struct world *world, const struct client *client)
{
    enum zkl_state state = client->machine.state;

    if (state == ZKL_GONE)
        return !driver_needs_sweep(world, client) && client->request_count == 0;
    if ((state != ZKL_WAITING && state != ZKL_NEW) || driver_is_blind(client))
        return false;
    return client->link == LINK_UP && client->life == LIFE_ALIVE && client->lease == LEASE_RUNS &&
           !client->machine.is_blocked && client->request_count == 0 && client->reply_count == 0 &&
           !driver_needs_sweep(world, client);
}

/* Whether this one waits although its turn has come, and no news of that is under way. */
static bool is_forgotten(const struct world *world, const struct client *client)
{
    return client->machine.state == ZKL_WAITING && client->machine.is_behind && is_still(world, client) &&
           has_bit(world->alive, client->own) && !has_somebody_ahead(world, client->own);
}

static const char *check_wake_up(const struct world *world)
{
    bool is_anybody_waiting = false;

    for (int i = 0; i < setting.clients; i++)
        if (is_forgotten(world, &world->clients[i]))
            return "somebody waits, and nobody who counts is ahead";

    for (int i = 0; i < setting.clients; i++) {
        const struct client *client = &world->clients[i];
        if (!is_still(world, client))
            return NULL;
        is_anybody_waiting |= client->machine.state == ZKL_WAITING;
    }
    return is_anybody_waiting ? "somebody waits, nobody holds, and nothing is under way" : NULL;
}

const char *promises_check(const struct world *world)
{
    const char *wrong = check_holders(world);

    for (int i = 0; i < setting.clients && !wrong; i++)
        wrong = check_client(world, &world->clients[i]);
    return wrong ? wrong : check_wake_up(world);
}

bool promises_are_kept(const struct world *world)
{
    for (int i = 0; i < setting.clients; i++)
        if (world->clients[i].machine.state != ZKL_GONE)
            return false;
    return world->alive == 0;
}
