/* The parts of "zklock exec", in the order in which they run: acquire, run, finish. One thread: the
 * main one. */
#ifndef CLI_EXEC_H
#define CLI_EXEC_H

#include "exec_options.h"
#include "hold.h"
#include "job.h"
#include "terminal.h"
#include "zklock.h"

struct exec {
    const struct exec_options *options;
    zklock_session *session;
    struct hold hold;     /* a lock for each path, in their order */
    struct keeper keeper; /* none under --no-guard */
    int signal_fd;
    int64_t session_timeout_ms; /* negotiated */
    int64_t grace_ms;           /* between stop signal and KILL */
    int64_t reserve_ms;         /* what is left of the lease when KILL goes out */
    zklock_status failure;      /* of the acquire; ZKLOCK_OK: none, or none of the lock's */
    int64_t hold_ends_ms;       /* --hold-limit, on clock_boottime_ms(); INT64_MAX: none, or not held yet */
    int64_t deadline_ms;        /* of the acquire, on clock_boottime_ms(); INT64_MAX: none */
};

/* What running the command came to. */
struct exec_outcome {
    int status;
    bool was_lost;      /* known when the command ended */
    int64_t held_since_ms;
    unsigned revocations; /* requests to let go that have been dealt with */
};

/* No exit status yet. 0 is one: -E 0 asks for it when the lock is not had. */
enum { EXEC_GOES_ON = -1 };

/* Returns EXEC_GOES_ON when the lock is held with enough of its lease left, else the exit status, and has
 * said why. */
int exec_acquire(struct exec *exec);

/* For how long the command may go on if the servers fall silent now: by the lease, and by --hold-limit. The contender
 * outlives that, until the job is gone. */
int64_t exec_remaining_ms(const struct exec *exec);
/* Whether --hold-limit is what ends first. */
bool exec_is_at_hold_limit(const struct exec *exec);
/* Whether so little is left that the command has to be stopped now. */
bool exec_lease_is_short(const struct exec *exec);

/* Tells the keeper how long the lease runs now, if there is one to tell. Returns in how many milliseconds again: so often
 * in a session timeout that only a zklock that does not run can miss it. */
int64_t exec_move_leash(struct exec *exec);

/* Runs the command to its end, or stops it when the lock is lost. */
void exec_run(struct exec *exec, struct exec_outcome *out_outcome);

/*
 * Stops the job and then this process, as a terminal's Ctrl-Z asks for, and goes on when somebody continues
 * it. False: the lock is not held any more, and the job has to be killed without being continued first.
 */
bool exec_suspend(struct exec *exec, struct job *job, struct terminal *terminal);

#endif
