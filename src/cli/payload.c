#include "payload.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A field of ours is short; a longer payload is not worth parsing, whoever wrote it. */
enum { MAX_JSON_SIZE = 65536 };

static bool copy_text(const json_t *object, const char *field, char *buffer, size_t size)
{
    const json_t *value = json_object_get(object, field);

    size_t length = json_string_length(value);

    if (!json_is_string(value))
        return false;
    if (length >= size) {
        /* Cut before a character, not inside it. */
        for (length = size - 1; length > 0 && (json_string_value(value)[length] & 0xC0) == 0x80; length--)
            continue;
    }
    memcpy(buffer, json_string_value(value), length);
    buffer[length] = '\0';
    return true;
}

static bool copy_pid(const json_t *object, char *buffer, size_t size)
{
    const json_t *value = json_object_get(object, "pid");

    if (!json_is_integer(value))
        return false;
    snprintf(buffer, size, "%lld", (long long)json_integer_value(value));
    return true;
}

void payload_read(const zklock_contender *contender, struct payload *out_payload)
{
    json_t *object = NULL;

    *out_payload = (struct payload){0};
    if (contender->payload && contender->payload_size > 0 && contender->payload_size <= MAX_JSON_SIZE)
        object = json_loadb(contender->payload, contender->payload_size, 0, NULL);
    if (json_is_object(object)) {
        out_payload->is_readable = copy_text(object, "host", out_payload->host, sizeof(out_payload->host));
        out_payload->is_readable |= copy_pid(object, out_payload->pid, sizeof(out_payload->pid));
        out_payload->is_readable |= copy_text(object, "user", out_payload->user, sizeof(out_payload->user));
        out_payload->is_readable |=
            copy_text(object, "label", out_payload->label, sizeof(out_payload->label));
    }
    json_decref(object);
}

static void print_time(int64_t created_ms, char *buffer, size_t size)
{
    time_t created = (time_t)(created_ms / 1000);
    time_t now = time(NULL);
    struct tm fields;

    if (!localtime_r(&created, &fields) ||
        strftime(buffer, size, now - created < 86400 ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &fields) == 0)
        snprintf(buffer, size, "an unknown time");
}

void payload_describe(const zklock_contender *contender, char *buffer, size_t size)
{
    struct payload payload;
    char since[64];

    payload_read(contender, &payload);
    print_time(contender->created_ms, since, sizeof(since));
    if (payload.is_readable) {
        snprintf(buffer, size, "%s:%s (%s%s%s), in the queue since %s", payload.host[0] ? payload.host : "?",
                 payload.pid[0] ? payload.pid : "?", payload.user[0] ? payload.user : "?",
                 payload.label[0] ? ", " : "", payload.label, since);
        return;
    }
    snprintf(buffer, size, "contender %s of session 0x%llx, in the queue since %s", contender->name,
             (unsigned long long)contender->session_id, since);
}
