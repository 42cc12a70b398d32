/* The calls on a lock: begun acquires, cancelling at each step, releasing once and too often, tokens. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { SOON_MS = 5000, LONG_MS = 3600000 };

static struct contender *holder;
static struct contender *contender;

/* Somebody holds the lock, and somebody else is about to want it. */
static void start_behind_a_holder(void)
{
    stage_start();
    holder = contender_new(stage_open_outside(), STAGE_PATH);
    contender_hold(holder);
    contender = contender_new(stage.session, STAGE_PATH);
}

static void start_alone(void)
{
    stage_start();
    contender = contender_new(stage.session, STAGE_PATH);
}

static bool is_readable(int descriptor, int timeout_ms)
{
    struct pollfd asked = {.fd = descriptor, .events = POLLIN};

    return poll(&asked, 1, timeout_ms) == 1;
}

/* ---------------------------------------------------------------- begun acquires */

static void begun_acquire_tells_by_event_descriptor_and_result(void)
{
    int descriptor = -1;
    const zklock_event *event;

    CU_ASSERT_EQUAL(zklock_result(contender->lock), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL_FATAL(zklock_fd(contender->lock, &descriptor), ZKLOCK_OK);
    contender_queue(contender);
    CU_ASSERT_EQUAL(zklock_result(contender->lock), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(zklock_state_get(contender->lock, NULL), ZKLOCK_STATE_ACQUIRING);
    CU_ASSERT_FALSE(is_readable(descriptor, 0));
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(is_readable(descriptor, SOON_MS));
    CU_ASSERT_EQUAL(zklock_result(contender->lock), ZKLOCK_OK);
    event = contender_await_event(contender, ZKLOCK_EVENT_ENDED);
    CU_ASSERT_EQUAL(event->status, ZKLOCK_OK);
    CU_ASSERT_EQUAL(event->token, contender_token(contender));
}

static void cleared_descriptor_is_readable_at_the_next_event(void)
{
    int descriptor = -1;
    uint64_t count;

    CU_ASSERT_EQUAL_FATAL(zklock_fd(contender->lock, &descriptor), ZKLOCK_OK);
    contender_hold(contender);
    CU_ASSERT_TRUE(is_readable(descriptor, SOON_MS));
    zklock_fd_clear(contender->lock);
    CU_ASSERT_FALSE(is_readable(descriptor, 0));
    CU_ASSERT_EQUAL(zklock_release_send(contender->lock), ZKLOCK_OK);
    CU_ASSERT_TRUE(is_readable(descriptor, SOON_MS));
    CU_ASSERT_EQUAL(read(descriptor, &count, sizeof(count)), (ssize_t)sizeof(count));
    CU_ASSERT_FALSE(is_readable(descriptor, 0));
}

static void wait_gives_the_result_of_a_begun_acquire(void)
{
    CU_ASSERT_EQUAL(zklock_wait(contender->lock), ZKLOCK_NOT_HELD);
    contender_begin(contender, -1);
    CU_ASSERT_EQUAL(zklock_wait(contender->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_wait(contender->lock), ZKLOCK_OK);
}

/* ---------------------------------------------------------------- cancelling at each step */

/* A blocking acquire on another thread ends at once, whatever it waits for. */
static void cancel_blocking_acquire(struct blocking_call *call)
{
    int64_t start_ms = monotonic_ms();

    CU_ASSERT_EQUAL(zklock_cancel(contender->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(blocking_call_join(call), ZKLOCK_CANCELLED);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms < SOON_MS);
    CU_ASSERT_EQUAL(zklock_cancel(contender->lock), ZKLOCK_OK);
}

static void check_that_only_the_holder_is_left(void)
{
    fault_proxy_release(stage.proxy);
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
}

/* Cancels while the proxy holds back the first answer (or request) of this kind. */
static void cancel_while_answer_is_held(int op)
{
    struct blocking_call call;

    fault_proxy_hold_reply(stage.proxy, op, 1);
    blocking_call_start(&call, contender, zklock_acquire, LONG_MS);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    cancel_blocking_acquire(&call);
    check_that_only_the_holder_is_left();
}

static void acquire_is_cancelled_while_its_create_is_answered(void)
{
    cancel_while_answer_is_held(FAULT_OP_CREATE2);
}

static void acquire_is_cancelled_while_its_listing_is_answered(void)
{
    cancel_while_answer_is_held(FAULT_OP_GET_CHILDREN);
}

static void acquire_is_cancelled_while_its_watches_are_planted(void)
{
    cancel_while_answer_is_held(FAULT_OP_GET_DATA);
}

static void acquire_is_cancelled_before_its_create_arrives(void)
{
    struct blocking_call call;

    fault_proxy_hold_request(stage.proxy, FAULT_OP_CREATE2, 1);
    blocking_call_start(&call, contender, zklock_acquire, LONG_MS);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    cancel_blocking_acquire(&call);
    check_that_only_the_holder_is_left();
}

static void acquire_is_cancelled_while_it_waits(void)
{
    struct blocking_call call;

    blocking_call_start(&call, contender, zklock_acquire, LONG_MS);
    contender_await_state(contender, ZKL_WAITING);
    cancel_blocking_acquire(&call);
    check_that_only_the_holder_is_left();
}

static void acquire_is_cancelled_while_its_parents_are_made(void)
{
    struct contender *deep = contender_new(stage.session, "/stage/a/b/c");
    struct blocking_call call;

    fault_proxy_hold_reply(stage.proxy, FAULT_OP_CREATE_CONTAINER, 1);
    blocking_call_start(&call, deep, zklock_acquire, LONG_MS);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_cancel(deep->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_CANCELLED);
    fault_proxy_release(stage.proxy);
    contender_await_event(deep, ZKLOCK_EVENT_RELEASED);
    stage_fence(stage.session);
    CU_ASSERT_TRUE(observer_count(stage.observer, "/stage/a/b/c") <= 0);
}

static void acquire_is_cancelled_before_there_is_a_connection(void)
{
    struct contender *early;
    struct blocking_call call;

    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    early = contender_new(stage_begin(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS), STAGE_PATH);
    blocking_call_start(&call, early, zklock_acquire, LONG_MS);
    contender_await_state(early, ZKL_CREATING);
    CU_ASSERT_EQUAL(zklock_cancel(early->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_CANCELLED);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    CU_ASSERT_EQUAL(zklock_session_wait_connected(early->session, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
}

static void waiter_behind_a_cancelled_one_waits_for_the_holder(void)
{
    struct contender *last = contender_new(stage_open_outside(), STAGE_PATH);

    contender_queue(contender);
    contender_queue(last);
    CU_ASSERT_EQUAL(zklock_cancel(contender->lock), ZKLOCK_OK);
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    stage_fence(last->session);
    contender_await_state(last, ZKL_WAITING);
    CU_ASSERT_EQUAL(zklock_result(last->lock), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(last), ZKLOCK_OK);
}

static void cancel_comes_too_late_for_a_held_lock(void)
{
    CU_ASSERT_EQUAL(zklock_cancel(contender->lock), ZKLOCK_NOT_HELD);
    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_cancel(contender->lock), ZKLOCK_ALREADY);
    CU_ASSERT_TRUE(zklock_is_held(contender->lock));
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_cancel(contender->lock), ZKLOCK_NOT_HELD);
}

/* ---------------------------------------------------------------- releasing */

static void confirmed_release_leaves_no_node(void)
{
    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
    CU_ASSERT_EQUAL(contender_await_event(contender, ZKLOCK_EVENT_RELEASED)->status, ZKLOCK_OK);
}

static void sent_release_returns_before_its_answer(void)
{
    contender_hold(contender);
    fault_proxy_hold_reply(stage.proxy, FAULT_OP_DELETE, 1);
    CU_ASSERT_EQUAL(zklock_release_send(contender->lock), ZKLOCK_OK);
    CU_ASSERT_FALSE(zklock_is_held(contender->lock));
    CU_ASSERT_EQUAL(zklock_state_get(contender->lock, NULL), ZKLOCK_STATE_RELEASING);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_FALSE(contender_heard(contender, ZKLOCK_EVENT_RELEASED));
    fault_proxy_release(stage.proxy);
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_EQUAL(zklock_state_get(contender->lock, NULL), ZKLOCK_STATE_IDLE);
}

static void object_is_free_for_a_new_acquire_while_its_delete_is_under_way(void)
{
    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_release_send(contender->lock), ZKLOCK_OK);
    contender_hold(contender);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
}

static void second_acquire_on_one_object_is_refused_at_once(void)
{
    contender_queue(contender);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, -1), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(zklock_acquire(holder->lock, -1), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(zklock_try(holder->lock, -1), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(zklock_acquire_start(holder->lock, -1), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 2);
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
}

static void surplus_release_leaves_the_state_intact(void)
{
    CU_ASSERT_EQUAL(zklock_release(contender->lock, -1), ZKLOCK_NOT_HELD);
    contender_queue(contender);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, -1), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(zklock_release_send(contender->lock), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(zklock_result(contender->lock), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, -1), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, -1), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, -1), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(contender_result(contender), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_is_held(contender->lock));
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
}

static void lock_is_released_by_another_thread(void)
{
    struct blocking_call call;

    contender_hold(contender);
    blocking_call_start(&call, contender, zklock_release, STAGE_LIMIT_MS);
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, -1), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

static void acquire_while_a_thread_waits_for_the_release_is_refused(void)
{
    struct blocking_call call;

    contender_hold(contender);
    fault_proxy_hold_reply(stage.proxy, FAULT_OP_DELETE, 1);
    blocking_call_start(&call, contender, zklock_release, STAGE_LIMIT_MS);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, -1), ZKLOCK_ALREADY);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_OK);
    contender_hold(contender);
}

/* ---------------------------------------------------------------- tokens */

static void tokens_rise_even_when_the_parent_is_made_anew(void)
{
    uint64_t before = 0;

    for (int round = 0; round < 20; round++) {
        contender_hold(contender);
        CU_ASSERT_TRUE(contender_token(contender) > before);
        before = contender_token(contender);
        CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
        if (round % 4 == 3)
            CU_ASSERT_EQUAL(observer_delete(stage.observer, STAGE_PATH), ZOK);
    }
}

static void token_is_the_czxid_of_the_contender(void)
{
    struct observed_node node = {0};
    char path[OBSERVER_PATH_SIZE];
    uint64_t token = 0;

    CU_ASSERT_EQUAL(zklock_token(contender->lock, &token), ZKLOCK_NOT_HELD);
    contender_hold(contender);
    contender_node(contender, path);
    CU_ASSERT_EQUAL(observer_look(stage.observer, path, &node), ZOK);
    CU_ASSERT_EQUAL((uint64_t)node.czxid, contender_token(contender));
    CU_ASSERT_EQUAL(node.owner, stage_session_id(stage.session));
    observed_node_clear(&node);
}

#define ALONE(test) SUITE_TEST_WITH(test, start_alone, stage_end)
#define BEHIND(test) SUITE_TEST_WITH(test, start_behind_a_holder, stage_end)

static const struct suite_test tests[] = {
    BEHIND(begun_acquire_tells_by_event_descriptor_and_result),
    ALONE(cleared_descriptor_is_readable_at_the_next_event),
    ALONE(wait_gives_the_result_of_a_begun_acquire),
    BEHIND(acquire_is_cancelled_while_its_create_is_answered),
    BEHIND(acquire_is_cancelled_while_its_listing_is_answered),
    BEHIND(acquire_is_cancelled_while_its_watches_are_planted),
    BEHIND(acquire_is_cancelled_before_its_create_arrives),
    BEHIND(acquire_is_cancelled_while_it_waits),
    BEHIND(acquire_is_cancelled_while_its_parents_are_made),
    BEHIND(acquire_is_cancelled_before_there_is_a_connection),
    BEHIND(waiter_behind_a_cancelled_one_waits_for_the_holder),
    ALONE(cancel_comes_too_late_for_a_held_lock),
    ALONE(confirmed_release_leaves_no_node),
    ALONE(sent_release_returns_before_its_answer),
    ALONE(object_is_free_for_a_new_acquire_while_its_delete_is_under_way),
    BEHIND(second_acquire_on_one_object_is_refused_at_once),
    BEHIND(surplus_release_leaves_the_state_intact),
    ALONE(lock_is_released_by_another_thread),
    ALONE(acquire_while_a_thread_waits_for_the_release_is_refused),
    ALONE(tokens_rise_even_when_the_parent_is_made_anew),
    ALONE(token_is_the_czxid_of_the_contender),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_calls", tests);
}
