/* Long lives of a lease, on virtual time. */
#include "recipe/lease.h"

#include <stdio.h>

#include "support/suite.h"

#define MS INT64_C(1000000)

static struct zkl_lease lease;

struct life {
    int64_t timeout_ms;
    int64_t tick_ms; /* 0: unknown */
    int64_t round_trip_ns;
    int64_t length_ns;
    bool is_idle;
};

static int64_t beats, writes; /* of the latest life */

/* The least that was left in a healthy session's life, from its first connection on. */
static int64_t least_remaining(const struct life *life)
{
    int64_t least_ns = INT64_MAX;
    int64_t start_ns = 1000 * MS;
    int64_t sent_ns = start_ns + life->round_trip_ns;

    beats = writes = 0;
    zkl_lease_open(&lease, ZKL_RULE_STRICT, life->tick_ms * MS, start_ns);
    zkl_lease_connected(&lease, sent_ns, life->timeout_ms * MS);
    while (sent_ns < start_ns + life->length_ns) {
        int64_t answered_ns = sent_ns + life->round_trip_ns;
        int64_t left_ns = zkl_lease_remaining(&lease, answered_ns);
        enum zkl_beat_kind kind = zkl_lease_next_beat(&lease, !life->is_idle, sent_ns);
        beats++;
        writes += kind == ZKL_BEAT_WRITE;
        if (left_ns < least_ns)
            least_ns = left_ns;
        zkl_lease_answered(&lease, sent_ns, answered_ns, true);
        zkl_lease_beat(&lease, kind, sent_ns, answered_ns);
        int64_t interval_ns = zkl_lease_interval(&lease, !life->is_idle, zkl_lease_check(&lease, answered_ns));
        sent_ns += interval_ns > life->round_trip_ns ? interval_ns : life->round_trip_ns;
    }
    return least_ns;
}

static void expect_enough(const struct life *life)
{
    int64_t least_ns = least_remaining(life);
    bool is_enough = least_ns >= life->timeout_ms * MS / 20 * (life->is_idle ? 2 : 8);

    if (!is_enough)
        printf("\n  T %d ms, tick %d ms, round trip %d us: %d ms left\n", (int)life->timeout_ms,
               (int)life->tick_ms, (int)(life->round_trip_ns / 1000), (int)(least_ns / MS));
    CU_ASSERT_TRUE_FATAL(is_enough);
}

/* Four lag times and a few timeouts: what comes later repeats itself. */
static void expect_steady_state(int64_t timeout_ms, int64_t tick_ms, bool is_idle)
{
    for (int part = 0; part <= 4; part++) {
        struct life life = {timeout_ms, tick_ms, timeout_ms * MS / 400 * part, timeout_ms * MS * 4, is_idle};
        expect_enough(&life);
    }
}

static void expect_every_timeout_and_tick(bool is_idle)
{
    for (int64_t timeout_ms = 1000; timeout_ms <= 60000; timeout_ms += timeout_ms < 5000 ? 7 : 97) {
        expect_steady_state(timeout_ms, 0, is_idle);
        for (int64_t tick_ms = 100; tick_ms <= timeout_ms / 2; tick_ms += timeout_ms / 13)
            expect_steady_state(timeout_ms, tick_ms, is_idle);
        expect_steady_state(timeout_ms, timeout_ms / 2, is_idle);
    }
}

static void two_fifths_are_always_left_for_every_timeout_and_tick(void)
{
    expect_every_timeout_and_tick(false);
}

static void idle_session_keeps_its_lease_for_every_timeout_and_tick(void)
{
    expect_every_timeout_and_tick(true);
}

static void a_third_of_a_healthy_session_s_heartbeats_are_writes(void)
{
    for (int64_t timeout_ms = 4000; timeout_ms <= 60000; timeout_ms += 1000) {
        for (int kind = 0; kind < 4; kind++) {
            struct life life = {timeout_ms, kind & 1 ? 0 : timeout_ms / 5, timeout_ms * MS / 250,
                                timeout_ms * MS * 100, kind & 2};
            least_remaining(&life);
            CU_ASSERT_TRUE_FATAL(writes <= beats / 3 + 2);
        }
    }
}

static void healthy_hour_never_has_less_than_two_fifths_left(void)
{
    static const int64_t timeout_ms[] = {1000, 4000, 10000, 30000, 60000};

    for (size_t i = 0; i < sizeof timeout_ms / sizeof timeout_ms[0]; i++) {
        struct life life = {timeout_ms[i], 0, timeout_ms[i] * MS / 250, INT64_C(3600000) * MS, false};
        expect_enough(&life);
        life.tick_ms = timeout_ms[i] / 5;
        expect_enough(&life);
    }
}

/* The beats of the lag time fit their array, however short the way to the server is. */
static void lease_is_earned_again_for_every_timeout_and_tick(void)
{
    for (int64_t timeout_ms = 1000; timeout_ms <= 60000; timeout_ms += 500) {
        for (int64_t tick_ms = 0; tick_ms <= timeout_ms / 2; tick_ms += timeout_ms / 8) {
            int64_t now_ns = timeout_ms * MS;
            int64_t limit_ns = now_ns + 4 * timeout_ms * MS + 4000 * MS;

            zkl_lease_open(&lease, ZKL_RULE_STRICT, tick_ms * MS, 0);
            zkl_lease_connected(&lease, MS, timeout_ms * MS);
            CU_ASSERT_FALSE_FATAL(zkl_lease_check(&lease, now_ns));
            while (!zkl_lease_check(&lease, now_ns) && now_ns < limit_ns) {
                zkl_lease_answered(&lease, now_ns, now_ns + MS, true);
                zkl_lease_beat(&lease, ZKL_BEAT_WRITE, now_ns, now_ns + MS);
                now_ns += zkl_lease_interval(&lease, true, false);
            }
            CU_ASSERT_TRUE_FATAL(now_ns < limit_ns);
        }
    }
}

static const struct suite_test tests[] = {
    SUITE_TEST(two_fifths_are_always_left_for_every_timeout_and_tick),
    SUITE_TEST(healthy_hour_never_has_less_than_two_fifths_left),
    SUITE_TEST(idle_session_keeps_its_lease_for_every_timeout_and_tick),
    SUITE_TEST(a_third_of_a_healthy_session_s_heartbeats_are_writes),
    SUITE_TEST(lease_is_earned_again_for_every_timeout_and_tick),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lease_life", tests);
}
