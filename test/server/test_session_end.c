/* Ending a session by its key, as a process does that outlives the session's own. */
#include "server/lock_stage.h"

#include "support/suite.h"

#include <stdio.h>

enum { SHORT_LIMIT_MS = 300, LONG_TIMEOUT_MS = 20000 };

static struct contender *holder;
static struct contender *waiter;

static void start(void)
{
    stage_start_without_session();
    stage.session = stage_open(fault_proxy_address(stage.proxy), LONG_TIMEOUT_MS);
    holder = contender_new(stage.session, STAGE_PATH);
    waiter = contender_new(stage_open_outside(), STAGE_PATH);
}

static zklock_session_key key_of(zklock_session *session)
{
    zklock_session_key key = {0};

    CU_ASSERT_EQUAL_FATAL(zklock_session_key_get(session, &key), ZKLOCK_OK);
    return key;
}

static void next_in_line_holds_as_soon_as_the_session_is_ended(void)
{
    zklock_session_key key;

    contender_hold(holder);
    contender_queue(waiter);
    key = key_of(stage.session);
    CU_ASSERT_EQUAL(key.session_id, stage_session_id(stage.session));
    CU_ASSERT_EQUAL(zklock_session_end(zk_server_address(stage.server), &key, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    /* Its node is gone and its session too; it hears of one of them. Nobody has waited for a lease to run out. */
    CU_ASSERT_NOT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_LEASE);
}

static void session_that_is_over_counts_as_ended(void)
{
    zklock_session_key key = key_of(stage.session);

    CU_ASSERT_EQUAL(stage_close(stage.session, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_session_end(zk_server_address(stage.server), &key, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void silent_first_server_does_not_eat_the_limit(void)
{
    zklock_session_key key = key_of(stage.session);
    char servers[128];

    snprintf(servers, sizeof servers, "%s,%s", fault_proxy_address(stage.proxy), zk_server_address(stage.server));
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    CU_ASSERT_EQUAL(zklock_session_end(servers, &key, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void limit_passes_without_a_server(void)
{
    zklock_session_key key = key_of(stage.session);

    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    CU_ASSERT_EQUAL(zklock_session_end(fault_proxy_address(stage.proxy), &key, SHORT_LIMIT_MS), ZKLOCK_NO_SERVER);
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    CU_ASSERT_EQUAL(zklock_session_end(fault_proxy_address(stage.proxy), &key, SHORT_LIMIT_MS), ZKLOCK_NO_SERVER);
}

static void what_is_no_key_is_refused(void)
{
    const zklock_session_key none = {0};
    zklock_session_key key = key_of(stage.session);
    zklock_session *unconnected;

    CU_ASSERT_EQUAL(zklock_session_end(NULL, NULL, 0), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_session_end(NULL, &none, 0), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_session_end("127.0.0.1:99999", &key, 0), ZKLOCK_BAD_ARGUMENT);
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    unconnected = stage_begin(fault_proxy_address(stage.proxy), LONG_TIMEOUT_MS);
    CU_ASSERT_EQUAL(zklock_session_key_get(unconnected, &key), ZKLOCK_NO_SERVER);
}

#define TEST(test) SUITE_TEST_WITH(test, start, stage_end)

static const struct suite_test tests[] = {
    TEST(next_in_line_holds_as_soon_as_the_session_is_ended),
    TEST(session_that_is_over_counts_as_ended),
    TEST(silent_first_server_does_not_eat_the_limit),
    TEST(limit_passes_without_a_server),
    TEST(what_is_no_key_is_refused),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "session_end", tests);
}
