/*
 * The heartbeat of a session, which earns the lease: a read, a sync and a quorum write in turn, or writes only when the
 * lease says so. One at a time. The write changes nothing: it is a multi of checks on the root and on own nodes in turn,
 * and so finds those that somebody deleted.
 */
#include <stdlib.h>
#include <string.h>

#include "session/session_state.h"

/* Own nodes in one beat: all of them in turn, without ever making a long request. */
#define MOST_OWN_NODES 64
/* A beat without an answer for this many session timeouts, on a connection that is said to live: it does not. */
#define STUCK_TIMEOUTS 2

struct zkl_beat_call {
    struct zkl_call call;
    zklock_session *session;
    enum zkl_beat_kind kind;
    const char *paths[MOST_OWN_NODES + 1]; /* the own ones owned */
    int path_count;
    int first_own;
};

static void free_beat(struct zkl_beat_call *beat)
{
    for (int i = beat->first_own; i < beat->path_count; i++)
        free((char *)beat->paths[i]);
    free(beat);
}

/* Which own nodes this beat checks: the members' in turn. */
static void collect_own_nodes(zklock_session *session, struct zkl_beat_call *beat)
{
    unsigned skip = session->member_count > 0 ? session->heartbeat.turn % (unsigned)session->member_count : 0;
    struct zkl_member *member = session->members;

    while (member && skip-- > 0)
        member = member->next;
    for (int seen = 0; seen < session->member_count && beat->path_count <= MOST_OWN_NODES; seen++) {
        if (!member)
            member = session->members;
        const char *path = member->class->own_path ? member->class->own_path(member) : NULL;
        char *copy = path ? strdup(path) : NULL;
        if (copy)
            beat->paths[beat->path_count++] = copy;
        member = member->next;
        session->heartbeat.turn++;
    }
}

int64_t zkl_heartbeat_interval(const zklock_session *session)
{
    return zkl_lease_interval(&session->lease, session->member_count > 0, session->had_lease);
}

static void on_beat_answered(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale);

static bool send_beat(zklock_session *session, struct zkl_beat_call *beat)
{
    static const enum zkl_op ops[] = {
        [ZKL_BEAT_READ] = ZKL_OP_EXISTS, [ZKL_BEAT_SYNC] = ZKL_OP_SYNC, [ZKL_BEAT_WRITE] = ZKL_OP_CHECK};
    struct zkl_request request = {.op = ops[beat->kind], .path = "/"};

    if (beat->kind == ZKL_BEAT_WRITE) {
        if (!session->heartbeat.root_is_denied)
            beat->paths[beat->path_count++] = "/";
        beat->first_own = beat->path_count;
        collect_own_nodes(session, beat);
        if (beat->path_count == 0)
            return false;
        request.paths = beat->paths;
        request.path_count = beat->path_count;
    }
    return zkl_session_submit(session, &beat->call, &request);
}

static void beat(zklock_session *session, int64_t now_ns)
{
    struct zkl_heartbeat *heartbeat = &session->heartbeat;
    struct zkl_beat_call *out = calloc(1, sizeof *out);

    heartbeat->next_ns = now_ns + zkl_heartbeat_interval(session);
    if (!out)
        return;
    out->call.on_reply = on_beat_answered;
    out->session = session;
    out->kind = zkl_lease_next_beat(&session->lease, session->member_count > 0, now_ns);
    if (!send_beat(session, out)) {
        free_beat(out);
        return;
    }
    heartbeat->out = out;
}

static void own_node_gone(zklock_session *session, const char *path)
{
    for (struct zkl_member *member = session->members; member; member = member->next) {
        const char *own = member->class->own_path ? member->class->own_path(member) : NULL;
        if (own && strcmp(own, path) == 0) {
            member->class->on_own_gone(member);
            return;
        }
    }
}

static void answering_again(zklock_session *session)
{
    if (!session->heartbeat.is_overdue)
        return;
    session->heartbeat.is_overdue = false;
    zkl_session_tell_members(session, ZKL_LINK_ANSWERING);
}

static void on_beat_answered(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale)
{
    struct zkl_beat_call *answered = (struct zkl_beat_call *)call;
    zklock_session *session = answered->session;
    struct zkl_heartbeat *heartbeat = &session->heartbeat;
    int64_t now_ns = zkl_session_now(session);

    if (is_stale || heartbeat->out != answered) {
        free_beat(answered);
        return;
    }
    heartbeat->out = NULL;
    if (reply->code == ZKL_CODE_OK || (answered->kind == ZKL_BEAT_READ && reply->code != ZKL_CODE_UNKNOWN)) {
        zkl_lease_beat(&session->lease, answered->kind, call->sent_ns, now_ns);
        zkl_session_review_lease(session, now_ns);
        heartbeat->next_ns = call->sent_ns + zkl_heartbeat_interval(session);
    } else if (reply->code == ZKL_CODE_NO_NODE && reply->failed_index >= answered->first_own &&
               reply->failed_index < answered->path_count) {
        own_node_gone(session, answered->paths[reply->failed_index]);
        heartbeat->next_ns = now_ns;
    } else if (reply->code == ZKL_CODE_NO_AUTH && reply->failed_index == 0 && answered->first_own == 1) {
        heartbeat->root_is_denied = true;
        heartbeat->next_ns = now_ns;
    }
    if (reply->code != ZKL_CODE_UNKNOWN)
        answering_again(session);
    free_beat(answered);
    zkl_session_plan(session, heartbeat->next_ns);
}

void zkl_heartbeat_connected(zklock_session *session, int64_t now_ns, bool is_fresh)
{
    struct zkl_heartbeat *heartbeat = &session->heartbeat;

    /* The members hear of the connection itself that the silence is over; the next one is to be told again. */
    heartbeat->is_overdue = false;
    /* After a reconnect the first answered write earns the time since the last sign of life; a fresh session has its
     * full timeout, and something better to do first. */
    heartbeat->next_ns = now_ns + (is_fresh && session->had_lease ? zkl_heartbeat_interval(session) : 0);
    zkl_session_plan(session, heartbeat->next_ns);
}

void zkl_heartbeat_forget(zklock_session *session)
{
    session->heartbeat.out = NULL;
    session->heartbeat.is_overdue = false;
}

int64_t zkl_heartbeat_turn(zklock_session *session, int64_t now_ns)
{
    struct zkl_heartbeat *heartbeat = &session->heartbeat;

    if (session->phase != ZKL_PHASE_CONNECTED || session->rule == ZKL_RULE_CHEAP)
        return ZKL_NEVER;
    if (heartbeat->out) {
        int64_t overdue_ns = heartbeat->out->call.sent_ns + zkl_heartbeat_interval(session);
        int64_t stuck_ns = heartbeat->out->call.sent_ns + STUCK_TIMEOUTS * session->timeout_ms * ZKL_NS_PER_MS;
        if (now_ns >= stuck_ns) {
            zkl_session_log(session, ZKLOCK_LOG_WARNING, "the server stays silent on a connection that is said to "
                                                         "live; opening a fresh session");
            zkl_handle_renew(session);
            return ZKL_NEVER;
        }
        if (now_ns < overdue_ns)
            return overdue_ns;
        if (!heartbeat->is_overdue) {
            heartbeat->is_overdue = true;
            zkl_session_tell_members(session, ZKL_LINK_SILENT);
        }
        return stuck_ns;
    }
    /* A beat that was planned while nobody needed the session comes too late for those who do now. */
    int64_t soonest_ns = now_ns + zkl_heartbeat_interval(session);
    if (heartbeat->next_ns > soonest_ns)
        heartbeat->next_ns = soonest_ns;
    if (now_ns >= heartbeat->next_ns)
        beat(session, now_ns);
    return heartbeat->out ? heartbeat->out->call.sent_ns + zkl_heartbeat_interval(session) : heartbeat->next_ns;
}
