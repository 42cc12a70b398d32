/* An independent observer of a lock directory: its own session, built directly on libzookeeper with calls
 * that wait for their answer. Connect it to the server itself, around any fault proxy.
 *
 * Functions that return int give ZooKeeper's code: ZOK, ZNONODE, ZNODEEXISTS... Reading repeats itself for
 * some seconds when the connection breaks. An observer whose session expired opens a new one. */
#ifndef ZKLOCK_TEST_OBSERVER_H
#define ZKLOCK_TEST_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <zookeeper/zookeeper.h>

enum { OBSERVER_PATH_SIZE = 1024 };

struct observer;

struct observed_node {
    char *name;             /* the last part of the path */
    char *data;             /* ends with a NUL that is not counted */
    int data_length;        /* -1: the node holds no data at all, not even an empty string */
    int64_t czxid;
    int64_t owner;          /* session of an ephemeral node, 0 otherwise */
    int32_t version;
};

/* In the order of creation. */
struct observed_list {
    struct observed_node *nodes;
    int count;
};

/* Ends the test program when no server answers within 30 s. */
struct observer *observer_open(const char *hosts, int session_timeout_ms);
void observer_close(struct observer *observer);
int64_t observer_session_id(struct observer *observer);
/* For what is not offered here: access control, multi... */
zhandle_t *observer_handle(struct observer *observer);

int observer_list(struct observer *observer, const char *directory, struct observed_list *out_list);
void observed_list_clear(struct observed_list *list);
int observer_look(struct observer *observer, const char *path, struct observed_node *out_node);
void observed_node_clear(struct observed_node *node);
bool observer_exists(struct observer *observer, const char *path);
/* Number of children; -1 when there is no such node. */
int observer_count(struct observer *observer, const char *directory);
/* Name of the oldest child, "" when there is none. */
void observer_front(struct observer *observer, const char *directory, char out_name[OBSERVER_PATH_SIZE]);

/* flags: 0, ZOO_EPHEMERAL, ZOO_SEQUENCE (or both), ZOO_CONTAINER. text NULL: a node without data. out_path
 * may be NULL. */
int observer_create(struct observer *observer, const char *path, const char *text, int flags,
                    char out_path[OBSERVER_PATH_SIZE]);
int observer_set(struct observer *observer, const char *path, const void *data, int length);
int observer_delete(struct observer *observer, const char *path);
/* Everything below the path, but not the node itself. */
int observer_delete_below(struct observer *observer, const char *path);

bool observer_wait_count(struct observer *observer, const char *directory, int count, int timeout_ms);
bool observer_wait_exists(struct observer *observer, const char *path, int timeout_ms);
bool observer_wait_gone(struct observer *observer, const char *path, int timeout_ms);
/* Until the oldest child is there and is not this one ("" to wait for the first). */
bool observer_wait_front_other_than(struct observer *observer, const char *directory, const char *name,
                                    int timeout_ms);

#endif
