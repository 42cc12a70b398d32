#include "demo_judge.h"

#include <poll.h>

#include "clock.h"
#include "connection.h"
#include "message.h"

enum { RELEASE_LIMIT_MS = 3000, CLOSE_LIMIT_MS = 1000, CONNECT_SLICE_MS = 50 };

static bool is_told_to_stop(const struct demo_judge *judge, int fd, int limit_ms)
{
    struct pollfd descriptors[] = {{judge->stop_fd, POLLIN, 0}, {fd, POLLIN, 0}};

    poll(descriptors, 2, limit_ms);
    return descriptors[0].revents != 0;
}

/* Returns 0, the exit status, or -1 when told to stop. */
static int connect_session(struct demo_judge *judge)
{
    int64_t limit_ms = connection_limit_ms(&judge->options->common);
    int64_t deadline_ms = clock_boottime_ms() + limit_ms;

    while (zklock_session_wait_connected(judge->session, CONNECT_SLICE_MS) != ZKLOCK_OK) {
        if (is_told_to_stop(judge, -1, 0))
            return -1;
        if (clock_boottime_ms() >= deadline_ms)
            return connection_fail(judge->session, limit_ms);
    }
    return 0;
}

/* Also without a lock the session is what tells whether there is a server. */
int demo_judge_open(struct demo_judge *judge, const struct demo_options *options, const char *run,
                    int stop_fd)
{
    const struct demo_counter_options counter_options = {
        .servers = options->common.servers,
        .auth_file = options->common.auth_file,
        .timeout_ms = (int)options->common.session_timeout_ms,
        .lock = options->lock,
        .counter = options->counter,
        .run = run,
        .worker = -1,
        .stop_fd = stop_fd,
    };
    zklock_status status;
    int exit_status;

    *judge = (struct demo_judge){.options = options, .lock_fd = -1, .stop_fd = stop_fd};
    exit_status = connection_open(&options->common, "demo judge", &judge->session);
    if (!exit_status)
        exit_status = connect_session(judge);
    if (exit_status)
        return exit_status;
    judge->counter = demo_counter_open(&counter_options);
    if (!judge->counter)
        return EXIT_NO_SERVER;
    status = zklock_new(judge->session, options->lock, NULL, &judge->lock);
    if (status == ZKLOCK_OK)
        status = zklock_fd(judge->lock, &judge->lock_fd);
    if (status != ZKLOCK_OK)
        message_error("demo: %s: %s", options->lock, zklock_status_text(status));
    return zklock_status_exit(status);
}

void demo_judge_close(struct demo_judge *judge)
{
    zklock_free(judge->lock);
    if (judge->session)
        zklock_session_close(judge->session, CLOSE_LIMIT_MS);
    demo_counter_close(judge->counter);
    *judge = (struct demo_judge){.lock_fd = -1};
}

static enum demo_result enter(struct demo_judge *judge)
{
    zklock_status status = zklock_acquire_start(judge->lock, -1);
    char detail[512];

    while (status == ZKLOCK_OK && zklock_result(judge->lock) == ZKLOCK_PENDING) {
        if (is_told_to_stop(judge, judge->lock_fd, -1)) {
            zklock_cancel(judge->lock);
            return DEMO_STOPPED;
        }
        zklock_fd_clear(judge->lock);
    }
    if (status == ZKLOCK_OK)
        status = zklock_result(judge->lock);
    if (status == ZKLOCK_OK)
        return DEMO_DONE;
    if (zklock_status_is_retriable(status))
        return is_told_to_stop(judge, -1, CONNECT_SLICE_MS) ? DEMO_STOPPED : DEMO_NOT_DONE;
    zklock_detail(judge->lock, detail, sizeof(detail));
    message_error("demo: %s: %s%s%s", judge->options->lock, zklock_status_text(status), detail[0] ? ": " : "",
                  detail);
    return DEMO_FAILED;
}

/* A balance counts if the lock was held from before the reading until after it. */
static enum demo_result balance_once(struct demo_judge *judge, struct demo_balance *out_balance)
{
    enum demo_result result = enter(judge);

    if (result != DEMO_DONE)
        return result;
    result = demo_counter_balance(judge->counter, out_balance);
    if (result == DEMO_DONE && !zklock_is_held(judge->lock))
        result = DEMO_NOT_DONE;
    if (zklock_release(judge->lock, RELEASE_LIMIT_MS) == ZKLOCK_LOST && result == DEMO_DONE)
        result = DEMO_NOT_DONE;
    return result;
}

enum demo_result demo_judge_balance(struct demo_judge *judge, struct demo_balance *out_balance)
{
    enum demo_result result;

    if (judge->options->has_no_lock)
        return demo_counter_balance(judge->counter, out_balance);
    do
        result = balance_once(judge, out_balance);
    while (result == DEMO_NOT_DONE);
    return result;
}
