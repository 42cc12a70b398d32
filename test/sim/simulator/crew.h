/* Threads of a process that share one of its contenders. All are this one thread: what they wait in is theirs. */
#ifndef SIMULATOR_CREW_H
#define SIMULATOR_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "lock/cohort.h"

struct contender;
struct item;

enum { CREW_SIZE = 4 };

struct hand {
    struct zkl_cohort_thread thread;
    bool is_waiting;
    unsigned arrival;
    int64_t limit_ns; /* when it must have its result, on the world's time */
    int64_t hold_ns;
};

struct crew {
    struct contender *contender;
    zklock_cohort *cohort; /* NULL: there is none */
    struct hand hands[CREW_SIZE];
    unsigned arrivals;
    int owner;             /* which hand; -1: nobody */
    bool is_lost_seen;

    /* of the grant */
    uint64_t token;
    unsigned passes;
    int64_t granted_ns; /* by the process's clock */
    unsigned most_passes;
    int64_t most_ms;
};

void crew_make(struct crew *crew, struct contender *contender);
void crew_free(struct crew *crew);
/* What its user wants. */
void crew_play(struct crew *crew, const struct item *item);
/* After anything that happened to the process. `is_public`: the public calls are asked, too. */
void crew_look(struct crew *crew, bool is_public);
bool crew_is_busy(const struct crew *crew);

#endif
