#include "lock/attempt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_NS (20 * ZKL_NS_PER_MS)
#define LOOK_NS ZKL_NS_PER_S

zklock_status zkl_outcome_status(enum zkl_outcome outcome)
{
    switch (outcome) {
    case ZKL_OUTCOME_OK:
        return ZKLOCK_OK;
    case ZKL_OUTCOME_BUSY:
        return ZKLOCK_BUSY;
    case ZKL_OUTCOME_LIMIT:
        return ZKLOCK_TIMEOUT;
    case ZKL_OUTCOME_NO_SERVER:
        return ZKLOCK_NO_SERVER;
    case ZKL_OUTCOME_CANCELLED:
        return ZKLOCK_CANCELLED;
    case ZKL_OUTCOME_CLOSED:
        return ZKLOCK_CLOSED;
    case ZKL_OUTCOME_REMOVED:
        return ZKLOCK_REMOVED;
    case ZKL_OUTCOME_EXPIRED:
    case ZKL_OUTCOME_LEASE:
    case ZKL_OUTCOME_LOST:
        return ZKLOCK_LOST;
    case ZKL_OUTCOME_MIXED:
        return ZKLOCK_MIXED_STYLES;
    case ZKL_OUTCOME_DENIED:
        return ZKLOCK_DENIED;
    case ZKL_OUTCOME_REFUSED:
        return ZKLOCK_REFUSED;
    }
    return ZKLOCK_INTERNAL;
}

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

static const struct zkl_member_class attempt_class;

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
    attempt->member.class = &attempt_class;
    attempt->session = session;
    attempt->lock = lock;
    attempt->refs = 2; /* the caller's and the session's */
    attempt->kind = options->kind;
    attempt->is_persistent_parent = options->is_persistent_parent;
    attempt->limit_ns = options->limit_ns;
    attempt->room = options->room;
    attempt->retry_ns = ZKL_NEVER;
    attempt->look_ns = ZKL_NEVER;
    attempt->started_ns = zkl_session_now(session);
    attempt->result = ZKLOCK_PENDING;
    attempt->downgrade_result = ZKLOCK_PENDING;
    attempt->release_result = ZKLOCK_PENDING;
    zkl_machine_init(&attempt->machine, options->is_try, zkl_session_is_connected(session));
    zkl_session_join(session, &attempt->member);
    return attempt;
}

/* ---------------------------------------------------------------- what it watches */

size_t zkl_attempt_room(const char *path, bool is_try)
{
    size_t one = zkl_session_path_room(strlen(path) + 1 + ZKL_OWN_NAME_SIZE);

    return is_try ? one : 2 * one;
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

static void plan(struct zkl_attempt *attempt)
{
    int64_t wake_ns = attempt->limit_ns < attempt->retry_ns ? attempt->limit_ns : attempt->retry_ns;

    if (attempt->look_ns < wake_ns)
        wake_ns = attempt->look_ns;
    zkl_session_wake_member(attempt->session, &attempt->member, wake_ns);
}

/* The connection is on its way down, the client library is full, or there is no memory. */
void zkl_attempt_try_later(struct zkl_attempt *attempt)
{
    struct zkl_event unsent = {.type = ZKL_EV_UNSENT, .flight = attempt->machine.flight};

    attempt->retry_ns = zkl_session_now(attempt->session) + RETRY_NS;
    plan(attempt);
    zkl_attempt_feed(attempt, &unsent);
}

/*
 * Servers since 3.8.4 keep the events of a node from those who may not read it: then nobody tells when the one ahead is
 * gone, and it is looked at again and again.
 */
static void plan_look(struct zkl_attempt *attempt)
{
    const struct zkl_machine *machine = &attempt->machine;
    bool is_blind = machine->state == ZKL_WAITING && machine->is_behind && machine->reads_by_exists;

    if (is_blind == (attempt->look_ns != ZKL_NEVER))
        return;
    attempt->look_ns = is_blind ? zkl_session_now(attempt->session) + LOOK_NS : ZKL_NEVER;
    plan(attempt);
}

/* Nobody needs the contender any more, and its znode is gone or in other hands. */
static void leave(struct zkl_attempt *attempt)
{
    if (attempt->has_left)
        return;
    attempt->has_left = true;
    zkl_attempt_leave_ahead(attempt);
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
        zkl_session_log(attempt->session, ZKLOCK_LOG_WARNING, "%s; it stays until the session ends", attempt->detail);
        zkl_session_spoil(attempt->session);
    }
    if (actions->notice != ZKL_NOTICE_NONE) {
        zklock_status status = zkl_outcome_status(actions->outcome);
        if (actions->notice == ZKL_NOTICE_GRANTED || actions->notice == ZKL_NOTICE_ENDED) {
            attempt->result = status;
            attempt->limit_ns = ZKL_NEVER;
            if (actions->notice == ZKL_NOTICE_GRANTED)
                give_room_back(attempt, zkl_attempt_room(attempt->path, true));
        } else if (actions->notice == ZKL_NOTICE_RELEASED) {
            attempt->release_result = status;
        } else if (actions->notice == ZKL_NOTICE_DOWNGRADED) {
            attempt->downgrade_result = status;
            if (status == ZKLOCK_OK)
                strcpy(attempt->own_path, attempt->reader_path);
        }
        if (attempt->lock)
            zkl_lock_on_notice(attempt->lock, attempt, actions->notice, actions->outcome);
    }
    if (actions->ask != ZKL_ASK_NOTHING && !zkl_flight_launch(attempt, actions))
        zkl_attempt_try_later(attempt);
}

void zkl_attempt_feed(struct zkl_attempt *attempt, struct zkl_event *event)
{
    enum zkl_state before = attempt->machine.state;

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
    if (attempt->lock && attempt->machine.state != before)
        zkl_lock_on_move(attempt->lock);
    zkl_attempt_unref(attempt);
}

static void feed_type(struct zkl_attempt *attempt, enum zkl_event_type type)
{
    struct zkl_event event = {.type = type};

    zkl_attempt_feed(attempt, &event);
}

void zkl_attempt_start(struct zkl_attempt *attempt)
{
    if (attempt->limit_ns != ZKL_NEVER)
        plan(attempt);
    feed_type(attempt, ZKL_EV_START);
}

void zkl_attempt_give_up(struct zkl_attempt *attempt, enum zkl_outcome why)
{
    struct zkl_event event = {.type = ZKL_EV_GIVE_UP, .why = why};

    zkl_attempt_feed(attempt, &event);
}

void zkl_attempt_release(struct zkl_attempt *attempt, int64_t limit_ns)
{
    attempt->limit_ns = limit_ns;
    attempt->limit_has_passed = false;
    if (limit_ns != ZKL_NEVER)
        plan(attempt);
    feed_type(attempt, ZKL_EV_RELEASE);
}

bool zkl_attempt_downgrade(struct zkl_attempt *attempt, int64_t limit_ns)
{
    size_t parent_size = strlen(attempt->path) + 1;

    if (!attempt->reader_path && !(attempt->reader_path = calloc(1, parent_size + ZKL_OWN_NAME_SIZE)))
        return false;
    if (!attempt->machine.is_downgrading) {
        memcpy(attempt->reader_path, attempt->own_path, parent_size);
        zkl_name_downgraded(attempt->own_path + parent_size, attempt->reader_path + parent_size);
        attempt->downgrade_result = ZKLOCK_PENDING;
    }
    attempt->limit_ns = limit_ns;
    attempt->limit_has_passed = false;
    if (limit_ns != ZKL_NEVER)
        plan(attempt);
    feed_type(attempt, ZKL_EV_DOWNGRADE);
    return true;
}

/* ---------------------------------------------------------------- as a member of the session */

static void on_link(struct zkl_member *member, enum zkl_link link)
{
    struct zkl_attempt *attempt = (struct zkl_attempt *)member;
    zklock *lock = attempt->lock;

    switch (link) {
    case ZKL_LINK_CONNECTED:
        if (lock)
            zkl_lock_on_silence(lock, attempt, false);
        feed_type(attempt, ZKL_EV_CONNECTED);
        break;
    case ZKL_LINK_DISCONNECTED:
        if (lock)
            zkl_lock_on_silence(lock, attempt, true);
        feed_type(attempt, ZKL_EV_DISCONNECTED);
        break;
    case ZKL_LINK_EXPIRED:
        attempt->ahead_is_watched = false;
        feed_type(attempt, ZKL_EV_EXPIRED);
        break;
    case ZKL_LINK_LEASED:
        feed_type(attempt, ZKL_EV_LEASED);
        break;
    case ZKL_LINK_LAPSED:
        feed_type(attempt, ZKL_EV_LAPSED);
        break;
    case ZKL_LINK_SILENT:
    case ZKL_LINK_ANSWERING:
        if (lock)
            zkl_lock_on_silence(lock, attempt, link == ZKL_LINK_SILENT);
        break;
    case ZKL_LINK_REFUSED:
        if (attempt->result != ZKLOCK_PENDING)
            break;
        zkl_session_describe(attempt->session, attempt->detail, sizeof attempt->detail);
        zkl_attempt_give_up(attempt, ZKL_OUTCOME_DENIED);
        break;
    case ZKL_LINK_CLOSING:
        zkl_attempt_give_up(attempt, ZKL_OUTCOME_CLOSED);
        break;
    }
}

static void on_node(struct zkl_member *member, enum zkl_node_event event, const char *path)
{
    struct zkl_attempt *attempt = (struct zkl_attempt *)member;

    if (attempt->machine.node_is_known && strcmp(path, attempt->own_path) == 0) {
        feed_type(attempt, event == ZKL_NODE_DELETED ? ZKL_EV_OWN_GONE : ZKL_EV_OWN_CHANGED);
    } else if (attempt->ahead_path && strcmp(path, attempt->ahead_path) == 0) {
        attempt->ahead_is_watched = false;
        if (event == ZKL_NODE_DELETED)
            zkl_session_log(attempt->session, ZKLOCK_LOG_INFO, "%s: woken: %s is gone", attempt->path,
                            strrchr(path, '/') + 1);
        feed_type(attempt, event == ZKL_NODE_DELETED ? ZKL_EV_AHEAD_GONE : ZKL_EV_AHEAD_CHANGED);
    }
}

/* A node whose delete was sent is left out, alone or within a downgrade: its absence is no news. */
static const char *own_path(struct zkl_member *member)
{
    const struct zkl_attempt *attempt = (const struct zkl_attempt *)member;

    bool may_go = attempt->machine.state == ZKL_DELETING || zkl_machine_has_two_names(&attempt->machine);

    return attempt->machine.node_is_known && !may_go ? attempt->own_path : NULL;
}

static void on_own_gone(struct zkl_member *member)
{
    feed_type((struct zkl_attempt *)member, ZKL_EV_OWN_GONE);
}

static void on_time(struct zkl_member *member, int64_t now_ns)
{
    struct zkl_attempt *attempt = (struct zkl_attempt *)member;

    zkl_attempt_ref(attempt);
    if (now_ns >= attempt->retry_ns) {
        attempt->retry_ns = ZKL_NEVER;
        feed_type(attempt, ZKL_EV_RETRY);
    }
    if (now_ns >= attempt->look_ns)
        feed_type(attempt, ZKL_EV_AHEAD_CHANGED);
    if (now_ns >= attempt->limit_ns) {
        attempt->limit_ns = ZKL_NEVER;
        attempt->limit_has_passed = true;
        if (attempt->result == ZKLOCK_PENDING)
            zkl_attempt_give_up(attempt, ZKL_OUTCOME_LIMIT);
        else if (attempt->lock)
            zkl_lock_on_limit(attempt->lock);
    }
    if (attempt->machine.state != ZKL_GONE)
        plan(attempt);
    zkl_attempt_unref(attempt);
}

static bool is_stranded(struct zkl_member *member)
{
    const struct zkl_attempt *attempt = (const struct zkl_attempt *)member;

    return attempt->machine.state == ZKL_WAITING && !attempt->machine.is_behind && attempt->result == ZKLOCK_PENDING;
}

static const struct zkl_member_class attempt_class = {
    .on_link = on_link,
    .on_node = on_node,
    .own_path = own_path,
    .on_own_gone = on_own_gone,
    .on_time = on_time,
    .is_stranded = is_stranded,
};
