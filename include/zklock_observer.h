/*
 * zklock_observer.h - who leads, told by a callback upon each change
 *
 * zklock_observe() waits for the next leader on the caller's thread. An observer does not wait: it stands in no queue, and
 * calls back whenever another contender than the one that it told last stands first, or nobody does any more.
 *
 * What an observer promises
 *
 *  - The first call tells how things stand: the leader, or that nobody leads. Each later call tells something else than
 *    the call before it. The same leader is not told twice, whatever became of the connection in between.
 *  - The latest is told. Of what changes while a callback runs, or before zklock_session_dispatch() is called, only the
 *    last state is: leaders that came and went meanwhile are left out.
 *  - It is news, not a guarantee: a server tells what it knows, and the leader may have changed again. Who acts on it
 *    gives the token to the resource, and lets that refuse older ones (zklock_fence_admit()); or asks
 *    zklock_token_verify(). While the session is disconnected nothing is told; once it is connected again, or a fresh
 *    session has taken its place, it is looked again.
 *
 * What it costs
 *
 *  - One watch on the leader's node; where nobody stands first, one on the directory. A contender that comes to wait
 *    or gives up behind the leader wakes no observer.
 *  - A change of leader wakes all observers of it, since that is what they are for: each asks for the list and for the
 *    new leader's node, two requests. So it does after each connection, and when somebody writes into the leader's node.
 *  - Where the path does not exist, or where rights are missing, no server tells of a change: it is looked once a second,
 *    or up to a quarter sooner.
 *  - Its session keeps a lease, as for a lock that waits.
 */
#ifndef ZKLOCK_OBSERVER_H
#define ZKLOCK_OBSERVER_H

#include <zklock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zklock_observer zklock_observer;

/* ----------------------------------------------------------------------------------------------- observers */

/* Valid, with all it points to, until the callback returns. A later version may have more at its end. */
typedef struct zklock_sighting {
    zklock_status status; /* ZKLOCK_OK. Else who leads cannot be seen for now, and it is looked again by itself:
                             ZKLOCK_DENIED: a right is missing, or the credentials were not accepted. ZKLOCK_REFUSED */
    const zklock_contender *leader; /* who stands first, as in zklock_queue; may be larger than this header's. NULL: nobody
                                       leads, or it cannot be seen */
} zklock_sighting;

/*
 * Tells a change. Runs on the notifier thread, or in zklock_session_dispatch(): rule 4 of zklock.h. It may stop its own
 * observer, and start others. `context` is what zklock_observer_start() was given.
 */
typedef void zklock_observer_fn(zklock_observer *observer, const zklock_sighting *sighting, void *context);

/*
 * Begins to observe who stands first at a path: the leader, or the holder of a lock of any style and mode but a semaphore,
 * whose leases stand elsewhere.
 *
 * path       as in zklock_new(); it need not exist; copied.
 * callback   called for each change, and once for how things stand.
 * context    handed to the callback; the caller's.
 * ownership  the caller ends *out_observer with zklock_observer_stop(), if possible before the session is closed. It is
 *            written before the first callback runs.
 * blocking   no; without a connection it begins to look when there is one. threads: any.
 * callback   none when the call failed. After zklock_session_close() was called none begins any more.
 * returns    ZKLOCK_OK; ZKLOCK_BAD_ARGUMENT; ZKLOCK_TOO_LARGE: the path is too long, or the session watches as much as
 *            its connection can restore: use another one; ZKLOCK_NO_MEMORY; ZKLOCK_CLOSED; ZKLOCK_FORKED.
 * since      0.1
 */
ZKLOCK_API ZKLOCK_MUST_CHECK zklock_status zklock_observer_start(zklock_session *session, const char *path,
                                                                 zklock_observer_fn *callback, void *context,
                                                                 zklock_observer **out_observer);

/*
 * Ends an observer and frees it. What was not told yet is dropped. NULL is allowed.
 *
 * blocking   only until a running callback of it returns; from inside that callback, not at all. threads: any; no other
 *            stop of the same observer may run or follow.
 * callback   none runs after it has returned, but for the one that it was called from.
 * since      0.1
 */
ZKLOCK_API void zklock_observer_stop(zklock_observer *observer);

#ifdef __cplusplus
}
#endif

#endif
