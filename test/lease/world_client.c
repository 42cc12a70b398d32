/* The client's side: the library with its connection, and the callbacks that tell the lease. */
#include <string.h>

#include "support/suite.h"
#include "world.h"

/* The first CONNECTED of a session whose handle was opened that long ago is a lapse at once. */
#define LATE_OPENING_NS(setting) (2 * (setting)->timeout_ms * MS)

static void note(struct world *world, struct note added)
{
    struct client *client = &world->client;

    if (client->note_count == MOST_CALLBACKS)
        suite_abandon("more than %d callbacks wait", MOST_CALLBACKS);
    client->notes[client->note_count++] = added;
}

void client_begin(const struct setting *setting, struct world *world)
{
    const struct rule *rule = setting->rule;
    int64_t opened_ns = world_clock(setting, world) - (setting->begins_lapsed ? LATE_OPENING_NS(setting) : 0);

    zkl_lease_open(&world->lease, rule->shipped, rule->tick_is_known ? setting->tick_ms * MS : 0, opened_ns);
    world->client.server = setting->home;
    world->client.asked = NOBODY;
    note(world, (struct note){.callback = CALLBACK_CONNECTED, .server = (uint8_t)setting->home});
}

void client_send(const struct setting *setting, struct world *world, enum kind kind)
{
    struct client *client = &world->client;
    struct request *request = &client->requests[client->request_count++];

    *request = (struct request){
        .kind = (uint8_t)kind, .serial = ++client->serial, .sent_ns = world_clock(setting, world)};
    world->sends++;
    if (client->server != NOBODY)
        server_hear(setting, world, client->server, request);
}

void client_answer(const struct setting *setting, struct world *world)
{
    struct client *client = &world->client;
    struct request request = client->requests[0];

    (void)setting;
    client->request_count--;
    memmove(client->requests, client->requests + 1, (size_t)client->request_count * sizeof client->requests[0]);
    memset(&client->requests[client->request_count], 0, sizeof client->requests[0]);
    note(world, (struct note){.callback = CALLBACK_OK, .kind = request.kind, .sent_ns = request.sent_ns});
}

/* The connection breaks, or an attempt to connect fails: both end every request that waits. */
void client_lose(const struct setting *setting, struct world *world)
{
    struct client *client = &world->client;

    (void)setting;
    if (client->server != NOBODY)
        note(world, (struct note){.callback = CALLBACK_DISCONNECTED});
    for (int i = 0; i < client->request_count; i++)
        note(world, (struct note){.callback = CALLBACK_FAILED,
                                  .kind = client->requests[i].kind,
                                  .sent_ns = client->requests[i].sent_ns});
    memset(client->requests, 0, sizeof client->requests);
    client->request_count = 0;
    client->server = NOBODY;
    client->asked = NOBODY;
}

void client_connect(const struct setting *setting, struct world *world, int server)
{
    world->client.asked = server;
    if (server_connect(setting, world, server))
        client_connected(setting, world, server);
}

/* What was sent meanwhile goes out now, behind the news of the connection. */
void client_connected(const struct setting *setting, struct world *world, int server)
{
    struct client *client = &world->client;

    client->server = server;
    client->asked = NOBODY;
    note(world, (struct note){.callback = CALLBACK_CONNECTED, .server = (uint8_t)server});
    for (int i = 0; i < client->request_count; i++)
        server_hear(setting, world, server, &client->requests[i]);
}

/* What was sent before a callback ran bears an earlier time, even where the world's time stands still. */
static int64_t read_clock(const struct setting *setting, struct world *world)
{
    struct client *client = &world->client;

    for (int i = 0; i < client->request_count; i++)
        if (client->requests[i].sent_ns == world_clock(setting, world))
            client->clock_ns++;
    for (int i = 0; i < client->note_count; i++)
        if (client->notes[i].sent_ns == world_clock(setting, world))
            client->clock_ns++;
    return world_clock(setting, world);
}

static void tell_lease(const struct setting *setting, struct world *world, const struct note *told)
{
    const struct rule *rule = setting->rule;
    int64_t now_ns = read_clock(setting, world);
    struct zkl_beat times = {.sent_ns = told->sent_ns, .answered_ns = now_ns};

    switch ((enum callback)told->callback) {
    case CALLBACK_OK:
    case CALLBACK_FAILED:
        rule->completed(&world->lease, told->kind, told->callback == CALLBACK_OK, &times);
        break;
    case CALLBACK_CONNECTED:
        world->client.is_connected = true;
        rule->connected(&world->lease, now_ns, server_timeout(setting, told->server) * MS);
        break;
    case CALLBACK_DISCONNECTED:
        world->client.is_connected = false;
        rule->disconnected(&world->lease, now_ns);
        break;
    }
}

void client_run_callback(const struct setting *setting, struct world *world)
{
    struct client *client = &world->client;
    struct note told = client->notes[0];

    client->note_count--;
    memmove(client->notes, client->notes + 1, (size_t)client->note_count * sizeof client->notes[0]);
    memset(&client->notes[client->note_count], 0, sizeof client->notes[0]);
    tell_lease(setting, world, &told);
}
