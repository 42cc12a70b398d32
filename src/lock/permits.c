/* The limit of a semaphore, read and changed from outside. */
#include <stdlib.h>
#include <string.h>

#include "lock/limit.h"
#include "lock/question.h"
#include "zklock.h"

struct limit {
    unsigned permits; /* 0: none is set */
    int32_t version;
    bool has_path;
};

/* Data that somebody else keeps at the path are not ours to write over. */
static zklock_status read_limit(struct zkl_query *query, const char *path, void *out_limit)
{
    struct limit *limit = out_limit;
    struct zkl_request get = {.op = ZKL_OP_GET, .path = path};
    struct zkl_asked *asked = NULL;
    zklock_status status = zkl_question_send(query, &get, &asked);

    if (status != ZKLOCK_OK)
        return status;
    *limit = (struct limit){.has_path = asked->code == ZKL_CODE_OK, .version = asked->stat.version};
    if (asked->code != ZKL_CODE_NO_NODE)
        status = zkl_question_status(asked->code);
    bool has_data = status == ZKLOCK_OK && asked->data_size > 0;
    if (has_data && !zkl_limit_read(asked->data, asked->data_size, &limit->permits))
        status = ZKLOCK_REFUSED;
    zkl_asked_free(asked);
    return status;
}

/* One of the path's ancestors, or the path itself. */
static zklock_status make_node(struct zkl_query *query, const char *path)
{
    struct zkl_request create = {.op = ZKL_OP_CREATE_PARENT, .path = path, .is_persistent = true};
    struct zkl_asked *asked = NULL;
    zklock_status status = zkl_question_send(query, &create, &asked);

    if (status != ZKLOCK_OK)
        return status;
    /* A parent that vanishes as we go is made in the next round. */
    if (asked->code == ZKL_CODE_NO_NODE)
        status = ZKLOCK_PENDING;
    else if (asked->code != ZKL_CODE_NODE_EXISTS)
        status = zkl_question_status(asked->code);
    zkl_asked_free(asked);
    return status;
}

/* Which of them may be made by us shows in the last one alone: above a chroot, or with rights, they are there. */
static zklock_status make_path(struct zkl_query *query, const char *path)
{
    char *part = strdup(path);
    zklock_status status = part ? ZKLOCK_OK : ZKLOCK_NO_MEMORY;

    for (char *end = part; end && (status == ZKLOCK_OK || status == ZKLOCK_DENIED);) {
        end = strchr(end + 1, '/');
        if (end)
            *end = '\0';
        status = make_node(query, part);
        if (end)
            *end = '/';
    }
    free(part);
    return status;
}

/* Compared and set, so that what comes in between is seen; sent again after a lost answer, it does no harm. */
static zklock_status write_limit(struct zkl_query *query, const char *path, void *wanted)
{
    char text[ZKL_LIMIT_SIZE];
    struct limit limit = {0};
    zklock_status status = read_limit(query, path, &limit);
    unsigned permits = *(const unsigned *)wanted;

    if (status == ZKLOCK_OK && !limit.has_path) {
        status = make_path(query, path);
        return status == ZKLOCK_OK ? ZKLOCK_PENDING : status;
    }
    if (status != ZKLOCK_OK || limit.permits == permits)
        return status;
    struct zkl_request set = {.op = ZKL_OP_SET,
                              .path = path,
                              .data = text,
                              .data_size = zkl_limit_write(text, permits),
                              .has_version = true,
                              .version = limit.version};
    struct zkl_asked *asked = NULL;
    status = zkl_question_send(query, &set, &asked);
    if (status != ZKLOCK_OK)
        return status;
    status = asked->code == ZKL_CODE_NO_NODE ? ZKLOCK_PENDING : zkl_question_status(asked->code);
    zkl_asked_free(asked);
    return status == ZKLOCK_CHANGED ? ZKLOCK_PENDING : status;
}

zklock_status zklock_permits_read(zklock_session *session, const char *path, int64_t timeout_ms, unsigned *out_permits)
{
    struct limit limit = {0};
    struct zkl_question question = {.path = path, .once = read_limit, .context = &limit};
    zklock_status status = out_permits ? zkl_question_ask(session, &question, timeout_ms) : ZKLOCK_BAD_ARGUMENT;

    if (status == ZKLOCK_OK)
        *out_permits = limit.permits;
    return status;
}

zklock_status zklock_permits_write(zklock_session *session, const char *path, unsigned permits, int64_t timeout_ms)
{
    struct zkl_question question = {.path = path, .once = write_limit, .context = &permits};

    if (permits == 0 || permits > ZKLOCK_PERMITS_MAX)
        return ZKLOCK_BAD_ARGUMENT;
    return zkl_question_ask(session, &question, timeout_ms);
}
