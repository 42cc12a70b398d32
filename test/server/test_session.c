/* Sessions: which servers are tried, what a restart leaves, what the server grants; opening and closing. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

enum { LONG_TIMEOUT_MS = 10000, MOST_ADDRESSES = 6 };

/* ---------------------------------------------------------------- every listed server is tried */

static struct fault_proxy *addresses[MOST_ADDRESSES];
static int address_count;

static void free_addresses(void)
{
    stage_end();
    while (address_count > 0)
        fault_proxy_free(addresses[--address_count]);
}

/* All lead to one server, and all but the first one are down. */
static zklock_session *open_with_addresses(int count)
{
    char servers[256] = "";

    for (address_count = 0; address_count < count; address_count++) {
        struct fault_proxy *proxy = fault_proxy_start(zk_server_port(stage.server));
        addresses[address_count] = proxy;
        if (address_count > 0)
            fault_proxy_set_mood(proxy, FAULT_DOWN);
        snprintf(servers + strlen(servers), sizeof(servers) - strlen(servers), "%s%s", address_count ? "," : "",
                 fault_proxy_address(proxy));
    }
    return stage_open(servers, LONG_TIMEOUT_MS);
}

/* The only server that is up is always another one; and the lock survives each move. */
static void check_that_each_is_found(int count)
{
    struct contender *contender = contender_new(open_with_addresses(count), STAGE_PATH);
    int64_t session_id = stage_session_id(contender->session);

    contender_hold(contender);
    for (int i = 1; i <= count; i++) {
        fault_proxy_set_mood(addresses[i - 1], FAULT_DOWN);
        CU_ASSERT_TRUE(probe_wait_value(&contender->events, ZKLOCK_EVENT_SUSPENDED, STAGE_LIMIT_MS));
        fault_proxy_set_mood(addresses[i % count], FAULT_PASS);
        CU_ASSERT_TRUE(probe_wait_value(&contender->events, ZKLOCK_EVENT_RESUMED, STAGE_LIMIT_MS));
        probe_reset(&contender->events);
        stage_fence(contender->session);
    }
    CU_ASSERT_TRUE(zklock_is_held(contender->lock));
    CU_ASSERT_EQUAL(stage_session_id(contender->session), session_id);
}

static void each_of_two_servers_is_found(void)
{
    check_that_each_is_found(2);
}

static void each_of_four_servers_is_found(void)
{
    check_that_each_is_found(4);
}

static void each_of_six_servers_is_found(void)
{
    check_that_each_is_found(6);
}

static void server_that_comes_late_is_found(void)
{
    zklock_session *session;

    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    session = stage_begin(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS);
    CU_ASSERT_EQUAL(zklock_session_wait_connected(session, 500), ZKLOCK_NO_SERVER);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    CU_ASSERT_EQUAL(zklock_session_wait_connected(session, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void note_resolution(void *arg, zklock_log_level level, const char *message)
{
    if (strncmp(message, "resolved ", strlen("resolved ")) == 0)
        probe_note(arg, level);
}

/* A server may have moved behind its name: after three session timeouts without a connection it is looked up anew. */
static void names_are_looked_up_again_after_a_long_absence(void)
{
    zklock_session_options options;
    zklock_session *session;
    struct probe resolutions;
    int before;

    probe_init(&resolutions);
    zklock_session_options_init(&options);
    options.servers = fault_proxy_address(stage.proxy);
    options.session_timeout_ms = 2 * STAGE_TICK_MS;
    options.log = note_resolution;
    options.log_arg = &resolutions;
    options.log_level = ZKLOCK_LOG_INFO;
    session = stage_begin_with(&options);
    CU_ASSERT_EQUAL_FATAL(zklock_session_wait_connected(session, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(probe_wait_count(&resolutions, 1, STAGE_LIMIT_MS));
    before = probe_count(&resolutions);
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    CU_ASSERT_TRUE(probe_wait_count(&resolutions, before + 1, STAGE_LIMIT_MS));
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    CU_ASSERT_EQUAL(zklock_session_wait_connected(session, STAGE_LIMIT_MS), ZKLOCK_OK);
    stage_close(session, -1);
    probe_clear(&resolutions);
}

/* ---------------------------------------------------------------- restarts */

enum { RESTARTS = 10, RESTART_TIMEOUT_MS = 60000, LINE_LENGTH = 3 };

static bool has_half_of_its_lease(void *context)
{
    return zklock_remaining_ms(((struct contender *)context)->lock) > RESTART_TIMEOUT_MS / 2;
}

static bool is_reconnected(void *context)
{
    zklock_session_info info;

    return zklock_session_info_get(((struct contender *)context)->session, &info) == ZKLOCK_OK && info.is_connected;
}

/*
 * Nobody reaches the server before it serves: one of 3.8 that is being started can take a connection and leave it alone
 * for ever (its log shows a NullPointerException), and the client library then waits for two thirds of the timeout.
 * The server stays until each of them is back: a waiter that misses several short visits has a lapsed session.
 */
static void restart_once(struct contender *line[LINE_LENGTH])
{
    struct contender *holder = line[0];

    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    zk_server_restart(stage.server);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    contender_await_event(holder, ZKLOCK_EVENT_RESUMED);
    probe_reset(&holder->events);
    CU_ASSERT_TRUE(eventually(has_half_of_its_lease, holder, STAGE_LIMIT_MS));
    for (int i = 0; i < LINE_LENGTH; i++)
        CU_ASSERT_TRUE(eventually(is_reconnected, line[i], STAGE_LIMIT_MS));
}

static void ten_restarts_leave_holder_and_order(void)
{
    struct contender *line[LINE_LENGTH];
    char nodes[LINE_LENGTH][OBSERVER_PATH_SIZE];

    for (int i = 0; i < LINE_LENGTH; i++) {
        line[i] = contender_new(stage_open(fault_proxy_address(stage.proxy), RESTART_TIMEOUT_MS), STAGE_PATH);
        contender_begin(line[i], -1);
        contender_await_state(line[i], i == 0 ? ZKL_HELD : ZKL_WAITING);
        contender_node(line[i], nodes[i]);
    }
    contender_result(line[0]);
    for (int i = 0; i < RESTARTS; i++)
        restart_once(line);
    for (int i = 0; i < LINE_LENGTH; i++) {
        CU_ASSERT_TRUE(observer_exists(stage.observer, nodes[i]));
        CU_ASSERT_EQUAL(zklock_wait(line[i]->lock), ZKLOCK_OK);
        CU_ASSERT_FALSE(contender_heard(line[i], ZKLOCK_EVENT_LOST));
        CU_ASSERT_EQUAL(zklock_release(line[i]->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    }
}

/* ---------------------------------------------------------------- what the server grants */

static void start_with_narrow_limits(void)
{
    stage_start_with(&(struct zk_server_options){.min_session_timeout_ms = 1500, .max_session_timeout_ms = 4000});
}

static void check_granted_timeout(unsigned asked_ms, unsigned granted_ms)
{
    struct contender *contender = contender_new(stage_open(fault_proxy_address(stage.proxy), asked_ms), STAGE_PATH);
    zklock_session_info info;

    CU_ASSERT_EQUAL(zklock_session_info_get(contender->session, &info), ZKLOCK_OK);
    CU_ASSERT_EQUAL(info.session_timeout_ms, granted_ms);
    contender_hold(contender);
    CU_ASSERT_TRUE(zklock_remaining_ms(contender->lock) > 0);
    CU_ASSERT_TRUE(zklock_remaining_ms(contender->lock) <= granted_ms);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void lease_follows_the_timeout_that_was_granted(void)
{
    check_granted_timeout(60000, 4000);
    check_granted_timeout(100, 1500);
    check_granted_timeout(2000, 2000);
}

static bool has_fresh_session(void *context)
{
    zklock_session_info info;

    return zklock_session_info_get(stage.session, &info) == ZKLOCK_OK && info.is_connected &&
           info.session_id != *(int64_t *)context;
}

static void session_is_made_anew_after_it_expired(void)
{
    int64_t session_id = stage_session_id(stage.session);

    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    for (int64_t end_ms = monotonic_ms() + STAGE_LIMIT_MS; zk_server_has_session(stage.server, session_id);)
        CU_ASSERT_TRUE_FATAL(monotonic_ms() < end_ms);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    CU_ASSERT_TRUE(eventually(has_fresh_session, &session_id, STAGE_LIMIT_MS));
    contender_hold(contender_new(stage.session, STAGE_PATH));
}

/* ---------------------------------------------------------------- opening and closing */

static void close_leaves_nothing_at_the_server(void)
{
    int64_t session_id = stage_session_id(stage.session);
    struct contender *holder = contender_new(stage.session, STAGE_PATH);
    struct contender *waiter = contender_new(stage.session, STAGE_PATH);

    contender_hold(holder);
    contender_queue(waiter);
    CU_ASSERT_EQUAL(stage_close(stage.session, -1), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
    CU_ASSERT_FALSE(zk_server_has_session(stage.server, session_id));
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_CLOSED);
    CU_ASSERT_EQUAL(contender_await_event(waiter, ZKLOCK_EVENT_ENDED)->status, ZKLOCK_CLOSED);
    CU_ASSERT_EQUAL(zklock_try(waiter->lock, -1), ZKLOCK_CLOSED);
    CU_ASSERT_FALSE(zklock_is_held(holder->lock));
}

static void close_ends_a_blocking_acquire(void)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);
    struct contender *waiter = contender_new(stage.session, STAGE_PATH);
    struct blocking_call call;

    contender_hold(holder);
    blocking_call_start(&call, waiter, zklock_acquire, -1);
    contender_await_state(waiter, ZKL_WAITING);
    CU_ASSERT_EQUAL(stage_close(stage.session, -1), ZKLOCK_OK);
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_CLOSED);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
}

/* Many locks are deleted before the session is ended: a close with much in flight would leave it alive. */
static void close_of_many_contenders_leaves_nothing(void)
{
    enum { MANY = 300 };
    int64_t session_id = stage_session_id(stage.session);
    char path[64];

    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof(path), "/stage/many-%d", i);
        contender_begin(contender_new(stage.session, path), -1);
    }
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, path, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(stage_close(stage.session, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_FALSE(zk_server_has_session(stage.server, session_id));
    CU_ASSERT_EQUAL(observer_count(stage.observer, path), 0);
}

static void close_before_the_first_connection_ends_at_once(void)
{
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(stage_close(stage_begin(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS), 0), ZKLOCK_OK);
}

static void note_line(void *arg, zklock_log_level level, const char *message)
{
    (void)message;
    probe_note(arg, level);
}

/* Freed memory is scribbled over, and everything that can be logged is. */
static void cycle_sessions(struct probe *lines, int rounds)
{
    zklock_session_options options;

    zklock_session_options_init(&options);
    options.servers = fault_proxy_address(stage.proxy);
    options.session_timeout_ms = STAGE_TIMEOUT_MS;
    options.log = note_line;
    options.log_arg = lines;
    options.log_level = ZKLOCK_LOG_DEBUG;
    for (int round = 0; round < rounds; round++) {
        zklock_session *session = NULL;
        zklock *lock = NULL;

        if (zklock_session_open(&options, &session) != ZKLOCK_OK)
            suite_abandon("a session does not open");
        if (round % 3 != 0 && (zklock_new(session, STAGE_PATH, NULL, &lock) != ZKLOCK_OK ||
                               zklock_acquire(lock, round % 3 == 1 ? STAGE_LIMIT_MS : 0) == ZKLOCK_INTERNAL))
            suite_abandon("a lock is not made");
        zklock_free(lock);
        zklock_session_close(session, round % 2 ? -1 : 0);
    }
}

static void *cycle_on_a_thread(void *arg)
{
    cycle_sessions(arg, 100);
    return NULL;
}

static void two_hundred_open_close_cycles_on_two_threads_are_harmless(void)
{
    pthread_t thread;
    struct probe lines;

    probe_init(&lines);
    mallopt(M_PERTURB, 0x5a);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, cycle_on_a_thread, &lines), 0);
    cycle_sessions(&lines, 100);
    pthread_join(thread, NULL);
    mallopt(M_PERTURB, 0);
    CU_ASSERT_TRUE(probe_count(&lines) > 0);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 0, STAGE_LIMIT_MS));
    probe_clear(&lines);
}

#define TEST(test) SUITE_TEST_WITH(test, stage_start, stage_end)
#define BARE(test) SUITE_TEST_WITH(test, stage_start_without_session, stage_end)
#define LISTED(test) SUITE_TEST_WITH(test, stage_start_without_session, free_addresses)

static const struct suite_test tests[] = {
    LISTED(each_of_two_servers_is_found),
    LISTED(each_of_four_servers_is_found),
    LISTED(each_of_six_servers_is_found),
    BARE(server_that_comes_late_is_found),
    BARE(names_are_looked_up_again_after_a_long_absence),
    BARE(ten_restarts_leave_holder_and_order),
    SUITE_TEST_WITH(lease_follows_the_timeout_that_was_granted, start_with_narrow_limits, stage_end),
    TEST(session_is_made_anew_after_it_expired),
    TEST(close_leaves_nothing_at_the_server),
    TEST(close_ends_a_blocking_acquire),
    TEST(close_of_many_contenders_leaves_nothing),
    BARE(close_before_the_first_connection_ends_at_once),
    BARE(two_hundred_open_close_cycles_on_two_threads_are_harmless),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "session", tests);
}
