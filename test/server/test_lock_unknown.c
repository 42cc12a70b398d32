/* Requests whose fate nobody tells: lost answers, lost requests, a create that comes late. One contender an acquire,
 * no orphan, and the lock is granted and handed over all the same. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

#include "lock/lock_state.h"

enum { SHORT_TIMEOUT_MS = 3000, ROUNDS = 200 };

static struct contender *holder;
static struct contender *contender;

static void start(void)
{
    stage_start_without_session();
    stage.session = stage_open(fault_proxy_address(stage.proxy), SHORT_TIMEOUT_MS);
    holder = contender_new(stage_open_outside(), STAGE_PATH);
    contender = contender_new(stage.session, STAGE_PATH);
}

/* ---------------------------------------------------------------- answers and requests lost */

static void set_fault(int round)
{
    switch (round % 4) {
    case 0:
        fault_proxy_lose_reply(stage.proxy, FAULT_OP_CREATE2, 1, FAULT_THEN_CUT);
        break;
    case 1:
        fault_proxy_drop_request(stage.proxy, FAULT_OP_CREATE2, 1, FAULT_THEN_CUT);
        break;
    case 2:
        fault_proxy_lose_reply(stage.proxy, FAULT_OP_CREATE2, 1, FAULT_GO_ON);
        break;
    case 3:
        fault_proxy_lose_reply(stage.proxy, FAULT_OP_GET_CHILDREN, 1, FAULT_THEN_CUT);
        break;
    }
}

/* Behind a holder the contender has to find its place; alone it has to be granted by what it finds. */
static void pass_one_round(int round)
{
    bool is_behind = round % 3 != 0;

    if (is_behind)
        contender_hold(holder);
    set_fault(round);
    CU_ASSERT_EQUAL_FATAL(zklock_acquire_start(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    if (is_behind) {
        contender_await_state(contender, ZKL_WAITING);
        CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 2);
        CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    }
    CU_ASSERT_EQUAL_FATAL(zklock_wait(contender->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

static void lost_answers_and_requests_leave_one_contender_and_no_orphan(void)
{
    for (int round = 0; round < ROUNDS; round++)
        pass_one_round(round);
    CU_ASSERT_EQUAL(fault_proxy_fired(stage.proxy), ROUNDS);
    CU_ASSERT_TRUE(zk_server_wait_watch_count(stage.server, 0, STAGE_LIMIT_MS));
}

static void answer_to_the_barrier_is_lost_too(void)
{
    contender_hold(holder);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_CREATE2, 1, FAULT_THEN_CUT);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_MULTI, 1, FAULT_THEN_CUT);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_MULTI, 3, FAULT_THEN_CUT);
    contender_queue(contender);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 2);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(contender), ZKLOCK_OK);
}

static void silence_after_the_create_is_a_lost_answer(void)
{
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_CREATE2, 1, FAULT_THEN_SILENT);
    contender_hold(contender);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
}

static void lost_answer_to_the_watches_is_asked_for_again(void)
{
    contender_hold(holder);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_GET_DATA, 1, FAULT_THEN_CUT);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_GET_DATA, 4, FAULT_THEN_CUT);
    contender_queue(contender);
    CU_ASSERT_EQUAL(fault_proxy_fired(stage.proxy), 2);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(contender), ZKLOCK_OK);
}

/* The event that is the grant gets lost; the watch that is set again after the reconnect tells. */
static void lost_event_is_told_after_the_reconnect(void)
{
    contender_hold(holder);
    contender_queue(contender);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_EVENT, 1, FAULT_THEN_CUT);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(contender), ZKLOCK_OK);
    CU_ASSERT_EQUAL(fault_proxy_fired(stage.proxy), 1);
}

/* ---------------------------------------------------------------- a create that comes late */

/*
 * A server closes the old connection when its client comes back, and what lies on the way is lost with it. What can
 * come late is a create that the server has read already and keeps in a thread that stands still; this is imitated by
 * a node of the same name, made by somebody else.
 */
static char late_name[OBSERVER_PATH_SIZE];

static void lose_a_create(void)
{
    fault_proxy_hold_request(stage.proxy, FAULT_OP_CREATE2, 1);
    contender_begin(contender, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    snprintf(late_name, sizeof(late_name), "%s/%s", STAGE_PATH, contender->lock->attempt->prefix);
}

static void let_the_create_come_late(char out_path[OBSERVER_PATH_SIZE])
{
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, late_name, "", ZOO_EPHEMERAL | ZOO_SEQUENCE, out_path), ZOK);
}

static void create_that_comes_late_is_swept(void)
{
    char path[OBSERVER_PATH_SIZE];

    lose_a_create();
    fault_proxy_cut(stage.proxy);
    CU_ASSERT_EQUAL(contender_result(contender), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
    let_the_create_come_late(path);
    CU_ASSERT_TRUE(observer_wait_gone(stage.observer, path, SHORT_TIMEOUT_MS));
    CU_ASSERT_TRUE(zklock_is_held(contender->lock));
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
}

/* The session lives on, for another lock. */
static void create_that_comes_late_does_not_stop_the_ones_behind(void)
{
    struct contender *other = contender_new(stage.session, "/stage/other");
    char path[OBSERVER_PATH_SIZE];

    contender_hold(other);
    lose_a_create();
    fault_proxy_cut(stage.proxy);
    CU_ASSERT_EQUAL(contender_result(contender), ZKLOCK_OK);
    let_the_create_come_late(path);
    contender_begin(holder, -1);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(holder), ZKLOCK_OK);
}

static void create_that_comes_late_is_removed_by_the_next_listing(void)
{
    struct contender *next = contender_new(stage.session, STAGE_PATH);
    char path[OBSERVER_PATH_SIZE];

    lose_a_create();
    fault_proxy_cut(stage.proxy);
    CU_ASSERT_EQUAL(contender_result(contender), ZKLOCK_OK);
    let_the_create_come_late(path);
    CU_ASSERT_EQUAL(zklock_try(next->lock, STAGE_LIMIT_MS), ZKLOCK_BUSY);
    contender_await_event(next, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_FALSE(observer_exists(stage.observer, path));
}

static bool has_other_session(void *context)
{
    zklock_session_info info;

    return zklock_session_info_get(stage.session, &info) == ZKLOCK_OK && info.is_connected &&
           info.session_id != *(int64_t *)context;
}

/* Nobody needs the session any more: a fresh one makes sure that the create never comes. */
static void lost_create_of_a_freed_lock_ends_the_session(void)
{
    int64_t session_id = stage_session_id(stage.session);

    lose_a_create();
    contender_free_lock(contender);
    fault_proxy_cut(stage.proxy);
    CU_ASSERT_TRUE(eventually(has_other_session, &session_id, STAGE_LIMIT_MS));
    CU_ASSERT_FALSE(zk_server_has_session(stage.server, session_id));
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

/* Another lock needs the session: the sweeps go on without the lock object. */
static void create_that_comes_late_for_a_freed_lock_is_swept(void)
{
    struct contender *other = contender_new(stage.session, "/stage/other");
    char path[OBSERVER_PATH_SIZE];

    contender_hold(other);
    lose_a_create();
    contender_free_lock(contender);
    fault_proxy_cut(stage.proxy);
    contender_await_event(other, ZKLOCK_EVENT_RESUMED);
    stage_fence(stage.session);
    let_the_create_come_late(path);
    CU_ASSERT_TRUE(observer_wait_gone(stage.observer, path, SHORT_TIMEOUT_MS));
    CU_ASSERT_TRUE(zklock_is_held(other->lock));
}

#define TEST(test) SUITE_TEST_WITH(test, start, stage_end)

static const struct suite_test tests[] = {
    TEST(lost_answers_and_requests_leave_one_contender_and_no_orphan),
    TEST(answer_to_the_barrier_is_lost_too),
    TEST(silence_after_the_create_is_a_lost_answer),
    TEST(lost_answer_to_the_watches_is_asked_for_again),
    TEST(lost_event_is_told_after_the_reconnect),
    TEST(create_that_comes_late_is_swept),
    TEST(create_that_comes_late_does_not_stop_the_ones_behind),
    TEST(create_that_comes_late_is_removed_by_the_next_listing),
    TEST(lost_create_of_a_freed_lock_ends_the_session),
    TEST(create_that_comes_late_for_a_freed_lock_is_swept),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_unknown", tests);
}
