/*
 * The same on libuv: the session's descriptor is a uv_poll_t, and whatever zklock has to tell is told on the loop's thread.
 *
 * usage: uv_loop SERVERS PATH TICKS   takes the lock, works for so many ticks of the clock, lets go
 *
 * Ends with 0 when it was held all the time, 79 when it was lost, 1 after any other failure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include <zklock.h>

enum { TICK_MS = 100, LOST = 79 };

struct worker {
    uv_loop_t loop;
    uv_thread_t thread;
    uv_poll_t events;
    uv_timer_t clock;
    int ticks; /* still to come */
    int exit_status;
    zklock_session *session;
    zklock *lock;
};

/* The loop ends when nothing is watched any more. */
static void end(struct worker *worker, int exit_status)
{
    worker->exit_status = exit_status;
    uv_poll_stop(&worker->events);
    uv_timer_stop(&worker->clock);
}

/* One step of the work. Whether the lock is held is asked at each of them, never remembered. */
static void on_tick(uv_timer_t *clock)
{
    struct worker *worker = clock->data;

    if (zklock_is_held(worker->lock) && --worker->ticks == 0)
        zklock_release_send(worker->lock);
}

/* Runs in zklock_session_dispatch(), and so on the loop's thread. */
static void on_event(zklock *lock, const zklock_event *event, void *arg)
{
    struct worker *worker = arg;
    uv_thread_t here = uv_thread_self();

    (void)lock;
    if (!uv_thread_equal(&worker->thread, &here)) {
        end(worker, 1);
    } else if (event->kind == ZKLOCK_EVENT_ENDED && event->status == ZKLOCK_OK) {
        puts("held");
        uv_timer_start(&worker->clock, on_tick, TICK_MS, TICK_MS);
    } else if (event->kind == ZKLOCK_EVENT_ENDED) {
        puts(zklock_status_text(event->status));
        end(worker, 1);
    } else if (event->kind == ZKLOCK_EVENT_LOST) {
        printf("lost: %s\n", zklock_loss_text(event->loss));
        end(worker, LOST);
    } else if (event->kind == ZKLOCK_EVENT_RELEASED) {
        puts("released");
        end(worker, event->status == ZKLOCK_OK ? 0 : 1);
    }
    fflush(stdout);
}

static void on_readable(uv_poll_t *events, int status, int what)
{
    struct worker *worker = events->data;

    (void)status;
    (void)what;
    zklock_session_dispatch(worker->session);
}

static zklock_status start(struct worker *worker, const char *path)
{
    zklock_options options;
    int fd;

    zklock_options_init(&options);
    options.on_event = on_event;
    options.event_arg = worker;
    zklock_status status = zklock_session_fd(worker->session, &fd);
    if (status == ZKLOCK_OK && uv_poll_init(&worker->loop, &worker->events, fd) != 0)
        status = ZKLOCK_SYSTEM;
    if (status != ZKLOCK_OK)
        return status;
    worker->events.data = worker->clock.data = worker;
    uv_poll_start(&worker->events, UV_READABLE, on_readable);
    status = zklock_new(worker->session, path, &options, &worker->lock);
    return status == ZKLOCK_OK ? zklock_acquire_start(worker->lock, -1) : status;
}

int main(int argc, char **argv)
{
    static struct worker worker = {.exit_status = 1};
    zklock_session_options options;

    if (argc != 4) {
        fprintf(stderr, "usage: uv_loop SERVERS PATH TICKS\n");
        return 64;
    }
    worker.ticks = atoi(argv[3]);
    uv_loop_init(&worker.loop);
    uv_timer_init(&worker.loop, &worker.clock);
    worker.thread = uv_thread_self();
    zklock_session_options_init(&options);
    options.servers = argv[1];
    options.by_dispatch = true;
    zklock_status status = zklock_session_open(&options, &worker.session);
    if (status == ZKLOCK_OK)
        status = start(&worker, argv[2]);
    if (status == ZKLOCK_OK)
        uv_run(&worker.loop, UV_RUN_DEFAULT);
    else
        fprintf(stderr, "%s\n", zklock_status_text(status));
    zklock_free(worker.lock);
    zklock_session_close(worker.session, -1);
    return worker.exit_status;
}
