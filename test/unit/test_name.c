/* Contenders' names: every form in use, junk, limits. */
#include "recipe/name.h"

#include <stdio.h>
#include <string.h>

#include "support/suite.h"

#define UUID "3f2b6c1e-8a4d-4e0f-9b1a-0123456789ab"
#define HEX "3f2b6c1e8a4d4e0f9b1a0123456789ab"
/* The same token, as our names show it. */
#define OUR_UUID "3f2b6c1e-8a4d-8e0f-9b1a-0123456789ab"
#define OUR_HEX "3f2b6c1e8a4d8e0f9b1a0123456789ab"

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
        {HEX "__lock__0000000013", ZKL_KIND_KAZOO_LOCK, 13},
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

/* Each kind that we write, and how Curator or kazoo spells it. */
static const struct {
    enum zkl_kind kind;
    const char *prefix;
} written[] = {
    {ZKL_KIND_LOCK, "_c_" OUR_UUID "-lock-"},      {ZKL_KIND_READ, "_c_" OUR_UUID "-__READ__"},
    {ZKL_KIND_WRITE, "_c_" OUR_UUID "-__WRIT__"},  {ZKL_KIND_LATCH, "_c_" OUR_UUID "-latch-"},
    {ZKL_KIND_LEASE, "_c_" OUR_UUID "-lease-"},    {ZKL_KIND_KAZOO_LOCK, OUR_HEX "__lock__"},
    {ZKL_KIND_KAZOO_READ, OUR_HEX "__rlock__"},
};

#define WRITTEN_COUNT (sizeof written / sizeof written[0])

static void prefix_is_the_one_that_the_others_write(void)
{
    for (size_t i = 0; i < WRITTEN_COUNT; i++) {
        char prefix[ZKL_PREFIX_SIZE];
        zkl_name_prefix(written[i].kind, TOKEN, prefix);
        CU_ASSERT_STRING_EQUAL(prefix, written[i].prefix);
    }
}

static void each_byte_of_the_token_shows_in_the_prefix(void)
{
    for (size_t kind = 0; kind < WRITTEN_COUNT; kind++) {
        for (int i = 0; i < ZKL_TOKEN_BYTES; i++) {
            unsigned char other[ZKL_TOKEN_BYTES];
            char prefix[ZKL_PREFIX_SIZE];
            char other_prefix[ZKL_PREFIX_SIZE];

            memcpy(other, TOKEN, sizeof other);
            other[i] ^= 1;
            zkl_name_prefix(written[kind].kind, TOKEN, prefix);
            zkl_name_prefix(written[kind].kind, other, other_prefix);
            CU_ASSERT_STRING_NOT_EQUAL(prefix, other_prefix);
        }
    }
}

static void prefix_and_number_are_read_back(void)
{
    static const int32_t numbers[] = {0, 1, 999, INT32_MAX - 1, INT32_MAX, -1, INT32_MIN};

    for (size_t kind = 0; kind < WRITTEN_COUNT; kind++) {
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            char prefix[ZKL_PREFIX_SIZE];
            char name[ZKL_OWN_NAME_SIZE];
            int length;

            zkl_name_prefix(written[kind].kind, TOKEN, prefix);
            length = snprintf(name, sizeof name, "%s%010d", prefix, (int)numbers[i]);
            CU_ASSERT_TRUE(length > 0 && (size_t)length < sizeof name);
            CU_ASSERT_EQUAL(zkl_name_parse(name).kind, written[kind].kind);
            CU_ASSERT_EQUAL(zkl_name_parse(name).number, numbers[i]);
            CU_ASSERT_TRUE(zkl_name_is_own(name, prefix));
        }
    }
}

/* Whatever the random bytes are. */
static void name_of_ours_is_known_as_such(void)
{
    for (int byte = 0; byte < 256; byte++) {
        unsigned char token[ZKL_TOKEN_BYTES];
        char prefix[ZKL_PREFIX_SIZE];
        char name[ZKL_OWN_NAME_SIZE];

        memset(token, byte, sizeof token);
        zkl_name_prefix(ZKL_KIND_LOCK, token, prefix);
        CU_ASSERT_TRUE(snprintf(name, sizeof name, "%s0000000001", prefix) > 0);
        CU_ASSERT_TRUE(zkl_name_parse(name).is_ours);
    }
}

static void names_of_others_are_not_ours(void)
{
    static const char *const names[] = {
        "_c_" UUID "-lock-0000000001",
        "_c_" HEX "-lock-0000000001",
        "_c_" OUR_HEX "-lock-0000000001",
        "_d_" OUR_UUID "-lock-0000000001",
        "_c_3f2b6c1e-8a4d08e0f-9b1a-0123456789ab-lock-0000000001",
        "_c_3f2b6c1e-8a4d-8e0f-7b1a-0123456789ab-lock-0000000001",
        "_c_3f2b6c1e-8a4d-8e0f09b1a-0123456789ab-lock-0000000001",
        "_c_-lock-0000000001",
        "x-12-0000000001",
        "_c_" OUR_UUID "-lock-",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CU_ASSERT_FALSE(zkl_name_parse(names[i]).is_ours);
}

static void reader_in_a_writers_place_keeps_token_and_number(void)
{
    char name[ZKL_OWN_NAME_SIZE] = "as it was";
    char long_name[ZKL_OWN_NAME_SIZE + 1];

    CU_ASSERT_FALSE(zkl_name_downgraded("_c_" OUR_UUID "-lock-0000000007", name));
    CU_ASSERT_FALSE(zkl_name_downgraded("_c_" OUR_UUID "-__WRIT__", name));
    memset(long_name, 'a', sizeof long_name);
    strcpy(long_name + sizeof long_name - sizeof "-__WRIT__0000000007", "-__WRIT__0000000007");
    CU_ASSERT_FALSE(zkl_name_downgraded(long_name, name));
    CU_ASSERT_STRING_EQUAL(name, "as it was");
    CU_ASSERT_TRUE(zkl_name_downgraded("_c_" OUR_UUID "-__WRIT__0000000007", name));
    CU_ASSERT_STRING_EQUAL(name, "_c_" OUR_UUID "-__READ__0000000007");
}

static void readers_alone_share(void)
{
    for (size_t i = 0; i < WRITTEN_COUNT; i++)
        CU_ASSERT_EQUAL(zkl_kind_is_shared(written[i].kind),
                        written[i].kind == ZKL_KIND_READ || written[i].kind == ZKL_KIND_KAZOO_READ);
}

static void lease_and_junk_are_no_contenders_for_a_lock(void)
{
    CU_ASSERT_TRUE(zkl_name_is_contender(zkl_name_parse("_c_" UUID "-lock-0000000001")));
    CU_ASSERT_TRUE(zkl_name_is_contender(zkl_name_parse("_c_" UUID "-__READ__0000000001")));
    CU_ASSERT_FALSE(zkl_name_is_contender(zkl_name_parse("_c_" UUID "-lease-0000000001")));
    CU_ASSERT_FALSE(zkl_name_is_contender(zkl_name_parse("config")));
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
    SUITE_TEST(prefix_is_the_one_that_the_others_write),
    SUITE_TEST(each_byte_of_the_token_shows_in_the_prefix),
    SUITE_TEST(prefix_and_number_are_read_back),
    SUITE_TEST(name_of_ours_is_known_as_such),
    SUITE_TEST(names_of_others_are_not_ours),
    SUITE_TEST(reader_in_a_writers_place_keeps_token_and_number),
    SUITE_TEST(readers_alone_share),
    SUITE_TEST(lease_and_junk_are_no_contenders_for_a_lock),
    SUITE_TEST(own_name_is_the_whole_prefix_and_a_number),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "name", tests);
}
