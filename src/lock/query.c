#include "lock/query.h"

#include <stdlib.h>
#include <string.h>

#define PAUSE_NS (20 * ZKL_NS_PER_MS)

struct pausing_query {
    struct zkl_query query;
    int64_t limit_ns;
    int64_t pause_ns;
    bool pause_is_over;
};

static void on_link(struct zkl_member *member, enum zkl_link link)
{
    struct zkl_query *query = (struct zkl_query *)member;

    query->is_closed |= link == ZKL_LINK_CLOSING;
    query->is_disturbed |= link == ZKL_LINK_CONNECTED || link == ZKL_LINK_DISCONNECTED || link == ZKL_LINK_EXPIRED;
    pthread_cond_broadcast(&query->changed);
}

static void on_node(struct zkl_member *member, enum zkl_node_event event, const char *path)
{
    struct zkl_query *query = (struct zkl_query *)member;

    (void)event;
    if (!query->watched || strcmp(query->watched, path) != 0)
        return;
    query->watch_has_fired = true;
    pthread_cond_broadcast(&query->changed);
}

static void plan(struct pausing_query *self)
{
    int64_t wake_ns = self->limit_ns < self->pause_ns ? self->limit_ns : self->pause_ns;

    if (wake_ns != ZKL_NEVER)
        zkl_session_wake_member(self->query.session, &self->query.member, wake_ns);
}

static void on_time(struct zkl_member *member, int64_t now_ns)
{
    struct pausing_query *self = (struct pausing_query *)member;

    if (now_ns >= self->limit_ns) {
        self->limit_ns = ZKL_NEVER;
        self->query.limit_has_passed = true;
    }
    if (now_ns >= self->pause_ns) {
        self->pause_ns = ZKL_NEVER;
        self->pause_is_over = true;
    }
    pthread_cond_broadcast(&self->query.changed);
    plan(self);
}

static const struct zkl_member_class query_class = {.on_link = on_link, .on_node = on_node, .on_time = on_time};

zklock_status zkl_query_open(zklock_session *session, int64_t timeout_ms, struct zkl_query **out_query)
{
    if (!session)
        return ZKLOCK_BAD_ARGUMENT;
    if (!zkl_session_is_own(session))
        return ZKLOCK_FORKED;
    if (zkl_is_notifier_thread())
        return ZKLOCK_DEADLOCK;
    struct pausing_query *self = calloc(1, sizeof *self);
    if (!self)
        return ZKLOCK_NO_MEMORY;
    pthread_cond_init(&self->query.changed, NULL);
    self->query.member.class = &query_class;
    self->query.session = session;
    self->query.refs = 1;
    zkl_session_lock(session);
    zkl_session_join(session, &self->query.member);
    self->query.is_closed = zkl_session_is_closing(session);
    self->limit_ns = zkl_time_after(zkl_session_now(session), timeout_ms);
    self->pause_ns = ZKL_NEVER;
    plan(self);
    *out_query = &self->query;
    return ZKLOCK_OK;
}

static void unref(struct zkl_query *query)
{
    if (--query->refs > 0)
        return;
    pthread_cond_destroy(&query->changed);
    free(query);
}

void zkl_query_close(struct zkl_query *query)
{
    zklock_session *session = query->session;

    zkl_session_leave(session, &query->member);
    unref(query);
    zkl_session_unlock(session);
}

static void wait_for_change(struct zkl_query *query)
{
    zkl_session_wait(query->session, &query->changed);
}

static zklock_status verdict(const struct zkl_query *query, zklock_status at_limit)
{
    if (query->is_closed)
        return ZKLOCK_CLOSED;
    if (zkl_session_is_refused(query->session))
        return ZKLOCK_DENIED;
    return query->limit_has_passed ? at_limit : ZKLOCK_OK;
}

zklock_status zkl_query_connect(struct zkl_query *query)
{
    while (!zkl_session_is_connected(query->session) && verdict(query, ZKLOCK_NO_SERVER) == ZKLOCK_OK)
        wait_for_change(query);
    return verdict(query, zkl_session_is_connected(query->session) ? ZKLOCK_TIMEOUT : ZKLOCK_NO_SERVER);
}

/* ---------------------------------------------------------------- requests */

void zkl_asked_free(struct zkl_asked *asked)
{
    if (!asked)
        return;
    if (!asked->is_answered) {
        asked->is_orphan = true;
        return;
    }
    for (int i = 0; i < asked->child_count; i++)
        free(asked->children[i]);
    free(asked->children);
    free(asked->data);
    free(asked);
}

/* False: no memory. */
static bool keep_reply(struct zkl_asked *asked, const struct zkl_reply *reply)
{
    asked->stat = reply->stat;
    if (reply->data) {
        asked->data_size = (size_t)reply->data_size;
        asked->data = malloc(asked->data_size + 1);
        if (!asked->data)
            return false;
        memcpy(asked->data, reply->data, asked->data_size);
        asked->data[asked->data_size] = '\0';
    }
    if (reply->child_count == 0)
        return true;
    asked->children = calloc((size_t)reply->child_count, sizeof *asked->children);
    if (!asked->children)
        return false;
    for (; asked->child_count < reply->child_count; asked->child_count++)
        if (!(asked->children[asked->child_count] = strdup(reply->children[asked->child_count])))
            return false;
    return true;
}

static void on_reply(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale)
{
    struct zkl_asked *asked = (struct zkl_asked *)call;
    struct zkl_query *query = asked->query;

    asked->is_answered = true;
    asked->code = is_stale ? ZKL_CODE_UNKNOWN : reply->code;
    if (asked->is_orphan)
        zkl_asked_free(asked);
    else if (asked->code == ZKL_CODE_OK && !keep_reply(asked, reply))
        asked->code = ZKL_CODE_UNKNOWN;
    query->pending--;
    pthread_cond_broadcast(&query->changed);
    unref(query);
}

struct zkl_asked *zkl_query_send(struct zkl_query *query, const struct zkl_request *request)
{
    struct zkl_asked *asked = calloc(1, sizeof *asked);

    if (!asked)
        return NULL;
    asked->call.on_reply = on_reply;
    asked->query = query;
    if (!zkl_session_submit(query->session, &asked->call, request)) {
        free(asked);
        return NULL;
    }
    query->refs++;
    query->pending++;
    return asked;
}

zklock_status zkl_query_settle(struct zkl_query *query)
{
    while (query->pending > 0 && verdict(query, ZKLOCK_TIMEOUT) == ZKLOCK_OK)
        wait_for_change(query);
    return query->pending > 0 ? verdict(query, ZKLOCK_TIMEOUT) : ZKLOCK_OK;
}

void zkl_query_expect(struct zkl_query *query, const char *path)
{
    query->watched = path;
    query->watch_has_fired = false;
    query->is_disturbed = false;
}

static void begin_pause(struct pausing_query *self, int64_t pause_ns)
{
    int64_t now_ns = zkl_session_now(self->query.session);

    self->pause_is_over = false;
    self->pause_ns = pause_ns < ZKL_NEVER - now_ns ? now_ns + pause_ns : ZKL_NEVER;
    plan(self);
}

zklock_status zkl_query_await(struct zkl_query *query, int64_t longest_ns)
{
    struct pausing_query *self = (struct pausing_query *)query;

    begin_pause(self, longest_ns);
    while (!query->watch_has_fired && !query->is_disturbed && !self->pause_is_over &&
           verdict(query, ZKLOCK_TIMEOUT) == ZKLOCK_OK)
        wait_for_change(query);
    query->watched = NULL;
    return verdict(query, ZKLOCK_TIMEOUT);
}

zklock_status zkl_query_pause(struct zkl_query *query)
{
    struct pausing_query *self = (struct pausing_query *)query;

    begin_pause(self, PAUSE_NS);
    while (!self->pause_is_over && verdict(query, ZKLOCK_TIMEOUT) == ZKLOCK_OK)
        wait_for_change(query);
    return verdict(query, ZKLOCK_TIMEOUT);
}
