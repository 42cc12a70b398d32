#include <string.h>

#include "payload.h"
#include "safe_text.h"
#include "status.h"

enum { TEXT_SIZE = 4096 };

/* JSON escapes what is odd; only what is no UTF-8 has no place in it. */
static json_t *string_of(const char *text)
{
    json_t *string = json_string(text);
    char safe[TEXT_SIZE];

    if (string)
        return string;
    safe_text(text, strlen(text), safe, sizeof(safe));
    return json_string(safe);
}

static json_t *text_or_null(const char *text)
{
    return text[0] ? string_of(text) : json_null();
}

/* Numbers of 64 bits go as text: many readers of JSON have only doubles. */
static json_t *token_text(uint64_t token)
{
    return json_sprintf("%llu", (unsigned long long)token);
}

static json_t *contender_json(const zklock_contender *contender, size_t place, int64_t now_ms)
{
    struct payload payload;
    int64_t age_ms = now_ms - contender->created_ms;

    payload_read(contender, &payload);
    return json_pack("{s:i, s:b, s:o, s:i, s:o, s:o, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:I}",
                     "place", (int)place, "is_holder", contender->is_holder,
                     "name", string_of(contender->name), "number", (int)contender->number,
                     "token", token_text(contender->token),
                     "session", json_sprintf("0x%llx", (unsigned long long)contender->session_id),
                     "created_ms", (json_int_t)contender->created_ms,
                     "age_ms", (json_int_t)(age_ms > 0 ? age_ms : 0),
                     "mode", status_mode_name(contender->mode),
                     "host", text_or_null(payload.host), "pid", text_or_null(payload.pid),
                     "user", text_or_null(payload.user), "label", text_or_null(payload.label),
                     "payload_bytes", (json_int_t)contender->payload_size);
}

json_t *status_json(const char *path, const zklock_queue *queue, int64_t now_ms)
{
    json_t *contenders = json_array();
    bool is_held = false;

    for (size_t i = 0; i < queue->count; i++) {
        is_held = is_held || queue->contenders[i]->is_holder;
        json_array_append_new(contenders, contender_json(queue->contenders[i], i + 1, now_ms));
    }
    json_t *permits = queue->is_semaphore ? json_integer(queue->permits) : json_null();
    return json_pack("{s:o, s:b, s:b, s:I, s:o, s:o}", "path", string_of(path), "exists", queue->exists, "is_held",
                     is_held, "foreign_children", (json_int_t)queue->foreign_count, "permits", permits, "contenders",
                     contenders);
}
