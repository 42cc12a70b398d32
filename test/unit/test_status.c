/* The status table, asked in every direction. */
#include "support/suite.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "zklock.h"

static const zklock_status statuses[] = {
#define LIST(name, code, text, retriable, exit_status) ZKLOCK_##name,
    ZKLOCK_STATUS_MAP(LIST)
#undef LIST
};

enum { STATUS_COUNT = sizeof(statuses) / sizeof(statuses[0]) };

static void every_status_has_a_name_and_a_text_of_its_own(void)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        CU_ASSERT_EQUAL(strncmp(zklock_status_name(statuses[i]), "ZKLOCK_", 7), 0);
        CU_ASSERT_TRUE(strlen(zklock_status_text(statuses[i])) > 0);
        for (int j = 0; j < i; j++) {
            CU_ASSERT_NOT_EQUAL(strcmp(zklock_status_name(statuses[i]), zklock_status_name(statuses[j])), 0);
            CU_ASSERT_NOT_EQUAL(strcmp(zklock_status_text(statuses[i]), zklock_status_text(statuses[j])), 0);
        }
    }
}

static void number_that_is_no_status_has_texts(void)
{
    const int strangers[] = {-1, 1000, INT_MAX, INT_MIN};

    for (int i = 0; i < 4; i++) {
        CU_ASSERT_STRING_EQUAL(zklock_status_text((zklock_status)strangers[i]), "unknown status");
        CU_ASSERT_STRING_EQUAL(zklock_status_name((zklock_status)strangers[i]), "ZKLOCK_?");
        CU_ASSERT_FALSE(zklock_status_is_retriable((zklock_status)strangers[i]));
        CU_ASSERT_EQUAL(zklock_status_exit((zklock_status)strangers[i]), 70);
    }
}

static void only_success_exits_with_zero(void)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        int status = zklock_status_exit(statuses[i]);

        CU_ASSERT_EQUAL(status == 0, statuses[i] == ZKLOCK_OK);
        /* From 126 on a shell speaks of commands that could not run, and of signals. */
        CU_ASSERT_TRUE(status >= 0 && status < 126);
    }
}

static void what_may_pass_by_itself_is_retriable(void)
{
    CU_ASSERT_TRUE(zklock_status_is_retriable(ZKLOCK_BUSY));
    CU_ASSERT_TRUE(zklock_status_is_retriable(ZKLOCK_NO_SERVER));
    CU_ASSERT_FALSE(zklock_status_is_retriable(ZKLOCK_OK));
    CU_ASSERT_FALSE(zklock_status_is_retriable(ZKLOCK_BAD_ARGUMENT));
}

static void every_loss_has_a_text_of_its_own(void)
{
    for (int i = ZKLOCK_LOSS_NONE; i <= ZKLOCK_LOSS_HOLD_LIMIT + 1; i++) {
        CU_ASSERT_TRUE(strlen(zklock_loss_text((zklock_loss)i)) > 0);
        for (int j = ZKLOCK_LOSS_NONE; j < i; j++)
            CU_ASSERT_NOT_EQUAL(strcmp(zklock_loss_text((zklock_loss)i), zklock_loss_text((zklock_loss)j)), 0);
    }
}

static void version_is_that_of_the_header(void)
{
    char expected[32];

    snprintf(expected, sizeof(expected), "%d.%d.%d", ZKLOCK_VERSION_MAJOR, ZKLOCK_VERSION_MINOR,
             ZKLOCK_VERSION_PATCH);
    CU_ASSERT_STRING_EQUAL(zklock_version(), expected);
}

static const struct suite_test tests[] = {
    SUITE_TEST(every_status_has_a_name_and_a_text_of_its_own),
    SUITE_TEST(number_that_is_no_status_has_texts),
    SUITE_TEST(only_success_exits_with_zero),
    SUITE_TEST(what_may_pass_by_itself_is_retriable),
    SUITE_TEST(every_loss_has_a_text_of_its_own),
    SUITE_TEST(version_is_that_of_the_header),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "status", tests);
}
