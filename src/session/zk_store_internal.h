/* What the parts of the libzookeeper store share. No zookeeper.h here: its types appear by their tags only. */
#ifndef ZKL_ZK_STORE_INTERNAL_H
#define ZKL_ZK_STORE_INTERNAL_H

#include <pthread.h>

#include "session/address.h"
#include "session/servers.h"
#include "session/store.h"

struct _zhandle;
struct zoo_op_result;
struct Stat;
struct ACL_vector;

/*
 * An accepted request without an answer. libzookeeper gets it as the completion's data; whoever takes it out of its
 * store's list answers it, so that there is one answer whatever libzookeeper does.
 */
struct zkl_pending {
    struct zkl_pending *next;
    struct zkl_pending *previous;
    struct zkl_store *store;
    zkl_reply_fn *on_reply;
    void *arg;
    struct zoo_op_result *results; /* CHECK, REPLACE: libzookeeper writes here just before its completion */
    int result_count;
    struct Stat *set_stat;         /* a SET with checks: here, too */
};

struct zkl_store {
    pthread_mutex_t mutex; /* the innermost of zklock's locks, and never held while libzookeeper is called */
    pthread_cond_t is_quiet;
    struct _zhandle *handle;
    struct zkl_pending pendings; /* the list's head; only its links are used */
    int pending_count;
    int calls_inside; /* submits that are in libzookeeper now: close waits for them */
    bool is_closing;
    bool is_retired; /* another store goes on with the session */

    struct zkl_credentials credentials; /* until libzookeeper has them */
    bool must_authenticate;
    zklock_acl acl;
    struct zkl_store_sink sink;
    void *ctx;
    struct zkl_address peers[ZKL_SERVERS_MAX + 1];
    int peer_count;
};

/* @locks all of these take the store's mutex */

/* Books a request and lets the caller into libzookeeper; NULL when closing, full, or out of memory. */
struct zkl_pending *zkl_pending_enter(struct zkl_store *store, zkl_reply_fn *on_reply, void *arg);
/* The caller is back from libzookeeper. The pending may be gone by then, so that it is no parameter. */
void zkl_pending_leave(struct zkl_store *store);
/* Takes a request back that libzookeeper refused: it gets no answer. */
void zkl_pending_withdraw(struct zkl_pending *pending);
/* Answers a request and frees it. @thread the store's, or the closer's */
void zkl_pending_answer(struct zkl_pending *pending, const struct zkl_reply *reply);
/* Refuses new requests from now on, and waits until no submit is in libzookeeper any more. */
void zkl_pending_shut(struct zkl_store *store);
/* Answers all that is left. @thread the closer's, after libzookeeper has given up the handle */
void zkl_pending_fail_all(struct zkl_store *store, const struct zkl_reply *reply);

bool zkl_zk_store_submit(struct zkl_store *store, const struct zkl_request *request, zkl_reply_fn *on_reply,
                         void *arg);
/* The one watcher of a handle, for its state and for all nodes. The context is the store. */
void zkl_zk_store_watch(struct _zhandle *handle, int type, int state, const char *path, void *context);

/* Tells the sink, with what the handle knows of the session. @thread the store's */
void zkl_zk_store_report_connected(struct zkl_store *store);
/* Sends the credentials, and reports CONNECTED when the server has accepted them. @thread the store's */
void zkl_zk_store_authenticate(struct zkl_store *store, struct _zhandle *handle);
const struct ACL_vector *zkl_zk_store_acl(zklock_acl acl);

/* zk_store_retire.c */
bool zkl_zk_store_retire(struct zkl_store *store);
/* Waits until a retired store is sure not to be connected. May take seconds. @thread the closer's */
void zkl_zk_store_await_rest(struct zkl_store *store);

#endif
