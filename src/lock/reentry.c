#include "lock/reentry.h"

#include <limits.h>

#include "lock/cohort.h"
#include "lock/thread.h"

void zkl_reentry_begin(zklock *lock)
{
    lock->owner = zkl_this_thread();
    lock->entries = 1;
}

bool zkl_reentry_is_owner(const zklock *lock)
{
    if (!lock->is_reentrant)
        return false;
    if (lock->cohort)
        return zkl_cohort_is_owner(lock->cohort);
    return (zkl_lock_is_granted(lock) || zkl_lock_is_lost(lock)) && lock->owner == zkl_this_thread();
}

static bool is_over(const zklock *lock)
{
    return !zkl_lock_is_granted(lock) || !zkl_lock_is_in_time(lock);
}

zklock_status zkl_reentry_enter(zklock *lock)
{
    if (is_over(lock))
        return ZKLOCK_LOST;
    /* It would not be held as it was asked for. */
    if (lock->attempt->machine.is_downgraded || zkl_machine_has_two_names(&lock->attempt->machine))
        return ZKLOCK_NO_UPGRADE;
    if (lock->entries == UINT_MAX)
        return ZKLOCK_TOO_LARGE;
    lock->entries++;
    return ZKLOCK_OK;
}

zklock_status zkl_reentry_leave(zklock *lock)
{
    if (lock->entries <= 1)
        return ZKLOCK_PENDING;
    lock->entries--;
    return is_over(lock) ? ZKLOCK_LOST : ZKLOCK_OK;
}

unsigned zklock_entries(zklock *lock)
{
    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return 0;
    unsigned entries = zkl_reentry_is_owner(lock) ? lock->entries : 0;
    zkl_session_unlock(lock->session);
    return entries;
}
