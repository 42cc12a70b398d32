#include "support/zk_ensemble.h"

#include "support/eventually.h"
#include "support/installation.h"
#include "support/suite.h"
#include "support/zk_server_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { START_ATTEMPTS = 3, CONFIG_SIZE = 1024 };

struct zk_ensemble {
    struct zk_server *servers[ZK_ENSEMBLE_SIZE];
    struct port quorum_ports[ZK_ENSEMBLE_SIZE];
    struct port election_ports[ZK_ENSEMBLE_SIZE];
    char hosts[128];
};

static void describe_members(const struct zk_ensemble *ensemble, char *out_config, size_t size)
{
    int length = snprintf(out_config, size, "initLimit=10\nsyncLimit=4\n");

    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        length += snprintf(out_config + length, size - (size_t)length, "server.%d=127.0.0.1:%d:%d\n", i + 1,
                           ensemble->quorum_ports[i].number, ensemble->election_ports[i].number);
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

static struct zk_ensemble *prepare(const struct zk_server_options *options)
{
    struct zk_ensemble *ensemble = calloc(1, sizeof(*ensemble));
    char members[CONFIG_SIZE];

    if (!ensemble)
        suite_abandon("out of memory");
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        ensemble->quorum_ports[i] = port_reserve();
        ensemble->election_ports[i] = port_reserve();
    }
    describe_members(ensemble, members, sizeof(members));
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
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

struct zk_ensemble *zk_ensemble_start(const struct zk_server_options *options)
{
    struct zk_server_options smaller = {0};
    const char *missing = installation_missing();

    if (missing)
        suite_skip(missing);
    if (options)
        smaller = *options;
    if (!smaller.jvm_flags)
        smaller.jvm_flags = "-Xmx160m";
    for (int attempt = 1;; attempt++) {
        struct zk_ensemble *ensemble = prepare(&smaller);

        if (launch(ensemble))
            return ensemble;
        if (attempt == START_ATTEMPTS)
            server_give_up(ensemble->servers[0], "does not start, or one of its two companions");
        zk_ensemble_free(ensemble);
    }
}

void zk_ensemble_free(struct zk_ensemble *ensemble)
{
    if (!ensemble)
        return;
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        zk_server_free(ensemble->servers[i]);
        port_release(&ensemble->quorum_ports[i]);
        port_release(&ensemble->election_ports[i]);
    }
    free(ensemble);
}

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

bool zk_ensemble_wait_serving(struct zk_ensemble *ensemble, int count, int timeout_ms)
{
    struct serving_wish wish = {ensemble, count};

    return eventually(are_serving, &wish, timeout_ms);
}
