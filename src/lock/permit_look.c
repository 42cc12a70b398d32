/*
 * What is asked before a lease is made. The look: the limit, and for whoever does not wait, the leases that are there.
 * The claim: where there was no limit, and others are to be waited for, it is set and read again.
 */
#include <stdlib.h>

#include "lock/permit.h"

enum part { PART_LIMIT, PART_LEASES, PART_SET };

struct zkl_look {
    struct look_call {
        struct zkl_call call;
        struct zkl_look *look;
        enum part part;
    } calls[2];
    struct zkl_permit *permit;
    struct zkl_attempt *lease; /* counted: it keeps the permit */
    int sent;
    int pending;
    bool is_claim;
    bool is_unknown;
    enum zkl_limit_answer limit;
    unsigned leases;
};

static unsigned count_leases(const struct zkl_reply *reply)
{
    unsigned count = 0;

    for (int i = 0; i < reply->child_count; i++)
        count += zkl_name_parse(reply->children[i]).kind == ZKL_KIND_LEASE;
    return count;
}

/* Who may not set it goes on without: there may be one when its turn comes. */
static void finish_claim(struct zkl_permit *permit, const struct zkl_look *look)
{
    if (look->is_unknown) {
        zkl_attempt_retry_soon(permit->lease);
        return;
    }
    permit->is_claimed = true;
    if (look->limit == ZKL_LIMIT_OTHER)
        zkl_attempt_give_up(permit->lease, ZKL_OUTCOME_OTHER_LIMIT);
}

static void finish_look(struct zkl_permit *permit, const struct zkl_look *look)
{
    struct zkl_attempt *lease = permit->lease;
    bool is_full = look->limit == ZKL_LIMIT_OK && lease->machine.is_try && look->leases >= permit->limit;

    if (look->is_unknown) {
        zkl_attempt_retry_soon(lease);
    } else if (look->limit == ZKL_LIMIT_OTHER) {
        zkl_attempt_give_up(lease, ZKL_OUTCOME_OTHER_LIMIT);
    } else if (look->limit == ZKL_LIMIT_DENIED || look->limit == ZKL_LIMIT_REFUSED) {
        zkl_attempt_give_up(lease, look->limit == ZKL_LIMIT_DENIED ? ZKL_OUTCOME_DENIED : ZKL_OUTCOME_REFUSED);
    } else if (is_full) {
        zkl_attempt_give_up(lease, ZKL_OUTCOME_BUSY);
    } else {
        permit->is_checked = true;
        zkl_permit_review(permit);
    }
}

static void settle_look(struct zkl_look *look)
{
    struct zkl_permit *permit = look->permit;
    struct zkl_attempt *lease = look->lease;

    if (--look->pending > 0)
        return;
    /* One that was begun later, on another session, is waited for instead. */
    if (permit->look == look) {
        permit->look = NULL;
        if (lease->result == ZKLOCK_PENDING)
            (look->is_claim ? finish_claim : finish_look)(permit, look);
    }
    free(look);
    zkl_attempt_unref(lease);
}

static void on_look(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale)
{
    struct look_call *part = (struct look_call *)call;
    struct zkl_look *look = part->look;

    if (is_stale || reply->code == ZKL_CODE_UNKNOWN)
        look->is_unknown = true;
    else if (part->part == PART_LIMIT)
        look->limit = zkl_permit_take_limit(look->permit, reply);
    else if (part->part == PART_LEASES)
        look->leases = count_leases(reply);
    settle_look(look);
}

static void send_part(struct zkl_look *look, enum part which, const struct zkl_request *request)
{
    struct look_call *part = &look->calls[look->sent++];

    part->call.on_reply = on_look;
    part->look = look;
    part->part = which;
    look->pending++;
    if (zkl_session_submit(look->lease->session, &part->call, request))
        return;
    look->pending--;
    look->is_unknown = true;
}

/* NULL: no memory, and it is tried again. */
static struct zkl_look *new_look(struct zkl_permit *permit)
{
    struct zkl_look *look = calloc(1, sizeof *look);

    if (!look) {
        zkl_attempt_retry_soon(permit->lease);
        return NULL;
    }
    look->permit = permit;
    look->lease = permit->lease;
    look->pending = 1;
    zkl_attempt_ref(look->lease);
    permit->look = look;
    return look;
}

void zkl_permit_look(struct zkl_permit *permit)
{
    struct zkl_look *look = new_look(permit);
    struct zkl_request get = {.op = ZKL_OP_GET, .path = permit->path};
    struct zkl_request list = {.op = ZKL_OP_LIST, .path = permit->lease->path};

    if (!look)
        return;
    send_part(look, PART_LIMIT, &get);
    if (permit->lease->machine.is_try)
        send_part(look, PART_LEASES, &list);
    settle_look(look);
}

void zkl_permit_claim(struct zkl_permit *permit)
{
    struct zkl_look *look = new_look(permit);
    struct zkl_request get = {.op = ZKL_OP_GET, .path = permit->path};
    struct zkl_request set;
    char text[ZKL_LIMIT_SIZE];

    if (!look)
        return;
    look->is_claim = true;
    zkl_permit_request_limit(permit, text, &set);
    send_part(look, PART_SET, &set);
    send_part(look, PART_LIMIT, &get);
    settle_look(look);
}
