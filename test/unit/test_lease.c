/* The lease: each rule by itself. */
#include "lease_story.h"

static void nothing_runs_before_the_first_connection(void)
{
    open_at(1000, ZKL_RULE_STRICT);
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 1000 * MS));
    CU_ASSERT_EQUAL(zkl_lease_remaining(&lease, 1000 * MS), 0);
    beat_at(1010);
    beat_at(3000);
    beat_at(5000);
    CU_ASSERT_EQUAL(until_ms(), 0);
}

static void fresh_session_counts_from_before_its_handle_was_opened(void)
{
    begin();
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
    CU_ASSERT_TRUE(zkl_lease_check(&lease, (1000 + SAFE_MS) * MS - 1));
    CU_ASSERT_EQUAL(zkl_lease_remaining(&lease, (1000 + SAFE_MS) * MS - 1), 1);
    CU_ASSERT_FALSE(zkl_lease_check(&lease, (1000 + SAFE_MS) * MS));
}

static void handle_that_connects_too_late_has_no_lease(void)
{
    open_at(1000, ZKL_RULE_STRICT);
    connect_at(1000 + SAFE_MS);
    CU_ASSERT_FALSE(zkl_lease_check(&lease, (1000 + SAFE_MS) * MS));
    CU_ASSERT_NOT_EQUAL(lease.lapsed_ns, 0);
}

static void remaining_changes_nothing(void)
{
    begin();
    CU_ASSERT_EQUAL(zkl_lease_remaining(&lease, 60000 * MS), 0);
    CU_ASSERT_EQUAL(lease.lapsed_ns, 0);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
}

static void three_spaced_heartbeats_prolong_from_the_first(void)
{
    begin();
    beat_at(2000);
    beat_at(4000);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
    beat_at(6000);
    CU_ASSERT_EQUAL(until_ms(), 2000 + SAFE_MS);
    beat_at(8000);
    CU_ASSERT_EQUAL(until_ms(), 4000 + SAFE_MS);
}

static void first_of_the_three_is_older_than_the_followers_lag(void)
{
    int64_t answered_ms = 2000 + ROUND_TRIP_MS;

    begin();
    beat_at(2000);
    beat_at(answered_ms + LAG_MS - 1);
    beat_at(5000);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
    begin();
    beat_at(2000);
    beat_at(answered_ms + LAG_MS);
    beat_at(5000);
    CU_ASSERT_EQUAL(until_ms(), 2000 + SAFE_MS);
}

static void unknown_tick_is_taken_for_half_of_the_timeout(void)
{
    int64_t lag_ms = (T_MS / 4 + 250) * 100 / 99 + 1;
    int64_t answered_ms = 1100 + ROUND_TRIP_MS;

    for (int short_of_it_ms = 0; short_of_it_ms <= 1; short_of_it_ms++) {
        zkl_lease_open(&lease, ZKL_RULE_STRICT, 0, 1000 * MS);
        connect_at(1020);
        beat_at(1100);
        beat_at(answered_ms + lag_ms - short_of_it_ms);
        beat_at(8000);
        CU_ASSERT_EQUAL(until_ms(), (short_of_it_ms ? 1000 : 1100) + SAFE_MS);
    }
}

static void heartbeat_in_the_middle_was_answered_before_the_last_was_sent(void)
{
    begin();
    beat_at(2000);
    answer(4000, 7000, true);
    zkl_lease_beat(&lease, ZKL_BEAT_WRITE, 4000 * MS, 7000 * MS);
    answer(6999, 7100, true);
    zkl_lease_beat(&lease, ZKL_BEAT_WRITE, 6999 * MS, 7100 * MS);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
    beat_at(7200);
    CU_ASSERT_EQUAL(until_ms(), 2000 + SAFE_MS);
}

static void newest_heartbeat_that_is_old_enough_counts(void)
{
    begin();
    for (int64_t at_ms = 2000; at_ms <= 5000; at_ms += 100)
        beat_at(at_ms);
    /* W2 at 5000, W1 at 4900, A answered by 3800 - 4. */
    CU_ASSERT_EQUAL(until_ms(), 3700 + SAFE_MS);
}

static void another_write_may_be_the_last_of_the_three(void)
{
    begin();
    beat_at(2000);
    beat_at(4000);
    write_at(4100);
    CU_ASSERT_EQUAL(until_ms(), 2000 + SAFE_MS);
}

static void another_write_is_not_the_first_or_the_middle_one(void)
{
    begin();
    write_at(2000);
    write_at(4000);
    beat_at(6000);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
}

static void answered_reads_prolong_nothing(void)
{
    begin();
    for (int64_t at_ms = 1100; at_ms < 9000; at_ms += 100)
        answer(at_ms, at_ms + ROUND_TRIP_MS, true);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
}

static void end_never_moves_back(void)
{
    begin();
    for (int64_t at_ms = 2000; at_ms <= 8000; at_ms += 2000)
        beat_at(at_ms);
    CU_ASSERT_EQUAL(until_ms(), 4000 + SAFE_MS);
    zkl_lease_disconnected(&lease, 8100 * MS);
    connect_at(8200);
    beat_at(8300);
    CU_ASSERT_TRUE(until_ms() >= 4000 + SAFE_MS);
}

static void reconnect_alone_earns_nothing(void)
{
    begin();
    beat_at(3000);
    zkl_lease_disconnected(&lease, 4000 * MS);
    connect_at(5000);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
    answer(5100, 5104, true);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
}

static void write_after_a_reconnect_counts_from_the_newest_completion_before_it(void)
{
    begin();
    beat_at(3000);
    answer(3500, 4000, false);
    zkl_lease_disconnected(&lease, 4000 * MS);
    connect_at(5000);
    write_at(5100);
    CU_ASSERT_EQUAL(until_ms(), 3500 + SAFE_MS);
}

static void completion_after_the_reconnect_does_not_move_what_it_counts_from(void)
{
    begin();
    beat_at(3000);
    zkl_lease_disconnected(&lease, 4000 * MS);
    connect_at(5000);
    answer(4900, 5050, true);
    write_at(5100);
    CU_ASSERT_EQUAL(until_ms(), 3000 + SAFE_MS);
}

static void write_from_before_the_reconnect_earns_nothing(void)
{
    begin();
    beat_at(3000);
    zkl_lease_disconnected(&lease, 4000 * MS);
    connect_at(5000);
    zkl_lease_wrote(&lease, 4999 * MS, 5010 * MS);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
}

static void reconnect_counts_once(void)
{
    begin();
    beat_at(3000);
    zkl_lease_disconnected(&lease, 4000 * MS);
    connect_at(5000);
    write_at(5100);
    write_at(6000);
    CU_ASSERT_EQUAL(until_ms(), 3000 + SAFE_MS);
}

/* Nothing of the old handle's is newer than the opening of the new one. */
static void handle_that_goes_on_counts_from_before_it_was_opened(void)
{
    begin();
    beat_at(3000);
    zkl_lease_disconnected(&lease, 4000 * MS);
    zkl_lease_resume(&lease, 4500 * MS);
    connect_at(5000);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
    write_at(5100);
    CU_ASSERT_EQUAL(until_ms(), 4500 + SAFE_MS);
}

static void handle_that_goes_on_after_the_end_earns_nothing(void)
{
    begin();
    zkl_lease_disconnected(&lease, 4000 * MS);
    zkl_lease_resume(&lease, (900 + SAFE_MS) * MS);
    connect_at(1000 + SAFE_MS);
    write_at(1100 + SAFE_MS);
    CU_ASSERT_FALSE(zkl_lease_check(&lease, (1200 + SAFE_MS) * MS));
    CU_ASSERT_NOT_EQUAL(lease.lapsed_ns, 0);
}

static void heartbeats_of_an_older_connection_do_not_count(void)
{
    begin();
    beat_at(2000);
    beat_at(4000);
    zkl_lease_disconnected(&lease, 4500 * MS);
    connect_at(4600);
    beat_at(7000);
    CU_ASSERT_EQUAL(until_ms(), 4000 + SAFE_MS); /* by the reconnect rule */
    beat_at(9000);
    CU_ASSERT_EQUAL(until_ms(), 4000 + SAFE_MS);
    beat_at(11000);
    CU_ASSERT_EQUAL(until_ms(), 7000 + SAFE_MS);
}

static void answer_while_disconnected_earns_nothing(void)
{
    begin();
    beat_at(2000);
    beat_at(4000);
    zkl_lease_disconnected(&lease, 6000 * MS);
    zkl_lease_beat(&lease, ZKL_BEAT_WRITE, 5999 * MS, 6001 * MS);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
}

static void another_timeout_at_a_reconnect_is_a_lapse(void)
{
    static const int64_t other_ms[] = {5000, 20000};

    for (int i = 0; i < 2; i++) {
        begin();
        beat_at(2000);
        zkl_lease_disconnected(&lease, 3000 * MS);
        zkl_lease_connected(&lease, 3100 * MS, other_ms[i] * MS);
        CU_ASSERT_FALSE(zkl_lease_check(&lease, 3100 * MS));
        write_at(3200);
        CU_ASSERT_EQUAL(until_ms(), 0);
        CU_ASSERT_EQUAL(lease.timeout_ns, (i == 0 ? 5000 : T_MS) * MS);
    }
}

static void standalone_counts_from_each_answered_request(void)
{
    open_at(1000, ZKL_RULE_STANDALONE);
    connect_at(1020);
    answer(2000, 2004, true);
    CU_ASSERT_EQUAL(until_ms(), 2000 + SAFE_MS);
    answer(3000, 3004, false);
    CU_ASSERT_EQUAL(until_ms(), 2000 + SAFE_MS);
    zkl_lease_disconnected(&lease, 4000 * MS);
    answer(3900, 4001, true);
    CU_ASSERT_EQUAL(until_ms(), 2000 + SAFE_MS);
}

static void standalone_lapses_for_good_too(void)
{
    open_at(1000, ZKL_RULE_STANDALONE);
    connect_at(1020);
    answer(10000, 1000 + SAFE_MS, true);
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 11000 * MS));
    answer(12000, 12004, true);
    CU_ASSERT_EQUAL(until_ms(), 0);
    answer(16003, 16007, true);
    CU_ASSERT_EQUAL(until_ms(), 0);
    answer(16004, 16008, true);
    CU_ASSERT_EQUAL(until_ms(), 16004 + SAFE_MS);
}

/* Otherwise the next answer would prove it, and give a lease that has run out. */
static void standalone_answer_older_than_the_timeout_promises_nothing(void)
{
    open_at(1000, ZKL_RULE_STANDALONE);
    connect_at(1020);
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 20000 * MS));
    answer(21000, 21000 + SAFE_MS, true);
    CU_ASSERT_EQUAL(lease.promised_ns, 0);
    answer(22000, 22000 + SAFE_MS - 1, true);
    CU_ASSERT_EQUAL(lease.promised_ns, (22000 + SAFE_MS) * MS);
}

static void cheap_runs_while_connected_and_a_third_after(void)
{
    open_at(1000, ZKL_RULE_CHEAP);
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 1000 * MS));
    connect_at(1020);
    CU_ASSERT_TRUE(zkl_lease_check(&lease, INT64_C(1000000000) * MS));
    zkl_lease_disconnected(&lease, 50000 * MS);
    CU_ASSERT_EQUAL(until_ms(), 50000 + SAFE_MS / 3);
    zkl_lease_disconnected(&lease, 52000 * MS);
    CU_ASSERT_EQUAL(until_ms(), 50000 + SAFE_MS / 3);
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 60000 * MS));
}

static void cheap_that_has_lapsed_runs_again_while_connected(void)
{
    open_at(1000, ZKL_RULE_CHEAP);
    connect_at(1020);
    zkl_lease_disconnected(&lease, 2000 * MS);
    CU_ASSERT_FALSE(zkl_lease_check(&lease, 20000 * MS));
    connect_at(21000);
    answer(21050, 21054, true);
    zkl_lease_disconnected(&lease, 21100 * MS);
    connect_at(21200);
    CU_ASSERT_EQUAL(lease.until_ns, INT64_MAX);
    write_at(22000);
    write_at(26100);
    CU_ASSERT_EQUAL(lease.until_ns, INT64_MAX);
}

static void heartbeats_count_for_nothing_by_the_other_rules(void)
{
    static const enum zkl_lease_rule rules[] = {ZKL_RULE_STANDALONE, ZKL_RULE_CHEAP};

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        int64_t until_ns;
        open_at(1000, rules[i]);
        connect_at(1020);
        until_ns = lease.until_ns;
        for (int64_t sent_ms = 2000; sent_ms <= 8000; sent_ms += 2000)
            zkl_lease_beat(&lease, ZKL_BEAT_WRITE, sent_ms * MS, (sent_ms + ROUND_TRIP_MS) * MS);
        CU_ASSERT_EQUAL(lease.until_ns, until_ns);
    }
}

static void heartbeats_are_rarer_while_nothing_is_wanted(void)
{
    begin();
    CU_ASSERT_TRUE(zkl_lease_interval(&lease, false, true) <= T_MS * MS / 6);
    CU_ASSERT_TRUE(zkl_lease_interval(&lease, false, true) >= T_MS * MS / 8);
    CU_ASSERT_EQUAL(zkl_lease_interval(&lease, true, true), T_MS * MS / 12);
    CU_ASSERT_TRUE(zkl_lease_interval(&lease, true, false) >= 50 * MS);
    CU_ASSERT_TRUE(zkl_lease_interval(&lease, true, false) <= 200 * MS);
}

static const struct suite_test tests[] = {
    SUITE_TEST(nothing_runs_before_the_first_connection),
    SUITE_TEST(fresh_session_counts_from_before_its_handle_was_opened),
    SUITE_TEST(handle_that_connects_too_late_has_no_lease),
    SUITE_TEST(remaining_changes_nothing),
    SUITE_TEST(three_spaced_heartbeats_prolong_from_the_first),
    SUITE_TEST(first_of_the_three_is_older_than_the_followers_lag),
    SUITE_TEST(unknown_tick_is_taken_for_half_of_the_timeout),
    SUITE_TEST(heartbeat_in_the_middle_was_answered_before_the_last_was_sent),
    SUITE_TEST(newest_heartbeat_that_is_old_enough_counts),
    SUITE_TEST(another_write_may_be_the_last_of_the_three),
    SUITE_TEST(another_write_is_not_the_first_or_the_middle_one),
    SUITE_TEST(answered_reads_prolong_nothing),
    SUITE_TEST(end_never_moves_back),
    SUITE_TEST(reconnect_alone_earns_nothing),
    SUITE_TEST(write_after_a_reconnect_counts_from_the_newest_completion_before_it),
    SUITE_TEST(completion_after_the_reconnect_does_not_move_what_it_counts_from),
    SUITE_TEST(write_from_before_the_reconnect_earns_nothing),
    SUITE_TEST(reconnect_counts_once),
    SUITE_TEST(handle_that_goes_on_counts_from_before_it_was_opened),
    SUITE_TEST(handle_that_goes_on_after_the_end_earns_nothing),
    SUITE_TEST(heartbeats_of_an_older_connection_do_not_count),
    SUITE_TEST(answer_while_disconnected_earns_nothing),
    SUITE_TEST(another_timeout_at_a_reconnect_is_a_lapse),
    SUITE_TEST(standalone_counts_from_each_answered_request),
    SUITE_TEST(standalone_lapses_for_good_too),
    SUITE_TEST(standalone_answer_older_than_the_timeout_promises_nothing),
    SUITE_TEST(cheap_runs_while_connected_and_a_third_after),
    SUITE_TEST(cheap_that_has_lapsed_runs_again_while_connected),
    SUITE_TEST(heartbeats_count_for_nothing_by_the_other_rules),
    SUITE_TEST(heartbeats_are_rarer_while_nothing_is_wanted),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lease", tests);
}
