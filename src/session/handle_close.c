/* The closes of handles: they block, so each runs on a thread of its own. */
#include <stdlib.h>

#include "session/session_state.h"

/* @thread one of its own  @locks none; takes the session's mutex */
static void close_job(void *arg)
{
    struct zkl_handle *handle = arg;
    zklock_session *session = handle->session;

    session->driver->close(handle->store);
    zkl_session_lock(session);
    session->closing_handles--;
    pthread_cond_broadcast(&session->changed);
    free(handle);
    zkl_session_unref_unlock(session);
}

void zkl_handle_close_due(zklock_session *session)
{
    while (session->unclosed) {
        struct zkl_handle *handle = session->unclosed;
        struct zkl_handle *next = handle->next_unclosed;
        if (session->runtime->run_detached(session->runtime, close_job, handle) != ZKLOCK_OK)
            return;
        session->unclosed = next;
    }
}

void zkl_handle_close_rest(zklock_session *session)
{
    zkl_session_lock(session);
    while (session->unclosed) {
        struct zkl_handle *handle = session->unclosed;
        session->unclosed = handle->next_unclosed;
        zkl_session_unlock(session);
        close_job(handle);
        zkl_session_lock(session);
    }
    zkl_session_unlock(session);
}

void zkl_handle_close(struct zkl_handle *handle)
{
    zklock_session *session = handle->session;

    session->closing_handles++;
    handle->next_unclosed = session->unclosed;
    session->unclosed = handle;
    zkl_handle_close_due(session);
}
