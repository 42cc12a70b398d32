#include "support/zk_ensemble.h"

#include "support/eventually.h"
#include "support/fault_proxy.h"
#include "support/installation.h"
#include "support/suite.h"
#include "support/zk_server_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { START_ATTEMPTS = 3, CONFIG_SIZE = 1024 };

/* Votes that got lost are sent again after so long; the default grows to a minute. */
#define QUICK_ELECTION "-Dzookeeper.fastleader.maxNotificationInterval=1000"

struct zk_ensemble {
    struct zk_server *servers[ZK_ENSEMBLE_SIZE];
    struct port quorum_ports[ZK_ENSEMBLE_SIZE];
    struct port election_ports[ZK_ENSEMBLE_SIZE];
    /* By who opens the connection and to whom; NULL without cables. */
    struct fault_proxy *quorum_cables[ZK_ENSEMBLE_SIZE][ZK_ENSEMBLE_SIZE];
    struct fault_proxy *election_cables[ZK_ENSEMBLE_SIZE][ZK_ENSEMBLE_SIZE];
    char hosts[128];
};

static struct fault_proxy *lay_cable(const struct port *target)
{
    const struct fault_proxy_options options = {.target_port = target->number, .is_raw = true};

    return fault_proxy_open(&options);
}

static void lay_cables(struct zk_ensemble *ensemble)
{
    for (int from = 0; from < ZK_ENSEMBLE_SIZE; from++) {
        for (int to = 0; to < ZK_ENSEMBLE_SIZE; to++) {
            if (from == to)
                continue;
            ensemble->quorum_cables[from][to] = lay_cable(&ensemble->quorum_ports[to]);
            ensemble->election_cables[from][to] = lay_cable(&ensemble->election_ports[to]);
        }
    }
}

static int port_of(const struct fault_proxy *cable, const struct port *port)
{
    return cable ? fault_proxy_port(cable) : port->number;
}

/* The members as this one of them reaches the others. */
static void describe_members(const struct zk_ensemble *ensemble, int viewer, char *out_config, size_t size)
{
    int length = snprintf(out_config, size, "initLimit=20\nsyncLimit=%d\n",
                          ensemble->quorum_cables[0][1] ? 8 : 4);

    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        length += snprintf(out_config + length, size - (size_t)length, "server.%d=127.0.0.1:%d:%d\n", i + 1,
                           port_of(ensemble->quorum_cables[viewer][i], &ensemble->quorum_ports[i]),
                           port_of(ensemble->election_cables[viewer][i], &ensemble->election_ports[i]));
    }
}

static void write_own_number(const struct zk_server *server, int number)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/myid", zk_server_data_directory(server));
    file = fopen(path, "we");
    if (!file)
        suite_abandon("cannot write %s", path);
    fprintf(file, "%d\n", number);
    fclose(file);
}

static struct zk_ensemble *prepare(const struct zk_server_options *options, bool has_cables)
{
    struct zk_ensemble *ensemble = calloc(1, sizeof(*ensemble));
    char members[CONFIG_SIZE];

    if (!ensemble)
        suite_abandon("out of memory");
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        ensemble->quorum_ports[i] = port_reserve();
        ensemble->election_ports[i] = port_reserve();
    }
    if (has_cables)
        lay_cables(ensemble);
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        describe_members(ensemble, i, members, sizeof(members));
        ensemble->servers[i] = server_prepare(options, members);
        write_own_number(ensemble->servers[i], i + 1);
    }
    snprintf(ensemble->hosts, sizeof(ensemble->hosts), "%s,%s,%s", zk_server_address(ensemble->servers[0]),
             zk_server_address(ensemble->servers[1]), zk_server_address(ensemble->servers[2]));
    return ensemble;
}

static bool launch(struct zk_ensemble *ensemble)
{
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++)
        server_launch(ensemble->servers[i]);
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        if (!server_wait_serving(ensemble->servers[i], SERVER_PATIENCE_MS))
            return false;
    }
    return true;
}

static struct zk_ensemble *start(const struct zk_server_options *options, bool has_cables)
{
    struct zk_server_options smaller = {0};
    const char *missing = installation_missing();

    if (missing)
        suite_skip(missing);
    if (options)
        smaller = *options;
    if (!smaller.jvm_flags)
        smaller.jvm_flags = "-Xmx160m " QUICK_ELECTION;
    for (int attempt = 1;; attempt++) {
        struct zk_ensemble *ensemble = prepare(&smaller, has_cables);

        if (launch(ensemble))
            return ensemble;
        if (attempt == START_ATTEMPTS)
            server_give_up(ensemble->servers[0], "does not start, or one of its two companions");
        zk_ensemble_free(ensemble);
    }
}

struct zk_ensemble *zk_ensemble_start(const struct zk_server_options *options)
{
    return start(options, false);
}

struct zk_ensemble *zk_ensemble_start_with_cables(const struct zk_server_options *options)
{
    return start(options, true);
}

static void free_cables(struct fault_proxy *cables[ZK_ENSEMBLE_SIZE][ZK_ENSEMBLE_SIZE])
{
    for (int from = 0; from < ZK_ENSEMBLE_SIZE; from++) {
        for (int to = 0; to < ZK_ENSEMBLE_SIZE; to++)
            fault_proxy_free(cables[from][to]);
    }
}

void zk_ensemble_free(struct zk_ensemble *ensemble)
{
    if (!ensemble)
        return;
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++)
        zk_server_free(ensemble->servers[i]);
    free_cables(ensemble->quorum_cables);
    free_cables(ensemble->election_cables);
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        port_release(&ensemble->quorum_ports[i]);
        port_release(&ensemble->election_ports[i]);
    }
    free(ensemble);
}

/* ---------------------------------------------------------------- cutting cables */

static void set_moods(struct zk_ensemble *ensemble, int from, int to, enum fault_mood mood)
{
    fault_proxy_set_mood(ensemble->quorum_cables[from][to], mood);
    fault_proxy_set_mood(ensemble->election_cables[from][to], mood);
}

/* outward: of the connections that the server has opened; inward: of those that the others have opened to it. */
static void set_moods_of(struct zk_ensemble *ensemble, int index, enum fault_mood outward, enum fault_mood inward)
{
    for (int other = 0; other < ZK_ENSEMBLE_SIZE; other++) {
        if (other == index)
            continue;
        set_moods(ensemble, index, other, outward);
        set_moods(ensemble, other, index, inward);
    }
}

void zk_ensemble_mute(struct zk_ensemble *ensemble, int index)
{
    set_moods_of(ensemble, index, FAULT_HOLE_TO_SERVER, FAULT_HOLE_TO_CLIENT);
}

void zk_ensemble_deafen(struct zk_ensemble *ensemble, int index)
{
    set_moods_of(ensemble, index, FAULT_HOLE_TO_CLIENT, FAULT_HOLE_TO_SERVER);
}

void zk_ensemble_cut(struct zk_ensemble *ensemble, int index)
{
    set_moods_of(ensemble, index, FAULT_HOLE, FAULT_HOLE);
}

void zk_ensemble_heal(struct zk_ensemble *ensemble)
{
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++)
        set_moods_of(ensemble, i, FAULT_PASS, FAULT_PASS);
}

/* ---------------------------------------------------------------- who leads */

struct zk_server *zk_ensemble_server(struct zk_ensemble *ensemble, int index)
{
    return ensemble->servers[index];
}

const char *zk_ensemble_hosts(const struct zk_ensemble *ensemble)
{
    return ensemble->hosts;
}

static bool has_mode(const struct zk_server *server, const char *mode)
{
    char answer[4096];

    return zk_server_4lw(server, "srvr", answer, sizeof(answer)) && strstr(answer, mode);
}

static int find_mode(struct zk_ensemble *ensemble, const char *mode, int except)
{
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        if (i != except && has_mode(ensemble->servers[i], mode))
            return i;
    }
    return -1;
}

int zk_ensemble_leader(struct zk_ensemble *ensemble)
{
    return find_mode(ensemble, "Mode: leader", -1);
}

int zk_ensemble_follower(struct zk_ensemble *ensemble)
{
    return find_mode(ensemble, "Mode: follower", -1);
}

struct leader_wish {
    struct zk_ensemble *ensemble;
    int except;
    int found;
};

static bool has_leader(void *context)
{
    struct leader_wish *wish = context;

    wish->found = find_mode(wish->ensemble, "Mode: leader", wish->except);
    return wish->found >= 0;
}

int zk_ensemble_wait_leader(struct zk_ensemble *ensemble, int except, int timeout_ms)
{
    struct leader_wish wish = {ensemble, except, -1};

    eventually(has_leader, &wish, timeout_ms);
    return wish.found;
}

struct serving_wish {
    struct zk_ensemble *ensemble;
    int count;
};

static bool are_serving(void *context)
{
    struct serving_wish *wish = context;
    int count = 0;

    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++)
        count += has_mode(wish->ensemble->servers[i], "Mode:");
    return count >= wish->count;
}

bool zk_ensemble_is_serving(struct zk_ensemble *ensemble, int index)
{
    return has_mode(ensemble->servers[index], "Mode:");
}

bool zk_ensemble_wait_serving(struct zk_ensemble *ensemble, int count, int timeout_ms)
{
    struct serving_wish wish = {ensemble, count};

    return eventually(are_serving, &wish, timeout_ms);
}
