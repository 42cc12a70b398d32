#include "failure/pocket_internal.h"

#include <stdlib.h>
#include <string.h>

#include "failure/world.h"

static struct pocket_node *nodes; /* the newest first */
static int64_t zxid;

static void free_node(struct pocket_node *node)
{
    free(node->path);
    free(node->data);
    free(node);
}

void pocket_tree_clear(void)
{
    while (nodes) {
        struct pocket_node *node = nodes;
        nodes = node->next;
        free_node(node);
    }
    zxid = 0;
}

struct pocket_node *pocket_find(const char *path)
{
    for (struct pocket_node *node = nodes; node; node = node->next)
        if (strcmp(node->path, path) == 0)
            return node;
    return NULL;
}

/* The parent's path; the caller frees it. "" for the root. */
static char *parent_of(const char *path)
{
    return strndup(path, (size_t)(strrchr(path, '/') - path));
}

bool pocket_has_parent(const char *path)
{
    char *parent = parent_of(path);
    bool has_parent = parent[0] == '\0' || pocket_find(parent);

    free(parent);
    return has_parent;
}

/* Something was made or deleted below it. */
static void touch_parent(const char *path)
{
    char *parent = parent_of(path);
    struct pocket_node *node = pocket_find(parent);

    if (node) {
        node->pzxid = zxid;
        pocket_tell_watchers(parent, ZKL_NODE_CHILDREN);
    }
    free(parent);
}

struct pocket_node *pocket_add(const char *path, const void *data, int data_size, int64_t owner)
{
    struct pocket_node *node = calloc(1, sizeof *node);

    node->path = strdup(path);
    node->data = data_size > 0 ? memcpy(malloc((size_t)data_size), data, (size_t)data_size) : NULL;
    node->data_size = data_size;
    node->owner = owner;
    node->czxid = ++zxid;
    node->mzxid = zxid;
    node->pzxid = zxid;
    node->next = nodes;
    nodes = node;
    touch_parent(path);
    return node;
}

void pocket_remove(struct pocket_node *node)
{
    struct pocket_node **at = &nodes;

    while (*at != node)
        at = &(*at)->next;
    *at = node->next;
    zxid++;
    pocket_tell_watchers(node->path, ZKL_NODE_DELETED);
    touch_parent(node->path);
    free_node(node);
}

void pocket_change(struct pocket_node *node, const void *data, int data_size)
{
    free(node->data);
    node->data = data_size > 0 ? memcpy(malloc((size_t)data_size), data, (size_t)data_size) : NULL;
    node->data_size = data_size;
    node->mzxid = ++zxid;
    node->version++;
    pocket_tell_watchers(node->path, ZKL_NODE_CHANGED);
}

static struct pocket_node *find_owned(int64_t owner)
{
    for (struct pocket_node *node = nodes; node; node = node->next)
        if (node->owner == owner)
            return node;
    return NULL;
}

void pocket_end_session(int64_t session_id)
{
    struct pocket_node *node;

    while (session_id != 0 && (node = find_owned(session_id)))
        pocket_remove(node);
}

static bool is_child(const struct pocket_node *node, const char *parent)
{
    size_t size = strlen(parent);

    return strncmp(node->path, parent, size) == 0 && node->path[size] == '/' && !strchr(node->path + size + 1, '/');
}

const char **pocket_names(const char *parent, int *out_count)
{
    int count = 0;

    for (struct pocket_node *node = nodes; node; node = node->next)
        count += is_child(node, parent);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    *out_count = 0;
    for (struct pocket_node *node = nodes; node; node = node->next)
        if (is_child(node, parent))
            names[(*out_count)++] = node->path + strlen(parent) + 1;
    return names;
}

static int32_t count_children(const struct pocket_node *parent)
{
    int32_t count = 0;

    for (const struct pocket_node *node = nodes; node; node = node->next)
        count += is_child(node, parent->path);
    return count;
}

struct zkl_stat pocket_stat(const struct pocket_node *node)
{
    return (struct zkl_stat){
        .czxid = node->czxid,
        .ctime_ms = world_now_ns() / ZKL_NS_PER_MS,
        .owner = node->owner,
        .version = node->version,
        .created_children = node->counter,
        .present_children = count_children(node),
    };
}

/* ---------------------------------------------------------------- from outside */

void pocket_create(const char *path)
{
    if (pocket_find(path))
        return;
    char *parent = parent_of(path);
    if (parent[0] != '\0')
        pocket_create(parent);
    free(parent);
    pocket_add(path, "{}", 2, 0);
}

void pocket_delete(const char *path)
{
    struct pocket_node *node = pocket_find(path);

    if (node)
        pocket_remove(node);
}

void pocket_set(const char *path, const char *data)
{
    struct pocket_node *node = pocket_find(path);

    if (node)
        pocket_change(node, data, (int)strlen(data));
}

bool pocket_exists(const char *path)
{
    return pocket_find(path) != NULL;
}

int pocket_children(const char *parent)
{
    int count;

    free(pocket_names(parent, &count));
    return count;
}

int pocket_own_children(const char *parent)
{
    int count = 0;

    for (struct pocket_node *node = nodes; node; node = node->next)
        count += node->owner != 0 && is_child(node, parent);
    return count;
}

void pocket_set_counter(const char *parent, int32_t number)
{
    struct pocket_node *node = pocket_find(parent);

    if (node)
        node->counter = number;
}

int64_t pocket_czxid(const char *path)
{
    const struct pocket_node *node = pocket_find(path);

    return node ? node->czxid : 0;
}
