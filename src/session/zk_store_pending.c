/*
 * The store's own table of requests. libzookeeper loses completions when a handle is closed, and never calls those of
 * requests that raced with the session's end; what it leaves here is answered after the close.
 */
#include "session/zk_store_internal.h"

#include <stdlib.h>

/*
 * Each call writes a byte into libzookeeper's pipe; when that is full, the caller's thread closes the connection. The
 * pipe holds 65536 bytes.
 */
#define PENDING_MAX 10000

/* @locks expects the store's mutex */
static void link_pending(struct zkl_store *store, struct zkl_pending *pending)
{
    pending->next = &store->pendings;
    pending->previous = store->pendings.previous;
    pending->previous->next = pending;
    store->pendings.previous = pending;
    store->pending_count++;
}

/* @locks expects the store's mutex */
static void unlink_pending(struct zkl_pending *pending)
{
    pending->previous->next = pending->next;
    pending->next->previous = pending->previous;
    pending->store->pending_count--;
}

static void free_pending(struct zkl_pending *pending)
{
    free(pending->results);
    free(pending->set_stat);
    free(pending);
}

struct zkl_pending *zkl_pending_enter(struct zkl_store *store, zkl_reply_fn *on_reply, void *arg)
{
    struct zkl_pending *pending = calloc(1, sizeof(*pending));
    bool is_open;

    if (!pending)
        return NULL;
    pending->store = store;
    pending->on_reply = on_reply;
    pending->arg = arg;

    pthread_mutex_lock(&store->mutex);
    is_open = store->handle && !store->is_closing && store->pending_count < PENDING_MAX;
    if (is_open) {
        link_pending(store, pending);
        store->calls_inside++;
    }
    pthread_mutex_unlock(&store->mutex);

    if (is_open)
        return pending;
    free_pending(pending);
    return NULL;
}

void zkl_pending_leave(struct zkl_store *store)
{
    pthread_mutex_lock(&store->mutex);
    if (--store->calls_inside == 0 && store->is_closing)
        pthread_cond_broadcast(&store->is_quiet);
    pthread_mutex_unlock(&store->mutex);
}

void zkl_pending_withdraw(struct zkl_pending *pending)
{
    struct zkl_store *store = pending->store;

    pthread_mutex_lock(&store->mutex);
    unlink_pending(pending);
    pthread_mutex_unlock(&store->mutex);
    free_pending(pending);
}

void zkl_pending_answer(struct zkl_pending *pending, const struct zkl_reply *reply)
{
    struct zkl_store *store = pending->store;

    pthread_mutex_lock(&store->mutex);
    unlink_pending(pending);
    pthread_mutex_unlock(&store->mutex);
    pending->on_reply(pending->arg, reply);
    free_pending(pending);
}

void zkl_pending_shut(struct zkl_store *store)
{
    pthread_mutex_lock(&store->mutex);
    store->is_closing = true;
    while (store->calls_inside > 0)
        pthread_cond_wait(&store->is_quiet, &store->mutex);
    pthread_mutex_unlock(&store->mutex);
}

/* The callback may free what the others belong to, but not the others themselves, so the list is walked from its head. */
void zkl_pending_fail_all(struct zkl_store *store, const struct zkl_reply *reply)
{
    while (store->pendings.next != &store->pendings)
        zkl_pending_answer(store->pendings.next, reply);
}
