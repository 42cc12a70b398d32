/*
 * The order of contenders, and one contender's place in a listing. Pure.
 *
 * Who is ahead: of an exclusive contender, every one in front of it; of a shared one, the exclusive ones alone.
 * Order: numbers from 0 to 2147483646 by number; then 2147483647 and negative ones, among themselves by czxid, since
 * the server's counter sticks at its limit and pipelined creates wrap. Equal numbers: by czxid, never by name.
 *
 * A reader that was a writer has its writer's number and is created later: a writer's end is not the turn of the one
 * behind it, unless that one is a reader. Where the counter has run out, such a reader could not be told from one that
 * waits, and a queue with readers or writers in it is refused.
 *
 * Which contenders may stand in one queue: they must count each other, whoever wrote them.
 *   "-lock-", "x-..." and "__lock__"    mutexes
 *   our "-lock-" and our "-__READ__"    we count both; others would not, so that none of theirs may be there
 *   "-__WRIT__" and "-__READ__"         Curator's read-write lock
 *   "__lock__" and "__rlock__"          kazoo's
 *   "-latch-"                           Curator's leader latch
 *
 * A semaphore's leases stand in a directory of their own, and count nobody who contends for a lock at the path above; that
 * none does is looked for apart from the listing. Of N permits the first N leases have one, whatever happens
 * behind them: a lease that has its place keeps it. Curator grants by the number of all leases, which is never sooner.
 */
#ifndef ZKL_QUEUE_H
#define ZKL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recipe/name.h"

/* Where the own contender stands among the children of its path. */
struct zkl_place {
    bool own_is_present;
    bool is_mixed;       /* contenders that do not count each other: nobody may be granted */
    bool has_other_limit; /* a semaphore of another limit than was asked for: nobody may be granted */
    bool is_unordered;   /* readers or writers, and numbers that the counter's limit has made alike */
    bool needs_survey;   /* numbers alone do not order it: ask for the czxid of each ambiguous child, then again */
    bool ahead_is_plain; /* when the contender right ahead goes, nothing that counts can appear in its place */
    int ahead_count;     /* contenders ahead, all that count */
    int ahead;           /* index of the one right ahead; -1: none */
    int own;             /* index of the own one; -1: none */
    int foreign_count;
};

/* For the order of a whole queue. Negative: a before b. Both czxids must be known. */
int zkl_queue_compare(struct zkl_name a, int64_t a_czxid, struct zkl_name b, int64_t b_czxid);

/* Whom a contender counts and by whom it is counted: one bit; 0 for what is no contender. */
unsigned zkl_queue_family(struct zkl_name name);
/* Whether contenders of all these families count each other. */
bool zkl_queue_is_one(unsigned families);

/* Whether the place of `name` can depend on czxids in a queue where the own number is `own`. */
bool zkl_queue_is_ambiguous(struct zkl_name name, struct zkl_name own);

/*
 * Finds the place of the contender whose name begins with `prefix`. `czxids` is NULL, or has one entry a child: its
 * czxid where a survey asked for it, 0 where it did not, and -1 where the child was found to be gone.
 */
void zkl_queue_place(const char *const *children, int count, const char *prefix, const int64_t *czxids,
                     struct zkl_place *out_place);

/* The same for a lease of a semaphore: how many leases are in front of it. Which of them goes first is nobody's choice,
 * so that `ahead` is -1. */
void zkl_queue_place_lease(const char *const *children, int count, const char *prefix, const int64_t *czxids,
                           struct zkl_place *out_place);

/* With so many permits, 1 or more: from now on `ahead_count` says how many have to go before it is this one's turn. */
void zkl_place_allow(struct zkl_place *place, int permits);

#endif
