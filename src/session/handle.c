/*
 * The handle of the client library: look the hosts up, open, connect, give up, open again. What blocks runs on threads
 * of its own; the session's mutex is held only to take the result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/address.h"
#include "session/session_state.h"

/* How long a fresh handle may take to connect before the next address is tried: a server that accepts and stays silent
 * would cost the client library two thirds of the session timeout. Doubled with each round over all addresses. */
#define FIRST_WINDOW_MS 600
#define FIRST_PAUSE_MS 100
#define LONGEST_PAUSE_MS 2000
#define PROBE_MS 300
/* Disconnected for this many session timeouts, the session is dead or its servers have moved: look them up again. */
#define GIVE_UP_TIMEOUTS 3

static uint64_t random_below(zklock_session *session, uint64_t bound)
{
    uint64_t bits;

    session->runtime->random(session->runtime, &bits, sizeof bits);
    return bits % bound;
}

/* ---------------------------------------------------------------- giving up */

void zkl_handle_drop(zklock_session *session)
{
    struct zkl_handle *handle = session->handle;

    session->handle = NULL;
    session->session_id = 0;
    zkl_heartbeat_forget(session);
    zkl_zombies_clear(session);
    zkl_room_clear(session);
    session->is_spoilt = false;
    if (handle)
        zkl_handle_close(handle);
}

/* ---------------------------------------------------------------- what the store reports */

void zkl_handle_answers(zklock_session *session, bool is_fresh)
{
    int64_t now_ns = zkl_session_now(session);

    session->phase = ZKL_PHASE_CONNECTED;
    session->tries = 0;
    session->detail[0] = '\0';
    session->is_refused = false;
    zkl_session_log(session, ZKLOCK_LOG_INFO, "%s, session 0x%llx, session timeout %u ms",
                    is_fresh ? "connected" : "connected again", (unsigned long long)session->session_id,
                    session->timeout_ms);
    zkl_session_review_lease(session, now_ns);
    zkl_heartbeat_connected(session, now_ns, is_fresh);
    zkl_zombies_connected(session, now_ns);
    zkl_session_tell_members(session, ZKL_LINK_CONNECTED);
    pthread_cond_broadcast(&session->changed);
}

static void on_connected(zklock_session *session, int64_t session_id, unsigned timeout_ms)
{
    bool is_fresh = session->session_id == 0;

    session->session_id = session_id;
    session->timeout_ms = timeout_ms;
    if (is_fresh && session->driver->key)
        session->driver->key(session->handle->store, &session->key);
    zkl_lease_connected(&session->lease, zkl_session_now(session), timeout_ms * ZKL_NS_PER_MS);
    if (session->handle->is_unproved)
        zkl_replace_prove(session);
    else
        zkl_handle_answers(session, is_fresh);
}

static void on_disconnected(zklock_session *session)
{
    int64_t now_ns = zkl_session_now(session);

    if (session->phase == ZKL_PHASE_DISCONNECTED)
        zkl_lease_disconnected(&session->lease, now_ns); /* before it had proved anything */
    if (session->phase != ZKL_PHASE_CONNECTED)
        return;
    session->phase = ZKL_PHASE_DISCONNECTED;
    zkl_replace_plan(session, now_ns);
    session->retry_ns = now_ns + GIVE_UP_TIMEOUTS * session->timeout_ms * ZKL_NS_PER_MS;
    snprintf(session->detail, sizeof session->detail, "the connection was lost");
    zkl_lease_disconnected(&session->lease, now_ns);
    zkl_session_log(session, ZKLOCK_LOG_INFO, "disconnected; the lease runs for another %lld ms",
                    (long long)(zkl_session_lease_remaining(session) / ZKL_NS_PER_MS));
    zkl_session_tell_members(session, ZKL_LINK_DISCONNECTED);
    zkl_session_plan(session, 0);
}

static void pause_before_retry(zklock_session *session);

/* Everybody who waits is told at once; the session goes on trying, as servers and what they know of us may change. */
static void on_refused(zklock_session *session)
{
    char reason[256];
    bool is_news = !session->is_refused;

    session->is_refused = true;
    zkl_session_describe(session, reason, sizeof reason);
    if (is_news)
        zkl_session_log(session, ZKLOCK_LOG_WARNING, "%s", reason);
    zkl_session_tell_members(session, ZKL_LINK_REFUSED);
    zkl_handle_drop(session);
    session->phase = ZKL_PHASE_DISCONNECTED; /* whoever is told has nobody to ask */
    session->lease.until_ns = 0;
    session->had_lease = false;
    zkl_session_tell_members(session, ZKL_LINK_EXPIRED);
    if (!session->is_closing)
        pause_before_retry(session);
    pthread_cond_broadcast(&session->changed);
}

/* @thread the store's  @locks takes the session's mutex */
static void on_state(void *ctx, enum zkl_store_state state, int64_t session_id, unsigned timeout_ms)
{
    struct zkl_handle *handle = ctx;
    zklock_session *session = handle->session;

    zkl_session_lock(session);
    if (handle != session->handle) {
        zkl_session_unlock(session);
        return;
    }
    zkl_session_ref(session);
    switch (state) {
    case ZKL_STORE_CONNECTED:
        on_connected(session, session_id, timeout_ms);
        break;
    case ZKL_STORE_DISCONNECTED:
        on_disconnected(session);
        break;
    case ZKL_STORE_EXPIRED:
        zkl_session_log(session, ZKLOCK_LOG_INFO, "the server has ended the session; opening a fresh one");
        zkl_handle_renew(session);
        break;
    case ZKL_STORE_FAILED:
        on_refused(session);
        break;
    }
    zkl_session_unref_unlock(session);
}

/* @thread the store's  @locks takes the session's mutex */
static void on_node(void *ctx, enum zkl_node_event event, const char *path)
{
    struct zkl_handle *handle = ctx;
    zklock_session *session = handle->session;
    struct zkl_walk walk;
    struct zkl_member *member;

    zkl_session_lock(session);
    if (handle != session->handle || event == ZKL_NODE_OTHER) {
        zkl_session_unlock(session);
        return;
    }
    zkl_session_ref(session);
    zkl_room_watch_fired(session, path);
    zkl_walk_begin(session, &walk);
    while ((member = zkl_walk_on(session)) != NULL)
        member->class->on_node(member, event, path);
    zkl_session_unref_unlock(session);
}

/* ---------------------------------------------------------------- opening */

static void pause_before_retry(zklock_session *session)
{
    int64_t pause_ms = FIRST_PAUSE_MS << (session->tries < 5 ? session->tries : 5);

    session->tries++;
    if (pause_ms > LONGEST_PAUSE_MS)
        pause_ms = LONGEST_PAUSE_MS;
    pause_ms = pause_ms / 2 + (int64_t)random_below(session, (uint64_t)pause_ms);
    session->phase = ZKL_PHASE_PAUSING;
    session->retry_ns = zkl_session_now(session) + pause_ms * ZKL_NS_PER_MS;
    zkl_session_plan(session, session->retry_ns);
}

int64_t zkl_handle_window(zklock_session *session)
{
    int address_count = zkl_addresses_count(session->addresses);
    int64_t longest_ns = session->asked_timeout_ms * ZKL_NS_PER_MS * 2 / 3;
    int rounds = session->tries / address_count;
    int64_t window = FIRST_WINDOW_MS * ZKL_NS_PER_MS << (rounds < 6 ? rounds : 6);

    return zkl_jitter(session->runtime, zkl_time_earlier(window, longest_ns));
}

zklock_status zkl_handle_open(zklock_session *session, const zklock_session_key *key)
{
    static const struct zkl_store_sink sink = {.on_state = on_state, .on_node = on_node};
    int address_count = zkl_addresses_count(session->addresses);
    char *addresses = zkl_addresses_rotate(session->addresses, session->tries % address_count);
    struct zkl_handle *handle = calloc(1, sizeof *handle);
    zklock_status status = ZKLOCK_NO_MEMORY;

    if (addresses && handle) {
        struct zkl_store_options options = {
            .addresses = addresses,
            .timeout_ms = session->asked_timeout_ms,
            .key = key,
            .credentials = &session->credentials,
            .acl = session->acl,
            .tls = session->tls,
            .sink = &sink,
            .ctx = handle,
        };
        handle->session = session;
        handle->is_unproved = key != NULL;
        if (key)
            zkl_lease_resume(&session->lease, zkl_session_now(session));
        else
            zkl_lease_open(&session->lease, session->rule, session->tick_ns, zkl_session_now(session));
        status = session->driver->open(session->driver, &options, &handle->store);
    }
    free(addresses);
    if (status != ZKLOCK_OK) {
        free(handle);
        return status;
    }
    zkl_session_ref(session);
    session->handle = handle;
    return ZKLOCK_OK;
}

static zklock_status open_fresh(zklock_session *session)
{
    zklock_status status = zkl_handle_open(session, NULL);

    if (status == ZKLOCK_OK) {
        session->phase = ZKL_PHASE_OPENING;
        session->retry_ns = zkl_session_now(session) + zkl_handle_window(session);
        zkl_session_plan(session, session->retry_ns);
    }
    return status;
}

/* What a look-up brings. */
struct resolution {
    zklock_session *session; /* counted */
    bool with_probe;
    zklock_status status;
    char *addresses;
    char detail[512];
};

/* Clients that read the same list shall not all begin with the same server. */
static void start_anywhere(zklock_session *session)
{
    uint64_t first = random_below(session, (uint64_t)zkl_addresses_count(session->addresses));
    char *rotated = zkl_addresses_rotate(session->addresses, (int)first);

    if (rotated) {
        free(session->addresses);
        session->addresses = rotated;
    }
}

static void take_resolution(zklock_session *session, struct resolution *resolution)
{
    if (session->is_closing)
        return;
    if (resolution->status == ZKLOCK_OK) {
        bool is_same_try = session->tries > 0 && session->addresses;
        char *old = session->addresses;
        if (!is_same_try || zkl_addresses_count(old) != zkl_addresses_count(resolution->addresses)) {
            session->addresses = resolution->addresses;
            resolution->addresses = old;
            start_anywhere(session);
        }
        zkl_session_log(session, ZKLOCK_LOG_INFO, "resolved %s to %s", session->servers.hosts, session->addresses);
        resolution->status = open_fresh(session);
        if (resolution->status != ZKLOCK_OK)
            snprintf(resolution->detail, sizeof resolution->detail, "cannot open a connection: %s",
                     zklock_status_text(resolution->status));
    }
    if (resolution->detail[0])
        memcpy(session->detail, resolution->detail, sizeof session->detail);
    if (resolution->status != ZKLOCK_OK) {
        zkl_session_log(session, ZKLOCK_LOG_INFO, "%s", session->detail);
        pause_before_retry(session);
    }
}

/* @thread one of its own  @locks none; takes the session's mutex for the result */
static void resolve_job(void *arg)
{
    struct resolution *resolution = arg;
    zklock_session *session = resolution->session;
    struct zkl_store_driver *driver = session->driver;

    resolution->status = driver->resolve(driver, session->servers.hosts, &resolution->addresses, resolution->detail,
                                         sizeof resolution->detail);
    if (resolution->status == ZKLOCK_OK && resolution->with_probe)
        driver->probe(driver, resolution->addresses, PROBE_MS, resolution->detail, sizeof resolution->detail);
    zkl_session_lock(session);
    take_resolution(session, resolution);
    pthread_cond_broadcast(&session->changed);
    zkl_session_unref_unlock(session);
    free(resolution->addresses);
    free(resolution);
}

void zkl_handle_resolve(zklock_session *session, bool with_probe)
{
    struct resolution *resolution = calloc(1, sizeof *resolution);

    if (resolution) {
        resolution->session = session;
        resolution->with_probe = with_probe;
        zkl_session_ref(session);
        session->phase = ZKL_PHASE_RESOLVING;
        if (session->runtime->run_detached(session->runtime, resolve_job, resolution) == ZKLOCK_OK)
            /* cppcheck-suppress memleak ; the job owns it now */
            return;
        session->refs--;
        free(resolution);
    }
    snprintf(session->detail, sizeof session->detail, "no memory or no thread to look the servers up with");
    pause_before_retry(session);
}

void zkl_handle_renew(zklock_session *session)
{
    zkl_handle_drop(session);
    session->tries = 0; /* the servers may have other addresses by now */
    session->phase = ZKL_PHASE_DISCONNECTED; /* whoever is told has nobody to ask */
    session->lease.until_ns = 0;
    session->had_lease = false;
    zkl_session_tell_members(session, ZKL_LINK_EXPIRED);
    if (!session->is_closing)
        zkl_handle_resolve(session, false);
}

/* ---------------------------------------------------------------- time */

/* Another look at the closes that found no thread. */
#define UNCLOSED_PAUSE_NS ZKL_NS_PER_S

static int64_t phase_turn(zklock_session *session, int64_t now_ns)
{
    if (session->is_closing)
        return ZKL_NEVER;
    switch (session->phase) {
    case ZKL_PHASE_PAUSING:
        if (now_ns >= session->retry_ns)
            zkl_handle_resolve(session, false);
        break;
    case ZKL_PHASE_OPENING:
        if (now_ns >= session->retry_ns) {
            session->tries++;
            zkl_handle_drop(session);
            zkl_handle_resolve(session, true);
        }
        break;
    case ZKL_PHASE_DISCONNECTED:
        if (now_ns >= session->retry_ns)
            zkl_handle_renew(session);
        else
            return zkl_time_earlier(session->retry_ns, zkl_replace_turn(session, now_ns));
        break;
    case ZKL_PHASE_RESOLVING:
    case ZKL_PHASE_CONNECTED:
    case ZKL_PHASE_CLOSED:
        return ZKL_NEVER;
    }
    bool is_timed = session->phase == ZKL_PHASE_PAUSING || session->phase == ZKL_PHASE_OPENING ||
                    session->phase == ZKL_PHASE_DISCONNECTED;
    return is_timed ? session->retry_ns : ZKL_NEVER;
}

int64_t zkl_handle_turn(zklock_session *session, int64_t now_ns)
{
    zkl_handle_close_due(session);
    int64_t next_ns = phase_turn(session, now_ns);
    int64_t unclosed_ns = session->unclosed ? now_ns + UNCLOSED_PAUSE_NS : ZKL_NEVER;
    return next_ns < unclosed_ns ? next_ns : unclosed_ns;
}
