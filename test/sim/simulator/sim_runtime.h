/* The runtime of one process in virtual time: a clock with a rate of its own, and threads whose turns are events. */
#ifndef SIMULATOR_SIM_RUNTIME_H
#define SIMULATOR_SIM_RUNTIME_H

#include "base/runtime.h"
#include "wire.h"

struct sim_runtime {
    struct zkl_runtime runtime; /* the first member */
    struct host *host;
    int64_t clock_base_ns;
    int64_t rate_ppm; /* how much faster than the servers' its clock runs */
};

void runtime_init(struct sim_runtime *runtime, struct host *host, int64_t rate_ppm);
int64_t runtime_clock(const struct sim_runtime *runtime);
/* When its clock will show `clock_ns`. */
int64_t runtime_when(const struct sim_runtime *runtime, int64_t clock_ns);

#endif
