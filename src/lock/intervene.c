/* What is done to somebody else's contender: asking its owner to let go, and breaking it. */
#include <stdlib.h>
#include <string.h>

#include "lock/inspect_leases.h"
#include "lock/revocation.h"
#include "recipe/name.h"
#include "zklock.h"

/* A server may not have heard of the node yet, and the leader knows: OK: there is none. PENDING: there is, look again. */
static zklock_status confirm_absence(struct zkl_query *query, const char *node)
{
    struct zkl_request barrier = {.op = ZKL_OP_CHECK, .paths = &node, .path_count = 1};
    struct zkl_asked *asked = NULL;
    zklock_status status = zkl_question_send(query, &barrier, &asked);

    if (status != ZKLOCK_OK)
        return status;
    status = asked->code == ZKL_CODE_NO_NODE ? ZKLOCK_OK : ZKLOCK_PENDING;
    zkl_asked_free(asked);
    return status;
}

/* Looks whether the node still is the one that was meant. */
static zklock_status look(struct zkl_query *query, const char *node, const zklock_contender *contender,
                          bool *out_is_there)
{
    struct zkl_request exists = {.op = ZKL_OP_EXISTS, .path = node};
    struct zkl_asked *asked = NULL;
    zklock_status status = zkl_question_send(query, &exists, &asked);

    if (status != ZKLOCK_OK)
        return status;
    *out_is_there = asked->code == ZKL_CODE_OK;
    status = asked->code == ZKL_CODE_NO_NODE ? confirm_absence(query, node) : zkl_question_status(asked->code);
    if (status == ZKLOCK_OK && *out_is_there && (uint64_t)asked->stat.czxid != contender->token)
        status = ZKLOCK_CHANGED;
    zkl_asked_free(asked);
    return status;
}

/* What is gone need not be deleted, whoever did it. */
static zklock_status delete_node(struct zkl_query *query, const char *node, void *context)
{
    const zklock_contender *contender = context;
    struct zkl_request delete = {
        .op = ZKL_OP_DELETE, .path = node, .has_version = true, .version = contender->version};
    struct zkl_asked *asked = NULL;
    bool is_there = false;
    zklock_status status = look(query, node, contender, &is_there);

    if (status != ZKLOCK_OK || !is_there)
        return status;
    status = zkl_question_send(query, &delete, &asked);
    if (status != ZKLOCK_OK)
        return status;
    status = asked->code == ZKL_CODE_NO_NODE ? ZKLOCK_OK : zkl_question_status(asked->code);
    zkl_asked_free(asked);
    return status;
}

/* Asking twice does no harm, so that a lost answer is no matter. */
static zklock_status write_request(struct zkl_query *query, const char *node, void *context)
{
    struct zkl_request set = {.op = ZKL_OP_SET,
                              .path = node,
                              .data = ZKL_REVOCATION_OF_CURATOR,
                              .data_size = sizeof ZKL_REVOCATION_OF_CURATOR - 1};
    struct zkl_asked *asked = NULL;
    bool is_there = false;
    zklock_status status = look(query, node, context, &is_there);

    if (status != ZKLOCK_OK || !is_there)
        return status == ZKLOCK_OK ? ZKLOCK_NOT_HELD : status;
    status = zkl_question_send(query, &set, &asked);
    if (status != ZKLOCK_OK)
        return status;
    status = asked->code == ZKL_CODE_NO_NODE ? ZKLOCK_NOT_HELD : zkl_question_status(asked->code);
    zkl_asked_free(asked);
    return status;
}

static zklock_status ask_about_node(zklock_session *session, const char *path, const zklock_contender *contender,
                                    int64_t timeout_ms, zkl_question_fn *once)
{
    if (!path || !contender || !contender->name ||
        strchr(zkl_semaphore_bare_name(contender->name), '/') || zkl_name_parse(contender->name).kind == ZKL_KIND_FOREIGN)
        return ZKLOCK_BAD_ARGUMENT;
    struct zkl_question question = {
        .path = path, .child = contender->name, .once = once, .context = (void *)(uintptr_t)contender};
    return zkl_question_ask(session, &question, timeout_ms);
}

zklock_status zklock_break(zklock_session *session, const char *path, const zklock_contender *contender,
                           int64_t timeout_ms)
{
    return ask_about_node(session, path, contender, timeout_ms, delete_node);
}

zklock_status zklock_revoke(zklock_session *session, const char *path, const zklock_contender *contender,
                            int64_t timeout_ms)
{
    return ask_about_node(session, path, contender, timeout_ms, write_request);
}
