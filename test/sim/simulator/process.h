/* One client's process: its session, its lock objects and what their user does with them. It lives until it is closed
 * or crashes; its memory stays until the world is cleared, since late messages still name it. */
#ifndef SIMULATOR_PROCESS_H
#define SIMULATOR_PROCESS_H

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
    bool is_asking;     /* the result of this round is still to come */
    bool is_holding;    /* the user was told that it holds */
    bool is_lost_told;
    bool must_free;     /* in its next callback */
    int64_t hold_ns;

    /* the checker's */
    bool is_believed;
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
/* Frees the lock object and makes another one. */
void contender_renew(struct contender *contender);

#endif
