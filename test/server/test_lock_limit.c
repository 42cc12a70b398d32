/* Ends of an acquire that did not get the lock: busy, limits, no server; and what the reasons say. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { LIMIT_MS = 2000, WIDE_MS = 3000 };

static char detail[256];

/* Runs an acquire with the limit of LIMIT_MS. It must not end before; how long after is shown, and bounded widely. */
static zklock_status acquire_with_limit(struct contender *contender)
{
    int64_t start_ms = monotonic_ms();
    zklock_status status = zklock_acquire(contender->lock, LIMIT_MS);
    int64_t taken_ms = monotonic_ms() - start_ms;

    printf(" [%lld ms] ", (long long)taken_ms);
    CU_ASSERT_TRUE(taken_ms >= LIMIT_MS - 1);
    CU_ASSERT_TRUE(taken_ms < LIMIT_MS + WIDE_MS);
    zklock_detail(contender->lock, detail, sizeof(detail));
    return status;
}

static struct contender *hold_outside(void)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);

    contender_hold(holder);
    return holder;
}

/* ---------------------------------------------------------------- not waiting */

static void try_of_a_free_lock_holds_it(void)
{
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    CU_ASSERT_EQUAL(zklock_try(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_is_held(contender->lock));
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
}

static void try_of_a_held_lock_is_busy_and_leaves_nothing(void)
{
    struct contender *holder = hold_outside();
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    CU_ASSERT_EQUAL(zklock_try(contender->lock, STAGE_LIMIT_MS), ZKLOCK_BUSY);
    CU_ASSERT_FALSE(zklock_is_held(contender->lock));
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 1, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_TRUE(zk_server_wait_watch_count(stage.server, 1, STAGE_LIMIT_MS));
}

static void limit_of_zero_asks_once(void)
{
    struct contender *holder = hold_outside();
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, 0), ZKLOCK_BUSY);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, 0), ZKLOCK_OK);
}

static void limit_of_zero_does_not_wait_for_a_connection(void)
{
    struct contender *contender;

    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    contender = contender_new(stage_begin(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS), STAGE_PATH);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, 0), ZKLOCK_NO_SERVER);
    CU_ASSERT_EQUAL(zklock_try(contender->lock, 0), ZKLOCK_NO_SERVER);
}

/* ---------------------------------------------------------------- the limit */

static void limit_behind_a_holder_is_a_timeout(void)
{
    struct contender *holder = hold_outside();
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    CU_ASSERT_EQUAL(acquire_with_limit(contender), ZKLOCK_TIMEOUT);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 1, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
}

static void timeout_names_the_contender_ahead(void)
{
    struct contender *holder = hold_outside();
    struct contender *contender = contender_new(stage.session, STAGE_PATH);
    char name[128];

    zklock_contender_name(holder->lock, name, sizeof(name));
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, 200), ZKLOCK_TIMEOUT);
    zklock_detail(contender->lock, detail, sizeof(detail));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, name));
    CU_ASSERT_PTR_NULL(strstr(detail, "server"));
}

static void limit_without_a_server_says_that_it_is_refused(void)
{
    struct contender *contender;

    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    contender = contender_new(stage_begin(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS), STAGE_PATH);
    CU_ASSERT_EQUAL(acquire_with_limit(contender), ZKLOCK_NO_SERVER);
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, fault_proxy_address(stage.proxy)));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "refused"));
}

static void limit_with_a_silent_server_says_that_it_is_silent(void)
{
    struct contender *contender;

    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    contender = contender_new(stage_begin(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS), STAGE_PATH);
    CU_ASSERT_EQUAL(acquire_with_limit(contender), ZKLOCK_NO_SERVER);
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, fault_proxy_address(stage.proxy)));
    CU_ASSERT_PTR_NULL(strstr(detail, "refused"));
}

static void limit_with_a_server_that_falls_silent_says_so(void)
{
    struct contender *holder = hold_outside();
    struct contender *contender = contender_new(stage.session, STAGE_PATH);
    struct blocking_call call;
    char name[128];

    zklock_contender_name(holder->lock, name, sizeof(name));
    blocking_call_start(&call, contender, zklock_acquire, LIMIT_MS);
    contender_await_state(contender, ZKL_WAITING);
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_TIMEOUT);
    zklock_detail(contender->lock, detail, sizeof(detail));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, name));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "server"));
}

static void limit_with_a_server_that_goes_away_says_so(void)
{
    struct contender *holder = hold_outside();
    struct contender *contender = contender_new(stage.session, STAGE_PATH);
    struct blocking_call call;

    blocking_call_start(&call, contender, zklock_acquire, LIMIT_MS);
    contender_await_state(contender, ZKL_WAITING);
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_TIMEOUT);
    zklock_detail(contender->lock, detail, sizeof(detail));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "connection"));
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
}

static void very_long_limits_do_not_overflow(void)
{
    struct contender *holder = hold_outside();
    static const int64_t limits_ms[] = {INT64_C(100) * 24 * 3600 * 1000, INT64_MAX, INT64_MAX / 1000000, -1, INT64_MIN};

    for (size_t i = 0; i < sizeof(limits_ms) / sizeof(limits_ms[0]); i++) {
        struct contender *contender = contender_new(stage.session, STAGE_PATH);

        contender_begin(contender, limits_ms[i]);
        contender_await_state(contender, ZKL_WAITING);
        CU_ASSERT_EQUAL(zklock_cancel(contender->lock), ZKLOCK_OK);
    }
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
}

/* ---------------------------------------------------------------- one silent address among two */

static struct fault_proxy *silent;

static void start_with_silence(void)
{
    stage_start_without_session();
    silent = fault_proxy_start(zk_server_port(stage.server));
    fault_proxy_set_mood(silent, FAULT_HOLE);
}

static void end_with_silence(void)
{
    stage_end();
    fault_proxy_free(silent);
    silent = NULL;
}

/* Sessions begin with an address of their own choice, so that one round would show little. */
static void check_that_silence_does_not_eat_the_limit(const char *servers)
{
    for (int round = 0; round < 4; round++) {
        struct contender *contender = contender_new(stage_begin(servers, 10000), STAGE_PATH);

        CU_ASSERT_EQUAL(zklock_acquire(contender->lock, 5000), ZKLOCK_OK);
        CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    }
}

static void silent_first_address_does_not_eat_the_limit(void)
{
    char servers[256];

    snprintf(servers, sizeof(servers), "%s,%s", fault_proxy_address(silent), fault_proxy_address(stage.proxy));
    check_that_silence_does_not_eat_the_limit(servers);
}

static void silent_last_address_does_not_eat_the_limit(void)
{
    char servers[256];

    snprintf(servers, sizeof(servers), "%s,%s", fault_proxy_address(stage.proxy), fault_proxy_address(silent));
    check_that_silence_does_not_eat_the_limit(servers);
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(try_of_a_free_lock_holds_it, stage_start, stage_end),
    SUITE_TEST_WITH(try_of_a_held_lock_is_busy_and_leaves_nothing, stage_start, stage_end),
    SUITE_TEST_WITH(limit_of_zero_asks_once, stage_start, stage_end),
    SUITE_TEST_WITH(limit_of_zero_does_not_wait_for_a_connection, stage_start_without_session, stage_end),
    SUITE_TEST_WITH(limit_behind_a_holder_is_a_timeout, stage_start, stage_end),
    SUITE_TEST_WITH(timeout_names_the_contender_ahead, stage_start, stage_end),
    SUITE_TEST_WITH(limit_without_a_server_says_that_it_is_refused, stage_start_without_session, stage_end),
    SUITE_TEST_WITH(limit_with_a_silent_server_says_that_it_is_silent, stage_start_without_session, stage_end),
    SUITE_TEST_WITH(limit_with_a_server_that_falls_silent_says_so, stage_start, stage_end),
    SUITE_TEST_WITH(limit_with_a_server_that_goes_away_says_so, stage_start, stage_end),
    SUITE_TEST_WITH(very_long_limits_do_not_overflow, stage_start, stage_end),
    SUITE_TEST_WITH(silent_first_address_does_not_eat_the_limit, start_with_silence, end_with_silence),
    SUITE_TEST_WITH(silent_last_address_does_not_eat_the_limit, start_with_silence, end_with_silence),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_limit", tests);
}
