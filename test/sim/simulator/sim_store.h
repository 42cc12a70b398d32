/*
 * The client library as a store of the session layer: connects, keeps requests in order, pings, notices silence, goes
 * to the next server, and says what it watched. It has a thread of its own for callbacks, which can stand still while
 * the connection goes on.
 */
#ifndef SIMULATOR_SIM_STORE_H
#define SIMULATOR_SIM_STORE_H

#include "session/store.h"
#include "wire.h"

struct ensemble;

/* What one process needs to reach the servers. */
struct sim_driver {
    struct zkl_store_driver driver; /* the first member: the session layer knows only this */
    struct host *host;
    struct ensemble *ensemble;
    struct sim_store *stores;
    bool is_dead; /* the process has vanished */
    int64_t stalled_until_ns; /* its callbacks */
    int only_server; /* by its number from 1; 0: any */
    int refusals; /* so many submits to come fail */
    enum trap trap; /* for the next request of the kind `trap_op` */
    enum zkl_op trap_op;
    int64_t trap_ns;
};

void driver_init(struct sim_driver *driver, struct host *host, struct ensemble *ensemble);
/* The server that the process is connected to; -1: none. */
int driver_server(const struct sim_driver *driver);
/* Breaks the connection, as a reset does. */
void driver_cut(struct sim_driver *driver);
/* The process vanishes; its kernel tells the server, or not. */
void driver_kill(struct sim_driver *driver, bool is_told);
/* The callbacks go on. */
void driver_unstall(struct sim_driver *driver);

void store_receive(struct message *message);
/* For the trace. */
const char *op_name(enum zkl_op op);

#endif
