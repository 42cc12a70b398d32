/* Order, whatever else stands in the directory: foreign children, other libraries' names, and the counter's end. */
#include "server/counter_log.h"
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock_state.h"

static struct contender *contender;

static void start(void)
{
    stage_start();
    contender = contender_new(stage.session, STAGE_PATH);
}

static void put(const char *name, int flags)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", STAGE_PATH, name);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, path, "", flags, NULL), ZOK);
}

static void take_away(const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", STAGE_PATH, name);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, path), ZOK);
}

static bool matches(const char *text, const char *pattern)
{
    regex_t compiled;
    bool is_match;

    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    is_match = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return is_match;
}

static void check_name(struct contender *named, const char *pattern)
{
    char name[128];

    zklock_contender_name(named->lock, name, sizeof(name));
    CU_ASSERT_TRUE(matches(name, pattern));
}

/* ---------------------------------------------------------------- foreign children */

static const char *const junk[] = {"x", "config", "lock-", "lock-12", "a-b-c", "0000000000", "-lock-", "zz-lock-12",
                                   "_c_-lock-99999999999999", "\xc3\xa9-lock-"};
enum { JUNK_COUNT = sizeof(junk) / sizeof(junk[0]) };

static void junk_is_ignored_and_never_deleted(void)
{
    for (int i = 0; i < JUNK_COUNT; i++)
        put(junk[i], 0);
    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), JUNK_COUNT);
}

/* Names that sort against their numbers, made by others in this order. */
static void order_is_by_number_alone(void)
{
    char first[OBSERVER_PATH_SIZE], second[OBSERVER_PATH_SIZE];

    CU_ASSERT_EQUAL(observer_create(stage.observer, STAGE_PATH "/zzz-lock-", "", ZOO_SEQUENCE, first), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage.observer, STAGE_PATH "/x-72057594037927936-", "", ZOO_SEQUENCE, second), ZOK);
    contender_queue(contender);
    put("aaa-lock-0000000009", 0);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, first), ZOK);
    stage_fence(stage.session);
    contender_await_state(contender, ZKL_WAITING);
    CU_ASSERT_EQUAL(zklock_result(contender->lock), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, second), ZOK);
    CU_ASSERT_EQUAL(contender_result(contender), ZKLOCK_OK);
}

static void node_that_is_not_ephemeral_is_waited_for(void)
{
    put("old-lock-0000000000", 0);
    contender_queue(contender);
    take_away("old-lock-0000000000");
    CU_ASSERT_EQUAL(contender_result(contender), ZKLOCK_OK);
}

/* ---------------------------------------------------------------- families */

static void check_mixed(const char *name)
{
    char detail[256];

    put(name, 0);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_MIXED_STYLES);
    zklock_detail(contender->lock, detail, sizeof(detail));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, STAGE_PATH));
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 1, STAGE_LIMIT_MS));
    take_away(name);
}

static void families_that_do_not_count_us_are_refused(void)
{
    static const char *const names[] = {"_c_52e6ba20-6b6e-4a4c-8dc3-2f9f5e5c2a10-__READ__0000000099",
                                        "_c_52e6ba20-6b6e-4a4c-8dc3-2f9f5e5c2a10-__WRIT__0000000000",
                                        "_c_52e6ba20-6b6e-4a4c-8dc3-2f9f5e5c2a10-latch-0000000099",
                                        "52e6ba206b6e4a4c8dc32f9f5e5c2a10__rlock__0000000099"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_mixed(names[i]);
    contender_hold(contender);
}

static struct contender *in_style(zklock_style style)
{
    zklock_options options;

    zklock_options_init(&options);
    options.style = style;
    return contender_new_with(stage.session, STAGE_PATH, &options);
}

static void names_are_what_the_other_libraries_read(void)
{
    struct contender *kazoo = in_style(ZKLOCK_STYLE_KAZOO);

    contender_hold(kazoo);
    check_name(kazoo, "^[0-9a-f]{32}__lock__[0-9]{10}$");
    CU_ASSERT_EQUAL(zklock_release(kazoo->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_hold(contender);
    check_name(contender, "^_c_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-lock-[0-9]{10}$");
}

static void styles_exclude_each_other(void)
{
    struct contender *kazoo = in_style(ZKLOCK_STYLE_KAZOO);

    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_try(kazoo->lock, STAGE_LIMIT_MS), ZKLOCK_BUSY);
    contender_queue(kazoo);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(kazoo), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_try(contender->lock, STAGE_LIMIT_MS), ZKLOCK_BUSY);
}

static void kazoo_writer_waits_for_kazoo_readers(void)
{
    struct contender *kazoo = in_style(ZKLOCK_STYLE_KAZOO);

    put("52e6ba206b6e4a4c8dc32f9f5e5c2a10__rlock__0000000000", 0);
    contender_queue(kazoo);
    take_away("52e6ba206b6e4a4c8dc32f9f5e5c2a10__rlock__0000000000");
    CU_ASSERT_EQUAL(contender_result(kazoo), ZKLOCK_OK);
}

/* ---------------------------------------------------------------- the counter's end */

static void contenders_beyond_the_counter_come_after_all_others(void)
{
    put("a-lock-2147483647", 0);
    put("b-lock--2147483648", 0);
    contender_hold(contender);
}

/* The three last numbers are there; from then on all contenders have the same. */
enum { LIMIT_CONTENDERS = 8 };
#define LIMIT_PATH "/limit"

static struct contender *crowd[LIMIT_CONTENDERS];

static void start_at_the_limit(void)
{
    stage.server = zk_server_start(NULL);
    zk_server_stop(stage.server);
    counter_log_write(zk_server_data_directory(stage.server), LIMIT_PATH, INT32_MAX - 2);
    zk_server_restart(stage.server);
    stage.observer = observer_open(zk_server_address(stage.server), 30000);
    stage.session = stage_open_outside();
    for (int i = 0; i < LIMIT_CONTENDERS; i++)
        crowd[i] = contender_new(stage.session, LIMIT_PATH);
}

static uint64_t latest_czxid(struct contender *one)
{
    zkl_session_lock(one->session);
    uint64_t czxid = one->lock->attempt->token;
    zkl_session_unlock(one->session);
    return czxid;
}

/* The one that was created first; all others must be waiting still. */
static struct contender *take_the_oldest(void)
{
    int oldest = -1;
    struct contender *found;

    for (int i = 0; i < LIMIT_CONTENDERS; i++)
        if (crowd[i] && (oldest < 0 || latest_czxid(crowd[i]) < latest_czxid(crowd[oldest])))
            oldest = i;
    found = crowd[oldest];
    crowd[oldest] = NULL;
    CU_ASSERT_EQUAL_FATAL(contender_result(found), ZKLOCK_OK);
    for (int i = 0; i < LIMIT_CONTENDERS; i++)
        CU_ASSERT_TRUE(!crowd[i] || zklock_result(crowd[i]->lock) == ZKLOCK_PENDING);
    return found;
}

/* One is granted at a time, in the order of creation, and its release removes its own node only. */
static void check_turns(void)
{
    uint64_t before = 0;
    char node[OBSERVER_PATH_SIZE];

    for (int left = LIMIT_CONTENDERS; left > 0; left--) {
        struct contender *holder = take_the_oldest();

        CU_ASSERT_TRUE(contender_token(holder) > before);
        before = contender_token(holder);
        contender_node(holder, node);
        CU_ASSERT_TRUE(observer_exists(stage.observer, node));
        CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
        CU_ASSERT_EQUAL(observer_count(stage.observer, LIMIT_PATH), left - 1);
    }
}

static void equal_numbers_are_ordered_by_creation(void)
{
    contender_hold(crowd[0]);
    check_name(crowd[0], "-lock-2147483645$");
    for (int i = 1; i < LIMIT_CONTENDERS; i++)
        contender_queue(crowd[i]);
    check_name(crowd[3], "-lock-2147483647$");
    check_name(crowd[7], "-lock-2147483647$");
    check_turns();
}

/* Creates that overtake the counter's own update get negative numbers. */
static void numbers_of_a_crowd_at_the_limit_are_ordered_by_creation(void)
{
    for (int i = 0; i < LIMIT_CONTENDERS; i++)
        contender_begin(crowd[i], -1);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, LIMIT_PATH, LIMIT_CONTENDERS, STAGE_LIMIT_MS));
    for (int i = 1; i < LIMIT_CONTENDERS; i++)
        contender_await_state(crowd[i], ZKL_WAITING);
    check_turns();
}

#define TEST(test) SUITE_TEST_WITH(test, start, stage_end)

static const struct suite_test tests[] = {
    TEST(junk_is_ignored_and_never_deleted),
    TEST(order_is_by_number_alone),
    TEST(node_that_is_not_ephemeral_is_waited_for),
    TEST(families_that_do_not_count_us_are_refused),
    TEST(names_are_what_the_other_libraries_read),
    TEST(styles_exclude_each_other),
    TEST(kazoo_writer_waits_for_kazoo_readers),
    TEST(contenders_beyond_the_counter_come_after_all_others),
    SUITE_TEST_WITH(equal_numbers_are_ordered_by_creation, start_at_the_limit, stage_end),
    SUITE_TEST_WITH(numbers_of_a_crowd_at_the_limit_are_ordered_by_creation, start_at_the_limit, stage_end),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_order", tests);
}
