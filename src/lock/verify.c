/* Whether a token is the holder's, asked of a majority of the servers. */
#include <stdlib.h>
#include <string.h>

#include "lock/question.h"
#include "zklock.h"

/*
 * A cut-off follower goes on answering reads, and a deposed leader answers sync. So a quorum write comes first: what is
 * read behind it, on the same connection, is no older.
 */
static zklock_status pass_barrier(struct zkl_query *query, const char *path)
{
    struct zkl_request barrier = {.op = ZKL_OP_CHECK, .paths = &path, .path_count = 1};
    struct zkl_asked *asked = NULL;

    zkl_query_expect(query, NULL);
    zklock_status status = zkl_question_send(query, &barrier, &asked);
    if (status != ZKLOCK_OK)
        return status;
    status = asked->code == ZKL_CODE_NO_NODE ? ZKLOCK_NOT_HELD : zkl_question_status(asked->code);
    zkl_asked_free(asked);
    return status;
}

static bool is_held_with(const zklock_queue *queue, uint64_t token)
{
    for (size_t i = 0; i < queue->count && queue->contenders[i]->is_holder; i++)
        if (queue->contenders[i]->token == token)
            return true;
    return false;
}

static zklock_status compare(struct zkl_query *query, const char *path, void *token)
{
    zklock_queue *queue = NULL;
    zklock_status status = pass_barrier(query, path);

    if (status == ZKLOCK_OK)
        status = zkl_queue_read_once(query, path, &queue);
    if (status == ZKLOCK_OK && query->is_disturbed)
        status = ZKLOCK_PENDING;
    else if (status == ZKLOCK_OK)
        status = is_held_with(queue, *(const uint64_t *)token) ? ZKLOCK_OK : ZKLOCK_NOT_HELD;
    zklock_queue_free(queue);
    return status;
}

zklock_status zklock_token_verify(zklock_session *session, const char *path, uint64_t token, int64_t timeout_ms)
{
    struct zkl_question question = {.path = path, .once = compare, .context = &token};

    return zkl_question_ask(session, &question, timeout_ms);
}
