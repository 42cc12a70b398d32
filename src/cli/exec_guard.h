/*
 * What looks after the command while it runs: the lock, the lease and the way to the end. The lock is asked
 * by the clock at every turn, never remembered.
 */
#ifndef CLI_EXEC_GUARD_H
#define CLI_EXEC_GUARD_H

#include "exec.h"

enum guard_phase {
    GUARD_RUNNING,
    GUARD_STOPPING, /* the stop signal is out */
    GUARD_KILLING,  /* KILL is out, again and again until nobody is left */
    GUARD_OVER,
};

struct guard {
    struct exec *exec;
    struct job job;
    enum guard_phase phase;
    int64_t kill_at_ms;      /* in GUARD_STOPPING */
    int64_t give_up_at_ms;   /* in GUARD_KILLING */
    int64_t silent_since_ms; /* 0: the servers answer */
    bool has_warned_of_silence;
    bool has_warned_of_loss;
    bool was_lost;
};

/* One look at the lock, or at the job that is being stopped. Returns in how many milliseconds to
 * look again. */
int64_t guard_watch(struct guard *guard);

/* The command has ended by itself: what of the lock, and of what it left running? */
void guard_end_command(struct guard *guard);

/* Kills the job until nobody is left. */
void guard_kill(struct guard *guard);

#endif
