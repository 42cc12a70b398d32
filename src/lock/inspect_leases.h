/*
 * Semaphores, as inspecting calls see them: what stands in two directories is one queue.
 *
 * @locks the functions that take a query expect the session's mutex, and give it up while waiting
 */
#ifndef ZKL_INSPECT_LEASES_H
#define ZKL_INSPECT_LEASES_H

#include "lock/question.h"
#include "recipe/name.h"

/*
 * Where the path is a semaphore, says so in the queue, with its limit, and puts what stands in its directories in the
 * place of these, with their names in front: "leases/...", "locks/...". PENDING: ask again.
 */
zklock_status zkl_semaphore_expand(struct zkl_query *query, const char *path, struct zkl_asked *list,
                                   zklock_queue *queue);
/* Whether such a name is that of a lease. */
bool zkl_semaphore_is_lease(const char *name);
/* Such a name without its directory; any other as it is. */
const char *zkl_semaphore_bare_name(const char *name);

/* Waits for a change where the path, listed before, is a semaphore whose permits are all taken. OK: it is none, or one
 * is free. PENDING: look again. */
zklock_status zkl_semaphore_await(struct zkl_query *query, const char *path, const struct zkl_asked *list);

#endif
