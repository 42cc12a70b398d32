/*
 * Flights: what the machine asks for, as requests sent back to back. The store keeps their order, so a listing behind a
 * create contains the new node. The last reply of a flight feeds one event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/flight.h"
#include "lock/permit.h"
#include "session/path.h"

static bool is_current(const struct flight *flight)
{
    return flight->event.flight == flight->attempt->machine.flight && flight->attempt->machine.is_in_flight;
}

/* One reply has come, or the sending is over. The last one feeds the machine. */
static void settle(struct flight *flight)
{
    if (--flight->pending > 0)
        return;
    if (is_current(flight)) {
        if (flight->ask == ZKL_ASK_SURVEY)
            zkl_flight_finish_survey(flight);
        /* Asking again changes nothing at the server; but a create that was answered is not repeated. */
        if (flight->lacks_memory && flight->ask != ZKL_ASK_CREATE)
            zkl_attempt_try_later(flight->attempt);
        else
            zkl_attempt_feed(flight->attempt, &flight->event);
    }
    zkl_attempt_unref(flight->attempt);
    free(flight);
}

/* Planted, whether or not the machine still waits for the answer. */
static void take_watch(struct zkl_attempt *attempt, int part)
{
    if (part == ZKL_PART_SECOND || part == ZKL_PART_LEASES)
        attempt->ahead_is_watched = true;
    else if (part == ZKL_PART_LIMIT)
        attempt->permit->limit_is_watched = true;
    if (attempt->has_left)
        zkl_attempt_leave_ahead(attempt);
    if (attempt->has_left && attempt->permit)
        zkl_permit_leave_limit(attempt->permit);
}

static void take_reply(const struct flight_call *part, const struct zkl_reply *reply)
{
    enum zkl_ask ask = part->flight->ask;
    bool has_names = ask == ZKL_ASK_CREATE || ask == ZKL_ASK_FIND || ask == ZKL_ASK_LIST || ask == ZKL_ASK_WATCH;

    if (has_names && part->index == ZKL_PART_BESIDE)
        zkl_flight_take_beside(part->flight, reply);
    else if (has_names && part->index >= ZKL_PART_SET_LIMIT)
        zkl_flight_take_lease(part->flight, part->index, reply);
    else
        zkl_flight_take_reply(part->flight, part->index, reply);
}

static void on_reply(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale)
{
    struct flight_call *part = (struct flight_call *)call;

    if (!is_stale && part->flight->ask == ZKL_ASK_WATCH && reply->code == ZKL_CODE_OK)
        take_watch(part->flight->attempt, part->index);
    /* A stale reply, or one of a flight that the machine has left, must not touch what a newer one wrote. */
    if (!is_stale && is_current(part->flight))
        take_reply(part, reply);
    settle(part->flight);
}

static enum zkl_event_type event_of(enum zkl_ask ask)
{
    switch (ask) {
    case ZKL_ASK_CREATE:
        return ZKL_EV_CREATED;
    case ZKL_ASK_PREPARE:
        return ZKL_EV_PREPARED;
    case ZKL_ASK_FIND:
        return ZKL_EV_FOUND;
    case ZKL_ASK_LIST:
        return ZKL_EV_LISTED;
    case ZKL_ASK_SURVEY:
        return ZKL_EV_SURVEYED;
    case ZKL_ASK_WATCH:
    case ZKL_ASK_WATCH_OWN:
        return ZKL_EV_WATCHED;
    case ZKL_ASK_DOWNGRADE:
        return ZKL_EV_DOWNGRADED;
    case ZKL_ASK_DELETE:
    case ZKL_ASK_NOTHING:
        break;
    }
    return ZKL_EV_DELETED;
}

struct flight *zkl_flight_prepare(struct zkl_attempt *attempt, enum zkl_ask ask, int most_calls)
{
    struct flight *flight = calloc(1, sizeof *flight + (size_t)most_calls * sizeof flight->calls[0]);

    if (!flight)
        return NULL;
    flight->attempt = attempt;
    flight->ask = ask;
    flight->pending = 1;
    flight->event.type = event_of(ask);
    flight->event.flight = attempt->machine.flight;
    zkl_attempt_ref(attempt);
    return flight;
}

bool zkl_flight_send_part(struct flight *flight, int part, const struct zkl_request *request)
{
    struct flight_call *call = &flight->calls[flight->call_count++];

    call->call.on_reply = on_reply;
    call->flight = flight;
    call->index = part;
    flight->pending++;
    if (zkl_session_submit(flight->attempt->session, &call->call, request))
        return true;
    flight->pending--;
    return false;
}

bool zkl_flight_end_sending(struct flight *flight)
{
    if (flight->pending > 1) {
        settle(flight);
        return true;
    }
    zkl_attempt_unref(flight->attempt);
    free(flight);
    return false;
}

/* Sends one request, and a second behind it where there is one; before the listing of a FIND, what stands beside. */
static bool send_both(struct zkl_attempt *attempt, enum zkl_ask ask, const struct zkl_request *first,
                      const struct zkl_request *second)
{
    struct flight *flight = zkl_flight_prepare(attempt, ask, 3);

    if (!flight)
        return false;
    bool is_sent = zkl_flight_send_part(flight, ZKL_PART_FIRST, first);
    if (is_sent && ask == ZKL_ASK_FIND)
        zkl_flight_send_beside(flight);
    if (is_sent && second && !zkl_flight_send_part(flight, ZKL_PART_SECOND, second))
        flight->event.second = ZKL_ANSWER_UNKNOWN;
    return zkl_flight_end_sending(flight);
}

static bool send_create(struct zkl_attempt *attempt)
{
    struct zkl_runtime *runtime = zkl_session_runtime(attempt->session);
    unsigned char token[ZKL_TOKEN_BYTES];

    if (!attempt->zombie && !(attempt->zombie = zkl_zombie_new(attempt->path)))
        return false;
    attempt->has_looked_beside = false;
    attempt->is_beside_others = false;
    /* Whoever does not wait has no guard, which would tell how many children the path has without others. */
    attempt->must_look_beside = attempt->permit && attempt->machine.is_try;
    runtime->random(runtime, token, sizeof token);
    zkl_name_prefix(attempt->kind, token, attempt->prefix);
    sprintf(attempt->own_path, "%s/%s", attempt->path, attempt->prefix);
    struct zkl_request create = {.op = ZKL_OP_CREATE,
                                 .path = attempt->own_path,
                                 .data = attempt->payload,
                                 .data_size = (int)strlen(attempt->payload)};
    struct zkl_request list = {.op = ZKL_OP_LIST, .path = attempt->path};
    return attempt->permit ? zkl_flight_send_lease(attempt, ZKL_ASK_CREATE, &create)
                           : send_both(attempt, ZKL_ASK_CREATE, &create, &list);
}

static bool send_find(struct zkl_attempt *attempt)
{
    const char *paths[] = {attempt->path};
    struct zkl_request barrier = {.op = ZKL_OP_CHECK, .paths = paths, .path_count = 1};
    struct zkl_request list = {.op = ZKL_OP_LIST, .path = attempt->path};

    return attempt->permit ? zkl_flight_send_lease(attempt, ZKL_ASK_FIND, &barrier)
                           : send_both(attempt, ZKL_ASK_FIND, &barrier, &list);
}

static bool send_list(struct zkl_attempt *attempt)
{
    struct flight *flight = zkl_flight_prepare(attempt, ZKL_ASK_LIST, 2);
    struct zkl_request list = {.op = ZKL_OP_LIST, .path = attempt->path};

    if (!flight)
        return false;
    zkl_flight_send_beside(flight);
    if (!zkl_flight_send_part(flight, ZKL_PART_FIRST, &list))
        flight->event.first = ZKL_ANSWER_UNKNOWN;
    return zkl_flight_end_sending(flight);
}

static bool send_watch(struct zkl_attempt *attempt, const struct zkl_actions *actions)
{
    struct zkl_request own = {.op = ZKL_OP_GET, .path = attempt->own_path, .with_watch = true};
    struct zkl_request ahead = {.op = actions->by_exists ? ZKL_OP_EXISTS : ZKL_OP_GET,
                                .path = attempt->ahead_path,
                                .with_watch = true};

    if (attempt->permit && actions->ask == ZKL_ASK_WATCH)
        return zkl_flight_send_lease(attempt, actions->ask, &own);
    return send_both(attempt, actions->ask, &own, actions->ask == ZKL_ASK_WATCH ? &ahead : NULL);
}

/* Read behind the transaction, in the same flight: what it answers is at least as new. */
static bool send_downgrade(struct zkl_attempt *attempt)
{
    struct zkl_request replace = {.op = ZKL_OP_REPLACE,
                                  .path = attempt->own_path,
                                  .replacement = attempt->reader_path,
                                  .data = attempt->payload,
                                  .data_size = (int)strlen(attempt->payload)};
    struct zkl_request reader = {.op = ZKL_OP_GET, .path = attempt->reader_path, .with_watch = true};

    return send_both(attempt, ZKL_ASK_DOWNGRADE, &replace, &reader);
}

/* The writer first: once it is gone, a downgrade that is applied late changes nothing. */
static bool send_delete(struct zkl_attempt *attempt)
{
    struct zkl_request own = {.op = ZKL_OP_DELETE, .path = attempt->own_path};
    struct zkl_request reader = {.op = ZKL_OP_DELETE, .path = attempt->reader_path};
    bool is_double = zkl_machine_has_two_names(&attempt->machine);

    return send_both(attempt, ZKL_ASK_DELETE, &own, is_double ? &reader : NULL);
}

/* Every ancestor from the top down, the path itself last, back to back. */
static bool send_parents(struct zkl_attempt *attempt)
{
    int depth = 0;
    for (const char *at = attempt->path; *at; at++)
        depth += *at == '/';
    struct flight *flight = zkl_flight_prepare(attempt, ZKL_ASK_PREPARE, depth);
    char *path = flight ? strdup(attempt->path) : NULL;
    bool is_sent = path != NULL;

    for (char *end = path; is_sent && end;) {
        end = strchr(end + 1, '/');
        if (end)
            *end = '\0';
        struct zkl_request create = {
            .op = ZKL_OP_CREATE_PARENT, .path = path, .is_persistent = attempt->is_persistent_parent};
        is_sent = zkl_flight_send_part(flight, flight->call_count, &create);
        if (end)
            *end = '/';
    }
    free(path);
    /* Where part of it is under way, what is missing shows when the create is tried again. */
    return flight && zkl_flight_end_sending(flight);
}

static bool send_exists(struct flight *flight, const char *name)
{
    char *path = zkl_path_join(flight->attempt->path, name);

    if (!path)
        return false;
    struct zkl_request exists = {.op = ZKL_OP_EXISTS, .path = path};
    bool is_sent = zkl_flight_send_part(flight, flight->call_count, &exists);
    free(path);
    return is_sent;
}

static bool send_survey(struct zkl_attempt *attempt)
{
    const struct zkl_listing *listing = &attempt->listing;
    struct flight *flight = zkl_flight_prepare(attempt, ZKL_ASK_SURVEY, listing->count);
    struct zkl_name own = zkl_name_parse(attempt->own_path + strlen(attempt->path) + 1);

    if (!flight)
        return false;
    flight->event.first = ZKL_ANSWER_OK;
    for (int i = 0; i < listing->count; i++) {
        struct zkl_name name = zkl_name_parse(listing->names[i]);
        listing->czxids[i] = zkl_queue_is_ambiguous(name, own) ? 0 : 1;
        if (listing->czxids[i] == 0 && !send_exists(flight, listing->names[i]))
            flight->event.first = ZKL_ANSWER_UNKNOWN;
    }
    settle(flight);
    return true;
}

bool zkl_flight_launch(struct zkl_attempt *attempt, const struct zkl_actions *actions)
{
    switch (actions->ask) {
    case ZKL_ASK_CREATE:
        return send_create(attempt);
    case ZKL_ASK_PREPARE:
        return send_parents(attempt);
    case ZKL_ASK_FIND:
        return send_find(attempt);
    case ZKL_ASK_LIST:
        return attempt->permit ? zkl_flight_send_lease(attempt, actions->ask, NULL) : send_list(attempt);
    case ZKL_ASK_SURVEY:
        return send_survey(attempt);
    case ZKL_ASK_WATCH:
    case ZKL_ASK_WATCH_OWN:
        return send_watch(attempt, actions);
    case ZKL_ASK_DELETE:
        return send_delete(attempt);
    case ZKL_ASK_DOWNGRADE:
        return send_downgrade(attempt);
    case ZKL_ASK_NOTHING:
        break;
    }
    return true;
}
