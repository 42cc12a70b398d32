/* The inside of a simulated store, for its own files. */
#ifndef SIMULATOR_SIM_STORE_INTERNAL_H
#define SIMULATOR_SIM_STORE_INTERNAL_H

#include "ensemble.h"
#include "sim_store.h"

enum phase { PHASE_PAUSING, PHASE_CONNECTING, PHASE_CONNECTED, PHASE_DEAD };

/* What the callback thread is to do next. */
struct delivery {
    struct delivery *next;
    struct message *message;   /* a reply, or news; NULL: a state */
    enum zkl_store_state state;
    struct request *lost;      /* no answer will come; counted */
};

struct watched {
    struct watched *next;
    bool is_of_children;
    char path[];
};

struct sim_store {
    struct sim_driver *driver;
    struct sim_store *next;
    struct zkl_store_sink sink;
    void *ctx;
    int64_t timeout_ns;
    int order[MOST_SERVERS]; /* of the servers to try */
    int order_count;
    int turn;

    enum phase phase;
    bool is_closed;
    struct connection *connection;
    struct zk_session *session;
    int64_t seen_zxid;
    int64_t last_sent_ns;
    int64_t last_received_ns;
    struct event *check; /* the next look at the clock */
    struct request *pending;
    struct request **pending_end;
    int pending_count;
    struct watched *watched;
    struct delivery *deliveries; /* while the callbacks stand still */
    struct delivery **deliveries_end;
    struct event *drain;
};

static inline int64_t now_of(const struct sim_store *store)
{
    return store->driver->host->actor.world->now_ns;
}

static inline struct world *world_of(const struct sim_store *store)
{
    return store->driver->host->actor.world;
}

/* sim_store_callbacks.c */

void store_watch(struct sim_store *store, const char *path, bool is_of_children);
/* Whether anybody watched for that. */
bool store_unwatch(struct sim_store *store, const char *path, enum zkl_node_event event);
/* Tells the server of everything that is watched. */
void store_say_watched(struct sim_store *store);
/* Gives an answer, and ends the client's interest in the request. */
void store_answer(struct request *request, enum zkl_code code);
/* On the callback thread: now, or when that goes on. */
void store_deliver(struct sim_store *store, struct delivery delivery);

/* sim_store_connection.c */

void store_plan_check(struct sim_store *store, int64_t at_ns);
void store_send(struct sim_store *store, struct message *message);
/* The client's end of the connection goes. What is on its way may still arrive, or be lost. */
void store_drop_connection(struct sim_store *store, bool is_told);
/* It broke: tells so, loses what is pending, and goes to the next server. */
void store_lose_connection(struct sim_store *store);

#endif
