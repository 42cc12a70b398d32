/* Several locks as one: what its calls answer while others are under way, on other threads and in callbacks. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdatomic.h>
#include <stdio.h>

enum { ROUNDS = 20, MANY = 200, LOOKERS = 2 };

#define FIRST STAGE_PATH "/first"
#define SECOND STAGE_PATH "/second"

static zklock_multi *multi;

/* A callback of the second lock that stays inside until the gate opens, and then asks. */
static struct {
    struct probe entered;
    struct probe opened;
    atomic_bool has_left;
    bool is_held;
    zklock_state state;
    zklock_status token;
    zklock_status start;
    zklock_status add;
    zklock_status release;
} gate;

static void set_up(void)
{
    stage_start();
    gate.has_left = false;
    probe_init(&gate.entered);
    probe_init(&gate.opened);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, FIRST, NULL, 0, NULL), ZOK);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, SECOND, NULL, 0, NULL), ZOK);
    CU_ASSERT_EQUAL_FATAL(zklock_multi_new(stage.session, &multi), ZKLOCK_OK);
}

static void tear_down(void)
{
    probe_note(&gate.opened, 1);
    zklock_multi_free(multi);
    multi = NULL;
    stage_end();
}

static void add(const char *path, zklock_event_fn *on_event)
{
    zklock_options options;

    zklock_options_init(&options);
    options.on_event = on_event;
    CU_ASSERT_EQUAL_FATAL(zklock_multi_add(multi, path, &options), ZKLOCK_OK);
}

/* ---------------------------------------------------------------- free, and a callback */

static void ask_all(void)
{
    uint64_t token;

    gate.is_held = zklock_multi_is_held(multi);
    gate.state = zklock_multi_state_get(multi, NULL);
    gate.token = zklock_token(zklock_multi_lock(multi, FIRST), &token);
    gate.start = zklock_multi_acquire_start(multi, -1);
    gate.add = zklock_multi_add(multi, STAGE_PATH "/third", NULL);
    gate.release = zklock_multi_release_send(multi);
}

static void stay_inside_and_ask(zklock *lock, const zklock_event *event, void *arg)
{
    (void)lock;
    (void)arg;
    if (event->kind != ZKLOCK_EVENT_ENDED)
        return;
    probe_note(&gate.entered, 1);
    probe_wait_count(&gate.opened, 1, STAGE_LIMIT_MS);
    ask_all();
    gate.has_left = true;
}

static void *free_multi(void *out_was_awaited)
{
    zklock_multi_free(multi);
    *(bool *)out_was_awaited = gate.has_left;
    return NULL;
}

static void free_waits_for_a_callback_that_asks_for_all(void)
{
    bool was_awaited = false;
    pthread_t thread;

    add(FIRST, NULL);
    add(SECOND, stay_inside_and_ask);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(probe_wait_count(&gate.entered, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, free_multi, &was_awaited), 0);
    /* The last lock is let go: the first one is not waited for any more. */
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, FIRST, 0, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, SECOND, 0, STAGE_LIMIT_MS));
    probe_note(&gate.opened, 1);
    pthread_join(thread, NULL);
    multi = NULL;
    CU_ASSERT_TRUE(was_awaited);
    CU_ASSERT_FALSE(gate.is_held);
    CU_ASSERT_EQUAL(gate.state, ZKLOCK_STATE_IDLE);
    CU_ASSERT_EQUAL(gate.token, ZKLOCK_OK);
    CU_ASSERT_EQUAL(gate.start, ZKLOCK_CLOSED);
    CU_ASSERT_EQUAL(gate.add, ZKLOCK_CLOSED);
    CU_ASSERT_EQUAL(gate.release, ZKLOCK_NOT_HELD);
}

static void free_inside(zklock *lock, const zklock_event *event, void *arg)
{
    (void)lock;
    (void)arg;
    probe_note(&gate.entered, event->kind);
    probe_wait_count(&gate.opened, 1, STAGE_LIMIT_MS);
    zklock_multi_free(multi);
    gate.has_left = true;
}

static bool has_left(void *unused)
{
    (void)unused;
    return gate.has_left;
}

static void callback_may_free_all(void)
{
    add(FIRST, free_inside);
    add(SECOND, free_inside);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    probe_note(&gate.opened, 1);
    CU_ASSERT_TRUE(eventually(has_left, NULL, STAGE_LIMIT_MS));
    multi = NULL;
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, FIRST, 0, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, SECOND, 0, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(stage_close(stage.session, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(probe_count(&gate.entered), 1);
}

/* ---------------------------------------------------------------- an acquire, and the next one */

static bool is_pending(void *unused)
{
    (void)unused;
    return zklock_multi_result(multi) == ZKLOCK_PENDING;
}

static void *acquire(void *ended)
{
    probe_note(ended, zklock_multi_acquire(multi, -1));
    return NULL;
}

/* The thread that waits cannot run before the next one is begun, unless it is quicker than one call. */
static void end_one_and_begin_the_next(void)
{
    struct probe ended;
    pthread_t thread;

    probe_init(&ended);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, acquire, &ended), 0);
    CU_ASSERT_TRUE(eventually(is_pending, NULL, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_multi_cancel(multi), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_acquire_start(multi, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(probe_wait_count(&ended, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(probe_last(&ended), ZKLOCK_CANCELLED);
    CU_ASSERT_EQUAL(zklock_multi_result(multi), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(zklock_multi_cancel(multi), ZKLOCK_OK);
    pthread_join(thread, NULL);
    probe_clear(&ended);
}

static void waiter_hears_how_its_own_acquire_ended(void)
{
    struct contender *holder = contender_new(stage.session, FIRST);

    contender_hold(holder);
    add(FIRST, NULL);
    add(SECOND, NULL);
    for (int round = 0; round < ROUNDS; round++)
        end_one_and_begin_the_next();
    CU_ASSERT_EQUAL(zklock_multi_wait(multi), ZKLOCK_CANCELLED);
}

static struct probe began;

static void begin_the_next(zklock *lock, const zklock_event *event, void *arg)
{
    (void)lock;
    (void)arg;
    if (event->kind == ZKLOCK_EVENT_ENDED && probe_count(&began) == 0)
        probe_note(&began, zklock_multi_acquire_start(multi, -1));
}

static void callback_on_the_end_may_begin_the_next(void)
{
    struct contender *holder = contender_new(stage.session, FIRST);

    contender_hold(holder);
    probe_init(&began);
    add(FIRST, begin_the_next);
    CU_ASSERT_EQUAL(zklock_multi_try(multi, STAGE_LIMIT_MS), ZKLOCK_BUSY);
    CU_ASSERT_TRUE(probe_wait_count(&began, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(probe_last(&began), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_wait(multi), ZKLOCK_OK);
}

/* ---------------------------------------------------------------- add, and those who look */

static atomic_bool is_over;

static void *look(void *unused)
{
    while (!is_over) {
        (void)zklock_multi_state_get(multi, NULL);
        (void)zklock_multi_is_held(multi);
        (void)zklock_multi_current(multi);
        (void)zklock_multi_lock(multi, STAGE_PATH "/not-there");
    }
    return unused;
}

/* The state is asked of each lock only once they were taken. */
static void locks_are_added_while_others_look(void)
{
    pthread_t lookers[LOOKERS];
    char path[64];

    add(FIRST, NULL);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_release(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    is_over = false;
    for (int i = 0; i < LOOKERS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&lookers[i], NULL, look, NULL), 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof(path), STAGE_PATH "/%d", i);
        CU_ASSERT_EQUAL(zklock_multi_add(multi, path, NULL), ZKLOCK_OK);
    }
    is_over = true;
    for (int i = 0; i < LOOKERS; i++)
        pthread_join(lookers[i], NULL);
    CU_ASSERT_PTR_NOT_NULL(zklock_multi_lock(multi, STAGE_PATH "/0"));
    CU_ASSERT_EQUAL(zklock_multi_state_get(multi, NULL), ZKLOCK_STATE_IDLE);
}

#define TEST(test) SUITE_TEST_WITH(test, set_up, tear_down)

static const struct suite_test tests[] = {
    TEST(free_waits_for_a_callback_that_asks_for_all),
    TEST(callback_may_free_all),
    TEST(waiter_hears_how_its_own_acquire_ended),
    TEST(callback_on_the_end_may_begin_the_next),
    TEST(locks_are_added_while_others_look),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "multi_calls", tests);
}
