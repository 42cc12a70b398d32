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
    if (!zkl_attempt_downgrade(attempt, zkl_time_after(zkl_session_now(lock->session), timeout_ms)))
        status = ZKLOCK_NO_MEMORY;
    while (status == ZKLOCK_OK && attempt->machine.state == ZKL_HELD && attempt->downgrade_result == ZKLOCK_PENDING &&
           !attempt->limit_has_passed)
        pthread_cond_wait(&lock->changed, zkl_session_mutex(lock->session));
    if (status == ZKLOCK_OK && attempt->machine.state != ZKL_HELD)
        status = ZKLOCK_LOST;
    else if (status == ZKLOCK_OK)
        status = attempt->downgrade_result == ZKLOCK_PENDING ? ZKLOCK_UNCONFIRMED : attempt->downgrade_result;
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
