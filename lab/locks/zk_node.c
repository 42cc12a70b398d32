/* ZooKeeper without a sequence: one ephemeral node is the lock, and everybody who waits watches it: when it goes, all
 * wake up, all ask, one gets it. Source: the first lock of many articles, and what "Recipes and Solutions" of
 * ZooKeeper's own manual calls the herd effect. The holder is told when the client hears that its session expired,
 * which a cut-off client does not. No token. */
#include "../lock.h"

#include <zookeeper/zookeeper.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_MS = 30000, RETRY_MS = 50 };

struct node_lock {
    zhandle_t *handle;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_connected, is_gone; /* gone: since the last look the node may have gone */
    char path[128];
};

static void note(struct node_lock *node, bool *flag, bool value)
{
    pthread_mutex_lock(&node->mutex);
    *flag = value;
    pthread_cond_broadcast(&node->changed);
    pthread_mutex_unlock(&node->mutex);
}

/* On the client's completion thread. */
static void watch_session(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    struct node_lock *node = context;

    (void)handle;
    (void)path;
    if (type != ZOO_SESSION_EVENT)
        return;
    note(node, &node->is_connected, state == ZOO_CONNECTED_STATE);
    if (state == ZOO_EXPIRED_SESSION_STATE)
        lab_tell_lost("session expired");
}

static void watch_node(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    struct node_lock *node = context;

    (void)handle;
    (void)state;
    (void)path;
    if (type != ZOO_SESSION_EVENT)
        note(node, &node->is_gone, true);
}

static bool wait_until(struct node_lock *node, const bool *flag, int64_t end_ms)
{
    struct timespec until = {end_ms / 1000, end_ms % 1000 * 1000000};
    bool is_so;

    pthread_mutex_lock(&node->mutex);
    while (!*flag && pthread_cond_timedwait(&node->changed, &node->mutex, &until) == 0)
        continue;
    is_so = *flag;
    pthread_mutex_unlock(&node->mutex);
    return is_so;
}

static void *open_node(const struct lab_place *place)
{
    struct node_lock *node = lab_alloc(sizeof(*node));
    pthread_condattr_t attributes;

    pthread_mutex_init(&node->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&node->changed, &attributes);
    snprintf(node->path, sizeof(node->path), "/lab-%s", place->name);
    zoo_set_debug_level(0);
    node->handle = zookeeper_init(place->servers, watch_session, place->ttl_ms, NULL, node, 0);
    if (node->handle && wait_until(node, &node->is_connected, lab_now_ms() + PATIENCE_MS))
        return node;
    free(node);
    return NULL;
}

static enum lab_result try_node(void *lock, uint64_t *out_token)
{
    struct node_lock *node = lock;
    int code;

    *out_token = 0;
    lab_count_look();
    code = zoo_create(node->handle, node->path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0);
    if (code == ZOK)
        lab_point("between");
    return code == ZOK ? LAB_OK : code == ZNODEEXISTS ? LAB_BUSY : LAB_FAILED;
}

static enum lab_result acquire_node(void *lock, int limit_ms, uint64_t *out_token)
{
    struct node_lock *node = lock;
    int64_t end_ms = lab_now_ms() + limit_ms;
    enum lab_result result;

    while ((result = try_node(lock, out_token)) != LAB_OK && lab_now_ms() < end_ms) {
        int code;

        note(node, &node->is_gone, false);
        code = zoo_wexists(node->handle, node->path, watch_node, node, NULL);
        if (code == ZOK)
            wait_until(node, &node->is_gone, end_ms);
        else if (code != ZNONODE)
            lab_sleep_ms(RETRY_MS);
    }
    return result;
}

static enum lab_result release_node(void *lock)
{
    struct node_lock *node = lock;
    int code = zoo_delete(node->handle, node->path, -1);

    return code == ZOK ? LAB_OK : code == ZNONODE ? LAB_LOST : LAB_FAILED;
}

static void close_node(void *lock)
{
    struct node_lock *node = lock;

    zookeeper_close(node->handle);
    pthread_cond_destroy(&node->changed);
    pthread_mutex_destroy(&node->mutex);
    free(node);
}

const struct lab_kind lab_zk_node = {"zk-node", open_node, try_node, acquire_node, release_node, close_node, NULL};
