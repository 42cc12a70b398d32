#include "support/fault_internal.h"

#include "support/eventually.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int op;
    const char *name;
} op_names[] = {
    {FAULT_OP_EVENT, "event"}, {FAULT_OP_CONNECT, "connect"}, {FAULT_OP_CLOSE_SESSION, "closeSession"},
    {FAULT_OP_CREATE, "create"}, {FAULT_OP_DELETE, "delete"}, {FAULT_OP_EXISTS, "exists"},
    {FAULT_OP_GET_DATA, "getData"}, {FAULT_OP_SET_DATA, "setData"}, {FAULT_OP_GET_ACL, "getACL"},
    {FAULT_OP_SET_ACL, "setACL"}, {FAULT_OP_GET_CHILDREN, "getChildren"}, {FAULT_OP_SYNC, "sync"},
    {FAULT_OP_GET_CHILDREN2, "getChildren2"}, {FAULT_OP_CHECK, "check"}, {FAULT_OP_MULTI, "multi"},
    {FAULT_OP_CREATE2, "create2"}, {FAULT_OP_CHECK_WATCHES, "checkWatches"},
    {FAULT_OP_REMOVE_WATCHES, "removeWatches"}, {FAULT_OP_CREATE_CONTAINER, "createContainer"},
    {FAULT_OP_AUTH, "auth"}, {FAULT_OP_SET_WATCHES, "setWatches"}};

/* Where a kind is counted; what is unknown shares a place. */
static int place_of(int op)
{
    enum { PLACE_OF_CONNECT = 120, PLACE_OF_UNKNOWN = 121, SHIFT = 12 };

    if (op == FAULT_OP_CONNECT)
        return PLACE_OF_CONNECT;
    return op > -SHIFT && op + SHIFT < PLACE_OF_CONNECT ? op + SHIFT : PLACE_OF_UNKNOWN;
}

static void add_to_trace(struct fault_proxy *proxy, int op)
{
    if (op != FAULT_OP_PING && proxy->trace_length < FAULT_TRACE)
        proxy->trace[proxy->trace_length++] = op;
}

void fault_count_request(struct fault_proxy *proxy, struct connection *connection, int op)
{
    connection->requests[place_of(op)]++;
    add_to_trace(proxy, op);
    pthread_cond_broadcast(&proxy->changed);
}

void fault_count_event(struct fault_proxy *proxy, struct connection *connection)
{
    connection->events++;
    add_to_trace(proxy, FAULT_OP_EVENT);
    pthread_cond_broadcast(&proxy->changed);
}

static long count_of(const struct connection *connection, int op)
{
    long sum = 0;

    if (op != FAULT_OP_EVERY)
        return connection->requests[place_of(op)];
    for (int i = 0; i < FAULT_OPS; i++) {
        if (i != place_of(FAULT_OP_CONNECT) && i != place_of(FAULT_OP_PING))
            sum += connection->requests[i];
    }
    return sum;
}

/* What a question is about; session 0 means all. */
struct question {
    int op;
    int64_t session_id;
};

typedef long counter(struct fault_proxy *proxy, const struct question *question);

static long count_requests(struct fault_proxy *proxy, const struct question *question)
{
    long sum = 0;

    for (const struct connection *c = proxy->connections; c; c = c->next) {
        if (question->session_id == 0 || question->session_id == c->session_id)
            sum += count_of(c, question->op);
    }
    return sum;
}

static long count_events(struct fault_proxy *proxy, const struct question *question)
{
    long sum = 0;

    for (const struct connection *c = proxy->connections; c; c = c->next) {
        if (question->session_id == 0 || question->session_id == c->session_id)
            sum += c->events;
    }
    return sum;
}

static long count_accepted(struct fault_proxy *proxy, const struct question *question)
{
    (void)question;
    return proxy->accepted;
}

static long count_fired(struct fault_proxy *proxy, const struct question *question)
{
    (void)question;
    return proxy->fired;
}

static long count_open(struct fault_proxy *proxy, const struct question *question)
{
    long count = 0;

    (void)question;
    for (const struct connection *c = proxy->connections; c; c = c->next)
        count += !c->is_closed;
    return count;
}

static long count_held(struct fault_proxy *proxy, const struct question *question)
{
    long count = 0;

    (void)question;
    for (const struct connection *c = proxy->connections; c; c = c->next) {
        for (int way = 0; way < DIRECTIONS; way++) {
            for (const struct packet *packet = c->lanes[way].first; packet; packet = packet->next)
                count += packet->is_held;
        }
    }
    return count;
}

static long ask(struct fault_proxy *proxy, counter *count, int op, int64_t session_id)
{
    struct question question = {op, session_id};
    long answer;

    pthread_mutex_lock(&proxy->mutex);
    answer = count(proxy, &question);
    pthread_mutex_unlock(&proxy->mutex);
    return answer;
}

long fault_proxy_requests(struct fault_proxy *proxy, int op)
{
    return ask(proxy, count_requests, op, 0);
}

long fault_proxy_session_requests(struct fault_proxy *proxy, int64_t session_id, int op)
{
    return ask(proxy, count_requests, op, session_id);
}

long fault_proxy_events(struct fault_proxy *proxy, int64_t session_id)
{
    return ask(proxy, count_events, 0, session_id);
}

int fault_proxy_accepted(struct fault_proxy *proxy)
{
    return (int)ask(proxy, count_accepted, 0, 0);
}

int fault_proxy_open_connections(struct fault_proxy *proxy)
{
    return (int)ask(proxy, count_open, 0, 0);
}

int fault_proxy_fired(struct fault_proxy *proxy)
{
    return (int)ask(proxy, count_fired, 0, 0);
}

long fault_proxy_connection_requests(struct fault_proxy *proxy, int connection, int op)
{
    long count = 0;
    int number;

    pthread_mutex_lock(&proxy->mutex);
    number = proxy->accepted;
    /* The newest stands first. */
    for (const struct connection *c = proxy->connections; c; c = c->next) {
        if (--number == connection)
            count = count_of(c, op);
    }
    pthread_mutex_unlock(&proxy->mutex);
    return count;
}

void fault_proxy_reset_counts(struct fault_proxy *proxy)
{
    pthread_mutex_lock(&proxy->mutex);
    for (struct connection *c = proxy->connections; c; c = c->next) {
        memset(c->requests, 0, sizeof(c->requests));
        c->events = 0;
    }
    proxy->trace_length = 0;
    pthread_mutex_unlock(&proxy->mutex);
}

static const char *name_of(int op)
{
    for (size_t i = 0; i < sizeof(op_names) / sizeof(op_names[0]); i++) {
        if (op_names[i].op == op)
            return op_names[i].name;
    }
    return "other";
}

void fault_proxy_trace(struct fault_proxy *proxy, char *out_text, size_t size)
{
    size_t length = 0;

    out_text[0] = '\0';
    pthread_mutex_lock(&proxy->mutex);
    for (int i = 0; i < proxy->trace_length && length < size; i++) {
        length += (size_t)snprintf(out_text + length, size - length, "%s%s", i > 0 ? " " : "",
                                   name_of(proxy->trace[i]));
    }
    pthread_mutex_unlock(&proxy->mutex);
}

struct wish {
    long n;
    bool is_exact;
};

static bool wait_for(struct fault_proxy *proxy, counter *count, int op, struct wish wish, int timeout_ms)
{
    struct timespec deadline = monotonic_deadline(timeout_ms);
    struct question question = {op, 0};
    bool is_fulfilled = false;
    int failure = 0;

    pthread_mutex_lock(&proxy->mutex);
    for (;;) {
        long now = count(proxy, &question);

        is_fulfilled = wish.is_exact ? now == wish.n : now >= wish.n;
        if (is_fulfilled || failure == ETIMEDOUT)
            break;
        failure = pthread_cond_timedwait(&proxy->changed, &proxy->mutex, &deadline);
    }
    pthread_mutex_unlock(&proxy->mutex);
    return is_fulfilled;
}

bool fault_proxy_wait_requests(struct fault_proxy *proxy, int op, long n, int timeout_ms)
{
    return wait_for(proxy, count_requests, op, (struct wish){n, false}, timeout_ms);
}

bool fault_proxy_wait_events(struct fault_proxy *proxy, long n, int timeout_ms)
{
    return wait_for(proxy, count_events, 0, (struct wish){n, false}, timeout_ms);
}

bool fault_proxy_wait_accepted(struct fault_proxy *proxy, int n, int timeout_ms)
{
    return wait_for(proxy, count_accepted, 0, (struct wish){n, false}, timeout_ms);
}

bool fault_proxy_wait_fired(struct fault_proxy *proxy, int n, int timeout_ms)
{
    return wait_for(proxy, count_fired, 0, (struct wish){n, false}, timeout_ms);
}

bool fault_proxy_wait_held(struct fault_proxy *proxy, int n, int timeout_ms)
{
    return wait_for(proxy, count_held, 0, (struct wish){n, true}, timeout_ms);
}

bool fault_proxy_wait_open_connections(struct fault_proxy *proxy, int n, int timeout_ms)
{
    return wait_for(proxy, count_open, 0, (struct wish){n, true}, timeout_ms);
}
