/*
 * One contender on its way: a machine, what it needs to know of the world, and the flights it sent. It is a member of
 * the session until its znode is certainly gone, which can be long after the lock object was freed.
 *
 * @locks every function expects the session's mutex  @thread any
 */
#ifndef ZKL_ATTEMPT_H
#define ZKL_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/detail.h"
#include "recipe/machine.h"
#include "session/session.h"

struct zkl_permit;

/* The last listing, kept while its order is being asked for. */
struct zkl_listing {
    char **names;
    int64_t *czxids;
    int count;
};

void zkl_listing_clear(struct zkl_listing *listing);

struct zkl_attempt {
    struct zkl_member member;
    struct zkl_machine machine;
    zklock_session *session; /* lives as long as the attempt is its member or has calls under way */
    zklock *lock;            /* who listens; NULL: nobody any more */
    int refs;
    bool has_left; /* it is no member any more */

    char *path; /* of the lock, with the chroot */
    char *payload;
    enum zkl_kind kind; /* of its first node */
    bool is_persistent_parent;

    char prefix[ZKL_PREFIX_SIZE]; /* of the latest create */
    struct zkl_zombie *zombie;    /* in case that nobody sees its fate; made before it is sent */
    char *own_path;               /* room for path, slash and name; meant only while the machine knows the node */
    char *reader_path;            /* what a downgrade puts in the place of own_path; NULL before one is asked for */
    char *ahead_path;             /* NULL: none */
    bool ahead_is_watched;
    size_t room;                  /* what it reserved in the session for watched paths */
    struct zkl_listing listing;
    bool must_look_beside;        /* since the latest create: something may stand at the path that does not count us */
    bool has_looked_beside;       /* and it was looked for */
    bool is_beside_others;        /* and found */
    struct zkl_permit *permit;    /* of a semaphore's lease; else NULL */
    struct zkl_permit *guards;    /* whose guard this is; NULL: none's, or nobody needs it any more */
    uint64_t token;

    int64_t limit_ns; /* of the acquire, then of a waiting release */
    int64_t retry_ns; /* after a flight that could not be sent */
    int64_t look_ns;  /* at a contender ahead whose events may not come, or at the own node */
    int64_t started_ns;
    int64_t hold_limit_ms; /* from the grant; negative: for ever */
    int64_t hold_ends_ns;  /* ZKL_NEVER: it has not begun, or there is no limit */
    bool limit_has_passed;
    zklock_status result;         /* of the acquire; PENDING until it has one */
    zklock_status downgrade_result; /* PENDING until it is certain */
    zklock_status release_result; /* PENDING until the release is confirmed */
    struct zkl_detail detail;
};

struct zkl_attempt_options {
    const char *path;
    const char *payload;
    enum zkl_kind kind;
    bool is_persistent_parent;
    bool is_try;
    const char *semaphore; /* of a LEASE: the path above `path`; else NULL */
    unsigned permits;      /* of it; 0: as many as it has */
    struct zkl_permit *guards;
    int64_t limit_ns;
    int64_t hold_limit_ms; /* negative: none */
    size_t room; /* reserved already; given back when the attempt leaves */
};

/* A member of the session at once; not started. NULL: no memory. The caller holds one reference. */
struct zkl_attempt *zkl_attempt_new(zklock_session *session, zklock *lock, const struct zkl_attempt_options *options);
void zkl_attempt_ref(struct zkl_attempt *attempt);
void zkl_attempt_unref(struct zkl_attempt *attempt);

/* What an attempt on this path may have watched at a time: its own node, and what is ahead. */
size_t zkl_attempt_room(const char *path, enum zkl_kind kind, bool is_try);
/* Before `ahead_path` means another node, or nothing any more. */
void zkl_attempt_leave_ahead(struct zkl_attempt *attempt);

/* Whose node stands for it: of a lease that is not made yet, the guard's. */
const struct zkl_attempt *zkl_attempt_shown(const struct zkl_attempt *attempt);
/* Whether it is known to wait for others, here or in the queue for its guard. */
bool zkl_attempt_is_behind(const struct zkl_attempt *attempt);

void zkl_attempt_start(struct zkl_attempt *attempt);
void zkl_attempt_give_up(struct zkl_attempt *attempt, enum zkl_outcome why);
void zkl_attempt_release(struct zkl_attempt *attempt, int64_t limit_ns);
/* Held, for its owner: its hold limit counts from now on. */
void zkl_attempt_begin_hold(struct zkl_attempt *attempt);
/* Whether it was held for as long as it may be. */
bool zkl_attempt_is_overdue(const struct zkl_attempt *attempt);
/* For how long it is held for certain, by the lease and by its hold limit; 0: it is not held. */
int64_t zkl_attempt_remaining(const struct zkl_attempt *attempt);
/* For what is held as a WRITE. False: no memory. */
bool zkl_attempt_downgrade(struct zkl_attempt *attempt);
/* Feeds an event, and carries out what the machine answers. The attempt may be gone afterwards: hold a reference. */
void zkl_attempt_feed(struct zkl_attempt *attempt, struct zkl_event *event);
/* attempt_member.c */
extern const struct zkl_member_class zkl_attempt_class;
/* Feeds an event that is only what its type says. */
void zkl_attempt_tell(struct zkl_attempt *attempt, enum zkl_event_type type);
/* Plans its next turn by what it waits for. */
void zkl_attempt_plan(struct zkl_attempt *attempt);

/* RETRY after a while. */
void zkl_attempt_retry_soon(struct zkl_attempt *attempt);
/* The same flight again after a while: it could not be handed on, or its answers could not be kept. */
void zkl_attempt_try_later(struct zkl_attempt *attempt);

/* flight.c: sends what the machine asks for. False: nothing was sent. */
bool zkl_flight_launch(struct zkl_attempt *attempt, const struct zkl_actions *actions);

/* lock.c: tells the owner. */
void zkl_lock_on_notice(zklock *lock, struct zkl_attempt *attempt, enum zkl_notice notice, enum zkl_outcome outcome);
void zkl_lock_on_silence(zklock *lock, struct zkl_attempt *attempt, bool is_silent);
void zkl_lock_on_limit(zklock *lock);
void zkl_lock_on_move(zklock *lock);
void zkl_lock_on_revocation(zklock *lock);
void zkl_lock_on_gone(zklock *lock, struct zkl_attempt *attempt);

/* outcome.c: what an outcome is called in public. */
zklock_status zkl_outcome_status(enum zkl_outcome outcome);

#endif
