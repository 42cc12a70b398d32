/* Watches of the pocket ZooKeeper, and their news on the way. */
#include <stdlib.h>
#include <string.h>

#include "failure/pocket_internal.h"
#include "failure/world.h"

struct news {
    uintptr_t store;
    enum zkl_node_event event;
    char *path;
};

static void deliver_news(void *arg)
{
    struct news *news = arg;
    struct zkl_store *store = pocket_store(news->store);

    if (store && store->is_connected)
        store->sink.on_node(store->ctx, news->event, news->path);
    free(news->path);
    free(news);
}

static void send_news(struct zkl_store *store, const char *path, enum zkl_node_event event)
{
    struct news *news = calloc(1, sizeof *news);

    *news = (struct news){store->number, event, strdup(path)};
    world_later(POCKET_LATENCY_MS, deliver_news, news);
}

static void free_watch(struct pocket_watch **at)
{
    struct pocket_watch *watch = *at;

    *at = watch->next;
    free(watch->path);
    free(watch);
}

static bool is_used_up(const struct pocket_watch *watch, enum zkl_node_event event)
{
    return event == ZKL_NODE_DELETED || watch->is_of_children == (event == ZKL_NODE_CHILDREN);
}

bool pocket_take_watches(struct zkl_store *store, const char *path, enum zkl_node_event event)
{
    bool is_any = false;

    for (struct pocket_watch **at = &store->watches; *at;) {
        if (strcmp((*at)->path, path) != 0 || !is_used_up(*at, event)) {
            at = &(*at)->next;
            continue;
        }
        free_watch(at);
        is_any = true;
    }
    return is_any;
}

void pocket_clear_watches(struct zkl_store *store)
{
    while (store->watches)
        free_watch(&store->watches);
}

/* Those of a store that is not connected stay for its reconnect. */
void pocket_tell_watchers(const char *path, enum zkl_node_event event)
{
    for (struct zkl_store *store = pocket.stores; store; store = store->next)
        if (store->is_connected && pocket_take_watches(store, path, event))
            send_news(store, path, event);
}

static void plant(struct zkl_store *store, const char *path, bool is_of_children, int64_t zxid)
{
    struct pocket_watch *watch = calloc(1, sizeof *watch);

    *watch = (struct pocket_watch){store->watches, strdup(path), is_of_children, zxid};
    store->watches = watch;
}

void pocket_plant_watch(struct zkl_store *store, const char *path, const struct pocket_node *node)
{
    plant(store, path, false, node ? node->mzxid : 0);
}

void pocket_plant_child_watch(struct zkl_store *store, const struct pocket_node *node)
{
    plant(store, node->path, true, node->pzxid);
}

static int64_t zxid_of(const struct pocket_watch *watch, const struct pocket_node *node)
{
    if (!node)
        return 0;
    return watch->is_of_children ? node->pzxid : node->mzxid;
}

static enum zkl_node_event missed_event(const struct pocket_watch *watch, const struct pocket_node *node)
{
    if (!node)
        return ZKL_NODE_DELETED;
    return watch->is_of_children ? ZKL_NODE_CHILDREN : ZKL_NODE_CHANGED;
}

void pocket_catch_up(struct zkl_store *store)
{
    for (struct pocket_watch **at = &store->watches; *at;) {
        const struct pocket_node *node = pocket_find((*at)->path);

        if (zxid_of(*at, node) == (*at)->zxid) {
            at = &(*at)->next;
            continue;
        }
        send_news(store, (*at)->path, missed_event(*at, node));
        free_watch(at);
    }
}
