/*
 * An observer: a member of the session that looks who stands first, watches that node, and looks again when it goes.
 *
 *      look ──▶ list ──▶ get the first one's node, with watch ──▶ told ──▶ the watch fires ──▶ look
 *                 │          └─ it may not be read: ask for its Stat, and look again after a second
 *                 └─ nobody is there: list with watch ──▶ told ──▶ the watch fires ──▶ look
 *
 * Each look has a number, and answers to an earlier one concern nobody. After a connection the next look begins.
 *
 * @locks everything here expects the session's mutex
 */
#ifndef ZKL_OBSERVER_H
#define ZKL_OBSERVER_H

#include "session/session.h"
#include "zklock_observer.h"

struct zkl_glance;

/* What is to be told, in one piece of memory. */
struct zkl_sighting {
    zklock_sighting public;
    zklock_contender leader;
    char text[]; /* its name and its payload */
};

struct zklock_observer {
    struct zkl_member member;
    zklock_session *session; /* counted until it is stopped */
    int refs;                /* the owner's, and one for each request under way */
    bool is_over;            /* stopped, or the session is being closed: it is no member any more */
    char *path;              /* with the chroot */
    size_t room;
    zklock_observer_fn *callback;
    void *context;
    unsigned look;            /* the number of the one under way */
    struct zkl_glance *watch; /* the request whose watch stands; NULL: none */

    struct zkl_notice_stock notices;
    bool is_queued;               /* the notifier has a notice for it */
    struct zkl_sighting *pending; /* what is told then; NULL: nothing */
    bool has_told;
    zklock_status told_status;
    uint64_t told_token;
};

/* observer.c */
/* Takes over what was seen, NULL where there was no memory for it, and has it told if it is news. False: no memory. */
bool zkl_observer_see(struct zklock_observer *observer, struct zkl_sighting *sighting);
void zkl_observer_unref(struct zklock_observer *observer);

/* observer_look.c */
void zkl_observer_look(struct zklock_observer *observer);
/* Nobody waits for it any more. */
void zkl_observer_leave_watch(struct zklock_observer *observer);
/* It went with its handle. */
void zkl_observer_forget_watch(struct zklock_observer *observer);
/* Full path of what is watched; NULL: nothing is. */
const char *zkl_observer_watched(const struct zklock_observer *observer);
/* What there is to tell of `leader`, whose name and payload are copied; NULL: nobody. NULL is returned without memory. */
struct zkl_sighting *zkl_sighting_new(zklock_status status, const zklock_contender *leader);

/* observe.c: the contender among these that comes first by its number; NULL: none. Needs no lock. */
const char *zkl_first_contender(const char *const *children, int count);

#endif
