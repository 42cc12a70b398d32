/* How several locks are taken as one: carries out the plan of recipe/multi. */
#include "lock/multi.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- how the parts stand */

static enum zkl_part standing_of(const zklock *part)
{
    if (!part->is_in_multi_flight)
        return ZKL_PART_IDLE;
    if (part->attempt->result == ZKLOCK_PENDING)
        return zkl_attempt_is_behind(part->attempt) ? ZKL_PART_BEHIND : ZKL_PART_ASKING;
    if (part->attempt->result != ZKLOCK_OK)
        return ZKL_PART_FAILED;
    return zkl_lock_is_granted(part) ? ZKL_PART_HELD : ZKL_PART_LOST;
}

static struct zkl_multi_plan plan(zklock_multi *multi)
{
    for (int i = 0; i < multi->count; i++)
        multi->standing[i] = standing_of(multi->parts[i]);
    return zkl_multi_plan(multi->standing, multi->count);
}

bool zkl_multi_is_in_use(const zklock_multi *multi)
{
    if (multi->result == ZKLOCK_PENDING || multi->releasers > 0)
        return true;
    for (int i = 0; i < multi->count; i++) {
        if (zkl_lock_is_granted(multi->parts[i]) || zkl_lock_is_lost(multi->parts[i]))
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------- the result */

static void wake_owner(zklock_multi *multi)
{
    pthread_cond_broadcast(&multi->changed);
    if (multi->event_fd >= 0)
        (void)!write(multi->event_fd, &(uint64_t){1}, sizeof(uint64_t));
}

const char *zkl_multi_path_of(const zklock *part)
{
    const char *path = part->path + strlen(zkl_session_chroot(part->session));

    return *path ? path : "/";
}

static void tell_waiters(zklock_multi *multi)
{
    for (struct zkl_multi_waiter *waiter = multi->waiters; waiter; waiter = waiter->next)
        waiter->result = multi->result;
    multi->waiters = NULL;
}

/* Only takes it down: whatever that means for the parts is done in the next turn. Hold limits count once all are held. */
static void record(zklock_multi *multi, zklock_status result, zklock *current)
{
    multi->result = result;
    tell_waiters(multi);
    multi->current = current;
    multi->detail[0] = '\0';
    for (int i = 0; result == ZKLOCK_OK && i < multi->count; i++)
        zkl_attempt_begin_hold(multi->parts[i]->attempt);
    if (result != ZKLOCK_OK && current)
        snprintf(multi->detail, sizeof multi->detail, "%s%s%s", zkl_multi_path_of(current),
                 current->detail.text ? ": " : "", zkl_detail_text(&current->detail));
    wake_owner(multi);
}

static void let_part_go(zklock *part)
{
    if (!part->is_in_multi_flight)
        return;
    part->is_in_multi_flight = false;
    if (part->attempt->result == ZKLOCK_PENDING)
        zkl_attempt_give_up(part->attempt, ZKL_OUTCOME_CANCELLED);
    else if (zkl_lock_is_granted(part) || zkl_lock_is_lost(part))
        zkl_attempt_release(part->attempt, ZKL_NEVER);
}

static void let_go_from(zklock_multi *multi, int first)
{
    for (int i = first; i < multi->count; i++)
        let_part_go(multi->parts[i]);
}

void zkl_multi_settle(zklock_multi *multi)
{
    if (!multi->is_member || multi->result == ZKLOCK_PENDING)
        return;
    if (multi->result != ZKLOCK_OK)
        let_go_from(multi, 0);
    zkl_session_leave(multi->session, &multi->member);
    multi->is_member = false;
}

void zkl_multi_end(zklock_multi *multi, zklock_status result)
{
    record(multi, result, multi->current);
    zkl_multi_settle(multi);
}

/* ---------------------------------------------------------------- its turns */

static zklock_status start_part(zklock_multi *multi, int which)
{
    zklock *part = multi->parts[which];
    zklock_status status = zkl_lock_start(part, multi->limit_ns, multi->is_try);

    part->is_in_multi_flight = status == ZKLOCK_OK;
    if (status != ZKLOCK_OK)
        record(multi, status, part);
    return status;
}

/* Back to back: one flight for all of them. */
static void start_all(zklock_multi *multi)
{
    for (int i = 0; i < multi->count && multi->result == ZKLOCK_PENDING; i++)
        (void)start_part(multi, i);
}

/* Takes down what has been decided. False: something is to be done. */
static bool is_settled(zklock_multi *multi, const struct zkl_multi_plan *next)
{
    zklock *part = multi->parts[next->part];

    switch (next->step) {
    case ZKL_MULTI_HELD:
        record(multi, ZKLOCK_OK, part);
        return true;
    case ZKL_MULTI_FAIL:
        record(multi, part->attempt->result, part);
        return true;
    case ZKL_MULTI_WAIT:
        multi->current = part;
        return true;
    case ZKL_MULTI_START_ALL:
    case ZKL_MULTI_START:
    case ZKL_MULTI_STAND:
    case ZKL_MULTI_GO_BACK:
        break;
    }
    return false;
}

static void do_next(zklock_multi *multi, const struct zkl_multi_plan *next)
{
    if (next->step == ZKL_MULTI_START_ALL)
        start_all(multi);
    else if (next->step == ZKL_MULTI_START)
        (void)start_part(multi, next->part);
    else
        let_go_from(multi, next->step == ZKL_MULTI_STAND ? next->part + 1 : 0);
}

static void turn(zklock_multi *multi)
{
    while (multi->result == ZKLOCK_PENDING) {
        struct zkl_multi_plan next = plan(multi);
        if (is_settled(multi, &next))
            break;
        do_next(multi, &next);
    }
    zkl_multi_settle(multi);
}

static void on_link(struct zkl_member *member, enum zkl_link link)
{
    (void)member;
    (void)link;
}

static void on_node(struct zkl_member *member, enum zkl_node_event event, const char *path)
{
    (void)member;
    (void)event;
    (void)path;
}

static void on_time(struct zkl_member *member, int64_t now_ns)
{
    (void)now_ns;
    turn((zklock_multi *)member);
}

/* It needs no more than its parts do. */
static bool is_stranded(struct zkl_member *member)
{
    (void)member;
    return true;
}

static const struct zkl_member_class multi_class = {
    .on_link = on_link,
    .on_node = on_node,
    .on_time = on_time,
    .is_stranded = is_stranded,
};

zklock_status zkl_multi_begin(zklock_multi *multi)
{
    multi->result = ZKLOCK_PENDING;
    multi->current = NULL;
    for (int i = 0; i < multi->count; i++)
        multi->parts[i]->is_in_multi_flight = false;
    multi->member.class = &multi_class;
    multi->is_member = true;
    zkl_session_join(multi->session, &multi->member);
    turn(multi);
    return multi->result == ZKLOCK_PENDING ? ZKLOCK_OK : multi->result;
}

/* ---------------------------------------------------------------- what the parts tell */

void zkl_multi_on_move(zklock_multi *multi)
{
    if (multi->result != ZKLOCK_PENDING || !multi->is_member)
        return;
    struct zkl_multi_plan next = plan(multi);
    if (!is_settled(multi, &next) || multi->result != ZKLOCK_PENDING)
        zkl_session_wake_member(multi->session, &multi->member, zkl_session_now(multi->session));
}

void zkl_multi_on_event(zklock_multi *multi)
{
    wake_owner(multi);
}
