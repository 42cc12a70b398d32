/* The notifier: closing waits for what is queued, and for no longer. Its wakes are kept back for a while. */
#include "support/probe.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/runtime.h"
#include "session/session.h"
#include "session/session_open.h"
#include "session/store.h"
#include "zklock.h"

/* Whether close() waits for the queue yet shows from nowhere, so that one round in many may miss the moment. */
enum { LIMIT_MS = 20000, ROUNDS = 20 };

static struct zkl_runtime runtime;
static struct zkl_worker *notifier;
static atomic_bool wakes_are_kept;
static struct probe stops; /* workers that close() has begun to end */

static zklock_status start_worker(struct zkl_runtime *self, const char *name, zkl_turn_fn *turn, void *arg,
                                  struct zkl_worker **out_worker)
{
    struct zkl_runtime *posix = zkl_runtime_posix();
    zklock_status status = posix->worker_start(posix, name, turn, arg, out_worker);

    (void)self;
    if (status == ZKLOCK_OK && strcmp(name, "zklock-notify") == 0)
        notifier = *out_worker;
    return status;
}

static void wake_worker(struct zkl_worker *worker, int64_t when_ns)
{
    if (worker != notifier || !atomic_load(&wakes_are_kept))
        zkl_runtime_posix()->worker_wake(worker, when_ns);
}

static void stop_worker(struct zkl_worker *worker)
{
    zkl_runtime_posix()->worker_stop(worker);
    probe_note(&stops, 1);
}

static void ignore_event(zklock *lock, const zklock_event *event, void *arg)
{
    (void)lock;
    (void)event;
    (void)arg;
}

static zklock_session *open_nowhere(void)
{
    zklock_session_options options;
    zklock_session *session = NULL;

    runtime = *zkl_runtime_posix();
    runtime.worker_start = start_worker;
    runtime.worker_wake = wake_worker;
    runtime.worker_stop = stop_worker;
    zklock_session_options_init(&options);
    options.servers = "127.0.0.1:1";
    CU_ASSERT_EQUAL_FATAL(zkl_session_open_with(&options, &runtime, zkl_store_driver_zookeeper(), &session), ZKLOCK_OK);
    return session;
}

static zklock *begin(zklock_session *session)
{
    zklock_options options;
    zklock *lock = NULL;

    zklock_options_init(&options);
    options.on_event = ignore_event;
    CU_ASSERT_EQUAL_FATAL(zklock_new(session, "/lock", &options, &lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(zklock_acquire_start(lock, -1), ZKLOCK_OK);
    return lock;
}

static struct probe closed;

static void *close_session(void *session)
{
    probe_note(&closed, zklock_session_close(session, 0));
    return NULL;
}

/* The lock's end is queued, and its notice is taken back with the lock. */
static void close_does_not_wait_for_a_notice_that_is_forgotten(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        zklock_session *session = open_nowhere();
        zklock *lock = begin(session);
        pthread_t closer;

        probe_init(&stops);
        probe_init(&closed);
        atomic_store(&wakes_are_kept, true);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&closer, NULL, close_session, session), 0);
        CU_ASSERT_TRUE_FATAL(probe_wait_count(&stops, 1, LIMIT_MS));
        zklock_free(lock);
        CU_ASSERT_TRUE_FATAL(probe_wait_count(&closed, 1, LIMIT_MS));
        pthread_join(closer, NULL);
        atomic_store(&wakes_are_kept, false);
    }
}

/* ---------------------------------------------------------------- lines */

enum { LINES = 1200, MOST_LINES = 1000 };

static struct probe lines; /* 1: it says how many are missing */
static struct probe gate;

static void log_slowly(void *arg, zklock_log_level level, const char *line)
{
    (void)arg;
    (void)level;
    probe_wait_count(&gate, 1, LIMIT_MS);
    probe_note(&lines, strncmp(line, "200 lines are left out here", 27) == 0);
}

/* What a slow function cannot take is counted, and told before the next line that fits. */
static void lines_that_were_left_out_are_told(void)
{
    zklock_session_options options;
    zklock_session *session = NULL;

    probe_init(&lines);
    probe_init(&gate);
    zklock_session_options_init(&options);
    options.servers = "127.0.0.1:1";
    options.log = log_slowly;
    options.log_level = ZKLOCK_LOG_ERROR;
    CU_ASSERT_EQUAL_FATAL(zklock_session_open(&options, &session), ZKLOCK_OK);
    zkl_session_lock(session);
    for (int i = 0; i < LINES; i++)
        zkl_session_log(session, ZKLOCK_LOG_ERROR, "line %d", i);
    zkl_session_unlock(session);
    probe_note(&gate, 1);
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&lines, MOST_LINES, LIMIT_MS));
    zkl_session_lock(session);
    zkl_session_log(session, ZKLOCK_LOG_ERROR, "the next one");
    zkl_session_unlock(session);
    CU_ASSERT_TRUE(probe_wait_count(&lines, MOST_LINES + 2, LIMIT_MS));
    CU_ASSERT_EQUAL(probe_at(&lines, MOST_LINES), 1);
    CU_ASSERT_EQUAL(probe_at(&lines, MOST_LINES + 1), 0);
    CU_ASSERT_EQUAL(zklock_session_close(session, 0), ZKLOCK_OK);
}

/* ---------------------------------------------------------------- fork */

static struct probe answers;

/* Any blocking call that needs no session: one with a server list that is none. */
static zklock_status call_that_blocks(void)
{
    const zklock_session_key key = {.session_id = 1};

    return zklock_session_end("a,,b", &key, 0);
}

static void log_and_fork(void *arg, zklock_log_level level, const char *line)
{
    int how = -1;

    (void)arg;
    (void)level;
    (void)line;
    pid_t child = fork();
    if (child == 0)
        _exit(call_that_blocks() == ZKLOCK_BAD_ARGUMENT ? 0 : 1);
    waitpid(child, &how, 0);
    probe_note(&answers, how);
    probe_note(&answers, call_that_blocks());
}

static void child_forked_by_a_callback_is_no_notifier(void)
{
    zklock_session_options options;
    zklock_session *session = NULL;

    probe_init(&answers);
    zklock_session_options_init(&options);
    options.servers = "127.0.0.1:1";
    options.log = log_and_fork;
    options.log_level = ZKLOCK_LOG_ERROR;
    CU_ASSERT_EQUAL_FATAL(zklock_session_open(&options, &session), ZKLOCK_OK);
    zkl_session_lock(session);
    zkl_session_log(session, ZKLOCK_LOG_ERROR, "a line");
    zkl_session_unlock(session);
    CU_ASSERT_TRUE(probe_wait_count(&answers, 2, LIMIT_MS));
    CU_ASSERT_EQUAL(probe_at(&answers, 0), 0);
    CU_ASSERT_EQUAL(probe_at(&answers, 1), ZKLOCK_DEADLOCK);
    CU_ASSERT_EQUAL(zklock_session_close(session, 0), ZKLOCK_OK);
}

static const struct suite_test tests[] = {
    SUITE_TEST(close_does_not_wait_for_a_notice_that_is_forgotten),
    SUITE_TEST(lines_that_were_left_out_are_told),
    SUITE_TEST(child_forked_by_a_callback_is_no_notifier),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "notifier", tests);
}
