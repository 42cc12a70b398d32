/* zklock demo: workers that share one counter, and a verdict. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "commands.h"
#include "demo_board.h"
#include "demo_judge.h"
#include "demo_options.h"
#include "demo_verdict.h"
#include "demo_view.h"
#include "demo_worker.h"
#include "message.h"
#include "private_server.h"
#include "signals.h"

enum { REFRESH_MS = 80, KEEP_EVERY_MS = 1000, STOP_LIMIT_MS = 15000, TICK_MS = 500, EXIT_WRONG = 1 };

struct demo {
    struct demo_options *options;
    struct demo_board board;
    struct demo_judge judge;
    struct private_server server;
    bool has_server;
    bool is_joined;
    char server_address[32];
    char run[17];
    pid_t *workers;
    int signal_fd;  /* all signals */
    int ending_fd;  /* readable while one that ends us is pending */
    int start[2];   /* closing the writing ends tells the workers, also when this process is killed */
    int stop[2];
};

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- workers */

static _Noreturn void be_worker(struct demo *demo, int number)
{
    const struct demo_worker_plan plan = {
        .options = demo->options,
        .board = &demo->board,
        .run = demo->run,
        .number = number,
        .start_fd = demo->start[0],
        .stop_fd = demo->stop[0],
    };

    close_end(&demo->start[1]);
    close_end(&demo->stop[1]);
    _exit(demo_worker_run(&plan));
}

static bool fork_workers(struct demo *demo)
{
    fflush(stdout);
    for (int i = 0; i < demo->board.worker_count; i++) {
        demo->workers[i] = fork();
        if (demo->workers[i] == 0)
            be_worker(demo, i);
        if (demo->workers[i] < 0) {
            message_error("demo: cannot start a worker: %s", strerror(errno));
            return false;
        }
    }
    return true;
}

/* Reaps workers that have ended. Returns how many still run; the first bad status goes to *status. */
static int reap_workers(struct demo *demo, int *status)
{
    int running = 0;

    for (int i = 0; i < demo->board.worker_count; i++) {
        int how;

        if (demo->workers[i] <= 0)
            continue;
        if (waitpid(demo->workers[i], &how, WNOHANG) == 0) {
            running++;
            continue;
        }
        demo->workers[i] = 0;
        if (*status == 0 && how != 0) {
            *status = WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_INTERNAL;
            message_error("demo: worker %d ended early", i + 1);
        }
    }
    return running;
}

/* They release what they hold and end; who does not is killed. */
static void stop_workers(struct demo *demo)
{
    int64_t deadline_ms = clock_boottime_ms() + STOP_LIMIT_MS;
    int ignored = -1;

    close_end(&demo->stop[1]);
    while (reap_workers(demo, &ignored) > 0 && clock_boottime_ms() < deadline_ms)
        poll(NULL, 0, REFRESH_MS / 4);
    for (int i = 0; i < demo->board.worker_count; i++) {
        if (demo->workers[i] > 0)
            kill(demo->workers[i], SIGKILL);
    }
}

/* ---- the run */

/* Takes the signals that came; returns the one that ends the demonstration, or 0. */
static int take_signals(const struct demo *demo)
{
    int number;
    int ending = 0;

    while ((number = signals_next(demo->signal_fd)) != 0) {
        if (signals_ends_wait(number) && ending == 0)
            ending = number;
    }
    return ending;
}

static int status_of(const struct demo *demo, enum demo_result result)
{
    int number;

    switch (result) {
    case DEMO_DONE: return 0;
    case DEMO_STOPPED:
        number = take_signals(demo);
        return 128 + (number ? number : SIGTERM);
    case DEMO_NOT_DONE:
    case DEMO_FAILED: break;
    }
    return EXIT_NO_SERVER;
}

/* Shows the workers at work until the last one is done. */
static int watch_workers(struct demo *demo)
{
    struct pollfd signals = {demo->signal_fd, POLLIN, 0};
    int64_t keep_at_ms = clock_boottime_ms() + KEEP_EVERY_MS;
    struct demo_view view;
    int status = 0;
    int number;

    demo_view_open(&view, &demo->board, demo->options->think_ms);
    close_end(&demo->start[1]);
    while (reap_workers(demo, &status) > 0 && status == 0) {
        poll(&signals, 1, REFRESH_MS);
        number = take_signals(demo);
        if (number)
            return 128 + number;
        demo_view_refresh(&view);
        if (clock_boottime_ms() >= keep_at_ms) {
            demo_counter_keep(demo->judge.counter);
            keep_at_ms = clock_boottime_ms() + KEEP_EVERY_MS;
        }
    }
    demo_view_refresh(&view);
    return status;
}

static int conclude(struct demo *demo, const struct demo_balance *before)
{
    struct demo_balance after;
    struct demo_verdict verdict;
    struct demo_view colours;
    enum demo_result result = demo_judge_balance(&demo->judge, &after);

    if (result != DEMO_DONE)
        return status_of(demo, result);
    if (!demo_verdict_make(&demo->board, before, &after, &verdict))
        return EXIT_SYSTEM;
    demo_view_open(&colours, &demo->board, 0);
    demo_verdict_print(&verdict, colours.has_colours);
    fflush(stdout);
    return demo_verdict_is_right(&verdict) ? 0 : EXIT_WRONG;
}

static int run_rounds(struct demo *demo)
{
    struct demo_balance before;
    enum demo_result result;
    int status = demo_judge_open(&demo->judge, demo->options, demo->run, demo->ending_fd);

    if (status)
        return status < 0 ? status_of(demo, DEMO_STOPPED) : status;
    result = demo_counter_join(demo->judge.counter, demo->board.worker_count);
    demo->is_joined = result == DEMO_DONE;
    if (result == DEMO_DONE)
        result = demo_judge_balance(&demo->judge, &before);
    if (result != DEMO_DONE)
        return status_of(demo, result);
    printf("demo      %d workers, %d rounds each, %s %s, counter %s at %s\n", demo->board.worker_count,
           demo->board.rounds, demo->options->has_no_lock ? "WITHOUT the lock" : "lock", demo->options->lock,
           demo->options->counter,
           demo->options->common.servers ? demo->options->common.servers : "localhost:2181");
    fflush(stdout);
    status = watch_workers(demo);
    return status ? status : conclude(demo, &before);
}

/* ---- set-up and end */

static int start_server(struct demo *demo)
{
    const struct private_server_options how = {.tick_time_ms = TICK_MS, .signal_fd = demo->signal_fd};
    int status = private_server_start(&how, &demo->server);

    if (status)
        return status;
    demo->has_server = true;
    snprintf(demo->server_address, sizeof(demo->server_address), "127.0.0.1:%d", demo->server.port);
    demo->options->common.servers = demo->server_address;
    return 0;
}

static int prepare(struct demo *demo)
{
    uint64_t number;

    if (!signals_open(&demo->signal_fd) || !signals_open_ending(&demo->ending_fd) ||
        pipe2(demo->start, O_CLOEXEC) != 0 || pipe2(demo->stop, O_CLOEXEC) != 0 ||
        getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number)) {
        message_error("demo: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    snprintf(demo->run, sizeof(demo->run), "%016llx", (unsigned long long)number);
    demo->workers = calloc((size_t)demo->options->workers, sizeof(pid_t));
    if (!demo->workers ||
        !demo_board_open(&demo->board, (int)demo->options->workers, (int)demo->options->rounds)) {
        message_error("demo: out of memory");
        return EXIT_SYSTEM;
    }
    return demo->options->common.servers ? 0 : start_server(demo);
}

/* What the run left in ZooKeeper goes, unless the whole server does. */
static void clean_up(struct demo *demo)
{
    if (demo->workers)
        stop_workers(demo);
    if (demo->is_joined && !demo->has_server)
        demo_counter_leave(demo->judge.counter);
    demo_judge_close(&demo->judge);
    if (demo->has_server)
        private_server_stop(&demo->server);
    demo_board_close(&demo->board);
    free(demo->workers);
}

int demo_main(int argc, char **argv)
{
    struct demo_options options;
    struct demo demo = {.options = &options, .start = {-1, -1}, .stop = {-1, -1}, .judge = {.lock_fd = -1}};
    int status;

    switch (demo_options_read(argc, argv, &options)) {
    case OPTIONS_READ: break;
    case OPTIONS_WANT_HELP: return commands_print(demo_options_help());
    case OPTIONS_WANT_VERSION: return commands_print_version();
    case OPTIONS_WRONG: return EXIT_USAGE;
    }
    status = prepare(&demo);
    if (!status)
        status = fork_workers(&demo) ? run_rounds(&demo) : EXIT_SYSTEM;
    clean_up(&demo);
    return status;
}
