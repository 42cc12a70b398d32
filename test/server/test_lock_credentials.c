/* Sessions with credentials (C38): what they open, what wrong ones do, and that nobody else gets to see them. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ = 1, EVERYTHING = 31, LONG_TIMEOUT_MS = 40000, SHORT_TIMEOUT_MS = 3000, HURRY_MS = 500, STORY_SIZE = 65536 };

#define OWN_PATH "/stage/own"

static char detail[256];
static char story[STORY_SIZE];
static pthread_mutex_t story_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct zk_server *strict_server;
static unsigned session_timeout_ms;

static void note_code(int code, const void *context)
{
    probe_note((struct probe *)context, code);
}

static void add_credentials(const char *text)
{
    struct probe is_done;

    probe_init(&is_done);
    CU_ASSERT_EQUAL(zoo_add_auth(observer_handle(stage.observer), "digest", text, (int)strlen(text), note_code,
                                 &is_done), ZOK);
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&is_done, 1, STAGE_LIMIT_MS));
    probe_clear(&is_done);
}

/* Whoever has the credentials svc:secret has all rights on the lock; so has the observer. */
static void start(void)
{
    char authenticated[] = "auth", as_we_are[] = "";
    struct ACL entry = {EVERYTHING, {authenticated, as_we_are}};
    struct ACL_vector list = {1, &entry};

    stage_start_without_session();
    story[0] = '\0';
    session_timeout_ms = LONG_TIMEOUT_MS;
    add_credentials("svc:secret");
    CU_ASSERT_EQUAL_FATAL(zoo_set_acl(observer_handle(stage.observer), STAGE_PATH, -1, &list), ZOK);
}

static void end(void)
{
    stage_end();
    if (getenv("ZKLOCK_STAGE_LOG"))
        printf("\n%s", story);
    zk_server_free(strict_server);
    strict_server = NULL;
}

/* @thread the notifier of each session */
static void note_line(void *arg, zklock_log_level level, const char *message)
{
    size_t used;

    (void)arg;
    pthread_mutex_lock(&story_mutex);
    used = strlen(story);
    snprintf(story + used, sizeof(story) - used, "%d %s\n", (int)level, message);
    pthread_mutex_unlock(&story_mutex);
}

static bool was_told(const char *words)
{
    bool was_told;

    pthread_mutex_lock(&story_mutex);
    was_told = strstr(story, words) != NULL;
    pthread_mutex_unlock(&story_mutex);
    return was_told;
}

static zklock_session *begin(const char *servers, const char *scheme, const char *credentials, zklock_acl acl)
{
    zklock_session_options options;

    zklock_session_options_init(&options);
    options.servers = servers;
    options.session_timeout_ms = session_timeout_ms;
    options.tick_time_ms = STAGE_TICK_MS;
    options.auth_scheme = scheme;
    options.auth = credentials;
    options.auth_size = credentials ? strlen(credentials) : 0;
    options.acl = acl;
    options.log = note_line;
    options.log_level = ZKLOCK_LOG_DEBUG;
    return stage_begin_with(&options);
}

static zklock_session *open_as(const char *credentials, zklock_acl acl)
{
    zklock_session *session =
        begin(fault_proxy_address(stage.proxy), credentials ? "digest" : NULL, credentials, acl);

    CU_ASSERT_EQUAL_FATAL(zklock_session_wait_connected(session, STAGE_LIMIT_MS), ZKLOCK_OK);
    return session;
}

static void check_denied(struct contender *contender, const char *path, const char *right)
{
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_DENIED);
    zklock_detail(contender->lock, detail, sizeof(detail));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, path));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, right));
}

static void check_refused(zklock_session *session)
{
    CU_ASSERT_EQUAL(zklock_session_wait_connected(session, STAGE_LIMIT_MS), ZKLOCK_DENIED);
    zklock_session_detail(session, detail, sizeof(detail));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "authentication failed"));
    CU_ASSERT_PTR_NULL(strstr(detail, "secret"));
}

/* ---------------------------------------------------------------- what they open */

static void credentials_open_the_lock(void)
{
    struct contender *contender = contender_new(open_as("svc:secret", ZKLOCK_ACL_OPEN), STAGE_PATH);

    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void server_restarted_during_a_wait_does_no_harm(void)
{
    struct contender *holder = contender_new(open_as("svc:secret", ZKLOCK_ACL_CREATOR), STAGE_PATH);
    struct contender *waiter = contender_new(open_as("svc:secret", ZKLOCK_ACL_CREATOR), STAGE_PATH);

    contender_hold(holder);
    contender_queue(waiter);
    zk_server_kill(stage.server);
    zk_server_restart(stage.server);
    CU_ASSERT_EQUAL(zklock_session_wait_connected(holder->session, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_session_wait_connected(waiter->session, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_EQUAL(zklock_result(waiter->lock), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_FALSE(contender_heard(waiter, ZKLOCK_EVENT_REQUEUED));
}

static void connections_cut_at_any_time_do_no_harm(void)
{
    struct contender *holder = contender_new(open_as("svc:secret", ZKLOCK_ACL_CREATOR), STAGE_PATH);
    struct contender *waiter = contender_new(open_as("svc:secret", ZKLOCK_ACL_CREATOR), STAGE_PATH);

    contender_hold(holder);
    contender_queue(waiter);
    for (int i = 0; i < 10; i++) {
        int accepted = fault_proxy_accepted(stage.proxy);

        if (i % 2)
            fault_proxy_drop_request(stage.proxy, FAULT_OP_AUTH, 1, FAULT_THEN_CUT);
        fault_proxy_cut(stage.proxy);
        CU_ASSERT_TRUE(fault_proxy_wait_accepted(stage.proxy, accepted + 2, STAGE_LIMIT_MS));
    }
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
}

/* A request that overtook them would be denied. */
static void nothing_is_asked_before_they_are_accepted(void)
{
    zklock_session *session;

    fault_proxy_hold_request(stage.proxy, FAULT_OP_AUTH, 1);
    session = begin(fault_proxy_address(stage.proxy), "digest", "svc:secret", ZKLOCK_ACL_OPEN);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_AUTH, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_session_wait_connected(session, HURRY_MS), ZKLOCK_NO_SERVER);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(zklock_session_wait_connected(session, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_hold(contender_new(session, STAGE_PATH));
}

/* ---------------------------------------------------------------- wrong ones */

static void wrong_credentials_lack_the_right_that_is_named(void)
{
    check_denied(contender_new(open_as("svc:wrong", ZKLOCK_ACL_OPEN), STAGE_PATH), STAGE_PATH, "CREATE");
    check_denied(contender_new(open_as(NULL, ZKLOCK_ACL_OPEN), STAGE_PATH), STAGE_PATH, "CREATE");
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 0);
}

static void unknown_scheme_is_an_authentication_that_failed(void)
{
    zklock_session *session = begin(fault_proxy_address(stage.proxy), "nosuch", "svc:secret", ZKLOCK_ACL_OPEN);
    struct contender *contender = contender_new(session, STAGE_PATH);
    zklock_queue *queue = NULL;

    check_denied(contender, "authentication failed", "nosuch");
    check_refused(session);
    CU_ASSERT_EQUAL(zklock_queue_read(session, STAGE_PATH, STAGE_LIMIT_MS, &queue), ZKLOCK_DENIED);
    check_denied(contender, "authentication failed", "nosuch");
    CU_ASSERT_EQUAL(stage_close(session, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(was_told("2 authentication failed"));
}

/* The same address, with this server behind it. */
static void put_behind_the_proxy(const struct zk_server *server)
{
    struct fault_proxy_options options = {.listen_port = fault_proxy_port(stage.proxy),
                                          .target_port = zk_server_port(server)};

    fault_proxy_free(stage.proxy);
    stage.proxy = fault_proxy_open(&options);
}

static void waiter_is_told_when_servers_come_to_refuse_and_may_come_back(void)
{
    const struct zk_server_options strict = {.jvm_flags = "-Dzookeeper.DigestAuthenticationProvider.enabled=false"};
    struct contender *holder, *waiter;

    /* A server that has seen less than they have lets them in only when they begin afresh. */
    session_timeout_ms = SHORT_TIMEOUT_MS;
    holder = contender_new(open_as("svc:secret", ZKLOCK_ACL_OPEN), STAGE_PATH);
    waiter = contender_new(open_as("svc:secret", ZKLOCK_ACL_OPEN), STAGE_PATH);
    strict_server = zk_server_start(&strict);
    contender_hold(holder);
    contender_queue(waiter);
    put_behind_the_proxy(strict_server);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_DENIED);
    zklock_detail(waiter->lock, detail, sizeof(detail));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "authentication failed"));
    contender_await_event(holder, ZKLOCK_EVENT_LOST);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
    check_refused(waiter->session);
    put_behind_the_proxy(stage.server);
    while (zklock_session_wait_connected(waiter->session, STAGE_LIMIT_MS) == ZKLOCK_DENIED)
        CU_ASSERT_TRUE_FATAL(fault_proxy_wait_requests(stage.proxy, FAULT_OP_AUTH, 1, STAGE_LIMIT_MS));
    contender_hold(waiter);
}

/* ---------------------------------------------------------------- rights on what is made */

static void check_rights(const char *path, int world, const char *owner)
{
    struct ACL_vector list = {0};
    struct Stat stat;
    bool is_owned = false;
    int others = 0;

    CU_ASSERT_EQUAL_FATAL(zoo_get_acl(observer_handle(stage.observer), path, &list, &stat), ZOK);
    for (int i = 0; i < list.count; i++) {
        const struct ACL *entry = &list.data[i];

        if (strcmp(entry->id.scheme, "world") == 0)
            others |= entry->perms;
        else if (owner && strcmp(entry->id.scheme, "digest") == 0 && strncmp(entry->id.id, owner, strlen(owner)) == 0)
            is_owned = entry->perms == EVERYTHING;
        CU_ASSERT_PTR_NULL(strstr(entry->id.id, "secret"));
    }
    CU_ASSERT_EQUAL(others, world);
    CU_ASSERT_EQUAL(is_owned, owner != NULL);
    deallocate_ACL_vector(&list);
}

static void check_made_with(const char *credentials, zklock_acl acl, int world)
{
    struct contender *contender = contender_new(open_as(credentials, acl), OWN_PATH "/deep");
    char node[OBSERVER_PATH_SIZE];

    contender_hold(contender);
    contender_node(contender, node);
    check_rights(node, world, credentials ? "svc:" : NULL);
    check_rights(OWN_PATH "/deep", world, credentials ? "svc:" : NULL);
    check_rights(OWN_PATH, world, credentials ? "svc:" : NULL);
}

static void reader_in_a_writers_place_has_the_writers_rights(void)
{
    zklock_options options;

    zklock_options_init(&options);
    options.style = ZKLOCK_STYLE_CURATOR_RW;
    struct contender *holder =
        contender_new_with(open_as("svc:secret", ZKLOCK_ACL_CREATOR), STAGE_PATH, &options);
    char path[OBSERVER_PATH_SIZE];

    contender_hold(holder);
    CU_ASSERT_EQUAL(zklock_downgrade(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_node(holder, path);
    CU_ASSERT_PTR_NOT_NULL(strstr(path, "__READ__"));
    check_rights(path, 0, "svc:");
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void nodes_are_open_by_default(void)
{
    check_made_with(NULL, ZKLOCK_ACL_OPEN, EVERYTHING);
}

static void nodes_of_the_creator_are_for_nobody_else(void)
{
    zklock_session *stranger;
    zklock_queue *queue = NULL;

    check_made_with("svc:secret", ZKLOCK_ACL_CREATOR, 0);
    stranger = open_as("svc:wrong", ZKLOCK_ACL_OPEN);
    CU_ASSERT_EQUAL(zklock_queue_read(stranger, OWN_PATH "/deep", STAGE_LIMIT_MS, &queue), ZKLOCK_DENIED);
    CU_ASSERT_EQUAL(zklock_wait_free(stranger, OWN_PATH "/deep", STAGE_LIMIT_MS), ZKLOCK_DENIED);
    check_denied(contender_new(stranger, OWN_PATH "/deep"), OWN_PATH "/deep", "CREATE");
    check_denied(contender_new(stranger, OWN_PATH "/other"), OWN_PATH "/other", "CREATE");
}

static void nodes_of_the_creator_may_be_read_where_that_is_wanted(void)
{
    zklock_session *stranger;
    zklock_queue *queue = NULL;

    check_made_with("svc:secret", ZKLOCK_ACL_CREATOR_READ, READ);
    stranger = open_as(NULL, ZKLOCK_ACL_OPEN);
    CU_ASSERT_EQUAL_FATAL(zklock_queue_read(stranger, OWN_PATH "/deep", STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(queue->count, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(queue->contenders[0]->payload, "\"pid\""));
    CU_ASSERT_EQUAL(zklock_break(stranger, OWN_PATH "/deep", queue->contenders[0], STAGE_LIMIT_MS), ZKLOCK_DENIED);
    CU_ASSERT_EQUAL(zklock_revoke(stranger, OWN_PATH "/deep", queue->contenders[0], STAGE_LIMIT_MS), ZKLOCK_DENIED);
    check_denied(contender_new(stranger, OWN_PATH "/deep"), OWN_PATH "/deep", "CREATE");
    zklock_queue_free(queue);
}

/* ---------------------------------------------------------------- nobody else gets to see them */

static void credentials_are_in_no_log_and_no_payload(void)
{
    struct contender *contender = contender_new(open_as("svc:secret", ZKLOCK_ACL_CREATOR), STAGE_PATH);
    struct observed_node node;
    char path[OBSERVER_PATH_SIZE];

    contender_hold(contender);
    contender_node(contender, path);
    CU_ASSERT_EQUAL_FATAL(observer_look(stage.observer, path, &node), ZOK);
    CU_ASSERT_PTR_NULL(memmem(node.data, (size_t)node.data_length, "secret", 6));
    observed_node_clear(&node);
    fault_proxy_cut(stage.proxy);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_free_lock(contender);
    CU_ASSERT_EQUAL(stage_close(contender->session, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(was_told("4 " STAGE_PATH));
    CU_ASSERT_FALSE(was_told("secret"));
}

#define TEST(test) SUITE_TEST_WITH(test, start, end)

static const struct suite_test tests[] = {
    TEST(credentials_open_the_lock),
    TEST(server_restarted_during_a_wait_does_no_harm),
    TEST(reader_in_a_writers_place_has_the_writers_rights),
    TEST(connections_cut_at_any_time_do_no_harm),
    TEST(nothing_is_asked_before_they_are_accepted),
    TEST(wrong_credentials_lack_the_right_that_is_named),
    TEST(unknown_scheme_is_an_authentication_that_failed),
    TEST(waiter_is_told_when_servers_come_to_refuse_and_may_come_back),
    TEST(nodes_are_open_by_default),
    TEST(nodes_of_the_creator_are_for_nobody_else),
    TEST(nodes_of_the_creator_may_be_read_where_that_is_wanted),
    TEST(credentials_are_in_no_log_and_no_payload),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_credentials", tests);
}
