/* A stamp at the path of a lock: that something was done under it, and when by the leader's clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock_state.h"
#include "lock/question.h"
#include "lock/revocation.h"

#define MARK "{\"zklock_stamp\":1,"

struct stamping {
    char *own_path; /* of the contender, with the chroot */
    char *path;
    char *payload;
    int64_t now_ms; /* by the leader's clock; -1: not known yet */
    int64_t age_ms;
};

static void clear(struct stamping *stamping)
{
    free(stamping->own_path);
    free(stamping->path);
    free(stamping->payload);
}

/* What the question needs of a lock that is held, since the lock may be released meanwhile. */
static zklock_status take(zklock *lock, struct stamping *out_stamping)
{
    zklock_status status = ZKLOCK_OK;

    if (!lock)
        return ZKLOCK_BAD_ARGUMENT;
    if (!zkl_session_is_own(lock->session))
        return ZKLOCK_FORKED;
    *out_stamping = (struct stamping){.now_ms = -1};
    if (lock->mode == ZKLOCK_MODE_SEMAPHORE)
        return ZKLOCK_BAD_ARGUMENT;
    zkl_session_lock(lock->session);
    if (!zkl_lock_is_granted(lock) || !lock->attempt->machine.node_is_known) {
        status = zkl_lock_is_lost(lock) ? ZKLOCK_LOST : ZKLOCK_NOT_HELD;
    } else {
        out_stamping->own_path = strdup(lock->attempt->own_path);
        out_stamping->path = strdup(lock->path);
        out_stamping->payload = strdup(lock->payload);
        if (!out_stamping->own_path || !out_stamping->path || !out_stamping->payload)
            status = ZKLOCK_NO_MEMORY;
    }
    zkl_session_unlock(lock->session);
    return status;
}

static zklock_status ask(zklock *lock, struct stamping *stamping, zkl_question_fn *once, int64_t timeout_ms)
{
    struct zkl_question question = {
        .path = stamping->path, .once = once, .context = stamping, .path_is_full = true};

    return zkl_question_ask(lock->session, &question, timeout_ms);
}

/* Sends one request about a node without which the lock is lost. On OK the caller frees *out_asked. */
static zklock_status ask_of_ours(struct zkl_query *query, const struct zkl_request *request,
                                 struct zkl_asked **out_asked)
{
    struct zkl_asked *asked = NULL;
    zklock_status status = zkl_question_send(query, request, &asked);

    if (status == ZKLOCK_OK)
        status = asked->code == ZKL_CODE_NO_NODE ? ZKLOCK_LOST : zkl_question_status(asked->code);
    if (status == ZKLOCK_OK)
        *out_asked = asked;
    else
        zkl_asked_free(asked);
    return status;
}

/*
 * The leader says what time it is only when something is written: here, what stands in the own contender already. A
 * request to let go stays there until the holder has seen it, and one that comes in between is not written over.
 */
static zklock_status learn_time(struct zkl_query *query, struct stamping *stamping)
{
    struct zkl_request get = {.op = ZKL_OP_GET, .path = stamping->own_path};
    struct zkl_asked *own = NULL;
    struct zkl_asked *written = NULL;
    zklock_status status = ask_of_ours(query, &get, &own);

    if (status != ZKLOCK_OK)
        return status;
    struct zkl_request set = {.op = ZKL_OP_SET,
                              .path = stamping->own_path,
                              .data = own->data ? own->data : "",
                              .data_size = (int)own->data_size,
                              .has_version = true,
                              .version = own->stat.version};
    status = zkl_revocation_is(own->data, own->data_size) ? ZKLOCK_PENDING : ask_of_ours(query, &set, &written);
    if (status == ZKLOCK_OK)
        stamping->now_ms = written->stat.mtime_ms;
    zkl_asked_free(written);
    zkl_asked_free(own);
    return status == ZKLOCK_CHANGED ? ZKLOCK_PENDING : status;
}

/* Data that somebody else keeps at the path are not ours to write over. */
static zklock_status read_stamp(struct zkl_query *query, const char *path, bool *out_is_there,
                                struct zkl_stat *out_stat)
{
    struct zkl_request get = {.op = ZKL_OP_GET, .path = path};
    struct zkl_asked *asked = NULL;
    zklock_status status = ask_of_ours(query, &get, &asked);

    if (status != ZKLOCK_OK)
        return status;
    *out_stat = asked->stat;
    *out_is_there = asked->data && strncmp(asked->data, MARK, sizeof MARK - 1) == 0;
    if (!*out_is_there && asked->data_size > 0)
        status = ZKLOCK_REFUSED;
    zkl_asked_free(asked);
    return status;
}

static zklock_status ask_age(struct zkl_query *query, const char *path, void *context)
{
    struct stamping *stamping = context;
    struct zkl_stat stat = {0};
    bool is_there = false;
    zklock_status status = learn_time(query, stamping);

    if (status == ZKLOCK_OK)
        status = read_stamp(query, path, &is_there, &stat);
    if (status != ZKLOCK_OK)
        return status;
    stamping->age_ms = -1;
    if (is_there)
        stamping->age_ms = stamping->now_ms > stat.mtime_ms ? stamping->now_ms - stat.mtime_ms : 0;
    return ZKLOCK_OK;
}

/* Repeated when its answer is lost: the stamp is then a little younger, no more. */
static zklock_status write_stamp(struct zkl_query *query, const char *path, void *context)
{
    const struct stamping *stamping = context;
    const char *const own[] = {stamping->own_path};
    struct zkl_request set = {
        .op = ZKL_OP_SET, .path = path, .paths = own, .path_count = 1, .has_version = true};
    struct zkl_asked *asked = NULL;
    struct zkl_stat stat = {0};
    bool is_there = false;
    zklock_status status = read_stamp(query, path, &is_there, &stat);
    char *data = malloc(sizeof MARK + strlen(stamping->payload));

    if (status == ZKLOCK_OK && !data)
        status = ZKLOCK_NO_MEMORY;
    if (status == ZKLOCK_OK) {
        set.data_size = sprintf(data, "%s%s", MARK, stamping->payload + 1);
        set.data = data;
        set.version = stat.version;
        status = ask_of_ours(query, &set, &asked);
    }
    free(data);
    zkl_asked_free(asked);
    return status == ZKLOCK_CHANGED ? ZKLOCK_PENDING : status;
}

zklock_status zklock_stamp_age(zklock *lock, int64_t timeout_ms, int64_t *out_age_ms)
{
    struct stamping stamping = {0};
    zklock_status status = out_age_ms ? take(lock, &stamping) : ZKLOCK_BAD_ARGUMENT;

    if (status == ZKLOCK_OK)
        status = ask(lock, &stamping, ask_age, timeout_ms);
    if (status == ZKLOCK_OK)
        *out_age_ms = stamping.age_ms;
    clear(&stamping);
    return status;
}

zklock_status zklock_stamp_write(zklock *lock, int64_t timeout_ms)
{
    struct stamping stamping = {0};
    zklock_status status = take(lock, &stamping);

    if (status == ZKLOCK_OK)
        status = ask(lock, &stamping, write_stamp, timeout_ms);
    clear(&stamping);
    return status;
}
