/* How threads share a contender: carries out the plan of recipe/cohort. */
#include "lock/cohort.h"

#include "lock/thread.h"

static zklock_session *session_of(const zklock_cohort *cohort)
{
    return cohort->lock->session;
}

bool zkl_cohort_is_owner(const zklock_cohort *cohort)
{
    bool is_owned = cohort->plan.state == ZKL_COHORT_HELD || cohort->plan.state == ZKL_COHORT_LOST;

    return is_owned && cohort->owner == zkl_this_thread();
}

/* ---------------------------------------------------------------- as a member of the session */

static const struct zkl_member_class cohort_class;

/* Only earlier: what is due later is seen in the turn. */
static void wake_at(zklock_cohort *cohort, int64_t when_ns)
{
    if (when_ns < cohort->member.wake_ns)
        zkl_session_wake_member(session_of(cohort), &cohort->member, when_ns);
}

static void be_member_while_somebody_waits(zklock_cohort *cohort)
{
    bool is_needed = cohort->plan.first != NULL;

    if (is_needed == cohort->is_member)
        return;
    cohort->is_member = is_needed;
    cohort->member.class = &cohort_class;
    if (is_needed)
        zkl_session_join(session_of(cohort), &cohort->member);
    else
        zkl_session_leave(session_of(cohort), &cohort->member);
}

/* ---------------------------------------------------------------- what is to be done */

static void settle(struct zkl_cohort_waiter *waiter, zklock_status result)
{
    struct zkl_cohort_thread *thread = (struct zkl_cohort_thread *)waiter;

    thread->result = result;
    pthread_cond_broadcast(&thread->changed);
}

static void refuse(struct zkl_cohort_waiter *first, zklock_status result)
{
    struct zkl_cohort_waiter *next;

    for (struct zkl_cohort_waiter *waiter = first; waiter; waiter = next) {
        next = waiter->next;
        settle(waiter, result);
    }
}

/* Because of the last one's limit, its contender says in its detail what it waited for. */
static void cancel(zklock_cohort *cohort, bool is_limit)
{
    cohort->is_asking = false;
    zkl_attempt_give_up(cohort->lock->attempt, is_limit ? ZKL_OUTCOME_LIMIT : ZKL_OUTCOME_CANCELLED);
}

static void step(zklock_cohort *cohort, enum zkl_cohort_event_type type, struct zkl_cohort_waiter *waiter,
                 zklock_status status);

static void ask(zklock_cohort *cohort, bool is_try)
{
    /* The limits are those of the threads. */
    cohort->is_asking = true;
    zklock_status status = zkl_lock_start(cohort->lock, ZKL_NEVER, is_try);
    if (status == ZKLOCK_OK)
        return;
    cohort->is_asking = false;
    step(cohort, ZKL_COHORT_FAILED, NULL, status);
}

/* `status`: of those who get nothing by it. */
static void step(zklock_cohort *cohort, enum zkl_cohort_event_type type, struct zkl_cohort_waiter *waiter,
                 zklock_status status)
{
    struct zkl_cohort_event event = {
        .type = type,
        .waiter = waiter,
        .now_ns = zkl_session_now(session_of(cohort)),
        .has_lease = zkl_lock_is_in_time(cohort->lock),
    };
    struct zkl_cohort_actions actions = zkl_cohort_step(&cohort->plan, &event);

    be_member_while_somebody_waits(cohort);
    if (actions.cancel)
        cancel(cohort, type == ZKL_COHORT_GIVE_UP);
    refuse(actions.refused, status);
    if (actions.admitted) {
        cohort->owner = ((struct zkl_cohort_thread *)actions.admitted)->thread;
        cohort->lock->entries = 1;
        settle(actions.admitted, ZKLOCK_OK);
    }
    if (actions.let_go)
        (void)zkl_lock_let_go(cohort->lock, ZKL_NEVER);
    if (actions.ask)
        ask(cohort, actions.is_try);
    if (actions.turn)
        wake_at(cohort, event.now_ns);
}

void zkl_cohort_arrive(zklock_cohort *cohort, struct zkl_cohort_thread *thread)
{
    step(cohort, ZKL_COHORT_ARRIVE, &thread->waiter, ZKLOCK_BUSY);
    if (thread->result == ZKLOCK_PENDING)
        wake_at(cohort, thread->limit_ns);
}

zklock_status zkl_cohort_release(zklock_cohort *cohort)
{
    bool was_lost = cohort->plan.state == ZKL_COHORT_LOST || !zkl_lock_is_in_time(cohort->lock);

    step(cohort, ZKL_COHORT_RELEASE, NULL, ZKLOCK_OK);
    return was_lost ? ZKLOCK_LOST : ZKLOCK_OK;
}

void zkl_cohort_end(zklock_cohort *cohort)
{
    step(cohort, ZKL_COHORT_DISMISS, NULL, ZKLOCK_CANCELLED);
    cohort->lock->cohort = NULL;
}

/* ---------------------------------------------------------------- what the lock tells */

static void hear_result(zklock_cohort *cohort, zklock_status result)
{
    cohort->is_asking = false;
    if (result == ZKLOCK_OK)
        step(cohort, ZKL_COHORT_GRANTED, NULL, ZKLOCK_OK);
    else
        step(cohort, result == ZKLOCK_BUSY ? ZKL_COHORT_BUSY : ZKL_COHORT_FAILED, NULL, result);
}

void zkl_cohort_on_event(zklock_cohort *cohort)
{
    const zklock *lock = cohort->lock;

    if (cohort->is_asking && lock->attempt->result != ZKLOCK_PENDING)
        hear_result(cohort, lock->attempt->result);
    if (cohort->plan.state == ZKL_COHORT_HELD && !zkl_lock_is_granted(lock))
        step(cohort, ZKL_COHORT_TAKEN, NULL, ZKLOCK_OK);
}

/* ---------------------------------------------------------------- what the session tells */

static void on_link(struct zkl_member *member, enum zkl_link link)
{
    zklock_cohort *cohort = (zklock_cohort *)member;

    if (link == ZKL_LINK_CLOSING)
        step(cohort, ZKL_COHORT_DISMISS, NULL, ZKLOCK_CLOSED);
    else if (link == ZKL_LINK_REFUSED)
        step(cohort, ZKL_COHORT_DISMISS, NULL, ZKLOCK_DENIED);
}

static void on_node(struct zkl_member *member, enum zkl_node_event event, const char *path)
{
    (void)member;
    (void)event;
    (void)path;
}

/* Whoever has waited as long as he would; NULL: nobody has. */
static struct zkl_cohort_thread *first_in_vain(const zklock_cohort *cohort, int64_t now_ns)
{
    for (struct zkl_cohort_waiter *waiter = cohort->plan.first; waiter; waiter = waiter->next) {
        struct zkl_cohort_thread *thread = (struct zkl_cohort_thread *)waiter;
        if (thread->limit_ns <= now_ns)
            return thread;
    }
    return NULL;
}

/* As the contender's wait would end: NO_SERVER where no server has said that anybody is ahead. */
static zklock_status status_in_vain(const zklock_cohort *cohort)
{
    bool is_unknown = cohort->plan.state == ZKL_COHORT_ASKED && !cohort->lock->attempt->machine.is_behind;

    return is_unknown ? ZKLOCK_NO_SERVER : ZKLOCK_TIMEOUT;
}

static void on_time(struct zkl_member *member, int64_t now_ns)
{
    zklock_cohort *cohort = (zklock_cohort *)member;
    struct zkl_cohort_thread *thread;

    while ((thread = first_in_vain(cohort, now_ns)) != NULL)
        step(cohort, ZKL_COHORT_GIVE_UP, &thread->waiter, status_in_vain(cohort));
    step(cohort, ZKL_COHORT_TURN, NULL, ZKLOCK_OK);
    for (struct zkl_cohort_waiter *waiter = cohort->plan.first; waiter; waiter = waiter->next)
        wake_at(cohort, ((struct zkl_cohort_thread *)waiter)->limit_ns);
}

/* It needs no more than its contender does. */
static bool is_stranded(struct zkl_member *member)
{
    (void)member;
    return true;
}

static const struct zkl_member_class cohort_class = {
    .on_link = on_link,
    .on_node = on_node,
    .on_time = on_time,
    .is_stranded = is_stranded,
};
