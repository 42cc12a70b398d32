/* Readers, writers and mutexes in one queue. */
#include "recipe/queue.h"

#include "support/suite.h"

#define OURS "_c_99999999-9999-8999-9999-999999999999"
#define THEIRS "_c_55555555-5555-4555-9555-555555555555"
#define OTHERS_OF_OURS "_c_77777777-7777-8777-9777-777777777777"
#define KAZOO_OURS "99999999999989999999999999999999"
#define KAZOO "55555555555545559555555555555555"

static const char *children[8];
static int count;
static struct zkl_place place;

static void find(const char *prefix, const char *const *names)
{
    for (count = 0; names[count]; count++)
        children[count] = names[count];
    zkl_queue_place(children, count, prefix, NULL, &place);
}

#define FIND(prefix, ...) find(prefix, (const char *const[]){__VA_ARGS__, NULL})

static void kind_that_nobody_knows_is_of_no_family(void)
{
    CU_ASSERT_EQUAL(zkl_queue_family((struct zkl_name){.kind = (enum zkl_kind)99}), 0);
}

static void reader_counts_writers_alone(void)
{
    FIND(OURS "-__READ__", "a-__READ__0000000001", "b-__READ__0000000002", OURS "-__READ__0000000003");
    CU_ASSERT_EQUAL(place.ahead_count, 0);
    CU_ASSERT_EQUAL(place.ahead, -1);
    FIND(KAZOO_OURS "__rlock__", "a__rlock__0000000001", KAZOO_OURS "__rlock__0000000003");
    CU_ASSERT_EQUAL(place.ahead_count, 0);
    CU_ASSERT_FALSE(place.is_mixed);
}

static void reader_stands_behind_the_nearest_writer(void)
{
    FIND(OURS "-__READ__", "a-__WRIT__0000000001", "b-__WRIT__0000000003", "c-__READ__0000000004",
         OURS "-__READ__0000000005", "d-__WRIT__0000000006");
    CU_ASSERT_EQUAL(place.ahead_count, 2);
    CU_ASSERT_EQUAL(place.ahead, 1);
    FIND(KAZOO_OURS "__rlock__", "a__lock__0000000001", "b__rlock__0000000002", KAZOO_OURS "__rlock__0000000003");
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    CU_ASSERT_EQUAL(place.ahead, 0);
}

static void writer_counts_all(void)
{
    FIND(OURS "-__WRIT__", "a-__WRIT__0000000001", "b-__READ__0000000002", "c-__READ__0000000003",
         OURS "-__WRIT__0000000004");
    CU_ASSERT_EQUAL(place.ahead_count, 3);
    CU_ASSERT_EQUAL(place.ahead, 2);
    FIND(KAZOO_OURS "__lock__", "a__rlock__0000000001", KAZOO_OURS "__lock__0000000002");
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    CU_ASSERT_FALSE(place.is_mixed);
}

static void writer_behind_a_writer_may_find_a_reader_in_its_place(void)
{
    FIND(OURS "-__WRIT__", "a-__WRIT__0000000001", OURS "-__WRIT__0000000002");
    CU_ASSERT_EQUAL(place.ahead, 0);
    CU_ASSERT_FALSE(place.ahead_is_plain);
    FIND(OURS "-lock-", OTHERS_OF_OURS "-lock-0000000001", OURS "-lock-0000000002");
    CU_ASSERT_TRUE(place.ahead_is_plain);
    FIND(OURS "-__WRIT__", "a-__READ__0000000001", OURS "-__WRIT__0000000002");
    CU_ASSERT_TRUE(place.ahead_is_plain);
    FIND(KAZOO_OURS "__lock__", "a__lock__0000000001", KAZOO_OURS "__lock__0000000002");
    CU_ASSERT_TRUE(place.ahead_is_plain);
}

static void reader_behind_a_writer_minds_no_reader_in_its_place(void)
{
    FIND(OURS "-__READ__", "a-__WRIT__0000000001", OURS "-__READ__0000000002");
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    CU_ASSERT_TRUE(place.ahead_is_plain);
}

static void reader_that_was_a_writer_is_ahead_under_its_writers_number(void)
{
    FIND(OURS "-__WRIT__", "a-__READ__0000000001", "a-__WRIT__0000000001", OURS "-__WRIT__0000000002");
    CU_ASSERT_EQUAL(place.ahead_count, 2);
    CU_ASSERT_FALSE(place.needs_survey);
}

static void equal_numbers_of_readers_need_no_survey(void)
{
    FIND(OURS "-__READ__", "a-__READ__0000000002", OURS "-__READ__0000000002");
    CU_ASSERT_FALSE(place.needs_survey);
    CU_ASSERT_EQUAL(place.ahead_count, 0);
    FIND(OURS "-__READ__", "a-__WRIT__0000000002", OURS "-__READ__0000000002");
    CU_ASSERT_TRUE(place.needs_survey);
}

static void readers_share_a_queue_with_those_who_count_them(void)
{
    FIND(OURS "-lock-", OURS "-lock-0000000002", OTHERS_OF_OURS "-__READ__0000000001");
    CU_ASSERT_FALSE(place.is_mixed);
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    FIND(OURS "-__READ__", OURS "-__READ__0000000002", OTHERS_OF_OURS "-lock-0000000001");
    CU_ASSERT_FALSE(place.is_mixed);
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    FIND(OURS "-__WRIT__", OURS "-__WRIT__0000000002", OTHERS_OF_OURS "-__READ__0000000001",
         THEIRS "-__READ__0000000003", THEIRS "-__WRIT__0000000004");
    CU_ASSERT_FALSE(place.is_mixed);
    FIND(OURS "-latch-", OURS "-latch-0000000002", THEIRS "-latch-0000000001");
    CU_ASSERT_FALSE(place.is_mixed);
    CU_ASSERT_TRUE(place.ahead_is_plain);
}

static void contenders_who_do_not_count_each_other_are_mixed(void)
{
    FIND(OURS "-lock-", OURS "-lock-0000000002", THEIRS "-__READ__0000000001");
    CU_ASSERT_TRUE(place.is_mixed);
    FIND(OURS "-__READ__", OURS "-__READ__0000000002", THEIRS "-lock-0000000001");
    CU_ASSERT_TRUE(place.is_mixed);
    FIND(OURS "-__READ__", OURS "-__READ__0000000002", "x-12-0000000001");
    CU_ASSERT_TRUE(place.is_mixed);
    FIND(OURS "-lock-", OURS "-lock-0000000003", OTHERS_OF_OURS "-__READ__0000000001", THEIRS "-lock-0000000002");
    CU_ASSERT_TRUE(place.is_mixed);
    FIND(OURS "-__WRIT__", OURS "-__WRIT__0000000002", OTHERS_OF_OURS "-lock-0000000001");
    CU_ASSERT_TRUE(place.is_mixed);
    FIND(OURS "-__READ__", OURS "-__READ__0000000002", KAZOO "__lock__0000000001");
    CU_ASSERT_TRUE(place.is_mixed);
    FIND(OURS "-latch-", OURS "-latch-0000000002", THEIRS "-lock-0000000001");
    CU_ASSERT_TRUE(place.is_mixed);
}

static void readers_at_the_counters_limit_have_no_order(void)
{
    FIND(OURS "-__READ__", OURS "-__READ__2147483647");
    CU_ASSERT_TRUE(place.is_unordered);
    FIND(OURS "-__WRIT__", OURS "-__WRIT__0000000002", "a-__READ__-000000001");
    CU_ASSERT_TRUE(place.is_unordered);
    FIND(OURS "-lock-", OURS "-lock-2147483647");
    CU_ASSERT_FALSE(place.is_unordered);
    FIND(OURS "-__READ__", OURS "-__READ__2147483646");
    CU_ASSERT_FALSE(place.is_unordered);
}

static const struct suite_test tests[] = {
    SUITE_TEST(kind_that_nobody_knows_is_of_no_family),
    SUITE_TEST(reader_counts_writers_alone),
    SUITE_TEST(reader_stands_behind_the_nearest_writer),
    SUITE_TEST(writer_counts_all),
    SUITE_TEST(writer_behind_a_writer_may_find_a_reader_in_its_place),
    SUITE_TEST(reader_behind_a_writer_minds_no_reader_in_its_place),
    SUITE_TEST(reader_that_was_a_writer_is_ahead_under_its_writers_number),
    SUITE_TEST(equal_numbers_of_readers_need_no_survey),
    SUITE_TEST(readers_share_a_queue_with_those_who_count_them),
    SUITE_TEST(contenders_who_do_not_count_each_other_are_mixed),
    SUITE_TEST(readers_at_the_counters_limit_have_no_order),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "queue_modes", tests);
}
