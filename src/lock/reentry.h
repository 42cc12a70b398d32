/*
 * Re-entry: the thread that holds acquires again without a request, and has to release as often. Only for lock objects
 * that were made for it.
 *
 * @locks every function expects the session's mutex  @thread the one that it is about
 */
#ifndef ZKL_REENTRY_H
#define ZKL_REENTRY_H

#include "lock/lock_state.h"

/* The calling thread has begun an acquire of its own. */
void zkl_reentry_begin(zklock *lock);
/* Whether what is held, or lost and not released, is the calling thread's. */
bool zkl_reentry_is_owner(const zklock *lock);
/* One more by its owner: OK, LOST or NO_UPGRADE, and then it was not counted. */
zklock_status zkl_reentry_enter(zklock *lock);
/* One less by its owner, and there are more: OK or LOST. PENDING: this is the last one, it is to be released. */
zklock_status zkl_reentry_leave(zklock *lock);

#endif
