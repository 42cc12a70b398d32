/*
 * The explorer's world: ZooKeeper, the network, the clock and some clients, small enough to be copied and
 * hashed.
 *
 * Nodes are slots in the order of their creation, so a slot's number is its czxid. A mask has one bit a slot
 * or a token. Clients are alike: everything about a client, its znodes' slots included, lies in its own
 * struct, so that worlds which differ in the order of the clients only are one world.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "recipe/machine.h"

#define MOST_CLIENTS 4
#define MOST_NODES 8
#define MOST_TOKENS 6
#define MOST_REQUESTS 12
#define MOST_REPLIES 12

/* No slot, no token. */
#define NONE 0xff
/* A token whose create has not been applied. */
#define UNBORN 0xfe

/* Requests, their replies, and events. Those that stand last in their flight end it. */
enum op {
    OP_CREATE,      /* first of its flight; subject: the token, in the reply the same */
    OP_CREATE_LIST,
    OP_PREPARE,
    OP_BARRIER,     /* first */
    OP_FIND_LIST,
    OP_LIST,
    OP_SURVEY,
    OP_GET_OWN,     /* first */
    OP_GET_AHEAD,
    OP_EXISTS_AHEAD,
    OP_LIST_LEASES, /* and the limit, both with watch */
    OP_WATCH_OWN,
    OP_DELETE,
    OP_DELETE_WRITER, /* first, of two names */
    OP_DELETE_READER, /* subject: the writer */
    OP_DOWNGRADE,   /* first */
    OP_GET_READER,  /* subject: the writer, in the reply the reader */
    OP_SWEEP,       /* the driver's own delete of a zombie */
    OP_DELETED,     /* events */
    OP_CHANGED,
    OP_CHILDREN,    /* one that watches the leases hears that something has changed */
    OP_COUNT
};

struct message {
    uint8_t op;
    uint8_t flight;   /* 0: belongs to none */
    uint8_t subject;  /* a slot; CREATE: a token */
    uint8_t code;     /* enum zkl_answer */
    uint8_t children; /* a listing: all of it if it needs a survey, else its zombies */
    uint8_t place;    /* a listing: what the queue makes of it, see listing.h; subject: the one right ahead */
};

enum link {
    LINK_UP,
    LINK_FROZEN, /* to a server that is cut off: answers reads from its past */
    LINK_CUT,    /* broken, and the client does not know */
    LINK_OUT,    /* and it knows */
};

enum life {
    LIFE_ALIVE,
    LIFE_OVER, /* expired; the client does not know */
    LIFE_NONE, /* and it knows: it may open a fresh one */
};

enum lease {
    LEASE_RUNS,
    LEASE_ENDED, /* by the clock; the machine was not told yet */
    LEASE_TOLD,
};

/* What a client was told, and what its owner did. */
enum told {
    TOLD_RESULT = 1,
    TOLD_GRANT = 2,
    TOLD_LOSS = 4,
    TOLD_RELEASE = 8,
    DID_GIVE_UP = 16,
    DID_RELEASE = 32,
    DID_CLOSE = 64,
    DID_DOWNGRADE = 128,
};

struct client {
    struct zkl_machine machine;
    uint8_t kind;       /* enum zkl_kind */
    uint8_t link;
    uint8_t life;
    uint8_t lease;
    uint8_t past;       /* FROZEN: mask of the nodes that its server still shows */
    uint8_t told;
    uint8_t is_failing; /* the next flight cannot be handed to the store */

    /* The driver's memory. */
    uint8_t token;      /* of the current contender */
    uint8_t own;        /* slot, once it is known */
    uint8_t ahead;      /* slot that the machine was told of as the one right ahead */
    uint8_t asked;      /* enum zkl_ask of the current flight */
    uint8_t half;       /* code of the first answer of half_flight, whose second is under way */
    uint8_t half_flight;
    uint8_t listed;     /* mask: the listing that needs a survey */
    uint8_t zombies;    /* mask of tokens */

    uint8_t tokens[MOST_TOKENS]; /* slot, UNBORN, or NONE: free */
    uint8_t late_creates;        /* mask of tokens: creates that the server keeps in a stalled thread */
    uint8_t late_deletes;        /* mask of slots */
    uint8_t late_downgrades;     /* mask of slots */

    uint8_t watches; /* mask of slots that the client library watches */
    uint8_t planted; /* mask of slots with a watch at the server of this connection */
    uint8_t missed;  /* mask of watched slots that changed while nobody could tell */

    /* The same for the directory of the leases, with the limit above it. */
    uint8_t watches_leases;
    uint8_t planted_leases;
    uint8_t missed_leases;
    uint8_t seen_leases; /* mask: of the last listing that was judged */

    uint8_t request_count;
    uint8_t reply_count;
    struct message requests[MOST_REQUESTS]; /* sent and not applied, the oldest first */
    struct message replies[MOST_REPLIES];   /* replies and events under way */
};

struct world {
    uint8_t has_parent;
    uint8_t node_count;
    uint8_t alive;        /* masks of slots */
    uint8_t at_limit;     /* numbered 2147483647 */
    uint8_t negative;     /* numbered below zero */
    uint8_t readers;
    uint8_t writers;      /* that may be downgraded */
    uint8_t writer_of[MOST_NODES]; /* the slot whose number a downgraded reader has; NONE: its own */
    uint8_t killed;       /* deleted by an operator */
    uint8_t killed_early; /* and somebody was ahead at that time */
    uint8_t numbers_left; /* before the counter reaches its limit */
    uint8_t faults_left;
    uint8_t give_ups_left;
    uint8_t downgrades_left;
    uint8_t permits;      /* of a semaphore; 0: it is none */
    uint8_t raises_left;
    uint8_t hold_limits_left;
    struct client clients[MOST_CLIENTS];
};

/* What is explored; constant during a run. */
struct setting {
    const char *name;
    int clients;
    int faults;
    int give_ups;
    int depth;           /* 0: no bound */
    int tries;           /* this many clients do not wait */
    int readers;         /* this many are shared, the last ones */
    int downgrades;      /* this often a writer goes on as a reader */
    int hold_limits;     /* this often somebody has held for as long as he may */
    int permits;         /* all are leases of a semaphore with so many, */
    int raises;          /* of which this often there is one more */
    bool is_guarded;     /* and one at a time makes one */
    bool has_writers;    /* the others may be downgraded */
    uint64_t kinds;      /* mask of enum step_kind: faults that may happen */
    bool has_no_parent;  /* at the start */
    bool is_at_limit;    /* the counter sticks after so many more numbers: */
    int numbers_left;
    bool is_unreadable;  /* nobody may read another's node, */
    bool is_blind;       /* nor gets its events, as servers since 3.8.4 have it */
};

extern struct setting setting;

#define BIT(index) ((uint8_t)(1u << (index)))

static inline bool has_bit(unsigned mask, unsigned index)
{
    return index < 8 && (mask >> index & 1u) != 0;
}

/* ------------------------------------------------------------------------------------ world.c: the server */

void world_init(struct world *world);

/* Who has to go before the node in this slot may hold: a mask. */
uint8_t world_ahead_of(const struct world *world, int slot);
/* Whether the node in this slot has to wait for one of them. */
bool world_must_wait(const struct world *world, int slot);
/* The reader in the place of this writer; NONE: there is none. */
uint8_t world_reader_of(const struct world *world, int writer);

/* Whether the oldest request of this client can be applied. */
bool world_can_apply(const struct world *world, const struct client *client);
/* Applies it and sends the reply. `is_negative`: a create beyond the counter's limit gets such a number. */
void world_apply(struct world *world, struct client *client, bool is_negative);
void world_apply_late_create(struct world *world, struct client *client, int token, bool is_negative);
void world_apply_late_delete(struct world *world, struct client *client, int slot);

void world_apply_late_downgrade(struct world *world, struct client *client, int slot);

/* leases.c: a node was made or deleted there, or the limit was changed. */
void world_leases_changed(struct world *world);
void world_raise_limit(struct world *world);
/* A watch on them is planted, where the connection has a server behind it. */
void world_watch_leases(const struct world *world, struct client *client);
/* Whether it may make its lease now. */
bool world_may_guard(const struct world *world, const struct client *client);

void world_expire(struct world *world, struct client *client);
void world_kill(struct world *world, int slot);
void world_change(struct world *world, int slot);

/* The connection breaks: writes that were not applied may be, later. */
void world_cut(struct client *client);
void world_freeze(const struct world *world, struct client *client);
/* A session connects again, and its watches are set again. */
void world_reconnect(struct world *world, struct client *client, bool is_backwards);

void world_send(struct client *client, struct message request);
void world_reply(struct client *client, struct message message);

/* ------------------------------------------------------------------- canonical.c: one form for each world */

/* Forgets what cannot matter any more and renames. out_from[i]: where client i stood before; may be NULL. */
void world_canonicalize(struct world *world, uint8_t *out_from);
unsigned world_size(void);

/* A world without its empty places. */
struct packed {
    uint16_t size;
    unsigned char bytes[sizeof(struct world)];
};

void world_pack(const struct world *world, struct packed *out_packed);
void world_unpack(const unsigned char *bytes, struct world *out_world);
uint64_t world_fingerprint(const struct packed *packed);

#endif
