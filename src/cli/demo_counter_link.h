/*
 * The demonstration's own connection to ZooKeeper, beside zklock's and without touching it: asynchronous
 * requests, each awaited for a bounded time. Only demo_counter*.c know of it.
 *
 * @thread one: the process's main thread; libzookeeper's threads only write into a call and ring the bell
 */
#ifndef CLI_DEMO_COUNTER_LINK_H
#define CLI_DEMO_COUNTER_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <zookeeper/zookeeper.h>

enum { DEMO_DATA_SIZE = 128, DEMO_MULTI_MOST = 256 };

/* Not ZooKeeper's: nobody waits any more, since the demonstration was told to stop. */
enum { DEMO_STOPPED_CODE = -10001 };

struct demo_link;

/* One request. Belongs to its waiter and to its completion; the last one frees it. */
struct demo_call {
    atomic_int owners;
    atomic_bool is_done;
    int bell_fd;
    int code;
    char data[DEMO_DATA_SIZE]; /* of a get; always terminated */
    struct Stat stat;
    char **names;              /* of a list */
    int name_count;
    zoo_op_result_t results[];
};

/* `addresses` numeric, as libzookeeper takes them; copied. `auth_file`, if there is one, outlives the link. Readable `stop_fd` ends every wait. NULL without
 * memory. */
struct demo_link *demo_link_new(const char *addresses, const char *auth_file, int timeout_ms, int stop_fd);
void demo_link_free(struct demo_link *link);

/* Waits for a connection, with a new session if the old one expired. ZOK, ZCONNECTIONLOSS or
 * DEMO_STOPPED_CODE. */
int demo_link_connect(struct demo_link *link, int64_t deadline_ms);

/* The session in use; changes when one expires. 0 before the first. */
int64_t demo_link_session(const struct demo_link *link);

/* Hand a request on. NULL: not handed on, so surely not applied. */
struct demo_call *demo_link_get(struct demo_link *link, const char *path);
struct demo_call *demo_link_list(struct demo_link *link, const char *path);
struct demo_call *demo_link_create(struct demo_link *link, const char *path, const char *data, int flags);
/* All or nothing, and a quorum write even when it only checks. */
struct demo_call *demo_link_multi(struct demo_link *link, const zoo_op_t *operations, int count);

/* Waits for the answer and returns its code; unknown outcomes are ZCONNECTIONLOSS. A NULL call is one too. */
int demo_link_await(struct demo_link *link, struct demo_call *call);
/* Ends the waiter's share; NULL is allowed. */
void demo_call_drop(struct demo_call *call);

#endif
