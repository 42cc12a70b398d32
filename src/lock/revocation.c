#include "lock/revocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK ",\"revoked\":true}"

static bool is_text(const char *data, size_t size, const char *text)
{
    return data && size == strlen(text) && memcmp(data, text, size) == 0;
}

bool zkl_revocation_is(const char *data, size_t size)
{
    return is_text(data, size, ZKL_REVOCATION_OF_CURATOR) || is_text(data, size, ZKL_REVOCATION_OF_RECIPE);
}

static void on_written(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale)
{
    (void)reply;
    (void)is_stale;
    free(call);
}

/* The payload ends with a brace. NULL: no memory. */
static char *marked(const char *payload)
{
    size_t size = strlen(payload);
    char *text = malloc(size + sizeof MARK);

    if (text)
        sprintf(text, "%.*s%s", (int)size - 1, payload, MARK);
    return text;
}

/* An answer that is lost is no matter: the request is then seen again when the watch is planted again. */
static void write_back(struct zkl_attempt *attempt)
{
    struct zkl_call *call = calloc(1, sizeof *call);
    char *payload = call ? marked(attempt->payload) : NULL;

    if (!payload) {
        free(call);
        return;
    }
    call->on_reply = on_written;
    struct zkl_request set = {
        .op = ZKL_OP_SET, .path = attempt->own_path, .data = payload, .data_size = (int)strlen(payload)};
    if (!zkl_session_submit(attempt->session, call, &set))
        free(call);
    free(payload);
}

void zkl_revocation_look(struct zkl_attempt *attempt, const struct zkl_reply *own)
{
    if (!own->data || !zkl_revocation_is(own->data, (size_t)own->data_size))
        return;
    zkl_session_log(attempt->session, ZKLOCK_LOG_INFO, "%s: somebody asks to let go", attempt->path);
    write_back(attempt);
    if (attempt->lock)
        zkl_lock_on_revocation(attempt->lock);
}
