/* Locks through a handle that was replaced by another one under the same session, because it did not connect in time. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TIMEOUT_MS = 10000, SILENT = 2 };

static struct fault_proxy *silent[SILENT];
static struct contender *holder;
static struct contender *waiter;
static int64_t holder_session, waiter_session;
static uint64_t token;
static char waiter_node[OBSERVER_PATH_SIZE];

static void start(void)
{
    char servers[256];

    stage_start_without_session();
    for (int i = 0; i < SILENT; i++)
        silent[i] = fault_proxy_start(zk_server_port(stage.server));
    snprintf(servers, sizeof servers, "%s,%s,%s", fault_proxy_address(stage.proxy), fault_proxy_address(silent[0]),
             fault_proxy_address(silent[1]));
    holder = contender_new(stage_open(servers, TIMEOUT_MS), STAGE_PATH);
    waiter = contender_new(stage_open(servers, TIMEOUT_MS), STAGE_PATH);
    contender_hold(holder);
    contender_queue(waiter);
    holder_session = stage_session_id(holder->session);
    waiter_session = stage_session_id(waiter->session);
    token = contender_token(holder);
    contender_node(waiter, waiter_node);
}

static void end(void)
{
    stage_end();
    for (int i = 0; i < SILENT; i++)
        fault_proxy_free(silent[i]);
}

static bool has_called_both(void *accepted)
{
    const int *before = accepted;

    return fault_proxy_accepted(silent[0]) > before[0] && fault_proxy_accepted(silent[1]) > before[1];
}

static bool is_connected(void *session)
{
    zklock_session_info info;

    return zklock_session_info_get(session, &info) == ZKLOCK_OK && info.is_connected;
}

/*
 * Two of three servers accept connections and say nothing. To the client library they cost two thirds of the session
 * timeout each, and so the session.
 */
static void fall_silent(void)
{
    int accepted[SILENT];

    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    for (int i = 0; i < SILENT; i++) {
        fault_proxy_set_mood(silent[i], FAULT_HOLE);
        fault_proxy_cut(silent[i]);
        accepted[i] = fault_proxy_accepted(silent[i]);
    }
    CU_ASSERT_TRUE_FATAL(eventually(has_called_both, accepted, STAGE_LIMIT_MS));
}

static void fall_silent_and_come_back(void)
{
    fall_silent();
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    CU_ASSERT_TRUE_FATAL(eventually(is_connected, holder->session, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE_FATAL(eventually(is_connected, waiter->session, STAGE_LIMIT_MS));
}

static void silent_servers_cost_neither_lock_nor_place(void)
{
    char node[OBSERVER_PATH_SIZE];

    fall_silent_and_come_back();
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_FALSE(contender_heard(holder, ZKLOCK_EVENT_LOST));
    CU_ASSERT_FALSE(contender_heard(waiter, ZKLOCK_EVENT_REQUEUED));
    CU_ASSERT_EQUAL(stage_session_id(holder->session), holder_session);
    CU_ASSERT_EQUAL(stage_session_id(waiter->session), waiter_session);
    CU_ASSERT_EQUAL(contender_token(holder), token);
    contender_node(waiter, node);
    CU_ASSERT_STRING_EQUAL(node, waiter_node);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_TRUE(contender_token(waiter) > token);
}

/* Watches went with the old handle. */
static void holder_hears_of_its_deletion_through_the_new_handle(void)
{
    char node[OBSERVER_PATH_SIZE];

    contender_node(holder, node);
    fall_silent_and_come_back();
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), ZOK);
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_REMOVED);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
}

/* What happened meanwhile is found out by asking. */
static void waiter_is_granted_what_became_free_meanwhile(void)
{
    char node[OBSERVER_PATH_SIZE];

    contender_node(holder, node);
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), ZOK);
    fall_silent_and_come_back();
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_REMOVED);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_EQUAL(stage_session_id(waiter->session), waiter_session);
}

/* A server with an older state would take the new handle in: what it says counts behind a quorum write only. */
static void nothing_is_asked_before_a_write_was_answered(void)
{
    CU_ASSERT_EQUAL_FATAL(zklock_cancel(waiter->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(stage_close(waiter->session, STAGE_LIMIT_MS), ZKLOCK_OK);
    fall_silent();
    fault_proxy_reset_counts(stage.proxy);
    fault_proxy_hold_reply(stage.proxy, FAULT_OP_MULTI, 1);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    CU_ASSERT_TRUE_FATAL(fault_proxy_wait_held(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_FALSE(is_connected(holder->session));
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_EVERY), 1);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 1, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(is_connected(holder->session));
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_EQUAL(contender_token(holder), token);
}

#define TEST(test) SUITE_TEST_WITH(test, start, end)

static const struct suite_test tests[] = {
    TEST(silent_servers_cost_neither_lock_nor_place),
    TEST(holder_hears_of_its_deletion_through_the_new_handle),
    TEST(waiter_is_granted_what_became_free_meanwhile),
    TEST(nothing_is_asked_before_a_write_was_answered),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_replaced", tests);
}
