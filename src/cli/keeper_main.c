/* The keeper's own side: see keeper.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock.h"
#include "environment.h"
#include "job.h"
#include "keeper_message.h"

enum { KILL_TICK_MS = 10, LONGEST_PAUSE_MS = 1000, RETRY_MS = 50, LONGEST_ORDER = 1 << 20 };

struct keeping {
    const struct keeper_plan *plan;
    int signal_fd;
    int timer_fd;
    struct job job;
    struct keeper_news told;
    zklock_session_key key;
    int64_t timeout_ms;
    bool is_master_gone;
    bool is_deaf; /* the other end is closed: the pidfd tells the rest */
    bool is_started;
    bool was_leash_cut;
    bool has_untold_news; /* zklock does not read them now */
};

/* ---------------------------------------------------------------- the job */

/* What the keeper does not need, above all what is the job's: a pipe ends for its reader when the job does, and what the
 * directory is on can be unmounted. */
static void drop_descriptors(const struct keeping *keeping)
{
    const int kept[] = {keeping->plan->fd, keeping->plan->master_fd, keeping->signal_fd, keeping->timer_fd,
                        keeping->job.child.report_fd};
    int null_fd = open("/dev/null", O_RDWR);
    int first = 3;

    (void)!chdir("/");
    for (int fd = 0; fd <= STDERR_FILENO && null_fd >= 0; fd++)
        dup2(null_fd, fd);
    for (;;) {
        int next = -1;

        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
            if (kept[i] >= first && (next < 0 || kept[i] < next))
                next = kept[i];
        }
        if (next != first)
            close_range((unsigned)first, next < 0 ? ~0U : (unsigned)next - 1, 0);
        if (next < 0)
            return;
        first = next + 1;
    }
}

/* Texts that end with NUL, one behind the other, as a list that ends with NULL. */
static void split(char *text, size_t size, char *out_items[ENVIRONMENT_MOST + 1])
{
    char *end = text + size;
    int count = 0;

    for (; text < end && count < ENVIRONMENT_MOST; text += strlen(text) + 1)
        out_items[count++] = text;
    out_items[count] = NULL;
}

static int start_command(struct keeping *keeping, char *text, size_t size, bool takes_terminal)
{
    char *variables[ENVIRONMENT_MOST + 1];
    struct child_plan plan = {
        .argv = keeping->plan->argv,
        .terminal_fd = takes_terminal ? open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) : -1,
        .output_fd = -1,
    };
    char **environment;
    int error;

    split(text, size, variables);
    environment = environment_with(variables);
    plan.environment = environment;
    error = environment ? job_start(&keeping->job, &plan) : ENOMEM;
    keeping->is_started = error == 0;
    free(environment);
    drop_descriptors(keeping);
    return error;
}

/* One blow at whoever is there. Returns how many there were; -1: /proc does not tell. */
static int strike_job(struct keeping *keeping)
{
    int count = job_signal_all(&keeping->job, SIGKILL);

    job_reap(&keeping->job);
    if (count < 0)
        return job_count(&keeping->job);
    return count == 0 && keeping->job.has_leader ? 1 : count;
}

/* Until nobody of the job is left, however long that takes. False: /proc does not tell, and as long as the session lives
 * there was somebody. */
static bool kill_job(struct keeping *keeping)
{
    int64_t session_end_ms = clock_boottime_ms() + keeping->timeout_ms;
    struct pollfd child = {.fd = keeping->signal_fd, .events = POLLIN};
    struct signalfd_siginfo info;
    int pause_ms = KILL_TICK_MS;
    int count;

    job_freeze(&keeping->job);
    while ((count = strike_job(keeping)) > 0 || (count < 0 && clock_boottime_ms() < session_end_ms)) {
        if (poll(&child, 1, pause_ms) > 0)
            (void)!read(keeping->signal_fd, &info, sizeof(info));
        else if (pause_ms < LONGEST_PAUSE_MS)
            pause_ms *= 2;
    }
    return count == 0;
}

/* ---------------------------------------------------------------- to and from zklock */

static void tell(struct keeping *keeping, int error)
{
    struct keeper_news news;

    memset(&news, 0, sizeof(news));
    news.pid = error ? -1 : keeping->job.child.pid;
    news.error = error;
    news.has_leader = keeping->job.has_leader;
    news.wait_status = keeping->job.wait_status;
    news.stop_signal = keeping->job.stop_signal;
    news.exec_error = keeping->job.exec_error;
    news.was_leash_cut = keeping->was_leash_cut;
    keeping->has_untold_news = memcmp(&news, &keeping->told, sizeof(news)) != 0 &&
                               send(keeping->plan->fd, &news, sizeof(news), MSG_NOSIGNAL | MSG_DONTWAIT) < 0;
    if (!keeping->has_untold_news)
        keeping->told = news;
}

static void set_timer(const struct keeping *keeping, int64_t at_ms)
{
    struct itimerspec when = {.it_value = {.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000}};

    timerfd_settime(keeping->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Whether the leash has run out; else the timer is set to its present end. */
static bool is_leash_over(const struct keeping *keeping)
{
    int64_t leash_ms = atomic_load(&keeping->plan->shared->leash_ms);

    set_timer(keeping, leash_ms);
    return leash_ms != 0 && leash_ms <= clock_boottime_ms();
}

static void obey(struct keeping *keeping, const struct keeper_order *order, char *text, size_t size)
{
    switch (order->kind) {
    case KEEPER_SESSION:
        keeping->key = order->key;
        keeping->timeout_ms = order->timeout_ms;
        break;
    case KEEPER_COMMAND:
        /* Nobody would be there to watch its lock. */
        if (!keeping->is_master_gone)
            tell(keeping, is_leash_over(keeping) ? ETIME
                                                 : start_command(keeping, text, size, order->takes_terminal));
        break;
    case KEEPER_SIGNAL:
        job_signal_group(&keeping->job, order->number);
        break;
    case KEEPER_LOOK:
        break;
    }
}

static bool is_dismissed(const struct keeping *keeping)
{
    return atomic_load(&keeping->plan->shared->is_dismissed);
}

/* Takes in what has been sent so far. */
static void take_orders(struct keeping *keeping)
{
    static union {
        struct keeper_order order;
        char bytes[LONGEST_ORDER];
    } message;
    ssize_t size = -1;

    while (!is_dismissed(keeping) &&
           (size = recv(keeping->plan->fd, &message, sizeof(message), MSG_DONTWAIT)) >= (ssize_t)sizeof(message.order))
        obey(keeping, &message.order, message.bytes + sizeof(message.order), (size_t)size - sizeof(message.order));
    keeping->is_deaf = size == 0;
}

/* ---------------------------------------------------------------- the keeper's life */

/* One turn of it: there may be members that do not die at once, and zklock may come back meanwhile. */
static void cut_leash(struct keeping *keeping)
{
    bool is_over = atomic_load(&keeping->plan->shared->is_job_over);

    if (!keeping->is_started || is_over || !is_leash_over(keeping) || job_is_gone(&keeping->job))
        return;
    keeping->was_leash_cut = true;
    strike_job(keeping);
    set_timer(keeping, clock_boottime_ms() + KILL_TICK_MS);
}

static void drain(int fd)
{
    char bytes[sizeof(struct signalfd_siginfo)];

    (void)!read(fd, bytes, sizeof(bytes));
}

static void take_turn(struct keeping *keeping)
{
    struct pollfd fds[] = {{keeping->is_deaf ? -1 : keeping->plan->fd, POLLIN, 0},
                           {keeping->plan->master_fd, POLLIN, 0},
                           {keeping->signal_fd, POLLIN, 0},
                           {keeping->timer_fd, POLLIN, 0}};

    poll(fds, 4, keeping->has_untold_news ? RETRY_MS : -1);
    keeping->is_master_gone = fds[1].revents != 0;
    take_orders(keeping);
    if (fds[2].revents)
        drain(keeping->signal_fd);
    if (fds[3].revents) {
        drain(keeping->timer_fd);
        cut_leash(keeping);
    }
    if (keeping->is_started) {
        job_reap(&keeping->job);
        tell(keeping, 0);
    }
}

static bool open_all(struct keeping *keeping)
{
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    keeping->signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    keeping->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    return keeping->signal_fd >= 0 && keeping->timer_fd >= 0;
}

/* Only when everybody who relied on the lock is certainly gone. */
static void clean_up(struct keeping *keeping)
{
    if (!keeping->is_started)
        drop_descriptors(keeping);
    else if (!atomic_load(&keeping->plan->shared->is_job_over) && !kill_job(keeping))
        return;
    if (keeping->key.session_id != 0)
        (void)!zklock_session_end(keeping->plan->servers, &keeping->key, keeping->timeout_ms);
}

/* One that "pkill zklock" does not find: whoever kills zklock by its name needs the keeper more than ever. */
static void take_name(void)
{
    static const char name[] = "keeper";
    char *called = program_invocation_short_name;

    prctl(PR_SET_NAME, "job-keeper");
    /* What "pkill -f" looks at: arguments begin with the program, in memory of our own since the fork. */
    if (strlen(called) == strlen(name))
        memcpy(called, name, sizeof(name));
}

_Noreturn void keeper_main(const struct keeper_plan *plan)
{
    struct keeping keeping = {.plan = plan};

    take_name();
    job_init(&keeping.job);
    if (!open_all(&keeping))
        _exit(EXIT_FAILURE);
    while (!is_dismissed(&keeping) && !keeping.is_master_gone)
        take_turn(&keeping);
    if (!is_dismissed(&keeping))
        clean_up(&keeping);
    _exit(EXIT_SUCCESS);
}
