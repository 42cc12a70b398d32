/* The public calls on several locks as one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/line.h"
#include "lock/multi.h"

/* ---------------------------------------------------------------- in and out */

/* @locks takes the session's mutex, unless this is not the owning process */
static zklock_status enter(zklock_multi *multi)
{
    if (!multi)
        return ZKLOCK_BAD_ARGUMENT;
    if (!zkl_session_is_own(multi->session))
        return ZKLOCK_FORKED;
    zkl_session_lock(multi->session);
    zkl_multi_settle(multi);
    return ZKLOCK_OK;
}

static zklock_status enter_blocking(zklock_multi *multi)
{
    if (multi && zkl_session_is_own(multi->session) && zkl_is_notifier_thread())
        return ZKLOCK_DEADLOCK;
    return enter(multi);
}

/* @locks gives the session's mutex up */
static zklock_status leave(zklock_multi *multi, zklock_status status)
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

void zklock_multi_free(zklock_multi *multi)
{
    if (enter(multi) != ZKLOCK_OK)
        return;
    multi->is_being_freed = true;
    if (multi->result == ZKLOCK_PENDING)
        zkl_multi_end(multi, ZKLOCK_CANCELLED);
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
        status = enter(multi);
    if (status == ZKLOCK_OK)
        status = leave(multi, add(multi, part));
    if (status != ZKLOCK_OK)
        zklock_free(part);
    return status;
}

zklock *zklock_multi_lock(zklock_multi *multi, const char *path)
{
    zklock *part = NULL;

    if (!path || enter(multi) != ZKLOCK_OK)
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

/* @locks expects the session's mutex, gives it up while waiting */
static zklock_status wait_for_result(zklock_multi *multi)
{
    while (multi->result == ZKLOCK_PENDING)
        pthread_cond_wait(&multi->changed, zkl_session_mutex(multi->session));
    zkl_multi_settle(multi);
    return multi->result;
}

static zklock_status start_and_wait(zklock_multi *multi, int64_t timeout_ms, bool is_try)
{
    zklock_status status = enter_blocking(multi);

    if (status != ZKLOCK_OK)
        return status;
    status = start(multi, timeout_ms, is_try);
    return leave(multi, status == ZKLOCK_OK ? wait_for_result(multi) : status);
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
    zklock_status status = enter(multi);

    return status == ZKLOCK_OK ? leave(multi, start(multi, timeout_ms, false)) : status;
}

zklock_status zklock_multi_result(zklock_multi *multi)
{
    zklock_status status = enter(multi);

    return status == ZKLOCK_OK ? leave(multi, multi->result) : status;
}

zklock_status zklock_multi_wait(zklock_multi *multi)
{
    zklock_status status = enter_blocking(multi);

    return status == ZKLOCK_OK ? leave(multi, wait_for_result(multi)) : status;
}

zklock_status zklock_multi_cancel(zklock_multi *multi)
{
    zklock_status status = enter(multi);

    if (status != ZKLOCK_OK)
        return status;
    if (multi->result == ZKLOCK_PENDING)
        zkl_multi_end(multi, ZKLOCK_CANCELLED);
    if (multi->result == ZKLOCK_CANCELLED)
        return leave(multi, ZKLOCK_OK);
    return leave(multi, zkl_multi_is_in_use(multi) ? ZKLOCK_ALREADY : ZKLOCK_NOT_HELD);
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
    zklock_status status = enter_blocking(multi);

    if (status != ZKLOCK_OK)
        return status;
    zklock_status begun = let_go(multi, zkl_time_after(zkl_session_now(multi->session), timeout_ms));
    if (begun == ZKLOCK_NOT_HELD)
        return leave(multi, begun);
    /* Nothing is begun anew meanwhile, so that the attempts stay. */
    multi->releasers++;
    while ((status = release_status(multi, begun)) == ZKLOCK_PENDING)
        pthread_cond_wait(&multi->changed, zkl_session_mutex(multi->session));
    multi->releasers--;
    return leave(multi, status);
}

zklock_status zklock_multi_release_send(zklock_multi *multi)
{
    zklock_status status = enter(multi);

    return status == ZKLOCK_OK ? leave(multi, let_go(multi, ZKL_NEVER)) : status;
}

/* ---------------------------------------------------------------- look */

/* For which all are held for certain; 0: one is not. @locks takes the session's mutex */
static int64_t remaining_ns(zklock_multi *multi)
{
    if (enter(multi) != ZKLOCK_OK)
        return 0;
    int64_t least_ns = multi->result == ZKLOCK_OK ? ZKL_NEVER : 0;
    for (int i = 0; i < multi->count; i++)
        least_ns = zkl_time_earlier(least_ns, zkl_lock_remaining(multi->parts[i]));
    zkl_session_unlock(multi->session);
    return least_ns;
}

/* By the nanosecond, as zklock_is_held(). */
bool zklock_multi_is_held(zklock_multi *multi)
{
    return remaining_ns(multi) > 0;
}

int64_t zklock_multi_remaining_ms(zklock_multi *multi)
{
    return remaining_ns(multi) / ZKL_NS_PER_MS;
}

/* The worst of all that were granted. @locks none; takes the session's mutex in turn for each */
static zklock_state worst_state(zklock_multi *multi, int count, zklock_loss *out_loss)
{
    zklock_state worst = ZKLOCK_STATE_HELD;

    for (int i = 0; i < count; i++) {
        zklock_loss loss;
        zklock_state state = zklock_state_get(multi->parts[i], &loss);
        if (state == ZKLOCK_STATE_LOST) {
            *out_loss = loss;
            return state;
        }
        if (state != ZKLOCK_STATE_HELD)
            worst = state;
    }
    return worst;
}

zklock_state zklock_multi_state_get(zklock_multi *multi, zklock_loss *out_loss)
{
    zklock_state state = ZKLOCK_STATE_IDLE;
    zklock_loss loss = ZKLOCK_LOSS_NONE;

    if (enter(multi) == ZKLOCK_OK) {
        zklock_status result = multi->result;
        int count = multi->count;
        zkl_session_unlock(multi->session);
        if (result == ZKLOCK_PENDING)
            state = ZKLOCK_STATE_ACQUIRING;
        else if (result == ZKLOCK_OK)
            state = worst_state(multi, count, &loss);
    }
    if (out_loss)
        *out_loss = loss;
    return state;
}

zklock *zklock_multi_current(zklock_multi *multi)
{
    if (enter(multi) != ZKLOCK_OK)
        return NULL;
    zklock *current = multi->current;
    zkl_session_unlock(multi->session);
    return current;
}

void zklock_multi_detail(zklock_multi *multi, char *buffer, size_t size)
{
    if (size > 0)
        buffer[0] = '\0';
    if (enter(multi) != ZKLOCK_OK)
        return;
    snprintf(buffer, size, "%s", multi->detail);
    if (size > 0)
        zkl_line_tame(buffer);
    zkl_session_unlock(multi->session);
}

zklock_status zklock_multi_fd(zklock_multi *multi, int *out_fd)
{
    zklock_status status = out_fd ? enter(multi) : ZKLOCK_BAD_ARGUMENT;

    if (status != ZKLOCK_OK)
        return status;
    if (multi->event_fd < 0)
        multi->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (multi->event_fd < 0)
        return leave(multi, ZKLOCK_SYSTEM);
    *out_fd = multi->event_fd;
    return leave(multi, ZKLOCK_OK);
}

void zklock_multi_fd_clear(zklock_multi *multi)
{
    uint64_t count;

    if (enter(multi) != ZKLOCK_OK)
        return;
    if (multi->event_fd >= 0)
        (void)!read(multi->event_fd, &count, sizeof count);
    zkl_session_unlock(multi->session);
}
