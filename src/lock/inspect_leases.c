/* Semaphores, as inspecting calls see them: what stands in two directories is one queue. */
#include <stdlib.h>
#include <string.h>

#include "lock/inspect_leases.h"
#include "lock/limit.h"
#include "session/path.h"

#define LEASES "leases"
#define GUARDS "locks"
/* A limit may be changed without any news from the leases. */
#define LOOK_NS ZKL_NS_PER_S

/* What a semaphore consists of, asked for in one flight. */
struct parts {
    struct zkl_asked *limit;
    struct zkl_asked *leases;
    struct zkl_asked *guards;
};

static bool has_child(const struct zkl_asked *list, const char *name)
{
    for (int i = 0; i < list->child_count; i++)
        if (strcmp(list->children[i], name) == 0)
            return true;
    return false;
}

static struct zkl_asked *send_list(struct zkl_query *query, const char *path, const char *name, bool with_watch)
{
    char *child = zkl_path_join(path, name);
    struct zkl_request list = {.op = ZKL_OP_LIST, .path = child, .with_watch = with_watch};
    struct zkl_asked *asked = child ? zkl_query_send(query, &list) : NULL;

    free(child);
    return asked;
}

static void clear(struct parts *parts)
{
    zkl_asked_free(parts->limit);
    zkl_asked_free(parts->leases);
    zkl_asked_free(parts->guards);
}

static bool is_answered(const struct zkl_asked *asked)
{
    return asked && asked->code != ZKL_CODE_UNKNOWN;
}

/* PENDING: an answer is missing, ask again. The caller clears the parts in any case. */
static zklock_status ask_parts(struct zkl_query *query, const char *path, bool with_watch, struct parts *out_parts)
{
    struct zkl_request get = {.op = ZKL_OP_GET, .path = path};
    zklock_status status = zkl_query_connect(query);

    *out_parts = (struct parts){0};
    if (status != ZKLOCK_OK)
        return status;
    out_parts->limit = zkl_query_send(query, &get);
    out_parts->leases = send_list(query, path, LEASES, with_watch);
    out_parts->guards = send_list(query, path, GUARDS, false);
    status = zkl_query_settle(query);
    bool is_whole = is_answered(out_parts->limit) && is_answered(out_parts->leases) && is_answered(out_parts->guards);
    return status == ZKLOCK_OK && !is_whole ? ZKLOCK_PENDING : status;
}

static int count_leases(const struct zkl_asked *list)
{
    int count = 0;

    for (int i = 0; i < list->child_count; i++)
        count += zkl_name_parse(list->children[i]).kind == ZKL_KIND_LEASE;
    return count;
}

static unsigned limit_of(const struct parts *parts)
{
    unsigned permits = 0;

    if (parts->limit->code == ZKL_CODE_OK && parts->limit->data)
        zkl_limit_read(parts->limit->data, parts->limit->data_size, &permits);
    return permits;
}

/* Appends what one of the directories has, with its name in front. False: no memory. */
static bool append(struct zkl_asked *list, const char *directory, const struct zkl_asked *part)
{
    size_t count = (size_t)(list->child_count + part->child_count);
    char **children = part->child_count > 0 ? realloc(list->children, count * sizeof *children) : list->children;

    if (part->child_count == 0)
        return true;
    if (!children)
        return false;
    list->children = children;
    for (int i = 0; i < part->child_count; i++) {
        char *name = zkl_path_join(directory, part->children[i]);
        if (!name)
            return false;
        children[list->child_count++] = name;
    }
    return true;
}

static void drop_directories(struct zkl_asked *list)
{
    int kept = 0;

    for (int i = 0; i < list->child_count; i++) {
        bool is_directory = strcmp(list->children[i], LEASES) == 0 || strcmp(list->children[i], GUARDS) == 0;
        if (is_directory)
            free(list->children[i]);
        else
            list->children[kept++] = list->children[i];
    }
    list->child_count = kept;
}

/* Whether nobody is in its directories, and a lock's contenders are at its path: then it is a lock. */
static bool is_lock(const struct zkl_asked *list, const struct parts *parts)
{
    bool has_lock = false;

    for (int i = 0; i < list->child_count; i++)
        has_lock |= zkl_name_is_contender(zkl_name_parse(list->children[i]));
    return has_lock && count_leases(parts->leases) == 0 && parts->guards->child_count == 0;
}

zklock_status zkl_semaphore_expand(struct zkl_query *query, const char *path, struct zkl_asked *list,
                                   zklock_queue *queue)
{
    struct parts parts;

    if (!has_child(list, LEASES) && !has_child(list, GUARDS))
        return ZKLOCK_OK;
    zklock_status status = ask_parts(query, path, false, &parts);
    if (status == ZKLOCK_OK) {
        queue->permits = limit_of(&parts);
        queue->is_semaphore = queue->permits > 0 || count_leases(parts.leases) > 0;
    }
    if (status == ZKLOCK_OK && queue->is_semaphore && parts.leases->code == ZKL_CODE_NO_AUTH)
        status = ZKLOCK_DENIED;
    if (status == ZKLOCK_OK && queue->is_semaphore) {
        bool is_none = is_lock(list, &parts);
        drop_directories(list);
        if (!append(list, LEASES, parts.leases) || !append(list, GUARDS, parts.guards))
            status = ZKLOCK_NO_MEMORY;
        queue->is_semaphore = !is_none;
        queue->permits = is_none ? 0 : queue->permits;
    }
    clear(&parts);
    return status;
}

bool zkl_semaphore_is_lease(const char *name)
{
    return strncmp(name, LEASES "/", sizeof LEASES) == 0;
}

const char *zkl_semaphore_bare_name(const char *name)
{
    if (zkl_semaphore_is_lease(name))
        return name + sizeof LEASES;
    return strncmp(name, GUARDS "/", sizeof GUARDS) == 0 ? name + sizeof GUARDS : name;
}

/* Whether what is read is a semaphore, and all its permits are taken. */
static bool is_full(const struct parts *parts)
{
    unsigned permits = limit_of(parts);
    int leases = count_leases(parts->leases);

    /* Curator's clients alone know theirs where none is set: whoever has a lease may hold. */
    return permits > 0 ? (unsigned)leases >= permits : leases > 0;
}

zklock_status zkl_semaphore_await(struct zkl_query *query, const char *path, const struct zkl_asked *list)
{
    struct parts parts;
    char *leases = list && has_child(list, LEASES) ? zkl_path_join(path, LEASES) : NULL;
    int64_t session_id = zkl_session_id(query->session);

    if (!leases)
        return list && has_child(list, LEASES) ? ZKLOCK_NO_MEMORY : ZKLOCK_OK;
    zkl_query_expect(query, leases);
    zklock_status status = ask_parts(query, path, true, &parts);
    bool must_wait = status == ZKLOCK_OK && is_full(&parts);
    bool is_watched = status == ZKLOCK_OK && parts.leases->code == ZKL_CODE_OK;
    if (must_wait) {
        status = zkl_query_await(query, LOOK_NS);
        status = status == ZKLOCK_OK ? ZKLOCK_PENDING : status;
    }
    if (is_watched && !query->watch_has_fired && zkl_session_id(query->session) == session_id)
        zkl_session_leave_watch(query->session, leases);
    zkl_query_expect(query, NULL);
    clear(&parts);
    free(leases);
    return status;
}
