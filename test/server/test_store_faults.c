/* The store on libzookeeper when connections break, sessions end, and servers are away. */
#include "server/store_scene.h"
#include "support/eventually.h"
#include "support/suite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* libzookeeper loses requests at close, and their memory with them: here, and only here, this is no news. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libzookeeper_mt\n";
}

enum { CROWD = 3000, PENDING_LIMIT = 10000, LONG_TIMEOUT_MS = 60000 };

/* Counts answers of many requests, each in its own place. */
static atomic_int answers[PENDING_LIMIT];
static atomic_int ok_count, unknown_count;
static struct probe answered;

static void count_answer(void *arg, const struct zkl_reply *reply)
{
    atomic_fetch_add((atomic_int *)arg, 1);
    atomic_fetch_add(reply->code == ZKL_CODE_UNKNOWN ? &unknown_count : &ok_count, 1);
    probe_note(&answered, reply->code);
}

static void prepare_counts(void)
{
    memset(answers, 0, sizeof(answers));
    atomic_store(&ok_count, 0);
    atomic_store(&unknown_count, 0);
    probe_init(&answered);
}

static bool send_counted(const struct zkl_request *request, int place)
{
    return scene.driver->submit(scene.store, request, count_answer, &answers[place]);
}

static void assert_each_answered_once(int count)
{
    int wrong = 0;

    for (int i = 0; i < count; i++)
        wrong += atomic_load(&answers[i]) != 1;
    CU_ASSERT_EQUAL(wrong, 0);
}

static const struct zkl_request look = {.op = ZKL_OP_EXISTS, .path = "/lock"};
static const struct zkl_request create = {.op = ZKL_OP_CREATE, .path = "/lock/x-", .data = "", .data_size = 0};
static const struct zkl_request check_of_three = {
    .op = ZKL_OP_CHECK, .paths = (const char *const[]){"/", "/lock", "/lock"}, .path_count = 3};
static const struct zkl_request check_of_one = {
    .op = ZKL_OP_CHECK, .paths = (const char *const[]){"/lock"}, .path_count = 1};

static void connect_and_prepare(void)
{
    scene_connect();
    prepare_counts();
}

static void start_and_prepare(void)
{
    scene_start();
    prepare_counts();
}

static void cut_connection_leaves_requests_unknown(void)
{
    long long session_id = scene.session_id;

    zk_server_pause(scene.server);
    for (int i = 0; i < 100; i++)
        CU_ASSERT_TRUE_FATAL(send_counted(i % 2 == 0 ? &create : &check_of_three, i));
    scene_cut();
    CU_ASSERT_TRUE(probe_wait_count(&answered, 100, SCENE_LIMIT_MS));
    zk_server_resume(scene.server);
    CU_ASSERT_TRUE(probe_saw(&scene.states, ZKL_STORE_DISCONNECTED));
    CU_ASSERT_EQUAL(atomic_load(&unknown_count), 100);
    assert_each_answered_once(100);
    scene_await_connected(2);
    CU_ASSERT_EQUAL(scene.session_id, session_id);
}

static void check_of_many_paths_waits_for_a_connection(void)
{
    zk_server_stop(scene.server);
    CU_ASSERT_TRUE_FATAL(probe_wait_value(&scene.states, ZKL_STORE_DISCONNECTED, SCENE_LIMIT_MS));
    CU_ASSERT_FALSE(send_counted(&check_of_three, 0));
    CU_ASSERT_TRUE(send_counted(&check_of_one, 1));
    CU_ASSERT_TRUE(probe_wait_count(&answered, 1, SCENE_LIMIT_MS));
    CU_ASSERT_EQUAL(probe_last(&answered), ZKL_CODE_UNKNOWN);
    CU_ASSERT_EQUAL(atomic_load(&answers[0]), 0);
}

static void watch_survives_a_reconnect(void)
{
    static struct outcome outcome;
    const struct zkl_request watch = {.op = ZKL_OP_GET, .path = "/lock", .with_watch = true};

    CU_ASSERT_EQUAL_FATAL(scene_ask(&watch, &outcome), ZKL_CODE_OK);
    scene_cut();
    CU_ASSERT_EQUAL(observer_delete(scene.observer, "/lock"), ZOK);
    CU_ASSERT_TRUE(probe_wait_value(&scene.nodes, ZKL_NODE_DELETED, SCENE_LIMIT_MS));
    CU_ASSERT_STRING_EQUAL(scene.node_path, "/lock");
    scene_await_connected(2);
    CU_ASSERT_EQUAL(probe_count(&scene.nodes), 1);
}

static void state_is_reported_once_however_many_watches_there_are(void)
{
    static struct outcome outcome;

    for (int i = 0; i < 20; i++) {
        char path[32];

        snprintf(path, sizeof(path), "/node%d", i);
        CU_ASSERT_EQUAL_FATAL(observer_create(scene.observer, path, "", 0, NULL), ZOK);
        CU_ASSERT_EQUAL_FATAL(
            scene_ask(&(struct zkl_request){.op = ZKL_OP_GET, .path = path, .with_watch = true}, &outcome),
            ZKL_CODE_OK);
    }
    scene_cut();
    scene_await_connected(2);
    CU_ASSERT_EQUAL(probe_count(&scene.states), 3);
    CU_ASSERT_EQUAL(probe_at(&scene.states, 1), ZKL_STORE_DISCONNECTED);
}

static void each_request_is_answered_once_at_close(void)
{
    for (int round = 0; round < 5; round++) {
        prepare_counts();
        for (int i = 0; i < CROWD; i++)
            CU_ASSERT_TRUE_FATAL(send_counted(i % 3 == 0 ? &create : i % 3 == 1 ? &look : &check_of_three, i));
        scene_close();
        assert_each_answered_once(CROWD);
        CU_ASSERT_EQUAL(atomic_load(&ok_count) + atomic_load(&unknown_count), CROWD);
        scene_open(zk_server_address(scene.server), SCENE_TIMEOUT_MS);
        scene_await_connected(1);
    }
}

static void requests_to_a_silent_server_are_unknown_at_close(void)
{
    zk_server_pause(scene.server);
    for (int i = 0; i < CROWD; i++)
        CU_ASSERT_TRUE_FATAL(send_counted(&create, i));
    scene_close();
    zk_server_resume(scene.server);
    assert_each_answered_once(CROWD);
    CU_ASSERT_EQUAL(atomic_load(&unknown_count), CROWD);
}

static void requests_are_answered_when_there_never_was_a_server(void)
{
    char addresses[64];

    snprintf(addresses, sizeof(addresses), "%s", zk_server_address(scene.server));
    zk_server_stop(scene.server);
    scene_open(addresses, SCENE_TIMEOUT_MS);
    for (int i = 0; i < 100; i++)
        CU_ASSERT_TRUE_FATAL(send_counted(&create, i));
    scene_close();
    assert_each_answered_once(100);
    CU_ASSERT_EQUAL(atomic_load(&unknown_count), 100);
}

static void request_beyond_the_cap_is_refused(void)
{
    /* No request is given up while so many are being made. */
    scene_close();
    scene_open(zk_server_address(scene.server), LONG_TIMEOUT_MS);
    scene_await_connected(1);
    zk_server_pause(scene.server);
    for (int i = 0; i < PENDING_LIMIT; i++)
        CU_ASSERT_TRUE_FATAL(send_counted(&look, i));
    CU_ASSERT_FALSE(send_counted(&look, 0));
    zk_server_resume(scene.server);
    CU_ASSERT_TRUE(probe_wait_count(&answered, PENDING_LIMIT, SCENE_LIMIT_MS));
    assert_each_answered_once(PENDING_LIMIT);
    prepare_counts();
    CU_ASSERT_TRUE(send_counted(&look, 0));
    CU_ASSERT_TRUE(probe_wait_count(&answered, 1, SCENE_LIMIT_MS));
}

static void ended_session_is_reported_and_refuses_requests(void)
{
    scene_expire();
    CU_ASSERT_FALSE(send_counted(&create, 0));
    CU_ASSERT_FALSE(send_counted(&check_of_one, 0));
    CU_ASSERT_FALSE(send_counted(&check_of_three, 0));
    CU_ASSERT_FALSE(send_counted(&(struct zkl_request){.op = ZKL_OP_FORGET_WATCH, .path = "/lock"}, 0));
    scene_close();
    CU_ASSERT_EQUAL(atomic_load(&answers[0]), 0);
    CU_ASSERT_EQUAL(probe_last(&scene.states), ZKL_STORE_EXPIRED);
}

/* Requests are sent on and on while the session ends: some of them fall between the last answer and the refusal. */
static void each_request_is_answered_once_when_the_session_ends(void)
{
    const struct zkl_request *const kinds[] = {&check_of_one, &look, &check_of_three};
    int64_t deadline_ms = monotonic_ms() + SCENE_LIMIT_MS;
    int accepted = 0;

    scene_begin_expiry();
    for (int i = 0; !probe_saw(&scene.states, ZKL_STORE_EXPIRED) && remaining_ms(deadline_ms) > 0; i++) {
        if (accepted < PENDING_LIMIT && send_counted(kinds[i % 3], accepted))
            accepted++;
    }
    CU_ASSERT_TRUE(probe_saw(&scene.states, ZKL_STORE_EXPIRED));
    scene_close();
    CU_ASSERT_TRUE(accepted > 0);
    assert_each_answered_once(accepted);
}

#define CONNECTED(function) SUITE_TEST_WITH(function, connect_and_prepare, scene_end)
#define STARTED(function) SUITE_TEST_WITH(function, start_and_prepare, scene_end)

static const struct suite_test tests[] = {
    CONNECTED(cut_connection_leaves_requests_unknown),
    CONNECTED(check_of_many_paths_waits_for_a_connection),
    CONNECTED(watch_survives_a_reconnect),
    CONNECTED(state_is_reported_once_however_many_watches_there_are),
    CONNECTED(each_request_is_answered_once_at_close),
    CONNECTED(requests_to_a_silent_server_are_unknown_at_close),
    STARTED(requests_are_answered_when_there_never_was_a_server),
    CONNECTED(request_beyond_the_cap_is_refused),
    CONNECTED(ended_session_is_reported_and_refuses_requests),
    CONNECTED(each_request_is_answered_once_when_the_session_ends),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "store under faults", tests);
}
