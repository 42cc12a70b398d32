/* The lease of a healthy session, watched for a while: it never falls below two fifths of the session timeout. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"
#include "support/zk_ensemble.h"

#include <stdio.h>
#include <unistd.h>

#ifndef WATCHED_SECONDS
#define WATCHED_SECONDS 20
#endif

enum { KNOWN_TIMEOUT_MS = 10000, UNKNOWN_TIMEOUT_MS = 20000, SAMPLE_US = 20000, MOST_LEASES = 8, STANDSTILL_MS = 300 };

static struct zk_ensemble *ensemble;

/* One holder whose lease is watched. */
static struct {
    struct contender *contender;
    int64_t timeout_ms;
    int64_t least_ms;
} leases[MOST_LEASES];
static int lease_count;

static void add_lease(const char *servers, zklock_lease rule, unsigned timeout_ms, unsigned tick_time_ms)
{
    zklock_session_options options;
    char path[64];

    zklock_session_options_init(&options);
    options.servers = servers;
    options.session_timeout_ms = timeout_ms;
    options.tick_time_ms = tick_time_ms;
    options.lease = rule;
    snprintf(path, sizeof(path), "/stage/lease-%d", lease_count);
    leases[lease_count].contender = contender_new(stage_begin_with(&options), path);
    leases[lease_count].timeout_ms = timeout_ms;
    leases[lease_count].least_ms = timeout_ms;
    contender_hold(leases[lease_count++].contender);
}

/* A sampler that was kept waiting itself has seen the machine stand still, which says nothing about the lease. */
static void watch_leases(void)
{
    int64_t end_ms = monotonic_ms() + WATCHED_SECONDS * INT64_C(1000);
    int64_t before_ms = monotonic_ms();
    int standstills = 0;

    while (monotonic_ms() < end_ms) {
        for (int i = 0; i < lease_count; i++) {
            int64_t remaining_ms = zklock_remaining_ms(leases[i].contender->lock);
            if (monotonic_ms() - before_ms < STANDSTILL_MS && remaining_ms < leases[i].least_ms)
                leases[i].least_ms = remaining_ms;
        }
        standstills += monotonic_ms() - before_ms >= STANDSTILL_MS;
        before_ms = monotonic_ms();
        usleep(SAMPLE_US);
    }
    if (standstills > 0)
        printf(" [the machine stood still %d times] ", standstills);
}

static void check_leases(void)
{
    for (int i = 0; i < lease_count; i++) {
        printf(" [%.2f T] ", (double)leases[i].least_ms / (double)leases[i].timeout_ms);
        CU_ASSERT_TRUE(leases[i].least_ms * 10 >= leases[i].timeout_ms * 4);
        CU_ASSERT_FALSE(contender_heard(leases[i].contender, ZKLOCK_EVENT_SUSPENDED));
        CU_ASSERT_FALSE(contender_heard(leases[i].contender, ZKLOCK_EVENT_LOST));
    }
}

static void end(void)
{
    stage_end();
    zk_ensemble_free(ensemble);
    ensemble = NULL;
    lease_count = 0;
}

static void lease_on_one_server_stays_above_two_fifths(void)
{
    const char *address = zk_server_address(stage.server);

    add_lease(address, ZKLOCK_LEASE_STRICT, KNOWN_TIMEOUT_MS, STAGE_TICK_MS);
    add_lease(address, ZKLOCK_LEASE_STRICT, UNKNOWN_TIMEOUT_MS, 0);
    add_lease(address, ZKLOCK_LEASE_STANDALONE, KNOWN_TIMEOUT_MS, 0);
    watch_leases();
    check_leases();
}

static void start_three(void)
{
    ensemble = zk_ensemble_start(NULL);
}

static void lease_on_three_servers_stays_above_two_fifths(void)
{
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        const char *address = zk_server_address(zk_ensemble_server(ensemble, i));

        add_lease(address, ZKLOCK_LEASE_STRICT, KNOWN_TIMEOUT_MS, STAGE_TICK_MS);
        add_lease(address, ZKLOCK_LEASE_STRICT, UNKNOWN_TIMEOUT_MS, 0);
    }
    watch_leases();
    check_leases();
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(lease_on_one_server_stays_above_two_fifths, stage_start_without_session, end),
    SUITE_TEST_WITH(lease_on_three_servers_stays_above_two_fifths, start_three, end),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lease_live", tests);
}
