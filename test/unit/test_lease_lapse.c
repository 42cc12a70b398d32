/* The end of a lease, and how another is earned. */
#include "lease_story.h"

static void old_end_stands_while_disconnected(void)
{
    begin();
    zkl_lease_disconnected(&lease, 2000 * MS);
    CU_ASSERT_TRUE(zkl_lease_check(&lease, 5000 * MS));
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 11000 * MS));
}

static void answer_that_comes_after_the_end_revives_nothing(void)
{
    begin();
    beat_at(2000);
    beat_at(4000);
    answer(6000, 1000 + SAFE_MS, true);
    zkl_lease_beat(&lease, ZKL_BEAT_WRITE, 6000 * MS, (1000 + SAFE_MS) * MS);
    CU_ASSERT_EQUAL(until_ms(), 0);
    CU_ASSERT_FALSE(zkl_lease_check(&lease, (1000 + SAFE_MS) * MS));
}

static void reconnect_after_the_end_revives_nothing(void)
{
    begin();
    beat_at(10000);
    zkl_lease_disconnected(&lease, 10500 * MS);
    connect_at(11000);
    write_at(11100);
    CU_ASSERT_EQUAL(until_ms(), 0);
    CU_ASSERT_NOT_EQUAL(lease.lapsed_ns, 0);
}

/* The clock says that the lease is over before anybody looked at it. */
static void end_between_two_connections_is_a_lapse(void)
{
    begin();
    zkl_lease_disconnected(&lease, 10500 * MS);
    connect_at(10899);
    CU_ASSERT_TRUE(zkl_lease_check(&lease, 10899 * MS));
    write_at(10898);
    CU_ASSERT_EQUAL(until_ms(), 0);
}

/* A lapsed lease, and the beat that completes the first three since: the time from which a proof counts. */
static int64_t promise(void)
{
    begin();
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 20000 * MS));
    beat_at(20100);
    beat_at(22000);
    beat_at(22100);
    CU_ASSERT_EQUAL(lease.promised_ns, (20100 + SAFE_MS) * MS);
    return 22100 + ROUND_TRIP_MS + 2 * TICK_MS;
}

/* A condemned session goes on answering for a while. */
static void after_a_lapse_a_write_two_ticks_later_proves_what_the_three_promise(void)
{
    int64_t proof_ms = promise();

    write_at(proof_ms - 1);
    CU_ASSERT_EQUAL(until_ms(), 0);
    write_at(proof_ms);
    CU_ASSERT_EQUAL(until_ms(), 20100 + SAFE_MS);
    CU_ASSERT_TRUE(zkl_lease_check(&lease, (20100 + SAFE_MS) * MS - 1));
    CU_ASSERT_EQUAL(lease.lapsed_ns, 0);
}

static void promise_is_kept_up_until_it_is_proved(void)
{
    int64_t proof_ms = promise();

    beat_at(24000);
    beat_at(25000);
    CU_ASSERT_EQUAL(lease.promised_ns, (22100 + SAFE_MS) * MS);
    CU_ASSERT_EQUAL(lease.proof_from_ns, proof_ms * MS);
    write_at(proof_ms);
    CU_ASSERT_TRUE(until_ms() >= 22100 + SAFE_MS);
}

static void promise_that_has_run_out_proves_nothing(void)
{
    promise();
    write_at(20100 + SAFE_MS - ROUND_TRIP_MS);
    CU_ASSERT_EQUAL(until_ms(), 0);
    write_at(40000);
    CU_ASSERT_EQUAL(until_ms(), 0);
}

static void write_that_was_sent_before_the_lapse_promises_nothing(void)
{
    begin();
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 20000 * MS));
    beat_at(19999);
    beat_at(22000);
    beat_at(22100);
    CU_ASSERT_EQUAL(lease.promised_ns, 0);
}

static void proof_waits_for_a_second_at_least(void)
{
    zkl_lease_open(&lease, ZKL_RULE_STRICT, 100 * MS, 1000 * MS);
    connect_at(1020);
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 20000 * MS));
    beat_at(20000);
    beat_at(20200);
    beat_at(20210);
    CU_ASSERT_EQUAL(lease.proof_from_ns, (20210 + ROUND_TRIP_MS + 1000) * MS);
}

static void disconnection_after_a_lapse_leaves_the_promise_as_it_is(void)
{
    int64_t proof_ms = promise();

    zkl_lease_disconnected(&lease, 22200 * MS);
    connect_at(22300);
    write_at(proof_ms);
    CU_ASSERT_EQUAL(until_ms(), 20100 + SAFE_MS);
}

static void another_timeout_after_a_lapse_ends_the_promise(void)
{
    int64_t proof_ms = promise();

    zkl_lease_disconnected(&lease, 22200 * MS);
    zkl_lease_connected(&lease, 22300 * MS, T_MS / 2 * MS);
    write_at(proof_ms);
    CU_ASSERT_EQUAL(until_ms(), 0);
}

static void lease_that_was_earned_again_counts_reconnects_again(void)
{
    int64_t proof_ms = promise();

    write_at(proof_ms);
    zkl_lease_disconnected(&lease, (proof_ms + 100) * MS);
    connect_at(proof_ms + 200);
    write_at(proof_ms + 300);
    CU_ASSERT_EQUAL(until_ms(), proof_ms + SAFE_MS);
}

/* There the reconnect itself counts for nothing that could hide them. */
static void heartbeats_from_before_a_reconnect_do_not_count_after_a_lapse(void)
{
    begin();
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 20000 * MS));
    write_at(20000);
    beat_at(24100);
    zkl_lease_disconnected(&lease, 24200 * MS);
    connect_at(26000);
    beat_at(26100);
    beat_at(26200);
    write_at(31000);
    CU_ASSERT_EQUAL(until_ms(), 0);
}

static void lease_that_was_earned_again_can_lapse_again(void)
{
    begin();
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 20000 * MS));
    for (int64_t at_ms = 20000; at_ms <= 30000; at_ms += 500)
        beat_at(at_ms);
    CU_ASSERT_TRUE(zkl_lease_check(&lease, 30100 * MS));
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 60000 * MS));
    beat_at(60000);
    beat_at(62000);
    beat_at(64000);
    CU_ASSERT_EQUAL(until_ms(), 0);
    beat_at(66000);
    beat_at(68000);
    beat_at(70000);
    CU_ASSERT_EQUAL(until_ms(), 66000 + SAFE_MS);
}

static const struct suite_test tests[] = {
    SUITE_TEST(old_end_stands_while_disconnected),
    SUITE_TEST(answer_that_comes_after_the_end_revives_nothing),
    SUITE_TEST(reconnect_after_the_end_revives_nothing),
    SUITE_TEST(end_between_two_connections_is_a_lapse),
    SUITE_TEST(after_a_lapse_a_write_two_ticks_later_proves_what_the_three_promise),
    SUITE_TEST(promise_is_kept_up_until_it_is_proved),
    SUITE_TEST(promise_that_has_run_out_proves_nothing),
    SUITE_TEST(write_that_was_sent_before_the_lapse_promises_nothing),
    SUITE_TEST(proof_waits_for_a_second_at_least),
    SUITE_TEST(disconnection_after_a_lapse_leaves_the_promise_as_it_is),
    SUITE_TEST(another_timeout_after_a_lapse_ends_the_promise),
    SUITE_TEST(lease_that_was_earned_again_counts_reconnects_again),
    SUITE_TEST(heartbeats_from_before_a_reconnect_do_not_count_after_a_lapse),
    SUITE_TEST(lease_that_was_earned_again_can_lapse_again),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lease_lapse", tests);
}
