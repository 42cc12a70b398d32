/* One client's process: its session, its lock objects and what their user does with them. It lives until it is closed
 * or crashes; its memory stays until the world is cleared, since late messages still name it. */
#ifndef SIMULATOR_PROCESS_H
#define SIMULATOR_PROCESS_H

#include "crew.h"
#include "several.h"
#include "sim_runtime.h"
#include "sim_store.h"
#include "zklock.h"

struct run;
struct process;

#define MOST_LOCKS 8

enum { REMOVALS_KEPT = 4 };

struct contender {
    struct process *process;
    int index;
    int path;
    zklock *lock;
    unsigned round;     /* acquires begun */
    unsigned renewals;  /* of its lock object */
    bool is_asking;     /* the result of this round is still to come */
    bool is_holding;    /* the user was told that it holds */
    bool is_lost_told;
    bool must_free;     /* in its next callback */
    int64_t hold_ns;
    bool is_part;       /* of the several that are taken as one: their user is not its own */
    struct crew *crew;  /* whose contender it is; NULL: none */

    /* the checker's */
    bool is_believed;
    int64_t czxid;            /* of its node: the token, or that of the reader which has taken its place */
    int64_t belief_end_ns;    /* by the lease as it was seen last */
    uint64_t token;
    uint64_t removed_tokens[REMOVALS_KEPT]; /* of nodes that an operator removed last: a zombie may be among them */
    unsigned removals;
    int64_t excused_until_ns; /* so long that may not be known */
    int seen_state;
};

enum departure { STAYING, CLOSING, CRASHING, GONE };

struct process {
    struct host host; /* the first member */
    struct sim_runtime runtime;
    struct sim_driver driver;
    struct run *run;
    int slot;
    struct process *next;
    zklock_session *session;
    enum departure departure;
    int64_t close_ms;
    int contender_count;
    struct contender contenders[MOST_LOCKS];
    struct several several;
    struct crew crews[MOST_LOCKS];
};

struct process *process_start(struct run *run, int slot);
static inline bool process_is_alive(const struct process *process)
{
    return process && process->departure == STAYING;
}
/* What begins a departure does not block; what ends it lets the world go on meanwhile: for the main loop alone. */
void process_close(struct process *process, int64_t timeout_ms);
void process_crash(struct process *process, bool is_told);
void process_depart(struct process *process);

void contender_acquire(struct contender *contender, int64_t limit_ms, int64_t hold_ns);
void contender_cancel(struct contender *contender);
/* What a lock object on its path is made with. */
void contender_options(struct contender *contender, zklock_options *options);
/* Something later, on the process's time, unless the round is another one by then: then `run` finds the mark changed. */
void contender_post(struct contender *contender, int64_t delay_ns, event_fn *run);
/* Whether what was posted in the round of this mark is over. */
bool contender_is_past(const struct contender *contender, const void *mark);
/* Posts `check` for when a result must be there. */
void contender_post_limit(struct contender *contender, int64_t limit_ms, event_fn *check);
/* Of a check: whether the process stood still, so that it was posted again. */
bool contender_has_slept(struct contender *contender, event_fn *check, void *mark);
/* Frees the lock object and makes another one. */
void contender_renew(struct contender *contender);

#endif
