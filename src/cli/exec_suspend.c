#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "exec.h"
#include "message.h"
#include "signals.h"

enum { STOP_LIMIT_MS = 1000, STOP_TICK_MS = 20, QUESTION_LIMIT_MS = 2000 };

/* Gives the command time to stop by its own handler, as editors do to put the terminal back. */
static void await_stop(struct exec *exec, struct job *job)
{
    int64_t deadline_ms = clock_boottime_ms() + STOP_LIMIT_MS;

    job_reap(job);
    while (job->has_leader && job->stop_signal == 0 && clock_boottime_ms() < deadline_ms &&
           !exec_lease_is_short(exec)) {
        exec_move_leash(exec);
        poll(NULL, 0, STOP_TICK_MS);
        job_reap(job);
    }
}

/* Asks a server whether our contender is still there. No answer leaves it to the lease, which the clock
 * knows. */
static bool is_queued_at(struct exec *exec, int index, int64_t deadline_ms)
{
    char own[512];
    zklock_queue *queue;
    bool is_there = false;

    zklock_contender_name(exec->hold.locks[index], own, sizeof(own));
    if (zklock_queue_read(exec->session, exec->options->paths[index], clock_left_ms(deadline_ms), &queue) !=
        ZKLOCK_OK)
        return zklock_multi_is_held(exec->hold.multi);
    exec_move_leash(exec);
    for (size_t i = 0; i < queue->count; i++)
        is_there = is_there || strcmp(queue->contenders[i]->name, own) == 0;
    zklock_queue_free(queue);
    return is_there;
}

static bool is_still_queued(struct exec *exec)
{
    int64_t deadline_ms = clock_boottime_ms() + QUESTION_LIMIT_MS;

    for (int i = 0; i < exec->hold.count; i++) {
        if (!is_queued_at(exec, i, deadline_ms))
            return false;
    }
    return true;
}

static void warn_of_ageing(const struct exec *exec)
{
    char left[32];

    number_print_seconds(exec_remaining_ms(exec), left, sizeof(left));
    message_warn(
        "stopped; the session goes on ageing: unless continued within %s s the lock is lost and the command "
        "will be killed",
        left);
}

/*
 * Whoever shares our process group has not heard of the key that stopped the command: the script that called
 * us, say. One call for all, since a shell may continue the group as soon as it sees one of them stop; and
 * none at all if it has done so already, or we would sleep while everybody else goes on.
 */
static void stop_ourselves(bool was_by_key)
{
    if (!signals_is_continue_pending())
        kill(was_by_key ? 0 : getpid(), SIGSTOP);
    signals_drop_job_control();
}

bool exec_suspend(struct exec *exec, struct job *job, struct terminal *terminal)
{
    bool had_terminal = terminal->is_handed_over;
    bool was_by_key = had_terminal && job->stop_signal != 0;

    if (job->stop_signal == 0)
        job_signal_group(job, SIGTSTP);
    await_stop(exec, job);
    if (!job->has_leader)
        return true;
    /* Nobody of the job may run while there is nobody to stop him: members that caught the
     * signal included. */
    job_freeze(job);
    terminal_take_back(terminal);
    warn_of_ageing(exec);
    stop_ourselves(was_by_key);
    exec_move_leash(exec);
    if (!zklock_multi_is_held(exec->hold.multi) || exec_lease_is_short(exec) || !is_still_queued(exec) ||
        !zklock_multi_is_held(exec->hold.multi))
        return false;
    if (had_terminal || terminal_suits_command(terminal))
        terminal_give(terminal, job->child.pid);
    /* News of the stop that is over must not be read as another one. */
    job_reap(job);
    job->stop_signal = 0;
    job_signal_all(job, SIGCONT);
    return true;
}
