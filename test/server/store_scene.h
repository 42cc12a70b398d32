/* A ZooKeeper server, and one store of the product connected to it, whose reports are written down.
 * All of it is static: one scene a process. Functions that wait fail the test at their deadline. */
#ifndef ZKLOCK_TEST_STORE_SCENE_H
#define ZKLOCK_TEST_STORE_SCENE_H

#include "support/observer.h"
#include "support/probe.h"
#include "support/zk_server.h"

#include "session/store.h"

enum { SCENE_LIMIT_MS = 20000 * ZKLOCK_TEST_SLOWNESS, SCENE_TIMEOUT_MS = 6000 };

struct scene {
    struct zk_server *server;
    struct observer *observer;
    int observer_socket;
    struct zkl_store_driver *driver;
    struct zkl_store *store;
    struct probe states;       /* every zkl_store_state */
    struct probe nodes;        /* every zkl_node_event */
    char node_path[256];       /* of the latest node event; read it after waiting for the event */
    long long session_id;      /* as of the latest CONNECTED */
    unsigned timeout_ms;
};

extern struct scene scene;

/* One answer, copied. */
struct outcome {
    struct probe answered;     /* one note an answer: its code */
    int raw_code;
    char path[256];
    struct zkl_stat stat;
    char data[64];
    int data_size;
    bool has_data;
    char children[1024];       /* "name,name," */
    int child_count;
    int failed_index;
};

/* For SUITE_TEST_WITH: server, observer and a connected store; the second only the server and the observer. */
void scene_connect(void);
void scene_start(void);
void scene_start_server(const struct zk_server_options *options);
void scene_end(void);
/* Closes the observer before its time, where its threads and descriptors would be in the way. */
void scene_drop_observer(void);

void scene_open(const char *addresses, unsigned timeout_ms);
void scene_close(void);
/* Waits until the n-th CONNECTED since the store was opened. */
void scene_await_connected(int n);
/* Breaks the store's TCP connection. */
void scene_cut(void);
/* Ends the session on the server, as if it had expired; the second one waits until the store has said so. */
void scene_begin_expiry(void);
void scene_expire(void);

/* A reply function that writes to the outcome that is its argument. */
void outcome_note(void *outcome, const struct zkl_reply *reply);
void outcome_init(struct outcome *outcome);
/* Submits and waits for the answer; returns its code. The outcome stays until the next call. */
enum zkl_code scene_ask(const struct zkl_request *request, struct outcome *outcome);
/* The same for a request that is nothing but an operation and a path. */
enum zkl_code scene_ask_path(enum zkl_op op, const char *path);

#endif
