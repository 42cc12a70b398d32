#include "support/fault_internal.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* Signals are for the test's own threads. */
static void start_thread(struct fault_proxy *proxy)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&proxy->thread, NULL, fault_relay_run, proxy) != 0)
        suite_abandon("the fault proxy cannot start a thread");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct fault_proxy *fault_proxy_open(const struct fault_proxy_options *options)
{
    struct fault_proxy *proxy = calloc(1, sizeof(*proxy));

    if (!proxy)
        suite_abandon("out of memory");
    proxy->options = *options;
    proxy->listen_address = strdup(options->listen_address ? options->listen_address : "127.0.0.1");
    proxy->target_address = strdup(options->target_address ? options->target_address : "127.0.0.1");
    proxy->port = options->listen_port ? (struct port){options->listen_port, -1} : port_reserve();
    snprintf(proxy->address, sizeof(proxy->address), strchr(proxy->listen_address, ':') ? "[%s]:%d" : "%s:%d",
             proxy->listen_address, proxy->port.number);
    proxy->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&proxy->mutex, NULL);
    monotonic_condition_init(&proxy->changed);
    fault_open_listener(proxy);
    start_thread(proxy);
    return proxy;
}

struct fault_proxy *fault_proxy_start(int target_port)
{
    const struct fault_proxy_options options = {.target_port = target_port};

    return fault_proxy_open(&options);
}

static void wake_relay(struct fault_proxy *proxy)
{
    const uint64_t one = 1;

    if (write(proxy->wake, &one, sizeof(one)) < 0)
        suite_abandon("the fault proxy cannot be woken");
}

static void lock(struct fault_proxy *proxy)
{
    pthread_mutex_lock(&proxy->mutex);
}

static void unlock(struct fault_proxy *proxy)
{
    wake_relay(proxy);
    pthread_mutex_unlock(&proxy->mutex);
}

static void close_listener(struct fault_proxy *proxy)
{
    if (proxy->listener < 0)
        return;
    /* A forked child may share the descriptor; this refuses for it too. */
    shutdown(proxy->listener, SHUT_RDWR);
    close(proxy->listener);
    proxy->listener = -1;
}

void fault_proxy_free(struct fault_proxy *proxy)
{
    if (!proxy)
        return;
    lock(proxy);
    proxy->is_ending = true;
    unlock(proxy);
    pthread_join(proxy->thread, NULL);
    close_listener(proxy);
    while (proxy->connections) {
        struct connection *connection = proxy->connections;

        proxy->connections = connection->next;
        fault_free_connection(connection);
    }
    close(proxy->wake);
    port_release(&proxy->port);
    pthread_cond_destroy(&proxy->changed);
    pthread_mutex_destroy(&proxy->mutex);
    free(proxy->listen_address);
    free(proxy->target_address);
    free(proxy);
}

int fault_proxy_port(const struct fault_proxy *proxy)
{
    return proxy->port.number;
}

const char *fault_proxy_address(const struct fault_proxy *proxy)
{
    return proxy->address;
}

static bool is_hole(enum fault_mood mood)
{
    return mood == FAULT_HOLE || mood == FAULT_HOLE_TO_SERVER || mood == FAULT_HOLE_TO_CLIENT;
}

static void cut_connections(struct fault_proxy *proxy, bool only_damaged)
{
    for (struct connection *c = proxy->connections; c; c = c->next) {
        if (!c->is_closed && (c->has_loss || c->is_silent || !only_damaged))
            fault_cut_connection(c);
    }
}

/* What still waits in a queue is lost the moment the hole opens, not when the relay looks next. */
static void lose_queues(struct fault_proxy *proxy)
{
    for (struct connection *c = proxy->connections; c; c = c->next) {
        for (int way = 0; way < DIRECTIONS; way++) {
            if (c->lanes[way].first && fault_is_swallowed(proxy, c, (enum fault_direction)way)) {
                c->has_loss = true;
                fault_drop_queue(&c->lanes[way]);
            }
        }
    }
}

void fault_proxy_set_mood(struct fault_proxy *proxy, enum fault_mood mood)
{
    lock(proxy);
    proxy->mood = mood;
    if (mood == FAULT_DOWN)
        close_listener(proxy);
    else if (proxy->listener < 0)
        fault_open_listener(proxy);
    if (is_hole(mood))
        lose_queues(proxy);
    else
        cut_connections(proxy, mood != FAULT_DOWN);
    unlock(proxy);
}

void fault_proxy_cut(struct fault_proxy *proxy)
{
    lock(proxy);
    cut_connections(proxy, false);
    unlock(proxy);
}

void fault_proxy_set_delay(struct fault_proxy *proxy, int to_server_ms, int to_client_ms)
{
    lock(proxy);
    proxy->delay_ms[TO_SERVER] = to_server_ms;
    proxy->delay_ms[TO_CLIENT] = to_client_ms;
    unlock(proxy);
}

void fault_proxy_trickle(struct fault_proxy *proxy, int interval_ms)
{
    lock(proxy);
    proxy->trickle_ms = interval_ms;
    unlock(proxy);
}

static void add_rule(struct fault_proxy *proxy, struct rule rule)
{
    struct rule *place = proxy->rules;

    lock(proxy);
    while (place < proxy->rules + FAULT_RULES && place->is_armed)
        place++;
    if (place == proxy->rules + FAULT_RULES)
        suite_abandon("the fault proxy keeps at most %d faults in wait", FAULT_RULES);
    rule.is_armed = true;
    *place = rule;
    unlock(proxy);
}

void fault_proxy_drop_request(struct fault_proxy *proxy, int op, int nth, enum fault_after after)
{
    add_rule(proxy, (struct rule){.kind = DROP_REQUEST, .op = op, .left = nth, .after = after});
}

void fault_proxy_lose_reply(struct fault_proxy *proxy, int op, int nth, enum fault_after after)
{
    add_rule(proxy, (struct rule){.kind = LOSE_REPLY, .op = op, .left = nth, .after = after});
}

void fault_proxy_hold_request(struct fault_proxy *proxy, int op, int nth)
{
    add_rule(proxy, (struct rule){.kind = HOLD_REQUEST, .op = op, .left = nth});
}

void fault_proxy_hold_reply(struct fault_proxy *proxy, int op, int nth)
{
    add_rule(proxy, (struct rule){.kind = HOLD_REPLY, .op = op, .left = nth});
}

void fault_proxy_release(struct fault_proxy *proxy)
{
    lock(proxy);
    for (struct connection *c = proxy->connections; c; c = c->next) {
        for (int way = 0; way < DIRECTIONS; way++) {
            for (struct packet *packet = c->lanes[way].first; packet; packet = packet->next)
                packet->is_held = false;
        }
    }
    unlock(proxy);
}

void fault_proxy_forget_faults(struct fault_proxy *proxy)
{
    lock(proxy);
    memset(proxy->rules, 0, sizeof(proxy->rules));
    unlock(proxy);
}
