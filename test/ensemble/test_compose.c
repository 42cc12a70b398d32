/* The ensemble in containers and the hosts beside it, as fixtures. */
#include "ensemble/compose.h"
#include "ensemble/host.h"
#include "ensemble/tool.h"
#include "support/eventually.h"
#include "support/suite.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 500, ELECTION_MS = 30000, REMOVAL_MS = 30000 };

static struct compose *compose;

static void require_containers(void)
{
    const char *missing = compose_missing();

    if (missing)
        suite_skip(missing);
}

static void start_ensemble(void)
{
    require_containers();
    compose = compose_start(TICK_MS);
}

static void free_ensemble(void)
{
    compose_free(compose);
    compose = NULL;
}

static int follower(void)
{
    return (compose_leader(compose) + 1) % COMPOSE_SIZE;
}

static void another_leads_while_the_leader_is_away(void)
{
    int leader = compose_leader(compose);

    compose_server_stop(compose, leader);
    CU_ASSERT_TRUE(compose_wait_leader(compose, leader, ELECTION_MS) >= 0);
    compose_server_begin(compose, leader);
    CU_ASSERT_TRUE(compose_wait_serving(compose, COMPOSE_SIZE, ELECTION_MS));
}

static bool is_unhealthy(void *index)
{
    return !compose_server_is_healthy(compose, *(int *)index);
}

static void server_without_a_quorum_is_not_healthy(void)
{
    int leader = compose_leader(compose);

    for (int i = 0; i < COMPOSE_SIZE; i++)
        CU_ASSERT_TRUE(compose_server_is_healthy(compose, i));
    for (int i = 0; i < COMPOSE_SIZE; i++) {
        if (i != leader)
            compose_server_kill(compose, i);
    }
    CU_ASSERT_TRUE(eventually(is_unhealthy, &leader, ELECTION_MS));
}

static void killed_and_paused_servers_come_back(void)
{
    int server = follower();

    compose_server_kill(compose, server);
    compose_server_begin(compose, server);
    CU_ASSERT_TRUE(compose_wait_serving(compose, COMPOSE_SIZE, ELECTION_MS));
    compose_server_pause(compose, server);
    CU_ASSERT_FALSE(compose_wait_serving(compose, COMPOSE_SIZE, 0));
    compose_server_resume(compose, server);
    CU_ASSERT_TRUE(compose_wait_serving(compose, COMPOSE_SIZE, ELECTION_MS));
}

static void disconnected_server_keeps_its_address(void)
{
    int server = follower();

    compose_server_disconnect(compose, server);
    CU_ASSERT_FALSE(compose_wait_serving(compose, COMPOSE_SIZE, 0));
    compose_server_reconnect(compose, server);
    CU_ASSERT_TRUE(compose_wait_serving(compose, COMPOSE_SIZE, ELECTION_MS));
}

/* Asks the first server for its role over the bridge, from a host of its own. */
static bool host_reaches(const struct host *host)
{
    char script[512], answer[64];
    int length = (int)strcspn(compose_bridge_hosts(compose), ":");

    snprintf(script, sizeof(script),
             "exec 3<>/dev/tcp/%.*s/2181 && printf srvr >&3 && grep Mode <&3", length, compose_bridge_hosts(compose));
    return tool_run((const char *const[]){"nsenter", host_entry(host), "--", "timeout", "2", "bash", "-c", script, NULL},
                    answer, sizeof(answer));
}

static void host_reaches_the_servers_unless_cut_off(void)
{
    const char *missing = host_missing();
    struct host *host;

    if (missing)
        suite_skip(missing);
    host = host_start(compose, 1);
    CU_ASSERT_TRUE(host_reaches(host));
    host_cut(host);
    CU_ASSERT_FALSE(host_reaches(host));
    host_heal(host);
    CU_ASSERT_TRUE(host_reaches(host));
    host_free(host);
}

static bool is_bridge_gone(void *context)
{
    return !tool_works("ip", "link", "show", "dev", (const char *)context);
}

static void dead_program_leaves_no_ensemble(void)
{
    char bridge[32] = "";
    int ends[2];
    pid_t program;

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    program = fork();
    if (program == 0) {
        start_ensemble();
        if (write(ends[1], compose_bridge(compose), strlen(compose_bridge(compose))) > 0)
            raise(SIGKILL);
        _exit(1);
    }
    close(ends[1]);
    CU_ASSERT_TRUE(read(ends[0], bridge, sizeof(bridge) - 1) > 0);
    close(ends[0]);
    waitpid(program, NULL, 0);
    CU_ASSERT_TRUE(eventually(is_bridge_gone, bridge, REMOVAL_MS));
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(another_leads_while_the_leader_is_away, start_ensemble, free_ensemble),
    SUITE_TEST_WITH(server_without_a_quorum_is_not_healthy, start_ensemble, free_ensemble),
    SUITE_TEST_WITH(killed_and_paused_servers_come_back, start_ensemble, free_ensemble),
    SUITE_TEST_WITH(disconnected_server_keeps_its_address, start_ensemble, free_ensemble),
    SUITE_TEST_WITH(host_reaches_the_servers_unless_cut_off, start_ensemble, free_ensemble),
    SUITE_TEST_WITH(dead_program_leaves_no_ensemble, require_containers, NULL),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "compose", tests);
}
