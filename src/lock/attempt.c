#include "lock/attempt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lock/permit.h"

#define RETRY_NS (20 * ZKL_NS_PER_MS)
/* When to look at one ahead whose events may not come. */
#define LOOK_NS ZKL_NS_PER_S
/* When a holder asks for the watch on its own node: whoever has released by then was spared the request. */
#define WATCH_NS (50 * ZKL_NS_PER_MS)

/* ---------------------------------------------------------------- life */

void zkl_listing_clear(struct zkl_listing *listing)
{
    for (int i = 0; i < listing->count; i++)
        free(listing->names[i]);
    free(listing->names);
    free(listing->czxids);
    *listing = (struct zkl_listing){0};
}

static void destroy(struct zkl_attempt *attempt)
{
    zkl_listing_clear(&attempt->listing);
    zkl_zombie_free(attempt->zombie);
    zkl_permit_free(attempt->permit);
    zkl_detail_clear(&attempt->detail);
    free(attempt->path);
    free(attempt->payload);
    free(attempt->own_path);
    free(attempt->reader_path);
    free(attempt->ahead_path);
    free(attempt);
}

void zkl_attempt_ref(struct zkl_attempt *attempt)
{
    attempt->refs++;
}

void zkl_attempt_unref(struct zkl_attempt *attempt)
{
    if (--attempt->refs == 0)
        destroy(attempt);
}

struct zkl_attempt *zkl_attempt_new(zklock_session *session, zklock *lock, const struct zkl_attempt_options *options)
{
    struct zkl_attempt *attempt = calloc(1, sizeof *attempt);

    if (!attempt)
        return NULL;
    attempt->path = strdup(options->path);
    attempt->payload = strdup(options->payload);
    attempt->own_path = calloc(1, strlen(options->path) + 1 + ZKL_OWN_NAME_SIZE);
    if (!attempt->path || !attempt->payload || !attempt->own_path) {
        destroy(attempt);
        return NULL;
    }
    attempt->member.class = &zkl_attempt_class;
    attempt->session = session;
    attempt->lock = lock;
    attempt->refs = 2; /* the caller's and the session's */
    attempt->kind = options->kind;
    attempt->is_persistent_parent = options->is_persistent_parent;
    attempt->limit_ns = options->limit_ns;
    attempt->room = options->room;
    attempt->hold_limit_ms = options->hold_limit_ms;
    attempt->hold_ends_ns = ZKL_NEVER;
    attempt->retry_ns = ZKL_NEVER;
    attempt->look_ns = ZKL_NEVER;
    attempt->started_ns = zkl_session_now(session);
    attempt->result = ZKLOCK_PENDING;
    attempt->downgrade_result = ZKLOCK_PENDING;
    attempt->release_result = ZKLOCK_PENDING;
    attempt->guards = options->guards;
    zkl_machine_init(&attempt->machine, options->is_try, zkl_session_is_connected(session));
    attempt->machine.is_guard = options->guards != NULL;
    if (options->semaphore && !zkl_permit_new(attempt, options)) {
        destroy(attempt);
        return NULL;
    }
    if (attempt->guards)
        zkl_session_join_behind(session, &attempt->member, &attempt->guards->lease->member);
    else
        zkl_session_join(session, &attempt->member);
    return attempt;
}

/* ---------------------------------------------------------------- what it watches */

size_t zkl_attempt_room(const char *path, enum zkl_kind kind, bool is_try)
{
    size_t one = zkl_session_path_room(strlen(path) + 1 + ZKL_OWN_NAME_SIZE);
    size_t both = is_try ? one : 2 * one;

    /* A lease watches directories, which are shorter; and its guard is an attempt, too. */
    return kind == ZKL_KIND_LEASE && !is_try ? 2 * both + one : both;
}

/* A holder watches its own node alone. */
static void give_room_back(struct zkl_attempt *attempt, size_t rest)
{
    if (attempt->room <= rest)
        return;
    zkl_session_unreserve(attempt->session, attempt->room - rest);
    attempt->room = rest;
}

void zkl_attempt_leave_ahead(struct zkl_attempt *attempt)
{
    if (attempt->ahead_is_watched)
        zkl_session_leave_watch(attempt->session, attempt->ahead_path);
    attempt->ahead_is_watched = false;
}

/* ---------------------------------------------------------------- feeding the machine */

void zkl_attempt_plan(struct zkl_attempt *attempt)
{
    int64_t wake_ns = attempt->limit_ns < attempt->retry_ns ? attempt->limit_ns : attempt->retry_ns;

    if (attempt->look_ns < wake_ns)
        wake_ns = attempt->look_ns;
    if (attempt->machine.state == ZKL_HELD && attempt->hold_ends_ns < wake_ns)
        wake_ns = attempt->hold_ends_ns;
    zkl_session_wake_member(attempt->session, &attempt->member, wake_ns);
}

static int64_t soon(const struct zkl_attempt *attempt, int64_t pause_ns)
{
    return zkl_session_now(attempt->session) + zkl_jitter(zkl_session_runtime(attempt->session), pause_ns);
}

void zkl_attempt_retry_soon(struct zkl_attempt *attempt)
{
    attempt->retry_ns = soon(attempt, RETRY_NS);
    zkl_attempt_plan(attempt);
}

/* The connection is on its way down, the client library is full, or there is no memory. */
void zkl_attempt_try_later(struct zkl_attempt *attempt)
{
    struct zkl_event unsent = {.type = ZKL_EV_UNSENT, .flight = attempt->machine.flight};

    zkl_attempt_retry_soon(attempt);
    zkl_attempt_feed(attempt, &unsent);
}

/*
 * Servers since 3.8.4 keep the events of a node from those who may not read it: then nobody tells when the one ahead is
 * gone, and it is looked at again and again. Holders look once, and those that were granted within some time of each
 * other in one turn of the timer.
 */
static int64_t look_time(const struct zkl_attempt *attempt)
{
    int64_t now_ns = zkl_session_now(attempt->session);
    int64_t watch_ns = now_ns + WATCH_NS;

    return attempt->machine.state == ZKL_HELD ? watch_ns - watch_ns % (WATCH_NS / 2) : soon(attempt, LOOK_NS);
}

static void plan_look(struct zkl_attempt *attempt)
{
    bool is_due = zkl_machine_awaits_look(&attempt->machine);

    if (is_due == (attempt->look_ns != ZKL_NEVER))
        return;
    attempt->look_ns = is_due ? look_time(attempt) : ZKL_NEVER;
    zkl_attempt_plan(attempt);
}

/* Nobody needs the contender any more, and its znode is gone or in other hands. */
static void leave(struct zkl_attempt *attempt)
{
    if (attempt->has_left)
        return;
    attempt->has_left = true;
    zkl_attempt_leave_ahead(attempt);
    if (attempt->permit)
        zkl_permit_leave_limit(attempt->permit);
    give_room_back(attempt, 0);
    zkl_session_leave(attempt->session, &attempt->member);
    if (attempt->lock)
        zkl_lock_on_gone(attempt->lock, attempt);
    zkl_attempt_unref(attempt);
}

static void carry_out(struct zkl_attempt *attempt, const struct zkl_actions *actions)
{
    if (actions->zombie) {
        zkl_session_add_zombie(attempt->session, attempt->zombie, attempt->prefix);
        attempt->zombie = NULL;
    }
    if (actions->node_stays) {
        zkl_session_log(attempt->session, ZKLOCK_LOG_WARNING, "%s; it stays until the session ends",
                        zkl_detail_text(&attempt->detail));
        zkl_session_spoil(attempt->session);
    }
    if (actions->notice != ZKL_NOTICE_NONE) {
        zklock_status status = zkl_outcome_status(actions->outcome);
        if (actions->notice == ZKL_NOTICE_GRANTED || actions->notice == ZKL_NOTICE_ENDED) {
            attempt->result = status;
            attempt->limit_ns = ZKL_NEVER;
            if (actions->notice == ZKL_NOTICE_GRANTED)
                give_room_back(attempt, zkl_attempt_room(attempt->path, attempt->kind, true));
        } else if (actions->notice == ZKL_NOTICE_RELEASED) {
            attempt->release_result = status;
        } else if (actions->notice == ZKL_NOTICE_DOWNGRADED) {
            attempt->downgrade_result = status;
            if (status == ZKLOCK_OK)
                strcpy(attempt->own_path, attempt->reader_path);
        }
        if (attempt->lock)
            zkl_lock_on_notice(attempt->lock, attempt, actions->notice, actions->outcome);
        if (attempt->guards)
            zkl_permit_on_guard(attempt->guards, actions->notice, actions->outcome);
    }
    if (actions->ask != ZKL_ASK_NOTHING && !zkl_flight_launch(attempt, actions))
        zkl_attempt_try_later(attempt);
}

bool zkl_attempt_is_behind(const struct zkl_attempt *attempt)
{
    return attempt->machine.is_behind || (attempt->permit && zkl_permit_is_behind(attempt->permit));
}

const struct zkl_attempt *zkl_attempt_shown(const struct zkl_attempt *attempt)
{
    bool is_in_queue = attempt->permit && attempt->permit->guard && !attempt->machine.node_is_known;

    return is_in_queue ? attempt->permit->guard : attempt;
}

/* What happens to a guard happens to the lock whose lease it is for. */
static void tell_move(struct zkl_attempt *attempt)
{
    zklock *lock = attempt->guards ? attempt->guards->lease->lock : attempt->lock;

    if (lock)
        zkl_lock_on_move(lock);
}

void zkl_attempt_feed(struct zkl_attempt *attempt, struct zkl_event *event)
{
    enum zkl_state before = attempt->machine.state;
    zklock_status result = attempt->result;

    event->has_lease = zkl_session_has_lease(attempt->session);
    zkl_attempt_ref(attempt);
    struct zkl_actions actions = zkl_machine_step(&attempt->machine, event);
    if (attempt->machine.state != before)
        zkl_session_log(attempt->session, ZKLOCK_LOG_DEBUG, "%s: %s: %s -> %s", attempt->path,
                        zkl_event_name(event->type), zkl_state_name(before), zkl_state_name(attempt->machine.state));
    carry_out(attempt, &actions);
    if (attempt->machine.state == ZKL_GONE)
        leave(attempt);
    else
        plan_look(attempt);
    /* Where a create's fate is unknown, a wait ends and its contender stays what it is. */
    if (attempt->machine.state != before || attempt->result != result)
        tell_move(attempt);
    if (attempt->guards)
        zkl_permit_review_place(attempt->guards);
    if (attempt->permit)
        zkl_permit_review(attempt->permit);
    zkl_attempt_unref(attempt);
}

void zkl_attempt_tell(struct zkl_attempt *attempt, enum zkl_event_type type)
{
    struct zkl_event event = {.type = type};

    zkl_attempt_feed(attempt, &event);
}

void zkl_attempt_start(struct zkl_attempt *attempt)
{
    if (attempt->limit_ns != ZKL_NEVER)
        zkl_attempt_plan(attempt);
    zkl_attempt_tell(attempt, ZKL_EV_START);
}

void zkl_attempt_give_up(struct zkl_attempt *attempt, enum zkl_outcome why)
{
    struct zkl_event event = {.type = ZKL_EV_GIVE_UP, .why = why};

    event.guard_is_behind = attempt->permit && zkl_permit_is_behind(attempt->permit);
    zkl_attempt_feed(attempt, &event);
}

void zkl_attempt_release(struct zkl_attempt *attempt, int64_t limit_ns)
{
    attempt->limit_ns = limit_ns;
    attempt->limit_has_passed = false;
    if (limit_ns != ZKL_NEVER)
        zkl_attempt_plan(attempt);
    /* By the clock it is late, whether or not the timer has had its turn. */
    if (zkl_attempt_is_overdue(attempt))
        zkl_attempt_tell(attempt, ZKL_EV_HOLD_OVER);
    zkl_attempt_tell(attempt, ZKL_EV_RELEASE);
}

/* ---------------------------------------------------------------- how long it may be held */

void zkl_attempt_begin_hold(struct zkl_attempt *attempt)
{
    attempt->hold_ends_ns = zkl_time_after(zkl_session_now(attempt->session), attempt->hold_limit_ms);
    if (attempt->hold_ends_ns != ZKL_NEVER)
        zkl_attempt_plan(attempt);
}

bool zkl_attempt_is_overdue(const struct zkl_attempt *attempt)
{
    return attempt->machine.state == ZKL_HELD && attempt->hold_ends_ns <= zkl_session_now(attempt->session);
}

int64_t zkl_attempt_remaining(const struct zkl_attempt *attempt)
{
    int64_t left_ns = attempt->hold_ends_ns - zkl_session_now(attempt->session);

    if (attempt->machine.state != ZKL_HELD || left_ns <= 0)
        return 0;
    return zkl_time_earlier(left_ns, zkl_session_lease_remaining(attempt->session));
}

bool zkl_attempt_downgrade(struct zkl_attempt *attempt)
{
    size_t parent_size = strlen(attempt->path) + 1;

    if (!attempt->reader_path && !(attempt->reader_path = calloc(1, parent_size + ZKL_OWN_NAME_SIZE)))
        return false;
    if (!attempt->machine.is_downgrading) {
        memcpy(attempt->reader_path, attempt->own_path, parent_size);
        zkl_name_downgraded(attempt->own_path + parent_size, attempt->reader_path + parent_size);
        attempt->downgrade_result = ZKLOCK_PENDING;
    }
    zkl_attempt_tell(attempt, ZKL_EV_DOWNGRADE);
    return true;
}
