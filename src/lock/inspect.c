/* Who holds a lock and who waits; and waiting for nobody to hold it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/query.h"
#include "recipe/queue.h"
#include "session/servers.h"
#include "zklock.h"

/* Contenders asked for at once. */
#define BATCH 256
/* Servers since 3.8.4 keep the events of a node from those who may not read it, so it is looked at again. */
#define LOOK_NS ZKL_NS_PER_S

/* A queue with what it points to. */
struct reading {
    zklock_queue public;
    zklock_contender *contenders;
    size_t capacity;
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
    free(reading);
}

static char *join(const char *parent, const char *name)
{
    char *path = malloc(strlen(parent) + strlen(name) + 2);

    if (path)
        sprintf(path, "%s/%s", parent, name);
    return path;
}

static bool is_contender(struct zkl_name name)
{
    return name.kind != ZKL_KIND_FOREIGN && name.kind != ZKL_KIND_LEASE;
}

static zklock_mode mode_of(enum zkl_kind kind)
{
    switch (kind) {
    case ZKL_KIND_READ:
    case ZKL_KIND_KAZOO_READ:
        return ZKLOCK_MODE_SHARED;
    case ZKL_KIND_LATCH:
        return ZKLOCK_MODE_LEADER_LATCH;
    case ZKL_KIND_LOCK:
    case ZKL_KIND_WRITE:
    case ZKL_KIND_FOREIGN:
    case ZKL_KIND_LEASE:
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
        .mode = mode_of(parsed.kind),
        .payload = asked->data,
        .payload_size = asked->data_size,
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
    char *path = join(parent, name);
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
        char *path = join(parent, names[i]);
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

static int compare_contenders(const void *left, const void *right)
{
    const zklock_contender *a = left;
    const zklock_contender *b = right;
    struct zkl_name a_name = {ZKL_KIND_LOCK, a->number};
    struct zkl_name b_name = {ZKL_KIND_LOCK, b->number};

    return zkl_queue_compare(a_name, (int64_t)a->token, b_name, (int64_t)b->token);
}

/* By the places alone: the first one, and the shared ones that nothing but shared ones precede. */
static void mark_holders(struct reading *reading)
{
    bool only_shared = true;

    for (size_t i = 0; i < reading->public.count; i++) {
        bool is_shared = reading->contenders[i].mode == ZKLOCK_MODE_SHARED;
        reading->contenders[i].is_holder = i == 0 || (only_shared && is_shared);
        only_shared &= is_shared;
    }
}

/* Moves the contenders among the children to the front; the others are foreign. */
static int sort_out_foreign(struct zkl_asked *list)
{
    int count = 0;

    for (int i = 0; i < list->child_count; i++) {
        if (!is_contender(zkl_name_parse(list->children[i])))
            continue;
        char *name = list->children[i];
        list->children[i] = list->children[count];
        list->children[count++] = name;
    }
    return count;
}

static enum progress read_contenders(struct zkl_query *query, struct reading *reading, const char *path,
                                     struct zkl_asked *list)
{
    int count = sort_out_foreign(list);
    enum progress progress = DONE;

    reading->public.exists = true;
    reading->public.foreign_count = (size_t)(list->child_count - count);
    reading->contenders = calloc((size_t)count + 1, sizeof *reading->contenders);
    if (!reading->contenders)
        return FAILED;
    for (int at = 0; at < count && progress == DONE; at += BATCH)
        progress = read_batch(query, reading, path, list->children + at, count - at < BATCH ? count - at : BATCH);
    qsort(reading->contenders, reading->public.count, sizeof *reading->contenders, compare_contenders);
    mark_holders(reading);
    reading->public.contenders = reading->contenders;
    return progress;
}

/* Lists the children of a path. OK, also where there is no such path (`out_list` is NULL then); PENDING: ask again. */
static zklock_status list_children(struct zkl_query *query, const char *path, struct zkl_asked **out_list)
{
    struct zkl_request request = {.op = ZKL_OP_LIST, .path = path};
    zklock_status status = zkl_query_connect(query);
    struct zkl_asked *list = status == ZKLOCK_OK ? zkl_query_send(query, &request) : NULL;

    if (status == ZKLOCK_OK)
        status = zkl_query_settle(query);
    if (status == ZKLOCK_OK && (!list || list->code == ZKL_CODE_UNKNOWN))
        status = ZKLOCK_PENDING;
    else if (status == ZKLOCK_OK && list->code == ZKL_CODE_NO_AUTH)
        status = ZKLOCK_DENIED;
    else if (status == ZKLOCK_OK && list->code != ZKL_CODE_OK && list->code != ZKL_CODE_NO_NODE)
        status = ZKLOCK_REFUSED;
    if (status != ZKLOCK_OK || list->code == ZKL_CODE_NO_NODE) {
        zkl_asked_free(list);
        list = NULL;
    }
    if (status == ZKLOCK_OK)
        *out_list = list;
    return status;
}

/* One try to read the whole queue. PENDING: something moved, try again. */
static zklock_status read_queue(struct zkl_query *query, const char *path, zklock_queue **out_queue)
{
    struct zkl_asked *list = NULL;
    zklock_status status = list_children(query, path, &list);
    struct reading *reading = status == ZKLOCK_OK ? calloc(1, sizeof *reading) : NULL;

    if (status == ZKLOCK_OK && !reading)
        status = ZKLOCK_NO_MEMORY;
    if (status == ZKLOCK_OK && list) {
        enum progress progress = read_contenders(query, reading, path, list);
        if (progress != DONE)
            status = progress == FAILED ? ZKLOCK_NO_MEMORY : ZKLOCK_PENDING;
    }
    zkl_asked_free(list);
    if (status == ZKLOCK_OK)
        *out_queue = &reading->public;
    else if (reading)
        zklock_queue_free(&reading->public);
    return status;
}

/* ---------------------------------------------------------------- the public calls */

/* Runs `once` until it says something else than PENDING, inside the limit. */
static zklock_status inspect(zklock_session *session, const char *path, int64_t timeout_ms,
                             zklock_status (*once)(struct zkl_query *, const char *, zklock_queue **),
                             zklock_queue **out_queue)
{
    struct zkl_query *query;

    if (!session || !path || zklock_path_check(path, NULL, 0) != ZKLOCK_OK)
        return ZKLOCK_BAD_ARGUMENT;
    zklock_status status = zkl_query_open(session, timeout_ms, &query);
    if (status != ZKLOCK_OK)
        return status;
    const char *chroot = zkl_session_chroot(session);
    bool is_root = strcmp(path, "/") == 0 && chroot[0] == '\0';
    char *full = malloc(strlen(chroot) + strlen(path) + 1);
    status = is_root ? ZKLOCK_BAD_ARGUMENT : full ? ZKLOCK_PENDING : ZKLOCK_NO_MEMORY;
    if (full)
        sprintf(full, "%s%s", chroot, strcmp(path, "/") == 0 ? "" : path);
    while (status == ZKLOCK_PENDING) {
        status = once(query, full, out_queue);
        if (status == ZKLOCK_PENDING) {
            zklock_status paused = zkl_query_pause(query);
            status = paused == ZKLOCK_OK ? ZKLOCK_PENDING : paused;
        }
    }
    free(full);
    zkl_query_close(query);
    return status;
}

zklock_status zklock_queue_read(zklock_session *session, const char *path, int64_t timeout_ms, zklock_queue **out_queue)
{
    return out_queue ? inspect(session, path, timeout_ms, read_queue, out_queue) : ZKLOCK_BAD_ARGUMENT;
}

/* The contender that comes first by its number; NULL: none. */
static const char *first_contender(const struct zkl_asked *list)
{
    const char *first = NULL;

    for (int i = 0; list && i < list->child_count; i++) {
        struct zkl_name name = zkl_name_parse(list->children[i]);
        if (is_contender(name) && (!first || zkl_queue_compare(name, 0, zkl_name_parse(first), 0) < 0))
            first = list->children[i];
    }
    return first;
}

/* Plants a watch on the node and waits until it goes. PENDING: look again. */
static zklock_status await_change(struct zkl_query *query, const char *node)
{
    struct zkl_request watch = {.op = ZKL_OP_GET, .path = node, .with_watch = true};
    struct zkl_request forget = {.op = ZKL_OP_FORGET_WATCH, .path = node};
    zklock_status status = ZKLOCK_OK;

    zkl_query_expect(query, node);
    for (int tries = 0; tries < 2 && status == ZKLOCK_OK; tries++) {
        struct zkl_asked *asked = zkl_query_send(query, &watch);
        status = zkl_query_settle(query);
        enum zkl_code code = asked && status == ZKLOCK_OK ? asked->code : ZKL_CODE_UNKNOWN;
        zkl_asked_free(asked);
        if (code == ZKL_CODE_OK)
            status = zkl_query_await(query, watch.op == ZKL_OP_EXISTS ? LOOK_NS : ZKL_NEVER);
        if (code == ZKL_CODE_OK && status != ZKLOCK_OK)
            zkl_session_leave_watch(query->session, node);
        if (code == ZKL_CODE_NO_NODE && watch.op == ZKL_OP_EXISTS)
            zkl_asked_free(zkl_query_send(query, &forget));
        if (code != ZKL_CODE_NO_AUTH)
            break;
        watch.op = ZKL_OP_EXISTS;
    }
    zkl_query_expect(query, NULL);
    return status == ZKLOCK_OK ? ZKLOCK_PENDING : status;
}

/* Looks once, and waits for the first contender to go. OK: nobody is there. */
static zklock_status look_until_free(struct zkl_query *query, const char *path, zklock_queue **unused)
{
    struct zkl_asked *list = NULL;
    zklock_status status = list_children(query, path, &list);
    const char *first = status == ZKLOCK_OK ? first_contender(list) : NULL;

    (void)unused;
    if (first) {
        char *node = join(path, first);
        status = node ? await_change(query, node) : ZKLOCK_NO_MEMORY;
        free(node);
    }
    zkl_asked_free(list);
    return status;
}

zklock_status zklock_wait_free(zklock_session *session, const char *path, int64_t timeout_ms)
{
    return inspect(session, path, timeout_ms, look_until_free, NULL);
}
