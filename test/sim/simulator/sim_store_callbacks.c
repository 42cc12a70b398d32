/* What a store tells its owner, and what that watches. */
#include <stdlib.h>
#include <string.h>

#include "sim_store_internal.h"

/* ---------------------------------------------------------------- what is watched */

void store_watch(struct sim_store *store, const char *path, bool is_of_children)
{
    for (struct watched *watched = store->watched; watched; watched = watched->next)
        if (watched->is_of_children == is_of_children && strcmp(watched->path, path) == 0)
            return;
    struct watched *watched = must_have(malloc(sizeof *watched + strlen(path) + 1));
    strcpy(watched->path, path);
    watched->is_of_children = is_of_children;
    watched->next = store->watched;
    store->watched = watched;
}

bool store_unwatch(struct sim_store *store, const char *path, enum zkl_node_event event)
{
    bool was_watched = false;

    for (struct watched **at = &store->watched; *at;) {
        struct watched *watched = *at;
        bool is_meant = event == ZKL_NODE_DELETED || watched->is_of_children == (event == ZKL_NODE_CHILDREN);
        if (!is_meant || strcmp(watched->path, path) != 0) {
            at = &watched->next;
            continue;
        }
        *at = watched->next;
        free(watched);
        was_watched = true;
    }
    return was_watched;
}

void store_say_watched(struct sim_store *store)
{
    size_t size = sizeof(struct watch_message);
    int count = 0;

    for (struct watched *watched = store->watched; watched; watched = watched->next, count++)
        size += sizeof(char *) + 1 + strlen(watched->path) + 1;
    if (count == 0)
        return;
    struct watch_message *watches = message_new(size, MESSAGE_WATCHES);
    char *text = (char *)(watches->paths + count);
    for (struct watched *watched = store->watched; watched; watched = watched->next) {
        watches->paths[watches->count++] = text;
        if (watched->is_of_children)
            *text++ = CHILDREN_MARK;
        text = stpcpy(text, watched->path) + 1;
    }
    watches->message.zxid = store->seen_zxid;
    wire_send(store->connection, TO_SERVER, &watches->message);
}

/* ---------------------------------------------------------------- callbacks */

void store_answer(struct request *request, enum zkl_code code)
{
    struct zkl_reply reply = {
        .code = code,
        .path = request->created,
        .stat = request->stat,
        .data = request->data,
        .data_size = (int)strlen(request->data),
        .children = (const char *const *)request->children,
        .child_count = request->child_count,
        .failed_index = request->failed_index,
    };
    request->store = NULL;
    request->on_reply(request->arg, &reply);
    request_unref(request);
}

static void call_back(struct sim_store *store, struct delivery *delivery)
{
    struct message *message = delivery->message;

    if (delivery->lost) {
        store_answer(delivery->lost, ZKL_CODE_UNKNOWN);
    } else if (!message) {
        TRACE(world_of(store), "%s: %s", host_name(store->driver->host),
              (const char *[]){"connected", "disconnected", "expired", "failed"}[delivery->state]);
        store->sink.on_state(store->ctx, delivery->state, store->session ? store->session->id : 0,
                             (unsigned)(store->timeout_ns / MILLISECOND));
    } else if (message->kind == MESSAGE_NEWS) {
        struct watch_message *news = (struct watch_message *)message;
        store->sink.on_node(store->ctx, news->event, news->paths[0]);
        message_free(message);
    } else {
        struct request *request = (struct request *)message;
        store_answer(request, request->code);
        message_free(message);
    }
}

static bool is_stalled(const struct sim_store *store)
{
    return store->deliveries || now_of(store) < store->driver->stalled_until_ns;
}

static void drain(void *subject, void *detail)
{
    struct sim_store *store = subject;

    (void)detail;
    store->drain = NULL;
    while (store->deliveries && !store->is_closed) {
        struct delivery *delivery = store->deliveries;
        store->deliveries = delivery->next;
        if (!store->deliveries)
            store->deliveries_end = &store->deliveries;
        call_back(store, delivery);
        free(delivery);
    }
}

void store_deliver(struct sim_store *store, struct delivery delivery)
{
    if (!is_stalled(store)) {
        call_back(store, &delivery);
        return;
    }
    struct delivery *kept = must_have(malloc(sizeof *kept));
    *kept = delivery;
    kept->next = NULL;
    *store->deliveries_end = kept;
    store->deliveries_end = &kept->next;
    if (!store->drain)
        store->drain =
            world_post(&store->driver->host->actor, store->driver->stalled_until_ns, drain, store, NULL);
}
