/* What replies say to a flight. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/flight.h"
#include "lock/permit.h"
#include "lock/revocation.h"
#include "session/path.h"

enum zkl_answer zkl_flight_answer(enum zkl_code code)
{
    switch (code) {
    case ZKL_CODE_OK:
        return ZKL_ANSWER_OK;
    case ZKL_CODE_UNKNOWN:
        return ZKL_ANSWER_UNKNOWN;
    case ZKL_CODE_NO_NODE:
        return ZKL_ANSWER_NO_NODE;
    case ZKL_CODE_NO_AUTH:
        return ZKL_ANSWER_DENIED;
    case ZKL_CODE_NODE_EXISTS:
    case ZKL_CODE_NO_CHILDREN:
    case ZKL_CODE_BAD_VERSION:
    case ZKL_CODE_REFUSED:
        break;
    }
    return ZKL_ANSWER_REFUSED;
}

void zkl_flight_describe(struct zkl_attempt *attempt, const char *what, const char *right,
                         const struct zkl_reply *reply)
{
    if (reply->code == ZKL_CODE_NO_AUTH)
        zkl_detail_say(&attempt->detail, "%s %s: denied; it needs the right %s", what, attempt->path,
                 right);
    else if (reply->code == ZKL_CODE_NO_CHILDREN)
        zkl_detail_say(&attempt->detail, "%s %s: that is an ephemeral node, which cannot have children",
                 what, attempt->path);
    else if (reply->code == ZKL_CODE_REFUSED || reply->code == ZKL_CODE_NODE_EXISTS)
        zkl_detail_say(&attempt->detail, "%s %s: refused by the server (error %d)", what,
                 attempt->path, reply->raw_code);
}

static bool set_ahead(struct zkl_attempt *attempt, const char *name)
{
    char *path = zkl_path_join(attempt->path, name);

    if (!path)
        return false;
    if (attempt->ahead_path && strcmp(path, attempt->ahead_path) != 0)
        zkl_attempt_leave_ahead(attempt);
    free(attempt->ahead_path);
    attempt->ahead_path = path;
    return true;
}

static bool keep_listing(struct zkl_attempt *attempt, const char *const *children, int count)
{
    struct zkl_listing *listing = &attempt->listing;

    zkl_listing_clear(listing);
    listing->names = calloc((size_t)count, sizeof *listing->names);
    listing->czxids = calloc((size_t)count, sizeof *listing->czxids);
    if (!listing->names || !listing->czxids)
        return false;
    for (listing->count = 0; listing->count < count; listing->count++)
        if (!(listing->names[listing->count] = strdup(children[listing->count])))
            return false;
    return true;
}

/* Takes the place from the names (and czxids, after a survey). False: no memory. */
static bool take_place(struct zkl_attempt *attempt, const char *const *children, int count, const int64_t *czxids,
                       struct zkl_event *event)
{
    struct zkl_place *place = &event->place;

    if (attempt->permit) {
        zkl_queue_place_lease(children, count, attempt->prefix, czxids, place);
        zkl_place_allow(place, attempt->permit->limit > 0 ? (int)attempt->permit->limit : 1);
    } else {
        zkl_queue_place(children, count, attempt->prefix, czxids, place);
    }
    if (place->own_is_present)
        sprintf(attempt->own_path, "%s/%.*s", attempt->path, ZKL_OWN_NAME_SIZE - 1, children[place->own]);
    if (place->is_mixed)
        zkl_detail_say(&attempt->detail,
                 "%s holds contenders of styles that do not exclude each other", attempt->path);
    else if (place->is_unordered)
        zkl_detail_say(&attempt->detail,
                 "%s holds readers or writers, and its sequence numbers have run out: their order cannot be told any "
                 "more; use another path, or delete this one while nobody is in it", attempt->path);
    if (place->needs_survey)
        return keep_listing(attempt, children, count);
    if (attempt->permit && place->ahead_count > 0)
        return zkl_permit_set_ahead(attempt->permit, place->ahead_count);
    if (place->ahead < 0)
        return true;
    zkl_session_log(attempt->session, ZKLOCK_LOG_INFO, "%s: queued at place %d behind %s", attempt->path,
                    place->ahead_count + 1, children[place->ahead]);
    return set_ahead(attempt, children[place->ahead]);
}

enum zkl_answer zkl_flight_take_listing(struct flight *flight, const struct zkl_reply *reply)
{
    struct zkl_attempt *attempt = flight->attempt;

    if (reply->code != ZKL_CODE_OK) {
        /* One right is of no use without the other. */
        if (flight->ask == ZKL_ASK_CREATE && flight->event.first == ZKL_ANSWER_DENIED)
            zkl_flight_describe(attempt, "creating a contender in", "CREATE, and READ for listing", reply);
        else
            zkl_flight_describe(attempt, "listing", "READ", reply);
        return zkl_flight_answer(reply->code);
    }
    zkl_session_see_children(attempt->session, attempt->path, reply);
    if (flight->beside != ZKL_ANSWER_NONE)
        return flight->beside;
    if (flight->ask != ZKL_ASK_WATCH && zkl_flight_must_look_beside(attempt, reply))
        return ZKL_ANSWER_UNKNOWN;
    bool has_memory = take_place(attempt, reply->children, reply->child_count, NULL, &flight->event);
    zkl_flight_judge_beside(flight);
    if (has_memory)
        return ZKL_ANSWER_OK;
    flight->lacks_memory = true;
    return ZKL_ANSWER_UNKNOWN;
}

static void take_created(struct flight *flight, const struct zkl_reply *reply)
{
    struct zkl_attempt *attempt = flight->attempt;

    zkl_flight_describe(attempt, "creating a contender in", "CREATE", reply);
    flight->event.first = zkl_flight_answer(reply->code);
    if (reply->code == ZKL_CODE_OK) {
        snprintf(attempt->own_path, strlen(attempt->path) + 1 + ZKL_OWN_NAME_SIZE, "%s", reply->path);
        attempt->token = (uint64_t)reply->stat.czxid;
    }
}

/* The last of the parents is the path itself; why one above it failed matters only if that one did, too. */
static void take_prepared(struct flight *flight, int index, const struct zkl_reply *reply)
{
    bool is_there = reply->code == ZKL_CODE_OK || reply->code == ZKL_CODE_NODE_EXISTS;

    if (!is_there && reply->code != ZKL_CODE_NO_NODE)
        zkl_flight_describe(flight->attempt, "creating", "CREATE on its parents", reply);
    enum zkl_answer answer = is_there ? ZKL_ANSWER_OK : zkl_flight_answer(reply->code);
    bool hides_reason = answer == ZKL_ANSWER_NO_NODE && flight->event.first > ZKL_ANSWER_NO_NODE;
    if (index == 0 || !hides_reason)
        flight->event.first = answer;
}

static void take_own(struct flight *flight, const struct zkl_reply *reply)
{
    struct zkl_attempt *attempt = flight->attempt;

    zkl_flight_describe(attempt, "reading the own contender in", "READ", reply);
    flight->event.first = zkl_flight_answer(reply->code);
    if (reply->code == ZKL_CODE_OK) {
        flight->event.owner_is_us = reply->stat.owner == zkl_session_id(attempt->session);
        /* A reader keeps the token of the writer that it was. */
        if (!attempt->machine.is_downgraded)
            attempt->token = (uint64_t)reply->stat.czxid;
        zkl_revocation_look(attempt, reply);
    }
}

static void take_downgraded(struct flight *flight, int index, const struct zkl_reply *reply)
{
    if (index == 0) {
        zkl_flight_describe(flight->attempt, "downgrading the contender in", "CREATE and DELETE", reply);
        flight->event.first = zkl_flight_answer(reply->code);
    } else {
        flight->event.second = zkl_flight_answer(reply->code);
        flight->event.owner_is_us = reply->stat.owner == zkl_session_id(flight->attempt->session);
    }
}

static void take_deleted(struct flight *flight, int index, const struct zkl_reply *reply)
{
    zkl_flight_describe(flight->attempt, "deleting the contender in", "DELETE", reply);
    if (index == 0)
        flight->event.first = zkl_flight_answer(reply->code);
    else
        flight->event.second = zkl_flight_answer(reply->code);
}

static void on_watch_forgotten(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale)
{
    (void)reply;
    (void)is_stale;
    free(call);
}

/* EXISTS leaves its watch where there is no node; names are never used again, so it would stay for ever. */
static void forget_watch(struct zkl_attempt *attempt)
{
    struct zkl_call *call = calloc(1, sizeof *call);
    struct zkl_request request = {.op = ZKL_OP_FORGET_WATCH, .path = attempt->ahead_path};

    if (!call)
        return;
    call->on_reply = on_watch_forgotten;
    if (!zkl_session_submit(attempt->session, call, &request))
        free(call);
}

static void take_ahead(struct flight *flight, const struct zkl_reply *reply)
{
    zkl_flight_describe(flight->attempt, "reading a contender in", "READ", reply);
    flight->event.second = zkl_flight_answer(reply->code);
    if (reply->code == ZKL_CODE_NO_NODE && flight->attempt->machine.reads_by_exists)
        forget_watch(flight->attempt);
}

/* Replies come in the order of the requests: this is the first ambiguous child without one. */
static void take_surveyed(struct flight *flight, const struct zkl_reply *reply)
{
    struct zkl_listing *listing = &flight->attempt->listing;
    enum zkl_answer answer = zkl_flight_answer(reply->code);

    for (int i = 0; i < listing->count; i++) {
        if (listing->czxids[i] != 0)
            continue;
        listing->czxids[i] = reply->code == ZKL_CODE_OK ? reply->stat.czxid : -1;
        break;
    }
    if (answer != ZKL_ANSWER_OK && answer != ZKL_ANSWER_NO_NODE)
        flight->event.first = answer;
}

void zkl_flight_finish_survey(struct flight *flight)
{
    struct zkl_attempt *attempt = flight->attempt;
    struct zkl_listing *listing = &attempt->listing;

    if (flight->event.first == ZKL_ANSWER_OK &&
        !take_place(attempt, (const char *const *)listing->names, listing->count, listing->czxids, &flight->event))
        flight->event.first = ZKL_ANSWER_UNKNOWN;
    zkl_listing_clear(listing);
}

void zkl_flight_take_reply(struct flight *flight, int index, const struct zkl_reply *reply)
{
    switch (flight->ask) {
    case ZKL_ASK_CREATE:
        if (index == 0)
            take_created(flight, reply);
        else if (flight->event.first == ZKL_ANSWER_OK || reply->code != ZKL_CODE_OK)
            flight->event.second = zkl_flight_take_listing(flight, reply);
        break;
    case ZKL_ASK_PREPARE:
        take_prepared(flight, index, reply);
        break;
    case ZKL_ASK_FIND:
        if (index == 0)
            flight->event.first = zkl_flight_answer(reply->code);
        else
            flight->event.second = zkl_flight_take_listing(flight, reply);
        break;
    case ZKL_ASK_LIST:
        flight->event.first = zkl_flight_take_listing(flight, reply);
        break;
    case ZKL_ASK_SURVEY:
        take_surveyed(flight, reply);
        break;
    case ZKL_ASK_WATCH:
    case ZKL_ASK_WATCH_OWN:
        if (index == 0)
            take_own(flight, reply);
        else
            take_ahead(flight, reply);
        break;
    case ZKL_ASK_DELETE:
        take_deleted(flight, index, reply);
        break;
    case ZKL_ASK_DOWNGRADE:
        take_downgraded(flight, index, reply);
        break;
    case ZKL_ASK_NOTHING:
        break;
    }
}
