#include "server.h"

#include <stdlib.h>
#include <string.h>

#include "ensemble.h"

int server_index(const struct server *server)
{
    return server->index;
}

struct actor *server_actor(struct server *server)
{
    return &server->actor;
}

void server_init(struct server *server, struct ensemble *ensemble, int index)
{
    memset(server, 0, sizeof *server);
    actor_init(&server->actor, ensemble->world);
    server->ensemble = ensemble;
    server->index = index;
    server->is_serving = true;
    link_reset(server);
}

void server_clear(struct server *server)
{
    link_reset(server);
    free(server->touched);
}

bool server_leads(const struct server *server)
{
    return server->ensemble->leader == server->index && !server->is_deposed;
}

/* ---------------------------------------------------------------- connections */

static void open_connection(struct connection *connection)
{
    struct server *server = connection->server;

    connection_ref(connection);
    connection->is_open_at_server = true;
    connection->next_of_server = server->connections;
    server->connections = connection;
}

static void say_closed(struct connection *connection)
{
    wire_send(connection, TO_CLIENT, message_new(sizeof(struct message), MESSAGE_CLOSED));
}

void server_drop(struct connection *connection, bool is_told)
{
    struct connection **at = &connection->server->connections;

    if (!connection->is_open_at_server)
        return;
    while (*at != connection)
        at = &(*at)->next_of_server;
    *at = connection->next_of_server;
    connection->is_open_at_server = false;
    while (connection->watches)
        watch_free(connection->watches);
    while (connection->queue) {
        struct request *request = connection->queue;
        connection->queue = request->next_queued;
        request_unref(request);
    }
    connection->queue_end = &connection->queue;
    if (is_told)
        say_closed(connection);
    connection_unref(connection);
}

void server_leave(struct server *server)
{
    server->is_serving = false;
    server->is_deposed = false;
    server->incarnation++;
    server_take_touched(server, NULL);
    while (server->connections)
        server_drop(server->connections, true);
}

void server_return(struct server *server)
{
    struct ensemble *ensemble = server->ensemble;

    server->is_serving = true;
    server->applied = ensemble->committed;
    server->applied_zxid = ensemble->committed_zxid;
}

/* ---------------------------------------------------------------- touches */

static void note_touch(struct server *server, struct zk_session *session)
{
    unsigned bit = 1u << server->index;

    if (session->touched_at & bit)
        return;
    session->touched_at |= bit;
    if (server->touched_count == server->touched_room) {
        server->touched_room = server->touched_room ? server->touched_room * 2 : 32;
        server->touched =
            must_have(realloc(server->touched, (size_t)server->touched_room * sizeof *server->touched));
    }
    server->touched[server->touched_count++] = session;
}

void server_take_touched(struct server *server, struct zk_session **out_touched)
{
    for (int i = 0; i < server->touched_count; i++) {
        server->touched[i]->touched_at &= ~(1u << server->index);
        if (out_touched)
            out_touched[i] = server->touched[i];
    }
    server->touched_count = 0;
}

static void touch(struct server *server, struct zk_session *session)
{
    if (!session || server->is_deposed)
        return;
    if (server_leads(server))
        session_touch(server->ensemble, session);
    else
        note_touch(server, session);
}

/* ---------------------------------------------------------------- sessions */

void server_greet(struct connection *connection, struct zk_session *session)
{
    struct greeting *greeting = message_new(sizeof *greeting, MESSAGE_GREETING);

    connection->session = session;
    greeting->session = session;
    greeting->timeout_ns = session ? session->timeout_ns : 0;
    /* A greeting tells no zxid: what the client says of its watches behind it is as of what it had seen before. */
    wire_send(connection, TO_CLIENT, &greeting->message);
    if (!session)
        server_drop(connection, false);
}

static void create_session(struct connection *connection, int64_t timeout_ns)
{
    struct request *request = request_new(0, 0);

    request->is_create_session = true;
    request->stat.ctime_ms = timeout_ns / MILLISECOND;
    request->message.connection = connection;
    connection_ref(connection);
    server_forward(connection->server, request);
}

void server_revalidated(struct connection *connection, bool is_valid)
{
    if (connection->is_open_at_server)
        server_greet(connection, is_valid ? connection->session : NULL);
}

/* The leader knows by itself; one that leads nobody any more knows what it knew. */
static void go_on(struct connection *connection, struct zk_session *session)
{
    struct server *server = connection->server;

    connection->session = session;
    if (server->is_deposed) {
        server_revalidated(connection, session->closed_zxid > server->applied_zxid);
    } else if (server_leads(server)) {
        if (!session->is_closing) {
            session->owner = server->index;
            session_touch(server->ensemble, session);
        }
        server_revalidated(connection, !session->is_closing);
    } else {
        struct relay *relay = relay_new(RELAY_REVALIDATE, 0);
        relay->connection = connection;
        connection_ref(connection);
        link_send(server, LANE_TO_LEADER, relay);
    }
}

static void receive_hello(struct connection *connection, const struct greeting *hello)
{
    struct server *server = connection->server;

    if (!server->is_serving || hello->message.zxid > server->applied_zxid) {
        say_closed(connection);
        return;
    }
    open_connection(connection);
    if (hello->session)
        go_on(connection, hello->session);
    else
        create_session(connection, hello->timeout_ns);
}

/* ---------------------------------------------------------------- what comes in */

void server_receive(struct message *message)
{
    struct connection *connection = message->connection;
    struct server *server = connection->server;

    if (message->kind == MESSAGE_HELLO) {
        receive_hello(connection, (struct greeting *)message);
        message_free(message);
        return;
    }
    if (!connection->is_open_at_server) {
        message_free(message);
        return;
    }
    if (message->kind != MESSAGE_FIN)
        touch(server, connection->session);
    switch (message->kind) {
    case MESSAGE_REQUEST:
        server_take_request(connection, (struct request *)message);
        return;
    case MESSAGE_PING:
        message->kind = MESSAGE_PONG;
        message->zxid = server->applied_zxid;
        wire_send(connection, TO_CLIENT, message);
        return;
    case MESSAGE_WATCHES:
        server_take_watches(connection, (struct watch_message *)message);
        break;
    case MESSAGE_FIN:
        server_drop(connection, false);
        break;
    default:
        break;
    }
    message_free(message);
}
