/*
 * A lock object that threads of this process hand on among themselves. It is a member of the session while somebody
 * waits: for the limits of those, and to ask anew where that was not possible at once. What its lock tells is acted upon at
 * once, since that feeds no contender.
 *
 * @locks every function expects the session's mutex  @thread any
 */
#ifndef ZKL_LOCK_COHORT_H
#define ZKL_LOCK_COHORT_H

#include "lock/lock_state.h"
#include "recipe/cohort.h"
#include "zklock_cohort.h"

struct zklock_cohort {
    struct zkl_member member;
    bool is_member;
    zklock *lock; /* its contender, which keeps the session */
    bool is_asking; /* the lock's present attempt is the one that ASKED is about */
    struct zkl_cohort plan;
    uint64_t owner; /* while there is one: its zkl_this_thread() */
};

/* A thread that waits, on its stack. */
struct zkl_cohort_thread {
    struct zkl_cohort_waiter waiter;
    uint64_t thread;
    int64_t limit_ns;
    zklock_status result; /* PENDING until it has one */
    pthread_cond_t changed;
};

/* Whether there is an owner, and this thread is it. */
bool zkl_cohort_is_owner(const zklock_cohort *cohort);
/* Sets `result` sooner or later, perhaps at once. */
void zkl_cohort_arrive(zklock_cohort *cohort, struct zkl_cohort_thread *thread);
/* By the owner. OK or LOST. */
zklock_status zkl_cohort_release(zklock_cohort *cohort);
/* Nobody waits, and nobody will. */
void zkl_cohort_end(zklock_cohort *cohort);

/* lock.c: the lock has something to tell. */
void zkl_cohort_on_event(zklock_cohort *cohort);

#endif
