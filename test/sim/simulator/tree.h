/*
 * The znodes, with their past: a node says when it came and when it went, so that each server of an ensemble can be
 * asked for what it had applied at some zxid. What nobody can see any more is freed.
 */
#ifndef SIMULATOR_TREE_H
#define SIMULATOR_TREE_H

#include "world.h"

struct connection;
struct zk_session;

/* Who deleted a node. */
enum removal { REMOVED_BY_OWNER, REMOVED_BY_EXPIRY, REMOVED_BY_OPERATOR, REMOVED_AS_EMPTY, REMOVED_FOR_ANOTHER };

/* What of a node's data can matter here: the limit of a semaphore. */
#define DATA_SIZE 64

/* A watch: one server tells one connection of one node. */
struct watch {
    struct znode *node;
    bool is_of_children; /* else of its data */
    struct connection *connection;
    struct watch *next_of_node;
    struct watch **at_node;
    struct watch *next_of_connection;
    struct watch **at_connection;
    int64_t for_czxid; /* of the contender that it was planted for; 0: not known */
};

struct znode {
    struct znode *next_of_hash;
    struct znode *parent;
    struct znode *first_child; /* in the order of their creation, those that went included */
    struct znode *last_child;
    struct znode *next; /* among the parent's children */
    struct znode *previous;
    int child_count; /* without those that went */
    struct zk_session *owner;
    struct znode *next_owned;
    struct znode *previous_owned;
    struct watch *watches;
    int64_t czxid;
    int64_t dzxid; /* NEVER: it is there */
    int64_t mzxid;
    int64_t pzxid;           /* when a child came or went last */
    int32_t version;
    char data[DATA_SIZE];    /* since `mzxid`; "": none */
    char old_data[DATA_SIZE]; /* before it */
    int32_t counter;         /* of children made, as committed: the next sequence number */
    int32_t pending_counter; /* as the leader sees it while changes of children are on their way */
    int pending_changes;
    bool is_container;
    enum removal removal;
    uint32_t hash;
    const char *name; /* the end of `path` */
    char path[];
};

struct tree {
    struct znode **chains;
    size_t chain_count; /* a power of two */
    size_t node_count;
    struct znode *root;
};

/* A zxid that is later than all. */
#define LATEST (NEVER - 1)

void tree_init(struct tree *tree);
void tree_clear(struct tree *tree);

/* The node that somebody sees who has applied everything up to `zxid`; NULL: none. */
struct znode *tree_find(const struct tree *tree, const char *path, int64_t zxid);
static inline bool tree_is_seen(const struct znode *node, int64_t zxid)
{
    return node->czxid <= zxid && zxid < node->dzxid;
}

struct znode *tree_add(struct tree *tree, struct znode *parent, const char *path, int64_t zxid);
/* From `zxid` on the node is not there. */
void tree_remove(struct znode *node, int64_t zxid);
/* Takes a removal back. */
void tree_restore(struct znode *node);
/* Forgets a node that nobody can see. */
void tree_free(struct tree *tree, struct znode *node);

/* NULL: there was one. */
struct watch *watch_add(struct znode *node, struct connection *connection, bool is_of_children,
                        struct watch **connections_watches);
void watch_free(struct watch *watch);

#endif
