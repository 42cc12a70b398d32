/* A session's members, calls, lease and timer. */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "session/session_state.h"

void zkl_session_lock(zklock_session *session)
{
    int before = zkl_cancel_forbid();

    pthread_mutex_lock(&session->mutex);
    session->cancel_state = before;
}

void zkl_session_unlock(zklock_session *session)
{
    int before = session->cancel_state;

    pthread_mutex_unlock(&session->mutex);
    zkl_cancel_restore(before);
}

void zkl_session_wait(zklock_session *session, pthread_cond_t *changed)
{
    int before = session->cancel_state;

    pthread_cond_wait(changed, &session->mutex);
    session->cancel_state = before;
}

void zkl_session_ref(zklock_session *session)
{
    session->refs++;
}

static void destroy(zklock_session *session)
{
    pthread_cond_destroy(&session->changed);
    pthread_cond_destroy(&session->notifier.idle);
    if (session->notifier.fd >= 0)
        close(session->notifier.fd);
    pthread_mutex_destroy(&session->mutex);
    zkl_servers_clear(&session->servers);
    free(session->addresses);
    free(session->label);
    zkl_credentials_clear(&session->credentials);
    free(session->tls);
    free(session);
}

void zkl_session_unref_unlock(zklock_session *session)
{
    bool is_last = --session->refs == 0;
    int before = session->cancel_state;

    pthread_mutex_unlock(&session->mutex);
    if (is_last)
        destroy(session);
    zkl_cancel_restore(before);
}

/* ---------------------------------------------------------------- members */

void zkl_session_join_behind(zklock_session *session, struct zkl_member *member, struct zkl_member *other)
{
    member->wake_ns = ZKL_NEVER;
    member->previous = other;
    member->next = other ? other->next : session->members;
    if (member->previous)
        member->previous->next = member;
    else
        session->members = member;
    if (member->next)
        member->next->previous = member;
    else
        session->last_member = member;
    session->member_count++;
    /* Nobody needed the session so far: beats come more often from now on, and at once where a lease is to be earned. */
    if (session->member_count == 1)
        zkl_session_plan(session, session->had_lease ? zkl_session_now(session) + zkl_heartbeat_interval(session) : 0);
}

void zkl_session_join(zklock_session *session, struct zkl_member *member)
{
    /* At the end: after a reconnect each sends in its turn, what is to go before what comes in its place. */
    zkl_session_join_behind(session, member, session->last_member);
}

/* Whether this session would be missed; by those who are easy, it would not. */
static bool is_needed(const zklock_session *session)
{
    const struct zkl_member *member = session->members;

    while (member && member->class->is_easy)
        member = member->next;
    return member != NULL;
}

void zkl_session_leave(zklock_session *session, struct zkl_member *member)
{
    for (struct zkl_walk *walk = session->walk; walk; walk = walk->outer) {
        if (walk->next == member)
            walk->next = member->next;
    }
    if (member->previous)
        member->previous->next = member->next;
    else
        session->members = member->next;
    if (member->next)
        member->next->previous = member->previous;
    else
        session->last_member = member->previous;
    session->member_count--;
    pthread_cond_broadcast(&session->changed);
    if (!is_needed(session) && (session->is_spoilt || session->zombies || zkl_room_is_crowded(session)))
        zkl_session_plan(session, 0);
}

void zkl_walk_begin(zklock_session *session, struct zkl_walk *walk)
{
    *walk = (struct zkl_walk){session->members, session->walk};
    session->walk = walk;
}

struct zkl_member *zkl_walk_on(zklock_session *session)
{
    struct zkl_member *member = session->walk->next;

    if (member)
        session->walk->next = member->next;
    else
        session->walk = session->walk->outer;
    return member;
}

void zkl_session_tell_members(zklock_session *session, enum zkl_link link)
{
    struct zkl_walk walk;
    struct zkl_member *member;

    zkl_walk_begin(session, &walk);
    while ((member = zkl_walk_on(session)) != NULL)
        member->class->on_link(member, link);
}

void zkl_session_wake_member(zklock_session *session, struct zkl_member *member, int64_t when_ns)
{
    member->wake_ns = when_ns;
    zkl_session_plan(session, when_ns);
}

static void wake_members(zklock_session *session, int64_t now_ns)
{
    struct zkl_walk walk;
    struct zkl_member *member;

    zkl_walk_begin(session, &walk);
    while ((member = zkl_walk_on(session)) != NULL) {
        if (member->wake_ns > now_ns)
            continue;
        member->wake_ns = ZKL_NEVER;
        member->class->on_time(member, now_ns);
    }
}

/* ---------------------------------------------------------------- calls */

/* @thread the store's  @locks takes the session's mutex */
static void on_reply(void *arg, const struct zkl_reply *reply)
{
    struct zkl_call *call = arg;
    struct zkl_handle *handle = call->handle;
    zklock_session *session = handle->session;

    zkl_session_lock(session);
    bool is_stale = handle != session->handle;
    handle->outstanding--;
    zkl_session_ref(session);
    if (!is_stale) {
        int64_t now_ns = zkl_session_now(session);
        zkl_lease_answered(&session->lease, call->sent_ns, now_ns, reply->code != ZKL_CODE_UNKNOWN);
        if (call->is_write && reply->code == ZKL_CODE_OK)
            zkl_lease_wrote(&session->lease, call->sent_ns, now_ns);
        zkl_session_review_lease(session, now_ns);
        if (session->is_closing && handle->outstanding == 0)
            pthread_cond_broadcast(&session->changed);
    }
    call->on_reply(call, reply, is_stale);
    zkl_session_unref_unlock(session);
}

static bool is_quorum_write(enum zkl_op op)
{
    return op == ZKL_OP_CREATE || op == ZKL_OP_DELETE || op == ZKL_OP_SET || op == ZKL_OP_CHECK ||
           op == ZKL_OP_REPLACE;
}

bool zkl_session_send(zklock_session *session, struct zkl_call *call, const struct zkl_request *request)
{
    call->handle = session->handle;
    call->is_write = is_quorum_write(request->op);
    call->sent_ns = zkl_session_now(session);
    if (!session->driver->submit(session->handle->store, request, on_reply, call))
        return false;
    session->handle->outstanding++;
    return true;
}

bool zkl_session_submit(zklock_session *session, struct zkl_call *call, const struct zkl_request *request)
{
    return session->phase == ZKL_PHASE_CONNECTED && zkl_session_send(session, call, request);
}

/* ---------------------------------------------------------------- lease */

void zkl_session_review_lease(zklock_session *session, int64_t now_ns)
{
    bool has_lease = zkl_lease_check(&session->lease, now_ns);

    if (has_lease == session->had_lease)
        return;
    session->had_lease = has_lease;
    if (!has_lease && session->member_count > 0)
        zkl_session_log(session, ZKLOCK_LOG_INFO, "the lease is over: no proof in time that the session still lives");
    zkl_session_tell_members(session, has_lease ? ZKL_LINK_LEASED : ZKL_LINK_LAPSED);
    zkl_session_plan(session, 0);
}

bool zkl_session_has_lease(zklock_session *session)
{
    int64_t now_ns = zkl_session_now(session);

    if (session->lease.until_ns > now_ns)
        return true;
    /* The members are told by the timer: the caller may be one of them. */
    if (session->had_lease)
        zkl_session_plan(session, 0);
    return false;
}

int64_t zkl_session_lease_remaining(const zklock_session *session)
{
    int64_t remaining_ns = zkl_lease_remaining(&session->lease, zkl_session_now(session));
    int64_t timeout_ns = session->timeout_ms * ZKL_NS_PER_MS;

    return remaining_ns < timeout_ns ? remaining_ns : timeout_ns;
}

/* ---------------------------------------------------------------- the timer */

void zkl_session_plan(zklock_session *session, int64_t when_ns)
{
    if (when_ns >= session->planned_ns || !session->timer)
        return;
    session->planned_ns = when_ns;
    session->runtime->worker_wake(session->timer, when_ns);
}

/* The only contender here stands at the front for want of a lease, which takes this session longer than a fresh one. */
static bool holds_up_its_only_contender(const zklock_session *session)
{
    int contenders = 0;

    if (session->phase != ZKL_PHASE_CONNECTED || session->lease.lapsed_ns == 0)
        return false;
    for (struct zkl_member *member = session->members; member; member = member->next) {
        if (member->class->is_easy)
            continue;
        if (!member->class->is_stranded || !member->class->is_stranded(member))
            return false;
        contenders += member->class->own_path != NULL;
    }
    return contenders == 1;
}

/* Whether a fresh session would serve better, now that nobody depends on this one. */
static bool should_renew(const zklock_session *session)
{
    bool is_of_no_use = session->is_spoilt || session->zombies || session->lease.lapsed_ns > 0 ||
                        zkl_room_is_crowded(session);

    bool is_free = (!is_needed(session) && is_of_no_use) || holds_up_its_only_contender(session);

    return is_free && !session->is_closing && session->handle && session->session_id != 0;
}

int64_t zkl_session_turn(void *arg)
{
    zklock_session *session = arg;

    zkl_session_lock(session);
    int64_t now_ns = zkl_session_now(session);
    /* Wishes made from now on stand beside what this turn returns. */
    session->planned_ns = ZKL_NEVER;
    zkl_session_review_lease(session, now_ns);
    if (should_renew(session))
        zkl_handle_renew(session);
    int64_t next_ns = zkl_handle_turn(session, now_ns);
    next_ns = zkl_time_earlier(next_ns, zkl_heartbeat_turn(session, now_ns));
    next_ns = zkl_time_earlier(next_ns, zkl_zombies_turn(session, now_ns));
    wake_members(session, now_ns);
    for (struct zkl_member *member = session->members; member; member = member->next)
        next_ns = zkl_time_earlier(next_ns, member->wake_ns);
    if (session->lease.until_ns > now_ns)
        next_ns = zkl_time_earlier(next_ns, session->lease.until_ns);
    session->planned_ns = zkl_time_earlier(session->planned_ns, next_ns);
    zkl_session_unlock(session);
    return next_ns;
}

/* ---------------------------------------------------------------- what the lock layer reads */

bool zkl_session_is_connected(const zklock_session *session)
{
    return session->phase == ZKL_PHASE_CONNECTED;
}

bool zkl_session_is_closing(const zklock_session *session)
{
    return session->is_closing;
}

bool zkl_session_is_refused(const zklock_session *session)
{
    return session->is_refused;
}

int64_t zkl_session_id(const zklock_session *session)
{
    return session->session_id;
}

int64_t zkl_session_now(const zklock_session *session)
{
    return session->runtime->now_ns(session->runtime);
}

unsigned zkl_session_timeout_ms(const zklock_session *session)
{
    return session->timeout_ms;
}

const char *zkl_session_chroot(const zklock_session *session)
{
    return session->servers.chroot;
}

const char *zkl_session_label(const zklock_session *session)
{
    return session->label;
}

const char *zkl_session_user(const zklock_session *session)
{
    return session->user;
}

struct zkl_runtime *zkl_session_runtime(const zklock_session *session)
{
    return session->runtime;
}

bool zkl_session_is_own(const zklock_session *session)
{
    return session->pid == getpid();
}

void zkl_session_spoil(zklock_session *session)
{
    session->is_spoilt = true;
}
