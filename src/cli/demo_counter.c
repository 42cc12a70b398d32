#include "demo_counter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "demo_addresses.h"
#include "demo_counter_state.h"
#include "message.h"

enum { PATIENCE_MS = 60000 };

int64_t demo_counter_deadline_ms(void)
{
    return clock_boottime_ms() + PATIENCE_MS;
}

enum demo_result demo_counter_fail(int code, const char *what, const char *path)
{
    if (code == DEMO_STOPPED_CODE)
        return DEMO_STOPPED;
    message_error("demo: cannot %s %s: %s", what, path,
                  code == ZCONNECTIONLOSS ? "no server answered for a minute" : zerror(code));
    return DEMO_FAILED;
}

void demo_counter_parse(const char *text, struct demo_reading *out_reading)
{
    *out_reading = (struct demo_reading){0, 0};
    sscanf(text, "%" SCNd64 " %" SCNu64, &out_reading->value, &out_reading->token);
}

static void set_paths(struct demo_counter *counter, const struct demo_counter_options *options,
                      const char *chroot)
{
    snprintf(counter->lock, DEMO_PATH_SIZE, "%s%s", chroot, options->lock);
    snprintf(counter->counter, DEMO_PATH_SIZE, "%s%s", chroot, options->counter);
    snprintf(counter->run, DEMO_PATH_SIZE, "%s%s/run-%s", chroot, options->counter, options->run);
    snprintf(counter->tally, DEMO_PATH_SIZE, "%s%s/tally-%s-%d", chroot, options->counter, options->run,
             options->worker);
}

struct demo_counter *demo_counter_open(const struct demo_counter_options *options)
{
    struct demo_counter *counter = calloc(1, sizeof(*counter));
    struct demo_addresses addresses;
    char problem[512];

    if (!counter || !demo_addresses_init(&addresses, options->servers, problem, sizeof(problem))) {
        message_error("demo: %s", counter ? problem : "out of memory");
        free(counter);
        return NULL;
    }
    counter->run_name = options->run;
    set_paths(counter, options, addresses.chroot);
    counter->link = demo_link_new(addresses.hosts, options->auth_file, options->timeout_ms, options->stop_fd);
    demo_addresses_clear(&addresses);
    if (counter->link)
        return counter;
    message_error("demo: out of memory");
    free(counter);
    return NULL;
}

void demo_counter_close(struct demo_counter *counter)
{
    if (!counter)
        return;
    demo_link_free(counter->link);
    free(counter);
}

/* One reading: a quorum write and the get behind it, in one flight. */
static int read_once(struct demo_counter *counter, struct demo_reading *out_reading)
{
    zoo_op_t barrier;
    struct demo_call *barrier_call;
    struct demo_call *get_call;
    int code;

    zoo_check_op_init(&barrier, counter->counter, -1);
    barrier_call = demo_link_multi(counter->link, &barrier, 1);
    get_call = demo_link_get(counter->link, counter->counter);
    code = demo_link_await(counter->link, barrier_call);
    if (code == ZOK)
        code = demo_link_await(counter->link, get_call);
    if (code == ZOK)
        demo_counter_parse(get_call->data, out_reading);
    demo_call_drop(barrier_call);
    demo_call_drop(get_call);
    return code;
}

enum demo_result demo_counter_read(struct demo_counter *counter, struct demo_reading *out_reading)
{
    int64_t deadline_ms = demo_counter_deadline_ms();
    int code;

    do {
        code = demo_link_connect(counter->link, deadline_ms);
        if (code != ZOK)
            break;
        code = read_once(counter, out_reading);
    } while (code == ZCONNECTIONLOSS);
    return code == ZOK ? DEMO_DONE : demo_counter_fail(code, "read", counter->counter);
}

/* What the servers have of this worker's tally; nobody else writes there. Behind a quorum write, as every
 * reading. */
static int look_up_tally(struct demo_counter *counter)
{
    zoo_op_t barrier;
    struct demo_call *barrier_call;
    struct demo_call *call;
    int code;

    zoo_check_op_init(&barrier, counter->tally, -1);
    barrier_call = demo_link_multi(counter->link, &barrier, 1);
    call = demo_link_get(counter->link, counter->tally);
    code = demo_link_await(counter->link, barrier_call);
    if (code == ZOK)
        code = demo_link_await(counter->link, call);
    if (code == ZOK) {
        counter->added = strtoll(call->data, NULL, 10);
        counter->tally_version = call->stat.version;
        counter->knows_tally = true;
    }
    demo_call_drop(barrier_call);
    demo_call_drop(call);
    return code;
}

/* Moves the tally's version on without changing its value: whatever of an older request is still on its way
 * to the server's tables is void from here on. */
static int void_late_writes(struct demo_counter *counter)
{
    char text[32];
    zoo_op_t operation;
    struct demo_call *call;
    int code;

    snprintf(text, sizeof(text), "%" PRId64, counter->added);
    zoo_set_op_init(&operation, counter->tally, text, (int)strlen(text), counter->tally_version, NULL);
    call = demo_link_multi(counter->link, &operation, 1);
    code = demo_link_await(counter->link, call);
    demo_call_drop(call);
    if (code == ZOK)
        counter->tally_version++;
    return code;
}

/* After an unknown outcome: was it written? ZOK, ZNONODE (it was not, and never will be) or another code. */
static int find_out(struct demo_counter *counter, int64_t added_before)
{
    int64_t deadline_ms = demo_counter_deadline_ms();
    int code;

    do {
        code = demo_link_connect(counter->link, deadline_ms);
        if (code == ZOK)
            code = void_late_writes(counter);
        if (code == ZBADVERSION) {
            /* The write itself, or an earlier try to void it, has moved the version. */
            code = look_up_tally(counter);
            if (code == ZOK && counter->added > added_before)
                return ZOK;
            code = code == ZOK ? void_late_writes(counter) : code;
        }
        if (code == ZOK)
            return ZNONODE;
    } while ((code == ZCONNECTIONLOSS || code == ZBADVERSION) && clock_boottime_ms() < deadline_ms);
    return code;
}

static int write_once(struct demo_counter *counter, const struct demo_reading *written, const char *contender)
{
    char contender_path[DEMO_PATH_SIZE + 256];
    char value[DEMO_DATA_SIZE];
    char added[32];
    zoo_op_t operations[3];
    struct demo_call *call;
    int count = 0;
    int code;

    snprintf(value, sizeof(value), "%" PRId64 " %" PRIu64, written->value, written->token);
    snprintf(added, sizeof(added), "%" PRId64, counter->added + 1);
    if (contender) {
        snprintf(contender_path, sizeof(contender_path), "%s/%s", counter->lock, contender);
        zoo_check_op_init(&operations[count++], contender_path, -1);
    }
    /* Any version: this is the write that only the lock protects. */
    zoo_set_op_init(&operations[count++], counter->counter, value, (int)strlen(value), -1, NULL);
    zoo_set_op_init(&operations[count++], counter->tally, added, (int)strlen(added), counter->tally_version,
                    NULL);
    call = demo_link_multi(counter->link, operations, count);
    code = demo_link_await(counter->link, call);
    demo_call_drop(call);
    return code;
}

static int settle_tally(struct demo_counter *counter)
{
    int64_t deadline_ms = demo_counter_deadline_ms();
    int code = ZOK;

    while (!counter->knows_tally && code != DEMO_STOPPED_CODE && clock_boottime_ms() < deadline_ms) {
        code = demo_link_connect(counter->link, deadline_ms);
        if (code == ZOK)
            code = look_up_tally(counter);
        if (code != ZOK && code != ZCONNECTIONLOSS)
            break;
    }
    return counter->knows_tally ? ZOK : code;
}

enum demo_result demo_counter_write(struct demo_counter *counter, const struct demo_reading *written,
                                    const char *contender)
{
    int64_t added_before;
    int code = settle_tally(counter);

    if (code != ZOK)
        return demo_counter_fail(code, "read", counter->tally);
    added_before = counter->added;
    code = write_once(counter, written, contender);
    if (code == ZOK) {
        counter->added++;
        counter->tally_version++;
        return DEMO_DONE;
    }
    if (code == ZCONNECTIONLOSS)
        code = find_out(counter, added_before);
    if (code == ZOK)
        return DEMO_DONE;
    /* "No node" is the contender's, or find_out()'s way to say no. */
    return code == ZNONODE ? DEMO_NOT_DONE : demo_counter_fail(code, "write", counter->counter);
}
