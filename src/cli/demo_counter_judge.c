#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "demo_counter_state.h"
#include "message.h"

enum { STILL_TRIES = 100 };

#define RUN_PREFIX "run-"
#define TALLY_PREFIX "tally-"

/* One request until its outcome is known. */
static int create(struct demo_counter *counter, const char *path, const char *data, int flags)
{
    int64_t deadline_ms = demo_counter_deadline_ms();
    int code;

    do {
        struct demo_call *call;

        code = demo_link_connect(counter->link, deadline_ms);
        if (code != ZOK)
            return code;
        call = demo_link_create(counter->link, path, data, flags);
        code = demo_link_await(counter->link, call);
        demo_call_drop(call);
    } while (code == ZCONNECTIONLOSS);
    return code;
}

/* The counter and what stands above it. Whoever comes second finds it there. */
static int create_counter(struct demo_counter *counter)
{
    char path[DEMO_PATH_SIZE];
    int code = ZOK;

    strcpy(path, counter->counter);
    for (char *slash = strchr(path + 1, '/'); slash && (code == ZOK || code == ZNODEEXISTS);
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        code = create(counter, path, "", 0);
        *slash = '/';
    }
    if (code == ZOK || code == ZNODEEXISTS)
        code = create(counter, path, "0 0", 0);
    return code == ZNODEEXISTS ? ZOK : code;
}

/* Somebody may remove the counter between its creation and our sign, since no run went on then: once more. */
static int create_run(struct demo_counter *counter)
{
    int code;

    do {
        code = create_counter(counter);
        if (code == ZOK)
            code = create(counter, counter->run, "", ZOO_EPHEMERAL);
    } while (code == ZNONODE);
    if (code != ZOK && code != ZNODEEXISTS)
        return code;
    counter->joined_session = demo_link_session(counter->link);
    return ZOK;
}

enum demo_result demo_counter_join(struct demo_counter *counter, int workers)
{
    char path[DEMO_PATH_SIZE + 64];
    int code = create_run(counter);

    for (int i = 0; i < workers && code == ZOK; i++) {
        snprintf(path, sizeof(path), "%s/" TALLY_PREFIX "%s-%d", counter->counter, counter->run_name, i);
        code = create(counter, path, "0", 0);
        code = code == ZNODEEXISTS ? ZOK : code;
    }
    return code == ZOK ? DEMO_DONE : demo_counter_fail(code, "prepare", counter->counter);
}

void demo_counter_keep(struct demo_counter *counter)
{
    if (demo_link_connect(counter->link, clock_boottime_ms()) == ZOK &&
        demo_link_session(counter->link) != counter->joined_session &&
        create(counter, counter->run, "", ZOO_EPHEMERAL) == ZOK)
        counter->joined_session = demo_link_session(counter->link);
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Asks for all tallies in one flight, then sums up. */
static int sum_tallies(struct demo_counter *counter, const struct demo_call *list, int64_t *out_added)
{
    /* An array of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
    struct demo_call **calls = calloc((size_t)list->name_count + 1, sizeof(*calls));
    char path[DEMO_PATH_SIZE + 256];
    int64_t added = 0;
    int code = calls ? ZOK : ZSYSTEMERROR;

    for (int i = 0; calls && i < list->name_count; i++) {
        snprintf(path, sizeof(path), "%s/%s", counter->counter, list->names[i]);
        if (starts_with(list->names[i], TALLY_PREFIX))
            calls[i] = demo_link_get(counter->link, path);
    }
    for (int i = 0; calls && i < list->name_count; i++) {
        if (!starts_with(list->names[i], TALLY_PREFIX))
            continue;
        if (code == ZOK)
            code = calls[i] ? demo_link_await(counter->link, calls[i]) : ZCONNECTIONLOSS;
        if (code == ZOK && calls[i])
            added += strtoll(calls[i]->data, NULL, 10);
        demo_call_drop(calls[i]);
    }
    free(calls);
    *out_added = added;
    return code;
}

/* A balance is true when the counter stood still while the tallies were read: every write changes its
 * version. */
static int balance_once(struct demo_counter *counter, struct demo_balance *out_balance, bool *out_is_still)
{
    struct demo_call *before;
    struct demo_call *list;
    struct demo_call *after = NULL;
    struct demo_reading reading;
    zoo_op_t barrier;
    struct demo_call *barrier_call;
    int code;

    zoo_check_op_init(&barrier, counter->counter, -1);
    barrier_call = demo_link_multi(counter->link, &barrier, 1);
    before = demo_link_get(counter->link, counter->counter);
    list = demo_link_list(counter->link, counter->counter);
    code = demo_link_await(counter->link, barrier_call);
    code = code == ZOK ? demo_link_await(counter->link, before) : code;
    code = code == ZOK ? demo_link_await(counter->link, list) : code;
    code = code == ZOK ? sum_tallies(counter, list, &out_balance->added) : code;
    if (code == ZOK) {
        after = demo_link_get(counter->link, counter->counter);
        code = demo_link_await(counter->link, after);
    }
    if (code == ZOK) {
        demo_counter_parse(after->data, &reading);
        out_balance->value = reading.value;
        *out_is_still = after->stat.version == before->stat.version;
    }
    demo_call_drop(barrier_call);
    demo_call_drop(before);
    demo_call_drop(list);
    demo_call_drop(after);
    return code;
}

enum demo_result demo_counter_balance(struct demo_counter *counter, struct demo_balance *out_balance)
{
    int64_t deadline_ms = demo_counter_deadline_ms();
    struct demo_balance balance = {0, 0};
    bool is_still = false;
    int code = ZOK;

    for (int i = 0; i < STILL_TRIES && !is_still; i++) {
        code = demo_link_connect(counter->link, deadline_ms);
        if (code != ZOK)
            break;
        code = balance_once(counter, &balance, &is_still);
        /* A tally may vanish while somebody tidies up. */
        if (code != ZOK && code != ZCONNECTIONLOSS && code != ZNONODE)
            break;
    }
    if (code == ZOK && is_still) {
        *out_balance = balance;
        return DEMO_DONE;
    }
    if (code != ZOK)
        return demo_counter_fail(code, "read the balance of", counter->counter);
    message_error("demo: %s does not stand still long enough to be read", counter->counter);
    return DEMO_FAILED;
}

/* Whether the sign of a run other than ours is there. */
static bool has_other_run(const struct demo_counter *counter, const struct demo_call *list)
{
    const char *own = strrchr(counter->run, '/') + 1;

    for (int i = 0; i < list->name_count; i++) {
        if (starts_with(list->names[i], RUN_PREFIX) && strcmp(list->names[i], own) != 0)
            return true;
    }
    return false;
}

/* All or nothing: the counter cannot be deleted while a child is left, and somebody who came in meanwhile is
 * one. */
static int remove_all(struct demo_counter *counter, const struct demo_call *list)
{
    char(*paths)[DEMO_PATH_SIZE + 256] = calloc((size_t)list->name_count + 1, sizeof(*paths));
    zoo_op_t *operations = calloc((size_t)list->name_count + 1, sizeof(*operations));
    struct demo_call *call = NULL;
    int code = ZSYSTEMERROR;

    if (paths && operations && list->name_count < DEMO_MULTI_MOST) {
        for (int i = 0; i < list->name_count; i++) {
            snprintf(paths[i], sizeof(paths[i]), "%s/%s", counter->counter, list->names[i]);
            zoo_delete_op_init(&operations[i], paths[i], -1);
        }
        zoo_delete_op_init(&operations[list->name_count], counter->counter, -1);
        call = demo_link_multi(counter->link, operations, list->name_count + 1);
        code = demo_link_await(counter->link, call);
    }
    demo_call_drop(call);
    free(paths);
    free(operations);
    return code;
}

static void remove_run(struct demo_counter *counter)
{
    zoo_op_t operation;
    struct demo_call *call;

    zoo_delete_op_init(&operation, counter->run, -1);
    call = demo_link_multi(counter->link, &operation, 1);
    demo_link_await(counter->link, call);
    demo_call_drop(call);
}

enum demo_result demo_counter_leave(struct demo_counter *counter)
{
    struct demo_call *list;
    int code = demo_link_connect(counter->link, demo_counter_deadline_ms());

    if (code != ZOK)
        return demo_counter_fail(code, "tidy up", counter->counter);
    list = demo_link_list(counter->link, counter->counter);
    code = demo_link_await(counter->link, list);
    if (code == ZOK && !has_other_run(counter, list))
        remove_all(counter, list);
    /* Whatever could not be removed goes with the next run's end; our sign goes now. */
    remove_run(counter);
    demo_call_drop(list);
    return DEMO_DONE;
}
