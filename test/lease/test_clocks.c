/* The lease against clocks: every row of the table, and the schedules that once broke the shipped rules. */
#include <stdio.h>
#include <string.h>

#include "row.h"
#include "support/suite.h"

static void expect_rows(enum section section)
{
    row_print_heading();
    for (int i = 0; i < row_count; i++) {
        static struct finding finding;
        if (rows[i].section != section || (rows[i].variations & AT_NIGHT))
            continue;
        row_run(&rows[i], 1, &finding);
        row_print(&rows[i], &finding);
        CU_ASSERT_TRUE(row_is_as_expected(&rows[i], &finding));
    }
}

static void session_outlives_a_strict_lease_on_every_schedule(void)
{
    expect_rows(SECTION_SHIPPED);
}

static void session_outlives_a_lease_that_was_earned_anew(void)
{
    expect_rows(SECTION_LAPSE);
}

static void session_outlives_a_lease_on_one_server_alone(void)
{
    expect_rows(SECTION_STANDALONE);
}

static void session_outlives_the_lease_of_a_read_a_sync_and_a_write(void)
{
    expect_rows(SECTION_CYCLE);
}

static void session_outlives_a_lease_whatever_other_servers_grant(void)
{
    expect_rows(SECTION_TIMEOUT);
}

static void session_outlives_every_lease_on_long_random_schedules(void)
{
    expect_rows(SECTION_ROAMED);
}

static void rules_that_come_to_mind_first_are_wrong(void)
{
    expect_rows(SECTION_NAIVE);
}

static void each_assumption_is_needed(void)
{
    expect_rows(SECTION_ASSUMPTION);
}

/* ---------------------------------------------------------------- single schedules */

static struct world world;
static struct setting setting;

static void begin(void)
{
    setting = (struct setting){.rule = &rule_strict, .tick_ms = 1000, .timeout_ms = 4000, .other_timeout_ms = 4000,
                               .phase_ms = {999, 999, 999}, .ping_late_ms = 100, .condemned_ms = 600,
                               .server_count = 2, .home = 1, .kinds = 1u << KIND_BEAT, .most_sends = 10};
}

static void wait_until(int64_t at_us)
{
    CU_ASSERT_TRUE_FATAL(at_us * 1000 <= world_latest(&setting, &world));
    world_wait(&world, at_us * 1000);
}

/* The model would not allow anything else. */
static void play(enum move_type type, int subject)
{
    struct move move = {(uint8_t)type, (uint8_t)subject};
    struct move moves[MOST_MOVES];
    int count = world_moves(&setting, &world, moves);
    bool is_possible = false;

    for (int i = 0; i < count; i++)
        is_possible |= moves[i].type == move.type && moves[i].subject == move.subject;
    CU_ASSERT_TRUE_FATAL(is_possible);
    world_move(&setting, &world, move);
}

/* A heartbeat that is answered at once. */
static void beat(void)
{
    play(MOVE_SEND, KIND_BEAT);
    if (setting.home == 1) {
        play(MOVE_UP, 1);
        play(MOVE_DOWN, 1);
    }
    play(MOVE_ANSWER, 0);
    play(MOVE_CALLBACK, 0);
}

/* The leader hears of the client at 1 ms; its pings come 600 ms apart, by its own clock, which the client's outruns by
 * 1 %. A beat right behind a ping, and two more 600 ms later by the client's clock, come before the next one. */
static void late_pings_and_a_fast_clock_prolong_nothing_too_early(void)
{
    begin();
    setting.rate_ppm = 10101;
    setting.pings_late = true;
    setting.phase_ms[0] = 998;
    world_begin(&setting, &world);
    play(MOVE_CALLBACK, 0);
    wait_until(1000);
    play(MOVE_PING, 0);
    play(MOVE_DOWN, 1);
    play(MOVE_UP, 1);
    wait_until(601000);
    play(MOVE_PING, 0);
    beat();
    wait_until(1195100);
    beat();
    beat();
    CU_ASSERT_TRUE(world_has_lease(&setting, &world));
    CU_ASSERT_TRUE(world_margin(&setting, &world) >= 0);
}

/* After a lapse a beat is answered; then the client is silent for T, and the leader begins to end the session. It still
 * answers the three beats that come in time, and takes their touches; they do not save it. */
static void beats_of_a_condemned_session_earn_no_lease(void)
{
    begin();
    setting.tick_ms = 500;
    setting.timeout_ms = 2000;
    setting.home = 0;
    setting.server_count = 1;
    setting.begins_lapsed = true;
    world_begin(&setting, &world);
    play(MOVE_CALLBACK, 0);
    beat();
    wait_until(2250000);
    play(MOVE_TAKE, 0);
    beat();
    wait_until(2750000);
    beat();
    beat();
    CU_ASSERT_FALSE(world_has_lease(&setting, &world));
    wait_until(2850000);
    play(MOVE_CLOSE, 0);
    play(MOVE_SEND, KIND_BEAT);
    wait_until(9000000);
    CU_ASSERT_FALSE(world_has_lease(&setting, &world));
}

/* The same without the end: a beat that comes when a condemned session would be closed proves that this one lives. */
static void beat_that_a_condemned_session_could_not_send_proves_the_lease(void)
{
    begin();
    setting.tick_ms = 500;
    setting.timeout_ms = 2000;
    setting.home = 0;
    setting.server_count = 1;
    setting.begins_lapsed = true;
    world_begin(&setting, &world);
    play(MOVE_CALLBACK, 0);
    beat();
    wait_until(500000);
    beat();
    beat();
    CU_ASSERT_FALSE(world_has_lease(&setting, &world));
    wait_until(1500001);
    beat();
    CU_ASSERT_TRUE(world_has_lease(&setting, &world));
    CU_ASSERT_TRUE(world_margin(&setting, &world) >= 0);
}

static const struct suite_test tests[] = {
    SUITE_TEST(session_outlives_a_strict_lease_on_every_schedule),
    SUITE_TEST(session_outlives_a_lease_that_was_earned_anew),
    SUITE_TEST(session_outlives_a_lease_on_one_server_alone),
    SUITE_TEST(session_outlives_the_lease_of_a_read_a_sync_and_a_write),
    SUITE_TEST(session_outlives_a_lease_whatever_other_servers_grant),
    SUITE_TEST(session_outlives_every_lease_on_long_random_schedules),
    SUITE_TEST(rules_that_come_to_mind_first_are_wrong),
    SUITE_TEST(each_assumption_is_needed),
    SUITE_TEST(late_pings_and_a_fast_clock_prolong_nothing_too_early),
    SUITE_TEST(beats_of_a_condemned_session_earn_no_lease),
    SUITE_TEST(beat_that_a_condemned_session_could_not_send_proves_the_lease),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "clocks", tests);
}
