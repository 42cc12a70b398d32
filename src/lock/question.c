#include "lock/question.h"

#include <stdlib.h>
#include <string.h>

#include "session/path.h"
zklock_status zkl_question_status(enum zkl_code code)
{
    switch (code) {
    case ZKL_CODE_OK:
        return ZKLOCK_OK;
    case ZKL_CODE_UNKNOWN:
        return ZKLOCK_PENDING;
    case ZKL_CODE_NO_AUTH:
        return ZKLOCK_DENIED;
    case ZKL_CODE_BAD_VERSION:
        return ZKLOCK_CHANGED;
    case ZKL_CODE_NO_NODE:
    case ZKL_CODE_NODE_EXISTS:
    case ZKL_CODE_NO_CHILDREN:
    case ZKL_CODE_REFUSED:
        break;
    }
    return ZKLOCK_REFUSED;
}

zklock_status zkl_question_send(struct zkl_query *query, const struct zkl_request *request,
                                struct zkl_asked **out_asked)
{
    zklock_status status = zkl_query_connect(query);
    struct zkl_asked *asked = status == ZKLOCK_OK ? zkl_query_send(query, request) : NULL;

    if (status == ZKLOCK_OK)
        status = zkl_query_settle(query);
    if (status == ZKLOCK_OK && (!asked || asked->code == ZKL_CODE_UNKNOWN))
        status = ZKLOCK_PENDING;
    if (status == ZKLOCK_OK)
        *out_asked = asked;
    else
        zkl_asked_free(asked);
    return status;
}

zklock_status zkl_question_list(struct zkl_query *query, const char *path, struct zkl_asked **out_list)
{
    struct zkl_request request = {.op = ZKL_OP_LIST, .path = path};
    struct zkl_asked *list = NULL;
    zklock_status status = zkl_question_send(query, &request, &list);

    if (status != ZKLOCK_OK)
        return status;
    if (list->code != ZKL_CODE_NO_NODE)
        status = zkl_question_status(list->code);
    if (status == ZKLOCK_OK && list->code == ZKL_CODE_OK) {
        *out_list = list;
        return ZKLOCK_OK;
    }
    zkl_asked_free(list);
    return status;
}

static zklock_status ask_until_answered(struct zkl_query *query, const struct zkl_question *question,
                                        const char *path)
{
    zklock_status status = ZKLOCK_PENDING;

    while (status == ZKLOCK_PENDING) {
        status = question->once(query, path, question->context);
        if (status == ZKLOCK_PENDING) {
            zklock_status paused = zkl_query_pause(query);
            status = paused == ZKLOCK_OK ? ZKLOCK_PENDING : paused;
        }
    }
    return status;
}

/* What the question is about, with the chroot. NULL: no memory. */
static char *subject_of(const struct zkl_question *question, const char *chroot)
{
    char *path = zkl_path_below(question->path_is_full ? "" : chroot, question->path);
    char *child = path && question->child ? zkl_path_join(path, question->child) : NULL;

    if (!question->child)
        return path;
    free(path);
    return child;
}

/* Whether the client library would ask about it: its name stands at the end of `full`. */
static bool child_is_valid(const struct zkl_question *question, const char *full)
{
    size_t position;

    return !question->child || !zkl_path_fault(full + strlen(full) - strlen(question->child) - 1, &position);
}

zklock_status zkl_question_ask(zklock_session *session, const struct zkl_question *question, int64_t timeout_ms)
{
    struct zkl_query *query;

    if (!session || !question->path || zklock_path_check(question->path, NULL, 0) != ZKLOCK_OK)
        return ZKLOCK_BAD_ARGUMENT;
    zklock_status status = zkl_query_open(session, timeout_ms, &query);
    if (status != ZKLOCK_OK)
        return status;
    const char *chroot = zkl_session_chroot(session);
    if (strcmp(question->path, "/") == 0 && chroot[0] == '\0' && !question->root_is_meant) {
        status = ZKLOCK_BAD_ARGUMENT;
    } else {
        char *full = subject_of(question, chroot);
        if (!full)
            status = ZKLOCK_NO_MEMORY;
        else if (!child_is_valid(question, full))
            status = ZKLOCK_BAD_ARGUMENT;
        else
            status = ask_until_answered(query, question, full);
        free(full);
    }
    zkl_query_close(query);
    return status;
}
