/* The examples, run as their readers would run them. */
#include "support/directory.h"
#include "support/eventually.h"
#include "support/observer.h"
#include "support/process.h"
#include "support/suite.h"
#include "support/zk_server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCK "/examples/lock"

enum { PATIENCE_MS = 60000 * ZKLOCK_TEST_SLOWNESS };

static struct zk_server *server;
static struct observer *observer;
static char *directory;
static struct process *first;
static struct process *second;

static void set_up(void)
{
    server = zk_server_start(NULL);
    observer = observer_open(zk_server_address(server), 20000);
    directory = directory_make("examples");
    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
}

static void tear_down(void)
{
    process_free(first);
    process_free(second);
    first = second = NULL;
    observer_close(observer);
    zk_server_free(server);
    directory_remove(directory);
    free(directory);
}

static void expect_status(struct process *process, int status)
{
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), status);
    if (process_exit_status(process) != status)
        printf("%s%s", process_output(process, NULL), process_error(process, NULL));
}

static void delete_holder(void)
{
    char name[OBSERVER_PATH_SIZE];
    char node[OBSERVER_PATH_SIZE + 64];

    observer_front(observer, LOCK, name);
    snprintf(node, sizeof(node), LOCK "/%s", name);
    CU_ASSERT_EQUAL(observer_delete(observer, node), ZOK);
}

/* ---------------------------------------------------------------- guarded_file */

/* On a terminal, so that the test says when it goes on. */
static struct process *start_guarded(void)
{
    static char fence[256];
    static char file[256];

    snprintf(fence, sizeof(fence), "%s/fence", directory);
    snprintf(file, sizeof(file), "%s/file", directory);
    const char *const arguments[] = {EXAMPLES "/guarded_file", zk_server_address(server), LOCK, fence, file, NULL};
    return process_start(&(struct process_options){.arguments = arguments, .is_on_terminal = true});
}

static void expect_file(const char *text)
{
    char path[256];
    char found[256] = "";

    snprintf(path, sizeof(path), "%s/file", directory);
    FILE *stream = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    found[fread(found, 1, sizeof(found) - 1, stream)] = '\0';
    fclose(stream);
    CU_ASSERT_STRING_EQUAL(found, text);
}

static void late_write_of_a_frozen_holder_is_refused(void)
{
    first = start_guarded();
    CU_ASSERT_TRUE_FATAL(process_wait_output(first, "held with token", PATIENCE_MS));
    process_signal(first, SIGSTOP);
    CU_ASSERT_TRUE(process_wait_stopped(first, PATIENCE_MS));
    second = start_guarded();
    CU_ASSERT_TRUE_FATAL(process_wait_output(second, "held with token", PATIENCE_MS));
    process_type(second, "second\n");
    expect_status(second, 0);
    process_signal(first, SIGCONT);
    process_type(first, "first\n");
    CU_ASSERT_TRUE(process_wait_output(first, "refused: ", PATIENCE_MS));
    expect_status(first, 3);
    expect_file("second\n");
}

static void holders_in_turn_both_write(void)
{
    first = start_guarded();
    CU_ASSERT_TRUE_FATAL(process_wait_output(first, "held with token", PATIENCE_MS));
    second = start_guarded();
    CU_ASSERT_TRUE(observer_wait_count(observer, LOCK, 2, PATIENCE_MS));
    process_type(first, "first\n");
    expect_status(first, 0);
    CU_ASSERT_TRUE_FATAL(process_wait_output(second, "held with token", PATIENCE_MS));
    process_type(second, "second\n");
    expect_status(second, 0);
    expect_file("first\nsecond\n");
}

/* ---------------------------------------------------------------- loops */

static void expect_turns(const char *program)
{
    first = process_run(program, zk_server_address(server), LOCK, "3", NULL);
    second = process_run(program, zk_server_address(server), LOCK, "3", NULL);
    expect_status(first, 0);
    expect_status(second, 0);
    CU_ASSERT_STRING_EQUAL(process_output(first, NULL), "held\nreleased\n");
    CU_ASSERT_STRING_EQUAL(process_output(second, NULL), "held\nreleased\n");
    CU_ASSERT_EQUAL(observer_count(observer, LOCK), 0);
}

static void expect_loss(const char *program)
{
    first = process_run(program, zk_server_address(server), LOCK, "1000000", NULL);
    CU_ASSERT_TRUE_FATAL(process_wait_output(first, "held\n", PATIENCE_MS));
    delete_holder();
    expect_status(first, 79);
    CU_ASSERT_STRING_EQUAL(process_output(first, NULL), "held\nlost: somebody deleted the contender\n");
}

static void epoll_loop_holds_and_lets_go(void)
{
    expect_turns(EXAMPLES "/epoll_loop");
}

static void epoll_loop_is_told_of_a_loss(void)
{
    expect_loss(EXAMPLES "/epoll_loop");
}

static void uv_loop_holds_and_lets_go(void)
{
#ifndef WITH_UV
    suite_skip("no libuv");
#endif
    expect_turns(EXAMPLES "/uv_loop");
}

static void uv_loop_is_told_of_a_loss(void)
{
#ifndef WITH_UV
    suite_skip("no libuv");
#endif
    expect_loss(EXAMPLES "/uv_loop");
}

/* ---------------------------------------------------------------- follow_leader */

/* On a terminal, so that its input ends when the test says so. */
static void follower_is_told_of_each_leader(void)
{
    const char *const arguments[] = {EXAMPLES "/follow_leader", zk_server_address(server), LOCK, NULL};

    first = process_start(&(struct process_options){.arguments = arguments, .is_on_terminal = true});
    CU_ASSERT_TRUE_FATAL(process_wait_output(first, "nobody leads", PATIENCE_MS));
    second = process_run(EXAMPLES "/epoll_loop", zk_server_address(server), LOCK, "1000000", NULL);
    CU_ASSERT_TRUE_FATAL(process_wait_output(first, "leads, and says", PATIENCE_MS));
    process_type(first, "\x04");
    expect_status(first, 0);
}

/* ---------------------------------------------------------------- C++ */

static void cpp_locks_are_what_the_standard_library_takes(void)
{
#ifndef WITH_CPP
    suite_skip("no C++ compiler");
#endif
    first = process_run(EXAMPLES "/raii", zk_server_address(server), NULL);
    expect_status(first, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(process_output(first, NULL), "ok: scoped_lock of two locks\n"));
    CU_ASSERT_PTR_NULL(strstr(process_output(first, NULL), "NOT: "));
}

#define TEST(test) SUITE_TEST_WITH(test, set_up, tear_down)

static const struct suite_test tests[] = {
    TEST(late_write_of_a_frozen_holder_is_refused),
    TEST(holders_in_turn_both_write),
    TEST(epoll_loop_holds_and_lets_go),
    TEST(epoll_loop_is_told_of_a_loss),
    TEST(follower_is_told_of_each_leader),
    TEST(uv_loop_holds_and_lets_go),
    TEST(uv_loop_is_told_of_a_loss),
    TEST(cpp_locks_are_what_the_standard_library_takes),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "examples", tests);
}
