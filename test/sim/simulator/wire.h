/*
 * Connections between clients and servers: both directions keep their order, take their time, stand still in a hole,
 * and lose what is on its way when they are cut.
 */
#ifndef SIMULATOR_WIRE_H
#define SIMULATOR_WIRE_H

#include "chance.h"
#include "session/store.h"
#include "tree.h"

struct server;
struct sim_store;

struct latency {
    int64_t least_ns;
    int64_t most_ns;
    int64_t spike_ns; /* now and then it takes this long */
};

int64_t latency_draw(const struct latency *latency, struct chance *chance);

enum direction { TO_SERVER, TO_CLIENT };

/* A client's machine, as far as the network is concerned. */
struct host {
    struct actor actor;
    char name[24];
    struct chance chance;
    struct latency latency;
    int64_t extra_ns;
    unsigned holes[2]; /* by direction: bits of the servers that nothing passes to or from */
    struct connection *connections;
};

enum message_kind {
    MESSAGE_HELLO,
    MESSAGE_REQUEST,
    MESSAGE_PING,
    MESSAGE_WATCHES,
    MESSAGE_FIN,
    MESSAGE_GREETING,
    MESSAGE_REPLY,
    MESSAGE_PONG,
    MESSAGE_NEWS,
    MESSAGE_CLOSED
};

struct message {
    enum message_kind kind;
    struct connection *connection; /* counted */
    struct message *next;
    int64_t zxid; /* what the server had applied when it said this; the other way round: what the client has seen */
};

/* HELLO and GREETING. */
struct greeting {
    struct message message;
    struct zk_session *session; /* NULL: a new one is wanted, or this one is over */
    int64_t timeout_ns;
};

/* WATCHES, and NEWS of one. In WATCHES, a path whose children are watched has this in front. */
#define CHILDREN_MARK '*'
struct watch_message {
    struct message message;
    enum zkl_node_event event;
    int count;
    char *paths[];
};

enum trap { TRAP_NONE, TRAP_LOST_BEFORE, TRAP_LOST_AFTER, TRAP_HELD };

/* A request, and its reply. It goes to the server and comes back. */
struct request {
    struct message message;
    int refs; /* the client's, until it is answered; and the wire's */

    /* the client's side */
    struct sim_store *store; /* NULL: the client does not wait for it any more */
    struct request *next_pending;
    zkl_reply_fn *on_reply;
    void *arg;

    /* what is asked for */
    enum zkl_op op;
    bool is_close; /* of the session; `op` means nothing */
    bool is_create_session;
    bool with_watch;
    bool has_version;
    int32_t version;
    char data[DATA_SIZE]; /* of a SET; or what a GET found */
    enum trap trap;
    int64_t trap_ns; /* HELD: for how long */
    struct zk_session *session;
    int origin; /* the server that it came to */

    /* the server's side */
    struct request *next_queued;
    bool is_done;

    enum zkl_code code;
    int failed_index;
    struct zkl_stat stat;
    char **children; /* one block with the names behind */
    int child_count;
    char *created;
    int path_count;
    char *paths[]; /* CHECK has several, REPLACE both; the others one */
};

struct connection {
    int refs;
    struct host *host;
    struct server *server;
    struct sim_store *store; /* NULL: the client's end is closed */
    struct zk_session *session;
    bool is_open_at_server;
    int64_t floor_ns[2];        /* by direction: when the latest message arrives */
    int64_t end_ns[2];          /* what would arrive later is lost */
    struct message *stalled[2];
    struct message **stalled_end[2];
    struct request *queue; /* at the server: a session's answers keep their order */
    struct request **queue_end;
    struct watch *watches;
    int64_t own_czxid; /* of the session's own node that was read last */
    struct connection *next_of_host;
    struct connection *next_of_server;
};

static inline const char *host_name(const struct host *host)
{
    return host->name;
}

struct connection *connection_new(struct host *host, struct server *server, struct sim_store *store);
void connection_ref(struct connection *connection);
void connection_unref(struct connection *connection);

/* Sends a message that was allocated with malloc(), or a request, and gives it away. */
void wire_send(struct connection *connection, enum direction direction, struct message *message);
/* What is on its way, and has not arrived after `grace_ns`, is lost. */
void wire_cut(struct connection *connection, enum direction direction, int64_t grace_ns);
/* The holes of a host have changed: what stood still goes on where there is none any more. */
void wire_resume(struct host *host);

void *message_new(size_t size, enum message_kind kind);
void message_free(struct message *message);

struct request *request_new(int path_count, size_t text_size);
void request_unref(struct request *request);

#endif
