/*
 * What must hold at every moment:
 *   - at most one contender of a lock believes that it holds it, by its own clock; of a semaphore, N;
 *   - the node of one that believes is there, as the quorum sees it;
 *     both but for an operator's deletion that the owner cannot know of yet;
 *   - tokens rise from grant to grant, and whoever is granted is the oldest contender, or one of the N oldest leases;
 *   - a contender watches one node of others, at most;
 *   - each acquire has one result, within its limit.
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
    int permits;    /* of a semaphore; 0: a lock */
    uint64_t token; /* of the latest grant */
};

/* Says what is wrong, and ends the program. */
_Noreturn void checker_fail(struct run *run, enum property property, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* By its own clock, now. */
bool checker_believes(const struct contender *contender);
/* After anything that happened to the process. */
void checker_look(struct process *process);
void checker_on_gone(void *run, struct znode *node);
void checker_on_watch(void *run, struct watch *watch);

#endif
