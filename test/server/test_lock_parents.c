/* The lock's directory: missing, removed in between, a container or persistent, and below a chroot. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

#define DEEP_PATH "/stage/some/deep/lock"

static struct contender *contender;

static void start(void)
{
    stage_start();
    contender = contender_new(stage.session, DEEP_PATH);
}

static void check_path_fault(const char *path)
{
    zklock *lock = NULL;

    CU_ASSERT_EQUAL(zklock_new(stage.session, path, NULL, &lock), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_PTR_NULL(lock);
}

/* ---------------------------------------------------------------- missing */

static void missing_parents_are_made(void)
{
    contender_hold(contender);
    CU_ASSERT_EQUAL(observer_count(stage.observer, DEEP_PATH), 1);
}

static void existing_parents_cost_no_request(void)
{
    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    fault_proxy_reset_counts(stage.proxy);
    contender_hold(contender);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE_CONTAINER), 0);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), 1);
}

static void directory_removed_before_the_create_arrives_is_made_again(void)
{
    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    fault_proxy_hold_request(stage.proxy, FAULT_OP_CREATE2, 1);
    contender_begin(contender, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(observer_delete_below(stage.observer, "/stage/some"), ZOK);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, "/stage/some"), ZOK);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(zklock_wait(contender->lock), ZKLOCK_OK);
}

static void directory_removed_right_after_it_was_made_is_made_again(void)
{
    fault_proxy_hold_request(stage.proxy, FAULT_OP_CREATE2, 2);
    contender_begin(contender, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(observer_delete(stage.observer, DEEP_PATH), ZOK);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(zklock_wait(contender->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), 3);
}

/* The create is lost on its way, and the directory with it. */
static void directory_removed_while_the_create_is_unknown_is_made_again(void)
{
    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    fault_proxy_hold_request(stage.proxy, FAULT_OP_CREATE2, 1);
    contender_begin(contender, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(observer_delete(stage.observer, DEEP_PATH), ZOK);
    fault_proxy_cut(stage.proxy);
    CU_ASSERT_EQUAL(zklock_wait(contender->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, DEEP_PATH), 1);
}

static void holder_whose_directory_is_removed_is_told_and_may_queue_again(void)
{
    contender_hold(contender);
    CU_ASSERT_EQUAL(observer_delete_below(stage.observer, "/stage/some"), ZOK);
    CU_ASSERT_EQUAL(contender_await_event(contender, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_REMOVED);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, -1), ZKLOCK_LOST);
    contender_hold(contender);
}

static void ephemeral_directory_is_refused_in_words(void)
{
    char detail[256];

    CU_ASSERT_EQUAL(observer_create(stage.observer, "/stage/some", "", ZOO_EPHEMERAL, NULL), ZOK);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_REFUSED);
    zklock_detail(contender->lock, detail, sizeof(detail));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "ephemeral"));
}

/* ---------------------------------------------------------------- containers */

static void start_with_eager_cleaner(void)
{
    stage_start_with(&(struct zk_server_options){.jvm_flags = "-Dznode.container.checkIntervalMs=200"});
    stage.session = stage_open(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS);
    contender = contender_new(stage.session, DEEP_PATH);
}

static void directory_is_a_container_that_the_server_removes(void)
{
    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(observer_wait_gone(stage.observer, "/stage/some", STAGE_LIMIT_MS));
    contender_hold(contender);
}

/* The other lock shows that the cleaner has been round. */
static void persistent_directory_stays(void)
{
    zklock_options options;
    struct contender *persistent;

    zklock_options_init(&options);
    options.persistent_parent = true;
    persistent = contender_new_with(stage.session, "/stage/persistent/lock", &options);
    contender_hold(persistent);
    CU_ASSERT_EQUAL(zklock_release(persistent->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    for (int round = 0; round < 2; round++) {
        contender_hold(contender);
        CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
        CU_ASSERT_TRUE(observer_wait_gone(stage.observer, DEEP_PATH, STAGE_LIMIT_MS));
    }
    CU_ASSERT_TRUE(observer_exists(stage.observer, "/stage/persistent/lock"));
}

static void acquires_go_on_while_the_server_removes_the_directory(void)
{
    uint64_t before = 0;

    for (int64_t end_ms = monotonic_ms() + 2000; monotonic_ms() < end_ms;) {
        contender_hold(contender);
        CU_ASSERT_TRUE(contender_token(contender) > before);
        before = contender_token(contender);
        CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    }
}

/* ---------------------------------------------------------------- chroot */

static zklock_session *open_below(const char *chroot)
{
    char servers[256];

    snprintf(servers, sizeof(servers), "%s%s", fault_proxy_address(stage.proxy), chroot);
    return stage_open(servers, STAGE_TIMEOUT_MS);
}

static void check_chroot(const char *chroot, const char *path, const char *full_path)
{
    struct contender *below = contender_new(open_below(chroot), path);
    int at_root = observer_count(stage.observer, "/");

    contender_hold(below);
    CU_ASSERT_EQUAL(observer_count(stage.observer, full_path), 1);
    CU_ASSERT_TRUE(observer_count(stage.observer, "/") - at_root <= 1);
    CU_ASSERT_TRUE(strcmp(path, full_path) == 0 || path[1] == '\0' || !observer_exists(stage.observer, path));
    CU_ASSERT_EQUAL(zklock_release(below->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, full_path), 0);
}

static void lock_below_a_chroot_stays_below_it(void)
{
    check_chroot("/stage", "/lock", STAGE_PATH);
    check_chroot("/stage/", "/lock", STAGE_PATH);
    check_chroot("/stage/lock", "/", STAGE_PATH);
    check_chroot("/", "/made", "/made");
}

static void missing_chroot_is_made(void)
{
    check_chroot("/new", "/lock", "/new/lock");
    check_chroot("/other/nested/one", "/a/lock", "/other/nested/one/a/lock");
    check_chroot("/third/nested", "/", "/third/nested");
}

static void locks_with_and_without_chroot_are_the_same(void)
{
    struct contender *below = contender_new(open_below("/stage"), "/lock");
    struct contender *whole = contender_new(stage.session, STAGE_PATH);
    zklock_queue *queue = NULL;

    contender_hold(below);
    CU_ASSERT_EQUAL(zklock_try(whole->lock, STAGE_LIMIT_MS), ZKLOCK_BUSY);
    CU_ASSERT_EQUAL(zklock_queue_read(below->session, "/lock", STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    CU_ASSERT_EQUAL(queue->count, 1);
    zklock_queue_free(queue);
}

static void root_and_malformed_paths_are_refused(void)
{
    static const char *const paths[] = {"/", "", "lock", "/a//b", "/a/", "/a/./b", "/a/../b", "/a\x01"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        check_path_fault(paths[i]);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

#define TEST(test) SUITE_TEST_WITH(test, start, stage_end)
#define CLEANED(test) SUITE_TEST_WITH(test, start_with_eager_cleaner, stage_end)

static const struct suite_test tests[] = {
    TEST(missing_parents_are_made),
    TEST(existing_parents_cost_no_request),
    TEST(directory_removed_before_the_create_arrives_is_made_again),
    TEST(directory_removed_right_after_it_was_made_is_made_again),
    TEST(directory_removed_while_the_create_is_unknown_is_made_again),
    TEST(holder_whose_directory_is_removed_is_told_and_may_queue_again),
    TEST(ephemeral_directory_is_refused_in_words),
    CLEANED(directory_is_a_container_that_the_server_removes),
    CLEANED(persistent_directory_stays),
    CLEANED(acquires_go_on_while_the_server_removes_the_directory),
    TEST(lock_below_a_chroot_stays_below_it),
    TEST(missing_chroot_is_made),
    TEST(locks_with_and_without_chroot_are_the_same),
    TEST(root_and_malformed_paths_are_refused),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_parents", tests);
}
