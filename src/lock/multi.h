/*
 * Several lock objects of one session as one. It is a member of the session while it acquires: what its parts tell is
 * taken down at once, and what follows for other parts is done in its own turn, on the timer or in the call that begins.
 *
 * @locks every function expects the session's mutex, unless it says otherwise  @thread any
 */
#ifndef ZKL_LOCK_MULTI_H
#define ZKL_LOCK_MULTI_H

#include "lock/lock_state.h"
#include "recipe/multi.h"

/* A thread that waits for the end of the acquire that runs; on its own stack. */
struct zkl_multi_waiter {
    struct zkl_multi_waiter *next;
    zklock_status result; /* of this acquire, whatever was begun since */
};

struct zklock_multi {
    struct zkl_member member;
    bool is_member;
    zklock_session *session; /* counted */
    zklock **parts;          /* in the order of their paths; each has is_in_multi_flight */
    enum zkl_part *standing; /* room for the plan */
    int count;

    zklock_status result; /* of the latest acquire; NOT_HELD before the first */
    struct zkl_multi_waiter *waiters; /* none once it has its result */
    zklock *current;      /* where it waits, or what made the result; NULL: none */
    int64_t limit_ns;
    bool is_try;
    bool is_being_freed;
    int releasers;        /* threads that wait in zklock_multi_release() */
    pthread_cond_t changed;
    int event_fd;         /* -1: nobody asked for one */
    char detail[1200];    /* a path and what its lock says */
};

/* multi_api.c: into a public call and out of it. @locks takes the session's mutex, unless this is not the owning process */
zklock_status zkl_multi_enter(zklock_multi *multi);
/* The same for a call that waits. */
zklock_status zkl_multi_enter_blocking(zklock_multi *multi);
/* Returns `status`. @locks gives the session's mutex up */
zklock_status zkl_multi_leave(zklock_multi *multi, zklock_status status);

/* As its owner gave it: without the chroot. */
const char *zkl_multi_path_of(const zklock *part);
/* Of one that is not in use: takes all its parts. OK: begun. */
zklock_status zkl_multi_begin(zklock_multi *multi);
/* Ends an acquire that runs. */
void zkl_multi_end(zklock_multi *multi, zklock_status result);
/* What is still to be done of an acquire that has its result. Not from within what a part tells. */
void zkl_multi_settle(zklock_multi *multi);
/* Whether its parts are held, or were and are not released. */
bool zkl_multi_is_in_use(const zklock_multi *multi);

/* lock.c: a part's place has changed; or it tells its owner something. */
void zkl_multi_on_move(zklock_multi *multi);
void zkl_multi_on_event(zklock_multi *multi);

#endif
