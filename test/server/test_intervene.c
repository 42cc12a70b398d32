/* Breaking and revoking somebody's contender, verifying a token, finding locks. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static zklock_queue *queue;
static zklock_paths *paths;

static void end(void)
{
    zklock_queue_free(queue);
    zklock_paths_free(paths);
    queue = NULL;
    paths = NULL;
    stage_end();
}

static const zklock_contender *read_contender(size_t index)
{
    zklock_queue_free(queue);
    queue = NULL;
    CU_ASSERT_EQUAL_FATAL(zklock_queue_read(stage.session, STAGE_PATH, STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    CU_ASSERT_TRUE_FATAL(index < queue->count);
    return queue->contenders[index];
}

static struct contender *new_holder(void)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);

    contender_hold(holder);
    return holder;
}

static zklock_status break_it(const zklock_contender *contender)
{
    return zklock_break(stage.session, STAGE_PATH, contender, STAGE_LIMIT_MS);
}

static zklock_status revoke_it(const zklock_contender *contender)
{
    return zklock_revoke(stage.session, STAGE_PATH, contender, STAGE_LIMIT_MS);
}

/* ---------------------------------------------------------------- breaking */

static void broken_holder_loses_and_the_next_one_holds(void)
{
    struct contender *holder = new_holder();
    struct contender *waiter = contender_new(stage_open_outside(), STAGE_PATH);

    contender_queue(waiter);
    CU_ASSERT_EQUAL(break_it(read_contender(0)), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_REMOVED);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
}

static void broken_contender_is_broken_again_without_harm(void)
{
    const zklock_contender *first;

    new_holder();
    first = read_contender(0);
    CU_ASSERT_EQUAL(break_it(first), ZKLOCK_OK);
    new_holder();
    CU_ASSERT_EQUAL(break_it(first), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
}

static void contender_that_was_written_since_is_not_broken(void)
{
    const zklock_contender *first;
    char node[OBSERVER_PATH_SIZE];

    contender_node(new_holder(), node);
    first = read_contender(0);
    CU_ASSERT_EQUAL(observer_set(stage.observer, node, "other", 5), ZOK);
    CU_ASSERT_EQUAL(break_it(first), ZKLOCK_CHANGED);
    CU_ASSERT_TRUE(observer_exists(stage.observer, node));
}

static void other_contender_of_the_same_name_is_not_broken(void)
{
    static const char node[] = STAGE_PATH "/x-12-0000000000";
    const zklock_contender *first;

    CU_ASSERT_EQUAL(observer_create(stage.observer, node, "", ZOO_EPHEMERAL, NULL), ZOK);
    first = read_contender(0);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage.observer, node, "", ZOO_EPHEMERAL, NULL), ZOK);
    CU_ASSERT_EQUAL(break_it(first), ZKLOCK_CHANGED);
    CU_ASSERT_TRUE(observer_exists(stage.observer, node));
}

static void foreign_child_is_not_broken(void)
{
    zklock_contender contender = {.name = "config"};

    CU_ASSERT_EQUAL(observer_create(stage.observer, STAGE_PATH "/config", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(break_it(&contender), ZKLOCK_BAD_ARGUMENT);
    contender.name = "a/b-lock-0000000000";
    CU_ASSERT_EQUAL(break_it(&contender), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(break_it(NULL), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_TRUE(observer_exists(stage.observer, STAGE_PATH "/config"));
}

static void name_that_the_client_library_refuses_is_refused(void)
{
    static const char *const names[] = {"_c_a\x01-lock-0000000001", "_c_\xff\xfe-lock-0000000001", "..", ".", ""};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        zklock_contender contender = {.name = names[i], .token = 5};
        CU_ASSERT_EQUAL(break_it(&contender), ZKLOCK_BAD_ARGUMENT);
        CU_ASSERT_EQUAL(revoke_it(&contender), ZKLOCK_BAD_ARGUMENT);
    }
}

static void break_with_a_lost_answer_is_done_once(void)
{
    const zklock_contender *first;

    new_holder();
    first = read_contender(0);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_DELETE, 1, FAULT_THEN_CUT);
    CU_ASSERT_EQUAL(break_it(first), ZKLOCK_OK);
    CU_ASSERT_EQUAL(fault_proxy_fired(stage.proxy), 1);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_DELETE), 1);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

/* A contender's path may be longer than a lock's. */
static void contender_of_a_long_path_is_asked_and_broken(void)
{
    char path[901] = "/";
    struct contender *holder;

    memset(path + 1, 'p', sizeof(path) - 2);
    holder = contender_new(stage_open_outside(), path);
    contender_hold(holder);
    CU_ASSERT_EQUAL_FATAL(zklock_queue_read(stage.session, path, STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(queue->count, 1);
    CU_ASSERT_EQUAL(zklock_revoke(stage.session, path, queue->contenders[0], STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_await_event(holder, ZKLOCK_EVENT_REVOKE);
    stage_fence(holder->session);
    zklock_queue_free(queue);
    CU_ASSERT_EQUAL_FATAL(zklock_queue_read(stage.session, path, STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_break(stage.session, path, queue->contenders[0], STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_await_event(holder, ZKLOCK_EVENT_LOST);
}

static void denied_break_says_so(void)
{
    char scheme[] = "world";
    char id[] = "anyone";
    struct ACL read_only = {ZOO_PERM_READ | ZOO_PERM_ADMIN, {scheme, id}};
    struct ACL_vector acl = {1, &read_only};
    const zklock_contender *first;

    new_holder();
    first = read_contender(0);
    CU_ASSERT_EQUAL_FATAL(zoo_set_acl(observer_handle(stage.observer), STAGE_PATH, -1, &acl), ZOK);
    CU_ASSERT_EQUAL(break_it(first), ZKLOCK_DENIED);
    CU_ASSERT_EQUAL_FATAL(zoo_set_acl(observer_handle(stage.observer), STAGE_PATH, -1, &ZOO_OPEN_ACL_UNSAFE), ZOK);
}

/* ---------------------------------------------------------------- asking to let go */

static bool is_marked(void *node)
{
    struct observed_node seen;
    bool is_there = observer_look(stage.observer, node, &seen) == ZOK;
    bool has_mark = is_there && strstr(seen.data, "\"label\":\"stage\"") && strstr(seen.data, ",\"revoked\":true}");

    if (is_there)
        observed_node_clear(&seen);
    return has_mark;
}

/* The request is told, and the payload is back with its mark. */
static void expect_told(struct contender *contender)
{
    char node[OBSERVER_PATH_SIZE];

    contender_node(contender, node);
    contender_await_event(contender, ZKLOCK_EVENT_REVOKE);
    CU_ASSERT_TRUE(eventually(is_marked, node, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_revocations(contender->lock), 1);
}

static void holder_is_asked_to_let_go_once(void)
{
    struct contender *holder = new_holder();

    CU_ASSERT_EQUAL(zklock_revocations(holder->lock), 0);
    CU_ASSERT_EQUAL(revoke_it(read_contender(0)), ZKLOCK_OK);
    expect_told(holder);
    /* The written payload is seen as well, and is no request. */
    stage_fence(holder->session);
    stage_fence(holder->session);
    CU_ASSERT_EQUAL(zklock_revocations(holder->lock), 1);
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_hold(holder);
    CU_ASSERT_EQUAL(zklock_revocations(holder->lock), 0);
}

static void request_of_the_recipe_is_understood(void)
{
    struct contender *holder = new_holder();
    char node[OBSERVER_PATH_SIZE];

    contender_node(holder, node);
    CU_ASSERT_EQUAL(observer_set(stage.observer, node, "unlock", 6), ZOK);
    expect_told(holder);
    CU_ASSERT_EQUAL(observer_set(stage.observer, node, "unlocked", 8), ZOK);
    stage_fence(holder->session);
    stage_fence(holder->session);
    CU_ASSERT_EQUAL(zklock_revocations(holder->lock), 1);
}

static bool has_two_requests(void *lock)
{
    return zklock_revocations(lock) == 2;
}

static void each_request_is_told(void)
{
    struct contender *holder = new_holder();

    CU_ASSERT_EQUAL(revoke_it(read_contender(0)), ZKLOCK_OK);
    expect_told(holder);
    CU_ASSERT_EQUAL(revoke_it(read_contender(0)), ZKLOCK_OK);
    CU_ASSERT_TRUE(eventually(has_two_requests, holder->lock, STAGE_LIMIT_MS));
}

static void waiter_is_asked_to_let_go(void)
{
    struct contender *waiter;

    new_holder();
    waiter = contender_new(stage_open_outside(), STAGE_PATH);
    contender_queue(waiter);
    CU_ASSERT_EQUAL(revoke_it(read_contender(1)), ZKLOCK_OK);
    expect_told(waiter);
    CU_ASSERT_EQUAL(zklock_result(waiter->lock), ZKLOCK_PENDING);
}

/* The watch is planted after the grant: what was written in between is seen by the answer itself. */
static void request_written_before_the_grant_is_told(void)
{
    struct contender *holder = contender_new(stage.session, STAGE_PATH);
    char name[OBSERVER_PATH_SIZE];
    char node[OBSERVER_PATH_SIZE + sizeof(STAGE_PATH)];

    fault_proxy_hold_request(stage.proxy, FAULT_OP_GET_DATA, 1);
    contender_begin(holder, STAGE_LIMIT_MS);
    CU_ASSERT_EQUAL(contender_result(holder), ZKLOCK_OK);
    observer_front(stage.observer, STAGE_PATH, name);
    snprintf(node, sizeof(node), "%s/%s", STAGE_PATH, name);
    CU_ASSERT_EQUAL(observer_set(stage.observer, node, "__REVOKE__", 10), ZOK);
    CU_ASSERT_EQUAL(zklock_revocations(holder->lock), 0);
    fault_proxy_release(stage.proxy);
    expect_told(holder);
}

static zklock_status ask_age(zklock *lock, int64_t timeout_ms)
{
    int64_t age_ms;

    return zklock_stamp_age(lock, timeout_ms, &age_ms);
}

/* Behind the write that asks for the time, the holder cannot look at its node in between. */
static void request_that_crosses_a_stamp_is_told(void)
{
    struct contender *holder = contender_new(stage.session, STAGE_PATH);
    struct blocking_call call;
    char node[OBSERVER_PATH_SIZE];

    contender_hold(holder);
    contender_node(holder, node);
    fault_proxy_hold_request(stage.proxy, FAULT_OP_SET_DATA, 1);
    blocking_call_start(&call, holder, ask_age, STAGE_LIMIT_MS);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(observer_set(stage.observer, node, "__REVOKE__", 10), ZOK);
    fault_proxy_release(stage.proxy);
    expect_told(holder);
    CU_ASSERT_EQUAL(blocking_call_join(&call), ZKLOCK_OK);
    CU_ASSERT_EQUAL(ask_age(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(is_marked(node));
    CU_ASSERT_EQUAL(zklock_revocations(holder->lock), 1);
}

static void contender_that_is_gone_is_not_asked(void)
{
    struct contender *holder = new_holder();
    const zklock_contender *first = read_contender(0);

    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(revoke_it(first), ZKLOCK_NOT_HELD);
}

/* ---------------------------------------------------------------- verifying */

static zklock_status verify(uint64_t token)
{
    return zklock_token_verify(stage.session, STAGE_PATH, token, STAGE_LIMIT_MS);
}

static void token_of_the_holder_is_verified(void)
{
    struct contender *holder = new_holder();
    struct contender *waiter = contender_new(stage_open_outside(), STAGE_PATH);
    uint64_t token = contender_token(holder);

    contender_queue(waiter);
    CU_ASSERT_EQUAL(verify(token), ZKLOCK_OK);
    CU_ASSERT_EQUAL(verify(token + 1), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(verify(read_contender(1)->token), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(zklock_token_verify(stage.session, "/nowhere", token, STAGE_LIMIT_MS), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(verify(token), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_EQUAL(verify(contender_token(waiter)), ZKLOCK_OK);
}

/* With the write held, no read goes out: there is no answer that a server could give alone. */
static void token_is_verified_behind_a_quorum_write(void)
{
    uint64_t token = contender_token(new_holder());

    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(verify(token), ZKLOCK_OK);
    CU_ASSERT_TRUE(fault_proxy_requests(stage.proxy, FAULT_OP_MULTI) >= 1);
    fault_proxy_hold_request(stage.proxy, FAULT_OP_MULTI, 1);
    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(zklock_token_verify(stage.session, STAGE_PATH, token, 500), ZKLOCK_TIMEOUT);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_GET_DATA), 0);
    fault_proxy_release(stage.proxy);
}

/* ---------------------------------------------------------------- finding */

static void plant(const char *path)
{
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, path, "", 0, NULL), ZOK);
}

static void locks_are_found_at_every_depth(void)
{
    plant("/jobs");
    plant("/jobs/x-1-0000000000");
    plant("/jobs/deep");
    plant("/jobs/deep/er");
    plant("/jobs/deep/er/a-lock-0000000007");
    plant("/jobs/empty");
    plant("/jobs/semaphore");
    plant("/jobs/semaphore/_c_00000000-0000-4000-8000-000000000000-lease-0000000000");
    CU_ASSERT_EQUAL_FATAL(zklock_paths_read(stage.session, "/", STAGE_LIMIT_MS, &paths), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(paths->count, 2);
    CU_ASSERT_STRING_EQUAL(paths->items[0], "/jobs");
    CU_ASSERT_STRING_EQUAL(paths->items[1], "/jobs/deep/er");
    zklock_paths_free(paths);
    paths = NULL;
    CU_ASSERT_EQUAL_FATAL(zklock_paths_read(stage.session, "/nowhere", STAGE_LIMIT_MS, &paths), ZKLOCK_OK);
    CU_ASSERT_EQUAL(paths->count, 0);
}

static void locks_are_found_below_a_chroot(void)
{
    char servers[128];
    zklock_session *session;

    plant("/outside-lock-0000000000");
    plant(STAGE_PATH "/a-lock-0000000000");
    snprintf(servers, sizeof(servers), "%s/stage", zk_server_address(stage.server));
    session = stage_open(servers, STAGE_TIMEOUT_MS);
    CU_ASSERT_EQUAL_FATAL(zklock_paths_read(session, "/", STAGE_LIMIT_MS, &paths), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(paths->count, 1);
    CU_ASSERT_STRING_EQUAL(paths->items[0], "/lock");
}

static void directory_tells_of_itself(void)
{
    plant("/persistent");
    plant("/persistent/config");
    plant("/persistent/a-lock-0000000003");
    plant("/persistent/a-__WRIT__0000000004");
    CU_ASSERT_EQUAL_FATAL(zklock_queue_read(stage.session, "/persistent", STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    CU_ASSERT_TRUE(queue->is_mixed);
    CU_ASSERT_EQUAL(queue->next_number, 3);
    CU_ASSERT_EQUAL_FATAL(queue->foreign_count, 1);
    CU_ASSERT_STRING_EQUAL(queue->foreign_names[0], "config");
    contender_hold(contender_new(stage.session, "/made/by/us"));
    zklock_queue_free(queue);
    queue = NULL;
    CU_ASSERT_EQUAL_FATAL(zklock_queue_read(stage.session, "/made/by/us", STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    CU_ASSERT_FALSE(queue->is_mixed);
    CU_ASSERT_EQUAL(queue->next_number, 1);
}

#define ON_STAGE(test) SUITE_TEST_WITH(test, stage_start, end)

static const struct suite_test tests[] = {
    ON_STAGE(broken_holder_loses_and_the_next_one_holds),
    ON_STAGE(broken_contender_is_broken_again_without_harm),
    ON_STAGE(contender_that_was_written_since_is_not_broken),
    ON_STAGE(other_contender_of_the_same_name_is_not_broken),
    ON_STAGE(foreign_child_is_not_broken),
    ON_STAGE(name_that_the_client_library_refuses_is_refused),
    ON_STAGE(break_with_a_lost_answer_is_done_once),
    ON_STAGE(contender_of_a_long_path_is_asked_and_broken),
    ON_STAGE(denied_break_says_so),
    ON_STAGE(holder_is_asked_to_let_go_once),
    ON_STAGE(request_of_the_recipe_is_understood),
    ON_STAGE(each_request_is_told),
    ON_STAGE(waiter_is_asked_to_let_go),
    ON_STAGE(request_written_before_the_grant_is_told),
    ON_STAGE(request_that_crosses_a_stamp_is_told),
    ON_STAGE(contender_that_is_gone_is_not_asked),
    ON_STAGE(token_of_the_holder_is_verified),
    ON_STAGE(token_is_verified_behind_a_quorum_write),
    ON_STAGE(locks_are_found_at_every_depth),
    ON_STAGE(locks_are_found_below_a_chroot),
    ON_STAGE(directory_tells_of_itself),
    SUITE_END,
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "intervene", tests);
}
