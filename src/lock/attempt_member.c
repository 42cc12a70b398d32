/* An attempt as a member of the session: what it hears of it, and of its nodes. */
#include <string.h>

#include "lock/permit.h"

/* They went with the session, or with its handle. */
static void forget_watches(struct zkl_attempt *attempt)
{
    attempt->ahead_is_watched = false;
    if (attempt->permit)
        attempt->permit->limit_is_watched = false;
}

static void tell_silence(struct zkl_attempt *attempt, bool is_silent)
{
    if (attempt->lock)
        zkl_lock_on_silence(attempt->lock, attempt, is_silent);
}

static void refuse(struct zkl_attempt *attempt)
{
    zkl_session_explain(attempt->session, &attempt->detail);
    zkl_attempt_give_up(attempt, ZKL_OUTCOME_DENIED);
}

static void on_link(struct zkl_member *member, enum zkl_link link)
{
    struct zkl_attempt *attempt = (struct zkl_attempt *)member;

    switch (link) {
    case ZKL_LINK_CONNECTED:
        tell_silence(attempt, false);
        zkl_attempt_tell(attempt, ZKL_EV_CONNECTED);
        break;
    case ZKL_LINK_DISCONNECTED:
        tell_silence(attempt, true);
        zkl_attempt_tell(attempt, ZKL_EV_DISCONNECTED);
        break;
    case ZKL_LINK_REPLACED:
        forget_watches(attempt);
        zkl_attempt_tell(attempt, ZKL_EV_OWN_CHANGED); /* ask for the own node again, and for the one ahead */
        break;
    case ZKL_LINK_EXPIRED:
        forget_watches(attempt);
        zkl_attempt_tell(attempt, ZKL_EV_EXPIRED);
        break;
    case ZKL_LINK_LEASED:
        zkl_attempt_tell(attempt, ZKL_EV_LEASED);
        break;
    case ZKL_LINK_LAPSED:
        zkl_attempt_tell(attempt, ZKL_EV_LAPSED);
        break;
    case ZKL_LINK_SILENT:
    case ZKL_LINK_ANSWERING:
        tell_silence(attempt, link == ZKL_LINK_SILENT);
        break;
    case ZKL_LINK_REFUSED:
        if (attempt->result == ZKLOCK_PENDING)
            refuse(attempt);
        break;
    case ZKL_LINK_CLOSING:
        zkl_attempt_give_up(attempt, ZKL_OUTCOME_CLOSED);
        break;
    }
}

static void on_node(struct zkl_member *member, enum zkl_node_event event, const char *path)
{
    struct zkl_attempt *attempt = (struct zkl_attempt *)member;

    if (attempt->machine.node_is_known && strcmp(path, attempt->own_path) == 0) {
        zkl_attempt_tell(attempt, event == ZKL_NODE_DELETED ? ZKL_EV_OWN_GONE : ZKL_EV_OWN_CHANGED);
    } else if (attempt->ahead_path && strcmp(path, attempt->ahead_path) == 0) {
        bool is_gone = event == ZKL_NODE_DELETED || event == ZKL_NODE_CHILDREN;
        attempt->ahead_is_watched = false;
        if (event == ZKL_NODE_DELETED)
            zkl_session_log(attempt->session, ZKLOCK_LOG_INFO, "%s: woken: %s is gone", attempt->path,
                            strrchr(path, '/') + 1);
        zkl_attempt_tell(attempt, is_gone ? ZKL_EV_AHEAD_GONE : ZKL_EV_AHEAD_CHANGED);
    } else if (attempt->permit && strcmp(path, attempt->permit->path) == 0) {
        attempt->permit->limit_is_watched = false;
        zkl_attempt_tell(attempt, ZKL_EV_AHEAD_GONE);
    }
}

/* A node whose delete was sent is left out, alone or within a downgrade: its absence is no news. */
static const char *own_path(struct zkl_member *member)
{
    const struct zkl_attempt *attempt = (const struct zkl_attempt *)member;

    bool may_go = attempt->machine.state == ZKL_DELETING || attempt->machine.goes_unreleased ||
                  zkl_machine_has_two_names(&attempt->machine);

    return attempt->machine.node_is_known && !may_go ? attempt->own_path : NULL;
}

static void on_own_gone(struct zkl_member *member)
{
    zkl_attempt_tell((struct zkl_attempt *)member, ZKL_EV_OWN_GONE);
}

static void on_time(struct zkl_member *member, int64_t now_ns)
{
    struct zkl_attempt *attempt = (struct zkl_attempt *)member;

    zkl_attempt_ref(attempt);
    if (now_ns >= attempt->retry_ns) {
        attempt->retry_ns = ZKL_NEVER;
        zkl_attempt_tell(attempt, ZKL_EV_RETRY);
    }
    if (now_ns >= attempt->look_ns)
        zkl_attempt_tell(attempt, ZKL_EV_LOOK);
    if (zkl_attempt_is_overdue(attempt))
        zkl_attempt_tell(attempt, ZKL_EV_HOLD_OVER);
    if (now_ns >= attempt->limit_ns) {
        attempt->limit_ns = ZKL_NEVER;
        attempt->limit_has_passed = true;
        if (attempt->result == ZKLOCK_PENDING)
            zkl_attempt_give_up(attempt, ZKL_OUTCOME_LIMIT);
        else if (attempt->lock)
            zkl_lock_on_limit(attempt->lock);
    }
    if (attempt->machine.state != ZKL_GONE)
        zkl_attempt_plan(attempt);
    zkl_attempt_unref(attempt);
}

static bool is_stranded(struct zkl_member *member)
{
    const struct zkl_attempt *attempt = (const struct zkl_attempt *)member;

    return attempt->machine.state == ZKL_WAITING && !attempt->machine.is_behind && attempt->result == ZKLOCK_PENDING;
}

const struct zkl_member_class zkl_attempt_class = {
    .on_link = on_link,
    .on_node = on_node,
    .own_path = own_path,
    .on_own_gone = on_own_gone,
    .on_time = on_time,
    .is_stranded = is_stranded,
};
