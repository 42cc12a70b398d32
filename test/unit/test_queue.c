/* The order of contenders, and one contender's place in a listing. */
#include "recipe/queue.h"

#include <stdio.h>

#include "support/suite.h"

#define OWN "_c_99999999-9999-9999-9999-999999999999-lock-"
#define MOST 16

static const char *children[MOST];
static int64_t surveyed[MOST];
static int count;
static struct zkl_place place;

static void list(const char *const *names)
{
    for (count = 0; names[count]; count++)
        children[count] = names[count];
}

#define LIST(...) list((const char *const[]){__VA_ARGS__, NULL})
#define SURVEY(...) \
    survey((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void find(void)
{
    zkl_queue_place(children, count, OWN, NULL, &place);
}

static void survey(const int64_t *czxids, size_t size)
{
    CU_ASSERT_EQUAL_FATAL(size, count);
    for (int i = 0; i < count; i++)
        surveyed[i] = czxids[i];
    zkl_queue_place(children, count, OWN, surveyed, &place);
}

static struct zkl_name numbered(int32_t number)
{
    return (struct zkl_name){ZKL_KIND_LOCK, number, true};
}

static void empty_listing_has_no_place(void)
{
    count = 0;
    find();
    CU_ASSERT_FALSE(place.own_is_present);
    CU_ASSERT_EQUAL(place.own, -1);
    CU_ASSERT_EQUAL(place.ahead, -1);
    CU_ASSERT_EQUAL(place.ahead_count, 0);
}

static void lowest_number_has_nobody_ahead(void)
{
    LIST("a-lock-0000000005", OWN "0000000004", "b-lock-0000000006");
    find();
    CU_ASSERT_TRUE(place.own_is_present);
    CU_ASSERT_EQUAL(place.own, 1);
    CU_ASSERT_EQUAL(place.ahead_count, 0);
    CU_ASSERT_EQUAL(place.ahead, -1);
    CU_ASSERT_FALSE(place.ahead_is_plain);
    CU_ASSERT_FALSE(place.needs_survey);
    CU_ASSERT_FALSE(place.is_mixed);
}

/* Names that sort opposite to their numbers, in an order of their own. */
static void order_is_by_number_and_not_by_name(void)
{
    LIST("zz-lock-0000000001", "aa-lock-0000000009", OWN "0000000004", "mm-lock-0000000003",
         "bb-lock-0000000002");
    find();
    CU_ASSERT_EQUAL(place.ahead_count, 3);
    CU_ASSERT_EQUAL(place.ahead, 3);
    CU_ASSERT_TRUE(place.ahead_is_plain);
}

static void number_with_more_digits_is_not_smaller(void)
{
    LIST("a-lock-1000000000", "b-lock-0999999999", OWN "1000000001");
    find();
    CU_ASSERT_EQUAL(place.ahead_count, 2);
    CU_ASSERT_EQUAL(place.ahead, 0);
}

static void contenders_of_other_clients_count(void)
{
    LIST("x-72057594037927936-0000000001", "00112233445566778899aabbccddeeff__lock__0000000002",
         "_c_00112233445566778899aabbccddeeff-lock-0000000003", OWN "0000000004");
    find();
    CU_ASSERT_EQUAL(place.ahead_count, 3);
    CU_ASSERT_EQUAL(place.ahead, 2);
    CU_ASSERT_FALSE(place.is_mixed);
}

static void junk_is_counted_apart_and_never_ahead(void)
{
    LIST("x", "config", "lock-", "lock-12", "a-b-c", "0000000000", OWN "0000000004", "_c_u-lease-0000000001");
    find();
    CU_ASSERT_EQUAL(place.foreign_count, 7);
    CU_ASSERT_EQUAL(place.ahead_count, 0);
    CU_ASSERT_FALSE(place.is_mixed);
}

static void own_contender_is_not_taken_for_another(void)
{
    LIST("_c_99999999-9999-9999-9999-99999999999a-lock-0000000001");
    find();
    CU_ASSERT_FALSE(place.own_is_present);
    CU_ASSERT_EQUAL(place.ahead_count, 0);
}

static void families_that_do_not_count_each_other_are_mixed(void)
{
    static const char *const others[] = {"a-__READ__0000000001", "a-__WRIT__0000000001", "a-latch-0000000001",
                                         "a__rlock__0000000001"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        LIST(OWN "0000000000", others[i]);
        find();
        CU_ASSERT_TRUE(place.is_mixed);
    }
}

static void equal_number_needs_a_survey(void)
{
    LIST("a-lock-0000000004", OWN "0000000004");
    find();
    CU_ASSERT_TRUE(place.needs_survey);
}

static void equal_numbers_of_others_need_none(void)
{
    LIST("a-lock-0000000004", "b-lock-0000000004", OWN "0000000005");
    find();
    CU_ASSERT_FALSE(place.needs_survey);
    CU_ASSERT_EQUAL(place.ahead_count, 2);
}

static void equal_numbers_are_ordered_by_creation(void)
{
    LIST("z-lock-0000000004", OWN "0000000004", "a-lock-0000000004");
    SURVEY(10, 20, 30);
    CU_ASSERT_FALSE(place.needs_survey);
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    CU_ASSERT_EQUAL(place.ahead, 0);
    SURVEY(30, 20, 10);
    CU_ASSERT_EQUAL(place.ahead, 2);
}

static void contender_found_by_survey_is_not_plain(void)
{
    LIST("z-lock-0000000004", OWN "0000000004");
    SURVEY(10, 20);
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    CU_ASSERT_FALSE(place.ahead_is_plain);
}

static void last_number_before_the_limit_needs_no_survey(void)
{
    LIST("a-lock-2147483645", OWN "2147483646", "b-lock-2147483647", "c-lock--2147483648");
    find();
    CU_ASSERT_FALSE(place.needs_survey);
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    CU_ASSERT_EQUAL(place.ahead, 0);
}

static void numbers_beyond_the_limit_need_a_survey(void)
{
    static const char *const own[] = {OWN "2147483647", OWN "-2147483648", OWN "-000000001"};

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        LIST("a-lock-2147483647", own[i]);
        find();
        CU_ASSERT_TRUE(place.needs_survey);
        LIST("a-lock--2147483648", own[i]);
        find();
        CU_ASSERT_TRUE(place.needs_survey);
        LIST("a-lock-2147483646", own[i]);
        find();
        CU_ASSERT_FALSE(place.needs_survey);
        CU_ASSERT_EQUAL(place.ahead_count, 1);
    }
}

/* A pipelined create can be negative before a later one is 2147483647, and the other way round. */
static void beyond_the_limit_order_is_by_creation(void)
{
    LIST("a-lock--2147483648", OWN "2147483647", "b-lock-2147483647", "c-lock--2147483647",
         "d-lock-0000000001");
    SURVEY(40, 50, 60, 30, 0);
    CU_ASSERT_EQUAL(place.ahead_count, 3);
    CU_ASSERT_EQUAL(place.ahead, 0);
    SURVEY(60, 50, 40, 70, 0);
    CU_ASSERT_EQUAL(place.ahead_count, 2);
    CU_ASSERT_EQUAL(place.ahead, 2);
    SURVEY(60, 50, 80, 70, 0);
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    CU_ASSERT_EQUAL(place.ahead, 4);
}

static void child_that_vanished_during_the_survey_does_not_count(void)
{
    LIST("a-lock-2147483647", OWN "2147483647", "b-lock-2147483647");
    SURVEY(-1, 50, 40);
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    CU_ASSERT_EQUAL(place.ahead, 2);
    SURVEY(-1, 50, -1);
    CU_ASSERT_EQUAL(place.ahead_count, 0);
    CU_ASSERT_EQUAL(place.ahead, -1);
}

static void own_contender_that_vanished_during_the_survey_has_no_place(void)
{
    LIST("a-lock-2147483647", OWN "2147483647");
    SURVEY(10, -1);
    CU_ASSERT_FALSE(place.own_is_present);
    CU_ASSERT_EQUAL(place.own, -1);
    CU_ASSERT_EQUAL(place.ahead_count, 0);
}

static void comparison_puts_the_counters_end_last(void)
{
    static const int32_t beyond[] = {INT32_MAX, -1, INT32_MIN};

    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        CU_ASSERT_TRUE(zkl_queue_compare(numbered(INT32_MAX - 1), 99, numbered(beyond[i]), 1) < 0);
        CU_ASSERT_TRUE(zkl_queue_compare(numbered(beyond[i]), 1, numbered(0), 99) > 0);
        for (size_t j = 0; j < sizeof beyond / sizeof beyond[0]; j++) {
            CU_ASSERT_TRUE(zkl_queue_compare(numbered(beyond[i]), 1, numbered(beyond[j]), 2) < 0);
            CU_ASSERT_TRUE(zkl_queue_compare(numbered(beyond[i]), 2, numbered(beyond[j]), 1) > 0);
        }
    }
}

static void comparison_is_an_order(void)
{
    static const int32_t numbers[] = {0, 1, INT32_MAX - 1, INT32_MAX, -1, INT32_MIN};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0], CASES = NUMBERS * 2 };

    for (int i = 0; i < CASES; i++) {
        for (int j = 0; j < CASES; j++) {
            struct zkl_name a = numbered(numbers[i / 2]);
            struct zkl_name b = numbered(numbers[j / 2]);
            int forth = zkl_queue_compare(a, i % 2, b, j % 2);
            int back = zkl_queue_compare(b, j % 2, a, i % 2);
            CU_ASSERT_TRUE((forth > 0) == (back < 0) && (forth < 0) == (back > 0));
            CU_ASSERT_TRUE(i != j || forth == 0);
        }
    }
}

static void ambiguous_are_those_whose_order_creation_decides(void)
{
    CU_ASSERT_TRUE(zkl_queue_is_ambiguous(numbered(4), numbered(4)));
    CU_ASSERT_FALSE(zkl_queue_is_ambiguous(numbered(3), numbered(4)));
    CU_ASSERT_FALSE(zkl_queue_is_ambiguous(numbered(INT32_MAX), numbered(4)));
    CU_ASSERT_FALSE(zkl_queue_is_ambiguous(numbered(-4), numbered(4)));
    CU_ASSERT_TRUE(zkl_queue_is_ambiguous(numbered(INT32_MAX), numbered(INT32_MAX)));
    CU_ASSERT_TRUE(zkl_queue_is_ambiguous(numbered(-4), numbered(INT32_MAX)));
    CU_ASSERT_TRUE(zkl_queue_is_ambiguous(numbered(INT32_MAX), numbered(-4)));
    CU_ASSERT_FALSE(zkl_queue_is_ambiguous(numbered(INT32_MAX - 1), numbered(INT32_MAX)));
}

static const struct suite_test tests[] = {
    SUITE_TEST(empty_listing_has_no_place),
    SUITE_TEST(lowest_number_has_nobody_ahead),
    SUITE_TEST(order_is_by_number_and_not_by_name),
    SUITE_TEST(number_with_more_digits_is_not_smaller),
    SUITE_TEST(contenders_of_other_clients_count),
    SUITE_TEST(junk_is_counted_apart_and_never_ahead),
    SUITE_TEST(own_contender_is_not_taken_for_another),
    SUITE_TEST(families_that_do_not_count_each_other_are_mixed),
    SUITE_TEST(equal_number_needs_a_survey),
    SUITE_TEST(equal_numbers_of_others_need_none),
    SUITE_TEST(equal_numbers_are_ordered_by_creation),
    SUITE_TEST(contender_found_by_survey_is_not_plain),
    SUITE_TEST(last_number_before_the_limit_needs_no_survey),
    SUITE_TEST(numbers_beyond_the_limit_need_a_survey),
    SUITE_TEST(beyond_the_limit_order_is_by_creation),
    SUITE_TEST(child_that_vanished_during_the_survey_does_not_count),
    SUITE_TEST(own_contender_that_vanished_during_the_survey_has_no_place),
    SUITE_TEST(comparison_puts_the_counters_end_last),
    SUITE_TEST(comparison_is_an_order),
    SUITE_TEST(ambiguous_are_those_whose_order_creation_decides),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "queue", tests);
}
