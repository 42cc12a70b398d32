/* One store takes a session over from another, which is about to connect again at the same time. */
#include "server/store_scene.h"

#include "support/eventually.h"
#include "support/fault_proxy.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 200, LEAST_TAKEN_OVER = 20, LONGEST_DELAY_US = 30000 };

/* A store, and what it has reported. */
struct runner {
    struct zkl_store *store;
    struct probe states;
    long long session_id;
};

static struct fault_proxy *proxy;
static zklock_session_key key;
static struct runner *runner;
static char node[256];

static void note_state(void *ctx, enum zkl_store_state state, int64_t session_id, unsigned timeout_ms)
{
    struct runner *at = ctx;

    (void)timeout_ms;
    if (state == ZKL_STORE_CONNECTED)
        at->session_id = session_id;
    probe_note(&at->states, state);
}

static void ignore_node(void *ctx, enum zkl_node_event event, const char *path)
{
    (void)ctx;
    (void)event;
    (void)path;
}

static struct runner *begin(const zklock_session_key *with)
{
    static const struct zkl_store_sink sink = {.on_state = note_state, .on_node = ignore_node};
    struct runner *next = calloc(1, sizeof *next);

    CU_ASSERT_PTR_NOT_NULL_FATAL(next);
    probe_init(&next->states);
    struct zkl_store_options options = {.addresses = fault_proxy_address(proxy),
                                        .timeout_ms = SCENE_TIMEOUT_MS,
                                        .key = with,
                                        .sink = &sink,
                                        .ctx = next};
    CU_ASSERT_EQUAL_FATAL(scene.driver->open(scene.driver, &options, &next->store), ZKLOCK_OK);
    return next;
}

static bool is_connected(void *context)
{
    struct runner *at = context;
    int count = probe_count(&at->states);

    return count > 0 && probe_at(&at->states, count - 1) == ZKL_STORE_CONNECTED;
}

static void await_connected(struct runner *at)
{
    CU_ASSERT_TRUE_FATAL(eventually(is_connected, at, SCENE_LIMIT_MS));
}

static enum zkl_code ask(struct runner *at, const struct zkl_request *request, struct outcome *outcome)
{
    outcome_init(outcome);
    probe_init(&outcome->answered);
    CU_ASSERT_TRUE_FATAL(scene.driver->submit(at->store, request, outcome_note, outcome));
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&outcome->answered, 1, SCENE_LIMIT_MS));
    enum zkl_code code = probe_at(&outcome->answered, 0);
    probe_clear(&outcome->answered);
    return code;
}

static void start(void)
{
    static const struct zkl_request create = {.op = ZKL_OP_CREATE, .path = "/lock/x-", .data = "", .data_size = 0};
    static struct outcome outcome;

    scene_start();
    proxy = fault_proxy_start(zk_server_port(scene.server));
    runner = begin(NULL);
    await_connected(runner);
    scene.driver->key(runner->store, &key);
    CU_ASSERT_EQUAL_FATAL(ask(runner, &create, &outcome), ZKL_CODE_OK);
    snprintf(node, sizeof node, "%s", outcome.path);
}

static void *close_runner(void *arg)
{
    struct runner *at = arg;

    scene.driver->close(at->store);
    probe_clear(&at->states);
    free(at);
    return NULL;
}

static void end(void)
{
    close_runner(runner);
    fault_proxy_free(proxy);
    scene_end();
}

/* A moment of the old one's life after it has lost its connection: before, in and after its next greeting. */
static void let_it_come_back_a_little(int round)
{
    long nanoseconds = (long)(rand() % (round % 2 ? LONGEST_DELAY_US : LONGEST_DELAY_US / 10)) * 1000;

    nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

/* The old one has only been cut. Returns whether the session was taken over. */
static bool take_over(int round)
{
    struct runner *old = runner;
    pthread_t closer;
    int before = probe_count(&old->states);

    fault_proxy_cut(proxy);
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&old->states, before + 1, SCENE_LIMIT_MS));
    let_it_come_back_a_little(round);
    if (!scene.driver->retire(old->store)) {
        await_connected(old);
        return false;
    }
    runner = begin(&key);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&closer, NULL, close_runner, old), 0);
    await_connected(runner);
    CU_ASSERT_EQUAL(runner->session_id, key.session_id);
    pthread_join(closer, NULL);
    await_connected(runner);
    CU_ASSERT_EQUAL(runner->session_id, key.session_id);
    return true;
}

static void session_outlives_every_handle_that_had_it(void)
{
    const struct zkl_request look = {.op = ZKL_OP_GET, .path = node};
    struct outcome outcome;
    int taken_over = 0;

    for (int round = 0; round < ROUNDS; round++)
        taken_over += take_over(round);
    CU_ASSERT_TRUE(taken_over >= LEAST_TAKEN_OVER);
    CU_ASSERT_EQUAL(ask(runner, &look, &outcome), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(outcome.stat.owner, key.session_id);
}

static void connected_store_is_not_retired(void)
{
    const struct zkl_request look = {.op = ZKL_OP_GET, .path = node};
    struct outcome outcome;

    CU_ASSERT_FALSE(scene.driver->retire(runner->store));
    CU_ASSERT_EQUAL(ask(runner, &look, &outcome), ZKL_CODE_OK);
    fault_proxy_cut(proxy);
    CU_ASSERT_TRUE(probe_wait_value(&runner->states, ZKL_STORE_DISCONNECTED, SCENE_LIMIT_MS));
    await_connected(runner);
    CU_ASSERT_EQUAL(runner->session_id, key.session_id);
}

/* The server answers the greeting of the old one only after that was retired. */
static void answer_that_was_on_its_way_revives_nothing(void)
{
    struct runner *old = runner;

    fault_proxy_hold_reply(proxy, FAULT_OP_CONNECT, 1);
    fault_proxy_cut(proxy);
    CU_ASSERT_TRUE_FATAL(fault_proxy_wait_held(proxy, 1, SCENE_LIMIT_MS));
    CU_ASSERT_TRUE_FATAL(scene.driver->retire(old->store));
    fault_proxy_release(proxy);
    CU_ASSERT_TRUE(probe_wait_value(&old->states, ZKL_STORE_EXPIRED, SCENE_LIMIT_MS));
    runner = begin(&key);
    close_runner(old);
    await_connected(runner);
    CU_ASSERT_EQUAL(runner->session_id, key.session_id);
    CU_ASSERT_EQUAL(observer_count(scene.observer, "/lock"), 1);
}

#define TEST(test) SUITE_TEST_WITH(test, start, end)

static const struct suite_test tests[] = {
    TEST(session_outlives_every_handle_that_had_it),
    TEST(connected_store_is_not_retired),
    TEST(answer_that_was_on_its_way_revives_nothing),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "store_retire", tests);
}
