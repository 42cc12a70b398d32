/*
 * Going on with a session on another handle. The client library gives each server two thirds of the session timeout; one
 * that accepts and stays silent would eat what a lease has left. So a handle that does not connect again within a window
 * is replaced by one that begins with the next address, under the same session.
 *
 *  - The old one is retired first: it can neither take the session back nor end it by its close. One that has connected
 *    meanwhile is kept, and so is one that owes an answer: what is not known yet is still to be told.
 *  - The new one has forgotten what it has seen, and a server with an older state accepts it. So the session stays
 *    disconnected for all members until a quorum write was answered on it, on whichever connection.
 *  - Watches went with the old one: members are told before they hear of the connection.
 */
#include <stdlib.h>

#include "session/session_state.h"

/* Another look at a handle that could not be retired. */
#define LOOK_NS (50 * ZKL_NS_PER_MS)

void zkl_replace_plan(zklock_session *session, int64_t now_ns)
{
    session->replace_ns = now_ns + zkl_handle_window(session);
}

/* Whether the session has no handle any more that could go on with it. */
static bool leave_handle(zklock_session *session)
{
    struct zkl_handle *handle = session->handle;

    if (!handle)
        return true;
    if (handle->outstanding > 0 || !session->driver->retire(handle->store))
        return false;
    session->handle = NULL;
    zkl_heartbeat_forget(session);
    zkl_room_clear(session);
    zkl_handle_close(handle);
    zkl_session_tell_members(session, ZKL_LINK_REPLACED);
    return true;
}

int64_t zkl_replace_turn(zklock_session *session, int64_t now_ns)
{
    if (!session->driver->retire)
        return ZKL_NEVER;
    if (now_ns < session->replace_ns)
        return session->replace_ns;
    if (!leave_handle(session)) {
        if (session->handle->is_unproved && session->handle->outstanding == 0 && session->lease.connected_ns > 0)
            zkl_replace_prove(session);
        session->replace_ns = now_ns + zkl_jitter(session->runtime, LOOK_NS);
        return session->replace_ns;
    }
    session->tries++;
    zkl_session_log(session, ZKLOCK_LOG_INFO, "no connection in time; going on with the session at the next server");
    zkl_handle_open(session, &session->key);
    zkl_replace_plan(session, now_ns);
    return session->replace_ns;
}

static void on_proved(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale)
{
    struct zkl_handle *handle = call->handle;
    bool is_news = !is_stale && handle->is_unproved && handle->session->phase == ZKL_PHASE_DISCONNECTED;

    free(call);
    /* An error went through the quorum like a success. */
    if (!is_news || reply->code == ZKL_CODE_UNKNOWN)
        return;
    handle->is_unproved = false;
    zkl_handle_answers(handle->session, false);
}

void zkl_replace_prove(zklock_session *session)
{
    static const char *const paths[] = {"/"};
    const struct zkl_request request = {.op = ZKL_OP_CHECK, .paths = paths, .path_count = 1};
    struct zkl_call *call = calloc(1, sizeof *call);

    if (call)
        call->on_reply = on_proved;
    /* Without memory the next turn asks. */
    if (call && !zkl_session_send(session, call, &request))
        free(call);
}
