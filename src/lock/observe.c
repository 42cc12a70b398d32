/* Waiting for something to change in a queue, without standing in it. */
#include <stdlib.h>
#include <string.h>

#include "lock/inspect_leases.h"
#include "lock/observer.h"
#include "recipe/queue.h"
#include "session/path.h"
#include "zklock.h"

/* Servers since 3.8.4 keep the events of a node from those who may not read it, so it is looked at again. */
#define LOOK_NS ZKL_NS_PER_S

const char *zkl_first_contender(const char *const *children, int count)
{
    const char *first = NULL;

    for (int i = 0; i < count; i++) {
        struct zkl_name name = zkl_name_parse(children[i]);
        if (zkl_name_is_contender(name) && (!first || zkl_queue_compare(name, 0, zkl_name_parse(first), 0) < 0))
            first = children[i];
    }
    return first;
}

/* Of what was listed; there may have been nothing to list. */
static const char *first_contender(const struct zkl_asked *list)
{
    return list ? zkl_first_contender((const char *const *)list->children, list->child_count) : NULL;
}

/* Plants a watch on the node and waits until it goes. PENDING: look again. */
static zklock_status await_change(struct zkl_query *query, const char *node)
{
    struct zkl_request watch = {.op = ZKL_OP_GET, .path = node, .with_watch = true};
    struct zkl_request forget = {.op = ZKL_OP_FORGET_WATCH, .path = node};
    int64_t session_id = zkl_session_id(query->session);
    zklock_status status = ZKLOCK_OK;

    zkl_query_expect(query, node);
    for (int tries = 0; tries < 2 && status == ZKLOCK_OK; tries++) {
        struct zkl_asked *asked = zkl_query_send(query, &watch);
        status = zkl_query_settle(query);
        enum zkl_code code = asked && status == ZKLOCK_OK ? asked->code : ZKL_CODE_UNKNOWN;
        zkl_asked_free(asked);
        if (code == ZKL_CODE_OK)
            status = zkl_query_await(query, watch.op == ZKL_OP_EXISTS ? LOOK_NS : ZKL_NEVER);
        /* Whatever else has ended the wait, the watch is still there, unless its session is over. */
        if (code == ZKL_CODE_OK && !query->watch_has_fired && zkl_session_id(query->session) == session_id)
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
static zklock_status look_until_free(struct zkl_query *query, const char *path, void *unused)
{
    struct zkl_asked *list = NULL;
    zklock_status status = zkl_question_list(query, path, &list);
    const char *first = status == ZKLOCK_OK ? first_contender(list) : NULL;

    (void)unused;
    if (first) {
        char *node = zkl_path_join(path, first);
        status = node ? await_change(query, node) : ZKLOCK_NO_MEMORY;
        free(node);
    } else if (status == ZKLOCK_OK) {
        status = zkl_semaphore_await(query, path, list);
    }
    zkl_asked_free(list);
    return status;
}

zklock_status zklock_wait_free(zklock_session *session, const char *path, int64_t timeout_ms)
{
    struct zkl_question question = {.path = path, .once = look_until_free};

    return zkl_question_ask(session, &question, timeout_ms);
}

/* ---------------------------------------------------------------- who is first */

struct observation {
    uint64_t seen;
    zklock_queue *queue;
};

/* Until the first one goes; where nobody is, nobody tells, and it is looked again. */
static zklock_status await_other(struct zkl_query *query, const char *path, const char *first)
{
    if (!first) {
        zkl_query_expect(query, NULL);
        zklock_status status = zkl_query_await(query, LOOK_NS);
        return status == ZKLOCK_OK ? ZKLOCK_PENDING : status;
    }
    char *node = zkl_path_join(path, first);
    zklock_status status = node ? await_change(query, node) : ZKLOCK_NO_MEMORY;
    free(node);
    return status;
}

static zklock_status look_until_other(struct zkl_query *query, const char *path, void *into)
{
    struct observation *observation = into;
    struct zkl_asked *list = NULL;
    zklock_queue *queue = NULL;
    zklock_status status = zkl_question_list(query, path, &list);
    const char *first = status == ZKLOCK_OK ? first_contender(list) : NULL;

    if (status == ZKLOCK_OK)
        status = zkl_queue_read_one(query, path, first, &queue);
    if (status == ZKLOCK_OK && (first ? queue->contenders[0]->token : 0) == observation->seen)
        status = await_other(query, path, first);
    if (status == ZKLOCK_OK) {
        queue->exists = list != NULL;
        observation->queue = queue;
    } else {
        zklock_queue_free(queue);
    }
    zkl_asked_free(list);
    return status;
}

zklock_status zklock_observe(zklock_session *session, const char *path, uint64_t seen, int64_t timeout_ms,
                             zklock_queue **out_queue)
{
    struct observation observation = {.seen = seen};
    struct zkl_question question = {.path = path, .once = look_until_other, .context = &observation};
    zklock_status status = out_queue ? zkl_question_ask(session, &question, timeout_ms) : ZKLOCK_BAD_ARGUMENT;

    if (status == ZKLOCK_OK)
        *out_queue = observation.queue;
    return status;
}
