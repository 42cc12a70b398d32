#include "exec_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "message.h"
#include "notify.h"
#include "payload.h"
#include "status.h"
#include "subcommand.h"

enum {
    FIRST_MS = 1000, /* a wait of this length deserves a word about whom it is for */
    FIRST_OF_STORY_MS = 100,
    PERIOD_MS = 1000,
    TURNS_A_LOOK = 5, /* the line's time goes on by itself; the servers are asked less often */
    LOOK_LIMIT_MS = 400,
};

void progress_begin(struct progress *out_progress)
{
    int64_t first_ms = message_level() >= MESSAGE_VERBOSE ? FIRST_OF_STORY_MS : FIRST_MS;

    *out_progress = (struct progress){.next_ms = clock_boottime_ms() + first_ms};
}

static void take_queue(struct progress *progress, const char *own, const zklock_queue *queue)
{
    struct payload payload;

    progress->place[0] = progress->holder[0] = '\0';
    for (size_t i = 0; i < queue->count; i++) {
        if (strcmp(queue->contenders[i]->name, own) == 0)
            snprintf(progress->place, sizeof(progress->place), "place %zu of %zu, ", i + 1, queue->count);
    }
    if (queue->count == 0)
        return;
    payload_read(queue->contenders[0], &payload);
    if (payload.is_readable)
        snprintf(progress->holder, sizeof(progress->holder), "%.80s:%s%s%.80s%s", payload.host, payload.pid,
                 payload.label[0] ? " (" : "", payload.label, payload.label[0] ? ")" : "");
    else
        snprintf(progress->holder, sizeof(progress->holder), "session 0x%llx",
                 (unsigned long long)queue->contenders[0]->session_id);
    progress->holder_since_ms = queue->contenders[0]->created_ms;
}

static void look(struct progress *progress, const struct exec *exec)
{
    char own[512];
    zklock_queue *queue;

    zklock_contender_name(exec_current_lock(exec), own, sizeof(own));
    if (zklock_queue_read(exec->session, exec_current_path(exec), LOOK_LIMIT_MS, &queue) != ZKLOCK_OK)
        return;
    take_queue(progress, own, queue);
    zklock_queue_free(queue);
}

static void draw(const struct progress *progress, const struct exec *exec)
{
    char age[16];

    status_print_age(subcommand_wall_ms() - progress->holder_since_ms, age, sizeof(age));
    if (progress->holder[0])
        message_progress("waiting for %s: %sheld for %s by %s", exec_current_path(exec), progress->place, age,
                         progress->holder);
    else
        message_progress("waiting for %s", exec_current_path(exec));
}

static void tell_once(const struct exec *exec)
{
    char holder[512];

    exec_describe_holder(exec, true, holder, sizeof(holder));
    notify_manager("STATUS=Waiting for %s", exec_current_path(exec));
    if (holder[0])
        message_story("waiting; %s is %s", exec_current_path(exec), holder);
}

void progress_turn(struct progress *progress, const struct exec *exec)
{
    if (clock_boottime_ms() < progress->next_ms)
        return;
    if (progress->turns == 0)
        tell_once(exec);
    if (!message_shows_progress()) {
        progress->next_ms = INT64_MAX;
        return;
    }
    if (progress->turns % TURNS_A_LOOK == 0)
        look(progress, exec);
    draw(progress, exec);
    progress->turns++;
    progress->next_ms = clock_boottime_ms() + PERIOD_MS;
}

void progress_end(void)
{
    message_progress_end();
}
