/* From exclusive to shared without letting go, and never the other way. */
#include <stdio.h>

#include "lock/reentry.h"

/* OK: to be done. ALREADY: it is shared. @locks expects the session's mutex */
static zklock_status check_downgrade(zklock *lock)
{
    if (lock->is_reentrant && !zkl_reentry_is_owner(lock))
        return ZKLOCK_NOT_HELD;
    if (zkl_lock_is_lost(lock) || (zkl_lock_is_granted(lock) && !zkl_lock_is_in_time(lock)))
        return ZKLOCK_LOST;
    if (!zkl_lock_is_granted(lock))
        return ZKLOCK_NOT_HELD;
    if (lock->attempt->machine.is_downgraded || zkl_kind_is_shared(lock->attempt->kind))
        return ZKLOCK_ALREADY;
    if (lock->attempt->kind == ZKL_KIND_WRITE)
        return ZKLOCK_OK;
    zkl_detail_say(&lock->detail, "only exclusive locks of the style curator-rw can be downgraded");
    return ZKLOCK_BAD_ARGUMENT;
}

/* How long one thread waits for a downgrade: several may, of one lock. A member of the session meanwhile. */
struct patience {
    struct zkl_member member;
    zklock *lock;
    bool is_over;
};

static void ignore_link(struct zkl_member *member, enum zkl_link link)
{
    (void)member;
    (void)link;
}

static void ignore_node(struct zkl_member *member, enum zkl_node_event event, const char *path)
{
    (void)member;
    (void)event;
    (void)path;
}

static void on_limit(struct zkl_member *member, int64_t now_ns)
{
    struct patience *patience = (struct patience *)member;

    (void)now_ns;
    patience->is_over = true;
    pthread_cond_broadcast(&patience->lock->changed);
}

/* @locks expects the session's mutex, gives it up while waiting */
static zklock_status await_downgrade(zklock *lock, const struct zkl_attempt *attempt, int64_t timeout_ms)
{
    static const struct zkl_member_class class = {
        .on_link = ignore_link, .on_node = ignore_node, .on_time = on_limit};
    struct patience patience = {.member.class = &class, .lock = lock};
    zklock_session *session = lock->session;

    zkl_session_join(session, &patience.member);
    zkl_session_wake_member(session, &patience.member, zkl_time_after(zkl_session_now(session), timeout_ms));
    while (attempt->machine.state == ZKL_HELD && attempt->downgrade_result == ZKLOCK_PENDING && !patience.is_over)
        zkl_session_wait(session, &lock->changed);
    zkl_session_leave(session, &patience.member);
    if (attempt->machine.state != ZKL_HELD)
        return ZKLOCK_LOST;
    return attempt->downgrade_result == ZKLOCK_PENDING ? ZKLOCK_UNCONFIRMED : attempt->downgrade_result;
}

zklock_status zklock_downgrade(zklock *lock, int64_t timeout_ms)
{
    zklock_status status = zkl_lock_enter_blocking(lock);

    if (status != ZKLOCK_OK)
        return status;
    status = lock->cohort ? ZKLOCK_BAD_ARGUMENT : check_downgrade(lock);
    if (status != ZKLOCK_OK)
        return zkl_lock_leave(lock, status == ZKLOCK_ALREADY ? ZKLOCK_OK : status);
    struct zkl_attempt *attempt = lock->attempt;
    zkl_attempt_ref(attempt);
    status = zkl_attempt_downgrade(attempt) ? await_downgrade(lock, attempt, timeout_ms) : ZKLOCK_NO_MEMORY;
    zkl_attempt_unref(attempt);
    return zkl_lock_leave(lock, status);
}

zklock_status zklock_upgrade(zklock *lock)
{
    zklock_status status = zkl_lock_enter(lock);

    if (status != ZKLOCK_OK)
        return status;
    status = check_downgrade(lock);
    if (status == ZKLOCK_ALREADY || (status == ZKLOCK_BAD_ARGUMENT && lock->mode == ZKLOCK_MODE_SEMAPHORE))
        status = ZKLOCK_NO_UPGRADE;
    else if (status == ZKLOCK_BAD_ARGUMENT)
        status = ZKLOCK_OK;
    zkl_detail_clear(&lock->detail);
    return zkl_lock_leave(lock, status);
}
