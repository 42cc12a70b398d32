/* The thread that user code runs on: events of locks and lines of the log, one at a time, in order. Or, where the owner
 * asked for that, no thread: his own calls of zklock_session_dispatch(). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/line.h"
#include "session/session_state.h"

/* Log lines that may wait for a slow log function; then they are counted instead. */
#define MOST_LINES 1000
#define LINE_SIZE 1024

/* The process in which this thread runs user code; 0: none. A child that is forked there has the variable, and is not it. */
static _Thread_local pid_t notifier_pid;

bool zkl_is_notifier_thread(void)
{
    return notifier_pid != 0 && notifier_pid == getpid();
}

static void append(zklock_session *session, struct zkl_queued_notice *notice)
{
    struct zkl_notifier *notifier = &session->notifier;

    notice->next = NULL;
    *notifier->last = notice;
    notifier->last = &notice->next;
    if (notifier->worker)
        session->runtime->worker_wake(notifier->worker, 0);
    else
        (void)!write(notifier->fd, &(uint64_t){1}, sizeof(uint64_t));
}

bool zkl_notices_reserve(struct zkl_notice_stock *stock, int count)
{
    while (stock->count < count) {
        struct zkl_queued_notice *notice = calloc(1, sizeof *notice);
        if (!notice)
            return false;
        notice->next = stock->first;
        stock->first = notice;
        stock->count++;
    }
    return true;
}

static struct zkl_queued_notice *take_from_stock(struct zkl_notice_stock *stock)
{
    struct zkl_queued_notice *notice = stock->first;

    if (notice) {
        stock->first = notice->next;
        stock->count--;
    }
    return notice;
}

void zkl_notices_clear(struct zkl_notice_stock *stock)
{
    while (stock->first)
        free(take_from_stock(stock));
}

void zkl_session_notify(zklock_session *session, struct zkl_notice_stock *stock,
                        const struct zkl_notice_to_user *to_user)
{
    struct zkl_queued_notice *notice = session->notifier.is_open ? take_from_stock(stock) : NULL;

    if (!notice)
        return;
    notice->to_user = *to_user;
    append(session, notice);
}

static void append_line(zklock_session *session, zklock_log_level level, const char *line)
{
    struct zkl_queued_notice *notice = calloc(1, sizeof *notice + strlen(line) + 1);

    if (!notice)
        return;
    notice->level = level;
    strcpy(notice->line, line);
    session->notifier.line_count++;
    append(session, notice);
}

/* Where lines are missing, the next one that fits says so. */
static void tell_dropped(zklock_session *session, zklock_log_level level)
{
    char line[80];

    if (session->notifier.lines_dropped == 0)
        return;
    snprintf(line, sizeof line, "%d lines are left out here: the log function was too slow",
             session->notifier.lines_dropped);
    session->notifier.lines_dropped = 0;
    append_line(session, level, line);
}

void zkl_session_log(zklock_session *session, zklock_log_level level, const char *format, ...)
{
    struct zkl_notifier *notifier = &session->notifier;
    char line[LINE_SIZE];
    va_list arguments;

    if (!session->log || level > session->log_level || !notifier->is_open)
        return;
    if (notifier->line_count >= MOST_LINES) {
        notifier->lines_dropped++;
        return;
    }
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    zkl_line_tame(line);
    tell_dropped(session, level);
    append_line(session, level, line);
}

static struct zkl_queued_notice *take_first(struct zkl_notifier *notifier)
{
    struct zkl_queued_notice *notice = notifier->first;

    notifier->first = notice->next;
    if (!notifier->first)
        notifier->last = &notifier->first;
    return notice;
}

static void run(zklock_session *session, struct zkl_queued_notice *notice)
{
    notifier_pid = getpid();
    if (notice->to_user.run)
        notice->to_user.run(notice->to_user.key, &notice->to_user.event);
    else
        session->log(session->log_arg, notice->level, notice->line);
    notifier_pid = 0;
}

/* @thread the notifier, or who dispatches  @locks takes the session's mutex, and gives it up around user code */
static int64_t turn(void *arg)
{
    zklock_session *session = arg;
    struct zkl_notifier *notifier = &session->notifier;

    zkl_session_lock(session);
    /* Whoever runs them already runs these, too. */
    while (notifier->first && !notifier->is_running) {
        struct zkl_queued_notice *notice = take_first(notifier);
        notifier->line_count -= notice->to_user.run ? 0 : 1;
        notifier->running_key = notice->to_user.key;
        notifier->is_running = true;
        notifier->thread = pthread_self();
        zkl_session_unlock(session);
        run(session, notice);
        free(notice);
        zkl_session_lock(session);
        notifier->is_running = false;
        pthread_cond_broadcast(&notifier->idle);
    }
    zkl_session_unlock(session);
    return ZKL_NEVER;
}

static bool is_running_elsewhere(const struct zkl_notifier *notifier, const void *key)
{
    return notifier->is_running && notifier->running_key == key && !pthread_equal(notifier->thread, pthread_self());
}

void zkl_session_forget_notices(zklock_session *session, void *key)
{
    struct zkl_notifier *notifier = &session->notifier;
    struct zkl_queued_notice **at = &notifier->first;

    while (*at) {
        struct zkl_queued_notice *notice = *at;
        if (!notice->to_user.run || notice->to_user.key != key) {
            at = &notice->next;
            continue;
        }
        *at = notice->next;
        free(notice);
    }
    notifier->last = at;
    /* Whoever waits for the queue to be empty may have waited for these. */
    pthread_cond_broadcast(&notifier->idle);
    while (is_running_elsewhere(notifier, key))
        zkl_session_wait(session, &notifier->idle);
}

zklock_status zkl_notifier_start(zklock_session *session, bool by_dispatch)
{
    struct zkl_notifier *notifier = &session->notifier;
    zklock_status status = ZKLOCK_OK;

    notifier->last = &notifier->first;
    notifier->fd = -1;
    if (!by_dispatch)
        status = session->runtime->worker_start(session->runtime, "zklock-notify", turn, session, &notifier->worker);
    else if ((notifier->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        status = ZKLOCK_SYSTEM;
    notifier->is_open = status == ZKLOCK_OK;
    return status;
}

/* @thread one that may run user code  @locks none */
static void dispatch(zklock_session *session)
{
    int before = zkl_cancel_forbid();
    uint64_t count;

    (void)!read(session->notifier.fd, &count, sizeof count);
    turn(session);
    zkl_cancel_restore(before);
}

static zklock_status check_dispatch(const zklock_session *session)
{
    if (!session)
        return ZKLOCK_BAD_ARGUMENT;
    if (!zkl_session_is_own(session))
        return ZKLOCK_FORKED;
    return session->notifier.fd < 0 ? ZKLOCK_BAD_ARGUMENT : ZKLOCK_OK;
}

zklock_status zklock_session_fd(zklock_session *session, int *out_fd)
{
    zklock_status status = out_fd ? check_dispatch(session) : ZKLOCK_BAD_ARGUMENT;

    if (status == ZKLOCK_OK)
        *out_fd = session->notifier.fd;
    return status;
}

zklock_status zklock_session_dispatch(zklock_session *session)
{
    zklock_status status = zkl_is_notifier_thread() ? ZKLOCK_DEADLOCK : check_dispatch(session);

    if (status == ZKLOCK_OK)
        dispatch(session);
    return status;
}

void zkl_notifier_stop(zklock_session *session)
{
    struct zkl_notifier *notifier = &session->notifier;

    if (notifier->fd >= 0)
        dispatch(session);
    zkl_session_lock(session);
    while (notifier->first || notifier->is_running)
        zkl_session_wait(session, &notifier->idle);
    struct zkl_worker *worker = notifier->worker;
    notifier->worker = NULL;
    notifier->is_open = false;
    zkl_session_unlock(session);
    if (worker)
        session->runtime->worker_stop(worker);
}
