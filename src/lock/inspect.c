/* Who holds a lock and who waits; and waiting for nobody to hold it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/inspect_leases.h"
#include "recipe/queue.h"
#include "session/path.h"
#include "zklock.h"

/* Contenders asked for at once. */
#define BATCH 256

/* A queue with what it points to. */
struct reading {
    zklock_queue public;
    zklock_contender *contenders;
    const zklock_contender **in_order; /* the same, as the caller gets them: he may know less of each */
    char **foreign_names;
};

void zklock_queue_free(zklock_queue *queue)
{
    struct reading *reading = (struct reading *)queue;

    if (!reading)
        return;
    for (size_t i = 0; i < reading->public.count; i++) {
        free((char *)reading->contenders[i].name);
        free((char *)reading->contenders[i].payload);
    }
    free(reading->contenders);
    free(reading->in_order);
    for (size_t i = 0; i < reading->public.foreign_count; i++)
        free(reading->foreign_names[i]);
    free(reading->foreign_names);
    free(reading);
}

zklock_mode zkl_mode_of(enum zkl_kind kind)
{
    switch (kind) {
    case ZKL_KIND_READ:
    case ZKL_KIND_KAZOO_READ:
        return ZKLOCK_MODE_SHARED;
    case ZKL_KIND_LATCH:
        return ZKLOCK_MODE_LEADER_LATCH;
    case ZKL_KIND_LEASE:
        return ZKLOCK_MODE_SEMAPHORE;
    case ZKL_KIND_LOCK:
    case ZKL_KIND_KAZOO_LOCK:
    case ZKL_KIND_WRITE:
    case ZKL_KIND_FOREIGN:
        break;
    }
    return ZKLOCK_MODE_EXCLUSIVE;
}

/* What became of one attempt to read all of it. */
enum progress { DONE, DISTURBED, FAILED };

/* ---------------------------------------------------------------- reading a queue */

static enum progress add_contender(struct reading *reading, const char *name, struct zkl_asked *asked)
{
    struct zkl_name parsed = zkl_name_parse(name);
    char *copy = strdup(name);

    if (!copy)
        return FAILED;
    reading->contenders[reading->public.count++] = (zklock_contender){
        .name = copy,
        .number = parsed.number,
        .token = (uint64_t)asked->stat.czxid,
        .session_id = asked->stat.owner,
        .created_ms = asked->stat.ctime_ms,
        .mode = zkl_semaphore_bare_name(name) != name ? ZKLOCK_MODE_SEMAPHORE : zkl_mode_of(parsed.kind),
        .payload = asked->data,
        .payload_size = asked->data_size,
        .version = asked->stat.version,
    };
    asked->data = NULL;
    return DONE;
}

/* Takes one answer: a node that has gone since is left out, one that may not be read is asked for its Stat alone. */
static enum progress take_answer(struct zkl_query *query, struct reading *reading, const char *parent, const char *name,
                                 struct zkl_asked *asked)
{
    if (asked->code == ZKL_CODE_OK)
        return add_contender(reading, name, asked);
    if (asked->code == ZKL_CODE_NO_NODE)
        return DONE;
    if (asked->code != ZKL_CODE_NO_AUTH)
        return DISTURBED;
    char *path = zkl_path_join(parent, name);
    struct zkl_request exists = {.op = ZKL_OP_EXISTS, .path = path};
    struct zkl_asked *stat = path ? zkl_query_send(query, &exists) : NULL;
    free(path);
    enum progress progress = DISTURBED;
    if (stat && zkl_query_settle(query) == ZKLOCK_OK && stat->code != ZKL_CODE_UNKNOWN)
        progress = stat->code == ZKL_CODE_OK ? add_contender(reading, name, stat) : DONE;
    zkl_asked_free(stat);
    return progress;
}

static enum progress read_batch(struct zkl_query *query, struct reading *reading, const char *parent,
                                char *const *names, int count)
{
    struct zkl_asked *asked[BATCH] = {NULL};
    enum progress progress = DONE;

    for (int i = 0; i < count && progress == DONE; i++) {
        char *path = zkl_path_join(parent, names[i]);
        struct zkl_request get = {.op = ZKL_OP_GET, .path = path};
        asked[i] = path ? zkl_query_send(query, &get) : NULL;
        progress = !path ? FAILED : asked[i] ? DONE : DISTURBED;
        free(path);
    }
    if (zkl_query_settle(query) != ZKLOCK_OK)
        progress = DISTURBED;
    for (int i = 0; i < count; i++) {
        if (progress == DONE)
            progress = take_answer(query, reading, parent, names[i], asked[i]);
        zkl_asked_free(asked[i]);
    }
    return progress;
}

/* Of a semaphore: leases, then the queue for the guard, then whoever contends for a lock at its path. */
static int part_of(const char *name)
{
    if (zkl_semaphore_is_lease(name))
        return 0;
    return zkl_semaphore_bare_name(name) != name ? 1 : 2;
}

static int compare_contenders(const void *left, const void *right)
{
    const zklock_contender *a = left;
    const zklock_contender *b = right;
    struct zkl_name a_name = {ZKL_KIND_LOCK, a->number, false};
    struct zkl_name b_name = {ZKL_KIND_LOCK, b->number, false};

    if (part_of(a->name) != part_of(b->name))
        return part_of(a->name) - part_of(b->name);
    return zkl_queue_compare(a_name, (int64_t)a->token, b_name, (int64_t)b->token);
}

/* Room for so many. False: no memory. */
static bool reserve(struct reading *reading, size_t count)
{
    reading->contenders = calloc(count + 1, sizeof *reading->contenders);
    reading->in_order = calloc(count + 1, sizeof *reading->in_order);
    return reading->contenders && reading->in_order;
}

/* By the places alone: the first one, and the shared ones that nothing but shared ones precede; of leases as many as there
 * are permits. Where both are at one path, both hold. */
static void mark_holders(struct reading *reading)
{
    unsigned permits = reading->public.permits;
    bool is_first = true;
    bool only_shared = true;

    for (size_t i = 0; i < reading->public.count; i++) {
        zklock_contender *contender = &reading->contenders[i];
        bool is_shared = contender->mode == ZKLOCK_MODE_SHARED;
        if (contender->mode == ZKLOCK_MODE_SEMAPHORE) {
            contender->is_holder = (permits == 0 || i < permits) && zkl_semaphore_is_lease(contender->name);
            continue;
        }
        contender->is_holder = is_first || (only_shared && is_shared);
        only_shared &= is_shared;
        is_first = false;
    }
}

static void show_in_order(struct reading *reading)
{
    size_t shown = 0;

    mark_holders(reading);
    for (size_t i = 0; i < reading->public.count; i++)
        if (reading->contenders[i].is_holder)
            reading->in_order[shown++] = &reading->contenders[i];
    for (size_t i = 0; i < reading->public.count; i++)
        if (!reading->contenders[i].is_holder)
            reading->in_order[shown++] = &reading->contenders[i];
    reading->public.contenders = reading->in_order;
}

/* Whether there are two that do not count each other. */
static bool is_mixed(char *const *names, int count, bool is_semaphore)
{
    unsigned of_path = 0;
    unsigned of_guard = 0;

    for (int i = 0; i < count; i++) {
        unsigned family = zkl_queue_family(zkl_name_parse(names[i]));
        if (zkl_semaphore_bare_name(names[i]) != names[i])
            of_guard |= family;
        else
            of_path |= family;
    }
    return !zkl_queue_is_one(of_path) || !zkl_queue_is_one(of_guard) || (is_semaphore && of_path != 0);
}

/* In the directory of leases only these are. */
static bool is_contender(const char *name)
{
    struct zkl_name parsed = zkl_name_parse(name);

    return zkl_semaphore_is_lease(name) ? parsed.kind == ZKL_KIND_LEASE : zkl_name_is_contender(parsed);
}

/* Moves the contenders among the children to the front; the others are foreign. */
static int sort_out_foreign(struct zkl_asked *list)
{
    int count = 0;

    for (int i = 0; i < list->child_count; i++) {
        if (!is_contender(list->children[i]))
            continue;
        char *name = list->children[i];
        list->children[i] = list->children[count];
        list->children[count++] = name;
    }
    return count;
}

/* Takes over the names behind the contenders'. False: no memory. */
static bool take_foreign(struct reading *reading, struct zkl_asked *list, int contender_count)
{
    reading->foreign_names = calloc((size_t)(list->child_count - contender_count) + 1, sizeof(char *));
    if (!reading->foreign_names)
        return false;
    while (list->child_count > contender_count)
        reading->foreign_names[reading->public.foreign_count++] = list->children[--list->child_count];
    reading->public.foreign_names = (const char *const *)reading->foreign_names;
    return true;
}

/*
 * Whoever stands in front has a lease, or is just about to make it, and still has the guard: it is shown once. The lease
 * was made last.
 */
static void drop_guard_of_front(struct reading *reading)
{
    zklock_contender *contenders = reading->contenders;
    size_t leases = 0;

    while (leases < reading->public.count && zkl_semaphore_is_lease(contenders[leases].name))
        leases++;
    if (leases == 0 || leases == reading->public.count || part_of(contenders[leases].name) != 1 ||
        contenders[leases].session_id != contenders[leases - 1].session_id)
        return;
    free((char *)contenders[leases].name);
    free((char *)contenders[leases].payload);
    reading->public.count--;
    memmove(&contenders[leases], &contenders[leases + 1], (reading->public.count - leases) * sizeof *contenders);
}

static enum progress read_contenders(struct zkl_query *query, struct reading *reading, const char *path,
                                     struct zkl_asked *list)
{
    int count = sort_out_foreign(list);
    enum progress progress = DONE;

    reading->public.exists = true;
    reading->public.is_mixed = is_mixed(list->children, count, reading->public.is_semaphore);
    if (!reserve(reading, (size_t)count) || !take_foreign(reading, list, count))
        return FAILED;
    for (int at = 0; at < count && progress == DONE; at += BATCH)
        progress = read_batch(query, reading, path, list->children + at, count - at < BATCH ? count - at : BATCH);
    qsort(reading->contenders, reading->public.count, sizeof *reading->contenders, compare_contenders);
    if (reading->public.is_semaphore)
        drop_guard_of_front(reading);
    show_in_order(reading);
    return progress;
}

/* What the directory says of itself; it needs no right. */
static zklock_status read_directory(struct zkl_query *query, const char *path, struct reading *reading)
{
    struct zkl_request exists = {.op = ZKL_OP_EXISTS, .path = path};
    struct zkl_asked *asked = NULL;
    zklock_status status = zkl_question_send(query, &exists, &asked);

    if (status != ZKLOCK_OK)
        return status;
    if (asked->code == ZKL_CODE_OK)
        reading->public.next_number = asked->stat.created_children;
    zkl_asked_free(asked);
    return ZKLOCK_OK;
}

/* Everything of a directory that is there. */
static zklock_status read_all(struct zkl_query *query, const char *path, struct zkl_asked *list,
                              struct reading *reading)
{
    zklock_status status = zkl_semaphore_expand(query, path, list, &reading->public);
    char *leases = reading->public.is_semaphore ? zkl_path_join(path, "leases") : NULL;

    if (status == ZKLOCK_OK && reading->public.is_semaphore && !leases)
        status = ZKLOCK_NO_MEMORY;
    if (status == ZKLOCK_OK)
        status = read_directory(query, leases ? leases : path, reading);
    free(leases);
    enum progress progress = status == ZKLOCK_OK ? read_contenders(query, reading, path, list) : DONE;

    if (progress != DONE)
        status = progress == FAILED ? ZKLOCK_NO_MEMORY : ZKLOCK_PENDING;
    return status;
}

/* One try to read the whole queue. PENDING: something moved, try again. */
static zklock_status read_queue(struct zkl_query *query, const char *path, void *out_queue)
{
    struct zkl_asked *list = NULL;
    zklock_status status = zkl_question_list(query, path, &list);
    struct reading *reading = status == ZKLOCK_OK ? calloc(1, sizeof *reading) : NULL;

    if (status == ZKLOCK_OK && !reading)
        status = ZKLOCK_NO_MEMORY;
    if (status == ZKLOCK_OK && list)
        status = read_all(query, path, list, reading);
    zkl_asked_free(list);
    if (status == ZKLOCK_OK)
        *(zklock_queue **)out_queue = &reading->public;
    else if (reading)
        zklock_queue_free(&reading->public);
    return status;
}

zklock_status zkl_queue_read_once(struct zkl_query *query, const char *path, zklock_queue **out_queue)
{
    return read_queue(query, path, out_queue);
}

/* ---------------------------------------------------------------- the public calls */

zklock_status zklock_queue_read(zklock_session *session, const char *path, int64_t timeout_ms, zklock_queue **out_queue)
{
    struct zkl_question question = {.path = path, .once = read_queue, .context = out_queue};

    return out_queue ? zkl_question_ask(session, &question, timeout_ms) : ZKLOCK_BAD_ARGUMENT;
}

zklock_status zkl_queue_read_one(struct zkl_query *query, const char *path, const char *name, zklock_queue **out_queue)
{
    struct reading *reading = calloc(1, sizeof *reading);
    char *node = name ? zkl_path_join(path, name) : NULL;
    struct zkl_request get = {.op = ZKL_OP_GET, .path = node};
    struct zkl_asked *asked = NULL;
    zklock_status status = reading && (node || !name) ? ZKLOCK_OK : ZKLOCK_NO_MEMORY;

    if (status == ZKLOCK_OK && !reserve(reading, 1))
        status = ZKLOCK_NO_MEMORY;
    if (status == ZKLOCK_OK && name)
        status = zkl_question_send(query, &get, &asked);
    if (status == ZKLOCK_OK && name) {
        enum progress progress = take_answer(query, reading, path, name, asked);
        bool is_read = progress == DONE && reading->public.count == 1;
        status = is_read ? ZKLOCK_OK : progress == FAILED ? ZKLOCK_NO_MEMORY : ZKLOCK_PENDING;
    }
    zkl_asked_free(asked);
    free(node);
    if (status != ZKLOCK_OK) {
        zklock_queue_free(reading ? &reading->public : NULL);
        return status;
    }
    show_in_order(reading);
    *out_queue = &reading->public;
    return ZKLOCK_OK;
}
