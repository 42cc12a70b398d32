/*
 * The command and everything it started, re-parented members included: zklock, or its keeper, is their
 * sub-reaper, so that whoever loses his parent becomes its own child and stays in sight.
 */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include <stdbool.h>

#include "child.h"
#include "keeper.h"
#include "processes.h"

struct job {
    struct keeper *keeper; /* whose child the command is; NULL: it is ours */
    bool was_keeper_lost;  /* it was killed, and the command with it; the rest of the job is below us */
    bool was_leash_cut;    /* the keeper has killed the job since it had not heard of us in time */
    struct child child;
    bool has_leader;               /* the command itself has not been reaped yet */
    int wait_status;               /* of the command, once it has ended */
    int stop_signal;               /* with which the command is stopped now; 0: it runs */
    int exec_error;                /* errno if the command could not be executed */
    bool is_unseen;                /* there is no /proc, or it is that of another PID namespace */
    struct process_list strangers; /* children that the caller's process image left behind: not of this job */
};

/* Makes this process the sub-reaper and takes note of children it has already. */
void job_init(struct job *job);
void job_clear(struct job *job);

/* Returns 0 or an errno. */
int job_start(struct job *job, const struct child_plan *plan);
/* The same by a keeper, which outlives the job: the command is what the keeper was started with. */
int job_start_kept(struct job *job, struct keeper *keeper, char *const *variables, bool takes_terminal);

/* Collects what has ended or stopped, without waiting. After every SIGCHLD, and when the keeper has news. */
void job_reap(struct job *job);

/* To the command's process group, as a terminal would. */
void job_signal_group(struct job *job, int signal_number);

/* To every member, wherever it went. Returns how many were there; -1: /proc told nothing, only the group was
 * reached. */
int job_signal_all(struct job *job, int signal_number);

/* Stops every member, with a signal that nobody can catch, and looks until none is left that may fork
 * another. */
void job_freeze(struct job *job);

/* How many members are alive; -1: not known. */
int job_count(const struct job *job);

/* Gives members that are about to end the time for it. Returns how many are left; -1: not known. */
int job_settle(struct job *job, int64_t limit_ms);

/* Whether the command is gone and nobody else of the job is known to be there. */
bool job_is_gone(const struct job *job);

/* The exit status as a shell would see it: the command's own, or 128 + n for signal n. */
int job_exit_status(const struct job *job);

#endif
