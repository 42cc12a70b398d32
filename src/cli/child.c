#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "inherit.h"

enum { EXIT_NOT_EXECUTED = 127 };

/* Leaves the child if the parent has died already: then no parent-death signal comes any more. */
static void die_with_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_NOT_EXECUTED);
}

/* dup2() clears close-on-exec. */
static void redirect(int output_fd)
{
    int null_fd = output_fd >= 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;

    if (null_fd < 0)
        return;
    dup2(null_fd, STDIN_FILENO);
    dup2(output_fd, STDOUT_FILENO);
    dup2(output_fd, STDERR_FILENO);
}

/* Other threads held locks at the time of the fork: nothing but async-signal-safe calls from here on. */
static _Noreturn void become_command(const struct child_plan *plan, pid_t parent, int report_fd)
{
    int error;

    setpgid(0, 0);
    die_with_parent(parent);
    if (plan->terminal_fd >= 0)
        tcsetpgrp(plan->terminal_fd, getpid());
    inherit_restore();
    redirect(plan->output_fd);
    execvpe(plan->argv[0], plan->argv, plan->environment);
    error = errno;
    if (write(report_fd, &error, sizeof(error)) < 0)
        _exit(EXIT_NOT_EXECUTED);
    _exit(EXIT_NOT_EXECUTED);
}

int child_start(const struct child_plan *plan, struct child *out_child)
{
    int report[2];
    pid_t parent = getpid();
    pid_t pid;

    if (pipe2(report, O_CLOEXEC | O_NONBLOCK) != 0)
        return errno;
    pid = fork();
    if (pid == 0)
        become_command(plan, parent, report[1]);
    if (pid < 0) {
        int error = errno;

        close(report[0]);
        close(report[1]);
        return error;
    }
    close(report[1]);
    /* Both sides set the group, so that neither can run ahead of it. */
    setpgid(pid, pid);
    *out_child = (struct child){pid, report[0]};
    return 0;
}

int child_exec_error(struct child *child)
{
    int error = 0;

    if (child->report_fd < 0)
        return 0;
    if (read(child->report_fd, &error, sizeof(error)) != (ssize_t)sizeof(error))
        error = 0;
    close(child->report_fd);
    child->report_fd = -1;
    return error;
}
