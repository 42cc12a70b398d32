#include "ensemble/trio.h"

#include "support/suite.h"
#include "support/zk_ensemble.h"

#include <stdio.h>
#include <stdlib.h>

struct trio {
    struct compose *compose;
    struct zk_ensemble *local;      /* instead */
    const char *missing;            /* why */
};

struct trio *trio_start(int tick_time_ms)
{
    const struct zk_server_options options = {.tick_time_ms = tick_time_ms};
    struct trio *trio = calloc(1, sizeof(*trio));

    if (!trio)
        suite_abandon("out of memory");
    trio->missing = compose_missing();
    if (trio->missing)
        trio->local = zk_ensemble_start(&options);
    else
        trio->compose = compose_start(tick_time_ms);
    return trio;
}

void trio_free(struct trio *trio)
{
    char reason[256];

    if (!trio)
        return;
    compose_free(trio->compose);
    zk_ensemble_free(trio->local);
    if (trio->missing) {
        snprintf(reason, sizeof(reason), "%s; three servers on this machine stood in", trio->missing);
        suite_skip(reason);
    }
    free(trio);
}

const char *trio_hosts(const struct trio *trio)
{
    return trio->compose ? compose_hosts(trio->compose) : zk_ensemble_hosts(trio->local);
}

struct compose *trio_compose(const struct trio *trio)
{
    return trio->compose;
}

void trio_server_stop(struct trio *trio, int index)
{
    if (trio->compose)
        compose_server_stop(trio->compose, index);
    else
        zk_server_stop(zk_ensemble_server(trio->local, index));
}

void trio_server_begin(struct trio *trio, int index)
{
    if (trio->compose)
        compose_server_begin(trio->compose, index);
    else
        zk_server_begin(zk_ensemble_server(trio->local, index));
}

int trio_leader(struct trio *trio)
{
    return trio->compose ? compose_leader(trio->compose) : zk_ensemble_leader(trio->local);
}

bool trio_wait_serving(struct trio *trio, int count, int timeout_ms)
{
    return trio->compose ? compose_wait_serving(trio->compose, count, timeout_ms)
                         : zk_ensemble_wait_serving(trio->local, count, timeout_ms);
}
