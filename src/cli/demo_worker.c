#include "demo_worker.h"

#include <poll.h>
#include <stdio.h>

#include "clock.h"
#include "connection.h"
#include "demo_counter.h"
#include "message.h"

enum { RELEASE_LIMIT_MS = 10000, CLOSE_LIMIT_MS = 1000, RETRY_PAUSE_MS = 200, LOOK_EVERY_MS = 50 };

struct worker {
    const struct demo_worker_plan *plan;
    struct demo_counter *counter;
    zklock_session *session;
    zklock *lock;
    int lock_fd;
    int64_t lease_end_ns; /* the latest time up to which the lock is known to be held */
};

/* Waits for the event of a descriptor (-1: none) or the time; true: told to stop. */
static bool rest(const struct worker *worker, int fd, int limit_ms)
{
    struct pollfd descriptors[] = {{worker->plan->stop_fd, POLLIN, 0}, {fd, POLLIN, 0}};

    poll(descriptors, 2, limit_ms);
    return descriptors[0].revents != 0;
}

static bool notice_lease(struct worker *worker)
{
    int64_t now_ns = clock_boottime_ns();
    int64_t left_ms = worker->lock ? zklock_remaining_ms(worker->lock) : 1;

    if (left_ms > 0)
        worker->lease_end_ns = now_ns + left_ms * 1000000;
    return left_ms > 0;
}

/* Queues once. DEMO_NOT_DONE: no result that counts; once more. */
static enum demo_result queue_up(struct worker *worker)
{
    zklock_status status = zklock_acquire_start(worker->lock, -1);

    while (status == ZKLOCK_OK && zklock_result(worker->lock) == ZKLOCK_PENDING) {
        if (rest(worker, worker->lock_fd, -1)) {
            zklock_cancel(worker->lock);
            return DEMO_STOPPED;
        }
        zklock_fd_clear(worker->lock);
    }
    if (status == ZKLOCK_OK)
        status = zklock_result(worker->lock);
    if (status == ZKLOCK_OK)
        return DEMO_DONE;
    if (zklock_status_is_retriable(status))
        return rest(worker, -1, RETRY_PAUSE_MS) ? DEMO_STOPPED : DEMO_NOT_DONE;
    message_error("demo: worker %d: %s", worker->plan->number + 1, zklock_status_text(status));
    return DEMO_FAILED;
}

static enum demo_result enter(struct worker *worker)
{
    enum demo_result result = DEMO_DONE;

    if (!worker->lock)
        return rest(worker, -1, 0) ? DEMO_STOPPED : DEMO_DONE;
    do
        result = queue_up(worker);
    while (result == DEMO_NOT_DONE);
    return result;
}

/* The time between reading and writing, in which a loss has to be noticed. */
static enum demo_result think(struct worker *worker)
{
    int64_t end_ns = clock_boottime_ns() + worker->plan->options->think_ms * 1000000;
    int64_t left_ns;

    while ((left_ns = end_ns - clock_boottime_ns()) > 0) {
        int limit_ms = (int)((left_ns + 999999) / 1000000);

        if (rest(worker, worker->lock ? worker->lock_fd : -1,
                 limit_ms < LOOK_EVERY_MS ? limit_ms : LOOK_EVERY_MS))
            return DEMO_STOPPED;
        if (worker->lock)
            zklock_fd_clear(worker->lock);
        if (!notice_lease(worker))
            return DEMO_NOT_DONE;
    }
    return DEMO_DONE;
}

/* Read, think, write: a sum that is right only if nobody else does the same meanwhile. */
static enum demo_result add_one(struct worker *worker, struct demo_turn *turn)
{
    char contender[512] = "";
    struct demo_reading reading;
    struct demo_reading written;
    enum demo_result result = demo_counter_read(worker->counter, &reading);

    if (result != DEMO_DONE)
        return result;
    turn->token_found = reading.token;
    result = think(worker);
    if (result != DEMO_DONE)
        return result;
    written = (struct demo_reading){reading.value + 1, turn->token};
    if (worker->lock)
        zklock_contender_name(worker->lock, contender, sizeof(contender));
    return demo_counter_write(worker->counter, &written, worker->lock ? contender : NULL);
}

/* Out of the critical section: now, or when the lease ended if that was earlier. */
static int64_t time_of_leaving(struct worker *worker)
{
    int64_t now_ns = clock_boottime_ns();

    if (notice_lease(worker) || worker->lease_end_ns > now_ns)
        return now_ns;
    return worker->lease_end_ns;
}

/* One turn in the critical section. */
static enum demo_result take_turn(struct worker *worker)
{
    struct demo_board *board = worker->plan->board;
    int number = worker->plan->number;
    struct demo_turn turn = {.asked_ns = clock_boottime_ns()};
    enum demo_result result;

    demo_board_act(board, number, DEMO_WAITING);
    result = enter(worker);
    if (result != DEMO_DONE)
        return result;
    turn.start_ns = clock_boottime_ns();
    demo_board_act(board, number, DEMO_HOLDING);
    worker->lease_end_ns = turn.start_ns;
    if (worker->lock && zklock_token(worker->lock, &turn.token) != ZKLOCK_OK)
        return DEMO_FAILED;
    result = notice_lease(worker) ? add_one(worker, &turn) : DEMO_NOT_DONE;
    turn.stop_ns = time_of_leaving(worker);
    demo_board_act(board, number, DEMO_BETWEEN);
    demo_board_add(board, number, &turn);
    if (worker->lock)
        (void)!zklock_release(worker->lock, RELEASE_LIMIT_MS);
    return result;
}

static enum demo_result work(struct worker *worker)
{
    struct demo_worker *own = &worker->plan->board->workers[worker->plan->number];
    enum demo_result result = DEMO_DONE;

    while (atomic_load(&own->rounds) < worker->plan->options->rounds) {
        result = take_turn(worker);
        if (result == DEMO_DONE)
            atomic_fetch_add(&own->rounds, 1);
        else if (result == DEMO_NOT_DONE)
            atomic_fetch_add(&own->losses, 1);
        else
            break;
    }
    return result;
}

static int open_lock(struct worker *worker)
{
    const struct demo_options *options = worker->plan->options;
    zklock_status status;
    int exit_status = connection_open(&options->common, "demo", &worker->session);

    if (exit_status)
        return exit_status;
    status = zklock_new(worker->session, options->lock, NULL, &worker->lock);
    if (status == ZKLOCK_OK)
        status = zklock_fd(worker->lock, &worker->lock_fd);
    if (status != ZKLOCK_OK)
        message_error("demo: %s: %s", options->lock, zklock_status_text(status));
    return zklock_status_exit(status);
}

static int open_all(struct worker *worker)
{
    const struct demo_worker_plan *plan = worker->plan;
    const struct demo_counter_options counter_options = {
        .servers = plan->options->common.servers,
        .auth_file = plan->options->common.auth_file,
        .timeout_ms = (int)plan->options->common.session_timeout_ms,
        .lock = plan->options->lock,
        .counter = plan->options->counter,
        .run = plan->run,
        .worker = plan->number,
        .stop_fd = plan->stop_fd,
    };

    worker->counter = demo_counter_open(&counter_options);
    if (!worker->counter)
        return EXIT_NO_SERVER;
    return plan->options->has_no_lock ? 0 : open_lock(worker);
}

/* All workers begin at one moment. False: told to stop. */
static bool await_start(const struct worker *worker)
{
    struct pollfd descriptors[] = {{worker->plan->stop_fd, POLLIN, 0}, {worker->plan->start_fd, POLLIN, 0}};

    poll(descriptors, 2, -1);
    return !descriptors[0].revents;
}

int demo_worker_run(const struct demo_worker_plan *plan)
{
    struct worker worker = {.plan = plan, .lock_fd = -1};
    enum demo_result result = DEMO_STOPPED;
    int status = 0;

    if (await_start(&worker)) {
        status = open_all(&worker);
        result = status ? DEMO_FAILED : work(&worker);
    }
    demo_board_act(plan->board, plan->number, result == DEMO_FAILED ? DEMO_BROKEN : DEMO_FINISHED);
    zklock_free(worker.lock);
    if (worker.session)
        zklock_session_close(worker.session, CLOSE_LIMIT_MS);
    demo_counter_close(worker.counter);
    if (result == DEMO_FAILED && status == 0)
        status = EXIT_INTERNAL;
    return status;
}
