/* The store on libzookeeper: what each request does, against a real server. */
#include "server/store_scene.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

static struct outcome outcome;

static enum zkl_code create(const char *prefix, const char *data)
{
    const struct zkl_request request = {
        .op = ZKL_OP_CREATE, .path = prefix, .data = data, .data_size = (int)strlen(data)};

    return scene_ask(&request, &outcome);
}

static enum zkl_code check(const char *const *paths, int count)
{
    return scene_ask(&(struct zkl_request){.op = ZKL_OP_CHECK, .paths = paths, .path_count = count}, &outcome);
}

static enum zkl_code look(enum zkl_op op, const char *path, bool with_watch)
{
    return scene_ask(&(struct zkl_request){.op = op, .path = path, .with_watch = with_watch}, &outcome);
}

static void connection_is_reported_with_the_negotiated_timeout(void)
{
    CU_ASSERT_NOT_EQUAL(scene.session_id, 0);
    CU_ASSERT_EQUAL(scene.timeout_ms, SCENE_TIMEOUT_MS);
    scene_close();
    scene_open(zk_server_address(scene.server), 500);
    scene_await_connected(1);
    CU_ASSERT_EQUAL(scene.timeout_ms, 1000);
}

static void created_node_is_reported_with_path_and_stat(void)
{
    struct observed_node node;

    CU_ASSERT_EQUAL_FATAL(create("/lock/x-", "who"), ZKL_CODE_OK);
    CU_ASSERT_STRING_EQUAL(outcome.path, "/lock/x-0000000000");
    CU_ASSERT_EQUAL(outcome.stat.owner, scene.session_id);
    CU_ASSERT_EQUAL_FATAL(observer_look(scene.observer, outcome.path, &node), ZOK);
    CU_ASSERT_STRING_EQUAL(node.data, "who");
    CU_ASSERT_EQUAL(node.czxid, outcome.stat.czxid);
    CU_ASSERT_EQUAL(node.owner, scene.session_id);
    observed_node_clear(&node);
}

static void list_sent_right_behind_a_create_contains_it(void)
{
    const struct zkl_request creating = {.op = ZKL_OP_CREATE, .path = "/lock/x-", .data = "", .data_size = 0};
    const struct zkl_request listing = {.op = ZKL_OP_LIST, .path = "/lock"};
    static struct outcome created[20], listed[20];

    for (int i = 0; i < 20; i++) {
        outcome_init(&created[i]);
        outcome_init(&listed[i]);
        CU_ASSERT_TRUE_FATAL(scene.driver->submit(scene.store, &creating, outcome_note, &created[i]));
        CU_ASSERT_TRUE_FATAL(scene.driver->submit(scene.store, &listing, outcome_note, &listed[i]));
    }
    for (int i = 0; i < 20; i++) {
        CU_ASSERT_TRUE_FATAL(probe_wait_value(&listed[i].answered, ZKL_CODE_OK, SCENE_LIMIT_MS));
        /* The answers come in order too. */
        CU_ASSERT_EQUAL_FATAL(probe_count(&created[i].answered), 1);
        CU_ASSERT_EQUAL(listed[i].child_count, i + 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(listed[i].children, created[i].path + strlen("/lock/")));
    }
}

static void create_below_nothing_is_no_node(void)
{
    CU_ASSERT_EQUAL(create("/nothing/x-", ""), ZKL_CODE_NO_NODE);
    CU_ASSERT_STRING_EQUAL(outcome.path, "");
    CU_ASSERT_EQUAL(outcome.raw_code, ZNONODE);
}

static void create_below_an_ephemeral_node_is_no_children(void)
{
    CU_ASSERT_EQUAL_FATAL(observer_create(scene.observer, "/brief", "", ZOO_EPHEMERAL, NULL), ZOK);
    CU_ASSERT_EQUAL(create("/brief/x-", ""), ZKL_CODE_NO_CHILDREN);
}

static void parents_are_containers_or_persistent(void)
{
    const struct zkl_request container = {.op = ZKL_OP_CREATE_PARENT, .path = "/c"};
    const struct zkl_request persistent = {.op = ZKL_OP_CREATE_PARENT, .path = "/p", .is_persistent = true};

    CU_ASSERT_EQUAL(scene_ask(&container, &outcome), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(scene_ask(&persistent, &outcome), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(outcome.stat.owner, 0);
    CU_ASSERT_TRUE(observer_exists(scene.observer, "/c") && observer_exists(scene.observer, "/p"));
    CU_ASSERT_EQUAL(scene_ask(&container, &outcome), ZKL_CODE_NODE_EXISTS);
    CU_ASSERT_EQUAL(scene_ask(&persistent, &outcome), ZKL_CODE_NODE_EXISTS);
}

static void create_and_delete_below(const char *parent, bool is_persistent)
{
    const struct zkl_request making = {.op = ZKL_OP_CREATE_PARENT, .path = parent, .is_persistent = is_persistent};
    char prefix[32];

    snprintf(prefix, sizeof(prefix), "%s/x-", parent);
    CU_ASSERT_EQUAL_FATAL(scene_ask(&making, &outcome), ZKL_CODE_OK);
    CU_ASSERT_EQUAL_FATAL(create(prefix, ""), ZKL_CODE_OK);
    CU_ASSERT_EQUAL_FATAL(observer_delete(scene.observer, outcome.path), ZOK);
}

/* The server looks for empty containers once a minute unless told otherwise. */
static void connect_to_busy_sweeper(void)
{
    scene_start_server(&(struct zk_server_options){.jvm_flags = "-Dznode.container.checkIntervalMs=100"});
    scene_open(zk_server_address(scene.server), SCENE_TIMEOUT_MS);
    scene_await_connected(1);
}

static void empty_container_goes_and_persistent_parent_stays(void)
{
    create_and_delete_below("/p", true);
    create_and_delete_below("/c", false);
    CU_ASSERT_TRUE(observer_wait_gone(scene.observer, "/c", SCENE_LIMIT_MS));
    CU_ASSERT_TRUE(observer_exists(scene.observer, "/p"));
}

static void data_are_read_and_written(void)
{
    const struct zkl_request setting = {.op = ZKL_OP_SET, .path = "/lock", .data = "new", .data_size = 3};

    CU_ASSERT_EQUAL(scene_ask(&setting, &outcome), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(outcome.stat.version, 1);
    CU_ASSERT_EQUAL(look(ZKL_OP_GET, "/lock", false), ZKL_CODE_OK);
    CU_ASSERT_STRING_EQUAL(outcome.data, "new");
    CU_ASSERT_EQUAL(outcome.data_size, 3);
    CU_ASSERT_EQUAL(outcome.stat.version, 1);
    CU_ASSERT_TRUE(outcome.stat.ctime_ms > INT64_C(1600000000000));
}

static void node_without_data_has_none(void)
{
    CU_ASSERT_EQUAL_FATAL(observer_create(scene.observer, "/bare", NULL, 0, NULL), ZOK);
    CU_ASSERT_EQUAL(look(ZKL_OP_GET, "/bare", false), ZKL_CODE_OK);
    CU_ASSERT_FALSE(outcome.has_data);
    CU_ASSERT_EQUAL(outcome.data_size, 0);
}

static void missing_node_is_no_node_for_every_request(void)
{
    const enum zkl_op operations[] = {ZKL_OP_DELETE, ZKL_OP_LIST, ZKL_OP_GET, ZKL_OP_EXISTS, ZKL_OP_SET};

    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        CU_ASSERT_EQUAL(scene_ask_path(operations[i], "/nothing"), ZKL_CODE_NO_NODE);
}

static void deleted_node_is_gone(void)
{
    CU_ASSERT_EQUAL(scene_ask_path(ZKL_OP_EXISTS, "/lock"), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(scene_ask_path(ZKL_OP_DELETE, "/lock"), ZKL_CODE_OK);
    CU_ASSERT_FALSE(observer_exists(scene.observer, "/lock"));
}

static void node_with_children_is_not_deleted(void)
{
    CU_ASSERT_EQUAL_FATAL(create("/lock/x-", ""), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(scene_ask_path(ZKL_OP_DELETE, "/lock"), ZKL_CODE_REFUSED);
}

static void forbidden_request_is_no_auth(void)
{
    struct ACL entry = {.perms = ZOO_PERM_DELETE, .id = ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector nobody = {.count = 1, .data = &entry};

    CU_ASSERT_EQUAL_FATAL(zoo_set_acl(observer_handle(scene.observer), "/lock", -1, &nobody), ZOK);
    CU_ASSERT_EQUAL(create("/lock/x-", ""), ZKL_CODE_NO_AUTH);
    CU_ASSERT_EQUAL(scene_ask_path(ZKL_OP_LIST, "/lock"), ZKL_CODE_NO_AUTH);
    CU_ASSERT_EQUAL(scene_ask_path(ZKL_OP_GET, "/lock"), ZKL_CODE_NO_AUTH);
    CU_ASSERT_EQUAL(scene_ask_path(ZKL_OP_EXISTS, "/lock"), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(check((const char *const[]){"/", "/lock"}, 2), ZKL_CODE_NO_AUTH);
    CU_ASSERT_EQUAL(outcome.failed_index, 1);
}

static void check_names_the_first_path_that_is_missing(void)
{
    static const char *const paths[] = {"/", "/lock", "/nothing", "/lock", "/neither"};

    CU_ASSERT_EQUAL(check(paths, 2), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(outcome.failed_index, -1);
    CU_ASSERT_EQUAL(check(paths, 5), ZKL_CODE_NO_NODE);
    CU_ASSERT_EQUAL(outcome.failed_index, 2);
    CU_ASSERT_EQUAL(check(paths + 2, 1), ZKL_CODE_NO_NODE);
    CU_ASSERT_EQUAL(outcome.failed_index, 0);
    CU_ASSERT_EQUAL(check(paths + 3, 2), ZKL_CODE_NO_NODE);
    CU_ASSERT_EQUAL(outcome.failed_index, 1);
}

static void check_of_many_paths_changes_nothing(void)
{
    const char *paths[65];

    for (int i = 0; i < 65; i++)
        paths[i] = "/lock";
    CU_ASSERT_EQUAL(look(ZKL_OP_GET, "/lock", true), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(check(paths, 65), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(look(ZKL_OP_EXISTS, "/lock", false), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(outcome.stat.version, 0);
    CU_ASSERT_EQUAL(probe_count(&scene.nodes), 0);
}

static void watch_reports_by_path(void)
{
    CU_ASSERT_EQUAL_FATAL(observer_create(scene.observer, "/other", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(look(ZKL_OP_GET, "/lock", true), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(look(ZKL_OP_EXISTS, "/other", true), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(observer_set(scene.observer, "/other", "x", 1), ZOK);
    CU_ASSERT_TRUE(probe_wait_value(&scene.nodes, ZKL_NODE_CHANGED, SCENE_LIMIT_MS));
    CU_ASSERT_STRING_EQUAL(scene.node_path, "/other");
    CU_ASSERT_EQUAL(observer_delete(scene.observer, "/lock"), ZOK);
    CU_ASSERT_TRUE(probe_wait_value(&scene.nodes, ZKL_NODE_DELETED, SCENE_LIMIT_MS));
    CU_ASSERT_STRING_EQUAL(scene.node_path, "/lock");
    CU_ASSERT_EQUAL(probe_count(&scene.nodes), 2);
}

static void watch_is_left_only_when_asked_for(void)
{
    CU_ASSERT_EQUAL(look(ZKL_OP_GET, "/lock", false), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(look(ZKL_OP_EXISTS, "/lock", false), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(look(ZKL_OP_EXISTS, "/nothing", false), ZKL_CODE_NO_NODE);
    CU_ASSERT_EQUAL(zk_server_watch_count(scene.server), 0);
    CU_ASSERT_EQUAL(look(ZKL_OP_GET, "/lock", true), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(look(ZKL_OP_EXISTS, "/lock", true), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(zk_server_watch_count(scene.server), 1);
}

static void only_get_leaves_no_watch_on_a_missing_node(void)
{
    CU_ASSERT_EQUAL(look(ZKL_OP_GET, "/nothing", true), ZKL_CODE_NO_NODE);
    CU_ASSERT_EQUAL(zk_server_watch_count(scene.server), 0);
    CU_ASSERT_EQUAL(look(ZKL_OP_EXISTS, "/nothing", true), ZKL_CODE_NO_NODE);
    CU_ASSERT_EQUAL(zk_server_watch_count(scene.server), 1);
}

static void forgotten_watch_is_gone_from_the_server(void)
{
    CU_ASSERT_EQUAL(look(ZKL_OP_EXISTS, "/nothing", true), ZKL_CODE_NO_NODE);
    CU_ASSERT_EQUAL(look(ZKL_OP_GET, "/lock", true), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(zk_server_watch_count(scene.server), 2);
    CU_ASSERT_EQUAL(scene_ask_path(ZKL_OP_FORGET_WATCH, "/nothing"), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(zk_server_watch_count(scene.server), 1);
    CU_ASSERT_EQUAL(scene_ask_path(ZKL_OP_FORGET_WATCH, "/lock"), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(zk_server_watch_count(scene.server), 0);
    CU_ASSERT_EQUAL(observer_set(scene.observer, "/lock", "x", 1), ZOK);
    CU_ASSERT_EQUAL(look(ZKL_OP_GET, "/lock", false), ZKL_CODE_OK);
    CU_ASSERT_FALSE(probe_saw(&scene.nodes, ZKL_NODE_CHANGED));
}

static void watch_that_never_was_is_forgotten(void)
{
    CU_ASSERT_EQUAL(scene_ask_path(ZKL_OP_FORGET_WATCH, "/lock"), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(scene_ask_path(ZKL_OP_FORGET_WATCH, "/nothing"), ZKL_CODE_OK);
}

static void expect_refusal(const struct zkl_request *request)
{
    outcome_init(&outcome);
    CU_ASSERT_FALSE(scene.driver->submit(scene.store, request, outcome_note, &outcome));
    /* A request that is answered later shows that no answer is on its way. */
    CU_ASSERT_EQUAL(scene_ask_path(ZKL_OP_EXISTS, "/lock"), ZKL_CODE_OK);
    CU_ASSERT_EQUAL(probe_count(&outcome.answered), 0);
}

static void malformed_request_is_refused_without_an_answer(void)
{
    static const char *const bad[] = {"lock", "", "/lock/", "//", "/lock//x", "/./x", "/lock/..", "/lo\x01", NULL};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        expect_refusal(&(struct zkl_request){.op = ZKL_OP_GET, .path = bad[i]});
        expect_refusal(&(struct zkl_request){
            .op = ZKL_OP_CHECK, .paths = (const char *const[]){"/lock", bad[i], "/lock"}, .path_count = 3});
    }
    expect_refusal(&(struct zkl_request){.op = ZKL_OP_CHECK, .paths = bad, .path_count = 0});
    expect_refusal(&(struct zkl_request){.op = ZKL_OP_CREATE, .path = "/lock/x-"});
    expect_refusal(&(struct zkl_request){.op = ZKL_OP_SET, .path = "/lock", .data = "", .data_size = -1});
    expect_refusal(&(struct zkl_request){.op = (enum zkl_op)99, .path = "/lock"});
}

static void everything_of_a_closed_session_is_gone(void)
{
    long long session_id = scene.session_id;
    char path[256];

    CU_ASSERT_EQUAL_FATAL(create("/lock/x-", ""), ZKL_CODE_OK);
    snprintf(path, sizeof(path), "%s", outcome.path);
    scene_close();
    CU_ASSERT_FALSE(observer_exists(scene.observer, path));
    CU_ASSERT_FALSE(zk_server_has_session(scene.server, session_id));
}

#define ON_SERVER(function) SUITE_TEST_WITH(function, scene_connect, scene_end)

static const struct suite_test tests[] = {
    ON_SERVER(connection_is_reported_with_the_negotiated_timeout),
    ON_SERVER(created_node_is_reported_with_path_and_stat),
    ON_SERVER(list_sent_right_behind_a_create_contains_it),
    ON_SERVER(create_below_nothing_is_no_node),
    ON_SERVER(create_below_an_ephemeral_node_is_no_children),
    ON_SERVER(parents_are_containers_or_persistent),
    SUITE_TEST_WITH(empty_container_goes_and_persistent_parent_stays, connect_to_busy_sweeper, scene_end),
    ON_SERVER(data_are_read_and_written),
    ON_SERVER(node_without_data_has_none),
    ON_SERVER(missing_node_is_no_node_for_every_request),
    ON_SERVER(deleted_node_is_gone),
    ON_SERVER(node_with_children_is_not_deleted),
    ON_SERVER(forbidden_request_is_no_auth),
    ON_SERVER(check_names_the_first_path_that_is_missing),
    ON_SERVER(check_of_many_paths_changes_nothing),
    ON_SERVER(watch_reports_by_path),
    ON_SERVER(watch_is_left_only_when_asked_for),
    ON_SERVER(only_get_leaves_no_watch_on_a_missing_node),
    ON_SERVER(forgotten_watch_is_gone_from_the_server),
    ON_SERVER(watch_that_never_was_is_forgotten),
    ON_SERVER(malformed_request_is_refused_without_an_answer),
    ON_SERVER(everything_of_a_closed_session_is_gone),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "store", tests);
}
