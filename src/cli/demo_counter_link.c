#include "demo_counter_link.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "auth_file.h"
#include "clock.h"

enum { LOOK_EVERY_MS = 100 };

struct demo_link {
    char *addresses;
    const char *auth_file;
    int timeout_ms;
    int stop_fd;
    int bell_fd;
    zhandle_t *handle;
    atomic_int state;       /* the latest that the watcher was told */
    _Atomic int64_t session;
};

static void ring(int bell_fd)
{
    uint64_t one = 1;

    if (write(bell_fd, &one, sizeof(one)) < 0)
        return;
}

/* @thread libzookeeper's */
static void watch(zhandle_t *handle, int type, int state, const char *path, void *context)
{
    struct demo_link *link = context;

    (void)path;
    if (type != ZOO_SESSION_EVENT)
        return;
    if (state == ZOO_CONNECTED_STATE)
        atomic_store(&link->session, zoo_client_id(handle)->client_id);
    atomic_store(&link->state, state);
    ring(link->bell_fd);
}

static void discard_log(const char *line)
{
    (void)line;
}

/* Before anything is asked; sent again by libzookeeper at each reconnect. */
static void authenticate(const struct demo_link *link)
{
    struct auth_file file;

    if (auth_file_read(link->auth_file, &file) == 0)
        zoo_add_auth(link->handle, file.auth.scheme, file.auth.credentials, (int)file.auth.size, NULL, NULL);
    auth_file_wipe(&file);
}

/* Signals belong to the main thread: libzookeeper's threads are started with all of them blocked. */
static void open_handle(struct demo_link *link)
{
    sigset_t all;
    sigset_t before;

    atomic_store(&link->state, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    link->handle = zookeeper_init2(link->addresses, watch, link->timeout_ms, NULL, link, ZOO_NO_LOG_CLIENTENV,
                                   discard_log);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    /* The addresses are numeric; libzookeeper would ask for them again at every turn of its thread. */
    if (link->handle)
        zoo_set_servers_resolution_delay(link->handle, -1);
    if (link->handle && link->auth_file)
        authenticate(link);
}

static void close_handle(struct demo_link *link)
{
    if (link->handle)
        zookeeper_close(link->handle);
    link->handle = NULL;
}

struct demo_link *demo_link_new(const char *addresses, const char *auth_file, int timeout_ms, int stop_fd)
{
    struct demo_link *link = calloc(1, sizeof(*link));

    if (!link)
        return NULL;
    link->auth_file = auth_file;
    link->timeout_ms = timeout_ms;
    link->stop_fd = stop_fd;
    link->addresses = strdup(addresses);
    link->bell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (link->addresses && link->bell_fd >= 0)
        return link;
    demo_link_free(link);
    return NULL;
}

void demo_link_free(struct demo_link *link)
{
    if (!link)
        return;
    close_handle(link);
    if (link->bell_fd >= 0)
        close(link->bell_fd);
    free(link->addresses);
    free(link);
}

int64_t demo_link_session(const struct demo_link *link)
{
    return atomic_load(&((struct demo_link *)(intptr_t)link)->session);
}

/* Waits for the bell; false when the demonstration was told to stop. */
static bool await_bell(struct demo_link *link)
{
    struct pollfd descriptors[] = {{link->bell_fd, POLLIN, 0}, {link->stop_fd, POLLIN, 0}};
    uint64_t rings;

    poll(descriptors, 2, LOOK_EVERY_MS);
    if (descriptors[0].revents && read(link->bell_fd, &rings, sizeof(rings)) < 0)
        return true;
    return !descriptors[1].revents;
}

int demo_link_connect(struct demo_link *link, int64_t deadline_ms)
{
    for (;;) {
        int state = atomic_load(&link->state);

        if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE)
            close_handle(link);
        if (!link->handle)
            open_handle(link);
        else if (state == ZOO_CONNECTED_STATE)
            return ZOK;
        if (clock_boottime_ms() >= deadline_ms)
            return ZCONNECTIONLOSS;
        if (!await_bell(link))
            return DEMO_STOPPED_CODE;
    }
}

static struct demo_call *call_new(const struct demo_link *link, int result_count)
{
    struct demo_call *call = calloc(1, sizeof(*call) + sizeof(zoo_op_result_t) * (size_t)result_count);

    if (!call)
        return NULL;
    atomic_init(&call->owners, 2);
    call->bell_fd = link->bell_fd;
    return call;
}

void demo_call_drop(struct demo_call *call)
{
    if (!call || atomic_fetch_sub(&call->owners, 1) > 1)
        return;
    for (int i = 0; i < call->name_count; i++)
        free(call->names[i]);
    free(call->names);
    free(call);
}

/* @thread libzookeeper's */
static void finish(struct demo_call *call, int code)
{
    int bell_fd = call->bell_fd;

    call->code = code;
    atomic_store(&call->is_done, true);
    demo_call_drop(call);
    ring(bell_fd);
}

static void take_data(int code, const char *value, int size, const struct Stat *stat, const void *context)
{
    struct demo_call *call = (struct demo_call *)(intptr_t)context;

    if (code == ZOK) {
        size_t length = value && size > 0 ? (size_t)size : 0;

        length = length < sizeof(call->data) ? length : sizeof(call->data) - 1;
        if (length > 0)
            memcpy(call->data, value, length);
        call->stat = *stat;
    }
    finish(call, code);
}

static void take_names(int code, const struct String_vector *names, const void *context)
{
    struct demo_call *call = (struct demo_call *)(intptr_t)context;

    if (code == ZOK && names->count > 0)
        call->names = calloc((size_t)names->count, sizeof(char *));
    for (int i = 0; call->names && i < names->count; i++) {
        call->names[i] = strdup(names->data[i]);
        if (call->names[i])
            call->name_count++;
        else
            break;
    }
    finish(call, code == ZOK && call->name_count < names->count ? ZSYSTEMERROR : code);
}

static void take_path(int code, const char *path, const void *context)
{
    (void)path;
    finish((struct demo_call *)(intptr_t)context, code);
}

static void take_code(int code, const void *context)
{
    finish((struct demo_call *)(intptr_t)context, code);
}

/* A request that was refused at once gets no completion: both shares end here. */
static struct demo_call *handed_on(struct demo_call *call, int code)
{
    if (code == ZOK)
        return call;
    demo_call_drop(call);
    /* It was made with two owners, and only the second one frees it. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    demo_call_drop(call);
    return NULL;
}

struct demo_call *demo_link_get(struct demo_link *link, const char *path)
{
    struct demo_call *call = link->handle ? call_new(link, 0) : NULL;

    return call ? handed_on(call, zoo_aget(link->handle, path, 0, take_data, call)) : NULL;
}

struct demo_call *demo_link_list(struct demo_link *link, const char *path)
{
    struct demo_call *call = link->handle ? call_new(link, 0) : NULL;

    return call ? handed_on(call, zoo_aget_children(link->handle, path, 0, take_names, call)) : NULL;
}

struct demo_call *demo_link_create(struct demo_link *link, const char *path, const char *data, int flags)
{
    struct demo_call *call = link->handle ? call_new(link, 0) : NULL;

    if (!call)
        return NULL;
    return handed_on(call, zoo_acreate(link->handle, path, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE,
                                       flags, take_path, call));
}

struct demo_call *demo_link_multi(struct demo_link *link, const zoo_op_t *operations, int count)
{
    struct demo_call *call = link->handle ? call_new(link, count) : NULL;

    return call ? handed_on(call, zoo_amulti(link->handle, count, operations, call->results, take_code, call))
                : NULL;
}

static bool is_unknown(int code)
{
    return code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT || code == ZRUNTIMEINCONSISTENCY ||
           code == ZSESSIONMOVED || code == ZCLOSING || code == ZMARSHALLINGERROR || code == ZSYSTEMERROR ||
           code == ZSESSIONEXPIRED || code == ZINVALIDSTATE;
}

int demo_link_await(struct demo_link *link, struct demo_call *call)
{
    int64_t deadline_ms = clock_boottime_ms() + link->timeout_ms;

    while (call && !atomic_load(&call->is_done) && clock_boottime_ms() < deadline_ms) {
        if (!await_bell(link))
            return DEMO_STOPPED_CODE;
    }
    if (!call || !atomic_load(&call->is_done) || is_unknown(call->code))
        return ZCONNECTIONLOSS;
    return call->code;
}
