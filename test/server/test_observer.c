/* Who leads, told by a callback upon each change. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"
#include "zklock_observer.h"

#include <stdio.h>
#include <string.h>

enum { NOBODY = 0, CREATE = 4, DELETE = 8, SHORT_TIMEOUT_MS = 3000 };

static zklock_observer *observer;
static struct probe told; /* tokens; 0: nobody leads; negative: the status */
static struct {
    char name[128];
    char payload[512];
    bool has_payload;
    zklock_mode mode;
} latest; /* what came with the newest token */

/* @thread the notifier, or who dispatches */
static void on_leader(zklock_observer *unused, const zklock_sighting *sighting, void *probe)
{
    const zklock_contender *leader = sighting->leader;

    (void)unused;
    if (leader) {
        snprintf(latest.name, sizeof latest.name, "%s", leader->name);
        snprintf(latest.payload, sizeof latest.payload, "%s", leader->payload ? leader->payload : "");
        latest.has_payload = leader->payload != NULL;
        latest.mode = leader->mode;
    }
    probe_note(probe, sighting->status != ZKLOCK_OK ? -(long long)sighting->status
                      : leader                      ? (long long)leader->token
                                                    : NOBODY);
}

static void start(void)
{
    probe_init(&told);
    stage_start();
}

static void start_without_session(void)
{
    probe_init(&told);
    stage_start_without_session();
}

static void end(void)
{
    zklock_observer_stop(observer);
    observer = NULL;
    stage_end();
    probe_clear(&told);
}

static void observe_with(zklock_session *session, zklock_observer_fn *callback, void *context)
{
    CU_ASSERT_EQUAL_FATAL(zklock_observer_start(session, STAGE_PATH, callback, context, &observer), ZKLOCK_OK);
}

static void observe(zklock_session *session)
{
    observe_with(session, on_leader, &told);
}

/* That this is told as the index-th (from 0), and nothing behind it so far. */
static void expect_told(int index, long long value)
{
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&told, index + 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(probe_at(&told, index), value);
    CU_ASSERT_EQUAL(probe_count(&told), index + 1);
}

static struct contender *candidate(zklock_session *session)
{
    zklock_options options;

    zklock_options_init(&options);
    options.mode = ZKLOCK_MODE_LEADER_LATCH;
    options.label = "candidate";
    return contender_new_with(session, STAGE_PATH, &options);
}

static void let_go(struct contender *contender)
{
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
}

/* A contender of another client; its token. */
static long long put(const char *name, char out_path[OBSERVER_PATH_SIZE])
{
    struct observed_node node;

    snprintf(out_path, OBSERVER_PATH_SIZE, STAGE_PATH "/%s", name);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, out_path, "theirs", 0, NULL), ZOK);
    CU_ASSERT_EQUAL_FATAL(observer_look(stage.observer, out_path, &node), ZOK);
    long long token = node.czxid;
    observed_node_clear(&node);
    return token;
}

static void expire(zklock_session *session)
{
    zklock_session_key key;

    CU_ASSERT_EQUAL_FATAL(zklock_session_key_get(session, &key), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_session_end(zk_server_address(stage.server), &key, STAGE_LIMIT_MS), ZKLOCK_OK);
}

/* ---------------------------------------------------------------- each change */

static void leader_is_told_with_its_payload_and_token(void)
{
    struct contender *leader = candidate(stage_open_outside());

    observe(stage.session);
    expect_told(0, NOBODY);
    contender_hold(leader);
    expect_told(1, (long long)contender_token(leader));
    CU_ASSERT_PTR_NOT_NULL(strstr(latest.payload, "candidate"));
    CU_ASSERT_EQUAL(latest.mode, ZKLOCK_MODE_LEADER_LATCH);
}

static void each_change_of_leader_is_told(void)
{
    zklock_session *outside = stage_open_outside();
    struct contender *first = candidate(outside);
    struct contender *second = candidate(outside);

    contender_hold(first);
    observe(stage.session);
    expect_told(0, (long long)contender_token(first));
    contender_queue(second);
    let_go(first);
    CU_ASSERT_EQUAL(contender_result(second), ZKLOCK_OK);
    expect_told(1, (long long)contender_token(second));
    let_go(second);
    expect_told(2, NOBODY);
}

static void leader_that_crashes_is_told(void)
{
    struct contender *first = candidate(stage_open_outside());
    struct contender *second = candidate(stage_open_outside());

    contender_hold(first);
    contender_queue(second);
    observe(stage.session);
    expect_told(0, (long long)contender_token(first));
    expire(first->session);
    CU_ASSERT_EQUAL(contender_result(second), ZKLOCK_OK);
    expect_told(1, (long long)contender_token(second));
}

static void leaders_of_every_style_are_told(void)
{
    static const char *const names[] = {"a__lock__0000000001", "b-latch-0000000002", "c-__WRIT__0000000003",
                                        "d__rlock__0000000004", "x-72057594-0000000005"};
    enum { COUNT = sizeof names / sizeof names[0] };
    char paths[COUNT][OBSERVER_PATH_SIZE];
    long long tokens[COUNT];

    for (int i = 0; i < COUNT; i++)
        tokens[i] = put(names[i], paths[i]);
    observe(stage.session);
    for (int i = 0; i < COUNT; i++) {
        expect_told(i, tokens[i]);
        CU_ASSERT_STRING_EQUAL(latest.name, names[i]);
        CU_ASSERT_STRING_EQUAL(latest.payload, "theirs");
        CU_ASSERT_EQUAL(observer_delete(stage.observer, paths[i]), ZOK);
    }
    expect_told(COUNT, NOBODY);
}

static void path_may_come_into_being_later(void)
{
    struct contender *leader = contender_new(stage_open_outside(), "/stage/later");

    CU_ASSERT_EQUAL_FATAL(zklock_observer_start(stage.session, "/stage/later", on_leader, &told, &observer), ZKLOCK_OK);
    expect_told(0, NOBODY);
    contender_hold(leader);
    expect_told(1, (long long)contender_token(leader));
}

/* Not even when somebody writes into its node. */
static void same_leader_is_not_told_twice(void)
{
    char path[OBSERVER_PATH_SIZE];

    long long token = put("a-lock-0000000001", path);
    observe(stage.session);
    expect_told(0, token);
    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(observer_set(stage.observer, path, "other", 5), ZOK);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 1, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, path), ZOK);
    expect_told(1, NOBODY);
}

static void leader_that_may_not_be_read_is_told_without_payload(void)
{
    char world[] = "world", anyone[] = "anyone", path[OBSERVER_PATH_SIZE];
    struct ACL entry = {CREATE | DELETE, {world, anyone}};
    struct ACL_vector rights = {1, &entry};

    long long token = put("a-lock-0000000001", path);
    CU_ASSERT_EQUAL_FATAL(zoo_set_acl(observer_handle(stage.observer), path, -1, &rights), ZOK);
    observe(stage.session);
    expect_told(0, token);
    CU_ASSERT_FALSE(latest.has_payload);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, path), ZOK);
    expect_told(1, NOBODY);
}

static void list_that_is_denied_is_told(void)
{
    char world[] = "world", anyone[] = "anyone";
    struct ACL entry = {CREATE | DELETE, {world, anyone}};
    struct ACL_vector rights = {1, &entry};

    CU_ASSERT_EQUAL_FATAL(zoo_set_acl(observer_handle(stage.observer), STAGE_PATH, -1, &rights), ZOK);
    observe(stage.session);
    expect_told(0, -ZKLOCK_DENIED);
}

/* ---------------------------------------------------------------- what it costs */

static void contenders_behind_the_leader_wake_no_observer(void)
{
    zklock_session *outside = stage_open_outside();
    struct contender *leader = candidate(outside);
    struct contender *waiter = candidate(outside);

    contender_hold(leader);
    observe(stage.session);
    expect_told(0, (long long)contender_token(leader));
    stage_fence(stage.session);
    fault_proxy_reset_counts(stage.proxy);
    contender_queue(waiter);
    CU_ASSERT_EQUAL(zklock_cancel(waiter->lock), ZKLOCK_OK);
    contender_await_event(waiter, ZKLOCK_EVENT_RELEASED);
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(fault_proxy_events(stage.proxy, 0), 0);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_GET_DATA), 0);
}

static void change_of_leader_costs_two_requests(void)
{
    char first[OBSERVER_PATH_SIZE], second[OBSERVER_PATH_SIZE];

    long long token = put("a-lock-0000000001", first);
    long long next = put("b-lock-0000000002", second);
    observe(stage.session);
    expect_told(0, token);
    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, first), ZOK);
    expect_told(1, next);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_GET_CHILDREN), 1);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_GET_DATA), 1);
    CU_ASSERT_EQUAL(fault_proxy_events(stage.proxy, 0), 1);
}

/* ---------------------------------------------------------------- networks and sessions */

static void cut_changes_nothing_and_hides_nothing(void)
{
    char first[OBSERVER_PATH_SIZE], second[OBSERVER_PATH_SIZE];

    long long token = put("a-lock-0000000001", first);
    observe(stage.session);
    expect_told(0, token);
    fault_proxy_cut(stage.proxy);
    stage_fence(stage.session);
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    long long next = put("b-lock-0000000002", second);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, first), ZOK);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    expect_told(1, next);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, second), ZOK);
    expect_told(2, NOBODY);
}

static void answers_that_are_lost_are_asked_for_again(void)
{
    char first[OBSERVER_PATH_SIZE], second[OBSERVER_PATH_SIZE];

    long long token = put("a-lock-0000000001", first);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_GET_CHILDREN, 1, FAULT_THEN_CUT);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_GET_DATA, 1, FAULT_THEN_CUT);
    observe(stage.session);
    expect_told(0, token);
    CU_ASSERT_EQUAL(fault_proxy_fired(stage.proxy), 2);
    long long next = put("b-lock-0000000002", second);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_EVENT, 1, FAULT_THEN_CUT);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, first), ZOK);
    expect_told(1, next);
}

static void leader_that_goes_between_list_and_watch_is_not_told(void)
{
    char first[OBSERVER_PATH_SIZE], second[OBSERVER_PATH_SIZE];

    put("a-lock-0000000001", first);
    long long next = put("b-lock-0000000002", second);
    fault_proxy_hold_request(stage.proxy, FAULT_OP_GET_DATA, 1);
    observe(stage.session);
    CU_ASSERT_TRUE_FATAL(fault_proxy_wait_held(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(observer_delete(stage.observer, first), ZOK);
    fault_proxy_release(stage.proxy);
    expect_told(0, next);
}

static void observer_outlives_its_session(void)
{
    char first[OBSERVER_PATH_SIZE], second[OBSERVER_PATH_SIZE];

    long long token = put("a-lock-0000000001", first);
    observe(stage.session);
    expect_told(0, token);
    int64_t before = stage_session_id(stage.session);
    expire(stage.session);
    long long next = put("b-lock-0000000002", second);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, first), ZOK);
    expect_told(1, next);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, second), ZOK);
    expect_told(2, NOBODY);
    CU_ASSERT_NOT_EQUAL(stage_session_id(stage.session), before);
}

/* Its watches went with the old handle. */
static void observer_goes_on_when_the_handle_is_replaced(void)
{
    char servers[128], first[OBSERVER_PATH_SIZE];
    struct fault_proxy *other = fault_proxy_start(zk_server_port(stage.server));

    snprintf(servers, sizeof servers, "%s,%s", fault_proxy_address(stage.proxy), fault_proxy_address(other));
    zklock_session *session = stage_open(servers, 10000);
    int64_t session_id = stage_session_id(session);
    long long token = put("a-lock-0000000001", first);
    observe(session);
    expect_told(0, token);
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    fault_proxy_set_mood(other, FAULT_HOLE);
    fault_proxy_cut(stage.proxy);
    fault_proxy_cut(other);
    CU_ASSERT_TRUE_FATAL(fault_proxy_wait_accepted(stage.proxy, fault_proxy_accepted(stage.proxy) + 1, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE_FATAL(fault_proxy_wait_accepted(other, fault_proxy_accepted(other) + 1, STAGE_LIMIT_MS));
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    fault_proxy_set_mood(other, FAULT_PASS);
    CU_ASSERT_EQUAL(zklock_session_wait_connected(session, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(stage_session_id(session), session_id);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, first), ZOK);
    expect_told(1, NOBODY);
    stage_close(session, STAGE_LIMIT_MS);
    fault_proxy_free(other);
}

static void observer_may_be_started_before_there_is_a_connection(void)
{
    char path[OBSERVER_PATH_SIZE];

    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    stage.session = stage_begin(fault_proxy_address(stage.proxy), SHORT_TIMEOUT_MS);
    observe(stage.session);
    long long token = put("a-lock-0000000001", path);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    expect_told(0, token);
}

/* ---------------------------------------------------------------- the callback and the end */

/* A callback that stays until it is let go. */
static struct probe entered, may_return;

static void stay(zklock_observer *unused, const zklock_sighting *sighting, void *context)
{
    probe_note(&entered, 1);
    probe_wait_count(&may_return, 1, STAGE_LIMIT_MS);
    on_leader(unused, sighting, context);
}

static void *stop_observer(void *stopped)
{
    zklock_observer_stop(observer);
    probe_note(stopped, probe_count(&told));
    return NULL;
}

static void latest_alone_is_told_after_a_slow_callback(void)
{
    char path[OBSERVER_PATH_SIZE];

    probe_init(&entered);
    probe_init(&may_return);
    observe_with(stage.session, stay, &told);
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&entered, 1, STAGE_LIMIT_MS));
    put("a-lock-0000000001", path);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 1, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, path), ZOK);
    long long token = put("b-lock-0000000002", path);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 2, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    probe_note(&may_return, 1);
    expect_told(1, token);
}

/* What it comes back to is what was told before. */
static void leader_that_came_and_went_during_a_callback_is_left_out(void)
{
    char path[OBSERVER_PATH_SIZE];

    probe_init(&entered);
    probe_init(&may_return);
    observe_with(stage.session, stay, &told);
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&entered, 1, STAGE_LIMIT_MS));
    put("a-lock-0000000001", path);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 1, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, path), ZOK);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_CHILDREN, 2, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    probe_note(&may_return, 1);
    CU_ASSERT_TRUE(probe_wait_count(&told, 1, STAGE_LIMIT_MS));
    long long token = put("b-lock-0000000002", path);
    expect_told(1, token);
    CU_ASSERT_EQUAL(probe_at(&told, 0), NOBODY);
}

static void stop_waits_for_a_running_callback(void)
{
    struct probe stopped;
    pthread_t thread;

    probe_init(&entered);
    probe_init(&may_return);
    probe_init(&stopped);
    observe_with(stage.session, stay, &told);
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&entered, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, stop_observer, &stopped), 0);
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(probe_count(&stopped), 0);
    probe_note(&may_return, 1);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(probe_last(&stopped), 1);
    observer = NULL;
}

static void stop_and_tell(zklock_observer *observer_itself, const zklock_sighting *sighting, void *probe)
{
    zklock_observer_stop(observer_itself);
    on_leader(NULL, sighting, probe);
}

static void observer_may_be_stopped_from_its_callback(void)
{
    char path[OBSERVER_PATH_SIZE];

    observe_with(stage.session, stop_and_tell, &told);
    expect_told(0, NOBODY);
    put("a-lock-0000000001", path);
    stage_fence(stage.session);
    observer = NULL;
    observe(stage.session);
    CU_ASSERT_TRUE(probe_wait_count(&told, 2, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(probe_count(&told), 2);
}

static void stop_with_a_request_under_way_does_no_harm(void)
{
    fault_proxy_hold_reply(stage.proxy, FAULT_OP_GET_CHILDREN, 1);
    observe(stage.session);
    CU_ASSERT_TRUE_FATAL(fault_proxy_wait_held(stage.proxy, 1, STAGE_LIMIT_MS));
    zklock_observer_stop(observer);
    observer = NULL;
    fault_proxy_release(stage.proxy);
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(probe_count(&told), 0);
}

static void closed_session_ends_it_without_a_call(void)
{
    observe(stage.session);
    expect_told(0, NOBODY);
    CU_ASSERT_EQUAL(stage_close(stage.session, -1), ZKLOCK_OK);
    CU_ASSERT_EQUAL(probe_count(&told), 1);
}

static void is_told_where_the_owner_dispatches(void)
{
    zklock_session_options options;
    char path[OBSERVER_PATH_SIZE];

    zklock_session_options_init(&options);
    options.servers = fault_proxy_address(stage.proxy);
    options.tick_time_ms = STAGE_TICK_MS;
    options.by_dispatch = true;
    stage.session = stage_begin_with(&options);
    observe(stage.session);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_CHILDREN, 2, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    long long token = put("a-lock-0000000001", path);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 1, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(probe_count(&told), 0);
    CU_ASSERT_EQUAL(zklock_session_dispatch(stage.session), ZKLOCK_OK);
    expect_told(0, token);
    CU_ASSERT_EQUAL(zklock_session_dispatch(stage.session), ZKLOCK_OK);
    CU_ASSERT_EQUAL(probe_count(&told), 1);
}

static void bad_arguments_are_refused(void)
{
    zklock_observer *none = NULL;

    CU_ASSERT_EQUAL(zklock_observer_start(NULL, STAGE_PATH, on_leader, NULL, &none), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_observer_start(stage.session, NULL, on_leader, NULL, &none), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_observer_start(stage.session, "/", on_leader, NULL, &none), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_observer_start(stage.session, "/a//b", on_leader, NULL, &none), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_observer_start(stage.session, STAGE_PATH, NULL, NULL, &none), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_observer_start(stage.session, STAGE_PATH, on_leader, NULL, NULL), ZKLOCK_BAD_ARGUMENT);
    zklock_observer_stop(none);
}

#define TEST(test) SUITE_TEST_WITH(test, start, end)
#define TEST_WITHOUT_SESSION(test) SUITE_TEST_WITH(test, start_without_session, end)

static const struct suite_test tests[] = {
    TEST(leader_is_told_with_its_payload_and_token),
    TEST(each_change_of_leader_is_told),
    TEST(leader_that_crashes_is_told),
    TEST(leaders_of_every_style_are_told),
    TEST(path_may_come_into_being_later),
    TEST(same_leader_is_not_told_twice),
    TEST(leader_that_may_not_be_read_is_told_without_payload),
    TEST(list_that_is_denied_is_told),
    TEST(contenders_behind_the_leader_wake_no_observer),
    TEST(change_of_leader_costs_two_requests),
    TEST(cut_changes_nothing_and_hides_nothing),
    TEST(answers_that_are_lost_are_asked_for_again),
    TEST(leader_that_goes_between_list_and_watch_is_not_told),
    TEST(observer_outlives_its_session),
    TEST(observer_goes_on_when_the_handle_is_replaced),
    TEST_WITHOUT_SESSION(observer_may_be_started_before_there_is_a_connection),
    TEST(latest_alone_is_told_after_a_slow_callback),
    TEST(leader_that_came_and_went_during_a_callback_is_left_out),
    TEST(stop_waits_for_a_running_callback),
    TEST(observer_may_be_stopped_from_its_callback),
    TEST(stop_with_a_request_under_way_does_no_harm),
    TEST(closed_session_ends_it_without_a_call),
    TEST_WITHOUT_SESSION(is_told_where_the_owner_dispatches),
    TEST(bad_arguments_are_refused),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "observer", tests);
}
