#include "job.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

enum { FREEZE_TRIES = 50, FREEZE_TICK_MS = 5, SETTLE_TICK_MS = 5 };

void job_init(struct job *job)
{
    *job = (struct job){.child = {.pid = -1, .report_fd = -1}};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    job->is_unseen = !processes_below(getpid(), NULL, &job->strangers);
}

void job_clear(struct job *job)
{
    process_list_clear(&job->strangers);
}

int job_start(struct job *job, const struct child_plan *plan)
{
    int error = child_start(plan, &job->child);

    job->has_leader = error == 0;
    return error;
}

int job_start_kept(struct job *job, struct keeper *keeper, char *const *variables, bool takes_terminal)
{
    pid_t pid = -1;
    int error = keeper_start_command(keeper, variables, takes_terminal, &pid);

    if (error && !keeper_is_there(keeper))
        job_signal_all(job, SIGKILL);
    if (error)
        return error;
    job->keeper = keeper;
    job->child.pid = pid;
    job->has_leader = true;
    return 0;
}

/* Below whom all members are. */
static pid_t root_of(const struct job *job)
{
    return job->keeper ? job->keeper->pid : getpid();
}

static void note_leader(struct job *job, int status)
{
    if (WIFSTOPPED(status)) {
        job->stop_signal = WSTOPSIG(status);
    } else if (WIFCONTINUED(status)) {
        job->stop_signal = 0;
    } else {
        job->wait_status = status;
        job->stop_signal = 0;
        job->exec_error = child_exec_error(&job->child);
        job->has_leader = false;
    }
}

static void take_news(struct job *job)
{
    struct keeper_news news;

    while (keeper_next(job->keeper, &news)) {
        job->has_leader = news.has_leader;
        job->wait_status = news.wait_status;
        job->stop_signal = news.stop_signal;
        job->exec_error = news.exec_error;
        job->was_leash_cut = news.was_leash_cut;
    }
}

/* The command has died with its keeper, by the parent-death signal. What else there was is ours now. */
static void lose_keeper(struct job *job)
{
    take_news(job);
    keeper_forget(job->keeper);
    job->keeper = NULL;
    job->was_keeper_lost = true;
    if (job->has_leader)
        job->wait_status = SIGKILL;
    job->has_leader = false;
    job->stop_signal = 0;
    job_signal_all(job, SIGKILL);
}

void job_reap(struct job *job)
{
    int status;
    pid_t pid;

    if (job->keeper)
        take_news(job);
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        if (job->keeper && pid == job->keeper->pid && (WIFEXITED(status) || WIFSIGNALED(status)))
            lose_keeper(job);
        else if (!job->keeper && pid == job->child.pid && job->has_leader)
            note_leader(job, status);
    }
}

/* A number is only safe to signal while its process has not been reaped: later it may be somebody else's. */
void job_signal_group(struct job *job, int signal_number)
{
    if (job->keeper)
        keeper_signal(job->keeper, signal_number);
    else if (job->has_leader && kill(-job->child.pid, signal_number) != 0)
        kill(job->child.pid, signal_number);
}

/* What nobody can catch does no harm twice, and need not wait for a keeper that somebody has stopped. */
static bool is_sent_directly(const struct job *job, const struct process *member, int signal_number)
{
    return !job->has_leader || member->group != job->child.pid ||
           (job->keeper && (signal_number == SIGKILL || signal_number == SIGSTOP));
}

int job_signal_all(struct job *job, int signal_number)
{
    struct process_list members;
    int count = -1;

    if (processes_below(root_of(job), &job->strangers, &members)) {
        count = (int)members.count;
        for (size_t i = 0; i < members.count; i++) {
            if (is_sent_directly(job, &members.items[i], signal_number))
                process_signal(&members.items[i], signal_number);
        }
        process_list_clear(&members);
    }
    job_signal_group(job, signal_number);
    return count;
}

static bool is_frozen(const struct job *job)
{
    struct process_list members;
    bool is_still = true;

    if (!processes_below(root_of(job), &job->strangers, &members))
        return true;
    for (size_t i = 0; i < members.count; i++)
        is_still = is_still && (members.items[i].state == 'T' || members.items[i].state == 't');
    process_list_clear(&members);
    return is_still;
}

/* Bounded: a process in uninterruptible sleep stops only when it wakes. */
void job_freeze(struct job *job)
{
    for (int i = 0; i < FREEZE_TRIES && (i == 0 || !is_frozen(job)); i++) {
        if (i > 0)
            poll(NULL, 0, FREEZE_TICK_MS);
        job_signal_all(job, SIGSTOP);
    }
}

/* Whether nobody is left, not even somebody to be reaped: a sub-reaper without children has no descendants at all. */
static bool is_childless(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

int job_count(const struct job *job)
{
    struct process_list members;
    int count;

    if (!processes_below(root_of(job), &job->strangers, &members))
        return !job->keeper && is_childless() ? 0 : -1;
    count = (int)members.count;
    process_list_clear(&members);
    return count;
}

int job_settle(struct job *job, int64_t limit_ms)
{
    int64_t deadline_ms = clock_boottime_ms() + limit_ms;
    int count;

    while ((count = job_count(job)) > 0 && clock_boottime_ms() < deadline_ms) {
        poll(NULL, 0, SETTLE_TICK_MS);
        job_reap(job);
    }
    return count;
}

bool job_is_gone(const struct job *job)
{
    return !job->has_leader && job_count(job) <= 0;
}

int job_exit_status(const struct job *job)
{
    if (WIFSIGNALED(job->wait_status))
        return 128 + WTERMSIG(job->wait_status);
    return WEXITSTATUS(job->wait_status);
}
