#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "sessions.h"

static uint32_t hash_of(const char *path)
{
    uint64_t hash = 0;
    size_t size = strlen(path);

    for (; size >= 8; size -= 8, path += 8) {
        uint64_t word;
        memcpy(&word, path, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (; size > 0; size--, path++)
        hash = (hash ^ (unsigned char)*path) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static struct znode **chain_of(const struct tree *tree, uint32_t hash)
{
    return &tree->chains[hash & (tree->chain_count - 1)];
}

static void resize(struct tree *tree, size_t chain_count)
{
    struct tree old = *tree;

    tree->chains = must_have(calloc(chain_count, sizeof *tree->chains));
    tree->chain_count = chain_count;
    for (size_t i = 0; i < old.chain_count; i++) {
        struct znode *next;
        for (struct znode *node = old.chains[i]; node; node = next) {
            struct znode **chain = chain_of(tree, node->hash);
            next = node->next_of_hash;
            node->next_of_hash = *chain;
            *chain = node;
        }
    }
    free(old.chains);
}

static struct znode *new_node(struct tree *tree, const char *path, int64_t zxid)
{
    size_t size = strlen(path);
    struct znode *node = must_have(calloc(1, sizeof *node + size + 1));
    struct znode **chain;

    memcpy(node->path, path, size + 1);
    node->name = strrchr(node->path, '/') + 1;
    node->hash = hash_of(path);
    node->czxid = node->mzxid = zxid;
    node->dzxid = NEVER;
    if (++tree->node_count > tree->chain_count)
        resize(tree, tree->chain_count * 2);
    chain = chain_of(tree, node->hash);
    node->next_of_hash = *chain;
    *chain = node;
    return node;
}

void tree_init(struct tree *tree)
{
    memset(tree, 0, sizeof *tree);
    resize(tree, 256);
    tree->root = new_node(tree, "/", 0);
}

void tree_clear(struct tree *tree)
{
    for (size_t i = 0; i < tree->chain_count; i++) {
        while (tree->chains[i]) {
            struct znode *node = tree->chains[i];
            tree->chains[i] = node->next_of_hash;
            while (node->watches)
                watch_free(node->watches);
            free(node);
        }
    }
    free(tree->chains);
}

struct znode *tree_find(const struct tree *tree, const char *path, int64_t zxid)
{
    uint32_t hash = hash_of(path);

    for (struct znode *node = *chain_of(tree, hash); node; node = node->next_of_hash)
        if (node->hash == hash && tree_is_seen(node, zxid) && strcmp(node->path, path) == 0)
            return node;
    return NULL;
}

struct znode *tree_add(struct tree *tree, struct znode *parent, const char *path, int64_t zxid)
{
    struct znode *node = new_node(tree, path, zxid);

    node->parent = parent;
    node->previous = parent->last_child;
    if (parent->last_child)
        parent->last_child->next = node;
    else
        parent->first_child = node;
    parent->last_child = node;
    parent->child_count++;
    parent->pzxid = zxid;
    return node;
}

void tree_remove(struct znode *node, int64_t zxid)
{
    node->dzxid = zxid;
    node->parent->child_count--;
    node->parent->pzxid = zxid;
}

void tree_restore(struct znode *node)
{
    node->dzxid = NEVER;
    node->parent->child_count++;
}

void tree_free(struct tree *tree, struct znode *node)
{
    struct znode **at = chain_of(tree, node->hash);

    while (*at != node)
        at = &(*at)->next_of_hash;
    *at = node->next_of_hash;
    tree->node_count--;
    if (node->previous)
        node->previous->next = node->next;
    else
        node->parent->first_child = node->next;
    if (node->next)
        node->next->previous = node->previous;
    else
        node->parent->last_child = node->previous;
    if (node->owner)
        session_disown(node);
    while (node->watches)
        watch_free(node->watches);
    free(node);
}

/* ---------------------------------------------------------------- watches */

struct watch *watch_add(struct znode *node, struct connection *connection, bool is_of_children,
                        struct watch **connections_watches)
{
    for (struct watch *watch = node->watches; watch; watch = watch->next_of_node)
        if (watch->connection == connection && watch->is_of_children == is_of_children)
            return NULL;
    struct watch *watch = must_have(malloc(sizeof *watch));
    *watch = (struct watch){.node = node,
                            .connection = connection,
                            .is_of_children = is_of_children,
                            .next_of_node = node->watches,
                            .at_node = &node->watches,
                            .next_of_connection = *connections_watches,
                            .at_connection = connections_watches};
    if (node->watches)
        node->watches->at_node = &watch->next_of_node;
    if (*connections_watches)
        (*connections_watches)->at_connection = &watch->next_of_connection;
    node->watches = watch;
    *connections_watches = watch;
    return watch;
}

void watch_free(struct watch *watch)
{
    *watch->at_node = watch->next_of_node;
    if (watch->next_of_node)
        watch->next_of_node->at_node = watch->at_node;
    *watch->at_connection = watch->next_of_connection;
    if (watch->next_of_connection)
        watch->next_of_connection->at_connection = watch->at_connection;
    free(watch);
}
