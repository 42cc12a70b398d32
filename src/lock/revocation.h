/* A request to let go, as others write it into our contender: seen, answered, and told to the owner. */
#ifndef ZKL_REVOCATION_H
#define ZKL_REVOCATION_H

#include "lock/attempt.h"

/* Of Curator's Revoker, and of the recipe in ZooKeeper's manual. */
#define ZKL_REVOCATION_OF_CURATOR "__REVOKE__"
#define ZKL_REVOCATION_OF_RECIPE "unlock"

/* Whether this is one. */
bool zkl_revocation_is(const char *data, size_t size);

/*
 * Takes what a look at the own node brought. A request overwrites the payload: it is written back, with a mark.
 *
 * @locks expects the session's mutex
 */
void zkl_revocation_look(struct zkl_attempt *attempt, const struct zkl_reply *own);

#endif
