/*
 * A handle that gives its session up to another one. libzookeeper has no call for that: a close ends the session if the
 * handle has connected meanwhile, and zoo_set_servers() closes the socket under the I/O thread, which may then use the
 * number of somebody else's descriptor.
 *
 * What it has is the session's number in the handle, which zoo_client_id() points to. The I/O thread reads it whenever
 * it greets a server, and compares it with the number in the server's answer: if they differ, the handle is dead. So a
 * number that no session has ends all attempts, an answer that is on its way included.
 *
 * What remains: an I/O thread between that comparison and the next line, where it says that it is connected. Whoever
 * closes waits some time for it, and takes its connection away if it comes out connected.
 */
#include <time.h>
#include <zookeeper/zookeeper.h>

#include "session/zk_store_internal.h"

/* The numbers of sessions begin with that of a server, from 0 to 255, or 254 for one that the server keeps to itself. */
#define NOBODY INT64_C(-1)
#define LOOK_NS 10000000L
#define QUIET_LOOKS 20
#define MOST_LOOKS 300
/* An address for documents: nobody answers there. */
#define NOWHERE "192.0.2.1:1"

static int64_t exchange_number(struct zkl_store *store, int64_t number)
{
    clientid_t *id = (clientid_t *)zoo_client_id(store->handle);

    return __atomic_exchange_n(&id->client_id, number, __ATOMIC_SEQ_CST);
}

static bool is_connected(struct zkl_store *store)
{
    return zoo_state(store->handle) == ZOO_CONNECTED_STATE;
}

bool zkl_zk_store_retire(struct zkl_store *store)
{
    if (is_connected(store))
        return false;
    int64_t number = exchange_number(store, NOBODY);
    if (is_connected(store)) {
        exchange_number(store, number);
        return false;
    }
    store->is_retired = true;
    return true;
}

void zkl_zk_store_await_rest(struct zkl_store *store)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    int quiet = 0;

    for (int looks = 0; quiet < QUIET_LOOKS && looks < MOST_LOOKS; looks++) {
        nanosleep(&pause, NULL);
        bool was_retired = exchange_number(store, NOBODY) == NOBODY;
        quiet = was_retired && !is_connected(store) ? quiet + 1 : 0;
    }
    if (quiet < QUIET_LOOKS)
        zoo_set_servers(store->handle, NOWHERE);
}
