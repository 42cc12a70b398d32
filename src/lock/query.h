/*
 * Asking and waiting for the answer, for the inspecting calls: a query has a limit, sends batches of requests, and
 * survives its caller, since answers can come after the limit.
 */
#ifndef ZKL_QUERY_H
#define ZKL_QUERY_H

#include <pthread.h>

#include "session/session.h"

struct zkl_query {
    struct zkl_member member;
    zklock_session *session;
    pthread_cond_t changed;
    int refs;
    int pending;           /* answers still to come */
    bool limit_has_passed;
    bool is_closed;
    bool is_disturbed;     /* the connection changed since zkl_query_expect() */
    const char *watched;   /* full path of interest; NULL: none */
    bool watch_has_fired;
};

/* What one request brought. Free it before the query is closed; without its answer it then goes when that comes. */
struct zkl_asked {
    struct zkl_call call;
    struct zkl_query *query;
    bool is_answered;
    bool is_orphan;
    enum zkl_code code;
    struct zkl_stat stat;
    char *data;            /* terminated for convenience; NULL: none */
    size_t data_size;
    char **children;
    int child_count;
};

/* @locks takes the session's mutex, which is held until zkl_query_close(), but for the time of waiting */
zklock_status zkl_query_open(zklock_session *session, int64_t timeout_ms, struct zkl_query **out_query);
void zkl_query_close(struct zkl_query *query);

/* Waits for a connection. OK, NO_SERVER at the limit, CLOSED. */
zklock_status zkl_query_connect(struct zkl_query *query);
/* Sends one request; its answer is in the result after zkl_query_settle(). NULL: not sent. */
struct zkl_asked *zkl_query_send(struct zkl_query *query, const struct zkl_request *request);
/* Waits until every answer has come. OK, TIMEOUT, CLOSED. */
zklock_status zkl_query_settle(struct zkl_query *query);
/* From now on, an event of the node at `path` counts; say so before the watch is planted. `path` stays the caller's. */
void zkl_query_expect(struct zkl_query *query, const char *path);
/* Waits until that node changes or goes, the connection changes, or `longest_ns` are over. OK, TIMEOUT, CLOSED. */
zklock_status zkl_query_await(struct zkl_query *query, int64_t longest_ns);
/* Lets a moment pass before the same is asked again. OK, TIMEOUT, CLOSED. */
zklock_status zkl_query_pause(struct zkl_query *query);
void zkl_asked_free(struct zkl_asked *asked);

#endif
