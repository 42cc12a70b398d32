#include "lock/permit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/path.h"

/* ---------------------------------------------------------------- life */

bool zkl_permit_new(struct zkl_attempt *lease, const struct zkl_attempt_options *options)
{
    struct zkl_permit *permit = calloc(1, sizeof *permit);

    if (!permit)
        return false;
    lease->permit = permit;
    lease->machine.is_guarded = true;
    permit->lease = lease;
    permit->wanted = options->permits;
    permit->path = strdup(options->semaphore);
    permit->guard_path = zkl_path_join(options->semaphore, "locks");
    return permit->path && permit->guard_path;
}

void zkl_permit_free(struct zkl_permit *permit)
{
    if (!permit)
        return;
    free(permit->path);
    free(permit->guard_path);
    free(permit);
}

void zkl_permit_leave_limit(struct zkl_permit *permit)
{
    if (permit->limit_is_watched)
        zkl_session_leave_watch(permit->lease->session, permit->path);
    permit->limit_is_watched = false;
}

bool zkl_permit_set_ahead(struct zkl_permit *permit, int ahead_count)
{
    struct zkl_attempt *lease = permit->lease;

    if (permit->limit == 0)
        return true;
    zkl_session_log(lease->session, ZKLOCK_LOG_INFO, "%s: all %u permits are taken; %d of them have to be given back",
                    permit->path, permit->limit, ahead_count);
    if (!lease->ahead_path)
        lease->ahead_path = strdup(lease->path);
    return lease->ahead_path != NULL;
}

/* The same for the same names in any order. */
static uint64_t fingerprint(const struct zkl_reply *listing)
{
    uint64_t sum = 0;

    for (int i = 0; i < listing->child_count; i++) {
        uint64_t hash = UINT64_C(14695981039346656037);
        for (const char *at = listing->children[i]; *at; at++)
            hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
        sum += hash;
    }
    return sum;
}

void zkl_permit_see(struct zkl_permit *permit, const struct zkl_reply *listing)
{
    permit->seen = fingerprint(listing);
}

bool zkl_permit_has_seen(const struct zkl_permit *permit, const struct zkl_reply *listing)
{
    return permit->seen == fingerprint(listing);
}

/* ---------------------------------------------------------------- the limit */

static bool has_data(const struct zkl_reply *reply)
{
    return reply->data && reply->data_size > 0;
}

static enum zkl_limit_answer take_absence(struct zkl_permit *permit, int32_t version)
{
    struct zkl_attempt *lease = permit->lease;

    permit->is_absent = true;
    permit->version = version;
    if (permit->wanted > 0 || permit->limit > 0)
        return ZKL_LIMIT_ABSENT;
    zkl_detail_say(&lease->detail, "%s has no limit yet: say how many permits it shall have",
             permit->path);
    return ZKL_LIMIT_OTHER;
}

static enum zkl_limit_answer take_number(struct zkl_permit *permit, unsigned limit)
{
    struct zkl_attempt *lease = permit->lease;

    permit->is_absent = false;
    if (permit->limit == 0 && permit->wanted > 0 && limit != permit->wanted) {
        zkl_detail_say(&lease->detail, "%s has a limit of %u permits, and %u were asked for",
                 permit->path, limit, permit->wanted);
        return ZKL_LIMIT_OTHER;
    }
    if (permit->limit > 0 && permit->limit != limit)
        zkl_session_log(lease->session, ZKLOCK_LOG_INFO, "%s: the limit is %u permits now, no longer %u", permit->path,
                        limit, permit->limit);
    permit->limit = limit;
    return ZKL_LIMIT_OK;
}

enum zkl_limit_answer zkl_permit_take_limit(struct zkl_permit *permit, const struct zkl_reply *reply)
{
    struct zkl_attempt *lease = permit->lease;
    unsigned limit;

    if (reply->code == ZKL_CODE_UNKNOWN)
        return ZKL_LIMIT_UNKNOWN;
    if (reply->code == ZKL_CODE_NO_NODE)
        return take_absence(permit, 0);
    if (reply->code == ZKL_CODE_OK && !has_data(reply))
        return take_absence(permit, reply->stat.version);
    if (reply->code == ZKL_CODE_OK && zkl_limit_read(reply->data, (size_t)reply->data_size, &limit))
        return take_number(permit, limit);
    if (reply->code == ZKL_CODE_OK)
        zkl_detail_say(&lease->detail, "%s has data that are no limit of a semaphore", permit->path);
    else if (reply->code == ZKL_CODE_NO_AUTH)
        zkl_detail_say(&lease->detail, "reading the limit at %s: denied; it needs the right READ",
                 permit->path);
    else
        zkl_detail_say(&lease->detail, "reading the limit at %s: refused by the server (error %d)",
                 permit->path, reply->raw_code);
    return reply->code == ZKL_CODE_NO_AUTH ? ZKL_LIMIT_DENIED : ZKL_LIMIT_REFUSED;
}

void zkl_permit_describe_set(struct zkl_permit *permit, const struct zkl_reply *reply)
{
    struct zkl_attempt *lease = permit->lease;

    if (reply->code == ZKL_CODE_NO_AUTH)
        zkl_detail_say(&lease->detail, "setting the limit at %s: denied; it needs the right WRITE",
                 permit->path);
    else
        zkl_detail_say(&lease->detail, "setting the limit at %s: refused by the server (error %d)",
                 permit->path, reply->raw_code);
}

void zkl_permit_request_limit(const struct zkl_permit *permit, char text[ZKL_LIMIT_SIZE], struct zkl_request *out)
{
    *out = (struct zkl_request){.op = ZKL_OP_SET,
                                .path = permit->path,
                                .data = text,
                                .data_size = zkl_limit_write(text, permit->limit ? permit->limit : permit->wanted),
                                .has_version = true,
                                .version = permit->version};
}

/* ---------------------------------------------------------------- the guard */

/* From here on it lives by itself, until its znode is certainly gone. */
static void drop_guard(struct zkl_permit *permit)
{
    struct zkl_attempt *guard = permit->guard;

    if (!guard)
        return;
    permit->guard = NULL;
    guard->guards = NULL;
    zkl_attempt_give_up(guard, ZKL_OUTCOME_CANCELLED);
    zkl_attempt_release(guard, ZKL_NEVER);
    zkl_attempt_unref(guard);
}

static void start_guard(struct zkl_permit *permit)
{
    struct zkl_attempt *lease = permit->lease;
    struct zkl_attempt_options options = {
        .path = permit->guard_path,
        .payload = lease->payload,
        .kind = ZKL_KIND_LOCK,
        .is_persistent_parent = lease->is_persistent_parent,
        .guards = permit,
        .limit_ns = ZKL_NEVER,
    };

    permit->guard = zkl_attempt_new(lease->session, NULL, &options);
    if (permit->guard)
        zkl_attempt_start(permit->guard);
    else
        zkl_attempt_retry_soon(lease);
}

static bool holds_guard(const struct zkl_permit *permit)
{
    return permit->guard && permit->guard->machine.state == ZKL_HELD;
}

bool zkl_permit_is_behind(const struct zkl_permit *permit)
{
    return permit->guard && permit->guard->machine.is_behind;
}

void zkl_permit_explain(const struct zkl_permit *permit, const char *silence, struct zkl_detail *detail)
{
    const char *guard = permit->guard ? permit->guard->ahead_path : NULL;
    const char *separator = silence[0] ? "; " : "";

    if (guard && permit->guard->machine.is_behind)
        zkl_detail_say(detail, "behind %s in the queue for a permit%s%s", guard + strlen(permit->path) + 1, separator,
                 silence);
    else
        zkl_detail_say(detail, "all %u permits are taken%s%s", permit->limit, separator, silence);
}

/* Its session is over, or its lease: what has been got so far is got again. */
static void begin_again(struct zkl_permit *permit)
{
    enum zkl_state state = permit->guard ? permit->guard->machine.state : ZKL_NEW;

    if (permit->was_passed || state == ZKL_LOST || state == ZKL_GONE)
        drop_guard(permit);
    if (permit->was_passed) {
        permit->was_passed = false;
        permit->is_checked = false;
        permit->is_claimed = false;
        permit->look = NULL;
    }
}

/* Where nobody had set the limit when it looked, whoever has to wait does: what becomes of it later is to be followed, and
 * not to be compared with what was asked for. */
static bool must_claim(const struct zkl_permit *permit)
{
    return permit->is_checked && permit->is_absent && !permit->is_claimed && !permit->was_passed && !permit->look &&
           zkl_permit_is_behind(permit);
}

void zkl_permit_review_place(struct zkl_permit *permit)
{
    const struct zkl_attempt *lease = permit->lease;

    if (lease->result == ZKLOCK_PENDING && must_claim(permit) && zkl_session_is_connected(lease->session))
        zkl_permit_claim(permit);
}

void zkl_permit_review(struct zkl_permit *permit)
{
    struct zkl_attempt *lease = permit->lease;
    bool is_try = lease->machine.is_try;

    if (lease->result != ZKLOCK_PENDING) {
        drop_guard(permit);
        return;
    }
    if (lease->machine.state != ZKL_CREATING || lease->machine.has_guard)
        return;
    begin_again(permit);
    if (!permit->is_checked && !permit->look && zkl_session_is_connected(lease->session))
        zkl_permit_look(permit);
    if (!is_try && !permit->guard)
        start_guard(permit);
    zkl_permit_review_place(permit);
    if (permit->is_checked && !permit->was_passed && (is_try || holds_guard(permit))) {
        struct zkl_event guarded = {.type = ZKL_EV_GUARDED};
        permit->was_passed = true;
        zkl_attempt_feed(lease, &guarded);
    }
}

void zkl_permit_on_guard(struct zkl_permit *permit, enum zkl_notice notice, enum zkl_outcome outcome)
{
    struct zkl_attempt *lease = permit->lease;

    if (lease->result != ZKLOCK_PENDING)
        return;
    switch (notice) {
    case ZKL_NOTICE_GRANTED:
    case ZKL_NOTICE_LOST: /* where the lease has been made, it does without */
        zkl_permit_review(permit);
        break;
    case ZKL_NOTICE_ENDED:
        zkl_detail_say(&lease->detail, "%s", zkl_detail_text(&permit->guard->detail));
        zkl_attempt_give_up(lease, outcome);
        break;
    case ZKL_NOTICE_REQUEUED:
        if (lease->lock)
            zkl_lock_on_notice(lease->lock, lease, notice, outcome);
        break;
    case ZKL_NOTICE_RELEASED:
    case ZKL_NOTICE_DOWNGRADED:
    case ZKL_NOTICE_NONE:
        break;
    }
}
