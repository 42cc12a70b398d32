/* Semaphores: how many hold together, who waits and in which order, and what becomes of the limit. */
#include <stdio.h>
#include <string.h>

#include "lock/lock_state.h"
#include "lock/permit.h"
#include "server/lock_stage.h"
#include "support/eventually.h"
#include "support/suite.h"

#define LEASES STAGE_PATH "/leases"
#define GUARDS STAGE_PATH "/locks"
/* A lease as Curator writes it. */
#define CURATORS_LEASE LEASES "/_c_0f0f0f0f-aaaa-4bbb-8ccc-0123456789ab-lease-"
#define CURATORS_LOCK STAGE_PATH "/_c_0f0f0f0f-aaaa-4bbb-8ccc-0123456789ab-lock-"
#define CURATORS_GUARD GUARDS "/_c_0f0f0f0f-aaaa-4bbb-8ccc-0123456789ab-lock-"

static struct contender *new_contender(zklock_session *session, unsigned permits)
{
    zklock_options options;

    zklock_options_init(&options);
    options.mode = ZKLOCK_MODE_SEMAPHORE;
    options.permits = permits;
    return contender_new_with(session, STAGE_PATH, &options);
}

static struct contender *hold(zklock_session *session, unsigned permits)
{
    struct contender *contender = new_contender(session, permits);

    contender_hold(contender);
    return contender;
}

/* In front: it has a lease, and all permits are taken. */
static struct contender *queue_in_front(zklock_session *session, unsigned permits)
{
    struct contender *contender = new_contender(session, permits);

    contender_queue(contender);
    return contender;
}

static bool guard_waits(void *context)
{
    struct contender *contender = context;

    zkl_session_lock(contender->session);
    const struct zkl_attempt *lease = contender->lock->attempt;
    bool waits = lease && lease->permit->guard && lease->permit->guard->machine.state == ZKL_WAITING;
    zkl_session_unlock(contender->session);
    return waits;
}

/* Behind the one in front. */
static struct contender *queue_behind(zklock_session *session, unsigned permits)
{
    struct contender *contender = new_contender(session, permits);

    contender_begin(contender, -1);
    CU_ASSERT_TRUE_FATAL(eventually(guard_waits, contender, STAGE_LIMIT_MS));
    return contender;
}

static void let_go(struct contender *contender)
{
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void check_detail(struct contender *contender, const char *part)
{
    char detail[256];

    zklock_detail(contender->lock, detail, sizeof detail);
    if (!strstr(detail, part))
        printf("\n'%s' does not say '%s'\n", detail, part);
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, part));
}

static bool knows_limit(void *context)
{
    struct contender *contender = context;

    zkl_session_lock(contender->session);
    bool knows = contender->lock->attempt && contender->lock->attempt->permit->limit > 0;
    zkl_session_unlock(contender->session);
    return knows;
}

static bool limit_is_set(void *unused)
{
    struct observed_node node;

    (void)unused;
    if (observer_look(stage.observer, STAGE_PATH, &node) != 0)
        return false;
    bool is_set = node.data && node.data[0];
    observed_node_clear(&node);
    return is_set;
}

/* Nobody is in it, or it is not there. */
static bool is_empty(void *directory)
{
    return observer_count(stage.observer, directory) <= 0;
}

static void check_that_nothing_is_left(void)
{
    CU_ASSERT_TRUE(eventually(is_empty, (void *)(uintptr_t)LEASES, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(eventually(is_empty, (void *)(uintptr_t)GUARDS, STAGE_LIMIT_MS));
}

static void check_data(const char *path, const char *expected)
{
    struct observed_node node;

    CU_ASSERT_EQUAL_FATAL(observer_look(stage.observer, path, &node), 0);
    CU_ASSERT_STRING_EQUAL(node.data, expected);
    observed_node_clear(&node);
}

/* ---------------------------------------------------------------- who holds */

static void as_many_hold_as_there_are_permits(void)
{
    struct contender *first = hold(stage.session, 2);
    struct contender *second = hold(stage_open_outside(), 2);
    struct contender *third = queue_in_front(stage_open_outside(), 2);
    char node[OBSERVER_PATH_SIZE];

    contender_node(first, node);
    CU_ASSERT_PTR_NOT_NULL(strstr(node, LEASES "/_c_"));
    CU_ASSERT_PTR_NOT_NULL(strstr(node, "-lease-00"));
    CU_ASSERT_TRUE(contender_token(second) > contender_token(first));
    CU_ASSERT_EQUAL(observer_count(stage.observer, LEASES), 3);
    CU_ASSERT_EQUAL(observer_count(stage.observer, GUARDS), 1);
    let_go(first);
    CU_ASSERT_EQUAL(contender_result(third), ZKLOCK_OK);
    CU_ASSERT_TRUE(contender_token(third) > contender_token(second));
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, GUARDS, 0, STAGE_LIMIT_MS));
    let_go(second);
    let_go(third);
    check_that_nothing_is_left();
}

static void permits_are_given_in_the_order_of_arrival(void)
{
    struct contender *holder = hold(stage.session, 1);
    struct contender *first = queue_in_front(stage_open_outside(), 1);
    struct contender *second = queue_behind(stage.session, 1);
    struct contender *third = queue_behind(stage_open_outside(), 1);

    let_go(holder);
    CU_ASSERT_EQUAL(contender_result(first), ZKLOCK_OK);
    contender_await_state(second, ZKL_WAITING);
    CU_ASSERT_EQUAL(zklock_result(third->lock), ZKLOCK_PENDING);
    let_go(first);
    CU_ASSERT_EQUAL(contender_result(second), ZKLOCK_OK);
    let_go(second);
    CU_ASSERT_EQUAL(contender_result(third), ZKLOCK_OK);
    let_go(third);
    check_that_nothing_is_left();
}

static void lease_of_another_client_counts(void)
{
    char others[OBSERVER_PATH_SIZE];
    struct contender *holder = hold(stage.session, 2);

    CU_ASSERT_EQUAL(observer_create(stage.observer, CURATORS_LEASE, "", ZOO_EPHEMERAL | ZOO_SEQUENCE, others), 0);
    struct contender *waiter = queue_in_front(stage.session, 2);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, others), 0);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    let_go(waiter);
    let_go(holder);
}

static void waiter_that_gives_up_makes_room_for_the_next(void)
{
    struct contender *holder = hold(stage.session, 1);
    struct contender *first = queue_in_front(stage_open_outside(), 1);
    struct contender *second = queue_behind(stage_open_outside(), 1);

    CU_ASSERT_EQUAL(zklock_cancel(first->lock), ZKLOCK_OK);
    contender_await_state(second, ZKL_WAITING);
    CU_ASSERT_EQUAL(zklock_cancel(second->lock), ZKLOCK_OK);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, GUARDS, 0, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, LEASES, 1, STAGE_LIMIT_MS));
    let_go(holder);
}

static void limit_of_time_says_what_is_ahead(void)
{
    struct contender *holder = hold(stage_open_outside(), 1);
    struct contender *front = new_contender(stage.session, 1);
    struct contender *behind = new_contender(stage.session, 1);

    CU_ASSERT_EQUAL(zklock_acquire(front->lock, 300), ZKLOCK_TIMEOUT);
    check_detail(front, "all 1 permits are taken");
    contender_await_event(front, ZKLOCK_EVENT_RELEASED);
    contender_queue(front);
    CU_ASSERT_EQUAL(zklock_acquire(behind->lock, 300), ZKLOCK_TIMEOUT);
    check_detail(behind, "behind locks/_c_");
    let_go(holder);
    CU_ASSERT_EQUAL(contender_result(front), ZKLOCK_OK);
    let_go(front);
}

static void try_of_a_full_semaphore_writes_nothing(void)
{
    struct contender *holder = hold(stage_open_outside(), 1);
    struct contender *contender = new_contender(stage.session, 1);

    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(zklock_try(contender->lock, STAGE_LIMIT_MS), ZKLOCK_BUSY);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), 0);
    CU_ASSERT_EQUAL(stage_requests(), 2);
    let_go(holder);
    CU_ASSERT_EQUAL(zklock_try(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    let_go(contender);
    check_that_nothing_is_left();
}

/* Somebody is on his way to a permit, and there is one for the other, too. */
static void try_is_not_held_up_by_the_guard_of_another(void)
{
    char guard[OBSERVER_PATH_SIZE];
    struct contender *contender = new_contender(stage.session, 2);
    struct contender *first = hold(stage.session, 2);

    CU_ASSERT_EQUAL(observer_create(stage.observer, CURATORS_GUARD, "", ZOO_EPHEMERAL | ZOO_SEQUENCE, guard), 0);
    CU_ASSERT_EQUAL(zklock_try(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    let_go(contender);
    let_go(first);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, guard), 0);
}

/* ---------------------------------------------------------------- the limit */

static void first_one_sets_the_limit(void)
{
    struct contender *contender = hold(stage.session, 3);
    unsigned permits = 0;

    check_data(STAGE_PATH, "{\"zklock_permits\":3}");
    CU_ASSERT_EQUAL(zklock_permits_read(stage.session, STAGE_PATH, STAGE_LIMIT_MS, &permits), ZKLOCK_OK);
    CU_ASSERT_EQUAL(permits, 3);
    let_go(contender);
}

static void another_limit_is_refused_and_both_are_named(void)
{
    struct contender *holder = hold(stage.session, 3);
    struct contender *other = new_contender(stage.session, 5);

    CU_ASSERT_EQUAL(zklock_acquire(other->lock, STAGE_LIMIT_MS), ZKLOCK_OTHER_PERMITS);
    check_detail(other, STAGE_PATH " has a limit of 3 permits, and 5 were asked for");
    CU_ASSERT_EQUAL(zklock_try(other->lock, STAGE_LIMIT_MS), ZKLOCK_OTHER_PERMITS);
    check_data(STAGE_PATH, "{\"zklock_permits\":3}");
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, GUARDS, 0, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(observer_count(stage.observer, LEASES), 1);
    let_go(holder);
}

static void limit_is_taken_as_it_stands(void)
{
    struct contender *contender = new_contender(stage.session, 0);

    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OTHER_PERMITS);
    check_detail(contender, "no limit yet");
    CU_ASSERT_EQUAL(zklock_permits_write(stage.session, STAGE_PATH, 1, STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_hold(contender);
    struct contender *waiter = queue_in_front(stage.session, 0);
    let_go(contender);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    let_go(waiter);
}

static void data_of_others_are_left_alone(void)
{
    struct contender *contender = new_contender(stage.session, 2);
    unsigned permits = 7;

    CU_ASSERT_EQUAL(observer_set(stage.observer, STAGE_PATH, "mine", 4), 0);
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_REFUSED);
    check_detail(contender, "no limit of a semaphore");
    CU_ASSERT_EQUAL(zklock_permits_read(stage.session, STAGE_PATH, STAGE_LIMIT_MS, &permits), ZKLOCK_REFUSED);
    CU_ASSERT_EQUAL(zklock_permits_write(stage.session, STAGE_PATH, 2, STAGE_LIMIT_MS), ZKLOCK_REFUSED);
    check_data(STAGE_PATH, "mine");
    CU_ASSERT_EQUAL(permits, 7);
    check_that_nothing_is_left();
}

static void raised_limit_lets_the_waiters_in(void)
{
    struct contender *holder = hold(stage.session, 1);
    struct contender *first = queue_in_front(stage.session, 1);
    struct contender *second = queue_behind(stage_open_outside(), 1);

    CU_ASSERT_EQUAL(zklock_permits_write(stage.session, STAGE_PATH, 3, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(first), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(second), ZKLOCK_OK);
    let_go(first);
    let_go(second);
    let_go(holder);
    check_that_nothing_is_left();
}

static void lowered_limit_takes_nothing_away(void)
{
    struct contender *first = hold(stage.session, 2);
    struct contender *second = hold(stage.session, 2);
    struct contender *waiter = queue_in_front(stage.session, 2);

    CU_ASSERT_EQUAL(zklock_permits_write(stage.session, STAGE_PATH, 1, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_is_held(second->lock));
    let_go(first);
    stage_fence(stage.session);
    contender_await_state(waiter, ZKL_WAITING);
    CU_ASSERT_EQUAL(zklock_result(waiter->lock), ZKLOCK_PENDING);
    let_go(second);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    let_go(waiter);
}

static void limit_is_set_where_there_is_no_path(void)
{
    unsigned permits = 7;

    CU_ASSERT_EQUAL(zklock_permits_read(stage.session, "/not/there", STAGE_LIMIT_MS, &permits), ZKLOCK_OK);
    CU_ASSERT_EQUAL(permits, 0);
    CU_ASSERT_EQUAL(zklock_permits_write(stage.session, "/not/there", 4, STAGE_LIMIT_MS), ZKLOCK_OK);
    check_data("/not/there", "{\"zklock_permits\":4}");
    CU_ASSERT_EQUAL(zklock_permits_write(stage.session, "/not/there", 0, STAGE_LIMIT_MS), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, "/not/there"), 0);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, "/not"), 0);
}

/* Two who have both found nothing: one sets it, the other one is refused. The first has the guard, and has not looked yet. */
static void two_first_ones_agree_on_one_limit(void)
{
    struct contender *first = new_contender(stage.session, 2);
    struct contender *second = new_contender(stage_open_outside(), 3);

    CU_ASSERT_EQUAL(observer_create(stage.observer, GUARDS, "", 0, NULL), 0);
    fault_proxy_hold_reply(stage.proxy, FAULT_OP_GET_DATA, 1);
    contender_begin(first, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    contender_begin(second, -1);
    CU_ASSERT_TRUE_FATAL(eventually(limit_is_set, NULL, STAGE_LIMIT_MS));
    check_data(STAGE_PATH, "{\"zklock_permits\":3}");
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(contender_result(first), ZKLOCK_OTHER_PERMITS);
    check_detail(first, "a limit of 3 permits, and 2 were asked for");
    CU_ASSERT_EQUAL(contender_result(second), ZKLOCK_OK);
    let_go(second);
    check_that_nothing_is_left();
}

/* Nobody had set it when they came; so the first of them has, and what it becomes is compared with nothing. */
static void those_who_wait_for_the_guard_follow_the_limit(void)
{
    struct contender *waiters[3];
    char guard[OBSERVER_PATH_SIZE];

    CU_ASSERT_EQUAL(observer_create(stage.observer, GUARDS, "", 0, NULL), 0);
    CU_ASSERT_EQUAL(observer_create(stage.observer, CURATORS_GUARD, "", ZOO_EPHEMERAL | ZOO_SEQUENCE, guard), 0);
    for (int i = 0; i < 3; i++) {
        waiters[i] = queue_behind(i == 0 ? stage.session : stage_open_outside(), 1);
        CU_ASSERT_TRUE_FATAL(eventually(knows_limit, waiters[i], STAGE_LIMIT_MS));
    }
    check_data(STAGE_PATH, "{\"zklock_permits\":1}");
    CU_ASSERT_EQUAL(zklock_permits_write(stage.session, STAGE_PATH, 3, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, guard), 0);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(contender_result(waiters[i]), ZKLOCK_OK);
    for (int i = 0; i < 3; i++)
        let_go(waiters[i]);
    check_that_nothing_is_left();
}

/* ---------------------------------------------------------------- locks at the same path */

static struct contender *new_lock(zklock_session *session)
{
    zklock_options options;

    zklock_options_init(&options);
    return contender_new_with(session, STAGE_PATH, &options);
}

/* Its directories are there. */
static void use_and_leave_semaphore(void)
{
    let_go(hold(stage.session, 2));
    check_that_nothing_is_left();
}

/* The lock's contender is made, and it has not heard of it, when the permit is asked for. */
static void permit_that_comes_with_a_lock_gives_way(void)
{
    struct contender *lock = new_lock(stage.session);
    struct contender *permit = new_contender(stage_open_outside(), 2);

    use_and_leave_semaphore();
    fault_proxy_hold_reply(stage.proxy, FAULT_OP_CREATE2, 1);
    contender_begin(lock, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_acquire(permit->lock, STAGE_LIMIT_MS), ZKLOCK_MIXED_STYLES);
    check_detail(permit, STAGE_PATH " has a lock's contenders");
    CU_ASSERT_EQUAL(zklock_try(permit->lock, STAGE_LIMIT_MS), ZKLOCK_MIXED_STYLES);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(contender_result(lock), ZKLOCK_OK);
    let_go(lock);
    check_that_nothing_is_left();
    contender_hold(permit);
    let_go(permit);
}

/* The lease is made, and its owner has not heard of it. */
static void lock_that_comes_with_a_permit_gives_way(void)
{
    struct contender *lock = new_lock(stage_open_outside());
    struct contender *permit = new_contender(stage.session, 2);

    use_and_leave_semaphore();
    fault_proxy_hold_reply(stage.proxy, FAULT_OP_CREATE2, 2);
    contender_begin(permit, -1);
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_acquire(lock->lock, STAGE_LIMIT_MS), ZKLOCK_MIXED_STYLES);
    check_detail(lock, STAGE_PATH " is a semaphore in use");
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(contender_result(permit), ZKLOCK_OK);
    let_go(permit);
    contender_hold(lock);
    let_go(lock);
}

/* ---------------------------------------------------------------- losses */

static void holder_is_told_that_its_lease_was_removed(void)
{
    struct contender *contender = hold(stage.session, 2);
    char node[OBSERVER_PATH_SIZE];

    contender_node(contender, node);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), 0);
    CU_ASSERT_EQUAL(contender_await_event(contender, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_REMOVED);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
    check_that_nothing_is_left();
}

static void waiter_is_told_that_its_lease_was_removed(void)
{
    struct contender *holder = hold(stage.session, 1);
    struct contender *waiter = queue_in_front(stage.session, 1);
    char node[OBSERVER_PATH_SIZE];

    contender_node(waiter, node);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), 0);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_REMOVED);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, GUARDS, 0, STAGE_LIMIT_MS));
    let_go(holder);
}

static void waiter_is_told_that_its_place_in_the_queue_was_removed(void)
{
    struct contender *holder = hold(stage.session, 1);
    struct contender *front = queue_in_front(stage.session, 1);
    struct contender *behind = queue_behind(stage.session, 1);
    char node[OBSERVER_PATH_SIZE];

    contender_node(behind, node);
    CU_ASSERT_PTR_NOT_NULL(strstr(node, GUARDS "/_c_"));
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), 0);
    CU_ASSERT_EQUAL(contender_result(behind), ZKLOCK_REMOVED);
    let_go(holder);
    CU_ASSERT_EQUAL(contender_result(front), ZKLOCK_OK);
    let_go(front);
}

/* The session through the proxy ends while it hears nothing. */
static void expire_session(int leases, int guards)
{
    fault_proxy_set_mood(stage.proxy, FAULT_HOLE);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, LEASES, leases, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, GUARDS, guards, STAGE_LIMIT_MS));
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
}

/* The front and the ones behind it lose all they have, and stand in line again on the fresh session. */
static void expired_waiters_queue_again(void)
{
    struct contender *holder = hold(stage_open_outside(), 1);
    struct contender *front = queue_in_front(stage.session, 1);
    struct contender *behind = queue_behind(stage.session, 1);

    expire_session(1, 0);
    contender_await_event(front, ZKLOCK_EVENT_REQUEUED);
    contender_await_event(behind, ZKLOCK_EVENT_REQUEUED);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, GUARDS, 2, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, LEASES, 2, STAGE_LIMIT_MS));
    let_go(holder);
    CU_ASSERT_EQUAL(contender_result(front), ZKLOCK_OK);
    let_go(front);
    CU_ASSERT_EQUAL(contender_result(behind), ZKLOCK_OK);
    let_go(behind);
    check_that_nothing_is_left();
}

static void expired_holder_is_told(void)
{
    struct contender *holder = hold(stage.session, 1);
    struct contender *waiter = queue_in_front(stage_open_outside(), 1);

    expire_session(1, 0);
    contender_await_event(holder, ZKLOCK_EVENT_LOST);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_LOST);
    let_go(waiter);
}

static void lease_whose_answer_is_lost_is_found_again(void)
{
    struct contender *contender = new_contender(stage.session, 1);

    fault_proxy_lose_reply(stage.proxy, FAULT_OP_CREATE2, 2, FAULT_THEN_CUT);
    contender_hold(contender);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, GUARDS, 0, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(observer_count(stage.observer, LEASES), 1);
    let_go(contender);
    check_that_nothing_is_left();
}

static void limit_that_changes_during_a_cut_is_seen_after_it(void)
{
    struct contender *holder = hold(stage_open_outside(), 1);
    struct contender *waiter = queue_in_front(stage.session, 1);

    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    CU_ASSERT_EQUAL(zklock_permits_write(holder->session, STAGE_PATH, 2, STAGE_LIMIT_MS), ZKLOCK_OK);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    let_go(waiter);
    let_go(holder);
}

static void closing_removes_holders_and_waiters(void)
{
    zklock_session *session = stage_open_outside();

    hold(session, 1);
    queue_in_front(session, 1);
    queue_behind(session, 1);
    CU_ASSERT_EQUAL(stage_close(session, STAGE_LIMIT_MS), ZKLOCK_OK);
    check_that_nothing_is_left();
}

/* ---------------------------------------------------------------- cost */

/* Without heartbeats of any kind. */
static long requests_of_locks(void)
{
    return stage_requests() - fault_proxy_requests(stage.proxy, FAULT_OP_EXISTS) -
           fault_proxy_requests(stage.proxy, FAULT_OP_SYNC);
}

static void free_permit_costs_eight_requests_in_two_flights(void)
{
    enum { ONE_WAY_MS = 300 };
    struct contender *first = hold(stage.session, 4);
    struct contender *contender = new_contender(stage.session, 4);

    let_go(first);
    check_that_nothing_is_left();
    stage_fence(stage.session);
    fault_proxy_set_delay(stage.proxy, ONE_WAY_MS, ONE_WAY_MS);
    fault_proxy_reset_counts(stage.proxy);
    int64_t start_ms = monotonic_ms();
    contender_hold(contender);
    printf(" [%lld ms with a round trip of %d ms] ", (long long)(monotonic_ms() - start_ms), 2 * ONE_WAY_MS);
    fault_proxy_set_delay(stage.proxy, 0, 0);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, GUARDS, 0, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, 3, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    /* The limit, the guard, the listing; the lease, the limit, the listing; the own watch, and the guard's end. */
    CU_ASSERT_EQUAL(requests_of_locks() - 1, 8);
    let_go(contender);
}

enum { LINES = 8 };

/* One hears of the lease that went, and asks once; the next one hears that the guard is free, and moves up. Six sleep. */
static void release_wakes_the_one_that_gets_the_permit_and_its_successor(void)
{
    struct contender *holder = hold(stage_open_outside(), 1);
    struct contender *waiters[LINES];
    zklock_session *lines[LINES];

    for (int i = 0; i < LINES; i++) {
        lines[i] = stage_open(fault_proxy_address(stage.proxy), 2 * STAGE_TIMEOUT_MS);
        waiters[i] = i == 0 ? queue_in_front(lines[i], 1) : queue_behind(lines[i], 1);
    }
    fault_proxy_reset_counts(stage.proxy);
    let_go(holder);
    CU_ASSERT_EQUAL(contender_result(waiters[0]), ZKLOCK_OK);
    contender_await_state(waiters[1], ZKL_WAITING);
    for (int i = 0; i < LINES; i++)
        stage_fence(lines[i]);
    CU_ASSERT_EQUAL(fault_proxy_events(stage.proxy, 0), 2);
    /* Of the first the limit, the listing and the guard's end; of the next the lease with these two, and its watches. */
    CU_ASSERT_EQUAL(requests_of_locks() - LINES, 3 + 6);
    for (int i = 0; i < LINES; i++) {
        CU_ASSERT_EQUAL(contender_result(waiters[i]), ZKLOCK_OK);
        let_go(waiters[i]);
    }
    check_that_nothing_is_left();
}

/* ---------------------------------------------------------------- what others see */

static void queue_shows_permits_holders_and_waiters(void)
{
    struct contender *first = hold(stage.session, 2);
    struct contender *second = hold(stage_open_outside(), 2);
    struct contender *front = queue_in_front(stage_open_outside(), 2);
    struct contender *behind = queue_behind(stage_open_outside(), 2);
    zklock_queue *queue = NULL;

    CU_ASSERT_EQUAL_FATAL(zklock_queue_read(stage.session, STAGE_PATH, STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    CU_ASSERT_TRUE(queue->is_semaphore);
    CU_ASSERT_EQUAL(queue->permits, 2);
    CU_ASSERT_EQUAL(queue->foreign_count, 0);
    CU_ASSERT_EQUAL_FATAL(queue->count, 4);
    for (size_t i = 0; i < queue->count; i++) {
        CU_ASSERT_EQUAL(queue->contenders[i]->is_holder, i < 2);
        CU_ASSERT_EQUAL(queue->contenders[i]->mode, ZKLOCK_MODE_SEMAPHORE);
        CU_ASSERT_EQUAL(strncmp(queue->contenders[i]->name, i < 3 ? "leases/_c_" : "locks/_c_", i < 3 ? 10 : 9), 0);
    }
    CU_ASSERT_EQUAL(queue->contenders[0]->token, contender_token(first));
    CU_ASSERT_EQUAL(zklock_token_verify(stage.session, STAGE_PATH, contender_token(second), STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_break(stage.session, STAGE_PATH, queue->contenders[3], STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(behind), ZKLOCK_REMOVED);
    CU_ASSERT_EQUAL(zklock_revoke(stage.session, STAGE_PATH, queue->contenders[0], STAGE_LIMIT_MS), ZKLOCK_OK);
    contender_await_event(first, ZKLOCK_EVENT_REVOKE);
    let_go(first);
    CU_ASSERT_EQUAL(contender_result(front), ZKLOCK_OK);
    zklock_queue_free(queue);
    let_go(second);
    let_go(front);
}

static void semaphore_is_one_path_among_others(void)
{
    struct contender *holder = hold(stage.session, 1);
    struct contender *waiter = queue_in_front(stage.session, 1);
    zklock_paths *paths = NULL;

    CU_ASSERT_EQUAL_FATAL(zklock_paths_read(stage.session, "/", STAGE_LIMIT_MS, &paths), ZKLOCK_OK);
    CU_ASSERT_EQUAL(paths->count, 1);
    CU_ASSERT_STRING_EQUAL(paths->count == 1 ? paths->items[0] : "", STAGE_PATH);
    zklock_paths_free(paths);
    let_go(holder);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    let_go(waiter);
}

static zklock_queue *read_queue(void)
{
    zklock_queue *queue = NULL;

    CU_ASSERT_EQUAL_FATAL(zklock_queue_read(stage.session, STAGE_PATH, STAGE_LIMIT_MS, &queue), ZKLOCK_OK);
    return queue;
}

static zklock_status verify(const zklock_contender *contender)
{
    return zklock_token_verify(stage.session, STAGE_PATH, contender->token, STAGE_LIMIT_MS);
}

/* Curator's mutexes look for no semaphore: both hold, and nobody is told that either does not. */
static void lock_of_another_client_beside_permits_is_seen(void)
{
    char others[OBSERVER_PATH_SIZE];
    struct contender *holder = hold(stage.session, 2);
    zklock_paths *paths = NULL;

    CU_ASSERT_EQUAL(observer_create(stage.observer, CURATORS_LOCK, "", ZOO_EPHEMERAL | ZOO_SEQUENCE, others), 0);
    zklock_queue *queue = read_queue();
    CU_ASSERT_TRUE(queue->is_semaphore && queue->is_mixed);
    CU_ASSERT_EQUAL(queue->foreign_count, 0);
    CU_ASSERT_EQUAL_FATAL(queue->count, 2);
    CU_ASSERT_EQUAL(queue->contenders[0]->mode, ZKLOCK_MODE_SEMAPHORE);
    CU_ASSERT_EQUAL(queue->contenders[1]->mode, ZKLOCK_MODE_EXCLUSIVE);
    for (size_t i = 0; i < queue->count; i++) {
        CU_ASSERT_TRUE(queue->contenders[i]->is_holder);
        CU_ASSERT_EQUAL(verify(queue->contenders[i]), ZKLOCK_OK);
    }
    CU_ASSERT_EQUAL(zklock_revoke(stage.session, STAGE_PATH, queue->contenders[1], STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_wait_free(stage.session, STAGE_PATH, 200), ZKLOCK_TIMEOUT);
    CU_ASSERT_EQUAL_FATAL(zklock_paths_read(stage.session, "/", STAGE_LIMIT_MS, &paths), ZKLOCK_OK);
    CU_ASSERT_EQUAL(paths->count, 1);
    zklock_paths_free(paths);
    zklock_queue_free(queue);
    let_go(holder);
    check_that_nothing_is_left();
    CU_ASSERT_EQUAL(observer_delete(stage.observer, others), 0);
}

/* Where a semaphore was once. */
static void lock_where_nobody_uses_the_semaphore_is_a_lock(void)
{
    struct contender *lock = new_lock(stage_open_outside());

    use_and_leave_semaphore();
    contender_hold(lock);
    zklock_queue *queue = read_queue();
    CU_ASSERT_FALSE(queue->is_semaphore || queue->is_mixed);
    CU_ASSERT_EQUAL(queue->foreign_count, 0);
    CU_ASSERT_EQUAL_FATAL(queue->count, 1);
    CU_ASSERT_TRUE(queue->contenders[0]->is_holder);
    CU_ASSERT_EQUAL(verify(queue->contenders[0]), ZKLOCK_OK);
    zklock_queue_free(queue);
    CU_ASSERT_EQUAL(zklock_wait_free(stage.session, STAGE_PATH, 200), ZKLOCK_TIMEOUT);
    let_go(lock);
}

static void wait_ends_when_a_permit_is_free(void)
{
    struct contender *holder = hold(stage.session, 2);
    struct contender *other = hold(stage.session, 2);

    CU_ASSERT_EQUAL(zklock_wait_free(stage.session, STAGE_PATH, 200), ZKLOCK_TIMEOUT);
    let_go(other);
    CU_ASSERT_EQUAL(zklock_wait_free(stage.session, STAGE_PATH, STAGE_LIMIT_MS), ZKLOCK_OK);
    let_go(holder);
}

static void what_semaphores_cannot_do_is_refused(void)
{
    struct contender *holder = hold(stage.session, 2);
    zklock_options options;
    zklock *lock = NULL;
    int64_t age_ms;

    CU_ASSERT_EQUAL(zklock_stamp_age(holder->lock, STAGE_LIMIT_MS, &age_ms), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_downgrade(holder->lock, STAGE_LIMIT_MS), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_upgrade(holder->lock), ZKLOCK_NO_UPGRADE);
    zklock_options_init(&options);
    options.permits = 2;
    CU_ASSERT_EQUAL(zklock_new(stage.session, STAGE_PATH, &options, &lock), ZKLOCK_BAD_ARGUMENT);
    options.mode = ZKLOCK_MODE_SEMAPHORE;
    options.style = ZKLOCK_STYLE_KAZOO;
    CU_ASSERT_EQUAL(zklock_new(stage.session, STAGE_PATH, &options, &lock), ZKLOCK_BAD_ARGUMENT);
    options.style = ZKLOCK_STYLE_CURATOR;
    options.permits = ZKLOCK_PERMITS_MAX + 1;
    CU_ASSERT_EQUAL(zklock_new(stage.session, STAGE_PATH, &options, &lock), ZKLOCK_BAD_ARGUMENT);
    let_go(holder);
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(as_many_hold_as_there_are_permits, stage_start, stage_end),
    SUITE_TEST_WITH(permits_are_given_in_the_order_of_arrival, stage_start, stage_end),
    SUITE_TEST_WITH(lease_of_another_client_counts, stage_start, stage_end),
    SUITE_TEST_WITH(waiter_that_gives_up_makes_room_for_the_next, stage_start, stage_end),
    SUITE_TEST_WITH(limit_of_time_says_what_is_ahead, stage_start, stage_end),
    SUITE_TEST_WITH(try_of_a_full_semaphore_writes_nothing, stage_start, stage_end),
    SUITE_TEST_WITH(try_is_not_held_up_by_the_guard_of_another, stage_start, stage_end),
    SUITE_TEST_WITH(first_one_sets_the_limit, stage_start, stage_end),
    SUITE_TEST_WITH(another_limit_is_refused_and_both_are_named, stage_start, stage_end),
    SUITE_TEST_WITH(limit_is_taken_as_it_stands, stage_start, stage_end),
    SUITE_TEST_WITH(data_of_others_are_left_alone, stage_start, stage_end),
    SUITE_TEST_WITH(raised_limit_lets_the_waiters_in, stage_start, stage_end),
    SUITE_TEST_WITH(lowered_limit_takes_nothing_away, stage_start, stage_end),
    SUITE_TEST_WITH(limit_is_set_where_there_is_no_path, stage_start, stage_end),
    SUITE_TEST_WITH(two_first_ones_agree_on_one_limit, stage_start, stage_end),
    SUITE_TEST_WITH(those_who_wait_for_the_guard_follow_the_limit, stage_start, stage_end),
    SUITE_TEST_WITH(permit_that_comes_with_a_lock_gives_way, stage_start, stage_end),
    SUITE_TEST_WITH(lock_that_comes_with_a_permit_gives_way, stage_start, stage_end),
    SUITE_TEST_WITH(holder_is_told_that_its_lease_was_removed, stage_start, stage_end),
    SUITE_TEST_WITH(waiter_is_told_that_its_lease_was_removed, stage_start, stage_end),
    SUITE_TEST_WITH(waiter_is_told_that_its_place_in_the_queue_was_removed, stage_start, stage_end),
    SUITE_TEST_WITH(expired_waiters_queue_again, stage_start, stage_end),
    SUITE_TEST_WITH(expired_holder_is_told, stage_start, stage_end),
    SUITE_TEST_WITH(lease_whose_answer_is_lost_is_found_again, stage_start, stage_end),
    SUITE_TEST_WITH(limit_that_changes_during_a_cut_is_seen_after_it, stage_start, stage_end),
    SUITE_TEST_WITH(closing_removes_holders_and_waiters, stage_start, stage_end),
    SUITE_TEST_WITH(free_permit_costs_eight_requests_in_two_flights, stage_start, stage_end),
    SUITE_TEST_WITH(release_wakes_the_one_that_gets_the_permit_and_its_successor, stage_start, stage_end),
    SUITE_TEST_WITH(queue_shows_permits_holders_and_waiters, stage_start, stage_end),
    SUITE_TEST_WITH(semaphore_is_one_path_among_others, stage_start, stage_end),
    SUITE_TEST_WITH(lock_of_another_client_beside_permits_is_seen, stage_start, stage_end),
    SUITE_TEST_WITH(lock_where_nobody_uses_the_semaphore_is_a_lock, stage_start, stage_end),
    SUITE_TEST_WITH(wait_ends_when_a_permit_is_free, stage_start, stage_end),
    SUITE_TEST_WITH(what_semaphores_cannot_do_is_refused, stage_start, stage_end),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_permits", tests);
}
