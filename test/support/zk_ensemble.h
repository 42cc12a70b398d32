/* Three real ZooKeeper servers on 127.0.0.1 that form one ensemble.
 *
 * Each of them is a zk_server: stop, kill, pause and ask it with the functions of zk_server.h. (Restart waits
 * until the server answers, for which it needs a second running one; zk_server_begin does not wait.)
 * The ensemble owns its servers. */
#ifndef ZKLOCK_TEST_ZK_ENSEMBLE_H
#define ZKLOCK_TEST_ZK_ENSEMBLE_H

#include "support/zk_server.h"

enum { ZK_ENSEMBLE_SIZE = 3 };

struct zk_ensemble;

/* Returns when all three serve. options may be NULL; syncLimit is 4 ticks and initLimit 20. */
struct zk_ensemble *zk_ensemble_start(const struct zk_server_options *options);
/* The same with a cable of its own from each server to each other one, which the functions below cut in one direction
 * or both: what is sent is swallowed, no connection is closed. Who leads is talked over partly beside the cables, so
 * that a leader that is cut off may be elected again and again, and nobody serves until it is healed; a follower that
 * is cut off leaves the other two alone. (For leaders see ensemble/compose.h.) syncLimit is 8 ticks. */
struct zk_ensemble *zk_ensemble_start_with_cables(const struct zk_server_options *options);
void zk_ensemble_free(struct zk_ensemble *ensemble);

/* index from 0 to 2 */
struct zk_server *zk_ensemble_server(struct zk_ensemble *ensemble, int index);
/* "127.0.0.1:a,127.0.0.1:b,127.0.0.1:c" */
const char *zk_ensemble_hosts(const struct zk_ensemble *ensemble);

/* The others hear nothing of this server; it hears nothing of them; both. Then all is well again, for all servers. */
void zk_ensemble_mute(struct zk_ensemble *ensemble, int index);
void zk_ensemble_deafen(struct zk_ensemble *ensemble, int index);
void zk_ensemble_cut(struct zk_ensemble *ensemble, int index);
void zk_ensemble_heal(struct zk_ensemble *ensemble);

/* The index of the server that says it leads, -1 for none at this moment. (A paused leader says nothing.) */
int zk_ensemble_leader(struct zk_ensemble *ensemble);
/* Waits for a leader, whichever, or for one that is not the server `except` (-1: no exception). */
int zk_ensemble_wait_leader(struct zk_ensemble *ensemble, int except, int timeout_ms);
/* The index of some server that follows, -1 for none. */
int zk_ensemble_follower(struct zk_ensemble *ensemble);
/* Whether this one leads or follows. */
bool zk_ensemble_is_serving(struct zk_ensemble *ensemble, int index);
/* Waits until this many servers lead or follow. */
bool zk_ensemble_wait_serving(struct zk_ensemble *ensemble, int count, int timeout_ms);

#endif
