/* Hand-overs under pressure: threads and sessions, predecessors that go at any moment, and very many watches. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- many at once */

enum { RUNNERS = 8 };

/* What the lock protects; a second one inside, or a token that does not rise, is counted. */
static struct {
    atomic_int inside;
    atomic_int violations;
    atomic_int failures;
    uint64_t token;
} protected;

struct runner {
    pthread_t thread;
    zklock *lock;
    int rounds;
};

static void pass_once(zklock *lock)
{
    uint64_t token = 0;

    if (zklock_acquire(lock, STAGE_LIMIT_MS) != ZKLOCK_OK) {
        atomic_fetch_add(&protected.failures, 1);
        return;
    }
    if (atomic_fetch_add(&protected.inside, 1) != 0 || zklock_token(lock, &token) != ZKLOCK_OK ||
        token <= protected.token)
        atomic_fetch_add(&protected.violations, 1);
    protected.token = token;
    atomic_fetch_sub(&protected.inside, 1);
    if (zklock_release(lock, STAGE_LIMIT_MS) != ZKLOCK_OK)
        atomic_fetch_add(&protected.failures, 1);
}

static void *run(void *arg)
{
    struct runner *runner = arg;

    for (int round = 0; round < runner->rounds; round++)
        pass_once(runner->lock);
    return NULL;
}

static void run_all(zklock_session *runner_sessions[RUNNERS], int rounds)
{
    struct runner runners[RUNNERS];

    memset(&protected, 0, sizeof(protected));
    for (int i = 0; i < RUNNERS; i++) {
        runners[i] = (struct runner){.lock = contender_new(runner_sessions[i], STAGE_PATH)->lock, .rounds = rounds};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&runners[i].thread, NULL, run, &runners[i]), 0);
    }
    for (int i = 0; i < RUNNERS; i++)
        pthread_join(runners[i].thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&protected.violations), 0);
    CU_ASSERT_EQUAL(atomic_load(&protected.failures), 0);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
    CU_ASSERT_TRUE(zk_server_wait_watch_count(stage.server, 0, STAGE_LIMIT_MS));
}

static void eight_threads_of_one_session_exclude_each_other(void)
{
    zklock_session *same[RUNNERS];

    for (int i = 0; i < RUNNERS; i++)
        same[i] = stage.session;
    run_all(same, 100);
}

/* A thousand quick hand-overs: predecessors go between list and watch all the time. */
static void eight_sessions_hand_over_a_thousand_times(void)
{
    zklock_session *own[RUNNERS];

    for (int i = 0; i < RUNNERS; i++)
        own[i] = stage_open_outside();
    run_all(own, 125);
}

/* The same with the connections cut again and again. */
static void *cut_again_and_again(void *arg)
{
    atomic_bool *is_over = arg;

    for (int cuts = 1; !atomic_load(is_over); cuts++) {
        fault_proxy_cut(stage.proxy);
        fault_proxy_wait_accepted(stage.proxy, cuts * RUNNERS, 200);
    }
    return NULL;
}

static void eight_sessions_hand_over_while_connections_are_cut(void)
{
    zklock_session *own[RUNNERS];
    atomic_bool is_over = false;
    pthread_t cutter;

    for (int i = 0; i < RUNNERS; i++)
        own[i] = stage_open(fault_proxy_address(stage.proxy), 2 * STAGE_TIMEOUT_MS);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&cutter, NULL, cut_again_and_again, &is_over), 0);
    run_all(own, 10);
    atomic_store(&is_over, true);
    pthread_join(cutter, NULL);
}

static void threads_without_a_server_get_a_failure(void)
{
    struct blocking_call calls[RUNNERS];
    zklock_session *session;

    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    session = stage_begin(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS);
    for (int i = 0; i < RUNNERS; i++)
        blocking_call_start(&calls[i], contender_new(session, STAGE_PATH), zklock_acquire, 500);
    for (int i = 0; i < RUNNERS; i++)
        CU_ASSERT_EQUAL(blocking_call_join(&calls[i]), ZKLOCK_NO_SERVER);
}

/* A burst of thousands of requests delays the heartbeat among them: on a slow machine by more than the usual timeout. */
static void many_locks_live_on_one_session(void)
{
    enum { MANY = 1000 };
    static zklock *locks[MANY];
    zklock_session *session = stage_open(fault_proxy_address(stage.proxy), 10 * STAGE_TIMEOUT_MS);
    char path[64];

    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof(path), "/stage/many/%d", i);
        CU_ASSERT_EQUAL_FATAL(zklock_new(session, path, NULL, &locks[i]), ZKLOCK_OK);
        CU_ASSERT_EQUAL_FATAL(zklock_acquire_start(locks[i], STAGE_LIMIT_MS), ZKLOCK_OK);
    }
    for (int i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(zklock_wait(locks[i]), ZKLOCK_OK);
    for (int i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(zklock_release_send(locks[i]), ZKLOCK_OK);
    for (int i = 0; i < MANY; i++)
        zklock_free(locks[i]);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, path, 0, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(zk_server_wait_watch_count(stage.server, 0, STAGE_LIMIT_MS));
}

/* ---------------------------------------------------------------- gone between list and watch */

/* Holds the waiter's request for the watch back until its predecessor is gone. */
static void hold_watch_back(struct contender *holder, struct contender *waiter, int op, int nth)
{
    contender_hold(holder);
    fault_proxy_hold_request(stage.proxy, op, nth);
    contender_begin(waiter, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_release(waiter->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(zk_server_wait_watch_count(stage.server, 0, STAGE_LIMIT_MS));
}

static void waiter_is_granted_when_the_holder_goes_before_the_watch(void)
{
    hold_watch_back(contender_new(stage_open_outside(), STAGE_PATH), contender_new(stage.session, STAGE_PATH),
                    FAULT_OP_GET_DATA, 1);
}

static void waiter_is_granted_when_the_holder_goes_between_the_two_watches(void)
{
    hold_watch_back(contender_new(stage_open_outside(), STAGE_PATH), contender_new(stage.session, STAGE_PATH),
                    FAULT_OP_GET_DATA, 2);
}

/* Not the holder goes, but the waiter right ahead: only a new listing tells who is next. */
static void waiter_lists_again_when_the_one_ahead_goes_before_the_watch(void)
{
    zklock_session *outside = stage_open_outside();
    struct contender *holder = contender_new(outside, STAGE_PATH);
    struct contender *middle = contender_new(outside, STAGE_PATH);
    struct contender *last = contender_new(stage.session, STAGE_PATH);

    contender_hold(holder);
    contender_queue(middle);
    fault_proxy_hold_request(stage.proxy, FAULT_OP_GET_DATA, 2);
    contender_begin(last, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_cancel(middle->lock), ZKLOCK_OK);
    contender_await_event(middle, ZKLOCK_EVENT_RELEASED);
    fault_proxy_release(stage.proxy);
    contender_await_state(last, ZKL_WAITING);
    CU_ASSERT_EQUAL(zklock_result(last->lock), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(last), ZKLOCK_OK);
}

/* ---------------------------------------------------------------- watches that outlive their wait */

enum { TIMEOUTS = 1000 };

/* Objects freed, the server bounced, the predecessor gone: each step calls on what is left of the waits. */
static void watches_of_a_thousand_timeouts_are_harmless(void)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);
    struct contender *next = contender_new(stage.session, STAGE_PATH);

    contender_hold(holder);
    for (int i = 0; i < TIMEOUTS; i++) {
        zklock *lock = NULL;
        zklock_status status;

        CU_ASSERT_EQUAL_FATAL(zklock_new(stage.session, STAGE_PATH, NULL, &lock), ZKLOCK_OK);
        /* In so little time the server may not even have answered. */
        status = zklock_acquire(lock, 2);
        CU_ASSERT_TRUE(status == ZKLOCK_TIMEOUT || status == ZKLOCK_NO_SERVER);
        zklock_free(lock);
    }
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 1, STAGE_LIMIT_MS));
    /* The holder's own, and one on the holder if any of them came so far. */
    CU_ASSERT_TRUE(zk_server_watch_count(stage.server) <= 2);
    fault_proxy_cut(stage.proxy);
    contender_queue(next);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(next), ZKLOCK_OK);
    CU_ASSERT_TRUE(zk_server_wait_watch_count(stage.server, 1, STAGE_LIMIT_MS));
}

#define TEST(test) SUITE_TEST_WITH(test, stage_start, stage_end)
#define BARE(test) SUITE_TEST_WITH(test, stage_start_without_session, stage_end)

static const struct suite_test tests[] = {
    TEST(eight_threads_of_one_session_exclude_each_other),
    BARE(eight_sessions_hand_over_a_thousand_times),
    BARE(eight_sessions_hand_over_while_connections_are_cut),
    BARE(threads_without_a_server_get_a_failure),
    BARE(many_locks_live_on_one_session),
    TEST(waiter_is_granted_when_the_holder_goes_before_the_watch),
    TEST(waiter_is_granted_when_the_holder_goes_between_the_two_watches),
    TEST(waiter_lists_again_when_the_one_ahead_goes_before_the_watch),
    TEST(watches_of_a_thousand_timeouts_are_harmless),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_handover", tests);
}
