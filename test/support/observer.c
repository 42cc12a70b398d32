#include "support/observer.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { CONNECT_PATIENCE_MS = 30000, REPEAT_MS = 20000, FIRST_DATA_SIZE = 16 * 1024 };

struct observer {
    char *hosts;
    int session_timeout_ms;
    zhandle_t *handle;
};

static void ignore_event(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    (void)handle;
    (void)type;
    (void)state;
    (void)path;
    (void)context;
}

static void ignore_message(const char *message)
{
    (void)message;
}

static bool is_connected(void *context)
{
    struct observer *observer = context;

    return zoo_state(observer->handle) == ZOO_CONNECTED_STATE;
}

static void open_handle(struct observer *observer)
{
    observer->handle = zookeeper_init2(observer->hosts, ignore_event, observer->session_timeout_ms, NULL,
                                       NULL, ZOO_NO_LOG_CLIENTENV, ignore_message);
    if (!observer->handle)
        suite_abandon("the observer cannot use the address %s", observer->hosts);
    zoo_set_servers_resolution_delay(observer->handle, -1);
    if (!eventually(is_connected, observer, CONNECT_PATIENCE_MS))
        suite_abandon("the observer finds no server at %s", observer->hosts);
}

struct observer *observer_open(const char *hosts, int session_timeout_ms)
{
    struct observer *observer = calloc(1, sizeof(*observer));

    if (!observer || !(observer->hosts = strdup(hosts)))
        suite_abandon("out of memory");
    observer->session_timeout_ms = session_timeout_ms;
    open_handle(observer);
    return observer;
}

void observer_close(struct observer *observer)
{
    if (!observer)
        return;
    zookeeper_close(observer->handle);
    free(observer->hosts);
    free(observer);
}

/* A call on an expired handle may never return. */
zhandle_t *observer_handle(struct observer *observer)
{
    if (is_unrecoverable(observer->handle)) {
        zookeeper_close(observer->handle);
        open_handle(observer);
    }
    return observer->handle;
}

int64_t observer_session_id(struct observer *observer)
{
    return zoo_client_id(observer_handle(observer))->client_id;
}

/* Whether to ask again: the connection broke, and time is left. */
static bool should_repeat(struct observer *observer, int code, int64_t deadline_ms)
{
    bool is_broken = code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT || code == ZINVALIDSTATE
                     || code == ZSESSIONEXPIRED || code == ZCLOSING;

    if (!is_broken || remaining_ms(deadline_ms) == 0)
        return false;
    observer_handle(observer);
    eventually(is_connected, observer, remaining_ms(deadline_ms));
    return true;
}

static int list_names(struct observer *observer, const char *directory, struct String_vector *out_names)
{
    int64_t deadline_ms = monotonic_ms() + REPEAT_MS;
    int code;

    do
        code = zoo_get_children(observer_handle(observer), directory, 0, out_names);
    while (should_repeat(observer, code, deadline_ms));
    return code;
}

static int read_stat(struct observer *observer, const char *path, struct Stat *out_stat)
{
    int64_t deadline_ms = monotonic_ms() + REPEAT_MS;
    int code;

    do
        code = zoo_exists(observer_handle(observer), path, 0, out_stat);
    while (should_repeat(observer, code, deadline_ms));
    return code;
}

static int read_data(struct observer *observer, const char *path, struct observed_node *node,
                     struct Stat *stat)
{
    int64_t deadline_ms = monotonic_ms() + REPEAT_MS;
    int size = FIRST_DATA_SIZE;
    int code;

    do {
        node->data = realloc(node->data, (size_t)size + 1);
        node->data_length = size;
        code = zoo_get(observer_handle(observer), path, 0, node->data, &node->data_length, stat);
        /* The call cuts the data to the buffer; what it tells of the length stands in the stat. */
        if (code == ZOK && stat->dataLength > size) {
            size = stat->dataLength;
            continue;
        }
        if (!should_repeat(observer, code, deadline_ms))
            break;
    } while (true);
    if (code == ZOK)
        node->data[node->data_length > 0 ? node->data_length : 0] = '\0';
    return code;
}

int observer_look(struct observer *observer, const char *path, struct observed_node *out_node)
{
    struct observed_node node = {0};
    struct Stat stat = {0};
    int code = read_data(observer, path, &node, &stat);

    if (code != ZOK) {
        observed_node_clear(&node);
        return code;
    }
    node.name = strdup(strrchr(path, '/') + 1);
    node.czxid = stat.czxid;
    node.owner = stat.ephemeralOwner;
    node.version = stat.version;
    *out_node = node;
    return ZOK;
}

void observed_node_clear(struct observed_node *node)
{
    free(node->name);
    free(node->data);
    memset(node, 0, sizeof(*node));
}

static void join_path(const char *directory, const char *name, char out_path[OBSERVER_PATH_SIZE])
{
    bool is_root = strcmp(directory, "/") == 0;

    snprintf(out_path, OBSERVER_PATH_SIZE, "%s/%s", is_root ? "" : directory, name);
}

static int compare_creation(const void *left, const void *right)
{
    int64_t a = ((const struct observed_node *)left)->czxid;
    int64_t b = ((const struct observed_node *)right)->czxid;

    return (a > b) - (a < b);
}

int observer_list(struct observer *observer, const char *directory, struct observed_list *out_list)
{
    struct String_vector names = {0};
    struct observed_list list = {0};
    int code = list_names(observer, directory, &names);

    if (code != ZOK)
        return code;
    list.nodes = calloc((size_t)names.count + 1, sizeof(*list.nodes));
    for (int i = 0; i < names.count; i++) {
        char path[OBSERVER_PATH_SIZE];

        join_path(directory, names.data[i], path);
        /* A child that went between the two requests is left out. */
        if (observer_look(observer, path, &list.nodes[list.count]) == ZOK)
            list.count++;
    }
    deallocate_String_vector(&names);
    qsort(list.nodes, (size_t)list.count, sizeof(*list.nodes), compare_creation);
    *out_list = list;
    return ZOK;
}

void observed_list_clear(struct observed_list *list)
{
    for (int i = 0; i < list->count; i++)
        observed_node_clear(&list->nodes[i]);
    free(list->nodes);
    memset(list, 0, sizeof(*list));
}

bool observer_exists(struct observer *observer, const char *path)
{
    struct Stat stat;

    return read_stat(observer, path, &stat) == ZOK;
}

int observer_count(struct observer *observer, const char *directory)
{
    struct Stat stat;

    return read_stat(observer, directory, &stat) == ZOK ? stat.numChildren : -1;
}

void observer_front(struct observer *observer, const char *directory, char out_name[OBSERVER_PATH_SIZE])
{
    struct observed_list list = {0};

    out_name[0] = '\0';
    if (observer_list(observer, directory, &list) == ZOK && list.count > 0)
        snprintf(out_name, OBSERVER_PATH_SIZE, "%s", list.nodes[0].name);
    observed_list_clear(&list);
}

int observer_create(struct observer *observer, const char *path, const char *text, int flags,
                    char out_path[OBSERVER_PATH_SIZE])
{
    char unwanted[OBSERVER_PATH_SIZE];
    struct Stat stat;

    return zoo_create2(observer_handle(observer), path, text, text ? (int)strlen(text) : -1,
                       &ZOO_OPEN_ACL_UNSAFE, flags, out_path ? out_path : unwanted, OBSERVER_PATH_SIZE,
                       &stat);
}

int observer_set(struct observer *observer, const char *path, const void *data, int length)
{
    return zoo_set(observer_handle(observer), path, data, length, -1);
}

int observer_delete(struct observer *observer, const char *path)
{
    return zoo_delete(observer_handle(observer), path, -1);
}

int observer_delete_below(struct observer *observer, const char *path)
{
    struct String_vector names = {0};
    int code = list_names(observer, path, &names);

    if (code != ZOK)
        return code;
    for (int i = 0; i < names.count; i++) {
        char child[OBSERVER_PATH_SIZE];

        join_path(path, names.data[i], child);
        /* The server's own nodes stay. */
        if (strcmp(child, "/zookeeper") == 0)
            continue;
        observer_delete_below(observer, child);
        code = observer_delete(observer, child);
        if (code != ZOK && code != ZNONODE)
            break;
        code = ZOK;
    }
    deallocate_String_vector(&names);
    return code;
}

struct observer_wish {
    struct observer *observer;
    const char *path;
    const char *name;
    int count;
};

static bool has_count(void *context)
{
    struct observer_wish *wish = context;

    return observer_count(wish->observer, wish->path) == wish->count;
}

bool observer_wait_count(struct observer *observer, const char *directory, int count, int timeout_ms)
{
    struct observer_wish wish = {.observer = observer, .path = directory, .count = count};

    return eventually(has_count, &wish, timeout_ms);
}

static bool does_exist(void *context)
{
    struct observer_wish *wish = context;

    return observer_exists(wish->observer, wish->path);
}

bool observer_wait_exists(struct observer *observer, const char *path, int timeout_ms)
{
    struct observer_wish wish = {.observer = observer, .path = path};

    return eventually(does_exist, &wish, timeout_ms);
}

static bool is_gone(void *context)
{
    struct observer_wish *wish = context;
    struct Stat stat;

    return read_stat(wish->observer, wish->path, &stat) == ZNONODE;
}

bool observer_wait_gone(struct observer *observer, const char *path, int timeout_ms)
{
    struct observer_wish wish = {.observer = observer, .path = path};

    return eventually(is_gone, &wish, timeout_ms);
}

static bool has_other_front(void *context)
{
    struct observer_wish *wish = context;
    char front[OBSERVER_PATH_SIZE];

    observer_front(wish->observer, wish->path, front);
    return front[0] != '\0' && strcmp(front, wish->name) != 0;
}

bool observer_wait_front_other_than(struct observer *observer, const char *directory, const char *name,
                                    int timeout_ms)
{
    struct observer_wish wish = {.observer = observer, .path = directory, .name = name};

    return eventually(has_other_front, &wish, timeout_ms);
}
