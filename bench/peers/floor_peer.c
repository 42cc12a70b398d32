/*
 * What ZooKeeper asks of any lock, by libzookeeper's own synchronous calls: to take is one create, to release is one
 * delete, and who waits is told by the watch on the other's node. It is no lock: nobody is in a queue.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "peer.h"

/* As long as what locks write about their owner. */
static const char payload[] = "{\"v\":1,\"host\":\"0123456789ab\",\"pid\":12345,\"user\":\"somebody\",\"label\":\"bench\","
                              "\"start_ms\":1234567890123,\"version\":\"0.0.0\",\"style\":\"none\"}";

struct own_session {
    zhandle_t *handle;
    sem_t is_connected;
};

struct own_lock {
    struct own_session *session;
    char *path;
    bool is_holder;
    sem_t is_free;
};

static void must(int code, const char *what)
{
    if (code != ZOK)
        peer_fail("%s: %s", what, zerror(code));
}

static void on_state(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    struct own_session *session = context;

    (void)handle;
    (void)path;
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE)
        sem_post(&session->is_connected);
}

static void *open_session(const char *servers, unsigned timeout_ms)
{
    struct own_session *session = calloc(1, sizeof *session);

    if (!session)
        peer_fail("out of memory");
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    sem_init(&session->is_connected, 0, 0);
    session->handle = zookeeper_init2(servers, on_state, (int)timeout_ms, NULL, session, ZOO_NO_LOG_CLIENTENV, NULL);
    if (!session->handle)
        peer_fail("cannot open a session");
    /* Without it libzookeeper looks the addresses up on every turn of its thread. */
    zoo_set_servers_resolution_delay(session->handle, -1);
    while (sem_wait(&session->is_connected) != 0)
        continue;
    return session;
}

static void close_session(void *given)
{
    struct own_session *session = given;

    zookeeper_close(session->handle);
    sem_destroy(&session->is_connected);
    free(session);
}

static void make_parents(zhandle_t *handle, const char *path)
{
    char *parent = strdup(path);

    if (!parent)
        peer_fail("out of memory");
    for (char *end = strchr(parent + 1, '/'); end; end = strchr(end + 1, '/')) {
        *end = '\0';
        int code = zoo_create(handle, parent, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0);
        if (code != ZNODEEXISTS)
            must(code, "create");
        *end = '/';
    }
    free(parent);
}

static void *new_lock(void *session, const char *path)
{
    struct own_lock *own = calloc(1, sizeof *own);

    if (!own || asprintf(&own->path, "%s/_c_00000000-0000-0000-0000-000000000000-lock-0000000000", path) < 0)
        peer_fail("out of memory");
    own->session = session;
    sem_init(&own->is_free, 0, 0);
    make_parents(own->session->handle, own->path);
    return own;
}

static void on_event(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    struct own_lock *own = context;

    (void)handle;
    (void)state;
    (void)path;
    if (type == ZOO_DELETED_EVENT)
        sem_post(&own->is_free);
}

static void acquire(void *lock)
{
    struct own_lock *own = lock;
    char data[sizeof payload];
    int size = sizeof data;
    int code = zoo_create(own->session->handle, own->path, payload, (int)sizeof payload - 1, &ZOO_OPEN_ACL_UNSAFE,
                          ZOO_EPHEMERAL, NULL, 0);

    own->is_holder = code == ZOK;
    if (own->is_holder)
        return;
    if (code != ZNODEEXISTS)
        must(code, "create");
    code = zoo_wget(own->session->handle, own->path, on_event, own, data, &size, NULL);
    if (code == ZNONODE)
        return; /* it became free just now */
    must(code, "get");
    while (sem_wait(&own->is_free) != 0)
        continue;
}

static void ignore(int code, const void *data)
{
    (void)code;
    (void)data;
}

static void release(void *lock, bool is_sent)
{
    struct own_lock *own = lock;

    if (!own->is_holder)
        return;
    own->is_holder = false;
    if (is_sent)
        must(zoo_adelete(own->session->handle, own->path, -1, ignore, NULL), "delete");
    else
        must(zoo_delete(own->session->handle, own->path, -1), "delete");
}

static void free_lock(void *lock)
{
    struct own_lock *own = lock;

    release(lock, false);
    sem_destroy(&own->is_free);
    free(own->path);
    free(own);
}

static void count_answer(int code, const struct Stat *stat, const void *data)
{
    (void)stat;
    must(code, "set");
    sem_post((sem_t *)data);
}

/* As much is under way as keeps the server busy. */
static void write_many(void *given, const char *path, long count)
{
    struct own_session *session = given;
    sem_t rest;
    enum { UNDER_WAY = 500 };

    sem_init(&rest, 0, UNDER_WAY);
    int code = zoo_create(session->handle, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0);
    if (code != ZNODEEXISTS)
        must(code, "create");
    for (long i = 0; i < count + UNDER_WAY; i++) {
        while (sem_wait(&rest) != 0)
            continue;
        if (i < count)
            must(zoo_aset(session->handle, path, payload, (int)sizeof payload - 1, -1, count_answer, &rest), "set");
    }
    sem_destroy(&rest);
}

int main(int argc, char **argv)
{
    static const struct peer peer = {
        .open = open_session,
        .close = close_session,
        .lock_new = new_lock,
        .lock_free = free_lock,
        .acquire = acquire,
        .release = release,
        .write_many = write_many,
        .can_send = true,
        .can_wait = true,
    };

    return peer_main(argc, argv, &peer);
}
