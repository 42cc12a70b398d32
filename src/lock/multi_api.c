/* The public calls on several locks as one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/multi.h"

/* ---------------------------------------------------------------- in and out */

zklock_status zkl_multi_enter(zklock_multi *multi)
{
    if (!multi)
        return ZKLOCK_BAD_ARGUMENT;
    if (!zkl_session_is_own(multi->session))
        return ZKLOCK_FORKED;
    zkl_session_lock(multi->session);
    zkl_multi_settle(multi);
    return ZKLOCK_OK;
}

zklock_status zkl_multi_enter_blocking(zklock_multi *multi)
{
    if (multi && zkl_session_is_own(multi->session) && zkl_is_notifier_thread())
        return ZKLOCK_DEADLOCK;
    return zkl_multi_enter(multi);
}

zklock_status zkl_multi_leave(zklock_multi *multi, zklock_status status)
{
    zkl_session_unlock(multi->session);
    return status;
}

/* ---------------------------------------------------------------- life */

zklock_status zklock_multi_new(zklock_session *session, zklock_multi **out_multi)
{
    if (!session || !out_multi)
        return ZKLOCK_BAD_ARGUMENT;
    if (!zkl_session_is_own(session))
        return ZKLOCK_FORKED;
    zklock_multi *multi = calloc(1, sizeof *multi);
    if (!multi)
        return ZKLOCK_NO_MEMORY;
    multi->session = session;
    multi->event_fd = -1;
    multi->result = ZKLOCK_NOT_HELD;
    pthread_cond_init(&multi->changed, NULL);
    zkl_session_lock(session);
    zkl_session_ref(session);
    zkl_session_unlock(session);
    *out_multi = multi;
    return ZKLOCK_OK;
}

/* A callback of one of them may ask for any of them: all of them are there until none runs. @locks expects the session's
 * mutex, gives it up while waiting */
static void silence_parts(zklock_multi *multi)
{
    for (int i = 0; i < multi->count; i++)
        zkl_lock_abandon(multi->parts[i]);
    for (int i = 0; i < multi->count; i++)
        zkl_session_forget_notices(multi->session, multi->parts[i]);
}

void zklock_multi_free(zklock_multi *multi)
{
    if (zkl_multi_enter(multi) != ZKLOCK_OK)
        return;
    multi->is_being_freed = true;
    if (multi->result == ZKLOCK_PENDING)
        zkl_multi_end(multi, ZKLOCK_CANCELLED);
    silence_parts(multi);
    zkl_session_unlock(multi->session);
    for (int i = 0; i < multi->count; i++)
        zklock_free(multi->parts[i]);
    pthread_cond_destroy(&multi->changed);
    if (multi->event_fd >= 0)
        close(multi->event_fd);
    free(multi->parts);
    free(multi->standing);
    zkl_session_lock(multi->session);
    zkl_session_unref_unlock(multi->session);
    free(multi);
}

/* Where a path stands among the parts, or would; *out_is_there: it does. @locks expects the session's mutex */
static int place_of(const zklock_multi *multi, const char *path, bool *out_is_there)
{
    int at = 0;

    while (at < multi->count && strcmp(multi->parts[at]->path, path) < 0)
        at++;
    *out_is_there = at < multi->count && strcmp(multi->parts[at]->path, path) == 0;
    return at;
}

/* @locks expects the session's mutex */
static zklock_status add(zklock_multi *multi, zklock *part)
{
    if (multi->is_being_freed)
        return ZKLOCK_CLOSED;
    bool is_there;
    int at = place_of(multi, part->path, &is_there);
    size_t count = (size_t)multi->count + 1;

    const char *misfit = is_there             ? "was added before; its holder would wait for itself"
                         : part->is_reentrant ? "several locks belong to no thread, so that none is re-entrant"
                                              : NULL;
    if (misfit) {
        snprintf(multi->detail, sizeof multi->detail, "%s: %s", zkl_multi_path_of(part), misfit);
        return ZKLOCK_BAD_ARGUMENT;
    }
    if (zkl_multi_is_in_use(multi))
        return ZKLOCK_ALREADY;
    zklock **parts = realloc(multi->parts, count * sizeof(zklock *));
    if (parts)
        multi->parts = parts;
    enum zkl_part *standing = realloc(multi->standing, count * sizeof *standing);
    if (standing)
        multi->standing = standing;
    if (!parts || !standing)
        return ZKLOCK_NO_MEMORY;
    memmove(parts + at + 1, parts + at, (size_t)(multi->count - at) * sizeof(zklock *));
    parts[at] = part;
    multi->count++;
    part->multi = multi;
    return ZKLOCK_OK;
}

zklock_status zklock_multi_add(zklock_multi *multi, const char *path, const zklock_options *options)
{
    zklock *part = NULL;
    zklock_status status = multi ? zklock_new(multi->session, path, options, &part) : ZKLOCK_BAD_ARGUMENT;

    if (status == ZKLOCK_OK)
        status = zkl_multi_enter(multi);
    if (status == ZKLOCK_OK)
        status = zkl_multi_leave(multi, add(multi, part));
    if (status != ZKLOCK_OK)
        zklock_free(part);
    return status;
}

zklock *zklock_multi_lock(zklock_multi *multi, const char *path)
{
    zklock *part = NULL;

    if (!path || zkl_multi_enter(multi) != ZKLOCK_OK)
        return NULL;
    for (int i = 0; i < multi->count && !part; i++) {
        if (strcmp(zkl_multi_path_of(multi->parts[i]), path) == 0)
            part = multi->parts[i];
    }
    zkl_session_unlock(multi->session);
    return part;
}

/* ---------------------------------------------------------------- acquire */

/* @locks expects the session's mutex */
static zklock_status start(zklock_multi *multi, int64_t timeout_ms, bool is_try)
{
    if (multi->is_being_freed)
        return ZKLOCK_CLOSED;
    if (multi->count == 0)
        return ZKLOCK_BAD_ARGUMENT;
    if (zkl_multi_is_in_use(multi))
        return ZKLOCK_ALREADY;
    multi->limit_ns = zkl_lock_limit(multi->session, timeout_ms);
    multi->is_try = is_try || timeout_ms == 0;
    return zkl_multi_begin(multi);
}

/* By the time this thread runs again the next acquire may have begun. @locks expects the session's mutex, gives it up while
 * waiting */
static void await_end(zklock_multi *multi, struct zkl_multi_waiter *waiter)
{
    waiter->next = multi->waiters;
    multi->waiters = waiter;
    while (waiter->result == ZKLOCK_PENDING)
        zkl_session_wait(multi->session, &multi->changed);
}

/* @locks as await_end() */
static zklock_status wait_for_result(zklock_multi *multi)
{
    struct zkl_multi_waiter waiter = {.result = multi->result};

    if (waiter.result == ZKLOCK_PENDING)
        await_end(multi, &waiter);
    zkl_multi_settle(multi);
    return waiter.result;
}

static zklock_status start_and_wait(zklock_multi *multi, int64_t timeout_ms, bool is_try)
{
    zklock_status status = zkl_multi_enter_blocking(multi);

    if (status != ZKLOCK_OK)
        return status;
    status = start(multi, timeout_ms, is_try);
    return zkl_multi_leave(multi, status == ZKLOCK_OK ? wait_for_result(multi) : status);
}

zklock_status zklock_multi_try(zklock_multi *multi, int64_t timeout_ms)
{
    return start_and_wait(multi, timeout_ms, true);
}

zklock_status zklock_multi_acquire(zklock_multi *multi, int64_t timeout_ms)
{
    return start_and_wait(multi, timeout_ms, false);
}

zklock_status zklock_multi_acquire_start(zklock_multi *multi, int64_t timeout_ms)
{
    zklock_status status = zkl_multi_enter(multi);

    return status == ZKLOCK_OK ? zkl_multi_leave(multi, start(multi, timeout_ms, false)) : status;
}

zklock_status zklock_multi_result(zklock_multi *multi)
{
    zklock_status status = zkl_multi_enter(multi);

    return status == ZKLOCK_OK ? zkl_multi_leave(multi, multi->result) : status;
}

zklock_status zklock_multi_wait(zklock_multi *multi)
{
    zklock_status status = zkl_multi_enter_blocking(multi);

    return status == ZKLOCK_OK ? zkl_multi_leave(multi, wait_for_result(multi)) : status;
}

zklock_status zklock_multi_cancel(zklock_multi *multi)
{
    zklock_status status = zkl_multi_enter(multi);

    if (status != ZKLOCK_OK)
        return status;
    if (multi->result == ZKLOCK_PENDING)
        zkl_multi_end(multi, ZKLOCK_CANCELLED);
    if (multi->result == ZKLOCK_CANCELLED)
        return zkl_multi_leave(multi, ZKLOCK_OK);
    return zkl_multi_leave(multi, zkl_multi_is_in_use(multi) ? ZKLOCK_ALREADY : ZKLOCK_NOT_HELD);
}

/* ---------------------------------------------------------------- release */

/* What counts for all of them: LOST before any other failure. */
static zklock_status worse(zklock_status one, zklock_status other)
{
    if (one == ZKLOCK_LOST || other == ZKLOCK_LOST)
        return ZKLOCK_LOST;
    return one == ZKLOCK_OK ? other : one;
}

/* Back to back. NOT_HELD: there was nothing to let go. @locks expects the session's mutex */
static zklock_status let_go(zklock_multi *multi, int64_t limit_ns)
{
    zklock_status worst = ZKLOCK_OK;

    if (multi->result != ZKLOCK_OK || !zkl_multi_is_in_use(multi))
        return ZKLOCK_NOT_HELD;
    for (int i = 0; i < multi->count; i++)
        worst = worse(worst, zkl_lock_let_go(multi->parts[i], limit_ns));
    return worst;
}

/* PENDING: that of one of them is not certain yet. @locks expects the session's mutex */
static zklock_status release_status(const zklock_multi *multi, zklock_status begun)
{
    zklock_status worst = begun;

    for (int i = 0; i < multi->count; i++) {
        zklock_status status = zkl_attempt_release_status(multi->parts[i]->attempt, ZKLOCK_OK);
        if (status == ZKLOCK_PENDING)
            return status;
        worst = worse(worst, status);
    }
    return worst;
}

zklock_status zklock_multi_release(zklock_multi *multi, int64_t timeout_ms)
{
    zklock_status status = zkl_multi_enter_blocking(multi);

    if (status != ZKLOCK_OK)
        return status;
    zklock_status begun = let_go(multi, zkl_time_after(zkl_session_now(multi->session), timeout_ms));
    if (begun == ZKLOCK_NOT_HELD)
        return zkl_multi_leave(multi, begun);
    /* Nothing is begun anew meanwhile, so that the attempts stay. */
    multi->releasers++;
    while ((status = release_status(multi, begun)) == ZKLOCK_PENDING)
        zkl_session_wait(multi->session, &multi->changed);
    multi->releasers--;
    return zkl_multi_leave(multi, status);
}

zklock_status zklock_multi_release_send(zklock_multi *multi)
{
    zklock_status status = zkl_multi_enter(multi);

    return status == ZKLOCK_OK ? zkl_multi_leave(multi, let_go(multi, ZKL_NEVER)) : status;
}
