/*
 * What must hold at every moment:
 *   - at most one contender of a lock believes that it holds it, by its own clock; of a semaphore, N; or shared ones;
 *   - the node of one that believes is there, as the quorum sees it;
 *     both but for an operator's deletion that the owner cannot know of yet;
 *   - tokens rise from grant to grant, and whoever is granted is the oldest contender, or one of the N oldest leases;
 *   - a contender watches one node of others, at most;
 *   - each acquire has one result, within its limit;
 *   - of several locks that are taken as one, all are held or none is;
 *   - threads of a cohort own its lock one at a time, in the order of arrival, so often in a row, and on a lease.
 * And when the last fault is over: every waiter is served, and nothing is left.
 */
#ifndef SIMULATOR_CHECKER_H
#define SIMULATOR_CHECKER_H

#include "process.h"

#define PROPERTIES(X)                                                                                         \
    X(EXCLUSION, "two believe that they hold one lock")                                                       \
    X(NODE, "the contender of a believer is gone")                                                            \
    X(TOKENS, "a token did not rise")                                                                         \
    X(ORDER, "granted before an older contender")                                                             \
    X(WATCHES, "two watches for one contender")                                                                \
    X(LIMIT, "no result within the limit")                                                                    \
    X(RESULTS, "not one result")                                                                              \
    X(CALL, "a call answered what it must not")                                                               \
    X(SERVED, "a waiter was not served in a calm time")                                                       \
    X(REMAINS, "something was left")                                                                          \
    X(WHOLE, "of several that are taken as one, some are held")                                               \
    X(COHORT, "a cohort handed its lock on as it must not")                                                   \
    X(NEWS, "an operator's deletion did not become known")                                                    \
    X(LEASE, "the lease of a healthy holder fell too low")

enum property {
#define PROPERTY_ENUM(name, text) PROPERTY_##name,
    PROPERTIES(PROPERTY_ENUM)
#undef PROPERTY_ENUM
    PROPERTY_COUNT
};

/* Exit statuses of a process whose world broke a property: this and its number. */
#define STATUS_VIOLATION 40

const char *property_name(enum property property);
const char *property_text(enum property property);

struct lock_path {
    char path[32];
    int permits;    /* of a semaphore, at first; 0: a lock */
    int limit;      /* as the quorum sees it; 0: none is set */
    int former_limit; /* the most before that, as long as somebody may go by it */
    int64_t former_until_ns;
    bool is_shared; /* some want it as readers, and others go on as such */
    uint64_t token; /* of the latest grant, to an exclusive holder where it is shared */
};

/* Says what is wrong, and ends the program. */
_Noreturn void checker_fail(struct run *run, enum property property, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* By its own clock, now. */
bool checker_believes(const struct contender *contender);
/* The node of one that believes is there, and its own, as the quorum sees it; but for an operator's deletion. */
void checker_check_node(struct contender *contender);
/* After anything that happened to the process. */
void checker_look(struct process *process);
void checker_on_gone(void *run, struct znode *node);
void checker_on_write(void *run, struct znode *node);
void checker_on_watch(void *run, struct watch *watch);

#endif
