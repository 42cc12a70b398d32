/* The inside of the pocket ZooKeeper, for pocket*.c only. */
#ifndef ZKLOCK_TEST_POCKET_INTERNAL_H
#define ZKLOCK_TEST_POCKET_INTERNAL_H

#include "failure/pocket.h"

enum { POCKET_LATENCY_MS = 1, POCKET_OPS = ZKL_OP_FORGET_WATCH + 1 };

struct pocket_node {
    struct pocket_node *next;
    char *path;
    char *data;
    int data_size;
    int64_t owner; /* 0: not ephemeral */
    int64_t czxid;
    int64_t mzxid;
    int64_t pzxid; /* of the latest change among its children */
    int32_t version;
    int32_t counter; /* of its next sequential child */
};

/* A request on its way. */
struct pocket_sent {
    struct pocket_sent *next;
    enum zkl_op op;
    char *path;
    char *data;
    int data_size;
    char *replacement; /* REPLACE; else NULL */
    bool with_watch;
    char **paths;
    int path_count;
    bool has_version;
    int32_t version;
    zkl_reply_fn *on_reply;
    void *arg;
};

struct pocket_watch {
    struct pocket_watch *next;
    char *path;
    bool is_of_children;
    int64_t zxid; /* mzxid of the node when it was planted, or pzxid; 0: there was none */
};

struct zkl_store {
    struct zkl_store *next;
    uintptr_t number;   /* by which later happenings find it, if it is still open */
    int64_t session_id; /* 0: not connected yet */
    bool is_connected;
    struct zkl_store_sink sink;
    void *ctx;
    struct pocket_sent *first;
    struct pocket_sent **last;
    struct pocket_watch *watches;
};

struct pocket {
    struct zkl_store *stores;
    uintptr_t last_number;
    int64_t last_session_id;
    bool is_silent;
    bool is_broken[POCKET_OPS];
    enum pocket_fault faults[POCKET_OPS];
    const char *denied[POCKET_OPS];
};

extern struct pocket pocket;

/* The open store of this number; NULL: none. */
struct zkl_store *pocket_store(uintptr_t number);

/* pocket_tree.c */
void pocket_tree_clear(void);
struct pocket_node *pocket_find(const char *path);
bool pocket_has_parent(const char *path);
/* The parent is there. */
struct pocket_node *pocket_add(const char *path, const void *data, int data_size, int64_t owner);
/* These two tell the watchers. */
void pocket_remove(struct pocket_node *node);
void pocket_change(struct pocket_node *node, const void *data, int data_size);
void pocket_end_session(int64_t session_id);
/* Names of the children; the caller frees the array alone. */
const char **pocket_names(const char *parent, int *out_count);
struct zkl_stat pocket_stat(const struct pocket_node *node);

/* pocket_watch.c */
void pocket_plant_watch(struct zkl_store *store, const char *path, const struct pocket_node *node);
void pocket_plant_child_watch(struct zkl_store *store, const struct pocket_node *node);
/* Forgets those of this path that such an event uses up, which share one context; whether there was any. */
bool pocket_take_watches(struct zkl_store *store, const char *path, enum zkl_node_event event);
void pocket_clear_watches(struct zkl_store *store);
void pocket_tell_watchers(const char *path, enum zkl_node_event event);
/* What a client's SetWatches brings after a reconnect. */
void pocket_catch_up(struct zkl_store *store);

/* pocket_request.c */
struct pocket_sent *pocket_copy_request(const struct zkl_request *request, zkl_reply_fn *on_reply, void *arg);
void pocket_free_sent(struct pocket_sent *sent);
/* Answers all that is under way with "may or may not have been applied". */
void pocket_answer_unknown(struct zkl_store *store);
/* Serves the store's oldest request. */
void pocket_serve(struct zkl_store *store);

/* pocket.c */
void pocket_disconnect_store(struct zkl_store *store);

#endif
