/* The lease: each rule by itself, then long lives on virtual time. */
#include "recipe/lease.h"

#include <stdio.h>

#include "support/suite.h"

#define MS INT64_C(1000000)
#define T_MS 10000
#define SAFE_MS 9900  /* T less one percent */
#define TICK_MS 2000
#define LAG_MS 1112   /* half a tick and 100 ms, by a clock that is 1 % fast */
#define ROUND_TRIP_MS 4

static struct zkl_lease lease;

static void open_at(int64_t at_ms, enum zkl_lease_rule rule)
{
    zkl_lease_open(&lease, rule, TICK_MS * MS, at_ms * MS);
}

static void connect_at(int64_t at_ms)
{
    zkl_lease_connected(&lease, at_ms * MS, T_MS * MS);
}

/* A strict lease of a session whose handle was opened at 1 s and connected 20 ms later. */
static void begin(void)
{
    open_at(1000, ZKL_RULE_STRICT);
    connect_at(1020);
}

static void answer(int64_t sent_ms, int64_t at_ms, bool was_answered)
{
    zkl_lease_answered(&lease, sent_ms * MS, at_ms * MS, was_answered);
}

static void write_at(int64_t sent_ms)
{
    answer(sent_ms, sent_ms + ROUND_TRIP_MS, true);
    zkl_lease_wrote(&lease, sent_ms * MS, (sent_ms + ROUND_TRIP_MS) * MS);
}

static void beat_at(int64_t sent_ms)
{
    answer(sent_ms, sent_ms + ROUND_TRIP_MS, true);
    zkl_lease_beat(&lease, sent_ms * MS, (sent_ms + ROUND_TRIP_MS) * MS);
}

static int64_t until_ms(void)
{
    return lease.until_ns / MS;
}

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
    zkl_lease_beat(&lease, 4000 * MS, 7000 * MS);
    answer(6999, 7100, true);
    zkl_lease_beat(&lease, 6999 * MS, 7100 * MS);
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
    zkl_lease_beat(&lease, 5999 * MS, 6001 * MS);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
}

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
    zkl_lease_beat(&lease, 6000 * MS, (1000 + SAFE_MS) * MS);
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

static void heartbeats_are_rarer_while_nothing_is_wanted(void)
{
    begin();
    CU_ASSERT_EQUAL(zkl_lease_interval(&lease, false, true), T_MS * MS / 6);
    CU_ASSERT_EQUAL(zkl_lease_interval(&lease, true, true), T_MS * MS / 12);
    CU_ASSERT_TRUE(zkl_lease_interval(&lease, true, false) >= 50 * MS);
    CU_ASSERT_TRUE(zkl_lease_interval(&lease, true, false) <= 200 * MS);
}

/* ------------------------------------------------------------------------------------------ long lives */

struct life {
    int64_t timeout_ms;
    int64_t tick_ms; /* 0: unknown */
    int64_t round_trip_ns;
    int64_t length_ns;
};

/* The least that was left in a healthy session's life, from its first connection on. */
static int64_t least_remaining(const struct life *life)
{
    int64_t least_ns = INT64_MAX;
    int64_t start_ns = 1000 * MS;
    int64_t sent_ns = start_ns + life->round_trip_ns;

    zkl_lease_open(&lease, ZKL_RULE_STRICT, life->tick_ms * MS, start_ns);
    zkl_lease_connected(&lease, sent_ns, life->timeout_ms * MS);
    while (sent_ns < start_ns + life->length_ns) {
        int64_t answered_ns = sent_ns + life->round_trip_ns;
        int64_t left_ns = zkl_lease_remaining(&lease, answered_ns);
        if (left_ns < least_ns)
            least_ns = left_ns;
        zkl_lease_answered(&lease, sent_ns, answered_ns, true);
        zkl_lease_beat(&lease, sent_ns, answered_ns);
        int64_t interval_ns = zkl_lease_interval(&lease, true, zkl_lease_check(&lease, answered_ns));
        sent_ns += interval_ns > life->round_trip_ns ? interval_ns : life->round_trip_ns;
    }
    return least_ns;
}

static void expect_two_fifths(const struct life *life)
{
    int64_t least_ns = least_remaining(life);
    bool is_enough = least_ns >= life->timeout_ms * MS / 5 * 2;

    if (!is_enough)
        printf("\n  T %d ms, tick %d ms, round trip %d us: %d ms left\n", (int)life->timeout_ms, (int)life->tick_ms,
               (int)(life->round_trip_ns / 1000), (int)(least_ns / MS));
    CU_ASSERT_TRUE_FATAL(is_enough);
}

/* Four lag times and a few timeouts: what comes later repeats itself. */
static void expect_steady_state(int64_t timeout_ms, int64_t tick_ms)
{
    for (int part = 0; part <= 4; part++) {
        struct life life = {timeout_ms, tick_ms, timeout_ms * MS / 400 * part, timeout_ms * MS * 4};
        expect_two_fifths(&life);
    }
}

static void two_fifths_are_always_left_for_every_timeout_and_tick(void)
{
    for (int64_t timeout_ms = 1000; timeout_ms <= 60000; timeout_ms += timeout_ms < 5000 ? 7 : 97) {
        expect_steady_state(timeout_ms, 0);
        for (int64_t tick_ms = 100; tick_ms <= timeout_ms / 2; tick_ms += timeout_ms / 13)
            expect_steady_state(timeout_ms, tick_ms);
        expect_steady_state(timeout_ms, timeout_ms / 2);
    }
}

static void healthy_hour_never_has_less_than_two_fifths_left(void)
{
    static const int64_t timeout_ms[] = {1000, 4000, 10000, 30000, 60000};

    for (size_t i = 0; i < sizeof timeout_ms / sizeof timeout_ms[0]; i++) {
        struct life life = {timeout_ms[i], 0, timeout_ms[i] * MS / 250, INT64_C(3600000) * MS};
        expect_two_fifths(&life);
        life.tick_ms = timeout_ms[i] / 5;
        expect_two_fifths(&life);
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
                zkl_lease_beat(&lease, now_ns, now_ns + MS);
                now_ns += zkl_lease_interval(&lease, true, false);
            }
            CU_ASSERT_TRUE_FATAL(now_ns < limit_ns);
        }
    }
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
    SUITE_TEST(heartbeats_of_an_older_connection_do_not_count),
    SUITE_TEST(answer_while_disconnected_earns_nothing),
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
    SUITE_TEST(another_timeout_at_a_reconnect_is_a_lapse),
    SUITE_TEST(standalone_counts_from_each_answered_request),
    SUITE_TEST(standalone_lapses_for_good_too),
    SUITE_TEST(cheap_runs_while_connected_and_a_third_after),
    SUITE_TEST(heartbeats_are_rarer_while_nothing_is_wanted),
    SUITE_TEST(two_fifths_are_always_left_for_every_timeout_and_tick),
    SUITE_TEST(healthy_hour_never_has_less_than_two_fifths_left),
    SUITE_TEST(lease_is_earned_again_for_every_timeout_and_tick),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lease", tests);
}
