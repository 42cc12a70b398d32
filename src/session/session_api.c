/* The public calls on a session: open, close, wait, look. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/options.h"
#include "session/session_open.h"
#include "session/session_state.h"

#define DEFAULT_TIMEOUT_MS 10000
#define LONGEST_TIMEOUT_MS 3600000
#define DEFAULT_CLOSE_MS 3000
/* What the options had in the first version. */
#define OLDEST_OPTIONS offsetof(zklock_session_options, auth_scheme)
/* Beyond the caller's limit: for requests that are under way already, and for the end of the session itself. */
#define DRAIN_MS 500
#define END_MS 1000
/* Of a server that has left the rest without an answer: time to send it the end. */
#define SILENT_END_MS 100

void zklock_session_options_init_sized(zklock_session_options *options, size_t size)
{
    zklock_session_options defaults = {
        .size = sizeof defaults,
        .servers = ZKL_DEFAULT_SERVERS,
        .session_timeout_ms = DEFAULT_TIMEOUT_MS,
        .log_level = ZKLOCK_LOG_WARNING,
    };

    if (options)
        zkl_options_fill(options, size, &defaults, sizeof defaults);
}

static bool options_are_valid(const zklock_session_options *options)
{
    bool has_credentials = options->auth_scheme != NULL;

    return options->session_timeout_ms > 0 && options->session_timeout_ms <= LONGEST_TIMEOUT_MS &&
           options->tick_time_ms <= LONGEST_TIMEOUT_MS && (unsigned)options->lease <= ZKLOCK_LEASE_CHEAP &&
           zkl_credentials_are_valid(options->auth_scheme, options->auth, options->auth_size) &&
           (unsigned)options->acl <= ZKLOCK_ACL_CREATOR_READ && (has_credentials || options->acl == ZKLOCK_ACL_OPEN);
}

static enum zkl_lease_rule rule_of(zklock_lease lease)
{
    switch (lease) {
    case ZKLOCK_LEASE_STANDALONE:
        return ZKL_RULE_STANDALONE;
    case ZKLOCK_LEASE_CHEAP:
        return ZKL_RULE_CHEAP;
    case ZKLOCK_LEASE_STRICT:
        break;
    }
    return ZKL_RULE_STRICT;
}

/* Once a session: the user database may be on the network. */
static void name_user(zklock_session *session)
{
    char buffer[4096];
    struct passwd entry;
    struct passwd *found = NULL;

    if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) == 0 && found)
        snprintf(session->user, sizeof session->user, "%s", found->pw_name);
    else
        snprintf(session->user, sizeof session->user, "%u", (unsigned)geteuid());
}

static zklock_status fill(zklock_session *session, const zklock_session_options *options)
{
    const char *servers = options->servers ? options->servers : ZKL_DEFAULT_SERVERS;
    const char *label = options->label ? options->label : program_invocation_short_name;

    session->refs = 1;
    session->pid = getpid();
    session->asked_timeout_ms = options->session_timeout_ms;
    session->timeout_ms = options->session_timeout_ms;
    session->rule = rule_of(options->lease);
    session->tick_ns = options->tick_time_ms * ZKL_NS_PER_MS;
    session->log = options->log;
    session->log_arg = options->log_arg;
    session->log_level = options->log_level;
    session->planned_ns = ZKL_NEVER;
    session->acl = options->acl;
    name_user(session);
    session->label = strdup(label);
    session->tls = options->tls ? strdup(options->tls) : NULL;
    if (!session->label || (options->tls && !session->tls) ||
        !zkl_credentials_copy(&session->credentials, options->auth_scheme, options->auth, options->auth_size))
        return ZKLOCK_NO_MEMORY;
    return zkl_servers_parse(servers, &session->servers, NULL, 0);
}

static zklock_status start_threads(zklock_session *session, bool by_dispatch)
{
    zklock_status status = zkl_notifier_start(session, by_dispatch);

    if (status == ZKLOCK_OK)
        status = session->runtime->worker_start(session->runtime, "zklock-timer", zkl_session_turn, session,
                                                &session->timer);
    return status;
}

zklock_status zkl_session_open_with(const zklock_session_options *given, struct zkl_runtime *runtime,
                                    struct zkl_store_driver *driver, zklock_session **out_session)
{
    zklock_session_options options;

    zklock_session_options_init(&options);
    if (given && !zkl_options_take(&options, sizeof options, given, OLDEST_OPTIONS))
        return ZKLOCK_BAD_ARGUMENT;
    if (!out_session || !options_are_valid(&options))
        return ZKLOCK_BAD_ARGUMENT;
    if (options.tls && !(driver->has_tls && driver->has_tls()))
        return ZKLOCK_NO_TLS;
    zklock_session *session = calloc(1, sizeof *session);
    if (!session)
        return ZKLOCK_NO_MEMORY;
    session->runtime = runtime;
    session->driver = driver;
    session->notifier.fd = -1;
    pthread_mutex_init(&session->mutex, NULL);
    pthread_cond_init(&session->changed, NULL);
    pthread_cond_init(&session->notifier.idle, NULL);
    zklock_status status = fill(session, &options);
    if (status == ZKLOCK_OK)
        status = start_threads(session, options.by_dispatch);
    if (status != ZKLOCK_OK) {
        /* Nobody else knows of the session yet. */
        if (session->notifier.worker)
            runtime->worker_stop(session->notifier.worker);
        session->notifier.worker = NULL;
        zkl_session_lock(session);
        zkl_session_unref_unlock(session);
        return status;
    }
    zkl_session_lock(session);
    zkl_handle_resolve(session, false);
    zkl_session_unlock(session);
    *out_session = session;
    return ZKLOCK_OK;
}

zklock_status zklock_session_open(const zklock_session_options *options, zklock_session **out_session)
{
    int before = zkl_cancel_forbid();
    zklock_status status =
        zkl_session_open_with(options, zkl_runtime_posix(), zkl_store_driver_zookeeper(), out_session);

    zkl_cancel_restore(before);
    return status;
}

bool zklock_has_tls(void)
{
    return zkl_store_driver_zookeeper()->has_tls();
}

/* ---------------------------------------------------------------- waiting */

/* Wakes whoever waits on `changed` when its limit has come. */
struct limit {
    struct zkl_member member;
    zklock_session *session;
    bool has_passed;
};

static void on_limit(struct zkl_member *member, int64_t now_ns)
{
    struct limit *limit = (struct limit *)member;

    (void)now_ns;
    limit->has_passed = true;
    pthread_cond_broadcast(&limit->session->changed);
}

static void ignore_link(struct zkl_member *member, enum zkl_link link)
{
    (void)member;
    (void)link;
}

static void ignore_node(struct zkl_member *member, enum zkl_node_event event, const char *path)
{
    (void)member;
    (void)event;
    (void)path;
}

/* Waits until `is_done(session)` or the limit. @locks expects the mutex, gives it up while waiting */
static bool wait_until(zklock_session *session, bool (*is_done)(const zklock_session *), int64_t timeout_ms)
{
    static const struct zkl_member_class class = {
        .on_link = ignore_link, .on_node = ignore_node, .on_time = on_limit};
    struct limit limit = {.member.class = &class, .session = session};

    zkl_session_join(session, &limit.member);
    if (timeout_ms >= 0)
        zkl_session_wake_member(session, &limit.member,
                                zkl_time_after(zkl_session_now(session), timeout_ms));
    while (!is_done(session) && !limit.has_passed)
        zkl_session_wait(session, &session->changed);
    bool is_done_now = is_done(session);
    zkl_session_leave(session, &limit.member);
    return is_done_now;
}

static bool is_connected_or_in_vain(const zklock_session *session)
{
    return session->phase == ZKL_PHASE_CONNECTED || session->is_closing || session->is_refused;
}

zklock_status zklock_session_wait_connected(zklock_session *session, int64_t timeout_ms)
{
    if (!session)
        return ZKLOCK_BAD_ARGUMENT;
    if (!zkl_session_is_own(session))
        return ZKLOCK_FORKED;
    if (zkl_is_notifier_thread())
        return ZKLOCK_DEADLOCK;
    zkl_session_lock(session);
    zklock_status status = ZKLOCK_NO_SERVER;
    if (wait_until(session, is_connected_or_in_vain, timeout_ms))
        status = session->is_refused ? ZKLOCK_DENIED : ZKLOCK_OK;
    if (session->is_closing)
        status = ZKLOCK_CLOSED;
    zkl_session_unlock(session);
    return status;
}

zklock_status zklock_session_info_get_sized(zklock_session *session, zklock_session_info *out_info, size_t size)
{
    if (!session || !out_info)
        return ZKLOCK_BAD_ARGUMENT;
    if (!zkl_session_is_own(session))
        return ZKLOCK_FORKED;
    zkl_session_lock(session);
    zklock_session_info info = {
        .is_connected = session->phase == ZKL_PHASE_CONNECTED,
        .session_id = session->session_id,
        .session_timeout_ms = session->timeout_ms,
        .lease_remaining_ms = zkl_session_lease_remaining(session) / ZKL_NS_PER_MS,
    };
    zkl_session_unlock(session);
    memset(out_info, 0, size);
    memcpy(out_info, &info, size < sizeof info ? size : sizeof info);
    return ZKLOCK_OK;
}

zklock_status zklock_session_key_get(zklock_session *session, zklock_session_key *out_key)
{
    zklock_status status = ZKLOCK_NO_SERVER;

    if (!session || !out_key)
        return ZKLOCK_BAD_ARGUMENT;
    if (!zkl_session_is_own(session))
        return ZKLOCK_FORKED;
    zkl_session_lock(session);
    if (session->session_id != 0) {
        *out_key = session->key;
        status = ZKLOCK_OK;
    }
    zkl_session_unlock(session);
    return status;
}

static const char *phase_text(const zklock_session *session)
{
    switch (session->phase) {
    case ZKL_PHASE_OPENING:
        return "no server has answered yet";
    case ZKL_PHASE_CONNECTED:
        return session->heartbeat.is_overdue ? "the server does not answer" : "";
    case ZKL_PHASE_RESOLVING:
    case ZKL_PHASE_PAUSING:
    case ZKL_PHASE_DISCONNECTED:
    case ZKL_PHASE_CLOSED:
        break;
    }
    return "";
}

void zkl_session_describe(const zklock_session *session, char *buffer, size_t size)
{
    if (session->is_refused)
        snprintf(buffer, size, "authentication failed: the servers do not accept these credentials of the scheme %s",
                 session->credentials.scheme);
    else if (!session->detail[0] && session->phase == ZKL_PHASE_RESOLVING)
        snprintf(buffer, size, "still looking up %s", session->servers.hosts);
    else
        snprintf(buffer, size, "%s", session->detail[0] ? session->detail : phase_text(session));
}

void zkl_session_explain(const zklock_session *session, struct zkl_detail *detail)
{
    char line[ZKL_DETAIL_SIZE];

    zkl_session_describe(session, line, sizeof line);
    zkl_detail_say(detail, "%s", line);
}

void zklock_session_detail(zklock_session *session, char *buffer, size_t size)
{
    if (!buffer)
        size = 0;
    if (size > 0)
        buffer[0] = '\0';
    if (!session || !zkl_session_is_own(session))
        return;
    zkl_session_lock(session);
    zkl_session_describe(session, buffer, size);
    zkl_session_unlock(session);
}

/* ---------------------------------------------------------------- closing */

static bool has_no_members(const zklock_session *session)
{
    return session->member_count <= 1; /* the limit that waits */
}

static bool has_drained(const zklock_session *session)
{
    return !session->handle || session->handle->outstanding == 0 || session->phase != ZKL_PHASE_CONNECTED;
}

static bool has_closed_handles(const zklock_session *session)
{
    return session->closing_handles == 0;
}

/* Where the contenders' deletes have waited for an answer in vain, that time counts. */
static int64_t drain_limit_ms(bool is_clean, int64_t waited_ms)
{
    if (is_clean)
        return DRAIN_MS;
    return waited_ms < DRAIN_MS ? DRAIN_MS - waited_ms : 0;
}

/* @locks expects the mutex */
static zklock_status end_session(zklock_session *session, int64_t timeout_ms)
{
    session->is_closing = true;
    pthread_cond_broadcast(&session->changed);
    zkl_session_tell_members(session, ZKL_LINK_CLOSING);
    bool is_clean = wait_until(session, has_no_members, timeout_ms);
    bool has_drained_in_time = wait_until(session, has_drained, drain_limit_ms(is_clean, timeout_ms));
    /* What only the end of the session removes is gone when the server hears of it, which it does from a quiet handle. */
    bool is_ended = session->phase == ZKL_PHASE_CONNECTED && has_drained_in_time;
    bool needs_end = session->zombies || session->is_spoilt;
    bool has_session = session->session_id != 0;
    zkl_handle_drop(session);
    session->phase = ZKL_PHASE_CLOSED;
    zkl_session_tell_members(session, ZKL_LINK_EXPIRED);
    bool has_closed_in_time = wait_until(session, has_closed_handles, has_drained_in_time ? END_MS : SILENT_END_MS);
    bool is_left_clean = !has_session || (is_clean && (!needs_end || (is_ended && has_closed_in_time)));
    return is_left_clean ? ZKLOCK_OK : ZKLOCK_UNCONFIRMED;
}

static zklock_status close_session(zklock_session *session, int64_t timeout_ms)
{
    zkl_session_lock(session);
    zklock_status status = end_session(session, timeout_ms);
    struct zkl_worker *timer = session->timer;
    session->timer = NULL;
    zkl_session_unlock(session);
    session->runtime->worker_stop(timer);
    zkl_handle_close_rest(session);
    zkl_notifier_stop(session);
    zkl_session_lock(session);
    zkl_session_unref_unlock(session);
    return status;
}

zklock_status zklock_session_close(zklock_session *session, int64_t timeout_ms)
{
    if (!session)
        return ZKLOCK_OK;
    if (!zkl_session_is_own(session))
        return ZKLOCK_FORKED;
    if (zkl_is_notifier_thread())
        return ZKLOCK_DEADLOCK;
    int before = zkl_cancel_forbid();
    zklock_status status = close_session(session, timeout_ms < 0 ? DEFAULT_CLOSE_MS : timeout_ms);
    zkl_cancel_restore(before);
    return status;
}
