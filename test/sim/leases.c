/* The leases of a semaphore: one watch on all of them, and on the limit. */
#include "world.h"

void world_leases_changed(struct world *world)
{
    for (int i = 0; i < setting.clients && world->permits > 0; i++) {
        struct client *client = &world->clients[i];
        if (client->planted_leases)
            world_reply(client, (struct message){.op = OP_CHILDREN, .subject = NONE});
        else
            client->missed_leases = true;
        client->planted_leases = false;
    }
}

void world_raise_limit(struct world *world)
{
    world->raises_left--;
    world->permits++;
    world_leases_changed(world);
}

/* Where its server shows a past, what has changed since is told after the next reconnect. */
void world_watch_leases(const struct world *world, struct client *client)
{
    client->planted_leases = client->link == LINK_UP;
    client->missed_leases = client->link == LINK_FROZEN && client->past != world->alive;
}

/* The guard is a mutex of its own, and explored as one; here somebody has it or nobody. */
bool world_may_guard(const struct world *world, const struct client *client)
{
    const struct zkl_machine *machine = &client->machine;

    if (machine->state != ZKL_CREATING || !machine->is_guarded || machine->has_guard || client->link != LINK_UP)
        return false;
    for (int i = 0; i < setting.clients; i++) {
        const struct zkl_machine *other = &world->clients[i].machine;
        if (other->has_guard && !other->has_result)
            return false;
    }
    return true;
}
