/*
 * A model of ZooKeeper, as far as a lock can see it: one log, a leader that orders and commits, followers that apply
 * later and answer reads meanwhile, sessions, and everything that can go wrong with them.
 *
 *   a write    client -> server -> leader: checked and put on the log -> committed -> applied at each server in turn;
 *              the server that it came to answers when it has applied it
 *   a read     is answered from what the server has applied, behind the session's own writes
 *   a touch    at the leader at once; a follower tells the leader in its answer to the leader's ping, every half tick
 */
#ifndef SIMULATOR_ENSEMBLE_H
#define SIMULATOR_ENSEMBLE_H

#include "server.h"
#include "sessions.h"
#include "tree.h"
#include "wire.h"

#define MOST_SERVERS 3
/* How long a follower and a leader do without each other, in ticks. */
#define SYNC_LIMIT 5

enum txn_kind {
    TXN_NOTHING,
    TXN_CREATE,
    TXN_DELETE,
    TXN_REPLACE, /* both in one */
    TXN_SET,
    TXN_CREATE_SESSION,
    TXN_CLOSE_SESSION
};

struct txn {
    enum txn_kind kind;
    int64_t zxid;
    struct znode *node;
    struct znode *made;      /* REPLACE: in the place of `node` */
    struct zk_session *session;
    struct request *request; /* who waits for it; NULL: nobody */
    int32_t counter;         /* CREATE, REPLACE: of the parent, afterwards */
    char data[DATA_SIZE];    /* SET: what was there before */
};

/* Who wants to know what the ensemble does. */
struct ensemble_listener {
    void *ctx;
    /* A node went, as the quorum sees it. */
    void (*on_gone)(void *ctx, struct znode *node);
    /* Its data changed, as the quorum sees them. */
    void (*on_write)(void *ctx, struct znode *node);
    /* A session watches a node that is not its own. */
    void (*on_watch)(void *ctx, struct watch *watch);
};

struct ensemble {
    struct world *world;
    struct actor nobody; /* what is no server's: elections, the operator */
    struct chance chance;
    struct tree tree;
    int64_t tick_ns;
    struct latency link_latency;
    struct latency commit_latency;
    int64_t ping_slack_ns; /* how late the leader's pings may be */
    struct ensemble_listener listener;

    struct server servers[MOST_SERVERS];
    int server_count;
    int leader; /* -1: there is none */
    unsigned term; /* number of leaderships: what a former leader planned is void */
    int64_t zxid;
    bool is_over;

    struct txn *log; /* a ring */
    int64_t log_room;
    int64_t log_begin; /* what is kept of it */
    int64_t committed;
    int64_t committed_zxid;
    int64_t log_end;
    int64_t commit_floor_ns;

    struct zk_session *sessions; /* the youngest first */
    int session_count;
};

struct ensemble_options {
    int server_count;
    int64_t tick_ns;
    struct latency link_latency;
    struct latency commit_latency;
    uint64_t seed;
};

void ensemble_init(struct ensemble *ensemble, struct world *world, const struct ensemble_options *options);
/* Plans nothing any more, so that the world comes to rest. */
void ensemble_stop(struct ensemble *ensemble);
void ensemble_clear(struct ensemble *ensemble);

/* What the leader makes of a request that came to `request->origin`. Takes a reference. */
void ensemble_prepare(struct ensemble *ensemble, struct request *request);
/* Ends a session, as the leader. */
void ensemble_close_session(struct ensemble *ensemble, struct zk_session *session, struct request *request);
struct txn *ensemble_txn(struct ensemble *ensemble, int64_t index);
/* Puts a change on the log, to be committed soon. */
struct txn *ensemble_append(struct ensemble *ensemble, enum txn_kind kind, struct request *request);
void ensemble_delete(struct ensemble *ensemble, struct znode *node, enum removal removal, struct request *request);
/* Commits the next on the log, without telling any server. */
void ensemble_commit_one(struct ensemble *ensemble);
void ensemble_plan_timers(struct ensemble *ensemble);

/* An operator, directly at the leader. False: there is none, or there is nothing to do. */
bool operator_remove(struct ensemble *ensemble, struct znode *node);
bool operator_remove_tree(struct ensemble *ensemble, struct znode *node);
bool operator_touch(struct ensemble *ensemble, struct znode *node);
/* What stands in it from now on. */
bool operator_write(struct ensemble *ensemble, struct znode *node, const char *data);
bool operator_create(struct ensemble *ensemble, struct znode *parent, const char *name);
/* The next contender below `parent` gets this number. */
void operator_jump(struct znode *parent, int32_t number);

/* elections.c */

/* A leadership begins: any beginning of what was not committed survives. */
void ensemble_elect(struct ensemble *ensemble, int server);
/* `server` is away for a time: its connections break. The others elect a leader if it was that. */
void ensemble_restart(struct ensemble *ensemble, int server, int64_t away_ns);
/* The leader is cut off from the others; they notice after one time, it after another, and the network is healed
 * after a third. */
void ensemble_depose(struct ensemble *ensemble, const int64_t after_ns[3]);
/* Nothing passes between a follower and the leader for a time, in the lanes whose bits are set. The follower gives up
 * when that is too long. */
void ensemble_cut_follower(struct ensemble *ensemble, int follower, unsigned directions, int64_t for_ns);
void ensemble_pause(struct ensemble *ensemble, int server, int64_t for_ns);
/* The n-th of those that do not lead. */
int ensemble_follower(const struct ensemble *ensemble, int which);

static inline struct server *ensemble_leader(struct ensemble *ensemble)
{
    return ensemble->leader >= 0 ? &ensemble->servers[ensemble->leader] : NULL;
}

#endif
