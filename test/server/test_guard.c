/* Data in ZooKeeper guarded by the lock: a check of the own contender, first in the caller's multi. */
#include "server/lock_stage.h"

#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <zklock_zookeeper.h>

#define STATE "/stage/state"

static struct contender *first;
static struct contender *second;

static void start(void)
{
    stage_start();
    first = contender_new(stage.session, STAGE_PATH);
    second = contender_new(stage_open_outside(), STAGE_PATH);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, STATE, "nobody", 0, NULL), ZOK);
}

/* A write under the check of `ops[0]`. */
static int write_state(zoo_op_t ops[2], const char *text, zoo_op_result_t results[2])
{
    zoo_set_op_init(&ops[1], STATE, text, (int)strlen(text), -1, NULL);
    return zoo_multi(observer_handle(stage.observer), 2, ops, results);
}

static void expect_state(const char *text)
{
    struct observed_node node;

    CU_ASSERT_EQUAL_FATAL(observer_look(stage.observer, STATE, &node), ZOK);
    CU_ASSERT_STRING_EQUAL(node.data, text);
    observed_node_clear(&node);
}

static void holder_writes(void)
{
    char path[ZKLOCK_HELD_PATH_SIZE];
    zoo_op_t ops[2];
    zoo_op_result_t results[2];

    contender_hold(first);
    CU_ASSERT_EQUAL(zklock_check_op_init(first->lock, path, sizeof(path), &ops[0]), ZKLOCK_OK);
    CU_ASSERT_EQUAL(write_state(ops, "first", results), ZOK);
    expect_state("first");
}

/* The holder was frozen between making its request and sending it; another one holds and has written meanwhile. */
static void late_write_of_a_former_holder_fails_at_the_server(void)
{
    char late_path[ZKLOCK_HELD_PATH_SIZE];
    char path[ZKLOCK_HELD_PATH_SIZE];
    zoo_op_t late[2];
    zoo_op_t ops[2];
    zoo_op_result_t results[2];

    contender_hold(first);
    CU_ASSERT_EQUAL(zklock_check_op_init(first->lock, late_path, sizeof(late_path), &late[0]), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, late_path), ZOK);
    contender_hold(second);
    CU_ASSERT_EQUAL(zklock_check_op_init(second->lock, path, sizeof(path), &ops[0]), ZKLOCK_OK);
    CU_ASSERT_EQUAL(write_state(ops, "second", results), ZOK);
    CU_ASSERT_NOT_EQUAL(write_state(late, "first", results), ZOK);
    CU_ASSERT_TRUE(zklock_check_has_failed(&results[0]));
    expect_state("second");
    contender_await_event(first, ZKLOCK_EVENT_LOST);
    CU_ASSERT_EQUAL(zklock_check_op_init(first->lock, path, sizeof(path), &ops[0]), ZKLOCK_LOST);
}

/* A write that fails for a reason of its own is not taken for a loss. */
static void other_failures_are_told_apart(void)
{
    char path[ZKLOCK_HELD_PATH_SIZE];
    zoo_op_t ops[2];
    zoo_op_result_t results[2];

    contender_hold(first);
    CU_ASSERT_EQUAL(zklock_check_op_init(first->lock, path, sizeof(path), &ops[0]), ZKLOCK_OK);
    zoo_set_op_init(&ops[1], "/no/such/node", "", 0, -1, NULL);
    CU_ASSERT_EQUAL(zoo_multi(observer_handle(stage.observer), 2, ops, results), ZNONODE);
    CU_ASSERT_FALSE(zklock_check_has_failed(&results[0]));
}

/* Who asks to let go writes the contender: that is no loss. */
static void request_to_let_go_does_not_fail_the_write(void)
{
    char path[ZKLOCK_HELD_PATH_SIZE];
    zoo_op_t ops[2];
    zoo_op_result_t results[2];

    contender_hold(first);
    CU_ASSERT_EQUAL(zklock_check_op_init(first->lock, path, sizeof(path), &ops[0]), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_set(stage.observer, path, "unlock", 6), ZOK);
    contender_await_event(first, ZKLOCK_EVENT_REVOKE);
    CU_ASSERT_EQUAL(write_state(ops, "first", results), ZOK);
}

static void who_does_not_hold_gets_no_check(void)
{
    char path[ZKLOCK_HELD_PATH_SIZE];
    char small[16];

    CU_ASSERT_EQUAL(zklock_held_path(second->lock, path, sizeof(path)), ZKLOCK_NOT_HELD);
    contender_hold(first);
    contender_queue(second);
    CU_ASSERT_EQUAL(zklock_held_path(second->lock, path, sizeof(path)), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(zklock_held_path(first->lock, small, sizeof(small)), ZKLOCK_TOO_LARGE);
    CU_ASSERT_EQUAL(zklock_held_path(first->lock, path, sizeof(path)), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_release(first->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_held_path(first->lock, path, sizeof(path)), ZKLOCK_NOT_HELD);
}

static void path_is_that_below_the_chroot(void)
{
    char servers[128];
    char path[ZKLOCK_HELD_PATH_SIZE];
    char whole[ZKLOCK_HELD_PATH_SIZE + 8];
    struct contender *below;

    snprintf(servers, sizeof(servers), "%s/stage", fault_proxy_address(stage.proxy));
    below = contender_new(stage_open(servers, STAGE_TIMEOUT_MS), "/lock");
    contender_hold(below);
    CU_ASSERT_EQUAL(zklock_held_path(below->lock, path, sizeof(path)), ZKLOCK_OK);
    CU_ASSERT_EQUAL(strncmp(path, "/lock/", 6), 0);
    snprintf(whole, sizeof(whole), "/stage%s", path);
    CU_ASSERT_TRUE(observer_exists(stage.observer, whole));
}

#define TEST(test) SUITE_TEST_WITH(test, start, stage_end)

static const struct suite_test tests[] = {
    TEST(holder_writes),
    TEST(late_write_of_a_former_holder_fails_at_the_server),
    TEST(other_failures_are_told_apart),
    TEST(request_to_let_go_does_not_fail_the_write),
    TEST(who_does_not_hold_gets_no_check),
    TEST(path_is_that_below_the_chroot),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "guard", tests);
}
