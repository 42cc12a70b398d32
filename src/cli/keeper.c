#include "keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "keeper_message.h"

enum { START_LIMIT_MS = 10000, END_LIMIT_MS = 1000 };

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

static struct keeper_shared *share(void)
{
    void *memory = mmap(NULL, sizeof(struct keeper_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

bool keeper_start(struct keeper *keeper, char *const *argv, const char *servers)
{
    struct keeper_plan plan = {.shared = share(), .argv = argv, .servers = servers};
    bool is_started = false;
    int error;

    if (!plan.shared)
        return false;
    keeper->shared = plan.shared;
    plan.master_fd = pidfd_open(getpid(), 0);
    if (plan.master_fd >= 0)
        is_started = fork_keeper(keeper, &plan);
    error = errno;
    if (plan.master_fd >= 0)
        close(plan.master_fd);
    if (!is_started)
        keeper_forget(keeper);
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
    zklock_session_info info;

    if (!keeper_is_there(keeper) || zklock_session_key_get(session, &order.key) != ZKLOCK_OK ||
        order.key.session_id == keeper->told_key.session_id ||
        zklock_session_info_get(session, &info) != ZKLOCK_OK)
        return;
    order.timeout_ms = info.session_timeout_ms;
    if (send_order(keeper, &order, NULL, 0) == 0)
        keeper->told_key = order.key;
}

void keeper_move_leash(struct keeper *keeper, int64_t until_ms)
{
    if (keeper_is_there(keeper))
        atomic_store(&keeper->shared->leash_ms, until_ms);
}

void keeper_end_job(struct keeper *keeper)
{
    if (keeper_is_there(keeper))
        atomic_store(&keeper->shared->is_job_over, true);
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

/* The command, if there is one by now, dies with it. */
static void give_up(struct keeper *keeper)
{
    kill(keeper->pid, SIGKILL);
    waitpid(keeper->pid, NULL, 0);
    keeper_forget(keeper);
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
    if (!error && (poll(&answer, 1, START_LIMIT_MS) <= 0 || !keeper_next(keeper, &news)))
        error = ETIMEDOUT;
    if (error) {
        give_up(keeper);
        return error;
    }
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
    if (keeper->shared)
        munmap(keeper->shared, sizeof(*keeper->shared));
    keeper_init(keeper);
}

/* The socket is closed by the keeper's end alone. */
static bool await_end(const struct keeper *keeper)
{
    struct pollfd end = {.fd = keeper->fd, .events = POLLRDHUP};
    int64_t deadline_ms = clock_boottime_ms() + END_LIMIT_MS;
    int64_t left_ms;

    while ((left_ms = deadline_ms - clock_boottime_ms()) > 0) {
        if (poll(&end, 1, (int)left_ms) > 0)
            return true;
    }
    return false;
}

void keeper_dismiss(struct keeper *keeper)
{
    struct keeper_order order = {.kind = KEEPER_LOOK};

    if (!keeper_is_there(keeper))
        return;
    atomic_store(&keeper->shared->is_dismissed, true);
    send_order(keeper, &order, NULL, 0);
    /* Somebody may have stopped it. */
    kill(keeper->pid, SIGCONT);
    if (!await_end(keeper))
        kill(keeper->pid, SIGKILL);
    waitpid(keeper->pid, NULL, 0);
    keeper_forget(keeper);
}
