/* One server: its connections, what it has applied, what it answers; and its link to the leader. */
#ifndef SIMULATOR_SERVER_H
#define SIMULATOR_SERVER_H

#include "world.h"

struct ensemble;
struct message;
struct request;
struct connection;
struct watch_message;
struct zk_session;

enum lane { LANE_TO_LEADER, LANE_TO_FOLLOWER };

enum relay_kind { RELAY_COMMIT, RELAY_PING, RELAY_TOUCHES, RELAY_FORWARD, RELAY_REVALIDATE, RELAY_REVALIDATED,
                  RELAY_SYNCED };

/* What passes between a follower and the leader. */
struct relay {
    enum relay_kind kind;
    unsigned incarnation; /* of the link */
    struct relay *next;
    int64_t end;                    /* COMMIT: up to this place of the log */
    struct request *request;        /* FORWARD, SYNCED: counted */
    struct connection *connection;  /* REVALIDATE, REVALIDATED: counted */
    bool is_valid;                  /* REVALIDATED */
    int touched_count;
    struct zk_session *touched[];
};

struct link {
    unsigned incarnation;
    bool is_blocked[2]; /* by lane */
    int64_t floor_ns[2];
    struct relay *stalled[2];
    struct relay **stalled_end[2];
};

struct server {
    struct actor actor;
    struct ensemble *ensemble;
    int index;
    bool is_serving;
    bool is_away;    /* no leader can count on it */
    bool is_deposed; /* leads nobody, and has not noticed */
    unsigned incarnation;
    int64_t applied; /* so much of the log */
    int64_t applied_zxid;
    struct connection *connections;
    struct zk_session **touched; /* what it will tell the leader */
    int touched_count;
    int touched_room;
    struct link link;
};

void server_init(struct server *server, struct ensemble *ensemble, int index);
void server_clear(struct server *server);
int server_index(const struct server *server);
struct actor *server_actor(struct server *server);

void server_receive(struct message *message);
/* Applies the log up to `end`: tells watchers, and answers whom it concerns. */
void server_apply(struct server *server, int64_t end);
/* Ends a connection, and lets the client know when `is_told`. */
void server_drop(struct connection *connection, bool is_told);
/* Drops all connections and does not serve. */
void server_leave(struct server *server);
/* Serves with all that is committed. */
void server_return(struct server *server);
/* Empties the list of touched sessions, into `out_touched` unless that is NULL. */
void server_take_touched(struct server *server, struct zk_session **out_touched);
/* What the leader said of the session that a client wants to go on with. */
void server_revalidated(struct connection *connection, bool is_valid);
bool server_leads(const struct server *server);

/* Welcomes a client with its session, or tells it that this is over. */
void server_greet(struct connection *connection, struct zk_session *session);

/* server_answers.c */
void server_take_request(struct connection *connection, struct request *request);
void server_take_watches(struct connection *connection, const struct watch_message *watches);
/* To the leader, which this may be. Takes a reference. */
void server_forward(struct server *server, struct request *request);

/* The leader said so, or whoever was taken for it. Takes the reference. */
void server_synced(struct server *server, struct request *request);

/* link.c */
void link_send(struct server *follower, enum lane lane, struct relay *relay);
struct relay *relay_new(enum relay_kind kind, int touched_count);
/* The lanes are free: what stood still goes on. */
void link_unblock(struct server *follower);
/* A new beginning: what is under way is void. */
void link_reset(struct server *follower);

#endif
