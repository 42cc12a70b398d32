/*
 * The first port: one connection to ZooKeeper as a struct of functions. zk_store.c implements it on libzookeeper; the
 * simulator and the unit tests bring a store of their own. Everything is asynchronous.
 *
 * The contract that the session rests on
 *  - Each submit() that returned true gets exactly one reply, at the latest before close() returns, with
 *    ZKL_CODE_UNKNOWN where the connection did not say. After a submit() that returned false no reply comes.
 *  - Replies and events come on one thread of the store, one at a time, in the order of the connection; those that the
 *    connection never delivered come during close(), on the closing thread.
 *  - A reply's pointers live until the reply function returns.
 *  - After close() has returned, nothing of this store calls back.
 */
#ifndef ZKL_STORE_H
#define ZKL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/credentials.h"
#include "zklock.h"

/* What an answer says, reduced to what changes a decision. */
enum zkl_code {
    ZKL_CODE_OK = 0,
    ZKL_CODE_UNKNOWN,      /* may or may not have been applied */
    ZKL_CODE_NO_NODE,
    ZKL_CODE_NODE_EXISTS,
    ZKL_CODE_NO_AUTH,
    ZKL_CODE_NO_CHILDREN,  /* the parent is ephemeral */
    ZKL_CODE_BAD_VERSION,  /* the node has another version than the request names */
    ZKL_CODE_REFUSED,      /* any other definite answer: not applied, see raw_code */
};

enum zkl_op {
    ZKL_OP_CREATE,       /* ephemeral sequential, with Stat (create2) */
    ZKL_OP_CREATE_PARENT,
    ZKL_OP_DELETE,       /* any version, or exactly one */
    ZKL_OP_LIST,         /* children */
    ZKL_OP_GET,          /* data and Stat */
    ZKL_OP_EXISTS,       /* Stat only; needs no READ */
    ZKL_OP_SET,          /* any version, or exactly one; with `paths`: in one multi with a check of each of them */
    ZKL_OP_CHECK,        /* a multi of one check (any version) a path: a quorum write that changes nothing */
    ZKL_OP_SYNC,         /* asks the leader, or what the server takes for it; changes nothing */
    ZKL_OP_REPLACE,      /* a multi: delete the node, and create another in its place, ephemeral, not sequential */
    ZKL_OP_FORGET_WATCH, /* removes the data watch of this path from the server, whoever set it */
};

struct zkl_request {
    enum zkl_op op;
    const char *path;         /* all but CHECK; full, with the chroot */
    const char *replacement;  /* REPLACE: the other node */
    const void *data;         /* CREATE, REPLACE, SET; never NULL */
    int data_size;
    bool with_watch;          /* GET, EXISTS. A missing node leaves no watch after GET, but does after EXISTS; LIST: of
                                 what is created and deleted there, none where the node is missing */
    bool is_persistent;       /* CREATE_PARENT: persistent instead of a container */
    const char *const *paths; /* CHECK; SET: what must be there, too */
    int path_count;
    bool has_version;         /* DELETE, SET */
    int32_t version;
};

struct zkl_stat {
    int64_t czxid;
    int64_t ctime_ms;
    int64_t mtime_ms;
    int64_t owner; /* session of an ephemeral node; 0: not ephemeral */
    int32_t version;
    int32_t created_children; /* so many sequence numbers were given out below it */
    int32_t present_children;
};

struct zkl_reply {
    enum zkl_code code;
    int raw_code;                /* libzookeeper's, for messages */
    const char *path;            /* CREATE: the node's full path */
    struct zkl_stat stat;        /* CREATE, GET, EXISTS, SET */
    const char *data;            /* GET; NULL when the node has none */
    int data_size;
    const char *const *children; /* LIST */
    int child_count;
    int failed_index;            /* CHECK that was refused: the first path that did; -1: not known */
};

typedef void zkl_reply_fn(void *arg, const struct zkl_reply *reply);

enum zkl_store_state {
    ZKL_STORE_CONNECTED,    /* session id and negotiated timeout are valid, and the credentials were accepted; may come
                               twice in a row */
    ZKL_STORE_DISCONNECTED,
    ZKL_STORE_EXPIRED,      /* final: close the store */
    ZKL_STORE_FAILED,       /* final: the server does not accept the credentials */
};

enum zkl_node_event {
    ZKL_NODE_DELETED,
    ZKL_NODE_CHANGED,
    ZKL_NODE_CHILDREN, /* something was created or deleted below it */
    ZKL_NODE_OTHER, /* created, or the watch was removed */
};

/* Where a store reports. `ctx` is what open() got. @thread the store's */
struct zkl_store_sink {
    void (*on_state)(void *ctx, enum zkl_store_state state, int64_t session_id, unsigned timeout_ms);
    void (*on_node)(void *ctx, enum zkl_node_event event, const char *path);
};

struct zkl_store;

struct zkl_store_options {
    const char *addresses;     /* numeric "ip:port,..." in the order to try, odd in number */
    unsigned timeout_ms;       /* session timeout to ask for */
    const zklock_session_key *key; /* of the session to go on with; NULL: a fresh one. Needed during open() only */
    const struct zkl_credentials *credentials; /* copied; NULL or empty: none */
    zklock_acl acl;            /* of what is created */
    const char *tls;           /* files, as in zklock_session_options; NULL: in the clear. Needed during open() only */
    const struct zkl_store_sink *sink;
    void *ctx;
};

/* A way to make stores. One for the product, one a simulated world. */
struct zkl_store_driver {
    bool (*has_tls)(void); /* whether open() knows what to do with `tls`; NULL: it does not */
    /* Begins to connect. Does not block; callbacks may run before it returns. @locks any may be held */
    zklock_status (*open)(struct zkl_store_driver *driver, const struct zkl_store_options *options,
                          struct zkl_store **out_store);
    /* Hands a request on. Does not block. Copies what it needs of the request. @locks any may be held */
    bool (*submit)(struct zkl_store *store, const struct zkl_request *request, zkl_reply_fn *on_reply, void *arg);
    /* Writes the key of the store's session. Valid once the store has reported CONNECTED. @locks any may be held */
    void (*key)(struct zkl_store *store, zklock_session_key *out_key);
    /*
     * Sees to it that this store connects no more and that its close leaves the session alone, so that another store may
     * go on with it. False: it is connected, and stays as it is. Does not block. NULL: not to be had. @locks any may be
     * held
     */
    bool (*retire)(struct zkl_store *store);
    /*
     * Ends the connection, and the session if it is connected and nothing is in flight. Blocks for up to five seconds.
     * @thread any but the store's own  @locks none may be held
     */
    void (*close)(struct zkl_store *store);
    /* Turns host names into numeric addresses: "a:1,b:2" becomes "10.0.0.1:1,10.0.0.2:2,[::1]..." in the form that
     * open() takes, not yet odd. May block for as long as the resolver does. On failure `detail` gets one line. */
    zklock_status (*resolve)(struct zkl_store_driver *driver, const char *hosts, char **out_addresses, char *detail,
                             size_t detail_size);
    /* Asks each address for a TCP connection (all at once, within limit_ms) and writes one line of what each said. */
    void (*probe)(struct zkl_store_driver *driver, const char *addresses, int limit_ms, char *detail,
                  size_t detail_size);
};

/* The product's driver, on libzookeeper: one for the process, never freed. Any thread. */
struct zkl_store_driver *zkl_store_driver_zookeeper(void);

#endif
