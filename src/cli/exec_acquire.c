#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "connection.h"
#include "exec.h"
#include "exec_progress.h"
#include "message.h"
#include "payload.h"
#include "waiting.h"

enum {
    CONNECT_SLICE_MS = 50,  /* how long a signal may go unseen while connecting */
    HOLDER_LIMIT_MS = 400,
    CLEAN_UP_MS = 700,
};

zklock *exec_current_lock(const struct exec *exec)
{
    return exec->hold.locks[hold_current(&exec->hold)];
}

const char *exec_current_path(const struct exec *exec)
{
    return exec->options->paths[hold_current(&exec->hold)];
}

static int end_by_signal(struct exec *exec, int number)
{
    message_story("ended by SIG%s while waiting", number_signal_name(number));
    zklock_multi_cancel(exec->hold.multi);
    return 128 + number;
}

/* -w covers connecting too; a connect timeout given beside it counts as well. No wait at all is -n by another
 * name: one question, which takes a connection. */
static int64_t connect_limit_ms(const struct exec_options *options)
{
    int64_t own_ms = connection_limit_ms(&options->common);

    if (options->wait_ms <= 0)
        return own_ms;
    if (options->common.connect_timeout_ms >= 0 && own_ms < options->wait_ms)
        return own_ms;
    return options->wait_ms;
}

static int connect_session(struct exec *exec)
{
    int64_t limit_ms = connect_limit_ms(exec->options);
    int64_t deadline_ms = clock_boottime_ms() + limit_ms;

    for (;;) {
        int64_t left = clock_left_ms(deadline_ms);
        int64_t slice_ms = left < CONNECT_SLICE_MS ? left : CONNECT_SLICE_MS;
        zklock_status status = zklock_session_wait_connected(exec->session, slice_ms);
        int number = waiting_end_signal(exec->signal_fd, &exec->keeper);

        if (number)
            return end_by_signal(exec, number);
        if (status == ZKLOCK_OK)
            return 0;
        if (status != ZKLOCK_NO_SERVER)
            return connection_refuse(exec->session, status);
        if (left == 0) {
            exec->failure = status;
            return connection_fail(exec->session, limit_ms);
        }
    }
}

/* The server may have granted another timeout than was asked: the grace has to fit into what it granted. */
static int settle_times(struct exec *exec)
{
    zklock_session_info info;
    char most[32];
    char granted[32];

    if (zklock_session_info_get(exec->session, &info) != ZKLOCK_OK)
        return EXIT_INTERNAL;
    exec->session_timeout_ms = info.session_timeout_ms;
    exec->reserve_ms = exec_options_reserve_ms(exec->session_timeout_ms);
    exec->grace_ms = exec_options_grace_ms(exec->options, exec->session_timeout_ms);
    if (exec->grace_ms <= exec_options_most_grace_ms(exec->session_timeout_ms))
        return exec_options_check_hold_limit(exec->options, exec->session_timeout_ms) ? 0 : EXIT_USAGE;
    number_print_seconds(exec_options_most_grace_ms(exec->session_timeout_ms), most, sizeof(most));
    number_print_seconds(exec->session_timeout_ms, granted, sizeof(granted));
    message_usage(
        "%s: option -k, --kill-after: the server granted a session timeout of %s s, and the grace may be "
        "at most 0.3 of it; give at most %s",
        exec->options->subcommand, granted, most);
    return EXIT_USAGE;
}

/* Whether `word` is one of those that stand in `list`, a blank between them. */
static bool has_word(const char *list, const char *word)
{
    size_t size = strlen(word);

    for (const char *at = list; at; at = strchr(at, ' ')) {
        at += at != list;
        if (strncmp(at, word, size) == 0 && (at[size] == '\0' || at[size] == ' '))
            return true;
    }
    return false;
}

/* A nested exec on one path waits for itself; only the user can know whether that was meant. */
static void warn_if_nested(const struct exec *exec, const zklock_contender *holder)
{
    const char *paths = getenv("ZKLOCK_PATH");
    const char *names = getenv("ZKLOCK_CONTENDER");

    if (paths && names && has_word(names, holder->name) &&
        (strcmp(paths, exec_current_path(exec)) == 0 || has_word(paths, exec_current_path(exec))))
        message_warn("%s is held by the zklock exec under which this one runs: it waits for itself",
                     exec_current_path(exec));
}

/* The first contender that is not our own, or NULL. */
static const zklock_contender *first_other(const struct exec *exec, const zklock_queue *queue)
{
    char own[512];

    zklock_contender_name(exec_current_lock(exec), own, sizeof(own));
    for (size_t i = 0; i < queue->count; i++) {
        if (own[0] == '\0' || strcmp(queue->contenders[i]->name, own) != 0)
            return queue->contenders[i];
    }
    return NULL;
}

bool exec_describe_holder(const struct exec *exec, bool warns_if_nested, char *buffer, size_t size)
{
    const zklock_contender *holder;
    zklock_queue *queue;
    zklock_status status = zklock_queue_read(exec->session, exec_current_path(exec), HOLDER_LIMIT_MS, &queue);
    int used;

    buffer[0] = '\0';
    if (status != ZKLOCK_OK)
        return status != ZKLOCK_TIMEOUT && status != ZKLOCK_NO_SERVER;
    holder = first_other(exec, queue);
    if (holder) {
        used = snprintf(buffer, size, "held by ");
        payload_describe(holder, buffer + used, size - (size_t)used);
        if (warns_if_nested)
            warn_if_nested(exec, holder);
    }
    zklock_queue_free(queue);
    return true;
}

/* Somebody was ahead, as far as one knows, or the limit passed. */
static void tell_conflict(const struct exec *exec)
{
    const char *path = exec_current_path(exec);
    char holder[512];
    char waited[32];

    if (!exec_describe_holder(exec, false, holder, sizeof(holder)))
        snprintf(holder, sizeof(holder), "the servers do not answer");
    number_print_seconds(exec->options->wait_ms, waited, sizeof(waited));
    if (exec->options->wait_ms > 0)
        message_error("%s: not acquired within %s s: %s", path, waited, holder[0] ? holder : "others were ahead");
    else
        message_error("%s: not acquired: %s", path, holder[0] ? holder : "somebody was ahead");
}

/* A semaphore was asked for where somebody else keeps data: the detail says so. */
static bool has_no_limit(const struct exec *exec, const char *path, zklock_status status)
{
    unsigned permits;

    return status == ZKLOCK_REFUSED && exec->options->permits >= 0 &&
           zklock_permits_read(exec->session, path, HOLDER_LIMIT_MS, &permits) == ZKLOCK_REFUSED;
}

/* Says why the lock was not had, and returns the exit status for it. */
static int fail(struct exec *exec, zklock_status status)
{
    const char *path = exec_current_path(exec);
    char detail[512];

    exec->failure = status;
    switch (status) {
    case ZKLOCK_BUSY:
    case ZKLOCK_TIMEOUT:
        tell_conflict(exec);
        return (int)exec->options->conflict_exit;
    case ZKLOCK_REMOVED:
        message_error("%s: not acquired: %s", path, zklock_status_text(status));
        return (int)exec->options->conflict_exit;
    case ZKLOCK_NO_SERVER:
        zklock_session_detail(exec->session, detail, sizeof(detail));
        message_error("%s: %s: %s", path, zklock_status_text(status), detail[0] ? detail : "no answer");
        return EXIT_NO_SERVER;
    case ZKLOCK_OTHER_PERMITS:
        zklock_detail(exec_current_lock(exec), detail, sizeof(detail));
        message_error("%s; to change it: zklock permits %s N", detail, path);
        return zklock_status_exit(status);
    default:
        zklock_detail(exec_current_lock(exec), detail, sizeof(detail));
        if (has_no_limit(exec, path, status)) {
            message_error("%s; give another path", detail);
            return EXIT_USAGE;
        }
        message_error("%s: %s%s%s", path, zklock_status_text(status), detail[0] ? ": " : "", detail);
        return zklock_status_exit(status);
    }
}

/* Waits for the result or a signal. Returns EXEC_GOES_ON with the result in *out_status, or the
 * exit status. */
static int await_result(struct exec *exec, zklock_status *out_status)
{
    struct pollfd descriptors[] = {{exec->signal_fd, POLLIN, 0}, {exec->hold.fd, POLLIN, 0}};
    struct progress progress;

    progress_begin(&progress);
    for (;;) {
        int number = waiting_end_signal(exec->signal_fd, &exec->keeper);

        if (number)
            return end_by_signal(exec, number);
        keeper_tell_session(&exec->keeper, exec->session);
        zklock_multi_fd_clear(exec->hold.multi);
        *out_status = zklock_multi_result(exec->hold.multi);
        if (*out_status != ZKLOCK_PENDING)
            return EXEC_GOES_ON;
        progress_turn(&progress, exec);
        poll(descriptors, 2, progress.next_ms == INT64_MAX ? -1 : (int)clock_left_ms(progress.next_ms));
    }
}

int64_t exec_remaining_ms(const struct exec *exec)
{
    int64_t lease_ms = zklock_multi_remaining_ms(exec->hold.multi);
    int64_t hold_ms = clock_left_ms(exec->hold_ends_ms);

    return lease_ms < hold_ms ? lease_ms : hold_ms;
}

bool exec_is_at_hold_limit(const struct exec *exec)
{
    return zklock_multi_remaining_ms(exec->hold.multi) > exec_remaining_ms(exec);
}

bool exec_lease_is_short(const struct exec *exec)
{
    return exec_remaining_ms(exec) <= exec->grace_ms + exec->reserve_ms;
}

/* A grant may come at the end of a lease. Waits for the next heartbeat, which lengthens it; false: it was
 * lost. */
static int await_lease(struct exec *exec, bool *out_is_held)
{
    struct pollfd descriptors[] = {{exec->signal_fd, POLLIN, 0}, {exec->hold.fd, POLLIN, 0}};

    while (zklock_multi_is_held(exec->hold.multi) && exec_lease_is_short(exec)) {
        int number = waiting_end_signal(exec->signal_fd, &exec->keeper);

        if (number)
            return end_by_signal(exec, number);
        zklock_multi_fd_clear(exec->hold.multi);
        poll(descriptors, 2, CONNECT_SLICE_MS);
    }
    *out_is_held = zklock_multi_is_held(exec->hold.multi);
    return EXEC_GOES_ON;
}

/* All locks or none. *out_is_held stays false when one was granted and lost again before the command could start. */
static int acquire_once(struct exec *exec, bool *out_is_held)
{
    int64_t limit_ms = exec->options->is_nonblocking ? 0 : clock_left_ms(exec->deadline_ms);
    zklock_status status = zklock_multi_acquire_start(exec->hold.multi, limit_ms == INT64_MAX ? -1 : limit_ms);
    int exit_status = EXEC_GOES_ON;

    if (status == ZKLOCK_OK)
        exit_status = await_result(exec, &status);
    progress_end();
    if (exit_status != EXEC_GOES_ON)
        return exit_status;
    if (status != ZKLOCK_OK)
        return fail(exec, status);
    int64_t granted_ms = clock_boottime_ms();
    exit_status = await_lease(exec, out_is_held);
    if (exec->options->hold_limit_ms > 0)
        exec->hold_ends_ms = granted_ms + exec->options->hold_limit_ms;
    return exit_status;
}

int exec_acquire(struct exec *exec)
{
    bool is_held = false;
    int exit_status;

    exec->hold_ends_ms = INT64_MAX;
    exec->deadline_ms = exec->options->wait_ms < 0 ? INT64_MAX : clock_boottime_ms() + exec->options->wait_ms;
    exit_status = connect_session(exec);
    if (!exit_status)
        exit_status = settle_times(exec);
    if (exit_status)
        return exit_status;
    for (;;) {
        exit_status = acquire_once(exec, &is_held);
        if (exit_status != EXEC_GOES_ON || is_held)
            return exit_status;
        message_story("lost again before the command was started; queueing afresh");
        zklock_multi_release(exec->hold.multi, CLEAN_UP_MS);
    }
}
