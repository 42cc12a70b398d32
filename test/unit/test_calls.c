/* Public calls on a session that has no server: threads that are cancelled in them, and buffers that are not there. */
#include "support/eventually.h"
#include "support/suite.h"

#include <pthread.h>

#include "zklock.h"

enum { LIMIT_MS = 20000 };

static zklock_session *session;
static zklock *lock;
static zklock_status status;

static void set_up(void)
{
    zklock_session_options options;

    zklock_session_options_init(&options);
    options.servers = "127.0.0.1:1";
    CU_ASSERT_EQUAL_FATAL(zklock_session_open(&options, &session), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(zklock_new(session, "/lock", NULL, &lock), ZKLOCK_OK);
    status = ZKLOCK_PENDING;
}

static void tear_down(void)
{
    zklock_free(lock);
    CU_ASSERT_EQUAL(zklock_session_close(session, 0), ZKLOCK_OK);
}

/* On a thread that is cancelled at once, so that the request is there before the call waits, or comes while it does.
 * NULL: it was ended inside. */
static void start_and_cancel(pthread_t *thread, void *(*run)(void *))
{
    CU_ASSERT_EQUAL_FATAL(pthread_create(thread, NULL, run, NULL), 0);
    pthread_cancel(*thread);
}

static void expect_result(pthread_t thread, zklock_status expected)
{
    void *result = NULL;

    pthread_join(thread, &result);
    CU_ASSERT_PTR_EQUAL(result, &status);
    CU_ASSERT_EQUAL(status, expected);
}

static void *acquire(void *unused)
{
    (void)unused;
    status = zklock_acquire(lock, -1);
    return &status;
}

static bool is_cancelled(void *unused)
{
    (void)unused;
    return zklock_cancel(lock) == ZKLOCK_OK;
}

static void thread_that_is_cancelled_in_an_acquire_returns_first(void)
{
    pthread_t thread;

    start_and_cancel(&thread, acquire);
    CU_ASSERT_TRUE_FATAL(eventually(is_cancelled, NULL, LIMIT_MS));
    expect_result(thread, ZKLOCK_CANCELLED);
    CU_ASSERT_FALSE(zklock_is_held(lock));
}

static void *wait_connected(void *unused)
{
    (void)unused;
    status = zklock_session_wait_connected(session, 50);
    return &status;
}

static void *read_queue(void *unused)
{
    zklock_queue *queue = NULL;

    (void)unused;
    status = zklock_queue_read(session, "/lock", 50, &queue);
    return &status;
}

static void thread_that_is_cancelled_in_other_waits_returns_first(void)
{
    pthread_t thread;

    start_and_cancel(&thread, wait_connected);
    expect_result(thread, ZKLOCK_NO_SERVER);
    start_and_cancel(&thread, read_queue);
    expect_result(thread, ZKLOCK_NO_SERVER);
}

static void buffer_that_is_not_there_is_not_written(void)
{
    zklock_multi *multi = NULL;

    CU_ASSERT_EQUAL_FATAL(zklock_multi_new(session, &multi), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_acquire(lock, 0), ZKLOCK_NO_SERVER);
    zklock_detail(lock, NULL, 100);
    zklock_contender_name(lock, NULL, 100);
    zklock_session_detail(session, NULL, 100);
    zklock_multi_detail(multi, NULL, 100);
    CU_ASSERT_EQUAL(zklock_held_path(lock, NULL, 100), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_path_check("/a//", NULL, 100), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_servers_check("a,,b", NULL, 100), ZKLOCK_BAD_ARGUMENT);
    zklock_multi_free(multi);
}

#define TEST(test) SUITE_TEST_WITH(test, set_up, tear_down)

static const struct suite_test tests[] = {
    TEST(thread_that_is_cancelled_in_an_acquire_returns_first),
    TEST(thread_that_is_cancelled_in_other_waits_returns_first),
    TEST(buffer_that_is_not_there_is_not_written),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "calls", tests);
}
