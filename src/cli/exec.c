/* zklock exec: run a command while holding a lock. */
#include "exec.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "commands.h"
#include "connection.h"
#include "elect.h"
#include "message.h"
#include "notify.h"
#include "once.h"
#include "signals.h"
#include "waiting.h"

enum { RELEASE_LIMIT_MS = 3000, CLOSE_LIMIT_MS = 1000, HURRIED_CLOSE_MS = 400 };

/* Only the news that nothing else tells. @thread the session's notifier */
static void tell_event(zklock *lock, const zklock_event *event, void *arg)
{
    (void)lock;
    if (event->kind == ZKLOCK_EVENT_REQUEUED)
        message_warn("%s: the session is over; queued again on a fresh one, at the end", (const char *)arg);
}

static const char *label_of(const struct exec_options *options)
{
    const char *slash = strrchr(options->command[0], '/');

    if (options->label)
        return options->label;
    return slash && slash[1] ? slash + 1 : options->command[0];
}

static int open_lock(struct exec *exec, const char *path)
{
    zklock_options lock_options;
    zklock_status status;

    zklock_options_init(&lock_options);
    if (exec->options->style == EXEC_STYLE_LATCH)
        lock_options.mode = ZKLOCK_MODE_LEADER_LATCH;
    else
        lock_options.style = (zklock_style)exec->options->style;
    if (exec->options->is_shared)
        lock_options.mode = ZKLOCK_MODE_SHARED;
    if (exec->options->permits >= 0) {
        lock_options.mode = ZKLOCK_MODE_SEMAPHORE;
        lock_options.permits = (unsigned)exec->options->permits;
    }
    lock_options.persistent_parent = exec->options->persistent_parent;
    lock_options.on_event = tell_event;
    lock_options.event_arg = (void *)(intptr_t)path;
    status = hold_add(&exec->hold, path, &lock_options);
    if (status == ZKLOCK_OK)
        return 0;
    message_error("%s: %s", path, zklock_status_text(status));
    return zklock_status_exit(status);
}

static int open_all(struct exec *exec)
{
    const struct exec_options *options = exec->options;
    zklock_status status;
    int exit_status;

    if (!signals_open(&exec->signal_fd)) {
        message_error("cannot receive signals");
        return EXIT_SYSTEM;
    }
    exit_status = connection_open(&options->common, label_of(options), &exec->session);
    if (exit_status)
        return exit_status;
    status = hold_init(&exec->hold, exec->session, options->path_count);
    if (status != ZKLOCK_OK) {
        message_error("cannot hold locks: %s", zklock_status_text(status));
        return zklock_status_exit(status);
    }
    for (int i = 0; i < options->path_count && !exit_status; i++)
        exit_status = open_lock(exec, options->paths[i]);
    return exit_status;
}

static void tell_of_revocation(const struct exec *exec, unsigned *revocations, int64_t left_ms)
{
    char left[32];

    if (hold_revocations(&exec->hold) == *revocations)
        return;
    *revocations = hold_revocations(&exec->hold);
    number_print_seconds(left_ms, left, sizeof(left));
    message_warn("%s: somebody asks to let go; the command is over, and --min-hold keeps the lock for another %s s",
                 exec->options->path, left);
}

/* --min-hold: clocks of hosts differ, and what they start at "the same time" should find the lock taken. */
static void keep_holding(struct exec *exec, const struct exec_outcome *outcome)
{
    unsigned revocations = outcome->revocations;
    int64_t until_ms = outcome->held_since_ms + exec->options->min_hold_ms;
    struct pollfd descriptors[] = {{exec->signal_fd, POLLIN, 0}, {exec->hold.fd, POLLIN, 0}};
    int64_t left_ms;

    while ((left_ms = until_ms - clock_boottime_ms()) > 0 && zklock_multi_is_held(exec->hold.multi) &&
           !waiting_end_signal(exec->signal_fd, &exec->keeper)) {
        tell_of_revocation(exec, &revocations, left_ms);
        zklock_multi_fd_clear(exec->hold.multi);
        poll(descriptors, 2, left_ms < 1000 ? (int)left_ms : 1000);
    }
}

/* Lets go; only a first delete that finds nothing tells of a loss that nobody had noticed. */
static int release(struct exec *exec, const struct exec_outcome *outcome, bool *out_is_confirmed)
{
    bool was_held = zklock_multi_is_held(exec->hold.multi);
    zklock_status status = zklock_multi_release(exec->hold.multi, outcome->was_lost ? CLOSE_LIMIT_MS : RELEASE_LIMIT_MS);

    *out_is_confirmed = status == ZKLOCK_OK;
    if (status == ZKLOCK_LOST && was_held && !outcome->was_lost) {
        message_error("%s: the lock was lost before it could be released: somebody had removed the contender",
                      exec->options->path);
        return EXIT_LOST;
    }
    if (status == ZKLOCK_DENIED)
        message_warn("%s: the server refuses the release; the contender goes with the session",
                     exec->options->path);
    return outcome->status;
}

static int run_and_release(struct exec *exec, struct elect_end *out_end, bool *out_is_confirmed)
{
    struct exec_outcome outcome;

    outcome = (struct exec_outcome){.status = once_check(exec), .held_since_ms = clock_boottime_ms()};
    if (outcome.status == EXEC_GOES_ON) {
        notify_manager("READY=1\nSTATUS=Holding %s", exec->options->path);
        exec_run(exec, &outcome);
        notify_manager("STATUS=%s %s", outcome.was_lost ? "Lost" : "Releasing", exec->options->path);
        if (!outcome.was_lost && outcome.status == 0)
            outcome.status = once_note(exec);
        if (!outcome.was_lost)
            keep_holding(exec, &outcome);
    }
    out_end->was_lost = outcome.was_lost;
    out_end->led_ms = clock_boottime_ms() - outcome.held_since_ms;
    return release(exec, &outcome, out_is_confirmed);
}

/* Before any session and thread. Without pidfds, which Linux has had since 5.3, there is none. */
static int start_keeper(struct exec *exec)
{
    const struct exec_options *options = exec->options;

    keeper_init(&exec->keeper);
    if (options->is_unguarded || keeper_start(&exec->keeper, options->command, options->common.servers))
        return 0;
    if (!options->is_guarded)
        return 0;
    message_error("cannot start the keeper that --guard asks for: %s", strerror(errno));
    return EXIT_SYSTEM;
}

static void close_all(struct exec *exec, bool may_take_time)
{
    zklock_status status = ZKLOCK_OK;
    char stay[32];

    hold_clear(&exec->hold);
    if (exec->session)
        status = zklock_session_close(exec->session, may_take_time ? CLOSE_LIMIT_MS : HURRIED_CLOSE_MS);
    if (status != ZKLOCK_UNCONFIRMED || exec->session_timeout_ms == 0)
        return;
    number_print_seconds(exec->session_timeout_ms, stay, sizeof(stay));
    message_warn("%s: the servers did not confirm the release; the contender may stay for up to %s s",
                 exec->options->path, stay);
}

/* One acquire, and what follows from it. */
static void campaign(struct exec *exec, struct elect_end *out_end)
{
    bool is_confirmed = false;
    int status = start_keeper(exec);

    if (!status)
        status = open_all(exec);
    if (!status)
        status = exec_acquire(exec);
    if (status == EXEC_GOES_ON)
        status = run_and_release(exec, out_end, &is_confirmed);
    close_all(exec, is_confirmed);
    keeper_dismiss(&exec->keeper);
    out_end->status = status;
    out_end->failure = exec->failure;
}

int exec_main(int argc, char **argv)
{
    struct exec_options options;
    struct exec exec = {.options = &options, .signal_fd = -1, .hold = {.fd = -1}};
    struct elect_end end = {.round = elect_round()};

    switch (exec_options_read(argc, argv, &options)) {
    case OPTIONS_READ: break;
    case OPTIONS_WANT_HELP: return commands_print(exec_options_help(&options));
    case OPTIONS_WANT_VERSION: return commands_print_version();
    case OPTIONS_WRONG: return EXIT_USAGE;
    }
    campaign(&exec, &end);
    if (options.is_electing) {
        end.signal_fd = exec.signal_fd;
        end.path = options.path;
        end.status = elect_conclude(&end, argv - 1);
    }
    exec_options_clear(&options);
    return end.status;
}

/* The subcommand's name tells the two apart. */
int elect_main(int argc, char **argv)
{
    return exec_main(argc, argv);
}
