/* Contenders' names: every form in use, junk, limits. */
#include "recipe/name.h"

#include <stdio.h>
#include <string.h>

#include "support/suite.h"

#define UUID "3f2b6c1e-8a4d-4e0f-9b1a-0123456789ab"
#define HEX "3f2b6c1e8a4d4e0f9b1a0123456789ab"

struct sample {
    const char *name;
    enum zkl_kind kind;
    int32_t number;
};

static void expect_each(const struct sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct zkl_name parsed = zkl_name_parse(samples[i].name);
        if (parsed.kind != samples[i].kind || parsed.number != samples[i].number)
            printf("\n  %s: kind %d, number %d\n", samples[i].name, (int)parsed.kind, (int)parsed.number);
        CU_ASSERT_EQUAL(parsed.kind, samples[i].kind);
        CU_ASSERT_EQUAL(parsed.number, samples[i].number);
    }
}

#define EXPECT_EACH(samples) expect_each(samples, sizeof(samples) / sizeof((samples)[0]))

static void form_of_each_client_is_read(void)
{
    static const struct sample samples[] = {
        {"_c_" UUID "-lock-0000000007", ZKL_KIND_LOCK, 7},
        {"_c_" HEX "-lock-0000000008", ZKL_KIND_LOCK, 8},
        {"_c_" UUID "-__READ__0000000009", ZKL_KIND_READ, 9},
        {"_c_" UUID "-__WRIT__0000000010", ZKL_KIND_WRITE, 10},
        {"_c_" UUID "-lease-0000000011", ZKL_KIND_LEASE, 11},
        {"_c_" UUID "-latch-0000000012", ZKL_KIND_LATCH, 12},
        {HEX "__lock__0000000013", ZKL_KIND_LOCK, 13},
        {HEX "__rlock__0000000014", ZKL_KIND_KAZOO_READ, 14},
        {"x-72057594037927936-0000000015", ZKL_KIND_LOCK, 15},
        {"x-0100000000a1b2c3-0000000016", ZKL_KIND_LOCK, 16},
        {"my-lock-0000000017", ZKL_KIND_LOCK, 17},
    };
    EXPECT_EACH(samples);
}

/* Session ids are signed: a server whose id is 128 or above hands out negative ones. */
static void negative_session_id_in_the_name_is_read(void)
{
    static const struct sample samples[] = {
        {"x--9151314442816847872-0000000015", ZKL_KIND_LOCK, 15},
        {"x-81000000a1b2c3d4--000000002", ZKL_KIND_LOCK, -2},
        {"x--0000000015", ZKL_KIND_FOREIGN, 0},
        {"x---0000000015", ZKL_KIND_FOREIGN, 0},
    };
    EXPECT_EACH(samples);
}

static void junk_is_foreign(void)
{
    static const struct sample samples[] = {
        {"", ZKL_KIND_FOREIGN, 0},
        {"x", ZKL_KIND_FOREIGN, 0},
        {"x-", ZKL_KIND_FOREIGN, 0},
        {"x-0000000001", ZKL_KIND_FOREIGN, 0},
        {"x-12-", ZKL_KIND_FOREIGN, 0},
        {"x-zz-0000000001", ZKL_KIND_FOREIGN, 0},
        {"config", ZKL_KIND_FOREIGN, 0},
        {"lock-", ZKL_KIND_FOREIGN, 0},
        {"lock-12", ZKL_KIND_FOREIGN, 0},
        {"lock-0000000012", ZKL_KIND_FOREIGN, 0},
        {"a-b-c", ZKL_KIND_FOREIGN, 0},
        {"0000000000", ZKL_KIND_FOREIGN, 0},
        {"-lock-", ZKL_KIND_FOREIGN, 0},
        {"__lock__", ZKL_KIND_FOREIGN, 0},
        {"_c_" UUID "-lock-", ZKL_KIND_FOREIGN, 0},
        {"_c_" UUID "-lock-abcdefghij", ZKL_KIND_FOREIGN, 0},
        {"_c_" UUID "-lock-00000000 1", ZKL_KIND_FOREIGN, 0},
        {"_c_" UUID "-lock-+000000001", ZKL_KIND_FOREIGN, 0},
        {"_c_" UUID "-lock-0000000001x", ZKL_KIND_FOREIGN, 0},
        {"_c_" UUID "-lock-00000000001", ZKL_KIND_FOREIGN, 0},
        {"_c_" UUID "-lock--0000000001", ZKL_KIND_FOREIGN, 0},
        {"_c_" UUID "-lock-0x00000001", ZKL_KIND_FOREIGN, 0},
        {"_c_" UUID "-LOCK-0000000001", ZKL_KIND_FOREIGN, 0},
        {"\xff\xfe-lock", ZKL_KIND_FOREIGN, 0},
    };
    EXPECT_EACH(samples);
}

static void number_has_ten_characters_at_least(void)
{
    static const struct sample samples[] = {
        {"a-lock-000000001", ZKL_KIND_FOREIGN, 0},
        {"a-lock-0000000001", ZKL_KIND_LOCK, 1},
        {"a-lock--00000001", ZKL_KIND_FOREIGN, 0},
        {"a-lock--000000001", ZKL_KIND_LOCK, -1},
        {"a-lock-----------", ZKL_KIND_FOREIGN, 0},
    };
    EXPECT_EACH(samples);
}

static void number_fits_a_signed_word(void)
{
    static const struct sample samples[] = {
        {"a-lock-2147483646", ZKL_KIND_LOCK, INT32_MAX - 1},
        {"a-lock-2147483647", ZKL_KIND_LOCK, INT32_MAX},
        {"a-lock-2147483648", ZKL_KIND_FOREIGN, 0},
        {"a-lock--2147483647", ZKL_KIND_LOCK, -INT32_MAX},
        {"a-lock--2147483648", ZKL_KIND_LOCK, INT32_MIN},
        {"a-lock--2147483649", ZKL_KIND_FOREIGN, 0},
        {"a-lock-9999999999", ZKL_KIND_FOREIGN, 0},
        {"a-lock-99999999999999999999999999999999", ZKL_KIND_FOREIGN, 0},
        {"a-lock-18446744073709551617", ZKL_KIND_FOREIGN, 0},
    };
    EXPECT_EACH(samples);
}

/* No server writes one, and a name that none wrote is nobody's contender. */
static void negative_zero_is_no_number(void)
{
    static const struct sample samples[] = {
        {"a-lock--000000000", ZKL_KIND_FOREIGN, 0},
        {"x-0100000000a1b2c3--000000000", ZKL_KIND_FOREIGN, 0},
        {"a-lock--0000000000", ZKL_KIND_FOREIGN, 0},
        {"a-lock-0000000000", ZKL_KIND_LOCK, 0},
    };
    EXPECT_EACH(samples);
    CU_ASSERT_FALSE(zkl_name_is_own(HEX "__lock__-000000000", HEX "__lock__"));
    CU_ASSERT_TRUE(zkl_name_is_own(HEX "__lock__0000000000", HEX "__lock__"));
}

static void last_known_word_decides(void)
{
    static const struct sample samples[] = {
        {"my-lock-of-__READ__0000000001", ZKL_KIND_READ, 1},
        {"-__READ__0000000009-lock-0000000002", ZKL_KIND_LOCK, 2},
        {"a-lock-0000000009-lock-0000000003", ZKL_KIND_LOCK, 3},
        {"a-lock--lock-0000000004", ZKL_KIND_LOCK, 4},
        {"a__lock__b__rlock__0000000005", ZKL_KIND_KAZOO_READ, 5},
        {"x-12-lock-0000000006", ZKL_KIND_LOCK, 6},
        {"x-12-latch-0000000007", ZKL_KIND_LATCH, 7},
        {"a-lock-0000000008-lease-", ZKL_KIND_FOREIGN, 0},
    };
    EXPECT_EACH(samples);
}

static const unsigned char TOKEN[ZKL_TOKEN_BYTES] = {0x3f, 0x2b, 0x6c, 0x1e, 0x8a, 0x4d, 0x4e, 0x0f,
                                                     0x9b, 0x1a, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab};

static void prefix_is_the_one_that_curator_writes(void)
{
    char prefix[ZKL_PREFIX_SIZE];

    zkl_name_prefix(ZKL_NAMING_CURATOR, TOKEN, prefix);
    CU_ASSERT_STRING_EQUAL(prefix, "_c_" UUID "-lock-");
}

static void prefix_is_the_one_that_kazoo_writes(void)
{
    char prefix[ZKL_PREFIX_SIZE];

    zkl_name_prefix(ZKL_NAMING_KAZOO, TOKEN, prefix);
    CU_ASSERT_STRING_EQUAL(prefix, HEX "__lock__");
}

static void each_byte_of_the_token_shows_in_the_prefix(void)
{
    for (int naming = ZKL_NAMING_CURATOR; naming <= ZKL_NAMING_KAZOO; naming++) {
        for (int i = 0; i < ZKL_TOKEN_BYTES; i++) {
            unsigned char other[ZKL_TOKEN_BYTES];
            char prefix[ZKL_PREFIX_SIZE];
            char other_prefix[ZKL_PREFIX_SIZE];

            memcpy(other, TOKEN, sizeof other);
            other[i] ^= 1;
            zkl_name_prefix(naming, TOKEN, prefix);
            zkl_name_prefix(naming, other, other_prefix);
            CU_ASSERT_STRING_NOT_EQUAL(prefix, other_prefix);
        }
    }
}

static void prefix_and_number_are_read_back(void)
{
    static const int32_t numbers[] = {0, 1, 999, INT32_MAX - 1, INT32_MAX, -1, INT32_MIN};

    for (int naming = ZKL_NAMING_CURATOR; naming <= ZKL_NAMING_KAZOO; naming++) {
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            char prefix[ZKL_PREFIX_SIZE];
            char name[ZKL_OWN_NAME_SIZE];
            int length;

            zkl_name_prefix(naming, TOKEN, prefix);
            length = snprintf(name, sizeof name, "%s%010d", prefix, (int)numbers[i]);
            CU_ASSERT_TRUE(length > 0 && (size_t)length < sizeof name);
            CU_ASSERT_EQUAL(zkl_name_parse(name).kind, ZKL_KIND_LOCK);
            CU_ASSERT_EQUAL(zkl_name_parse(name).number, numbers[i]);
            CU_ASSERT_TRUE(zkl_name_is_own(name, prefix));
        }
    }
}

static void own_name_is_the_whole_prefix_and_a_number(void)
{
    CU_ASSERT_TRUE(zkl_name_is_own("_c_" UUID "-lock-0000000001", "_c_" UUID "-lock-"));
    CU_ASSERT_TRUE(zkl_name_is_own("_c_" UUID "-lock--2147483648", "_c_" UUID "-lock-"));
    CU_ASSERT_FALSE(zkl_name_is_own("_c_" UUID "-lock-", "_c_" UUID "-lock-"));
    CU_ASSERT_FALSE(zkl_name_is_own("_c_" UUID "-lock-1", "_c_" UUID "-lock-"));
    CU_ASSERT_FALSE(zkl_name_is_own("_c_" UUID "-lock-0000000001-x", "_c_" UUID "-lock-"));
    CU_ASSERT_FALSE(zkl_name_is_own("_c_" UUID "-latch-0000000001", "_c_" UUID "-lock-"));
    CU_ASSERT_FALSE(zkl_name_is_own("_c_" HEX "-lock-0000000001", "_c_" UUID "-lock-"));
    CU_ASSERT_FALSE(zkl_name_is_own("a_c_" UUID "-lock-0000000001", "_c_" UUID "-lock-"));
    CU_ASSERT_FALSE(zkl_name_is_own("", "_c_" UUID "-lock-"));
}

static const struct suite_test tests[] = {
    SUITE_TEST(form_of_each_client_is_read),
    SUITE_TEST(negative_session_id_in_the_name_is_read),
    SUITE_TEST(junk_is_foreign),
    SUITE_TEST(number_has_ten_characters_at_least),
    SUITE_TEST(number_fits_a_signed_word),
    SUITE_TEST(negative_zero_is_no_number),
    SUITE_TEST(last_known_word_decides),
    SUITE_TEST(prefix_is_the_one_that_curator_writes),
    SUITE_TEST(prefix_is_the_one_that_kazoo_writes),
    SUITE_TEST(each_byte_of_the_token_shows_in_the_prefix),
    SUITE_TEST(prefix_and_number_are_read_back),
    SUITE_TEST(own_name_is_the_whole_prefix_and_a_number),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "name", tests);
}
