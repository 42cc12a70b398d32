#include "server/store_scene.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "session/address.h"
#include "session/descriptors.h"
#include "session/zk_store_internal.h"

struct scene scene;

static void note_state(void *ctx, enum zkl_store_state state, int64_t session_id, unsigned timeout_ms)
{
    (void)ctx;
    if (state == ZKL_STORE_CONNECTED) {
        scene.session_id = session_id;
        scene.timeout_ms = timeout_ms;
    }
    probe_note(&scene.states, state);
}

static void note_node(void *ctx, enum zkl_node_event event, const char *path)
{
    (void)ctx;
    snprintf(scene.node_path, sizeof(scene.node_path), "%s", path);
    probe_note(&scene.nodes, event);
}

static bool is_to_server(int number)
{
    struct zkl_address peer = {.size = sizeof(peer.socket_address)};
    struct zkl_address server;

    return zkl_address_parse(zk_server_address(scene.server), &server, 1) == 1 &&
           getpeername(number, (struct sockaddr *)&peer.socket_address, &peer.size) == 0 &&
           zkl_address_equal(&peer, &server);
}

/* Calls for every socket to the server but the observer's. */
static int each_socket(void (*visit)(int number))
{
    struct zkl_descriptors open;
    int count = 0;

    zkl_descriptors_list(&open);
    for (size_t i = 0; i < open.count; i++) {
        if (is_to_server(open.numbers[i]) && open.numbers[i] != scene.observer_socket) {
            visit(open.numbers[i]);
            count++;
        }
    }
    zkl_descriptors_clear(&open);
    return count;
}

static void remember_as_observers(int number)
{
    scene.observer_socket = number;
}

static void shut(int number)
{
    shutdown(number, SHUT_RDWR);
}

void scene_start_server(const struct zk_server_options *options)
{
    scene.driver = zkl_store_driver_zookeeper();
    probe_init(&scene.states);
    probe_init(&scene.nodes);
    scene.server = zk_server_start(options);
    scene.observer_socket = -1;
    scene.observer = observer_open(zk_server_address(scene.server), 30000);
    CU_ASSERT_EQUAL_FATAL(each_socket(remember_as_observers), 1);
    CU_ASSERT_EQUAL_FATAL(observer_create(scene.observer, "/lock", "", 0, NULL), ZOK);
}

void scene_start(void)
{
    scene_start_server(NULL);
}

void scene_connect(void)
{
    scene_start();
    scene_open(zk_server_address(scene.server), SCENE_TIMEOUT_MS);
    scene_await_connected(1);
}

void scene_end(void)
{
    scene_close();
    if (scene.observer)
        observer_close(scene.observer);
    zk_server_free(scene.server);
    memset(&scene, 0, sizeof(scene));
}

void scene_open(const char *addresses, unsigned timeout_ms)
{
    static const struct zkl_store_sink sink = {.on_state = note_state, .on_node = note_node};
    const struct zkl_store_options options = {.addresses = addresses, .timeout_ms = timeout_ms, .sink = &sink};

    probe_reset(&scene.states);
    CU_ASSERT_EQUAL_FATAL(scene.driver->open(scene.driver, &options, &scene.store), ZKLOCK_OK);
}

void scene_close(void)
{
    if (scene.store)
        scene.driver->close(scene.store);
    scene.store = NULL;
}

static int count_connected(void)
{
    int count = 0;

    for (int i = 0; i < probe_count(&scene.states); i++)
        count += probe_at(&scene.states, i) == ZKL_STORE_CONNECTED;
    return count;
}

static bool has_connected(void *context)
{
    return count_connected() >= *(int *)context;
}

void scene_drop_observer(void)
{
    observer_close(scene.observer);
    scene.observer = NULL;
    scene.observer_socket = -1;
}

void scene_await_connected(int n)
{
    CU_ASSERT_TRUE_FATAL(eventually(has_connected, &n, SCENE_LIMIT_MS));
}

void scene_cut(void)
{
    CU_ASSERT_TRUE_FATAL(each_socket(shut) > 0);
}

/* A close request: its size, its number, and the kind -11. The number is that of a ping, whose answer nobody awaits. */
static void write_close_request(int number)
{
    static const unsigned char request[12] = {0, 0, 0, 8, 0xFF, 0xFF, 0xFF, 0xFE, 0xFF, 0xFF, 0xFF, 0xF5};

    CU_ASSERT_EQUAL(write(number, request, sizeof(request)), sizeof(request));
}

/* Said behind the back of the store's client library, which learns of it when it connects again. */
void scene_begin_expiry(void)
{
    CU_ASSERT_EQUAL_FATAL(each_socket(write_close_request), 1);
}

void scene_expire(void)
{
    scene_begin_expiry();
    CU_ASSERT_TRUE_FATAL(probe_wait_value(&scene.states, ZKL_STORE_EXPIRED, SCENE_LIMIT_MS));
}

static void copy_children(struct outcome *outcome, const struct zkl_reply *reply)
{
    size_t length = 0;

    outcome->child_count = reply->child_count;
    outcome->children[0] = '\0';
    for (int i = 0; i < reply->child_count && length < sizeof(outcome->children); i++)
        length += (size_t)snprintf(outcome->children + length, sizeof(outcome->children) - length, "%s,",
                                   reply->children[i]);
}

void outcome_note(void *arg, const struct zkl_reply *reply)
{
    struct outcome *outcome = arg;

    outcome->raw_code = reply->raw_code;
    outcome->stat = reply->stat;
    outcome->failed_index = reply->failed_index;
    snprintf(outcome->path, sizeof(outcome->path), "%s", reply->path ? reply->path : "");
    outcome->has_data = reply->data != NULL;
    outcome->data_size = reply->data_size;
    snprintf(outcome->data, sizeof(outcome->data), "%.*s", reply->data_size, reply->data ? reply->data : "");
    copy_children(outcome, reply);
    probe_note(&outcome->answered, reply->code);
}

void outcome_init(struct outcome *outcome)
{
    memset(outcome, 0, sizeof(*outcome));
    probe_init(&outcome->answered);
}

enum zkl_code scene_ask(const struct zkl_request *request, struct outcome *outcome)
{
    outcome_init(outcome);
    CU_ASSERT_TRUE_FATAL(scene.driver->submit(scene.store, request, outcome_note, outcome));
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&outcome->answered, 1, SCENE_LIMIT_MS));
    return (enum zkl_code)probe_last(&outcome->answered);
}

enum zkl_code scene_ask_path(enum zkl_op op, const char *path)
{
    /* Static, since a failed assertion must not leave the store with a pointer to a dead frame. */
    static struct outcome outcome;

    return scene_ask(&(struct zkl_request){.op = op, .path = path, .data = "", .data_size = 0}, &outcome);
}
