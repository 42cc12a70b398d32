/*
 * A lock in an event loop of one's own, on epoll: nothing here blocks but epoll_wait(), and whatever zklock has to tell is
 * told on this thread.
 *
 * usage: epoll_loop SERVERS PATH TICKS   takes the lock, works for so many ticks of the clock, lets go
 *
 * Ends with 0 when it was held all the time, 79 when it was lost, 1 after any other failure.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <zklock.h>

enum { TICK_MS = 100, LOST = 79 };

struct loop {
    pthread_t thread;
    int epoll_fd;
    int timer_fd;
    int ticks; /* still to come */
    int exit_status; /* -1: it goes on */
    zklock *lock;
};

static void end(struct loop *loop, int exit_status)
{
    loop->exit_status = exit_status;
}

static void start_clock(struct loop *loop)
{
    struct itimerspec tick = {{0, TICK_MS * 1000000L}, {0, TICK_MS * 1000000L}};

    timerfd_settime(loop->timer_fd, 0, &tick, NULL);
}

/* Runs in zklock_session_dispatch(), and so on the loop's thread. */
static void on_event(zklock *lock, const zklock_event *event, void *arg)
{
    struct loop *loop = arg;

    (void)lock;
    if (!pthread_equal(loop->thread, pthread_self())) {
        end(loop, 1);
    } else if (event->kind == ZKLOCK_EVENT_ENDED && event->status == ZKLOCK_OK) {
        puts("held");
        start_clock(loop);
    } else if (event->kind == ZKLOCK_EVENT_ENDED) {
        puts(zklock_status_text(event->status));
        end(loop, 1);
    } else if (event->kind == ZKLOCK_EVENT_LOST) {
        printf("lost: %s\n", zklock_loss_text(event->loss));
        end(loop, LOST);
    } else if (event->kind == ZKLOCK_EVENT_RELEASED) {
        puts("released");
        end(loop, event->status == ZKLOCK_OK ? 0 : 1);
    }
    fflush(stdout);
}

/* One step of the work. Whether the lock is held is asked at each of them, never remembered. */
static void on_tick(struct loop *loop)
{
    uint64_t expirations;

    if (read(loop->timer_fd, &expirations, sizeof expirations) < 0 || !zklock_is_held(loop->lock))
        return;
    if (--loop->ticks == 0)
        zklock_release_send(loop->lock);
}

static void run(struct loop *loop, zklock_session *session)
{
    while (loop->exit_status < 0) {
        struct epoll_event event;

        if (epoll_wait(loop->epoll_fd, &event, 1, -1) != 1)
            continue;
        if (event.data.fd == loop->timer_fd)
            on_tick(loop);
        else
            zklock_session_dispatch(session);
    }
}

static int add(const struct loop *loop, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static zklock_status start(struct loop *loop, zklock_session *session, const char *path)
{
    zklock_options options;
    int fd;

    zklock_options_init(&options);
    options.on_event = on_event;
    options.event_arg = loop;
    zklock_status status = zklock_session_fd(session, &fd);
    if (status == ZKLOCK_OK && (add(loop, fd) != 0 || add(loop, loop->timer_fd) != 0))
        status = ZKLOCK_SYSTEM;
    if (status == ZKLOCK_OK)
        status = zklock_new(session, path, &options, &loop->lock);
    return status == ZKLOCK_OK ? zklock_acquire_start(loop->lock, -1) : status;
}

int main(int argc, char **argv)
{
    struct loop loop = {.thread = pthread_self(), .exit_status = -1};
    zklock_session_options options;
    zklock_session *session = NULL;

    if (argc != 4) {
        fprintf(stderr, "usage: epoll_loop SERVERS PATH TICKS\n");
        return 64;
    }
    loop.ticks = atoi(argv[3]);
    loop.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    zklock_session_options_init(&options);
    options.servers = argv[1];
    options.by_dispatch = true;
    zklock_status status = zklock_session_open(&options, &session);
    if (status == ZKLOCK_OK)
        status = start(&loop, session, argv[2]);
    if (status == ZKLOCK_OK)
        run(&loop, session);
    else
        fprintf(stderr, "%s\n", zklock_status_text(status));
    zklock_free(loop.lock);
    zklock_session_close(session, -1);
    return status == ZKLOCK_OK ? loop.exit_status : 1;
}
