/*
 * A ZooKeeper in a pocket: one tree, its sessions, and a store driver for them (the library's first port), in the world
 * of world.h. A request takes a millisecond, news of a watch another one. It keeps the promises of session/store.h and
 * can be told to break what networks and servers break.
 *
 * What fails in turn here: resolve(), open(), submit(), as they do in the product for lack of memory.
 */
#ifndef ZKLOCK_TEST_POCKET_H
#define ZKLOCK_TEST_POCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "session/store.h"

enum { POCKET_TIMEOUT_MS = 10000 };

void pocket_begin(void);
void pocket_end(void);
struct zkl_store_driver *pocket_driver(void);

/* ---- the tree, from outside */

/* A node of somebody else's. Missing parents come with it. */
void pocket_create(const char *path);
void pocket_delete(const char *path);
void pocket_set(const char *path, const char *data);
bool pocket_exists(const char *path);
/* The children's number, and how many of them belong to a session of the driver's. */
int pocket_children(const char *parent);
int pocket_own_children(const char *parent);
/* The number that the next sequential child gets. */
void pocket_set_counter(const char *parent, int32_t number);
/* creation zxid of a node; 0: none */
int64_t pocket_czxid(const char *path);

/* ---- what goes wrong. Each of these is armed once and happens to the next request of this kind. */

enum pocket_fault {
    POCKET_LOSE_REPLY,   /* applied; the connection breaks before the answer */
    POCKET_LOSE_REQUEST, /* not applied; the connection breaks */
    POCKET_KEEP_REQUEST, /* the connection breaks; applied two seconds later all the same */
};
void pocket_break(enum zkl_op op, enum pocket_fault fault);
/* Requests of this kind are denied from now on, for paths that contain this text; NULL: none. */
void pocket_deny(enum zkl_op op, const char *text);
/* Connections are accepted and never served, or served again. */
void pocket_be_silent(bool is_silent);
/* All connections break, and come back after 50 ms. */
void pocket_disconnect(void);
/* The server ends all sessions. */
void pocket_expire(void);

/* Stores that were opened and not closed. */
int pocket_stores(void);

#endif
