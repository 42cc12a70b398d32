#include "keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "keeper_message.h"

enum { START_LIMIT_MS = 20000 };

void keeper_init(struct keeper *keeper)
{
    *keeper = (struct keeper){.pid = -1, .fd = -1};
}

bool keeper_is_there(const struct keeper *keeper)
{
    return keeper->pid > 0;
}

/* In the child: a group of its own, so that no signal that is meant for zklock's group ends it too. */
static _Noreturn void become_keeper(const struct keeper_plan *plan, int masters_fd)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setpgid(0, 0);
    close(masters_fd);
    keeper_main(plan);
}

static bool fork_keeper(struct keeper *keeper, struct keeper_plan *plan)
{
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
        return false;
    plan->fd = fds[1];
    keeper->pid = fork();
    if (keeper->pid == 0)
        become_keeper(plan, fds[0]);
    close(fds[1]);
    keeper->fd = fds[0];
    if (keeper->pid > 0)
        setpgid(keeper->pid, keeper->pid);
    else
        keeper_forget(keeper);
    return keeper_is_there(keeper);
}

bool keeper_start(struct keeper *keeper, char *const *argv, const char *servers)
{
    struct keeper_plan plan = {.master_fd = pidfd_open(getpid(), 0), .argv = argv, .servers = servers};
    bool is_started;
    int error;

    if (plan.master_fd < 0)
        return false;
    is_started = fork_keeper(keeper, &plan);
    error = errno;
    close(plan.master_fd);
    errno = error;
    return is_started;
}

/* Never waits: one that is stopped must not stop us. That it is gone is noticed by its end, not here. */
static int send_order(const struct keeper *keeper, const struct keeper_order *order, const char *text, size_t size)
{
    struct iovec parts[] = {{(void *)(uintptr_t)order, sizeof(*order)}, {(void *)(uintptr_t)text, size}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = text ? 2 : 1};

    if (!keeper_is_there(keeper))
        return ESRCH;
    return sendmsg(keeper->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? errno : 0;
}

void keeper_tell_session(struct keeper *keeper, zklock_session *session)
{
    struct keeper_order order = {.kind = KEEPER_SESSION};

    if (keeper_is_there(keeper) && zklock_session_key_get(session, &order.key) == ZKLOCK_OK &&
        order.key.session_id != keeper->told_key.session_id && send_order(keeper, &order, NULL, 0) == 0)
        keeper->told_key = order.key;
}

void keeper_tell_leash(struct keeper *keeper, int64_t until_ms)
{
    struct keeper_order order = {.kind = KEEPER_LEASH, .until_ms = until_ms};

    if (until_ms != keeper->told_leash_ms && send_order(keeper, &order, NULL, 0) == 0)
        keeper->told_leash_ms = until_ms;
}

/* The variables, each with its NUL; NULL without memory. */
static char *join(char *const *variables, size_t *out_size)
{
    size_t size = 0;
    char *text;
    char *end;

    for (int i = 0; variables[i]; i++)
        size += strlen(variables[i]) + 1;
    text = malloc(size + 1);
    end = text;
    for (int i = 0; text && variables[i]; i++)
        end = stpcpy(end, variables[i]) + 1;
    *out_size = size;
    return text;
}

int keeper_start_command(struct keeper *keeper, char *const *variables, bool takes_terminal, pid_t *out_pid)
{
    struct keeper_order order = {.kind = KEEPER_COMMAND, .takes_terminal = takes_terminal};
    struct pollfd answer = {.fd = keeper->fd, .events = POLLIN};
    struct keeper_news news;
    size_t size;
    char *text = join(variables, &size);
    int error = text ? send_order(keeper, &order, text, size) : ENOMEM;

    free(text);
    if (error)
        return error;
    if (poll(&answer, 1, START_LIMIT_MS) <= 0 || !keeper_next(keeper, &news))
        return ECHILD;
    *out_pid = news.pid;
    return news.pid > 0 ? 0 : news.error;
}

void keeper_signal(struct keeper *keeper, int signal_number)
{
    struct keeper_order order = {.kind = KEEPER_SIGNAL, .number = signal_number};

    send_order(keeper, &order, NULL, 0);
}

bool keeper_next(struct keeper *keeper, struct keeper_news *out_news)
{
    return keeper_is_there(keeper) &&
           recv(keeper->fd, out_news, sizeof(*out_news), MSG_DONTWAIT) == (ssize_t)sizeof(*out_news);
}

void keeper_forget(struct keeper *keeper)
{
    if (keeper->fd >= 0)
        close(keeper->fd);
    keeper_init(keeper);
}

void keeper_dismiss(struct keeper *keeper)
{
    struct keeper_order order = {.kind = KEEPER_DISMISS};
    pid_t pid = keeper->pid;

    if (!keeper_is_there(keeper))
        return;
    send_order(keeper, &order, NULL, 0);
    /* It ends at once, unless somebody has stopped it: then it is of no more use. */
    kill(pid, SIGCONT);
    keeper_forget(keeper);
    waitpid(pid, NULL, 0);
}
