#include "ensemble/compose.h"

#include "ensemble/tool.h"
#include "support/eventually.h"
#include "support/four_letter.h"
#include "support/port.h"
#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_TIMEOUT_MS = 240000, ANSWER_TIMEOUT_MS = 1000 };

struct compose {
    char project[64];
    char network[80];
    char bridge[32];
    char subnet[64];
    char container[COMPOSE_SIZE][80];
    char address[COMPOSE_SIZE][64];
    struct port port[COMPOSE_SIZE];
    char hosts[128];
    char bridge_hosts[256];
    pid_t keeper;
    int keeper_input;   /* closed: the keeper takes everything down */
};

/* -------------------------------------------------------------------------------------- what is there */

static bool has_plugin(void)
{
    return tool_works("docker", "compose", "version");
}

const char *compose_missing(void)
{
    if (!tool_works("docker", "--version"))
        return "no docker command";
    if (!tool_works("docker", "info"))
        return "no Docker daemon answers, or it may not be used";
    if (!tool_works("docker-compose", "version") && !has_plugin())
        return "neither docker-compose nor the compose plugin";
    if (!tool_works("docker", "image", "inspect", "zklock-server"))
        return "no image zklock-server (the test ensemble.image makes it)";
    return NULL;
}

/* --------------------------------------------------------------------------------------------- keeper */

/* Waits for the end of the test program or of the ensemble, whichever comes first, and removes what bears the
 * project's name. It needs no tool but docker, and nothing of the test program's memory. */
static const char keeper_script[] =
    "read -r nothing\n"
    "label=label=com.docker.compose.project=$1\n"
    "for container in $(docker ps -aq --filter $label); do docker rm -f -v $container; done\n"
    "for network in $(docker network ls -q --filter $label); do docker network rm $network; done\n";

static _Noreturn void become_keeper(const struct compose *compose, int input)
{
    int nothing = open("/dev/null", O_WRONLY);

    /* A Ctrl-C is for the test program. */
    setsid();
    dup2(input, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    execlp("sh", "sh", "-c", keeper_script, "compose-keeper", compose->project, (char *)NULL);
    _exit(127);
}

static void start_keeper(struct compose *compose)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        suite_abandon("no pipe: %s", strerror(errno));
    compose->keeper = fork();
    if (compose->keeper < 0)
        suite_abandon("no process: %s", strerror(errno));
    if (compose->keeper == 0)
        become_keeper(compose, ends[0]);
    close(ends[0]);
    compose->keeper_input = ends[1];
}

static void stop_keeper(struct compose *compose)
{
    close(compose->keeper_input);
    while (waitpid(compose->keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* -------------------------------------------------------------------------------------- start and end */

/* docker/compose.yaml reads its variables from the environment. */
static void set_up_environment(struct compose *compose, int tick_time_ms)
{
    char name[32], value[32];

    for (int i = 0; i < COMPOSE_SIZE; i++) {
        compose->port[i] = port_reserve();
        snprintf(name, sizeof(name), "ZKLOCK_PORT_%d", i + 1);
        snprintf(value, sizeof(value), "%d", compose->port[i].number);
        setenv(name, value, 1);
    }
    snprintf(value, sizeof(value), "%d", tick_time_ms);
    setenv("ZOO_TICK_TIME", value, 1);
    /* Servers of a busy machine take long to hear of each other at first. */
    setenv("ZOO_INIT_LIMIT", "60", 1);
    /* Tests ask the servers themselves; a process in every container every few seconds is a load of its own. */
    setenv("ZKLOCK_HEALTH_INTERVAL", "1h", 1);
}

static void bring_up(const struct compose *compose)
{
    static const char file[] = ZKLOCK_SOURCE_DIR "/docker/compose.yaml";

    if (has_plugin())
        tool_must("docker", "compose", "-p", compose->project, "-f", file, "up", "-d");
    else
        tool_must("docker-compose", "--ansi", "never", "-p", compose->project, "-f", file, "up", "-d");
}

static void learn_network(struct compose *compose)
{
    char id[80];

    snprintf(compose->network, sizeof(compose->network), "%s_default", compose->project);
    tool_ask(id, sizeof(id), "docker", "network", "inspect", "-f", "{{.Id}}", compose->network);
    /* Docker's own rule for the name. */
    snprintf(compose->bridge, sizeof(compose->bridge), "br-%.12s", id);
    tool_ask(compose->subnet, sizeof(compose->subnet), "docker", "network", "inspect", "-f",
             "{{(index .IPAM.Config 0).Subnet}}", compose->network);
}

static void learn_server(struct compose *compose, int index)
{
    char project[128], service[64];

    snprintf(project, sizeof(project), "label=com.docker.compose.project=%s", compose->project);
    snprintf(service, sizeof(service), "label=com.docker.compose.service=zk%d", index + 1);
    tool_ask(compose->container[index], sizeof(compose->container[index]), "docker", "ps", "-q", "--no-trunc",
             "--filter", project, "--filter", service);
    tool_ask(compose->address[index], sizeof(compose->address[index]), "docker", "inspect", "-f",
             "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", compose->container[index]);
}

static void learn_all(struct compose *compose)
{
    learn_network(compose);
    for (int i = 0; i < COMPOSE_SIZE; i++)
        learn_server(compose, i);
    snprintf(compose->hosts, sizeof(compose->hosts), "127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             compose->port[0].number, compose->port[1].number, compose->port[2].number);
    snprintf(compose->bridge_hosts, sizeof(compose->bridge_hosts), "%s:2181,%s:2181,%s:2181",
             compose->address[0], compose->address[1], compose->address[2]);
}

struct compose *compose_start(int tick_time_ms)
{
    struct compose *compose = calloc(1, sizeof(*compose));

    if (!compose)
        suite_abandon("out of memory");
    set_up_environment(compose, tick_time_ms);
    snprintf(compose->project, sizeof(compose->project), "zklocktest%d", compose->port[0].number);
    start_keeper(compose);
    bring_up(compose);
    learn_all(compose);
    if (!compose_wait_serving(compose, COMPOSE_SIZE, START_TIMEOUT_MS))
        suite_abandon("the three containers of %s form no ensemble within %d ms", compose->project, START_TIMEOUT_MS);
    return compose;
}

void compose_free(struct compose *compose)
{
    if (!compose)
        return;
    stop_keeper(compose);
    for (int i = 0; i < COMPOSE_SIZE; i++)
        port_release(&compose->port[i]);
    free(compose);
}

const char *compose_hosts(const struct compose *compose)
{
    return compose->hosts;
}

const char *compose_bridge_hosts(const struct compose *compose)
{
    return compose->bridge_hosts;
}

const char *compose_address(const struct compose *compose, int index)
{
    return compose->address[index];
}

const char *compose_bridge(const struct compose *compose)
{
    return compose->bridge;
}

const char *compose_subnet(const struct compose *compose)
{
    return compose->subnet;
}

/* ------------------------------------------------------------------------------------- what is done to one */

bool compose_server_is_healthy(const struct compose *compose, int index)
{
    return tool_works("docker", "exec", compose->container[index], "zookeeper-health");
}

void compose_server_stop(struct compose *compose, int index)
{
    tool_must("docker", "stop", "-t", "5", compose->container[index]);
}

void compose_server_kill(struct compose *compose, int index)
{
    tool_must("docker", "kill", compose->container[index]);
}

/* Docker gives a server the lowest free address again, which is its own while the others are up. */
static void require_old_address(const struct compose *compose, int index)
{
    char address[64];

    tool_ask(address, sizeof(address), "docker", "inspect", "-f",
             "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", compose->container[index]);
    if (strcmp(address, compose->address[index]) != 0)
        suite_abandon("zk%d came back as %s, it was %s", index + 1, address, compose->address[index]);
}

void compose_server_begin(struct compose *compose, int index)
{
    tool_must("docker", "start", compose->container[index]);
    require_old_address(compose, index);
}

void compose_server_pause(struct compose *compose, int index)
{
    tool_must("docker", "pause", compose->container[index]);
}

void compose_server_resume(struct compose *compose, int index)
{
    tool_must("docker", "unpause", compose->container[index]);
}

void compose_server_disconnect(struct compose *compose, int index)
{
    tool_must("docker", "network", "disconnect", compose->network, compose->container[index]);
}

void compose_server_reconnect(struct compose *compose, int index)
{
    char alias[16];

    snprintf(alias, sizeof(alias), "zk%d", index + 1);
    tool_must("docker", "network", "connect", "--alias", alias, compose->network, compose->container[index]);
    require_old_address(compose, index);
}

/* Runs iptables in the server's network stack. */
#define filter_packets(pid, ...) tool_must("nsenter", "--target", pid, "--net", "--", "iptables", __VA_ARGS__)

static void ask_process(const struct compose *compose, int index, char *out_pid, size_t size)
{
    tool_ask(out_pid, size, "docker", "inspect", "-f", "{{.State.Pid}}", compose->container[index]);
}

void compose_server_cut(struct compose *compose, int index)
{
    char pid[16];

    ask_process(compose, index, pid, sizeof(pid));
    for (int other = 0; other < COMPOSE_SIZE; other++) {
        if (other == index)
            continue;
        filter_packets(pid, "-A", "INPUT", "--source", compose->address[other], "-j", "DROP");
        filter_packets(pid, "-A", "OUTPUT", "--destination", compose->address[other], "-j", "DROP");
    }
}

void compose_server_heal(struct compose *compose, int index)
{
    char pid[16];

    ask_process(compose, index, pid, sizeof(pid));
    filter_packets(pid, "-F");
}

/* --------------------------------------------------------------------------------------------- who leads */

enum role { ROLE_NONE, ROLE_FOLLOWER, ROLE_LEADER };

static enum role role_of(const struct compose *compose, int index)
{
    char text[4096];

    if (!four_letter_ask(compose->port[index].number, "srvr", ANSWER_TIMEOUT_MS, text, sizeof(text)))
        return ROLE_NONE;
    if (strstr(text, "Mode: leader"))
        return ROLE_LEADER;
    return strstr(text, "Mode: follower") ? ROLE_FOLLOWER : ROLE_NONE;
}

int compose_leader(struct compose *compose)
{
    for (int i = 0; i < COMPOSE_SIZE; i++) {
        if (role_of(compose, i) == ROLE_LEADER)
            return i;
    }
    return -1;
}

struct expectation {
    struct compose *compose;
    int count;
    int except;
    int leader;
};

static bool is_serving(void *context)
{
    struct expectation *wanted = context;
    int serving = 0, leading = 0;

    for (int i = 0; i < COMPOSE_SIZE; i++) {
        enum role role = role_of(wanted->compose, i);

        serving += role != ROLE_NONE;
        leading += role == ROLE_LEADER;
    }
    return serving >= wanted->count && leading == 1;
}

static bool is_led_by_another(void *context)
{
    struct expectation *wanted = context;

    wanted->leader = compose_leader(wanted->compose);
    return wanted->leader >= 0 && wanted->leader != wanted->except;
}

bool compose_wait_serving(struct compose *compose, int count, int timeout_ms)
{
    struct expectation wanted = {.compose = compose, .count = count};

    return eventually(is_serving, &wanted, timeout_ms);
}

int compose_wait_leader(struct compose *compose, int except, int timeout_ms)
{
    struct expectation wanted = {.compose = compose, .except = except, .leader = -1};

    return eventually(is_led_by_another, &wanted, timeout_ms) ? wanted.leader : -1;
}
