/* The public calls on a cohort. */
#include <stdlib.h>

#include "base/options.h"
#include "lock/cohort.h"
#include "lock/reentry.h"
#include "lock/thread.h"

/* What the options had in the first version. */
#define OLDEST_OPTIONS sizeof(zklock_cohort_options)

/* ---------------------------------------------------------------- life */

void zklock_cohort_options_init_sized(zklock_cohort_options *options, size_t size)
{
    zklock_cohort_options defaults = {.size = sizeof defaults, .most_passes = 1000, .most_ms = 100};

    if (options)
        zkl_options_fill(options, size, &defaults, sizeof defaults);
}

/* Of many holders at once each thread would want its own contender. */
static bool is_exclusive(zklock_mode mode)
{
    return mode == ZKLOCK_MODE_EXCLUSIVE || mode == ZKLOCK_MODE_LEADER_LATCH;
}

zklock_status zklock_cohort_new(zklock_session *session, const char *path, const zklock_options *lock,
                                const zklock_cohort_options *given, zklock_cohort **out_cohort)
{
    zklock_cohort_options options;

    zklock_cohort_options_init(&options);
    if (!out_cohort || (given && !zkl_options_take(&options, sizeof options, given, OLDEST_OPTIONS)))
        return ZKLOCK_BAD_ARGUMENT;
    zklock_cohort *cohort = calloc(1, sizeof *cohort);
    if (!cohort)
        return ZKLOCK_NO_MEMORY;
    zklock_status status = zklock_new(session, path, lock, &cohort->lock);
    if (status == ZKLOCK_OK && !is_exclusive(cohort->lock->mode))
        status = ZKLOCK_BAD_ARGUMENT;
    if (status != ZKLOCK_OK) {
        zklock_free(cohort->lock);
        free(cohort);
        return status;
    }
    cohort->plan.most_passes = options.most_passes;
    cohort->plan.most_ns = zkl_time_after(0, options.most_ms);
    cohort->lock->cohort = cohort;
    *out_cohort = cohort;
    return ZKLOCK_OK;
}

static zklock_status enter(zklock_cohort *cohort)
{
    return cohort ? zkl_lock_enter(cohort->lock) : ZKLOCK_BAD_ARGUMENT;
}

static zklock_status leave(zklock_cohort *cohort, zklock_status status)
{
    return zkl_lock_leave(cohort->lock, status);
}

void zklock_cohort_free(zklock_cohort *cohort)
{
    if (enter(cohort) != ZKLOCK_OK)
        return;
    zkl_cohort_end(cohort);
    (void)leave(cohort, ZKLOCK_OK);
    zklock_free(cohort->lock);
    free(cohort);
}

/* ---------------------------------------------------------------- acquire and release */

/* @locks expects the session's mutex, gives it up while waiting */
static zklock_status arrive_and_wait(zklock_cohort *cohort, int64_t timeout_ms, bool is_try)
{
    zklock_session *session = cohort->lock->session;
    struct zkl_cohort_thread thread = {
        .waiter.is_try = is_try,
        .thread = zkl_this_thread(),
        .limit_ns = zkl_lock_limit(session, timeout_ms),
        .result = ZKLOCK_PENDING,
    };

    if (zkl_session_is_closing(session))
        return ZKLOCK_CLOSED;
    if (zkl_cohort_is_owner(cohort))
        return cohort->lock->is_reentrant ? zkl_reentry_enter(cohort->lock) : ZKLOCK_ALREADY;
    pthread_cond_init(&thread.changed, NULL);
    zkl_cohort_arrive(cohort, &thread);
    while (thread.result == ZKLOCK_PENDING)
        zkl_session_wait(session, &thread.changed);
    pthread_cond_destroy(&thread.changed);
    return thread.result;
}

static zklock_status acquire(zklock_cohort *cohort, int64_t timeout_ms, bool is_try)
{
    zklock_status status = cohort ? zkl_lock_enter_blocking(cohort->lock) : ZKLOCK_BAD_ARGUMENT;

    return status == ZKLOCK_OK ? leave(cohort, arrive_and_wait(cohort, timeout_ms, is_try)) : status;
}

zklock_status zklock_cohort_try(zklock_cohort *cohort, int64_t timeout_ms)
{
    return acquire(cohort, timeout_ms, true);
}

zklock_status zklock_cohort_acquire(zklock_cohort *cohort, int64_t timeout_ms)
{
    return acquire(cohort, timeout_ms, timeout_ms == 0);
}

zklock_status zklock_cohort_release(zklock_cohort *cohort)
{
    zklock_status status = enter(cohort);

    if (status != ZKLOCK_OK)
        return status;
    if (!zkl_cohort_is_owner(cohort))
        return leave(cohort, ZKLOCK_NOT_HELD);
    status = zkl_reentry_leave(cohort->lock);
    return leave(cohort, status == ZKLOCK_PENDING ? zkl_cohort_release(cohort) : status);
}

/* ---------------------------------------------------------------- look */

/* Of the calling thread. @locks expects the session's mutex */
static int64_t remaining_ns(const zklock_cohort *cohort)
{
    return zkl_cohort_is_owner(cohort) ? zkl_lock_remaining(cohort->lock) : 0;
}

bool zklock_cohort_is_held(zklock_cohort *cohort)
{
    if (enter(cohort) != ZKLOCK_OK)
        return false;
    bool is_held = remaining_ns(cohort) > 0;
    (void)leave(cohort, ZKLOCK_OK);
    return is_held;
}

int64_t zklock_cohort_remaining_ms(zklock_cohort *cohort)
{
    if (enter(cohort) != ZKLOCK_OK)
        return 0;
    int64_t remaining_ms = remaining_ns(cohort) / ZKL_NS_PER_MS;
    (void)leave(cohort, ZKLOCK_OK);
    return remaining_ms;
}

zklock_status zklock_cohort_token(zklock_cohort *cohort, uint64_t *out_token)
{
    zklock_status status = out_token ? enter(cohort) : ZKLOCK_BAD_ARGUMENT;

    if (status != ZKLOCK_OK)
        return status;
    if (!zkl_cohort_is_owner(cohort))
        return leave(cohort, ZKLOCK_NOT_HELD);
    *out_token = cohort->lock->token;
    return leave(cohort, ZKLOCK_OK);
}

zklock *zklock_cohort_lock(zklock_cohort *cohort)
{
    if (enter(cohort) != ZKLOCK_OK)
        return NULL;
    (void)leave(cohort, ZKLOCK_OK);
    return cohort->lock;
}
