#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock_state.h"

enum { MOST_SESSIONS = 64, CLOSE_MS = 3000 };

struct stage stage;

static zklock_session *sessions[MOST_SESSIONS];
static int session_count;
static struct contender *contenders;

/* ---------------------------------------------------------------- the stage */

void stage_start_with(const struct zk_server_options *options)
{
    stage.server = zk_server_start(options);
    stage.proxy = fault_proxy_start(zk_server_port(stage.server));
    stage.observer = observer_open(zk_server_address(stage.server), 30000);
    CU_ASSERT_EQUAL(observer_create(stage.observer, "/stage", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage.observer, STAGE_PATH, "", 0, NULL), ZOK);
}

void stage_start_without_session(void)
{
    stage_start_with(NULL);
}

void stage_start(void)
{
    stage_start_with(NULL);
    stage.session = stage_open(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS);
    fault_proxy_reset_counts(stage.proxy);
}

static void free_contenders(void)
{
    while (contenders) {
        struct contender *contender = contenders;
        contenders = contender->next;
        contender_free_lock(contender);
        probe_clear(&contender->events);
        free(contender);
    }
}

void stage_end(void)
{
    if (stage.proxy) {
        fault_proxy_forget_faults(stage.proxy);
        fault_proxy_release(stage.proxy);
        fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    }
    free_contenders();
    while (session_count > 0)
        stage_close(sessions[session_count - 1], CLOSE_MS);
    observer_close(stage.observer);
    fault_proxy_free(stage.proxy);
    zk_server_free(stage.server);
    memset(&stage, 0, sizeof(stage));
}

/* ---------------------------------------------------------------- sessions */

zklock_session *stage_begin_with(const zklock_session_options *options)
{
    zklock_session *session = NULL;

    CU_ASSERT_TRUE_FATAL(session_count < MOST_SESSIONS);
    CU_ASSERT_EQUAL_FATAL(zklock_session_open(options, &session), ZKLOCK_OK);
    sessions[session_count++] = session;
    return session;
}

/* @thread the session's notifier */
static void show_line(void *arg, zklock_log_level level, const char *message)
{
    printf("\n%lld %s %d: %s", (long long)monotonic_ms(), (const char *)arg, (int)level, message);
}

zklock_session *stage_begin(const char *servers, unsigned timeout_ms)
{
    zklock_session_options options;

    zklock_session_options_init(&options);
    options.servers = servers;
    options.session_timeout_ms = timeout_ms;
    options.tick_time_ms = STAGE_TICK_MS;
    options.label = "stage";
    if (getenv("ZKLOCK_STAGE_LOG")) {
        options.log = show_line;
        options.log_arg = (void *)(session_count % 2 ? "odd" : "even");
        options.log_level = ZKLOCK_LOG_DEBUG;
    }
    return stage_begin_with(&options);
}

zklock_session *stage_open(const char *servers, unsigned timeout_ms)
{
    zklock_session *session = stage_begin(servers, timeout_ms);

    CU_ASSERT_EQUAL_FATAL(zklock_session_wait_connected(session, STAGE_LIMIT_MS), ZKLOCK_OK);
    return session;
}

zklock_session *stage_open_outside(void)
{
    return stage_open(zk_server_address(stage.server), STAGE_TIMEOUT_MS);
}

zklock_status stage_close(zklock_session *session, int64_t timeout_ms)
{
    int at = 0;

    while (at < session_count && sessions[at] != session)
        at++;
    CU_ASSERT_TRUE_FATAL(at < session_count);
    sessions[at] = sessions[--session_count];
    if (stage.session == session)
        stage.session = NULL;
    return zklock_session_close(session, timeout_ms);
}

void stage_fence(zklock_session *session)
{
    zklock_queue *queue = NULL;

    CU_ASSERT_EQUAL_FATAL(zklock_queue_read(session, "/stage/fence", STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    zklock_queue_free(queue);
}

int64_t stage_session_id(zklock_session *session)
{
    zklock_session_info info = {0};

    CU_ASSERT_EQUAL(zklock_session_info_get(session, &info), ZKLOCK_OK);
    return info.session_id;
}

long stage_requests(void)
{
    return fault_proxy_requests(stage.proxy, FAULT_OP_EVERY) - fault_proxy_requests(stage.proxy, FAULT_OP_MULTI);
}

/* ---------------------------------------------------------------- contenders */

/* @thread the session's notifier */
static void note_event(zklock *lock, const zklock_event *event, void *arg)
{
    struct contender *contender = arg;
    int count = probe_count(&contender->events);

    (void)lock;
    if (count < CONTENDER_EVENTS)
        contender->history[count] = *event;
    probe_note(&contender->events, event->kind);
}

struct contender *contender_new_with(zklock_session *session, const char *path, const zklock_options *options)
{
    struct contender *contender = calloc(1, sizeof(*contender));
    zklock_options own = *options;

    CU_ASSERT_PTR_NOT_NULL_FATAL(contender);
    contender->session = session;
    contender->next = contenders;
    contenders = contender;
    probe_init(&contender->events);
    if (!own.on_event) {
        own.on_event = note_event;
        own.event_arg = contender;
    }
    CU_ASSERT_EQUAL_FATAL(zklock_new(session, path, &own, &contender->lock), ZKLOCK_OK);
    return contender;
}

struct contender *contender_new(zklock_session *session, const char *path)
{
    zklock_options options;

    zklock_options_init(&options);
    return contender_new_with(session, path, &options);
}

void contender_free_lock(struct contender *contender)
{
    zklock_free(contender->lock);
    contender->lock = NULL;
}

void contender_hold(struct contender *contender)
{
    zklock_status status = zklock_acquire(contender->lock, STAGE_LIMIT_MS);
    char detail[256];

    zklock_detail(contender->lock, detail, sizeof(detail));
    if (status != ZKLOCK_OK)
        printf("\nnot acquired: %s, %s\n", zklock_status_name(status), detail);
    CU_ASSERT_EQUAL_FATAL(status, ZKLOCK_OK);
}

void contender_begin(struct contender *contender, int64_t timeout_ms)
{
    CU_ASSERT_EQUAL_FATAL(zklock_acquire_start(contender->lock, timeout_ms), ZKLOCK_OK);
}

enum zkl_state contender_state(struct contender *contender)
{
    enum zkl_state state = ZKL_NEW;

    zkl_session_lock(contender->session);
    if (contender->lock->attempt)
        state = contender->lock->attempt->machine.state;
    zkl_session_unlock(contender->session);
    return state;
}

struct awaited_state {
    struct contender *contender;
    enum zkl_state state;
};

static bool has_state(void *context)
{
    struct awaited_state *awaited = context;

    return contender_state(awaited->contender) == awaited->state;
}

void contender_await_state(struct contender *contender, enum zkl_state state)
{
    struct awaited_state awaited = {contender, state};
    bool is_there = eventually(has_state, &awaited, STAGE_LIMIT_MS);

    if (!is_there)
        printf("\nstate is %s instead of %s\n", zkl_state_name(contender_state(contender)), zkl_state_name(state));
    CU_ASSERT_TRUE_FATAL(is_there);
}

void contender_queue(struct contender *contender)
{
    contender_begin(contender, -1);
    contender_await_state(contender, ZKL_WAITING);
}

zklock_status contender_result(struct contender *contender)
{
    bool has_ended = probe_wait_value(&contender->events, ZKLOCK_EVENT_ENDED, STAGE_LIMIT_MS);

    CU_ASSERT_TRUE_FATAL(has_ended);
    return zklock_wait(contender->lock);
}

const zklock_event *contender_await_event(struct contender *contender, zklock_event_kind kind)
{
    bool has_come = probe_wait_value(&contender->events, kind, STAGE_LIMIT_MS);
    int count = probe_count(&contender->events);

    CU_ASSERT_TRUE_FATAL(has_come);
    for (int i = count < CONTENDER_EVENTS ? count - 1 : CONTENDER_EVENTS - 1; i >= 0; i--)
        if (contender->history[i].kind == kind)
            return &contender->history[i];
    CU_FAIL_FATAL("an event that is not in the history");
    return NULL;
}

bool contender_heard(struct contender *contender, zklock_event_kind kind)
{
    return probe_saw(&contender->events, kind);
}

uint64_t contender_token(struct contender *contender)
{
    uint64_t token = 0;

    CU_ASSERT_EQUAL(zklock_token(contender->lock, &token), ZKLOCK_OK);
    return token;
}

void contender_node(struct contender *contender, char out_path[OBSERVER_PATH_SIZE])
{
    char name[256];

    zklock_contender_name(contender->lock, name, sizeof(name));
    CU_ASSERT_NOT_EQUAL_FATAL(name[0], '\0');
    snprintf(out_path, OBSERVER_PATH_SIZE, "%s/%s", contender->lock->path, name);
}

/* ---------------------------------------------------------------- blocking calls */

static void *run_blocking_call(void *arg)
{
    struct blocking_call *call = arg;

    call->status = call->call(call->contender->lock, call->timeout_ms);
    probe_note(&call->done, call->status);
    return NULL;
}

void blocking_call_start(struct blocking_call *call, struct contender *contender,
                         zklock_status (*function)(zklock *, int64_t), int64_t timeout_ms)
{
    *call = (struct blocking_call){.contender = contender, .call = function, .timeout_ms = timeout_ms};
    probe_init(&call->done);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&call->thread, NULL, run_blocking_call, call), 0);
}

zklock_status blocking_call_join(struct blocking_call *call)
{
    bool has_ended = probe_wait_count(&call->done, 1, STAGE_LIMIT_MS);

    /* A test that went on would pull the lock from under the thread. */
    if (!has_ended)
        suite_abandon("a blocking call did not end");
    pthread_join(call->thread, NULL);
    probe_clear(&call->done);
    return call->status;
}
