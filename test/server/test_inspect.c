/* Who holds a lock and who waits; and waiting, without queueing, for nobody to hold it. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static zklock_queue *queue;

static void end(void)
{
    zklock_queue_free(queue);
    queue = NULL;
    stage_end();
}

static void read_queue(void)
{
    zklock_queue_free(queue);
    queue = NULL;
    CU_ASSERT_EQUAL_FATAL(zklock_queue_read(stage.session, STAGE_PATH, STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
}

static void put(const char *name, const void *payload, int size)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", STAGE_PATH, name);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, path, size < 0 ? NULL : "", 0, NULL), ZOK);
    if (size > 0)
        CU_ASSERT_EQUAL_FATAL(observer_set(stage.observer, path, payload, size), ZOK);
}

/* ---------------------------------------------------------------- the queue */

static void queue_of_a_missing_path_is_empty(void)
{
    CU_ASSERT_EQUAL(zklock_queue_read(stage.session, "/nowhere", STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    CU_ASSERT_EQUAL(queue->count, 0);
    CU_ASSERT_FALSE(queue->exists);
    CU_ASSERT_FALSE(observer_exists(stage.observer, "/nowhere"));
    read_queue();
    CU_ASSERT_EQUAL(queue->count, 0);
    CU_ASSERT_TRUE(queue->exists);
}

static void queue_shows_holder_and_waiters_in_order(void)
{
    struct contender *line[3];
    char expected[64], name[128];

    for (int i = 0; i < 3; i++) {
        line[i] = contender_new(i == 1 ? stage.session : stage_open_outside(), STAGE_PATH);
        contender_begin(line[i], -1);
        contender_await_state(line[i], i == 0 ? ZKL_HELD : ZKL_WAITING);
    }
    read_queue();
    CU_ASSERT_EQUAL_FATAL(queue->count, 3);
    CU_ASSERT_EQUAL(queue->foreign_count, 0);
    snprintf(expected, sizeof(expected), "\"pid\":%d,", (int)getpid());
    for (int i = 0; i < 3; i++) {
        const zklock_contender *seen = queue->contenders[i];

        zklock_contender_name(line[i]->lock, name, sizeof(name));
        CU_ASSERT_STRING_EQUAL(seen->name, name);
        CU_ASSERT_EQUAL(seen->number, i);
        CU_ASSERT_EQUAL(seen->session_id, stage_session_id(line[i]->session));
        CU_ASSERT_EQUAL(seen->is_holder, i == 0);
        CU_ASSERT_EQUAL(seen->mode, ZKLOCK_MODE_EXCLUSIVE);
        CU_ASSERT_TRUE(seen->created_ms > INT64_C(1600000000000));
        CU_ASSERT_PTR_NOT_NULL(strstr(seen->payload, expected));
        CU_ASSERT_PTR_NOT_NULL(strstr(seen->payload, "\"label\":\"stage\""));
    }
    CU_ASSERT_EQUAL(queue->contenders[0]->token, contender_token(line[0]));
}

static void odd_payloads_are_given_as_they_are(void)
{
    enum { LARGE = 1000000 };
    char *large = malloc(LARGE);

    CU_ASSERT_PTR_NOT_NULL_FATAL(large);
    memset(large, 'x', LARGE);
    put("a-lock-0000000000", NULL, -1);
    put("b-lock-0000000001", "", 0);
    put("c-lock-0000000002", "\x00\xff\x01\n", 4);
    put("d-lock-0000000003", large, LARGE);
    put("not a contender", "x", 1);
    read_queue();
    CU_ASSERT_EQUAL_FATAL(queue->count, 4);
    CU_ASSERT_EQUAL(queue->foreign_count, 1);
    CU_ASSERT_EQUAL(queue->contenders[0]->payload_size, 0);
    CU_ASSERT_EQUAL(queue->contenders[0]->session_id, 0);
    CU_ASSERT_EQUAL(queue->contenders[1]->payload_size, 0);
    CU_ASSERT_EQUAL(queue->contenders[2]->payload_size, 4);
    CU_ASSERT_EQUAL(memcmp(queue->contenders[2]->payload, "\x00\xff\x01\n", 5), 0);
    CU_ASSERT_EQUAL(queue->contenders[3]->payload_size, LARGE);
    CU_ASSERT_EQUAL(memcmp(queue->contenders[3]->payload, large, LARGE), 0);
    free(large);
}

static void readers_at_the_front_hold_together(void)
{
    put("_c_52e6ba20-6b6e-4a4c-8dc3-2f9f5e5c2a11-__READ__0000000001", "", 0);
    put("_c_52e6ba20-6b6e-4a4c-8dc3-2f9f5e5c2a10-__READ__0000000000", "", 0);
    put("_c_52e6ba20-6b6e-4a4c-8dc3-2f9f5e5c2a12-__WRIT__0000000002", "", 0);
    put("_c_52e6ba20-6b6e-4a4c-8dc3-2f9f5e5c2a13-__READ__0000000003", "", 0);
    read_queue();
    CU_ASSERT_EQUAL_FATAL(queue->count, 4);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(queue->contenders[i]->number, i);
        CU_ASSERT_EQUAL(queue->contenders[i]->is_holder, i < 2);
        CU_ASSERT_EQUAL(queue->contenders[i]->mode, i == 2 ? ZKLOCK_MODE_EXCLUSIVE : ZKLOCK_MODE_SHARED);
    }
}

static void *come_and_go(void *arg)
{
    atomic_bool *is_over = arg;
    zklock *lock = NULL;

    if (zklock_new(stage.session, STAGE_PATH, NULL, &lock) != ZKLOCK_OK)
        return NULL;
    while (!atomic_load(is_over))
        if (zklock_acquire(lock, STAGE_LIMIT_MS) == ZKLOCK_OK)
            zklock_release(lock, STAGE_LIMIT_MS);
    zklock_free(lock);
    return NULL;
}

static void queue_is_read_while_contenders_come_and_go(void)
{
    atomic_bool is_over = false;
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, come_and_go, &is_over), 0);
    for (int round = 0; round < 300; round++) {
        read_queue();
        CU_ASSERT_TRUE(queue->count <= 4);
        for (size_t i = 1; i < queue->count; i++)
            CU_ASSERT_TRUE(queue->contenders[i - 1]->token < queue->contenders[i]->token);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void long_queue_is_read_whole(void)
{
    enum { MANY = 700 };
    char name[64];

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "x-lock-%010d", MANY - 1 - i);
        put(name, "", 0);
    }
    read_queue();
    CU_ASSERT_EQUAL_FATAL(queue->count, MANY);
    for (int i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(queue->contenders[i]->number, i);
}

static void queue_is_read_over_a_cut(void)
{
    put("a-lock-0000000000", "", 0);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_GET_CHILDREN, 1, FAULT_THEN_CUT);
    read_queue();
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_GET_DATA, 1, FAULT_THEN_CUT);
    read_queue();
    CU_ASSERT_EQUAL(queue->count, 1);
    CU_ASSERT_EQUAL(fault_proxy_fired(stage.proxy), 2);
}

static void reading_without_an_answer_ends_at_its_limit(void)
{
    zklock_session *unconnected;

    fault_proxy_set_mood(stage.proxy, FAULT_STALL);
    CU_ASSERT_EQUAL(zklock_queue_read(stage.session, STAGE_PATH, 300, &queue), ZKLOCK_TIMEOUT);
    CU_ASSERT_EQUAL(zklock_wait_free(stage.session, STAGE_PATH, 300), ZKLOCK_TIMEOUT);
    CU_ASSERT_PTR_NULL(queue);
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    unconnected = stage_begin(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS);
    CU_ASSERT_EQUAL(zklock_queue_read(unconnected, STAGE_PATH, 300, &queue), ZKLOCK_NO_SERVER);
    CU_ASSERT_EQUAL(zklock_wait_free(unconnected, STAGE_PATH, 300), ZKLOCK_NO_SERVER);
}

static void bad_paths_are_refused(void)
{
    CU_ASSERT_EQUAL(zklock_queue_read(stage.session, "lock", -1, &queue), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_queue_read(stage.session, "/", -1, &queue), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_queue_read(stage.session, STAGE_PATH, -1, NULL), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_wait_free(stage.session, "/a//b", -1), ZKLOCK_BAD_ARGUMENT);
}

/* ---------------------------------------------------------------- waiting until it is free */

static void free_lock_is_free_at_once(void)
{
    CU_ASSERT_EQUAL(zklock_wait_free(stage.session, STAGE_PATH, -1), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_wait_free(stage.session, "/nowhere", -1), ZKLOCK_OK);
    CU_ASSERT_FALSE(observer_exists(stage.observer, "/nowhere"));
}

static void *wait_free(void *arg)
{
    probe_note(arg, zklock_wait_free(stage.session, STAGE_PATH, -1));
    return NULL;
}

/* Runs it on a thread of its own until it watches the holder's node. */
static pthread_t start_waiting(struct probe *ended)
{
    pthread_t waiter;

    probe_init(ended);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&waiter, NULL, wait_free, ended), 0);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 1, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(probe_count(ended), 0);
    return waiter;
}

static void check_ended(pthread_t waiter, struct probe *ended, zklock_status status)
{
    CU_ASSERT_TRUE_FATAL(probe_wait_count(ended, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(probe_last(ended), status);
    pthread_join(waiter, NULL);
    probe_clear(ended);
}

static void wait_ends_when_the_holder_lets_go(void)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);
    struct probe ended;
    pthread_t waiter;

    contender_hold(holder);
    waiter = start_waiting(&ended);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    check_ended(waiter, &ended, ZKLOCK_OK);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), 0);
}

static void wait_goes_on_over_a_cut(void)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);
    struct probe ended;
    pthread_t waiter;

    contender_hold(holder);
    waiter = start_waiting(&ended);
    fault_proxy_cut(stage.proxy);
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(probe_count(&ended), 0);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    check_ended(waiter, &ended, ZKLOCK_OK);
}

static void wait_ends_at_its_limit(void)
{
    contender_hold(contender_new(stage_open_outside(), STAGE_PATH));
    CU_ASSERT_EQUAL(zklock_wait_free(stage.session, STAGE_PATH, 300), ZKLOCK_TIMEOUT);
}

static void wait_ends_when_the_session_is_closed(void)
{
    struct probe ended;
    pthread_t waiter;

    contender_hold(contender_new(stage_open_outside(), STAGE_PATH));
    waiter = start_waiting(&ended);
    CU_ASSERT_EQUAL(stage_close(stage.session, -1), ZKLOCK_OK);
    check_ended(waiter, &ended, ZKLOCK_CLOSED);
}

#define TEST(test) SUITE_TEST_WITH(test, stage_start, end)

static const struct suite_test tests[] = {
    TEST(queue_of_a_missing_path_is_empty),
    TEST(queue_shows_holder_and_waiters_in_order),
    TEST(odd_payloads_are_given_as_they_are),
    TEST(readers_at_the_front_hold_together),
    TEST(queue_is_read_while_contenders_come_and_go),
    TEST(long_queue_is_read_whole),
    TEST(queue_is_read_over_a_cut),
    TEST(reading_without_an_answer_ends_at_its_limit),
    TEST(bad_paths_are_refused),
    TEST(free_lock_is_free_at_once),
    TEST(wait_ends_when_the_holder_lets_go),
    TEST(wait_goes_on_over_a_cut),
    TEST(wait_ends_at_its_limit),
    TEST(wait_ends_when_the_session_is_closed),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "inspect", tests);
}
