/* zklock: a queue of ephemeral sequential nodes, each waiter watching the one ahead; a lease that ends before the
 * server's, and a fencing token. Source: include/zklock.h. */
#include "../lock.h"

#include <zklock.h>

#include <stdio.h>
#include <stdlib.h>

enum { PATIENCE_MS = 30000 };

struct ours {
    zklock_session *session;
    zklock *lock;
};

/* On the notifier thread. */
static void hear(zklock *lock, const zklock_event *event, void *arg)
{
    (void)lock;
    (void)arg;
    if (event->kind == ZKLOCK_EVENT_LOST)
        lab_tell_lost(zklock_loss_text(event->loss));
    else if (event->kind == ZKLOCK_EVENT_ENDED && event->status == ZKLOCK_OK)
        lab_point("between");
}

static void *open_ours(const struct lab_place *place)
{
    struct ours *ours = lab_alloc(sizeof(*ours));
    zklock_session_options session_options;
    zklock_options options;
    char path[128];

    zklock_session_options_init(&session_options);
    session_options.servers = place->servers;
    session_options.session_timeout_ms = (unsigned)place->ttl_ms;
    zklock_options_init(&options);
    options.on_event = hear;
    snprintf(path, sizeof(path), "/lab/%s", place->name);
    if (zklock_session_open(&session_options, &ours->session) == ZKLOCK_OK &&
        zklock_new(ours->session, path, &options, &ours->lock) == ZKLOCK_OK &&
        zklock_session_wait_connected(ours->session, PATIENCE_MS) == ZKLOCK_OK)
        return ours;
    zklock_free(ours->lock);
    zklock_session_close(ours->session, 0);
    free(ours);
    return NULL;
}

static enum lab_result result_of(struct ours *ours, zklock_status status, uint64_t *out_token)
{
    lab_count_look();
    if (status == ZKLOCK_OK)
        return zklock_token(ours->lock, out_token) == ZKLOCK_OK ? LAB_OK : LAB_LOST;
    return status == ZKLOCK_BUSY || status == ZKLOCK_TIMEOUT ? LAB_BUSY : LAB_FAILED;
}

static enum lab_result try_ours(void *lock, uint64_t *out_token)
{
    struct ours *ours = lock;

    return result_of(ours, zklock_try(ours->lock, PATIENCE_MS), out_token);
}

static enum lab_result acquire_ours(void *lock, int limit_ms, uint64_t *out_token)
{
    struct ours *ours = lock;

    return result_of(ours, zklock_acquire(ours->lock, limit_ms), out_token);
}

static enum lab_result release_ours(void *lock)
{
    struct ours *ours = lock;
    zklock_status status = zklock_release(ours->lock, PATIENCE_MS);

    return status == ZKLOCK_OK ? LAB_OK : status == ZKLOCK_LOST ? LAB_LOST : LAB_FAILED;
}

static void close_ours(void *lock)
{
    struct ours *ours = lock;

    zklock_free(ours->lock);
    zklock_session_close(ours->session, PATIENCE_MS);
    free(ours);
}

const struct lab_kind lab_zklock = {"zklock", open_ours, try_ours, acquire_ours, release_ours, close_ours, NULL};
