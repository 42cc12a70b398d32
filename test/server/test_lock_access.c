/* Rights that the server denies: said at once with path and right, and nothing left longer than said. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"
#include "zklock_observer.h"

#include <stdio.h>
#include <string.h>

enum { READ = 1, CREATE = 4, DELETE = 8, EVERYTHING = 31 };

static struct contender *contender;
static char detail[256];

static void note_auth(int code, const void *context)
{
    probe_note((struct probe *)context, code);
}

/* The observer keeps all rights, by credentials of its own. */
static void start(void)
{
    struct probe authenticated;

    stage_start();
    contender = contender_new(stage.session, STAGE_PATH);
    probe_init(&authenticated);
    CU_ASSERT_EQUAL(zoo_add_auth(observer_handle(stage.observer), "digest", "observer:secret", 15, note_auth,
                                 &authenticated), ZOK);
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&authenticated, 1, STAGE_LIMIT_MS));
    probe_clear(&authenticated);
}

/* What anybody else may do with this node. */
static void allow(const char *path, int rights)
{
    char world[] = "world", anyone[] = "anyone", authenticated[] = "auth", as_i_am[] = "";
    struct ACL entries[] = {{rights, {world, anyone}}, {EVERYTHING, {authenticated, as_i_am}}};
    struct ACL_vector list = {rights ? 2 : 1, rights ? entries : entries + 1};

    CU_ASSERT_EQUAL_FATAL(zoo_set_acl(observer_handle(stage.observer), path, -1, &list), ZOK);
}

static void check_detail(const char *right)
{
    zklock_detail(contender->lock, detail, sizeof(detail));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, STAGE_PATH));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, right));
}

static void denied_create_is_named_and_leaves_nothing(void)
{
    allow(STAGE_PATH, READ | DELETE);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_DENIED);
    check_detail("CREATE");
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

static void denied_list_is_named_and_leaves_nothing(void)
{
    allow(STAGE_PATH, CREATE | DELETE);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_DENIED);
    check_detail("READ");
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

static void denied_create_of_the_parents_is_named(void)
{
    struct contender *deep = contender_new(stage.session, STAGE_PATH "/some/deep/lock");

    allow(STAGE_PATH, READ);
    CU_ASSERT_EQUAL(zklock_acquire(deep->lock, STAGE_LIMIT_MS), ZKLOCK_DENIED);
    zklock_detail(deep->lock, detail, sizeof(detail));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, STAGE_PATH));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "CREATE"));
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

/* Rights on the lock's directory are all that it takes. */
static void parents_without_rights_do_no_harm(void)
{
    allow("/stage", 0);
    allow("/", READ);
    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    allow("/", EVERYTHING);
}

/* The heartbeat's check of the root is then one of the own nodes. */
static void lease_is_kept_without_rights_on_the_root(void)
{
    contender_hold(contender);
    allow("/", 0);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_MULTI, 10, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_state_get(contender->lock, NULL), ZKLOCK_STATE_HELD);
    CU_ASSERT_TRUE(zklock_remaining_ms(contender->lock) > STAGE_TIMEOUT_MS / 3);
    allow("/", EVERYTHING);
}

/* ---------------------------------------------------------------- delete denied */

/* An ephemeral node goes with its session: that ends as soon as nothing else needs it. */
static void denied_delete_is_named_and_the_session_ends(void)
{
    char node[OBSERVER_PATH_SIZE];

    allow(STAGE_PATH, READ | CREATE);
    contender_hold(contender);
    contender_node(contender, node);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_DENIED);
    check_detail("DELETE");
    CU_ASSERT_TRUE(observer_wait_gone(stage.observer, node, STAGE_TIMEOUT_MS / 2));
    contender_hold(contender);
}

/* @thread the notifier */
static void note_leader(zklock_observer *unused, const zklock_sighting *sighting, void *told)
{
    (void)unused;
    probe_note(told, sighting->leader ? (long long)sighting->leader->token : 0);
}

/* An observer needs a session, and not this one. */
static void denied_delete_ends_the_session_although_it_observes(void)
{
    zklock_observer *watcher = NULL;
    struct probe told;
    char node[OBSERVER_PATH_SIZE];

    probe_init(&told);
    CU_ASSERT_EQUAL_FATAL(zklock_observer_start(stage.session, STAGE_PATH, note_leader, &told, &watcher), ZKLOCK_OK);
    allow(STAGE_PATH, READ | CREATE);
    contender_hold(contender);
    CU_ASSERT_TRUE(probe_wait_value(&told, (long long)contender_token(contender), STAGE_LIMIT_MS));
    contender_node(contender, node);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_DENIED);
    CU_ASSERT_TRUE(observer_wait_gone(stage.observer, node, STAGE_TIMEOUT_MS / 2));
    contender_hold(contender);
    CU_ASSERT_TRUE(probe_wait_value(&told, (long long)contender_token(contender), STAGE_LIMIT_MS));
    zklock_observer_stop(watcher);
    probe_clear(&told);
}

static void denied_delete_leaves_the_node_while_the_session_is_needed(void)
{
    struct contender *other = contender_new(stage.session, "/stage/other");
    char node[OBSERVER_PATH_SIZE];

    contender_hold(other);
    allow(STAGE_PATH, READ | CREATE);
    contender_hold(contender);
    contender_node(contender, node);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_DENIED);
    stage_fence(stage.session);
    CU_ASSERT_TRUE(observer_exists(stage.observer, node));
    CU_ASSERT_TRUE(zklock_is_held(other->lock));
    CU_ASSERT_EQUAL(zklock_release(other->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(observer_wait_gone(stage.observer, node, STAGE_TIMEOUT_MS / 2));
}

/* A waiter that gave up may not delete its node either: it must not stand in the queue for ever. */
static void denied_delete_of_a_waiter_ends_the_session(void)
{
    struct contender *holder = contender_new(stage_open_outside(), STAGE_PATH);

    contender_hold(holder);
    allow(STAGE_PATH, READ | CREATE);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, 100), ZKLOCK_TIMEOUT);
    contender_await_event(contender, ZKLOCK_EVENT_RELEASED);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 1, STAGE_TIMEOUT_MS / 2));
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
}

static void denied_list_and_delete_end_the_session(void)
{
    allow(STAGE_PATH, CREATE);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_DENIED);
    check_detail("READ");
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 0, STAGE_TIMEOUT_MS / 2));
}

static void lost_create_that_nobody_may_look_for_ends_the_session(void)
{
    allow(STAGE_PATH, CREATE | DELETE);
    fault_proxy_lose_reply(stage.proxy, FAULT_OP_CREATE2, 1, FAULT_THEN_CUT);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_DENIED);
    check_detail("READ");
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 0, STAGE_TIMEOUT_MS / 2));
}

static void close_ends_what_it_may_not_delete(void)
{
    allow(STAGE_PATH, READ | CREATE);
    contender_hold(contender);
    CU_ASSERT_EQUAL(stage_close(stage.session, -1), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

/* ---------------------------------------------------------------- others' contenders */

/* Somebody else's contender that may not be read: its Stat tells enough, and no watch is left on it. */
static void contender_ahead_that_may_not_be_read_is_waited_for(void)
{
    CU_ASSERT_EQUAL(observer_create(stage.observer, STAGE_PATH "/a-lock-0000000000", "", 0, NULL), ZOK);
    allow(STAGE_PATH "/a-lock-0000000000", 0);
    contender_queue(contender);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, STAGE_PATH "/a-lock-0000000000"), ZOK);
    CU_ASSERT_EQUAL(contender_result(contender), ZKLOCK_OK);
    CU_ASSERT_TRUE(zk_server_wait_watch_count(stage.server, 1, STAGE_LIMIT_MS));
}

static void *wait_until_free(void *arg)
{
    probe_note(arg, zklock_wait_free(stage.session, STAGE_PATH, STAGE_LIMIT_MS));
    return NULL;
}

static void wait_for_a_contender_that_may_not_be_read_ends_when_it_goes(void)
{
    pthread_t waiter;
    struct probe ended;

    CU_ASSERT_EQUAL(observer_create(stage.observer, STAGE_PATH "/a-lock-0000000000", "", 0, NULL), ZOK);
    allow(STAGE_PATH "/a-lock-0000000000", 0);
    probe_init(&ended);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&waiter, NULL, wait_until_free, &ended), 0);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_EXISTS, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(observer_delete(stage.observer, STAGE_PATH "/a-lock-0000000000"), ZOK);
    CU_ASSERT_TRUE(probe_wait_value(&ended, ZKLOCK_OK, STAGE_LIMIT_MS));
    pthread_join(waiter, NULL);
    probe_clear(&ended);
}

static void queue_that_may_not_be_read_is_denied(void)
{
    zklock_queue *queue = NULL;

    allow(STAGE_PATH, CREATE);
    CU_ASSERT_EQUAL(zklock_queue_read(stage.session, STAGE_PATH, STAGE_LIMIT_MS, &queue), ZKLOCK_DENIED);
    CU_ASSERT_EQUAL(zklock_wait_free(stage.session, STAGE_PATH, STAGE_LIMIT_MS), ZKLOCK_DENIED);
}

#define TEST(test) SUITE_TEST_WITH(test, start, stage_end)

static const struct suite_test tests[] = {
    TEST(denied_create_is_named_and_leaves_nothing),
    TEST(denied_list_is_named_and_leaves_nothing),
    TEST(denied_create_of_the_parents_is_named),
    TEST(parents_without_rights_do_no_harm),
    TEST(lease_is_kept_without_rights_on_the_root),
    TEST(denied_delete_is_named_and_the_session_ends),
    TEST(denied_delete_ends_the_session_although_it_observes),
    TEST(denied_delete_leaves_the_node_while_the_session_is_needed),
    TEST(denied_delete_of_a_waiter_ends_the_session),
    TEST(denied_list_and_delete_end_the_session),
    TEST(lost_create_that_nobody_may_look_for_ends_the_session),
    TEST(close_ends_what_it_may_not_delete),
    TEST(contender_ahead_that_may_not_be_read_is_waited_for),
    TEST(wait_for_a_contender_that_may_not_be_read_ends_when_it_goes),
    TEST(queue_that_may_not_be_read_is_denied),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_access", tests);
}
