/* Callbacks: their order, their thread, what may be called from them, and that none runs after free or close. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { SOON_MS = 5000 };

/* A callback that stays inside until the gate opens. */
static struct {
    struct probe entered;
    struct probe opened;
    struct probe left;
} gate;

/* What calls from inside a callback answered. */
static struct probe answers;
static struct contender *other;

static void start(void)
{
    stage_start();
    probe_init(&gate.entered);
    probe_init(&gate.opened);
    probe_init(&gate.left);
    probe_init(&answers);
}

static void end(void)
{
    probe_note(&gate.opened, 1);
    stage_end();
}

static struct contender *with_callback(zklock_event_fn *on_event)
{
    zklock_options options;

    zklock_options_init(&options);
    options.on_event = on_event;
    return contender_new_with(stage.session, STAGE_PATH, &options);
}

static void stay_inside(zklock *lock, const zklock_event *event, void *arg)
{
    (void)lock;
    (void)arg;
    probe_note(&gate.entered, event->kind);
    probe_wait_count(&gate.opened, 1, STAGE_LIMIT_MS);
    probe_note(&gate.left, event->kind);
}

/* ---------------------------------------------------------------- order */

static void events_come_in_the_order_of_what_happened(void)
{
    static const zklock_event_kind expected[] = {ZKLOCK_EVENT_ENDED, ZKLOCK_EVENT_SUSPENDED, ZKLOCK_EVENT_RESUMED,
                                                 ZKLOCK_EVENT_RELEASED};
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    contender_hold(contender);
    fault_proxy_cut(stage.proxy);
    contender_await_event(contender, ZKLOCK_EVENT_RESUMED);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_EQUAL_FATAL(probe_count(&contender->events), 4);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(contender->history[i].kind, expected[i]);
    CU_ASSERT_EQUAL(contender->history[3].token, contender->history[0].token);
}

static void failed_acquire_tells_its_end_then_that_nothing_is_left(void)
{
    struct contender *holder = contender_new(stage.session, STAGE_PATH);
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    contender_hold(holder);
    /* NO_SERVER instead of TIMEOUT where a slow machine has not found its place in time. */
    zklock_status status = zklock_acquire(contender->lock, 100);
    CU_ASSERT_TRUE(status == ZKLOCK_TIMEOUT || status == ZKLOCK_NO_SERVER);
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_EQUAL_FATAL(probe_count(&contender->events), 2);
    CU_ASSERT_EQUAL(contender->history[0].kind, ZKLOCK_EVENT_ENDED);
    CU_ASSERT_EQUAL(contender->history[0].status, status);
    CU_ASSERT_EQUAL(contender->history[0].token, 0);
}

static void call_that_failed_runs_no_callback(void)
{
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_acquire_start(contender->lock, -1), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_NOT_HELD);
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_EQUAL(probe_count(&contender->events), 2);
}

static void slow_callback_delays_neither_state_nor_results(void)
{
    struct contender *slow = with_callback(stay_inside);
    struct contender *next = contender_new(stage.session, STAGE_PATH);

    CU_ASSERT_EQUAL(zklock_acquire(slow->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(probe_wait_count(&gate.entered, 1, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(zklock_remaining_ms(slow->lock) > 0);
    CU_ASSERT_EQUAL(zklock_release(slow->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_acquire(next->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(probe_count(&next->events), 0);
    probe_note(&gate.opened, 1);
    contender_await_event(next, ZKLOCK_EVENT_ENDED);
}

/* ---------------------------------------------------------------- calls from inside */

static void call_what_blocks(zklock *lock, const zklock_event *event, void *arg)
{
    zklock_queue *queue = NULL;
    uint64_t token = 0;

    (void)arg;
    if (event->kind != ZKLOCK_EVENT_ENDED)
        return;
    probe_note(&answers, zklock_acquire(other->lock, -1));
    probe_note(&answers, zklock_try(other->lock, -1));
    probe_note(&answers, zklock_release(lock, -1));
    probe_note(&answers, zklock_wait(lock));
    probe_note(&answers, zklock_queue_read(stage.session, STAGE_PATH, -1, &queue));
    probe_note(&answers, zklock_wait_free(stage.session, STAGE_PATH, -1));
    probe_note(&answers, zklock_session_wait_connected(stage.session, -1));
    probe_note(&answers, zklock_session_close(stage.session, -1));
    probe_note(&answers, zklock_session_close(other->session, -1));
    probe_note(&answers, zklock_token(lock, &token) + 100);
}

static void blocking_call_in_a_callback_is_a_deadlock_of_any_session(void)
{
    struct contender *contender;

    other = contender_new(stage_open_outside(), STAGE_PATH);
    contender = with_callback(call_what_blocks);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&answers, 10, STAGE_LIMIT_MS));
    for (int i = 0; i < 9; i++)
        CU_ASSERT_EQUAL(probe_at(&answers, i), ZKLOCK_DEADLOCK);
    CU_ASSERT_EQUAL(probe_at(&answers, 9), ZKLOCK_OK + 100);
    CU_ASSERT_TRUE(zklock_is_held(contender->lock));
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
}

/* Takes the lock again as soon as it is gone, ten times. */
static void acquire_again(zklock *lock, const zklock_event *event, void *arg)
{
    (void)arg;
    if (event->kind == ZKLOCK_EVENT_ENDED)
        probe_note(&answers, zklock_release_send(lock));
    else if (event->kind == ZKLOCK_EVENT_RELEASED && probe_count(&answers) < 19)
        probe_note(&answers, zklock_acquire_start(lock, -1));
}

static void callback_may_acquire_and_release_without_blocking(void)
{
    struct contender *contender = with_callback(acquire_again);

    CU_ASSERT_EQUAL(zklock_acquire_start(contender->lock, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(probe_wait_count(&answers, 19, STAGE_LIMIT_MS));
    for (int i = 0; i < 19; i++)
        CU_ASSERT_EQUAL(probe_at(&answers, i), ZKLOCK_OK);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 0, STAGE_LIMIT_MS));
}

static void close_when_lost(zklock *lock, const zklock_event *event, void *arg)
{
    (void)lock;
    (void)arg;
    if (event->kind == ZKLOCK_EVENT_LOST)
        probe_note(&answers, zklock_session_close(stage.session, -1));
}

static void close_from_inside_the_lost_callback_is_refused_and_harmless(void)
{
    struct contender *contender = with_callback(close_when_lost);
    char node[OBSERVER_PATH_SIZE];

    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_node(contender, node);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), ZOK);
    CU_ASSERT_TRUE(probe_wait_value(&answers, ZKLOCK_DEADLOCK, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
    contender_free_lock(contender);
    CU_ASSERT_EQUAL(stage_close(stage.session, -1), ZKLOCK_OK);
}

static void free_inside(zklock *lock, const zklock_event *event, void *arg)
{
    (void)arg;
    zklock_free(lock);
    probe_note(&answers, event->kind);
}

static void lock_is_freed_from_inside_its_own_callback(void)
{
    struct contender *contender = with_callback(free_inside);

    CU_ASSERT_EQUAL(zklock_acquire_start(contender->lock, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(probe_wait_count(&answers, 1, STAGE_LIMIT_MS));
    contender->lock = NULL;
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 0, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(probe_count(&answers), 1);
}

/* ---------------------------------------------------------------- free */

static zklock_status free_lock(zklock *lock, int64_t unused)
{
    (void)unused;
    zklock_free(lock);
    return ZKLOCK_OK;
}

/* The callback of the grant is inside, and the one of the release is queued behind it. */
static void free_waits_for_a_running_callback_and_drops_the_others(void)
{
    struct contender *contender = with_callback(stay_inside);
    struct blocking_call call;

    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(probe_wait_count(&gate.entered, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    blocking_call_start(&call, contender, free_lock, 0);
    CU_ASSERT_FALSE(probe_wait_count(&call.done, 1, 200));
    probe_note(&gate.opened, 1);
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_OK);
    contender->lock = NULL;
    CU_ASSERT_EQUAL(probe_count(&gate.left), 1);
    CU_ASSERT_EQUAL(stage_close(stage.session, -1), ZKLOCK_OK);
    CU_ASSERT_EQUAL(probe_count(&gate.entered), 1);
}

static void acquire_when_the_gate_opens(zklock *lock, const zklock_event *event, void *arg)
{
    stay_inside(lock, event, arg);
    probe_note(&answers, zklock_acquire_start(lock, -1));
}

static void callback_of_a_lock_that_is_being_freed_begins_nothing(void)
{
    struct contender *contender = with_callback(acquire_when_the_gate_opens);
    struct blocking_call call;

    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(probe_wait_count(&gate.entered, 1, STAGE_LIMIT_MS));
    blocking_call_start(&call, contender, free_lock, 0);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 0, STAGE_LIMIT_MS));
    probe_note(&gate.opened, 1);
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_OK);
    contender->lock = NULL;
    CU_ASSERT_EQUAL(probe_count(&answers), 1);
    CU_ASSERT_EQUAL(probe_at(&answers, 0), ZKLOCK_CLOSED);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

static void free_of_a_waiter_removes_it(void)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    contender_hold(holder);
    contender_queue(contender);
    contender_free_lock(contender);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(probe_count(&contender->events), 0);
}

static void free_of_a_holder_releases(void)
{
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    contender_hold(contender);
    contender_free_lock(contender);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 0, STAGE_LIMIT_MS));
}

static void free_while_the_create_is_under_way_leaves_nothing(void)
{
    struct contender *contender = contender_new(stage.session, STAGE_PATH);

    fault_proxy_hold_reply(stage.proxy, FAULT_OP_CREATE2, 1);
    contender_begin(contender, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    contender_free_lock(contender);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 0, STAGE_LIMIT_MS));
}

static void free_accepts_nothing(void)
{
    zklock_free(NULL);
    zklock_queue_free(NULL);
    CU_ASSERT_EQUAL(zklock_session_close(NULL, -1), ZKLOCK_OK);
}

#define TEST(test) SUITE_TEST_WITH(test, start, end)

static const struct suite_test tests[] = {
    TEST(events_come_in_the_order_of_what_happened),
    TEST(failed_acquire_tells_its_end_then_that_nothing_is_left),
    TEST(call_that_failed_runs_no_callback),
    TEST(slow_callback_delays_neither_state_nor_results),
    TEST(blocking_call_in_a_callback_is_a_deadlock_of_any_session),
    TEST(callback_may_acquire_and_release_without_blocking),
    TEST(close_from_inside_the_lost_callback_is_refused_and_harmless),
    TEST(lock_is_freed_from_inside_its_own_callback),
    TEST(free_waits_for_a_running_callback_and_drops_the_others),
    TEST(callback_of_a_lock_that_is_being_freed_begins_nothing),
    TEST(free_of_a_waiter_removes_it),
    TEST(free_of_a_holder_releases),
    TEST(free_while_the_create_is_under_way_leaves_nothing),
    SUITE_TEST(free_accepts_nothing),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_callbacks", tests);
}
