#include "signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "inherit.h"

static const int ends_wait[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
static const int passed_on[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};
static const int others[] = {SIGCHLD, SIGTSTP, SIGCONT, SIGTTOU};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_among(int signal_number, const int *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == signal_number)
            return true;
    }
    return false;
}

/* Blocked signals are queued even where their disposition is to be ignored, and for process 1 too. */
bool signals_open(int *out_fd)
{
    sigset_t set;
    int fd;

    sigemptyset(&set);
    for (size_t i = 0; i < COUNT(passed_on); i++)
        sigaddset(&set, passed_on[i]);
    for (size_t i = 0; i < COUNT(others); i++)
        sigaddset(&set, others[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return false;
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return false;
    *out_fd = fd;
    return true;
}

bool signals_open_ending(int *out_fd)
{
    sigset_t set;
    int fd;

    sigemptyset(&set);
    for (size_t i = 0; i < COUNT(ends_wait); i++) {
        if (!inherit_ignores(ends_wait[i]))
            sigaddset(&set, ends_wait[i]);
    }
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return false;
    *out_fd = fd;
    return true;
}

int signals_next(int fd)
{
    struct signalfd_siginfo info;

    if (read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return 0;
    return (int)info.ssi_signo;
}

bool signals_ends_wait(int signal_number)
{
    return is_among(signal_number, ends_wait, COUNT(ends_wait)) && !inherit_ignores(signal_number);
}

bool signals_is_passed_on(int signal_number)
{
    return is_among(signal_number, passed_on, COUNT(passed_on));
}

/* The kernel drops a pending SIGCONT when a stop signal comes, and the other way round. */
bool signals_is_continue_pending(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

void signals_drop_job_control(void)
{
    const struct timespec at_once = {0, 0};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCONT);
    sigaddset(&set, SIGTSTP);
    while (sigtimedwait(&set, NULL, &at_once) > 0)
        continue;
}
