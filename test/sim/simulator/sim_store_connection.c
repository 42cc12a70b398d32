/* A store's connection: made, kept alive, lost and made again. */
#include <stdlib.h>

#include "sim_store_internal.h"

/* ---------------------------------------------------------------- connecting */

void store_send(struct sim_store *store, struct message *message)
{
    store->last_sent_ns = now_of(store);
    wire_send(store->connection, TO_SERVER, message);
}

static void connect_next(struct sim_store *store)
{
    struct ensemble *ensemble = store->driver->ensemble;
    struct server *server = &ensemble->servers[store->order[store->turn % store->order_count]];
    struct greeting *hello = message_new(sizeof *hello, MESSAGE_HELLO);

    store->phase = PHASE_CONNECTING;
    store->connection = connection_new(store->driver->host, server, store);
    hello->session = store->session;
    hello->timeout_ns = store->timeout_ns;
    hello->message.zxid = store->seen_zxid;
    store->last_received_ns = now_of(store);
    store_send(store, &hello->message);
    store_plan_check(store, now_of(store) + store->timeout_ns * 2 / 3);
}

void store_drop_connection(struct sim_store *store, bool is_told)
{
    struct connection *connection = store->connection;
    struct chance *chance = &store->driver->host->chance;

    if (!connection)
        return;
    store->connection = NULL;
    connection->store = NULL;
    if (is_told)
        wire_send(connection, TO_SERVER, message_new(sizeof(struct message), MESSAGE_FIN));
    if (!is_told || chance_one_in(chance, 2))
        wire_cut(connection, TO_SERVER, chance_near(chance, 0, SECOND));
    connection_unref(connection);
}

static void lose_pending(struct sim_store *store)
{
    struct request *next;
    struct request *request = store->pending;

    store->pending = NULL;
    store->pending_end = &store->pending;
    store->pending_count = 0;
    for (; request; request = next) {
        next = request->next_pending;
        store_deliver(store, (struct delivery){.lost = request});
    }
}

void store_lose_connection(struct sim_store *store)
{
    bool was_connected = store->phase == PHASE_CONNECTED;
    int64_t pause_ns = chance_between(&store->driver->host->chance, 0, 2 * MILLISECOND);

    store_drop_connection(store, true);
    store->phase = PHASE_PAUSING;
    if (++store->turn % store->order_count == 0)
        pause_ns += store->timeout_ns / 60;
    store_plan_check(store, now_of(store) + pause_ns);
    if (was_connected)
        store_deliver(store, (struct delivery){.state = ZKL_STORE_DISCONNECTED});
    lose_pending(store);
}

/* ---------------------------------------------------------------- the clock */

static void check_connected(struct sim_store *store)
{
    int64_t silent_ns = store->last_received_ns + store->timeout_ns * 2 / 3;
    int64_t ping_ns = store->last_sent_ns + store->timeout_ns / 3;

    if (now_of(store) >= silent_ns) {
        store_lose_connection(store);
        return;
    }
    if (store->pending_count == 0 && now_of(store) >= ping_ns) {
        store_send(store, message_new(sizeof(struct message), MESSAGE_PING));
        ping_ns = now_of(store) + store->timeout_ns / 3;
    }
    int64_t at_ns = silent_ns < ping_ns ? silent_ns : ping_ns;
    store_plan_check(store, at_ns > now_of(store) ? at_ns : now_of(store) + store->timeout_ns / 12);
}

static void check(void *subject, void *detail)
{
    struct sim_store *store = subject;

    (void)detail;
    store->check = NULL;
    if (store->phase == PHASE_PAUSING)
        connect_next(store);
    else if (store->phase == PHASE_CONNECTING)
        store_lose_connection(store);
    else if (store->phase == PHASE_CONNECTED)
        check_connected(store);
}

void store_plan_check(struct sim_store *store, int64_t at_ns)
{
    world_cancel(store->check);
    store->check = world_post(&store->driver->host->actor, at_ns, check, store, NULL);
}

/* ---------------------------------------------------------------- what comes in */

static void send_pending(struct sim_store *store)
{
    for (struct request *request = store->pending; request; request = request->next_pending) {
        request->refs++;
        store_send(store, &request->message);
    }
}

static void receive_greeting(struct sim_store *store, const struct greeting *greeting)
{
    if (store->phase != PHASE_CONNECTING)
        return;
    if (!greeting->session) {
        store->phase = PHASE_DEAD;
        store_drop_connection(store, true);
        store_deliver(store, (struct delivery){.state = ZKL_STORE_EXPIRED});
        return;
    }
    store->session = greeting->session;
    store->timeout_ns = greeting->timeout_ns;
    store->phase = PHASE_CONNECTED;
    store_say_watched(store);
    send_pending(store);
    store_plan_check(store, now_of(store) + store->timeout_ns / 3);
    store_deliver(store, (struct delivery){.state = ZKL_STORE_CONNECTED});
}

static void receive_reply(struct sim_store *store, struct request *request)
{
    if (store->pending != request) {
        request_unref(request);
        return;
    }
    store->pending = request->next_pending;
    if (!store->pending)
        store->pending_end = &store->pending;
    store->pending_count--;
    if (request->with_watch && request->code == ZKL_CODE_OK)
        store_watch(store, request->paths[0], request->op == ZKL_OP_LIST);
    store_deliver(store, (struct delivery){.message = &request->message});
}

static void receive_news(struct sim_store *store, struct watch_message *news)
{
    if (store_unwatch(store, news->paths[0], news->event))
        store_deliver(store, (struct delivery){.message = &news->message});
    else
        message_free(&news->message);
}

void store_receive(struct message *message)
{
    struct sim_store *store = message->connection->store;

    if (!store) {
        message_free(message);
        return;
    }
    store->last_received_ns = now_of(store);
    if (message->zxid > store->seen_zxid)
        store->seen_zxid = message->zxid;
    switch (message->kind) {
    case MESSAGE_REPLY:
        receive_reply(store, (struct request *)message);
        return;
    case MESSAGE_NEWS:
        receive_news(store, (struct watch_message *)message);
        return;
    case MESSAGE_GREETING:
        receive_greeting(store, (struct greeting *)message);
        break;
    case MESSAGE_CLOSED:
        store_lose_connection(store);
        break;
    default:
        break;
    }
    message_free(message);
}
