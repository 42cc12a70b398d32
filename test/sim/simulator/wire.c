#include "wire.h"

#include <stdlib.h>
#include <string.h>

#include "server.h"
#include "sim_store.h"

int64_t latency_draw(const struct latency *latency, struct chance *chance)
{
    if (chance_one_in(chance, 500))
        return chance_near(chance, latency->least_ns, latency->spike_ns);
    return chance_near(chance, latency->least_ns, latency->most_ns);
}

/* ---------------------------------------------------------------- messages */

void *message_new(size_t size, enum message_kind kind)
{
    struct message *message = must_have(calloc(1, size));

    message->kind = kind;
    return message;
}

struct request *request_new(int path_count, size_t text_size)
{
    size_t size = sizeof(struct request) + (size_t)path_count * sizeof(char *);
    struct request *request = must_have(malloc(size + text_size));

    memset(request, 0, size);
    request->message.kind = MESSAGE_REQUEST;
    request->path_count = path_count;
    request->refs = 1;
    request->failed_index = -1;
    return request;
}

void request_unref(struct request *request)
{
    if (--request->refs > 0)
        return;
    if (request->message.connection)
        connection_unref(request->message.connection);
    free(request->children);
    free(request->created);
    free(request);
}

void message_free(struct message *message)
{
    if (message->kind == MESSAGE_REQUEST || message->kind == MESSAGE_REPLY) {
        request_unref((struct request *)message);
        return;
    }
    connection_unref(message->connection);
    free(message);
}

/* ---------------------------------------------------------------- connections */

struct connection *connection_new(struct host *host, struct server *server, struct sim_store *store)
{
    struct connection *connection = must_have(calloc(1, sizeof *connection));

    connection->refs = 1;
    connection->host = host;
    connection->server = server;
    connection->store = store;
    connection->queue_end = &connection->queue;
    for (int i = 0; i < 2; i++) {
        connection->end_ns[i] = NEVER;
        connection->stalled_end[i] = &connection->stalled[i];
    }
    connection->next_of_host = host->connections;
    host->connections = connection;
    return connection;
}

void connection_ref(struct connection *connection)
{
    connection->refs++;
}

void connection_unref(struct connection *connection)
{
    if (--connection->refs > 0)
        return;
    struct connection **at = &connection->host->connections;
    while (*at != connection)
        at = &(*at)->next_of_host;
    *at = connection->next_of_host;
    free(connection);
}

/* ---------------------------------------------------------------- the way */

static void receive(struct message *message, enum direction direction)
{
    if (direction == TO_SERVER)
        server_receive(message);
    else
        store_receive(message);
}

static void stall(struct message *message, enum direction direction)
{
    struct connection *connection = message->connection;

    message->next = NULL;
    *connection->stalled_end[direction] = message;
    connection->stalled_end[direction] = &message->next;
}

static bool is_in_hole(const struct connection *connection, enum direction direction)
{
    return connection->host->holes[direction] >> server_index(connection->server) & 1;
}

static void arrive(struct message *message, enum direction direction)
{
    struct connection *connection = message->connection;
    int64_t now_ns = connection->host->actor.world->now_ns;

    /* That a connection is over is noticed in the end. */
    if (now_ns > connection->end_ns[direction] && message->kind != MESSAGE_FIN)
        message_free(message);
    else if (is_in_hole(connection, direction))
        stall(message, direction);
    else
        receive(message, direction);
}

static void arrive_at_server(void *subject, void *detail)
{
    (void)subject;
    arrive(detail, TO_SERVER);
}

static void arrive_at_client(void *subject, void *detail)
{
    (void)subject;
    arrive(detail, TO_CLIENT);
}

void wire_send(struct connection *connection, enum direction direction, struct message *message)
{
    struct host *host = connection->host;
    int64_t at_ns = host->actor.world->now_ns + latency_draw(&host->latency, &host->chance) + host->extra_ns;

    if (message->connection != connection) {
        connection_ref(connection);
        if (message->connection)
            connection_unref(message->connection);
        message->connection = connection;
    }
    if (at_ns <= connection->floor_ns[direction])
        at_ns = connection->floor_ns[direction] + 1;
    connection->floor_ns[direction] = at_ns;
    if (direction == TO_SERVER)
        world_post(server_actor(connection->server), at_ns, arrive_at_server, NULL, message);
    else
        world_post(&host->actor, at_ns, arrive_at_client, NULL, message);
}

void wire_cut(struct connection *connection, enum direction direction, int64_t grace_ns)
{
    int64_t end_ns = connection->host->actor.world->now_ns + grace_ns;

    if (end_ns < connection->end_ns[direction])
        connection->end_ns[direction] = end_ns;
}

static void resume_direction(struct connection *connection, enum direction direction)
{
    while (connection->stalled[direction] && !is_in_hole(connection, direction)) {
        struct message *message = connection->stalled[direction];
        connection->stalled[direction] = message->next;
        if (!connection->stalled[direction])
            connection->stalled_end[direction] = &connection->stalled[direction];
        arrive(message, direction);
    }
}

void wire_resume(struct host *host)
{
    struct connection *next;

    for (struct connection *connection = host->connections; connection; connection = next) {
        connection_ref(connection);
        resume_direction(connection, TO_SERVER);
        resume_direction(connection, TO_CLIENT);
        next = connection->next_of_host;
        connection_unref(connection);
    }
}
