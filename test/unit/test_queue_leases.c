/* The leases of a semaphore: who has a permit, and how many have to go. */
#include "recipe/queue.h"

#include "support/suite.h"

#define OURS "_c_99999999-9999-8999-9999-999999999999-lease-"
#define THEIRS "_c_55555555-5555-4555-9555-555555555555-lease-"

static struct zkl_place place;

static void find(int permits, const int64_t *czxids, const char *const *names)
{
    int count = 0;

    while (names[count])
        count++;
    zkl_queue_place_lease(names, count, OURS, czxids, &place);
    zkl_place_allow(&place, permits);
}

#define FIND(permits, ...) find(permits, NULL, (const char *const[]){__VA_ARGS__, NULL})

static void first_ones_have_the_permits(void)
{
    FIND(1, OURS "0000000007");
    CU_ASSERT_TRUE(place.own_is_present);
    CU_ASSERT_EQUAL(place.ahead_count, 0);
    FIND(3, THEIRS "0000000004", OURS "0000000007", THEIRS "0000000005");
    CU_ASSERT_EQUAL(place.ahead_count, 0);
    FIND(2, THEIRS "0000000004", OURS "0000000007", THEIRS "0000000005");
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    FIND(1, THEIRS "0000000004", OURS "0000000007", THEIRS "0000000005");
    CU_ASSERT_EQUAL(place.ahead_count, 2);
}

static void whoever_stands_behind_is_no_matter(void)
{
    FIND(1, THEIRS "0000000009", OURS "0000000007", THEIRS "0000000008", "a" THEIRS "0000000010");
    CU_ASSERT_EQUAL(place.ahead_count, 0);
}

/* None of those ahead is the one to wait for, and the end of one is not the grant. */
static void nobody_is_right_ahead(void)
{
    FIND(1, THEIRS "0000000004", OURS "0000000007");
    CU_ASSERT_EQUAL(place.ahead_count, 1);
    CU_ASSERT_EQUAL(place.ahead, -1);
    CU_ASSERT_FALSE(place.ahead_is_plain);
}

static void own_lease_that_is_gone_has_no_place(void)
{
    FIND(2, THEIRS "0000000004");
    CU_ASSERT_FALSE(place.own_is_present);
    CU_ASSERT_EQUAL(place.own, -1);
}

static void what_is_no_lease_is_not_counted(void)
{
    FIND(1, "_c_55555555-5555-4555-9555-555555555555-lock-0000000001", "other", OURS "0000000007",
         "x-5-0000000002");
    CU_ASSERT_EQUAL(place.ahead_count, 0);
    CU_ASSERT_EQUAL(place.foreign_count, 3);
    CU_ASSERT_FALSE(place.is_mixed);
}

static void equal_numbers_go_by_czxid(void)
{
    static const char *const names[] = {THEIRS "2147483647", OURS "2147483647", "a" THEIRS "-2147483648", NULL};
    static const int64_t later[] = {5, 9, 3};
    static const int64_t earlier[] = {9, 5, 7};
    static const int64_t gone[] = {-1, 9, 3};

    find(1, NULL, names);
    CU_ASSERT_TRUE(place.needs_survey);
    find(1, later, names);
    CU_ASSERT_FALSE(place.needs_survey);
    CU_ASSERT_EQUAL(place.ahead_count, 2);
    find(1, earlier, names);
    CU_ASSERT_EQUAL(place.ahead_count, 0);
    find(1, gone, names);
    CU_ASSERT_EQUAL(place.ahead_count, 1);
}

static const struct suite_test tests[] = {
    SUITE_TEST(first_ones_have_the_permits),
    SUITE_TEST(whoever_stands_behind_is_no_matter),
    SUITE_TEST(nobody_is_right_ahead),
    SUITE_TEST(own_lease_that_is_gone_has_no_place),
    SUITE_TEST(what_is_no_lease_is_not_counted),
    SUITE_TEST(equal_numbers_go_by_czxid),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "queue_leases", tests);
}
