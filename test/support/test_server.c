/* The server fixture itself. */
#include "support/eventually.h"
#include "support/suite.h"
#include "support/zk_server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct zk_server *server;

static void start_server(void)
{
    server = zk_server_start(NULL);
}

static void free_server(void)
{
    zk_server_free(server);
    server = NULL;
}

static bool answers(void)
{
    char text[4096];

    return zk_server_4lw(server, "srvr", text, sizeof(text)) && strstr(text, "Mode: standalone");
}

static void server_answers_after_each_kind_of_restart(void)
{
    CU_ASSERT_TRUE(answers());
    zk_server_restart(server);
    CU_ASSERT_TRUE(answers());
    zk_server_kill(server);
    CU_ASSERT_FALSE(answers());
    zk_server_restart(server);
    CU_ASSERT_TRUE(answers());
}

static void paused_server_is_silent_until_resumed(void)
{
    zk_server_pause(server);
    CU_ASSERT_FALSE(answers());
    zk_server_resume(server);
    CU_ASSERT_TRUE(answers());
}

static void options_reach_the_server(void)
{
    const struct zk_server_options options = {
        .tick_time_ms = 300, .min_session_timeout_ms = 700, .max_session_timeout_ms = 9000,
        .max_client_connections = 7, .extra_config = "autopurge.purgeInterval=0"};
    char text[4096];

    server = zk_server_start(&options);
    CU_ASSERT_TRUE_FATAL(zk_server_4lw(server, "conf", text, sizeof(text)));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "tickTime=300\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "minSessionTimeout=700\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "maxSessionTimeout=9000\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "maxClientCnxns=7\n"));
}

static void freed_server_leaves_nothing(void)
{
    char *directory = strdup(zk_server_directory(server));
    pid_t pid = zk_server_pid(server);

    CU_ASSERT_EQUAL(access(directory, F_OK), 0);
    free_server();
    CU_ASSERT_NOT_EQUAL(access(directory, F_OK), 0);
    CU_ASSERT_NOT_EQUAL(kill(pid, 0), 0);
    free(directory);
}

/* What a dying test program leaves behind, told over a pipe before it dies. */
struct estate {
    pid_t server;
    char directory[4096];
};

static bool is_gone(void *context)
{
    struct estate *estate = context;

    return kill(estate->server, 0) != 0 && access(estate->directory, F_OK) != 0;
}

static void start_and_die(int output)
{
    struct estate estate = {0};

    start_server();
    estate.server = zk_server_pid(server);
    snprintf(estate.directory, sizeof(estate.directory), "%s", zk_server_directory(server));
    if (write(output, &estate, sizeof(estate)) != (ssize_t)sizeof(estate))
        _exit(1);
    raise(SIGKILL);
}

static void server_dies_with_the_test_program(void)
{
    struct estate estate = {0};
    int ends[2];
    pid_t program;

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    program = fork();
    if (program == 0)
        start_and_die(ends[1]);
    close(ends[1]);
    CU_ASSERT_EQUAL_FATAL(read(ends[0], &estate, sizeof(estate)), (ssize_t)sizeof(estate));
    close(ends[0]);
    waitpid(program, NULL, 0);
    CU_ASSERT_TRUE(eventually(is_gone, &estate, 20000));
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(server_answers_after_each_kind_of_restart, start_server, free_server),
    SUITE_TEST_WITH(paused_server_is_silent_until_resumed, start_server, free_server),
    SUITE_TEST_WITH(options_reach_the_server, NULL, free_server),
    SUITE_TEST_WITH(freed_server_leaves_nothing, start_server, free_server),
    SUITE_TEST(server_dies_with_the_test_program),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "server", tests);
}
