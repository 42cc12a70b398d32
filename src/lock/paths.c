/* Which paths have contenders: the whole tree below one, level by level. */
#include <stdlib.h>
#include <string.h>

#include "lock/question.h"
#include "recipe/name.h"
#include "session/path.h"
#include "zklock.h"

/* Directories asked for at once. */
#define BATCH 64

struct names {
    char **items;
    size_t count;
    size_t capacity;
};

/* What is found, with the paths that are still to be looked at. */
struct walk {
    zklock_paths public;
    struct names found;
    struct names semaphores; /* with a lease below them */
    struct names ahead;
    size_t next;      /* of `ahead` */
    size_t cut;       /* bytes of the chroot in front of each path */
};

static void clear_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct names){0};
}

void zklock_paths_free(zklock_paths *paths)
{
    struct walk *walk = (struct walk *)paths;

    if (!walk)
        return;
    clear_names(&walk->found);
    clear_names(&walk->semaphores);
    clear_names(&walk->ahead);
    free(walk);
}

/* Takes `path` over, also when it is NULL or there is no memory: then it says false. */
static bool add_name(struct names *names, char *path)
{
    if (path && names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 64;
        char **items = realloc(names->items, capacity * sizeof *items);
        if (items) {
            names->items = items;
            names->capacity = capacity;
        }
    }
    if (!path || names->count == names->capacity) {
        free(path);
        return false;
    }
    names->items[names->count++] = path;
    return true;
}

/* ZooKeeper's own directory is nobody's lock. */
static bool is_own_of_server(const char *path)
{
    return strcmp(path, "/zookeeper") == 0;
}

/* Whether the last component of `path` is `name`. */
static bool ends_with(const char *path, const char *name)
{
    return strcmp(strrchr(path, '/') + 1, name) == 0;
}

/* `path` without its last component. NULL: no memory. */
static char *parent_of(const char *path)
{
    size_t size = (size_t)(strrchr(path, '/') - path);

    return size > 0 ? strndup(path, size) : strdup("/");
}

/* Contenders make their directory a lock, and the leases of a semaphore the one above theirs; all else may be a directory
 * of locks. False: no memory. */
static bool take_children(struct walk *walk, const char *path, const struct zkl_asked *list)
{
    bool has_contender = false;
    bool has_lease = false;

    for (int i = 0; i < list->child_count; i++) {
        struct zkl_name name = zkl_name_parse(list->children[i]);
        has_contender |= zkl_name_is_contender(name);
        has_lease |= name.kind == ZKL_KIND_LEASE;
        if (name.kind != ZKL_KIND_FOREIGN)
            continue;
        char *child = zkl_path_join(path, list->children[i]);
        if (child && is_own_of_server(child))
            free(child);
        else if (!add_name(&walk->ahead, child))
            return false;
    }
    const char *shown = path + walk->cut;
    if (has_lease && *shown && ends_with(shown, "leases") && !add_name(&walk->semaphores, parent_of(shown)))
        return false;
    if (!has_contender)
        return true;
    return add_name(&walk->found, strdup(*shown ? shown : "/"));
}

/* PENDING: this answer is missing. */
static zklock_status take_answer(struct walk *walk, const char *path, const struct zkl_asked *asked)
{
    if (!asked || asked->code == ZKL_CODE_UNKNOWN)
        return ZKLOCK_PENDING;
    if (asked->code == ZKL_CODE_NO_AUTH)
        walk->public.denied_count++;
    if (asked->code != ZKL_CODE_OK)
        return ZKLOCK_OK;
    return take_children(walk, path, asked) ? ZKLOCK_OK : ZKLOCK_NO_MEMORY;
}

/* One batch; the first answer that is missing ends it, and the next one begins there. */
static zklock_status list_batch(struct zkl_query *query, struct walk *walk)
{
    struct zkl_asked *asked[BATCH] = {NULL};
    size_t first = walk->next;
    size_t count = walk->ahead.count - first < BATCH ? walk->ahead.count - first : BATCH;
    zklock_status status = zkl_query_connect(query);

    for (size_t i = 0; i < count && status == ZKLOCK_OK; i++) {
        struct zkl_request list = {.op = ZKL_OP_LIST, .path = walk->ahead.items[first + i]};
        asked[i] = zkl_query_send(query, &list);
    }
    if (status == ZKLOCK_OK)
        status = zkl_query_settle(query);
    for (size_t i = 0; i < count; i++) {
        if (status == ZKLOCK_OK)
            status = take_answer(walk, walk->ahead.items[first + i], asked[i]);
        if (status == ZKLOCK_OK)
            walk->next++;
        zkl_asked_free(asked[i]);
    }
    return status;
}

static zklock_status walk_on(struct zkl_query *query, const char *path, void *context)
{
    struct walk *walk = context;
    zklock_status status = ZKLOCK_OK;

    if (walk->ahead.count == 0) {
        walk->cut = strlen(zkl_session_chroot(query->session));
        if (!add_name(&walk->ahead, strdup(path)))
            return ZKLOCK_NO_MEMORY;
    }
    while (status == ZKLOCK_OK && walk->next < walk->ahead.count)
        status = list_batch(query, walk);
    return status;
}

static int compare_paths(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool has_semaphore(const struct walk *walk, const char *path)
{
    for (size_t i = 0; i < walk->semaphores.count; i++)
        if (strcmp(walk->semaphores.items[i], path) == 0)
            return true;
    return false;
}

/* The guard of a semaphore is no lock of its own, and the semaphore stands for both of its directories. False: no memory. */
static bool take_semaphores(struct walk *walk)
{
    struct names *found = &walk->found;
    size_t kept = 0;

    for (size_t i = 0; i < found->count; i++) {
        char *path = found->items[i];
        char *parent = ends_with(path, "locks") ? parent_of(path) : NULL;
        bool is_guard = parent && has_semaphore(walk, parent);
        free(parent);
        if (is_guard)
            free(path);
        else
            found->items[kept++] = path;
    }
    found->count = kept;
    for (size_t i = 0; i < walk->semaphores.count; i++)
        if (!add_name(found, strdup(walk->semaphores.items[i])))
            return false;
    return true;
}

/* Of what is in order: a semaphore at whose path a lock's contenders stand is one path. */
static void drop_doubles(struct names *names)
{
    size_t kept = 0;

    for (size_t i = 0; i < names->count; i++) {
        if (kept > 0 && strcmp(names->items[kept - 1], names->items[i]) == 0)
            free(names->items[i]);
        else
            names->items[kept++] = names->items[i];
    }
    names->count = kept;
}

zklock_status zklock_paths_read(zklock_session *session, const char *path, int64_t timeout_ms,
                                zklock_paths **out_paths)
{
    struct walk *walk = out_paths ? calloc(1, sizeof *walk) : NULL;
    struct zkl_question question = {.path = path, .once = walk_on, .context = walk, .root_is_meant = true};

    if (!walk)
        return out_paths ? ZKLOCK_NO_MEMORY : ZKLOCK_BAD_ARGUMENT;
    zklock_status status = zkl_question_ask(session, &question, timeout_ms);
    if (status == ZKLOCK_OK && !take_semaphores(walk))
        status = ZKLOCK_NO_MEMORY;
    if (status != ZKLOCK_OK) {
        zklock_paths_free(&walk->public);
        return status;
    }
    if (walk->found.count > 0)
        qsort(walk->found.items, walk->found.count, sizeof(char *), compare_paths);
    drop_doubles(&walk->found);
    walk->public.items = (const char *const *)walk->found.items;
    walk->public.count = walk->found.count;
    *out_paths = &walk->public;
    return ZKLOCK_OK;
}
