/* Three ZooKeeper servers in containers, each with a network stack of its own: docker/compose.yaml.
 *
 * An ensemble has a project name and ports of its own, so that several may run beside each other. It is taken down
 * when it is freed, and also when the test program ends in any other way. A function that cannot do its work ends
 * the test program with a message. */
#ifndef ZKLOCK_TEST_ENSEMBLE_COMPOSE_H
#define ZKLOCK_TEST_ENSEMBLE_COMPOSE_H

#include <stdbool.h>

enum { COMPOSE_SIZE = 3 };

struct compose;

/* Why no containers can be run here, or NULL. */
const char *compose_missing(void);

/* Returns when all three serve. */
struct compose *compose_start(int tick_time_ms);
/* Accepts NULL. */
void compose_free(struct compose *compose);

/* "127.0.0.1:a,127.0.0.1:b,127.0.0.1:c": the published ports. */
const char *compose_hosts(const struct compose *compose);
/* The servers' own addresses on the bridge, for hosts that are joined to it. */
const char *compose_bridge_hosts(const struct compose *compose);
/* One server's own address, without a port. */
const char *compose_address(const struct compose *compose, int index);
/* The bridge's interface on this machine, and its subnet ("172.18.0.0/16"). */
const char *compose_bridge(const struct compose *compose);
const char *compose_subnet(const struct compose *compose);

/* index from 0 to 2. Starting does not wait until it serves. */
void compose_server_stop(struct compose *compose, int index);
void compose_server_kill(struct compose *compose, int index);
void compose_server_begin(struct compose *compose, int index);
void compose_server_pause(struct compose *compose, int index);
void compose_server_resume(struct compose *compose, int index);
/* Takes it off the bridge and puts it back, with its name and address. */
void compose_server_disconnect(struct compose *compose, int index);
void compose_server_reconnect(struct compose *compose, int index);
/* Nothing passes any more between it and the other servers, in silence; clients still reach it. And all passes again. */
void compose_server_cut(struct compose *compose, int index);
void compose_server_heal(struct compose *compose, int index);

/* What Docker's health check of this server would find now. */
bool compose_server_is_healthy(const struct compose *compose, int index);

/* The index of the server that says it leads, -1 for none at this moment. */
int compose_leader(struct compose *compose);
/* Waits until this many servers lead or follow, and one leads. */
bool compose_wait_serving(struct compose *compose, int count, int timeout_ms);
/* Waits until a server other than `except` (-1: any) leads, and returns it; -1 for none in time. */
int compose_wait_leader(struct compose *compose, int except, int timeout_ms);

#endif
