/* The limit of a semaphore as text. */
#include "lock/limit.h"

#include <string.h>

#include "support/suite.h"
#include "zklock.h"

static unsigned permits;

static bool read(const char *text)
{
    permits = 77;
    return zkl_limit_read(text, strlen(text), &permits);
}

static void what_is_written_is_read(void)
{
    static const unsigned limits[] = {1, 3, 10, 999999, ZKLOCK_PERMITS_MAX};
    char text[ZKL_LIMIT_SIZE];

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        int size = zkl_limit_write(text, limits[i]);
        CU_ASSERT_EQUAL(size, (int)strlen(text));
        CU_ASSERT_TRUE(read(text));
        CU_ASSERT_EQUAL(permits, limits[i]);
    }
    zkl_limit_write(text, 3);
    CU_ASSERT_STRING_EQUAL(text, "{\"zklock_permits\":3}");
}

static void blanks_and_other_members_are_no_matter(void)
{
    CU_ASSERT_TRUE(read(" {\n  \"zklock_permits\" : 12\t,\r\n \"note\": \"by hand\" }\n"));
    CU_ASSERT_EQUAL(permits, 12);
    CU_ASSERT_TRUE(read("{\"zklock_permits\":4}"));
    CU_ASSERT_EQUAL(permits, 4);
}

static void what_is_no_limit_is_refused(void)
{
    static const char *const texts[] = {
        "", " ", "3", "{}", "{", "{\"zklock_permits\"", "{\"zklock_permits\":", "{\"zklock_permits\":}",
        "{\"zklock_permits\":3", "{\"zklock_permits\":3 4}", "{\"zklock_permits\":0}", "{\"zklock_permits\":-1}",
        "{\"zklock_permits\":03}", "{\"zklock_permits\":1.5}", "{\"zklock_permits\":\"3\"}", "{\"permits\":3}",
        "{\"zklock_permits\":1000001}", "{\"zklock_permits\":99999999999999999999999}", "{\"zklock_stamp\":1,}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CU_ASSERT_FALSE(read(texts[i]));
        CU_ASSERT_EQUAL(permits, 77);
    }
    CU_ASSERT_FALSE(zkl_limit_read(NULL, 0, &permits));
}

/* Data need not end with a NUL, and may have some. */
static void nothing_is_read_beyond_the_data(void)
{
    CU_ASSERT_FALSE(zkl_limit_read("{\"zklock_permits\":3}", strlen("{\"zklock_permits\":3"), &permits));
    CU_ASSERT_FALSE(zkl_limit_read("{\"zklock_permits\":\0003}", 20, &permits));
    CU_ASSERT_FALSE(zkl_limit_read("\0{\"zklock_permits\":3}", 21, &permits));
}

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_written_is_read),
    SUITE_TEST(blanks_and_other_members_are_no_matter),
    SUITE_TEST(what_is_no_limit_is_refused),
    SUITE_TEST(nothing_is_read_beyond_the_data),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "limit", tests);
}
