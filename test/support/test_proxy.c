/* The fault proxy in front of a real server, seen by one observer through it and by another around it. */
#include "support/eventually.h"
#include "support/fault_proxy.h"
#include "support/observer.h"
#include "support/probe.h"
#include "support/suite.h"
#include "support/zk_server.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SESSION_TIMEOUT_MS = 3000, PATIENCE_MS = 20000 };

static struct zk_server *server;
static struct fault_proxy *proxy;
static struct observer *client;     /* through the proxy */
static struct observer *outside;    /* around it */
static struct probe answers;

static void start_all(void)
{
    server = zk_server_start(NULL);
    proxy = fault_proxy_start(zk_server_port(server));
    outside = observer_open(zk_server_address(server), 10000);
    client = observer_open(fault_proxy_address(proxy), SESSION_TIMEOUT_MS);
    probe_init(&answers);
    fault_proxy_reset_counts(proxy);
}

static void free_all(void)
{
    if (proxy)
        fault_proxy_set_mood(proxy, FAULT_PASS);
    observer_close(client);
    observer_close(outside);
    fault_proxy_free(proxy);
    zk_server_free(server);
    client = outside = NULL;
    proxy = NULL;
    server = NULL;
}

static void note_code(int code, const struct Stat *stat, const void *context)
{
    (void)stat;
    probe_note((struct probe *)context, code);
}

static void ask_exists(const char *path)
{
    CU_ASSERT_EQUAL(zoo_aexists(observer_handle(client), path, 0, note_code, &answers), ZOK);
}

static void ignore_name(int code, const char *name, const void *context)
{
    (void)code;
    (void)name;
    (void)context;
}

static void send_create(const char *path)
{
    zhandle_t *handle = observer_handle(client);

    CU_ASSERT_EQUAL(zoo_acreate(handle, path, "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0, ignore_name, NULL), ZOK);
}

static bool is_client_connected(void *context)
{
    (void)context;
    return zoo_state(observer_handle(client)) == ZOO_CONNECTED_STATE;
}

static bool comes_back(void)
{
    return eventually(is_client_connected, NULL, PATIENCE_MS) && observer_exists(client, "/zookeeper");
}

static void requests_are_counted_by_kind_and_in_order(void)
{
    struct observed_node node = {0};
    char trace[256];

    CU_ASSERT_EQUAL(observer_create(client, "/a", "x", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_look(client, "/a", &node), ZOK);
    CU_ASSERT_EQUAL(observer_delete(client, "/a"), ZOK);
    observed_node_clear(&node);
    CU_ASSERT_EQUAL(fault_proxy_requests(proxy, FAULT_OP_CREATE2), 1);
    CU_ASSERT_EQUAL(fault_proxy_requests(proxy, FAULT_OP_EVERY), 3);
    CU_ASSERT_EQUAL(fault_proxy_session_requests(proxy, observer_session_id(client), FAULT_OP_EVERY), 3);
    CU_ASSERT_EQUAL(fault_proxy_session_requests(proxy, 1, FAULT_OP_EVERY), 0);
    CU_ASSERT_EQUAL(fault_proxy_connection_requests(proxy, 0, FAULT_OP_DELETE), 1);
    fault_proxy_trace(proxy, trace, sizeof(trace));
    CU_ASSERT_STRING_EQUAL(trace, "create2 getData delete");
}

static void pings_are_counted_apart(void)
{
    CU_ASSERT_TRUE(fault_proxy_wait_requests(proxy, FAULT_OP_PING, 1, PATIENCE_MS));
    CU_ASSERT_EQUAL(fault_proxy_requests(proxy, FAULT_OP_EVERY), 0);
}

/* What "cons" counts: the opening, each request, each ping. */
static bool do_counters_agree(void *context)
{
    long seen = 1 + fault_proxy_requests(proxy, FAULT_OP_EVERY) + fault_proxy_requests(proxy, FAULT_OP_PING);

    (void)context;
    return zk_server_received(server, observer_session_id(client)) == seen;
}

static void server_counts_what_the_proxy_counts(void)
{
    for (int i = 0; i < 7; i++)
        CU_ASSERT_FALSE(observer_exists(client, "/a"));
    CU_ASSERT_TRUE(fault_proxy_wait_requests(proxy, FAULT_OP_PING, 2, PATIENCE_MS));
    CU_ASSERT_EQUAL(fault_proxy_requests(proxy, FAULT_OP_EVERY), 7);
    CU_ASSERT_TRUE(eventually(do_counters_agree, NULL, PATIENCE_MS));
}

static void note_event(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    (void)handle;
    (void)state;
    (void)path;
    probe_note(context, type);
}

static void watch_event_is_counted_and_can_be_lost(void)
{
    struct Stat stat;

    CU_ASSERT_EQUAL(observer_create(outside, "/a", "x", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(zoo_wexists(observer_handle(client), "/a", note_event, &answers, &stat), ZOK);
    CU_ASSERT_EQUAL(zk_server_watch_count(server), 1);
    CU_ASSERT_EQUAL(observer_set(outside, "/a", "y", 1), ZOK);
    CU_ASSERT_TRUE(probe_wait_value(&answers, ZOO_CHANGED_EVENT, PATIENCE_MS));
    CU_ASSERT_EQUAL(fault_proxy_events(proxy, observer_session_id(client)), 1);

    fault_proxy_lose_reply(proxy, FAULT_OP_EVENT, 1, FAULT_GO_ON);
    CU_ASSERT_EQUAL(zoo_wexists(observer_handle(client), "/a", note_event, &answers, &stat), ZOK);
    CU_ASSERT_EQUAL(observer_delete(outside, "/a"), ZOK);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(proxy, 1, PATIENCE_MS));
    CU_ASSERT_FALSE(observer_exists(client, "/a"));
    CU_ASSERT_FALSE(probe_saw(&answers, ZOO_DELETED_EVENT));
}

static void lost_reply_leaves_the_node(void)
{
    fault_proxy_lose_reply(proxy, FAULT_OP_CREATE2, 2, FAULT_THEN_CUT);
    CU_ASSERT_EQUAL(observer_create(client, "/first", "x", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(client, "/second", "x", 0, NULL), ZCONNECTIONLOSS);
    CU_ASSERT_TRUE(observer_exists(outside, "/second"));
    CU_ASSERT_TRUE(comes_back());
    CU_ASSERT_EQUAL(fault_proxy_fired(proxy), 1);
}

static void lost_reply_then_silence_times_out(void)
{
    fault_proxy_lose_reply(proxy, FAULT_OP_CREATE2, 1, FAULT_THEN_SILENT);
    CU_ASSERT_EQUAL(observer_create(client, "/a", "x", 0, NULL), ZOPERATIONTIMEOUT);
    CU_ASSERT_TRUE(observer_exists(outside, "/a"));
    CU_ASSERT_TRUE(comes_back());
}

static void dropped_request_leaves_nothing(void)
{
    fault_proxy_drop_request(proxy, FAULT_OP_CREATE2, 1, FAULT_THEN_CUT);
    CU_ASSERT_EQUAL(observer_create(client, "/a", "x", 0, NULL), ZCONNECTIONLOSS);
    CU_ASSERT_TRUE(comes_back());
    CU_ASSERT_FALSE(observer_exists(outside, "/a"));
}

static void what_came_before_a_dropped_request_arrives(void)
{
    fault_proxy_drop_request(proxy, FAULT_OP_EXISTS, 1, FAULT_THEN_CUT);
    send_create("/a");
    ask_exists("/a");
    CU_ASSERT_TRUE(probe_wait_count(&answers, 1, PATIENCE_MS));
    CU_ASSERT_EQUAL(probe_last(&answers), ZCONNECTIONLOSS);
    CU_ASSERT_TRUE(observer_wait_exists(outside, "/a", PATIENCE_MS));
}

static void held_request_arrives_after_release(void)
{
    fault_proxy_hold_request(proxy, FAULT_OP_EXISTS, 1);
    ask_exists("/a");
    CU_ASSERT_TRUE(fault_proxy_wait_held(proxy, 1, PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_create(outside, "/a", "x", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(probe_count(&answers), 0);
    fault_proxy_release(proxy);
    CU_ASSERT_TRUE(probe_wait_count(&answers, 1, PATIENCE_MS));
    CU_ASSERT_EQUAL(probe_last(&answers), ZOK);
}

static void held_reply_tells_of_the_past(void)
{
    fault_proxy_hold_reply(proxy, FAULT_OP_EXISTS, 1);
    ask_exists("/a");
    CU_ASSERT_TRUE(fault_proxy_wait_held(proxy, 1, PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_create(outside, "/a", "x", 0, NULL), ZOK);
    fault_proxy_release(proxy);
    CU_ASSERT_TRUE(probe_wait_count(&answers, 1, PATIENCE_MS));
    CU_ASSERT_EQUAL(probe_last(&answers), ZNONODE);
}

static void down_proxy_cuts_and_refuses(void)
{
    int accepted = fault_proxy_accepted(proxy);

    fault_proxy_set_mood(proxy, FAULT_DOWN);
    CU_ASSERT_TRUE(fault_proxy_wait_open_connections(proxy, 0, PATIENCE_MS));
    ask_exists("/");
    CU_ASSERT_TRUE(probe_wait_value(&answers, ZCONNECTIONLOSS, PATIENCE_MS));
    CU_ASSERT_EQUAL(fault_proxy_accepted(proxy), accepted);
    fault_proxy_set_mood(proxy, FAULT_PASS);
    CU_ASSERT_TRUE(comes_back());
}

static void hole_swallows_and_says_nothing(void)
{
    fault_proxy_set_mood(proxy, FAULT_HOLE);
    ask_exists("/");
    CU_ASSERT_TRUE(fault_proxy_wait_requests(proxy, FAULT_OP_EXISTS, 1, PATIENCE_MS));
    CU_ASSERT_TRUE(probe_wait_count(&answers, 1, PATIENCE_MS));
    CU_ASSERT_EQUAL(probe_last(&answers), ZOPERATIONTIMEOUT);
    CU_ASSERT_TRUE(fault_proxy_wait_accepted(proxy, 2, PATIENCE_MS));
    /* The client gave the first connection up, but the server does not hear of it. */
    CU_ASSERT_TRUE(fault_proxy_open_connections(proxy) >= 2);
    fault_proxy_set_mood(proxy, FAULT_PASS);
    CU_ASSERT_TRUE(comes_back());
}

static void one_way_hole_lets_requests_through(void)
{
    fault_proxy_set_mood(proxy, FAULT_HOLE_TO_CLIENT);
    send_create("/a");
    CU_ASSERT_TRUE(observer_wait_exists(outside, "/a", PATIENCE_MS));
    fault_proxy_set_mood(proxy, FAULT_PASS);
    CU_ASSERT_TRUE(comes_back());
}

static void one_way_hole_keeps_requests_back(void)
{
    struct Stat stat;

    CU_ASSERT_EQUAL(observer_create(outside, "/b", "x", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(zoo_wexists(observer_handle(client), "/b", note_event, &answers, &stat), ZOK);
    fault_proxy_set_mood(proxy, FAULT_HOLE_TO_SERVER);
    send_create("/a");
    CU_ASSERT_TRUE(fault_proxy_wait_requests(proxy, FAULT_OP_CREATE, 1, PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_delete(outside, "/b"), ZOK);
    CU_ASSERT_TRUE(probe_wait_value(&answers, ZOO_DELETED_EVENT, PATIENCE_MS));
    CU_ASSERT_FALSE(observer_exists(outside, "/a"));
    /* libzookeeper forgets completions that are pending at a close, and leaks them. */
    fault_proxy_set_mood(proxy, FAULT_PASS);
    CU_ASSERT_TRUE(comes_back());
}

static void stalled_connection_goes_on_where_it_was(void)
{
    int accepted = fault_proxy_accepted(proxy);

    fault_proxy_set_mood(proxy, FAULT_STALL);
    ask_exists("/");
    CU_ASSERT_EQUAL(fault_proxy_requests(proxy, FAULT_OP_EXISTS), 0);
    fault_proxy_set_mood(proxy, FAULT_PASS);
    CU_ASSERT_TRUE(probe_wait_value(&answers, ZOK, PATIENCE_MS));
    CU_ASSERT_EQUAL(fault_proxy_accepted(proxy), accepted);
}

static void delay_holds_each_way(void)
{
    int64_t start_ms = monotonic_ms();

    fault_proxy_set_delay(proxy, 60, 90);
    CU_ASSERT_TRUE(observer_exists(client, "/zookeeper"));
    CU_ASSERT_TRUE(monotonic_ms() - start_ms >= 149);
}

static void trickled_bytes_still_make_a_session(void)
{
    fault_proxy_trickle(proxy, 1);
    CU_ASSERT_EQUAL(observer_create(client, "/a", "some data", 0, NULL), ZOK);
    fault_proxy_cut(proxy);
    CU_ASSERT_TRUE(comes_back());
}

static bool has_ipv6_loopback(void)
{
    const struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int attempt = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_there = attempt >= 0 && bind(attempt, (const struct sockaddr *)&address, sizeof(address)) == 0;

    if (attempt >= 0)
        close(attempt);
    return is_there;
}

static void proxy_listens_on_ipv6_too(void)
{
    const struct fault_proxy_options options = {.listen_address = "::1",
                                                .target_port = zk_server_port(server)};
    struct fault_proxy *six;
    char address[64];
    struct observer *visitor;

    if (!has_ipv6_loopback())
        suite_skip("no IPv6 loopback address here");
    six = fault_proxy_open(&options);
    /* libzookeeper knows no brackets. */
    snprintf(address, sizeof(address), "::1:%d", fault_proxy_port(six));
    visitor = observer_open(address, SESSION_TIMEOUT_MS);
    CU_ASSERT_TRUE(observer_exists(visitor, "/zookeeper"));
    observer_close(visitor);
    fault_proxy_free(six);
}

static void restarted_server_is_found_through_the_proxy(void)
{
    zk_server_restart(server);
    CU_ASSERT_TRUE(comes_back());
}

#define WORLD_TEST(function) SUITE_TEST_WITH(function, start_all, free_all)

static const struct suite_test tests[] = {
    WORLD_TEST(requests_are_counted_by_kind_and_in_order),
    WORLD_TEST(pings_are_counted_apart),
    WORLD_TEST(server_counts_what_the_proxy_counts),
    WORLD_TEST(watch_event_is_counted_and_can_be_lost),
    WORLD_TEST(lost_reply_leaves_the_node),
    WORLD_TEST(lost_reply_then_silence_times_out),
    WORLD_TEST(dropped_request_leaves_nothing),
    WORLD_TEST(what_came_before_a_dropped_request_arrives),
    WORLD_TEST(held_request_arrives_after_release),
    WORLD_TEST(held_reply_tells_of_the_past),
    WORLD_TEST(down_proxy_cuts_and_refuses),
    WORLD_TEST(hole_swallows_and_says_nothing),
    WORLD_TEST(one_way_hole_lets_requests_through),
    WORLD_TEST(one_way_hole_keeps_requests_back),
    WORLD_TEST(stalled_connection_goes_on_where_it_was),
    WORLD_TEST(delay_holds_each_way),
    WORLD_TEST(trickled_bytes_still_make_a_session),
    WORLD_TEST(proxy_listens_on_ipv6_too),
    WORLD_TEST(restarted_server_is_found_through_the_proxy),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "proxy", tests);
}
