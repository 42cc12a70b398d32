/* What guards other data of ZooKeeper: the own contender, for as long as nobody else can hold the lock. */
#include <string.h>

#include "lock/lock_state.h"

zklock_status zklock_held_path(zklock *lock, char *buffer, size_t size)
{
    zklock_status status = buffer ? zkl_lock_enter(lock) : ZKLOCK_BAD_ARGUMENT;

    if (status != ZKLOCK_OK)
        return status;
    /* While a downgrade is under way the contender has two names, and nobody knows which. */
    if (zkl_lock_is_lost(lock))
        status = ZKLOCK_LOST;
    else if (!zkl_lock_is_granted(lock))
        status = ZKLOCK_NOT_HELD;
    else if (zkl_machine_has_two_names(&lock->attempt->machine))
        status = ZKLOCK_UNCONFIRMED;
    if (status != ZKLOCK_OK)
        return zkl_lock_leave(lock, status);
    const char *path = lock->attempt->own_path + strlen(zkl_session_chroot(lock->session));
    if (strlen(path) >= size)
        return zkl_lock_leave(lock, ZKLOCK_TOO_LARGE);
    strcpy(buffer, path);
    return zkl_lock_leave(lock, ZKLOCK_OK);
}
