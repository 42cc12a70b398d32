/*
 * One contender's life, from the wish for a lock to the certainty that its znode is gone: a pure function of (state,
 * event) to (state, actions). No I/O, clock, memory, lock or callback; the same object file is shipped and explored.
 *
 *   NEW -> CREATING -----> held at once when nobody is ahead ----> HELD ----> DELETING -> GONE
 *            |   ^  \                                              ^ |           ^
 *    no parent   |   answer lost                                   | v           |
 *            v   |     v                                           | LOST -------+
 *        PREPARING  FINDING -> adopt -> LISTING/SURVEYING -> WATCHING -> WAITING |
 *                                           ^                              |     |
 *                                           +-- woken, not next in line ---+     |
 *   CREATING waits for GUARDED where the contender is a lease of a semaphore: one at a time may be made.
 *   LOST by a hold limit deletes its node at once, and stays what it is: the owner has still to release.
 *   HELD as a writer may go on as a reader: the same state, another node, put there in one transaction.
 *        any of these, given up or refused: its end is told at once, the rest is cleaned up --+
 *
 * Invariants
 *  - One result is told, ever: `has_result` is set by the first of grant, refusal, cancel and limit.
 *  - A grant needs a lease that runs by the clock, an own node whose owner is this session, and nobody ahead: a
 *    listing that says so, or the deletion of the one contender that a listing showed ahead.
 *  - At most one flight is out; an answer with another number changes nothing.
 *  - GONE is reached only when no znode of this contender can be there, or when the remains are handed on: to the
 *    session's zombies (`zombie` in the actions) or to the session's end (outcome DENIED or REFUSED).
 */
#ifndef ZKL_MACHINE_H
#define ZKL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "recipe/queue.h"

enum zkl_state {
    ZKL_NEW,
    ZKL_CREATING,  /* the create and the listing behind it, in one flight */
    ZKL_PREPARING, /* the parents were missing */
    ZKL_FINDING,   /* the create may or may not have been applied */
    ZKL_LISTING,
    ZKL_SURVEYING, /* asking for czxids, where numbers alone do not order */
    ZKL_WATCHING,  /* asking for the own node and the one right ahead, with watches */
    ZKL_WAITING,   /* for the one ahead to go; or, with nobody ahead, for a lease */
    ZKL_HELD,
    ZKL_LOST,
    ZKL_DELETING,
    ZKL_GONE,
    ZKL_STATE_COUNT
};

/* What the driver is to ask of the store: one flight, answered by one event when its last reply has come. */
enum zkl_ask {
    ZKL_ASK_NOTHING,
    ZKL_ASK_CREATE,    /* create (under a fresh name) + list */
    ZKL_ASK_PREPARE,   /* create the parents */
    ZKL_ASK_FIND,      /* quorum barrier on the parent + list */
    ZKL_ASK_LIST,
    ZKL_ASK_SURVEY,    /* Stat of every ambiguous child of the last listing */
    ZKL_ASK_WATCH,     /* get own + get the one ahead, both with watch, in this order */
    ZKL_ASK_WATCH_OWN, /* get own, with watch */
    ZKL_ASK_DELETE,    /* with two names: both, the reader behind the writer */
    ZKL_ASK_DOWNGRADE, /* put a reader in the writer's place, in one transaction; and get the reader, with watch */
};

enum zkl_answer {
    ZKL_ANSWER_NONE, /* was not asked */
    ZKL_ANSWER_OK,
    ZKL_ANSWER_UNKNOWN, /* may or may not have been applied */
    ZKL_ANSWER_NO_NODE,
    ZKL_ANSWER_DENIED,
    ZKL_ANSWER_REFUSED,
};

enum zkl_event_type {
    ZKL_EV_START,
    ZKL_EV_CREATED,      /* first: create, second: list; place */
    ZKL_EV_PREPARED,     /* first */
    ZKL_EV_FOUND,        /* first: barrier, second: list; place */
    ZKL_EV_LISTED,       /* first; place */
    ZKL_EV_SURVEYED,     /* first; place */
    ZKL_EV_WATCHED,      /* first: own, second: the one ahead; owner_is_us */
    ZKL_EV_DELETED,      /* first; second: the reader */
    ZKL_EV_DOWNGRADED,   /* first: the transaction, second: the reader; owner_is_us */
    ZKL_EV_UNSENT,       /* the flight could not be handed to the store; nothing of it was applied */
    ZKL_EV_RETRY,        /* after UNSENT: try again */
    ZKL_EV_OWN_GONE,     /* the own node is known to be deleted */
    ZKL_EV_OWN_CHANGED,
    ZKL_EV_AHEAD_GONE,
    ZKL_EV_AHEAD_CHANGED,
    ZKL_EV_CONNECTED,    /* the same session answers (again) */
    ZKL_EV_DISCONNECTED,
    ZKL_EV_EXPIRED,      /* the session and its nodes are gone; a fresh one will be CONNECTED */
    ZKL_EV_LEASED,       /* a lease was earned */
    ZKL_EV_LAPSED,       /* the lease is over */
    ZKL_EV_GIVE_UP,      /* cancel, limit or close, as `why` says */
    ZKL_EV_RELEASE,
    ZKL_EV_DOWNGRADE,    /* a held contender of kind WRITE shall go on as a reader */
    ZKL_EV_LOOK,         /* after a while: see zkl_machine_awaits_look() */
    ZKL_EV_GUARDED,      /* whoever may create now is this one: see is_guarded */
    ZKL_EV_HOLD_OVER,    /* it was held for as long as its owner allows */
    ZKL_EV_COUNT
};

enum zkl_outcome {
    ZKL_OUTCOME_OK,
    ZKL_OUTCOME_BUSY,
    ZKL_OUTCOME_LIMIT,     /* the limit passed behind somebody */
    ZKL_OUTCOME_NO_SERVER, /* the limit passed, and no place in the queue was known */
    ZKL_OUTCOME_CANCELLED,
    ZKL_OUTCOME_CLOSED,
    ZKL_OUTCOME_REMOVED,   /* the contender was deleted by somebody else */
    ZKL_OUTCOME_EXPIRED,   /* the session was ended by the server */
    ZKL_OUTCOME_LEASE,     /* the lease ran out */
    ZKL_OUTCOME_HOLD_LIMIT, /* it was held for as long as its owner allows */
    ZKL_OUTCOME_LOST,      /* released, but it had been lost */
    ZKL_OUTCOME_MIXED,
    ZKL_OUTCOME_OTHER_LIMIT, /* of a semaphore: not the one that was asked for */
    ZKL_OUTCOME_DENIED,
    ZKL_OUTCOME_REFUSED,
};

struct zkl_event {
    enum zkl_event_type type;
    unsigned flight;           /* of an answer */
    enum zkl_answer first;
    enum zkl_answer second;
    struct zkl_place place;
    bool owner_is_us;          /* WATCHED, DOWNGRADED: the own node belongs to this session */
    bool has_lease;            /* by the clock, now; in every event */
    enum zkl_outcome why;      /* GIVE_UP */
    bool guard_is_behind;      /* GIVE_UP: the guard's contender is known to stand behind another */
};

enum zkl_notice {
    ZKL_NOTICE_NONE,
    ZKL_NOTICE_GRANTED,
    ZKL_NOTICE_ENDED,    /* the acquire ended without the lock; `outcome` */
    ZKL_NOTICE_REQUEUED, /* the session expired while waiting */
    ZKL_NOTICE_LOST,     /* `outcome` says why */
    ZKL_NOTICE_RELEASED, /* after RELEASE: `outcome` OK, LOST, DENIED or REFUSED */
    ZKL_NOTICE_DOWNGRADED, /* held as a reader from now on; or, with `outcome` DENIED or REFUSED, as before */
};

struct zkl_actions {
    enum zkl_ask ask;
    bool by_exists; /* WATCH: the one ahead cannot be read; ask for its Stat instead */
    enum zkl_notice notice;
    enum zkl_outcome outcome;
    bool zombie;    /* the latest create was never seen: sweep its name for as long as this session lives */
    bool node_stays; /* the server refuses the delete: only the end of the session removes the node */
};

struct zkl_machine {
    enum zkl_state state;
    bool is_try;        /* do not wait behind anybody */
    bool is_guarded;    /* creates nothing before GUARDED, again after each EXPIRED: leases of a semaphore */
    bool has_guard;
    bool is_guard;      /* of such a lease: it is held for moments, and nobody is told of its end */
    bool is_connected;
    bool is_in_flight;
    bool is_blocked;    /* UNSENT: nothing is asked until RETRY or CONNECTED */
    unsigned flight;    /* number of the latest flight */
    bool has_result;    /* granted, or ended */
    bool was_granted;
    bool is_released;   /* RELEASE was asked for: its outcome is still to be told */
    bool was_lost;
    bool goes_unreleased; /* lost by its hold limit: deleted in LOST, without waiting for RELEASE */
    bool node_is_known; /* the own node's name is known, and it is not known to be gone */
    bool is_verified;   /* its owner is this session for certain */
    bool own_is_watched; /* is_verified then, too */
    bool watch_can_wait; /* HELD: it is asked for at the next LOOK, which whoever holds for a moment does not see */
    bool is_behind;     /* the latest listing showed somebody ahead */
    bool is_next;       /* exactly one, and nothing can take its place: on this connection its deletion is the grant */
    bool must_list;     /* came to the front without a lease: only a new listing may grant */
    bool ahead_is_gone; /* noticed before the answer that plants the watch */
    bool own_has_changed; /* noticed before the answer about the one ahead: the own node's watch is used up */
    bool reads_by_exists;
    bool is_downgrading; /* asked for, and its answer is not known */
    bool is_downgraded;  /* the reader is the own node */
    bool downgrade_may_be_done; /* one was sent whose answer was lost */
    bool delete_may_be_done; /* a delete was sent whose answer was lost */
    int rounds;         /* parents made in a row */
};

/* A contender for a session that is, or is not, connected now. `is_try`: end with BUSY if anybody is ahead. Set
 * `is_guarded` before START. */
void zkl_machine_init(struct zkl_machine *machine, bool is_try, bool is_connected);

/* The one entry point. */
struct zkl_actions zkl_machine_step(struct zkl_machine *machine, const struct zkl_event *event);

/* Whether the own node may be the writer or the reader in its place. */
static inline bool zkl_machine_has_two_names(const struct zkl_machine *machine)
{
    return machine->is_downgrading || machine->downgrade_may_be_done;
}

/* Whether a LOOK is due some time after this: the one ahead may be gone without news, or a holder has no watch yet. */
bool zkl_machine_awaits_look(const struct zkl_machine *machine);

/* For traces. Never NULL. */
const char *zkl_state_name(enum zkl_state state);
const char *zkl_event_name(enum zkl_event_type type);
const char *zkl_ask_name(enum zkl_ask ask);

/* Whether a move is one that the picture shows. The explorer takes each of them at least once. */
bool zkl_move_is_allowed(enum zkl_state from, enum zkl_state to);

#endif
