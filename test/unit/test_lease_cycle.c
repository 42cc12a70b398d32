/* A read, a sync and a quorum write: what they earn together, and who is next. */
#include "lease_story.h"

static void read_a_sync_and_a_write_prolong_from_the_read(void)
{
    begin();
    beat_of(ZKL_BEAT_READ, 2000);
    beat_of(ZKL_BEAT_SYNC, 2004 + LAG_MS);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
    beat_at(5000);
    CU_ASSERT_EQUAL(until_ms(), 2000 + SAFE_MS);
}

static void sync_and_reads_prolong_nothing_without_a_write(void)
{
    begin();
    for (int64_t at_ms = 2000; at_ms < 9000; at_ms += 200)
        beat_of(at_ms % 400 ? ZKL_BEAT_SYNC : ZKL_BEAT_READ, at_ms);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
}

static void read_is_not_the_middle_one(void)
{
    begin();
    beat_at(2000);
    beat_of(ZKL_BEAT_READ, 4000);
    beat_at(4100);
    CU_ASSERT_EQUAL(until_ms(), 1000 + SAFE_MS);
}

static void read_sync_and_write_take_turns_while_there_is_time(void)
{
    begin();
    CU_ASSERT_EQUAL(zkl_lease_next_beat(&lease, true, 1100 * MS), ZKL_BEAT_WRITE);
    beat_at(1100);
    CU_ASSERT_EQUAL(zkl_lease_next_beat(&lease, true, 2000 * MS), ZKL_BEAT_READ);
    beat_of(ZKL_BEAT_READ, 2000);
    CU_ASSERT_EQUAL(zkl_lease_next_beat(&lease, true, 2900 * MS), ZKL_BEAT_SYNC);
    beat_of(ZKL_BEAT_SYNC, 2900);
    CU_ASSERT_EQUAL(zkl_lease_next_beat(&lease, true, 3800 * MS), ZKL_BEAT_WRITE);
}

static void short_lease_is_prolonged_by_writes_only(void)
{
    begin();
    beat_at(6000);
    CU_ASSERT_EQUAL(zkl_lease_next_beat(&lease, true, 6100 * MS), ZKL_BEAT_WRITE);
    beat_of(ZKL_BEAT_READ, 6200);
    CU_ASSERT_EQUAL(zkl_lease_next_beat(&lease, true, 6300 * MS), ZKL_BEAT_WRITE);
    CU_ASSERT_EQUAL(zkl_lease_next_beat(&lease, false, 6300 * MS), ZKL_BEAT_SYNC);
    zkl_lease_check(&lease, 11000 * MS);
    CU_ASSERT_EQUAL(zkl_lease_next_beat(&lease, true, 11000 * MS), ZKL_BEAT_WRITE);
}

static void every_beat_is_a_write_by_the_other_rules_and_after_a_kind_that_nothing_names(void)
{
    begin();
    beat_at(2000);
    lease.beats[lease.beat_count - 1].kind = (enum zkl_beat_kind)99;
    CU_ASSERT_EQUAL(zkl_lease_next_beat(&lease, true, 2100 * MS), ZKL_BEAT_WRITE);
    lease.beats[lease.beat_count - 1].kind = ZKL_BEAT_WRITE;
    lease.rule = ZKL_RULE_CHEAP;
    CU_ASSERT_EQUAL(zkl_lease_next_beat(&lease, true, 2100 * MS), ZKL_BEAT_WRITE);
}

static const struct suite_test tests[] = {
    SUITE_TEST(read_a_sync_and_a_write_prolong_from_the_read),
    SUITE_TEST(sync_and_reads_prolong_nothing_without_a_write),
    SUITE_TEST(read_is_not_the_middle_one),
    SUITE_TEST(read_sync_and_write_take_turns_while_there_is_time),
    SUITE_TEST(short_lease_is_prolonged_by_writes_only),
    SUITE_TEST(every_beat_is_a_write_by_the_other_rules_and_after_a_kind_that_nothing_names),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lease_cycle", tests);
}
