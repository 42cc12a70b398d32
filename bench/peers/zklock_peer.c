/* zklock, by its public interface. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zklock.h>

#include "peer.h"

#define CONNECT_LIMIT_MS 30000

struct own_lock {
    zklock_session *session;
    char *path;
    zklock *lock;
    peer_granted_fn *on_granted;
    void *arg;
};

static void must(zklock_status status, const char *what, zklock *lock)
{
    char detail[256] = "";

    if (status == ZKLOCK_OK)
        return;
    if (lock)
        zklock_detail(lock, detail, sizeof detail);
    peer_fail("%s: %s %s", what, zklock_status_text(status), detail);
}

static void *open_session(const char *servers, unsigned timeout_ms)
{
    zklock_session_options options;
    zklock_session *session;

    zklock_session_options_init(&options);
    options.servers = servers;
    options.session_timeout_ms = timeout_ms;
    must(zklock_session_open(&options, &session), "open", NULL);
    must(zklock_session_wait_connected(session, CONNECT_LIMIT_MS), "connect", NULL);
    return session;
}

static void close_session(void *session)
{
    must(zklock_session_close(session, CONNECT_LIMIT_MS), "close", NULL);
}

static void on_event(zklock *lock, const zklock_event *event, void *arg)
{
    struct own_lock *own = arg;

    if (event->kind != ZKLOCK_EVENT_ENDED)
        return;
    must(event->status, "acquire", lock);
    own->on_granted(own->arg);
}

static zklock *make_lock(struct own_lock *own, bool is_told)
{
    zklock_options options;
    zklock *lock;

    zklock_options_init(&options);
    if (is_told) {
        options.on_event = on_event;
        options.event_arg = own;
    }
    must(zklock_new(own->session, own->path, &options, &lock), "new", NULL);
    return lock;
}

static void *new_lock(void *session, const char *path)
{
    struct own_lock *own = calloc(1, sizeof *own);

    if (!own || !(own->path = strdup(path)))
        peer_fail("out of memory");
    own->session = session;
    own->lock = make_lock(own, false);
    return own;
}

static void free_lock(void *lock)
{
    struct own_lock *own = lock;

    zklock_free(own->lock);
    free(own->path);
    free(own);
}

static void acquire(void *lock)
{
    struct own_lock *own = lock;

    must(zklock_acquire(own->lock, -1), "acquire", own->lock);
}

static void release(void *lock, bool is_sent)
{
    struct own_lock *own = lock;

    must(is_sent ? zklock_release_send(own->lock) : zklock_release(own->lock, -1), "release", own->lock);
}

static void start(void *lock, peer_granted_fn *on_granted, void *arg)
{
    struct own_lock *own = lock;

    /* Who blocks needs no callback, and pays for none. */
    if (!own->on_granted) {
        zklock_free(own->lock);
        own->lock = make_lock(own, true);
    }
    own->on_granted = on_granted;
    own->arg = arg;
    must(zklock_acquire_start(own->lock, -1), "acquire", own->lock);
}

static void wait_queued(void *lock)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    struct own_lock *own = lock;
    char name[64] = "";

    for (zklock_contender_name(own->lock, name, sizeof name); !name[0];
         zklock_contender_name(own->lock, name, sizeof name))
        nanosleep(&moment, NULL);
}

static void wait_held(void *lock)
{
    struct own_lock *own = lock;

    must(zklock_wait(own->lock), "acquire", own->lock);
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
        .start = start,
        .wait_queued = wait_queued,
        .wait_held = wait_held,
        .can_send = true,
        .can_wait = true,
        .can_queue = true,
    };

    return peer_main(argc, argv, &peer);
}
