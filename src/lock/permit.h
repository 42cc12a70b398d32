/*
 * A semaphore, as Curator lays it out: whoever holds the guard, a mutex in PATH/locks, may make a lease in PATH/leases,
 * and waits there while all permits are taken; so that one lease at most stands beyond the limit, and a release wakes
 * one. The limit is the data of PATH, which a contender reads before it queues, and watches while it waits in front.
 * Where there is none, it is set by whoever makes a lease or finds others ahead of its guard. What was asked for is
 * compared with it once; from then on the contender follows it.
 * Both are attempts: the lease is the one that its owner sees, and has this beside it.
 *
 * Whoever does not wait needs no guard: it looks first, and makes a lease only where a permit seems to be free. What
 * holds is decided by the place among the leases, with or without a guard.
 *
 * @locks every function expects the session's mutex  @thread any
 */
#ifndef ZKL_PERMIT_H
#define ZKL_PERMIT_H

#include "lock/attempt.h"
#include "lock/limit.h"

struct zkl_look;

struct zkl_permit {
    struct zkl_attempt *lease;
    struct zkl_attempt *guard; /* counted; NULL: none is under way */
    struct zkl_look *look;     /* under way; NULL: none */
    char *path;                /* of the semaphore */
    char *guard_path;
    unsigned wanted;           /* 0: whatever is set */
    unsigned limit;            /* as it was read last; 0: it was not yet */
    int32_t version;           /* of the path's data, where the limit is to be set */
    bool is_absent;            /* it is to be set */
    bool is_checked;           /* looked at before the lease may be made */
    bool is_claimed;           /* and set, or tried to, where there was none and others have to be waited for */
    bool was_passed;           /* the machine was told that it may */
    bool limit_is_watched;
    uint64_t seen;             /* which leases the last listing showed that was judged */
};

/* Becomes the attempt's. False: no memory. */
bool zkl_permit_new(struct zkl_attempt *lease, const struct zkl_attempt_options *options);
void zkl_permit_free(struct zkl_permit *permit);

/* After anything has happened: begins what is missing before the lease may be made, ends what is not needed any more. */
void zkl_permit_review(struct zkl_permit *permit);
/* After the guard's place may have been learnt: sets a limit that was absent where others are to be waited for. */
void zkl_permit_review_place(struct zkl_permit *permit);
void zkl_permit_on_guard(struct zkl_permit *permit, enum zkl_notice notice, enum zkl_outcome outcome);
/* Whether it is known to stand behind others, in the queue of the guard. */
bool zkl_permit_is_behind(const struct zkl_permit *permit);
/* Behind whom the limit passed; `silence` says why the server is not heard, or nothing. */
void zkl_permit_explain(const struct zkl_permit *permit, const char *silence, struct zkl_detail *detail);
/* A watch on the path that nobody waits for any more. */
void zkl_permit_leave_limit(struct zkl_permit *permit);

/* Why the limit could not be set, for the attempt's detail. */
void zkl_permit_describe_set(struct zkl_permit *permit, const struct zkl_reply *reply);
/* Remembers which leases a listing shows; and whether another one shows the same. */
void zkl_permit_see(struct zkl_permit *permit, const struct zkl_reply *listing);
bool zkl_permit_has_seen(const struct zkl_permit *permit, const struct zkl_reply *listing);
/* A listing says that so many have to go: what is ahead is the whole directory. False: no memory. */
bool zkl_permit_set_ahead(struct zkl_permit *permit, int ahead_count);

enum zkl_limit_answer {
    ZKL_LIMIT_OK,      /* it is `limit` */
    ZKL_LIMIT_UNKNOWN,
    ZKL_LIMIT_ABSENT,  /* to be set */
    ZKL_LIMIT_OTHER,   /* not what was asked for; the attempt's detail says both */
    ZKL_LIMIT_DENIED,
    ZKL_LIMIT_REFUSED,
};

/* permit_look.c: begin the look, or the claim. What they bring is reviewed, or ends the lease's attempt. */
void zkl_permit_look(struct zkl_permit *permit);
void zkl_permit_claim(struct zkl_permit *permit);

/* What a GET of the path says. Whoever has been let in once follows what the limit becomes. */
enum zkl_limit_answer zkl_permit_take_limit(struct zkl_permit *permit, const struct zkl_reply *reply);
/* Writes the request that sets the limit, whose data live in `text`. */
void zkl_permit_request_limit(const struct zkl_permit *permit, char text[ZKL_LIMIT_SIZE], struct zkl_request *out);

#endif
