/*
 * The flights of a semaphore's lease: wherever another contender lists, it asks for the limit and for the leases, and
 * sets the limit before that where there is none. One round trip all the same.
 */
#include "lock/flight.h"
#include "lock/permit.h"

static void fail(struct flight *flight)
{
    if (flight->ask == ZKL_ASK_LIST)
        flight->event.first = ZKL_ANSWER_UNKNOWN;
    else
        flight->event.second = ZKL_ANSWER_UNKNOWN;
}

bool zkl_flight_send_lease(struct zkl_attempt *attempt, enum zkl_ask ask, const struct zkl_request *first)
{
    struct flight *flight = zkl_flight_prepare(attempt, ask, 5);
    bool is_watching = ask == ZKL_ASK_WATCH;
    char text[ZKL_LIMIT_SIZE];
    struct zkl_request set;
    struct zkl_request limit = {.op = ZKL_OP_GET, .path = attempt->permit->path, .with_watch = is_watching};
    struct zkl_request leases = {.op = ZKL_OP_LIST, .path = attempt->path, .with_watch = is_watching};

    if (!flight)
        return false;
    flight->limit = ZKL_ANSWER_UNKNOWN;
    zkl_permit_request_limit(attempt->permit, text, &set);
    bool is_sent = !first || zkl_flight_send_part(flight, ZKL_PART_FIRST, first);
    if (is_sent && attempt->permit->is_absent)
        is_sent = zkl_flight_send_part(flight, ZKL_PART_SET_LIMIT, &set);
    if (is_sent && !is_watching)
        zkl_flight_send_beside(flight);
    if (is_sent)
        is_sent = zkl_flight_send_part(flight, ZKL_PART_LIMIT, &limit) &&
                  zkl_flight_send_part(flight, ZKL_PART_LEASES, &leases);
    if (!is_sent)
        fail(flight);
    return zkl_flight_end_sending(flight);
}

/* What the limit says about the listing behind it. */
static enum zkl_answer judge(struct flight *flight, enum zkl_limit_answer limit)
{
    switch (limit) {
    case ZKL_LIMIT_OK:
    case ZKL_LIMIT_OTHER:
        flight->has_other_limit = limit == ZKL_LIMIT_OTHER;
        return ZKL_ANSWER_OK;
    case ZKL_LIMIT_UNKNOWN:
    case ZKL_LIMIT_ABSENT: /* it is set in the next flight, and read again */
        return ZKL_ANSWER_UNKNOWN;
    case ZKL_LIMIT_DENIED:
        return ZKL_ANSWER_DENIED;
    case ZKL_LIMIT_REFUSED:
        break;
    }
    return ZKL_ANSWER_REFUSED;
}

/* The limit is read behind it: what matters is only whether it will ever be set. */
static void take_set(struct flight *flight, const struct zkl_reply *reply)
{
    if (reply->code != ZKL_CODE_NO_AUTH && reply->code != ZKL_CODE_REFUSED)
        return;
    zkl_permit_describe_set(flight->attempt->permit, reply);
    flight->limit = zkl_flight_answer(reply->code);
}

static void take_limit(struct flight *flight, const struct zkl_reply *reply)
{
    enum zkl_limit_answer limit = zkl_permit_take_limit(flight->attempt->permit, reply);
    bool cannot_be_set = flight->limit != ZKL_ANSWER_UNKNOWN;

    if (flight->ask != ZKL_ASK_WATCH)
        zkl_flight_count_children(flight->attempt, reply);
    if (limit != ZKL_LIMIT_ABSENT || !cannot_be_set)
        flight->limit = judge(flight, limit);
}

/* While it watches, whoever finds that its turn has come lists again: one way to the grant is enough. */
static enum zkl_answer take_leases(struct flight *flight, const struct zkl_reply *reply)
{
    struct zkl_place *place = &flight->event.place;

    if (flight->limit != ZKL_ANSWER_OK)
        return flight->limit;
    if (flight->ask != ZKL_ASK_WATCH)
        zkl_permit_see(flight->attempt->permit, reply);
    enum zkl_answer answer = zkl_flight_take_listing(flight, reply);
    place->has_other_limit = flight->has_other_limit;
    if (flight->ask != ZKL_ASK_WATCH || answer != ZKL_ANSWER_OK)
        return answer;
    /* Where numbers alone say nothing, the leases are those that were asked for their czxids, or are others. */
    bool must_list = place->needs_survey ? !zkl_permit_has_seen(flight->attempt->permit, reply) : place->ahead_count == 0;
    return must_list ? ZKL_ANSWER_NO_NODE : ZKL_ANSWER_OK;
}

void zkl_flight_take_lease(struct flight *flight, int part, const struct zkl_reply *reply)
{
    bool is_made = flight->ask != ZKL_ASK_CREATE || flight->event.first == ZKL_ANSWER_OK;

    if (part == ZKL_PART_SET_LIMIT)
        take_set(flight, reply);
    else if (part == ZKL_PART_LIMIT)
        take_limit(flight, reply);
    else if (flight->ask == ZKL_ASK_LIST)
        flight->event.first = take_leases(flight, reply);
    else if (is_made)
        flight->event.second = take_leases(flight, reply);
}
