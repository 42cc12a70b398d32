/* zklock server and zklock demo: a private server that leaves nothing, and a verdict that is right. */
#include "cli_stage.h"

#include "support/directory.h"
#include "support/installation.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *scratch;

/* Private servers make their directory below TMPDIR: a fresh one, so that what is left can be seen. */
static void make_scratch(void)
{
    const char *reason = installation_missing();

    if (reason)
        suite_skip(reason);
    scratch = directory_make("zklock-scratch");
    CU_ASSERT_PTR_NOT_NULL_FATAL(scratch);
}

static void clear_scratch(void)
{
    stage_tear_down();
    if (scratch)
        directory_remove(scratch);
    free(scratch);
    scratch = NULL;
}

static bool is_scratch_empty(void)
{
    DIR *directory = opendir(scratch);
    int entries = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
    while (readdir(directory))
        entries++;
    closedir(directory);
    return entries == 2;
}

/* Without ZKLOCK_SERVERS, and with TMPDIR in the scratch directory. */
static struct process *start_alone(const char *const arguments[], bool is_on_terminal)
{
    char temporary[4200];
    const char *const environment[] = {temporary, "TERM=xterm", "NO_COLOR", NULL};
    struct process_options options = {
        .arguments = arguments, .environment = environment, .is_on_terminal = is_on_terminal};

    snprintf(temporary, sizeof(temporary), "TMPDIR=%s", scratch);
    return stage_start_with(&options);
}

#define ALONE(...) start_alone((const char *const[]){__VA_ARGS__, NULL}, false)

static int port_of(struct process *server)
{
    int port = 0;

    CU_ASSERT_TRUE_FATAL(process_wait_output(server, "\n", 2 * PATIENCE_MS));
    CU_ASSERT_EQUAL_FATAL(sscanf(stage_output(server), "export ZKLOCK_SERVERS=127.0.0.1:%d\n", &port), 1);
    return port;
}

static void server_serves_and_leaves_nothing(void)
{
    struct process *server = ALONE("server");
    char servers[64];

    snprintf(servers, sizeof(servers), "127.0.0.1:%d", port_of(server));
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-S", servers, "/l", "--", "true", NULL)), 0);
    process_signal(server, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(server), 0);
    CU_ASSERT_STRING_EQUAL(stage_error(server), "");
    CU_ASSERT_TRUE(is_scratch_empty());
    CU_ASSERT_EQUAL(stage_end(stage_start("status", "-S", servers, "--connect-timeout", "0.2", "/l", NULL)),
                    69);
}

static void server_keeps_its_data_in_a_given_directory(void)
{
    const char *directory = stage_file("data");
    struct process *server = ALONE("server", "--dir", directory);
    struct process *status;
    char servers[64];
    char path[8192];

    snprintf(servers, sizeof(servers), "127.0.0.1:%d", port_of(server));
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-S", servers, "--persistent-parent", "/kept/l", "--",
                                          "true", NULL)),
                    0);
    process_signal(server, SIGINT);
    CU_ASSERT_EQUAL(stage_end(server), 0);
    snprintf(path, sizeof(path), "%s/zoo.cfg", directory);
    CU_ASSERT_TRUE(stage_count_text(path, "tickTime=500") == 1);
    server = ALONE("server", "--dir", directory);
    snprintf(servers, sizeof(servers), "127.0.0.1:%d", port_of(server));
    status = stage_start("status", "-S", servers, "/kept/l", NULL);
    CU_ASSERT_EQUAL(stage_end(status), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(status), "/kept/l: free\n");
    process_signal(server, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(server), 0);
}

static void server_on_a_port_in_use_says_so(void)
{
    struct process *first = ALONE("server");
    char port[16];
    struct process *second;

    snprintf(port, sizeof(port), "%d", port_of(first));
    second = ALONE("server", "--port", port);
    CU_ASSERT_TRUE(process_wait(second, 2 * PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(second), 69);
    CU_ASSERT_EQUAL(stage_lines(stage_error(second)), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(second), "Address already in use"));
    process_signal(first, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(first), 0);
    CU_ASSERT_TRUE(is_scratch_empty());
}

static void expect_missing(const char *setting, const char *expected)
{
    const char *const arguments[] = {"server", NULL};
    const char *const environment[] = {setting, NULL};
    struct process_options options = {.arguments = arguments, .environment = environment};
    struct process *process = stage_start_with(&options);

    CU_ASSERT_EQUAL(stage_end(process), 69);
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), expected));
}

static void missing_java_or_zookeeper_is_named(void)
{
    expect_missing("PATH=/nowhere", "install Debian's package default-jre-headless");
    expect_missing("ZOOKEEPER_HOME=/nowhere", "no lib/zookeeper-*.jar below it");
}

static void demo_with_a_lock_loses_nothing(void)
{
    struct process *process = ALONE("demo", "--rounds", "10", "--think", "2");

    CU_ASSERT_TRUE(process_wait(process, 2 * PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 0);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(stage_output(process), "expected 40 = 0 at the start + 40 here; found 40\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "turns     40, of which 0 overlapped another\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "verdict   right: no update was lost\n"));
    CU_ASSERT_STRING_EQUAL(stage_error(process), "");
    CU_ASSERT_TRUE(is_scratch_empty());
}

static void demo_without_a_lock_loses_updates_and_says_how_many(void)
{
    struct process *process = ALONE("demo", "--no-lock", "--rounds", "20");
    const char *found_at;
    char expected[64];
    int found = -1;

    CU_ASSERT_TRUE(process_wait(process, 2 * PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 1);
    found_at = strstr(stage_output(process), "expected 80 = 0 at the start + 80 here; found ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(found_at);
    CU_ASSERT_EQUAL(sscanf(strstr(found_at, "found "), "found %d", &found), 1);
    snprintf(expected, sizeof(expected), "verdict   lost %d updates\n", 80 - found);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), expected));
}

static void demo_draws_on_a_terminal(void)
{
    struct process *process =
        start_alone((const char *const[]){"demo", "--rounds", "5", "--workers", "2", NULL}, true);

    CU_ASSERT_TRUE(process_wait(process, 2 * PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "10/10"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "\033[3A"));
}

static void interrupted_demo_leaves_nothing(void)
{
    struct process *process = ALONE("demo", "--rounds", "100000");

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "demo      4 workers", 2 * PATIENCE_MS));
    process_signal(process, SIGINT);
    CU_ASSERT_EQUAL(stage_end(process), 130);
    CU_ASSERT_TRUE(is_scratch_empty());
}

static void demo_that_is_killed_takes_its_server_along(void)
{
    struct process *process = ALONE("demo", "--rounds", "100000");
    char servers[64];
    int port = 0;

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "at 127.0.0.1:", 2 * PATIENCE_MS));
    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "\n", PATIENCE_MS));
    sscanf(strstr(stage_output(process), "at 127.0.0.1:"), "at 127.0.0.1:%d", &port);
    process_signal(process, SIGKILL);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    snprintf(servers, sizeof(servers), "127.0.0.1:%d", port);
    CU_ASSERT_EQUAL(stage_end(stage_start("status", "-S", servers, "--connect-timeout", "0.2", "/l", NULL)),
                    69);
}

static void two_demos_at_once_judge_the_shared_counter(void)
{
    struct process *one = stage_start("demo", "--rounds", "25", "--workers", "2", "--think", "2", NULL);
    struct process *other = stage_start("demo", "--rounds", "10", "--workers", "3", "--think", "1", NULL);

    CU_ASSERT_TRUE(process_wait(one, 2 * PATIENCE_MS) && process_wait(other, 2 * PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(one), 0);
    CU_ASSERT_EQUAL(process_exit_status(other), 0);
    /* Whoever left last removed the counter. */
    CU_ASSERT_FALSE(observer_exists(stage_observer, "/zklock-demo-counter"));
}

static void demo_without_a_lock_beside_one_with_it_spoils_both(void)
{
    /* Long enough to be there still when the other one has got going on a busy machine. */
    struct process *bad = stage_start("demo", "--no-lock", "--rounds", "60", "--think", "100", NULL);
    struct process *good;

    CU_ASSERT_TRUE_FATAL(process_wait_output(bad, "progress", 2 * PATIENCE_MS));
    good = stage_start("demo", "--rounds", "10", "--workers", "2", "--think", "5", NULL);
    CU_ASSERT_TRUE(process_wait(bad, 2 * PATIENCE_MS) && process_wait(good, 2 * PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(bad), 1);
    CU_ASSERT_EQUAL(process_exit_status(good), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(good), "by other runs"));
}

static void demo_goes_on_after_a_restart_of_the_server(void)
{
    struct process *process = stage_start("demo", "--rounds", "60", "--workers", "3", "--think", "5", NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "progress  1", 2 * PATIENCE_MS));
    zk_server_restart(stage_server);
    CU_ASSERT_TRUE(process_wait(process, 4 * PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 0);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(stage_output(process), "expected 180 = 0 at the start + 180 here; found 180\n"));
}

/* The answer to a write of the counter is lost: was it written or not? The verdict knows. */
static void demo_with_a_lost_answer_counts_right(void)
{
    struct process *process;

    stage_put_proxy_between();
    process = stage_start("demo", "--rounds", "30", "--workers", "3", "--think", "5", NULL);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_TRUE(fault_proxy_wait_requests(stage_proxy, FAULT_OP_MULTI, 25, 2 * PATIENCE_MS));
        fault_proxy_reset_counts(stage_proxy);
        fault_proxy_lose_reply(stage_proxy, FAULT_OP_MULTI, 2 + i, FAULT_THEN_CUT);
    }
    CU_ASSERT_TRUE(process_wait(process, 4 * PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "found 90\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "right: no update was lost"));
}

#define ALONE_TEST(test) SUITE_TEST_WITH(test, make_scratch, clear_scratch)
#define ON_STAGE(test) SUITE_TEST_WITH(test, stage_set_up, stage_tear_down)

static const struct suite_test tests[] = {
    ALONE_TEST(server_serves_and_leaves_nothing),
    ALONE_TEST(server_keeps_its_data_in_a_given_directory),
    ALONE_TEST(server_on_a_port_in_use_says_so),
    ALONE_TEST(missing_java_or_zookeeper_is_named),
    ALONE_TEST(demo_with_a_lock_loses_nothing),
    ALONE_TEST(demo_without_a_lock_loses_updates_and_says_how_many),
    ALONE_TEST(demo_draws_on_a_terminal),
    ALONE_TEST(interrupted_demo_leaves_nothing),
    ALONE_TEST(demo_that_is_killed_takes_its_server_along),
    ON_STAGE(two_demos_at_once_judge_the_shared_counter),
    ON_STAGE(demo_without_a_lock_beside_one_with_it_spoils_both),
    ON_STAGE(demo_goes_on_after_a_restart_of_the_server),
    ON_STAGE(demo_with_a_lost_answer_counts_right),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "demo", tests);
}
