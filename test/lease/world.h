/*
 * What decides how long a session lives, small enough to be copied: a leader with its session tracker, followers that
 * relay touches in their answers to its pings, one client whose completions feed a lease. Nothing in it has a speed:
 * each message is taken at any later moment, or never, so that partitions, frozen processes and slow links are
 * schedules like any other. What must happen in time does: the leader's pings, and the end of a condemned session.
 *
 * The leader's clock is the world's; the client's runs faster by `rate_ppm`.
 *
 * Left out, because the adversary gains nothing by it: pings that find nothing to tell (a delayed one tells more),
 * second pings and touches behind an equal message, requests on their way to the server (sent later, they claim more).
 */
#ifndef TEST_LEASE_WORLD_H
#define TEST_LEASE_WORLD_H

#include <stddef.h>

#include "rule.h"

#define MOST_SERVERS 3
#define MOST_MESSAGES 16
#define MOST_REQUESTS 3
#define MOST_CALLBACKS 10
#define MOST_MOVES 24
#define NOBODY (-1)
#define NEVER INT64_MAX
/* A moment at which several things happen takes less than that. */
#define MOMENT_NS 1000

struct setting {
    const struct rule *rule;
    int64_t tick_ms;
    int64_t timeout_ms;       /* T, granted by servers 0 and 1 */
    int64_t other_timeout_ms; /* granted by server 2 */
    int64_t phase_ms[MOST_SERVERS]; /* of the trackers' clocks */
    int rate_ppm;
    int64_t ping_late_ms;
    int64_t condemned_ms;     /* from the end of a session's time until it is closed */
    int server_count;
    int home;                 /* where the client is connected at first; 0 leads */
    bool begins_lapsed;
    int64_t untouched_ms;     /* how long ago the leader heard of the session at the beginning */
    bool callbacks_are_late;
    bool answers_are_prompt;  /* from the server to the client; all delay is between the servers */
    bool pings_late;          /* leaders ping as late as they may, but for the first time */
    bool stalls;              /* a server's thread may stand still between a touch and the request that made it */
    bool loses_touches;       /* a follower may forget one */
    bool is_judged_once_told; /* of the smaller T that server 2 grants */
    unsigned kinds;           /* what the client sends: bits of enum kind */
    int most_sends, most_losses, most_elections;
};

enum message {
    MESSAGE_NONE,
    MESSAGE_PING,     /* from the leader */
    MESSAGE_COMMIT,   /* and what makes a request's answer ready */
    MESSAGE_VALID,    /* and the session's new connection */
    MESSAGE_TOUCH,    /* to the leader */
    MESSAGE_REQUEST,
    MESSAGE_SYNC,
    MESSAGE_REVALIDATE,
};

struct letter {
    uint8_t message;
    uint8_t serial; /* of a request */
};

struct queue {
    struct letter letters[MOST_MESSAGES];
    int count;
};

struct server {
    int leader;           /* itself, when it leads or believes so */
    /* of a leader */
    int64_t expiry_ms;    /* by its own clock: when the session's bucket is due */
    int64_t taken_ns;     /* when the bucket was taken to be ended; 0: not */
    bool is_closing;
    int owner;            /* the server through which the session speaks */
    int64_t pinged_ns;
    /* of a follower */
    bool is_touched;
    struct queue down, up;
};

enum stage { STAGE_QUEUED, STAGE_HEARD, STAGE_OUT, STAGE_READY };

struct request {
    uint8_t kind, stage, serial;
    int64_t sent_ns; /* by the client's clock */
};

enum callback { CALLBACK_OK, CALLBACK_FAILED, CALLBACK_CONNECTED, CALLBACK_DISCONNECTED };

struct note {
    uint8_t callback, kind, server;
    int64_t sent_ns;
};

struct client {
    int server;       /* of the library's connection */
    int asked;        /* where it wants to connect */
    bool is_connected; /* as the callbacks told */
    struct request requests[MOST_REQUESTS];
    int request_count;
    struct note notes[MOST_CALLBACKS]; /* callbacks that have not run */
    int note_count;
    uint8_t serial;
    int clock_ns; /* by what its clock has moved on at this moment */
};

struct world {
    int64_t now_ns;
    int authority; /* the leader that has a quorum */
    int sends, losses, elections;
    struct server servers[MOST_SERVERS];
    struct client client;
    struct zkl_lease lease; /* last, and its beats at its end */
};

enum move_type {
    MOVE_SEND,    /* the client sends; subject: the kind */
    MOVE_ANSWER,  /* an answer reaches the client */
    MOVE_CALLBACK,
    MOVE_FORWARD, /* the server goes on with what it heard */
    MOVE_FORGET,  /* subject: the follower that loses a touch */
    MOVE_PING,    /* subject: the leader */
    MOVE_DOWN,    /* subject: the follower that takes a message */
    MOVE_UP,      /* subject: the follower whose message its leader takes */
    MOVE_TAKE,    /* the tracker takes the session's bucket to end it */
    MOVE_CLOSE,   /* and comes to this session */
    MOVE_LOSE,    /* the client's connection breaks */
    MOVE_CONNECT, /* subject: the server */
    MOVE_ELECT,   /* server 2 leads from now on; subject: whether server 1 goes with it */
};

struct move {
    uint8_t type, subject;
};

/* The bytes of a world that mean something: the beats that the lease has dropped lie behind them. */
size_t world_size(const struct world *world);

void world_begin(const struct setting *setting, struct world *out_world);
/* What can happen at this moment. Where something must, nothing else can. */
int world_moves(const struct setting *setting, const struct world *world, struct move out_moves[MOST_MOVES]);
void world_move(const struct setting *setting, struct world *world, struct move move);
/* Time passes; by more than a moment. */
void world_wait(struct world *world, int64_t until_ns);
/* How far time may pass; the present when something must happen first. */
int64_t world_latest(const struct setting *setting, const struct world *world);

int64_t world_clock(const struct setting *setting, const struct world *world);
/* When the client's clock shows that. */
int64_t world_time_of(const struct setting *setting, int64_t client_ns);
/* When the leader ends the session unless it is touched again. */
int64_t world_session_end(const struct setting *setting, const struct world *world);
bool world_has_lease(const struct setting *setting, const struct world *world);
/* By how much the session outlives the lease; negative: it does not. NEVER without a lease. */
int64_t world_margin(const struct setting *setting, const struct world *world);

/* The parts: world_servers.c and world_client.c */
void servers_begin(const struct setting *setting, struct world *world);
void server_hear(const struct setting *setting, struct world *world, int server, struct request *request);
/* The oldest request that a server has heard and not carried out. */
struct request *server_heard(struct client *client);
void server_go_on(struct world *world);
bool server_connect(const struct setting *setting, struct world *world, int server);
void server_ping(struct world *world, int leader);
void server_take_down(const struct setting *setting, struct world *world, int follower);
void server_take_up(const struct setting *setting, struct world *world, int follower);
void servers_elect(const struct setting *setting, struct world *world, bool with_follower);
int64_t server_timeout(const struct setting *setting, int server);
int64_t server_ping_due(const struct setting *setting, const struct world *world, int leader);
bool server_may_ping(const struct setting *setting, const struct world *world, int leader);
bool server_is_pinging(const struct setting *setting, const struct world *world, int server);

void client_begin(const struct setting *setting, struct world *world);
void client_send(const struct setting *setting, struct world *world, enum kind kind);
void client_answer(const struct setting *setting, struct world *world);
void client_run_callback(const struct setting *setting, struct world *world);
void client_lose(const struct setting *setting, struct world *world);
void client_connect(const struct setting *setting, struct world *world, int server);
void client_connected(const struct setting *setting, struct world *world, int server);

#endif
