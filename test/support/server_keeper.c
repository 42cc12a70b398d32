/* server-keeper PARENT_PID DIRECTORY PROGRAM [ARG...]
 *
 * Runs a server for a test program and sees to it that the server does not outlive it: when the parent is
 * gone, however it ended, the server is killed and the directory removed. Writes the server's pid to
 * descriptor 3. Ends when the server ends.
 */
#include "support/directory.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID_OUTPUT = 3 };

static _Noreturn void become_server(pid_t keeper, char **arguments)
{
    sigset_t none;

    /* Should the keeper itself be killed, the server goes with it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        _exit(127);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(arguments[0], arguments);
    perror(arguments[0]);
    _exit(127);
}

static bool say_pid(pid_t server)
{
    bool is_said = write(PID_OUTPUT, &server, sizeof(server)) == (ssize_t)sizeof(server);

    close(PID_OUTPUT);
    return is_said;
}

/* True when the parent ended first. */
static bool wait_for_an_end(int parent_end, int server_end)
{
    struct pollfd ends[] = {{.fd = parent_end, .events = POLLIN}, {.fd = server_end, .events = POLLIN}};

    while (poll(ends, 2, -1) < 0)
        continue;
    return ends[1].revents == 0;
}

int main(int argc, char **argv)
{
    pid_t parent = argc > 3 ? (pid_t)atoi(argv[1]) : 0;
    int parent_end = pidfd_open(parent, 0);
    int server_end;
    int status = 0;
    bool is_orphaned;
    pid_t server;

    if (argc < 4 || parent_end < 0 || getppid() != parent)
        return 64;
    /* A Ctrl-C is for the test program; its end is our sign. */
    setpgid(0, 0);
    server = fork();
    if (server == 0) {
        close(PID_OUTPUT);
        become_server(getppid(), argv + 3);
    }
    server_end = pidfd_open(server, 0);
    if (server < 0 || server_end < 0)
        return 71;
    is_orphaned = !say_pid(server) || wait_for_an_end(parent_end, server_end);
    if (is_orphaned)
        kill(server, SIGKILL);
    waitpid(server, &status, 0);
    if (is_orphaned)
        directory_remove(argv[2]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
