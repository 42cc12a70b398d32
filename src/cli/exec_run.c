#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock.h"
#include "environment.h"
#include "exec.h"
#include "exec_guard.h"
#include "message.h"
#include "signals.h"

enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

struct run {
    struct guard guard;
    struct terminal terminal;
    int timer_fd;
    unsigned revocations; /* requests to let go that have been passed on */
};

static void set_timer(const struct run *run, int64_t in_ms)
{
    int64_t ms = in_ms > 0 ? in_ms : 1;
    struct itimerspec when = {.it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}};

    timerfd_settime(run->timer_fd, 0, &when, NULL);
}

static void suspend(struct run *run)
{
    if (run->guard.phase != GUARD_RUNNING || exec_suspend(run->guard.exec, &run->guard.job, &run->terminal))
        return;
    run->guard.was_lost = true;
    guard_kill(&run->guard);
    message_error("%s: the lock was lost while stopped; the command was killed",
                  run->guard.exec->options->path);
}

/* The command itself was stopped, by the terminal or for want of it. */
static void notice_stop(struct run *run)
{
    bool wants_terminal = run->guard.job.stop_signal == SIGTTIN || run->guard.job.stop_signal == SIGTTOU;

    if (run->guard.job.stop_signal == 0 || run->guard.phase != GUARD_RUNNING)
        return;
    if (wants_terminal && !run->terminal.is_handed_over &&
        terminal_give(&run->terminal, run->guard.job.child.pid)) {
        run->guard.job.stop_signal = 0;
        job_signal_group(&run->guard.job, SIGCONT);
    } else if (run->terminal.is_handed_over || (wants_terminal && run->terminal.fd >= 0)) {
        suspend(run);
    }
}

static void hear_of_job(struct run *run)
{
    job_reap(&run->guard.job);
    notice_stop(run);
}

static void take_signals(struct run *run)
{
    int number;

    while ((number = signals_next(run->guard.exec->signal_fd)) != 0) {
        if (number == SIGCHLD) {
            hear_of_job(run);
        } else if (number == SIGTSTP) {
            suspend(run);
        } else if (number == SIGCONT || signals_is_passed_on(number)) {
            job_signal_group(&run->guard.job, number);
        }
    }
}

static void await_event(struct run *run)
{
    struct pollfd descriptors[] = {{run->guard.exec->signal_fd, POLLIN, 0},
                                   {run->guard.exec->hold.fd, POLLIN, 0},
                                   {run->timer_fd, POLLIN, 0},
                                   {run->guard.exec->keeper.fd, POLLIN, 0}};
    uint64_t expirations;

    poll(descriptors, 4, -1);
    if (descriptors[3].revents)
        hear_of_job(run);
    if (descriptors[1].revents)
        zklock_multi_fd_clear(run->guard.exec->hold.multi);
    if (descriptors[2].revents && read(run->timer_fd, &expirations, sizeof(expirations)) < 0)
        return;
}

/* Somebody asks to let go: whether and when the command ends is its own affair. */
static void pass_revocation_on(struct run *run)
{
    const struct exec_options *options = run->guard.exec->options;
    unsigned revocations = hold_revocations(&run->guard.exec->hold);

    if (revocations == run->revocations || run->guard.phase != GUARD_RUNNING)
        return;
    run->revocations = revocations;
    if (options->revoke_signal) {
        job_signal_group(&run->guard.job, options->revoke_signal);
        message_warn("%s: somebody asks to let go; the command was sent SIG%s", options->path,
                     number_signal_name(options->revoke_signal));
    } else {
        message_warn("%s: somebody asks to let go; without --revoke-signal the command goes on", options->path);
    }
}

static void look_after(struct run *run)
{
    while (run->guard.phase != GUARD_OVER) {
        int64_t next_ms = guard_watch(&run->guard);

        pass_revocation_on(run);
        if (run->guard.phase == GUARD_OVER)
            break;
        set_timer(run, next_ms);
        await_event(run);
        take_signals(run);
        if (run->guard.phase == GUARD_RUNNING && !run->guard.job.has_leader)
            guard_end_command(&run->guard);
    }
}

static int status_of_exec(const struct run *run)
{
    const char *command = run->guard.exec->options->command[0];

    if (run->guard.job.exec_error == 0)
        return job_exit_status(&run->guard.job);
    message_error("cannot execute '%s': %s", command, strerror(run->guard.job.exec_error));
    return run->guard.job.exec_error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int start_ourselves(struct run *run, char *const *variables, bool takes_terminal)
{
    char **environment = environment_with(variables);
    struct child_plan plan = {
        .argv = run->guard.exec->options->command,
        .environment = environment,
        .terminal_fd = takes_terminal ? run->terminal.fd : -1,
        .output_fd = -1,
    };
    int error = environment ? job_start(&run->guard.job, &plan) : ENOMEM;

    free(environment);
    return error;
}

static int start(struct run *run)
{
    struct exec *exec = run->guard.exec;
    bool takes_terminal = terminal_suits_command(&run->terminal);
    char **variables = environment_variables(exec);
    int error = variables ? ESRCH : ENOMEM;

    if (variables && keeper_is_there(&exec->keeper)) {
        keeper_tell_session(&exec->keeper, exec->session);
        exec_move_leash(exec);
        error = job_start_kept(&run->guard.job, &exec->keeper, variables, takes_terminal);
    }
    /* A keeper that somebody killed while we waited is no reason to fail, unless it was asked for. */
    if (variables && !keeper_is_there(&exec->keeper) && !exec->options->is_guarded)
        error = start_ourselves(run, variables, takes_terminal);
    environment_variables_free(variables);
    if (error == 0 && takes_terminal)
        terminal_give(&run->terminal, run->guard.job.child.pid);
    return error;
}

static void conclude(struct run *run, struct exec_outcome *out_outcome)
{
    bool was_killed = run->guard.phase == GUARD_OVER && run->guard.was_lost;

    terminal_take_back(&run->terminal);
    if (was_killed)
        terminal_restore_modes(&run->terminal);
    out_outcome->was_lost = run->guard.was_lost;
    out_outcome->revocations = run->revocations;
    out_outcome->status = run->guard.was_lost ? EXIT_LOST : status_of_exec(run);
}

void exec_run(struct exec *exec, struct exec_outcome *out_outcome)
{
    struct run run = {.guard = {.exec = exec, .phase = GUARD_RUNNING}};
    int error;

    *out_outcome = (struct exec_outcome){.status = EXIT_SYSTEM, .held_since_ms = clock_boottime_ms()};
    run.timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    terminal_open(&run.terminal);
    job_init(&run.guard.job);
    if (run.guard.job.is_unseen)
        message_warn("%s: /proc does not show the processes of this PID namespace: what leaves the command's process group "
                     "can be neither seen nor ended", exec->options->path);
    error = run.timer_fd < 0 ? errno : start(&run);
    if (error == ETIME) {
        out_outcome->status = EXIT_LOST;
        out_outcome->was_lost = true;
        message_error("%s: the lease ended before the command could be started", exec->options->path);
    } else if (error) {
        message_error("cannot start the command: %s", strerror(error));
    } else {
        look_after(&run);
        conclude(&run, out_outcome);
    }
    job_clear(&run.guard.job);
    terminal_close(&run.terminal);
    if (run.timer_fd >= 0)
        close(run.timer_fd);
}
