/*
 * The keeper: a process between zklock and the job, forked before zklock has any thread or descriptor of its own. It
 * starts the command, is the job's sub-reaper and tells what becomes of the command. It acts by itself in two cases:
 *
 *  - zklock is gone without having dismissed it. It kills the job, waits until no member is left, and only then ends
 *    the session, so that the next holder need not wait for the session timeout.
 *  - zklock has not moved its leash on in time, as when it alone is frozen. It kills the job, since the lease ends.
 *
 * That zklock is gone is what the kernel says of that very process (a pidfd), never a guess. After the command's start
 * the keeper has no descriptor of the job's, and it dies with the job or with zklock, whichever is last.
 *
 * Both sides are single-threaded. They share the leash and whether the keeper is still needed as memory, so that what is
 * true now counts even for a keeper that was stopped for a while, and speak of the rest in messages over a pair of
 * sockets. Here is zklock's side.
 */
#ifndef CLI_KEEPER_H
#define CLI_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "zklock.h"

struct keeper_shared;

struct keeper {
    pid_t pid; /* -1: none, or gone */
    int fd;    /* readable when there is news */
    struct keeper_shared *shared;
    zklock_session_key told_key;
};

/* What has become of the command. */
struct keeper_news {
    pid_t pid;          /* of the command; -1: it could not be started, see error */
    int error;          /* errno */
    bool has_leader;    /* the command has not ended */
    int wait_status;    /* once it has */
    int stop_signal;    /* with which it is stopped now; 0: it runs */
    int exec_error;     /* errno if the command could not be executed */
    bool was_leash_cut; /* the keeper has killed the job, since the leash was not moved on */
};

/* No keeper: every other call does nothing then. */
void keeper_init(struct keeper *keeper);

/*
 * Forks it. `argv` is the command that it will start; `servers` is where it ends the session, NULL: the default.
 * False: errno says why.
 * @thread the only one of the process
 */
bool keeper_start(struct keeper *keeper, char *const *argv, const char *servers);
bool keeper_is_there(const struct keeper *keeper);

/* Which session to end if zklock is gone: the present one. Cheap when nothing has changed. */
void keeper_tell_session(struct keeper *keeper, zklock_session *session);

/* Until when (clock_boottime_ms) the job may run without hearing of zklock; 0: for ever. First before the command starts:
 * a keeper starts nothing whose leash has run out. */
void keeper_move_leash(struct keeper *keeper, int64_t until_ms);

/* The command has ended, and what it left running is left alone from now on, whatever becomes of zklock. */
void keeper_end_job(struct keeper *keeper);

/* Has it start the command, with `variables` (up to NULL) put into the caller's environment. 0 or an errno; a keeper that
 * does not answer is given up: killed, and with it what it may have started. */
int keeper_start_command(struct keeper *keeper, char *const *variables, bool takes_terminal, pid_t *out_pid);

/* Has it send a signal to the command's process group, if the command has not ended. */
void keeper_signal(struct keeper *keeper, int signal_number);

/* The next news, without waiting. False: there is none. */
bool keeper_next(struct keeper *keeper, struct keeper_news *out_news);

/* zklock has nothing left to guard: the keeper ends, leaves alone what lives of the job, and is reaped. Blocks for up to
 * a second. */
void keeper_dismiss(struct keeper *keeper);

/* It has ended, and was reaped already. */
void keeper_forget(struct keeper *keeper);

#endif
