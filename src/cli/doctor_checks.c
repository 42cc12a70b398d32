#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

enum { NAME_SIZE = 400, SHOWN_NAMES = 3 };
/* Some weeks of warning, even at a hundred acquires a second. */
enum { COUNTER_MARGIN = 1 << 28 };

void doctor_check_counter(const char *path, const zklock_queue *queue, json_t *findings)
{
    if (queue->next_number == INT32_MAX || queue->next_number < 0)
        doctor_add(findings, "counter", path,
                   "the sequence numbers have reached 2147483647 and stay there; delete the path while nobody uses it");
    else if (queue->next_number > INT32_MAX - COUNTER_MARGIN)
        doctor_add(findings, "counter", path,
                   "the next sequence number is %" PRId32 " of 2147483647; delete the path while nobody uses it",
                   queue->next_number);
}

static void check_foreign(const char *path, const zklock_queue *queue, json_t *findings)
{
    char names[NAME_SIZE] = "";
    size_t used = 0;

    if (queue->foreign_count == 0)
        return;
    for (size_t i = 0; i < queue->foreign_count && i < SHOWN_NAMES && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
                                 queue->foreign_names[i]);
    doctor_add(findings, "foreign", path, "%zu child%s no contender%s: %s%s; Curator may wait for them for ever",
               queue->foreign_count, queue->foreign_count == 1 ? " is" : "ren are",
               queue->foreign_count == 1 ? "" : "s", names, queue->foreign_count > SHOWN_NAMES ? ", ..." : "");
}

/* Whether all of it is text: what others write there ("10.0.0.7") is in order. */
static bool is_text(const char *payload, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)payload[i] < ' ' && payload[i] != '\n' && payload[i] != '\t')
            return false;
    }
    return true;
}

static bool is_utf8(const char *payload, size_t size)
{
    json_t *string = json_stringn(payload, size);
    bool is_valid = string != NULL;

    json_decref(string);
    return is_valid;
}

static void check_payload(const char *path, const zklock_contender *contender, json_t *findings)
{
    const char *problem = NULL;

    if (!contender->payload)
        problem = "has no payload, or one that may not be read; a NULL one stops Curator";
    else if (!is_utf8(contender->payload, contender->payload_size))
        problem = "has a payload that is no UTF-8, which stops kazoo";
    else if (!is_text(contender->payload, contender->payload_size))
        problem = "has a payload with control characters";
    if (problem)
        doctor_add(findings, "payload", path, "%s %s", contender->name, problem);
}

static void check_owner(const char *path, const zklock_contender *contender, const struct live_sessions *alive,
                        json_t *findings)
{
    char name[NAME_SIZE];

    doctor_name(contender, name, sizeof(name));
    if (contender->session_id == 0)
        doctor_add(findings, "no-session", path, "%s is not ephemeral; it %s until somebody deletes it",
                   contender->name, contender->is_holder ? "holds the lock" : "stays");
    else if (alive && !live_sessions_contain(alive, contender->session_id))
        doctor_add(findings, "dead-owner", path, "%s of %s: session 0x%llx has ended; zklock break --contender %s %s",
                   contender->name, name, (unsigned long long)contender->session_id, contender->name, path);
}

void doctor_check_path(const char *path, const zklock_queue *queue, const struct live_sessions *alive,
                       json_t *findings)
{
    if (queue->is_mixed)
        doctor_add(findings, "mixed", path,
                   "contenders of styles that do not exclude each other: two may hold it at once");
    if (queue->is_semaphore && queue->permits == 0)
        doctor_add(findings, "no-limit", path,
                   "a semaphore without a limit that all know: each client goes by its own; zklock permits %s N", path);
    check_foreign(path, queue, findings);
    doctor_check_counter(path, queue, findings);
    for (size_t i = 0; i < queue->count; i++) {
        check_owner(path, queue->contenders[i], alive, findings);
        check_payload(path, queue->contenders[i], findings);
    }
}
