/* Several locks as one: what they cost, that takers never wait for each other, and that nothing is left of a failure. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EIGHT = 8, SHORT_TIMEOUT_MS = 3000 };

static zklock_multi *multi;
static zklock_multi *other;

static void path_of(int number, char out_path[64])
{
    snprintf(out_path, 64, STAGE_PATH "/part-%d", number);
}

static void set_up(void)
{
    char path[64];

    stage_start();
    for (int i = 0; i < EIGHT; i++) {
        path_of(i, path);
        CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, path, NULL, 0, NULL), ZOK);
    }
    CU_ASSERT_EQUAL_FATAL(zklock_multi_new(stage.session, &multi), ZKLOCK_OK);
}

static void tear_down(void)
{
    zklock_multi_free(multi);
    zklock_multi_free(other);
    multi = other = NULL;
    stage_end();
}

/* The last one first: their order is not the caller's. */
static void add_parts(zklock_multi *to, int first, int last)
{
    char path[64];

    for (int i = last; i >= first; i--) {
        path_of(i, path);
        CU_ASSERT_EQUAL_FATAL(zklock_multi_add(to, path, NULL), ZKLOCK_OK);
    }
}

static int contenders_at(int number)
{
    char path[64];

    path_of(number, path);
    return observer_count(stage.observer, path);
}

static bool wait_contenders_at(int number, int count)
{
    char path[64];

    path_of(number, path);
    return observer_wait_count(stage.observer, path, count, STAGE_LIMIT_MS);
}

static struct contender *hold_at(zklock_session *session, int number)
{
    struct contender *contender;
    char path[64];

    path_of(number, path);
    contender = contender_new(session, path);
    contender_hold(contender);
    return contender;
}

static zklock *part(zklock_multi *of, int number)
{
    char path[64];

    path_of(number, path);
    return zklock_multi_lock(of, path);
}

static bool waits_at(void *number)
{
    return zklock_multi_current(multi) == part(multi, *(int *)number);
}

static void check_that_nothing_is_left(int count)
{
    for (int i = 0; i < count; i++)
        CU_ASSERT_TRUE(wait_contenders_at(i, 0));
}

/* ---------------------------------------------------------------- what it costs */

/* No answer has come yet, and all is asked; and none that comes later is waited for. */
static void eight_free_paths_take_one_round_trip(void)
{
    add_parts(multi, 0, EIGHT - 1);
    fault_proxy_hold_reply(stage.proxy, FAULT_OP_CREATE2, 1);
    CU_ASSERT_EQUAL(zklock_multi_acquire_start(multi, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_CHILDREN, EIGHT, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), EIGHT);
    CU_ASSERT_EQUAL(zklock_multi_result(multi), ZKLOCK_PENDING);
    fault_proxy_hold_request(stage.proxy, FAULT_OP_GET_DATA, 1);
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(zklock_multi_wait(multi), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_multi_is_held(multi));
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 2, STAGE_LIMIT_MS));
    fault_proxy_release(stage.proxy);
    /* Behind the grant each plants the watch on its own node. */
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_GET_DATA, EIGHT, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), EIGHT);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_GET_CHILDREN) - 1, EIGHT);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_DELETE), 0);
}

static void *release_multi(void *out_status)
{
    *(zklock_status *)out_status = zklock_multi_release(multi, STAGE_LIMIT_MS);
    return NULL;
}

static void eight_paths_are_released_in_one_flight(void)
{
    zklock_status status = ZKLOCK_INTERNAL;
    pthread_t thread;

    add_parts(multi, 0, EIGHT - 1);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    fault_proxy_hold_reply(stage.proxy, FAULT_OP_DELETE, 1);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, release_multi, &status), 0);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_DELETE, EIGHT, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    fault_proxy_release(stage.proxy);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(status, ZKLOCK_OK);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_DELETE), EIGHT);
    check_that_nothing_is_left(EIGHT);
}

static void missing_parents_are_made_for_all(void)
{
    CU_ASSERT_EQUAL(zklock_multi_add(multi, "/far/away/one", NULL), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_add(multi, "/far/away/two", NULL), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(observer_count(stage.observer, "/far/away/one"), 1);
    CU_ASSERT_EQUAL(observer_count(stage.observer, "/far/away/two"), 1);
}

/* ---------------------------------------------------------------- waiting */

static void nothing_is_kept_beyond_the_first_path_that_is_not_free(void)
{
    struct contender *holder = hold_at(stage_open_outside(), 1);
    int waits_for = 1;

    add_parts(multi, 0, 3);
    CU_ASSERT_EQUAL(zklock_multi_acquire_start(multi, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(wait_contenders_at(1, 2));
    CU_ASSERT_TRUE(wait_contenders_at(2, 0));
    CU_ASSERT_TRUE(wait_contenders_at(3, 0));
    CU_ASSERT_EQUAL(contenders_at(0), 1);
    CU_ASSERT_TRUE(eventually(waits_at, &waits_for, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), 4);
    CU_ASSERT_EQUAL(zklock_multi_state_get(multi, NULL), ZKLOCK_STATE_ACQUIRING);
    CU_ASSERT_FALSE(zklock_multi_is_held(multi));
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_wait(multi), ZKLOCK_OK);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), 6);
    for (int i = 0; i <= 3; i++)
        CU_ASSERT_TRUE(zklock_is_held(part(multi, i)));
    CU_ASSERT_EQUAL(zklock_multi_state_get(multi, NULL), ZKLOCK_STATE_HELD);
    CU_ASSERT_TRUE(zklock_multi_remaining_ms(multi) > 0);
}

/* One who has the first path waits for the second; one who has the second gives it up to wait for the first. */
static void two_takers_in_each_others_way_both_get_their_turn(void)
{
    zklock_session *outside = stage_open_outside();

    CU_ASSERT_EQUAL_FATAL(zklock_multi_new(outside, &other), ZKLOCK_OK);
    add_parts(other, 0, 1);
    add_parts(multi, 0, 1);
    /* Its contender of the second path is there before ours, that of the first one after it. */
    fault_proxy_hold_request(stage.proxy, FAULT_OP_CREATE2, 2);
    CU_ASSERT_EQUAL(zklock_multi_acquire_start(multi, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(wait_contenders_at(0, 1));
    CU_ASSERT_TRUE(fault_proxy_wait_fired(stage.proxy, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_multi_acquire_start(other, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(wait_contenders_at(0, 2));
    CU_ASSERT_TRUE(wait_contenders_at(1, 0));
    fault_proxy_release(stage.proxy);
    CU_ASSERT_EQUAL(zklock_multi_wait(multi), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_result(other), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(zklock_multi_release(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_wait(other), ZKLOCK_OK);
}

enum { TAKERS = 6, ROUNDS = 40, PATHS = 4 };

static struct {
    atomic_int inside[PATHS];
    atomic_int violations;
    atomic_int failures;
} ground;

struct taker {
    pthread_t thread;
    zklock_session *session;
    unsigned seed;
};

static void take_two(struct taker *taker)
{
    int one = rand_r(&taker->seed) % PATHS;
    int two = (one + 1 + rand_r(&taker->seed) % (PATHS - 1)) % PATHS;
    zklock_multi *both = NULL;
    char path[64];
    bool is_made = zklock_multi_new(taker->session, &both) == ZKLOCK_OK;

    path_of(one, path);
    is_made = is_made && zklock_multi_add(both, path, NULL) == ZKLOCK_OK;
    path_of(two, path);
    is_made = is_made && zklock_multi_add(both, path, NULL) == ZKLOCK_OK;
    if (is_made && zklock_multi_acquire(both, STAGE_LIMIT_MS) == ZKLOCK_OK) {
        ground.violations += atomic_fetch_add(&ground.inside[one], 1) + atomic_fetch_add(&ground.inside[two], 1) != 0;
        atomic_fetch_sub(&ground.inside[one], 1);
        atomic_fetch_sub(&ground.inside[two], 1);
        ground.failures += zklock_multi_release(both, STAGE_LIMIT_MS) != ZKLOCK_OK;
    } else {
        ground.failures++;
    }
    zklock_multi_free(both);
}

static void *take_again_and_again(void *arg)
{
    for (int round = 0; round < ROUNDS; round++)
        take_two(arg);
    return NULL;
}

static void takers_of_any_two_paths_never_wait_for_each_other(void)
{
    struct taker takers[TAKERS];

    memset(&ground, 0, sizeof(ground));
    for (int i = 0; i < TAKERS; i++) {
        takers[i] = (struct taker){.session = i % 2 ? stage.session : stage_open_outside(), .seed = (unsigned)i + 1};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&takers[i].thread, NULL, take_again_and_again, &takers[i]), 0);
    }
    for (int i = 0; i < TAKERS; i++)
        pthread_join(takers[i].thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&ground.violations), 0);
    CU_ASSERT_EQUAL(atomic_load(&ground.failures), 0);
    check_that_nothing_is_left(PATHS);
}

static void readers_of_one_path_share_it(void)
{
    zklock_options shared;
    char path[64];

    zklock_options_init(&shared);
    shared.mode = ZKLOCK_MODE_SHARED;
    CU_ASSERT_EQUAL_FATAL(zklock_multi_new(stage_open_outside(), &other), ZKLOCK_OK);
    path_of(0, path);
    CU_ASSERT_EQUAL(zklock_multi_add(multi, path, &shared), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_add(other, path, &shared), ZKLOCK_OK);
    add_parts(multi, 1, 1);
    add_parts(other, 2, 2);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_acquire(other, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contenders_at(0), 2);
}

static void result_makes_the_descriptor_readable(void)
{
    struct pollfd descriptor = {.events = POLLIN};

    add_parts(multi, 0, 1);
    CU_ASSERT_EQUAL_FATAL(zklock_multi_fd(multi, &descriptor.fd), ZKLOCK_OK);
    CU_ASSERT_EQUAL(poll(&descriptor, 1, 0), 0);
    CU_ASSERT_EQUAL(zklock_multi_acquire_start(multi, -1), ZKLOCK_OK);
    while (zklock_multi_result(multi) == ZKLOCK_PENDING) {
        CU_ASSERT_EQUAL_FATAL(poll(&descriptor, 1, STAGE_LIMIT_MS), 1);
        zklock_multi_fd_clear(multi);
    }
    CU_ASSERT_EQUAL(zklock_multi_result(multi), ZKLOCK_OK);
}

/* ---------------------------------------------------------------- all or nothing */

static void try_of_a_held_path_leaves_nothing(void)
{
    char detail[128];

    hold_at(stage_open_outside(), 2);
    add_parts(multi, 0, 3);
    CU_ASSERT_EQUAL(zklock_multi_try(multi, STAGE_LIMIT_MS), ZKLOCK_BUSY);
    CU_ASSERT_PTR_EQUAL(zklock_multi_current(multi), part(multi, 2));
    zklock_multi_detail(multi, detail, sizeof(detail));
    CU_ASSERT_STRING_EQUAL(detail, STAGE_PATH "/part-2");
    CU_ASSERT_EQUAL(zklock_multi_release(multi, -1), ZKLOCK_NOT_HELD);
    CU_ASSERT_TRUE(wait_contenders_at(0, 0) && wait_contenders_at(1, 0) && wait_contenders_at(3, 0));
    CU_ASSERT_TRUE(wait_contenders_at(2, 1));
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, 0), ZKLOCK_BUSY);
}

static void limit_behind_somebody_leaves_nothing(void)
{
    struct contender *holder = hold_at(stage_open_outside(), 1);
    char detail[256];

    add_parts(multi, 0, 2);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, 300), ZKLOCK_TIMEOUT);
    zklock_multi_detail(multi, detail, sizeof(detail));
    CU_ASSERT_EQUAL(strncmp(detail, STAGE_PATH "/part-1: behind ", strlen(STAGE_PATH "/part-1: behind ")), 0);
    CU_ASSERT_TRUE(wait_contenders_at(0, 0));
    CU_ASSERT_TRUE(wait_contenders_at(1, 1));
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_ALREADY);
}

static void cancelled_wait_leaves_nothing(void)
{
    hold_at(stage_open_outside(), 1);
    add_parts(multi, 0, 2);
    CU_ASSERT_EQUAL(zklock_multi_cancel(multi), ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(zklock_multi_acquire_start(multi, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(wait_contenders_at(1, 2));
    CU_ASSERT_EQUAL(zklock_multi_cancel(multi), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_wait(multi), ZKLOCK_CANCELLED);
    CU_ASSERT_TRUE(wait_contenders_at(0, 0) && wait_contenders_at(1, 1) && wait_contenders_at(2, 0));
}

static void freed_objects_leave_nothing(void)
{
    struct contender *holder;

    add_parts(multi, 0, 2);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    zklock_multi_free(multi);
    check_that_nothing_is_left(3);
    holder = hold_at(stage_open_outside(), 1);
    CU_ASSERT_EQUAL_FATAL(zklock_multi_new(stage.session, &multi), ZKLOCK_OK);
    add_parts(multi, 0, 2);
    CU_ASSERT_EQUAL(zklock_multi_acquire_start(multi, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(wait_contenders_at(1, 2));
    zklock_multi_free(multi);
    multi = NULL;
    CU_ASSERT_TRUE(wait_contenders_at(1, 1));
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    check_that_nothing_is_left(3);
}

static void closed_session_ends_the_wait(void)
{
    zklock_session *session = stage_open(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS);

    hold_at(stage.session, 1);
    CU_ASSERT_EQUAL_FATAL(zklock_multi_new(session, &other), ZKLOCK_OK);
    add_parts(other, 0, 2);
    CU_ASSERT_EQUAL(zklock_multi_acquire_start(other, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(wait_contenders_at(1, 2));
    CU_ASSERT_EQUAL(stage_close(session, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_wait(other), ZKLOCK_CLOSED);
    CU_ASSERT_EQUAL(zklock_multi_acquire(other, -1), ZKLOCK_CLOSED);
    CU_ASSERT_TRUE(wait_contenders_at(0, 0) && wait_contenders_at(1, 1));
}

/* ---------------------------------------------------------------- losing one */

static void delete_front_of(int number)
{
    char path[64];
    char name[OBSERVER_PATH_SIZE];
    char node[OBSERVER_PATH_SIZE + 64];

    path_of(number, path);
    observer_front(stage.observer, path, name);
    snprintf(node, sizeof(node), "%s/%s", path, name);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), ZOK);
}

static bool is_lost(void *unused)
{
    (void)unused;
    return zklock_multi_state_get(multi, NULL) == ZKLOCK_STATE_LOST;
}

static void loss_of_one_is_the_loss_of_all(void)
{
    zklock_loss loss = ZKLOCK_LOSS_NONE;

    add_parts(multi, 0, 2);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    delete_front_of(1);
    CU_ASSERT_TRUE(eventually(is_lost, NULL, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_multi_state_get(multi, &loss), ZKLOCK_STATE_LOST);
    CU_ASSERT_EQUAL(loss, ZKLOCK_LOSS_REMOVED);
    CU_ASSERT_FALSE(zklock_multi_is_held(multi));
    CU_ASSERT_EQUAL(zklock_multi_remaining_ms(multi), 0);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, -1), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(zklock_multi_release(multi, STAGE_LIMIT_MS), ZKLOCK_LOST);
    check_that_nothing_is_left(3);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void loss_while_the_rest_is_awaited_begins_anew(void)
{
    struct contender *holder = hold_at(stage_open_outside(), 1);
    char path[64];
    char before[OBSERVER_PATH_SIZE];

    add_parts(multi, 0, 2);
    CU_ASSERT_EQUAL(zklock_multi_acquire_start(multi, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(wait_contenders_at(1, 2));
    CU_ASSERT_TRUE(wait_contenders_at(2, 0));
    path_of(0, path);
    observer_front(stage.observer, path, before);
    delete_front_of(0);
    CU_ASSERT_TRUE(observer_wait_front_other_than(stage.observer, path, before, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_multi_result(multi), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_wait(multi), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_multi_is_held(multi));
}

static bool has_fresh_session(void *old)
{
    return stage_session_id(stage.session) != *(int64_t *)old;
}

static void expiry_while_waiting_begins_anew(void)
{
    struct contender *holder = hold_at(stage_open_outside(), 1);
    int64_t old = stage_session_id(stage.session);

    add_parts(multi, 0, 2);
    CU_ASSERT_EQUAL(zklock_multi_acquire_start(multi, -1), ZKLOCK_OK);
    CU_ASSERT_TRUE(wait_contenders_at(1, 2));
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    CU_ASSERT_TRUE(wait_contenders_at(1, 1));
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    CU_ASSERT_TRUE(eventually(has_fresh_session, &old, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(wait_contenders_at(1, 2));
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_wait(multi), ZKLOCK_OK);
    for (int i = 0; i <= 2; i++)
        CU_ASSERT_EQUAL(contenders_at(i), 1);
}

/* ---------------------------------------------------------------- misuse */

static void equal_paths_are_refused(void)
{
    char detail[256];

    add_parts(multi, 0, 1);
    CU_ASSERT_EQUAL(zklock_multi_add(multi, STAGE_PATH "/part-1", NULL), ZKLOCK_BAD_ARGUMENT);
    zklock_multi_detail(multi, detail, sizeof(detail));
    CU_ASSERT_STRING_EQUAL(detail, STAGE_PATH "/part-1: was added before; its holder would wait for itself");
    CU_ASSERT_EQUAL(zklock_multi_add(multi, "no path", NULL), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_PTR_NULL(zklock_multi_lock(multi, STAGE_PATH "/part-2"));
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_multi_add(multi, STAGE_PATH "/part-2", NULL), ZKLOCK_ALREADY);
}

static void parts_are_not_taken_by_themselves(void)
{
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, -1), ZKLOCK_BAD_ARGUMENT);
    add_parts(multi, 0, 1);
    CU_ASSERT_EQUAL(zklock_acquire(part(multi, 0), -1), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_release(part(multi, 0), -1), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_release_send(part(multi, 0)), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_cancel(part(multi, 0)), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_TRUE(zklock_multi_is_held(multi));
    CU_ASSERT_EQUAL(zklock_multi_cancel(multi), ZKLOCK_ALREADY);
}

#define TEST(test) SUITE_TEST_WITH(test, set_up, tear_down)

static const struct suite_test tests[] = {
    TEST(eight_free_paths_take_one_round_trip),
    TEST(eight_paths_are_released_in_one_flight),
    TEST(missing_parents_are_made_for_all),
    TEST(nothing_is_kept_beyond_the_first_path_that_is_not_free),
    TEST(two_takers_in_each_others_way_both_get_their_turn),
    TEST(takers_of_any_two_paths_never_wait_for_each_other),
    TEST(readers_of_one_path_share_it),
    TEST(result_makes_the_descriptor_readable),
    TEST(try_of_a_held_path_leaves_nothing),
    TEST(limit_behind_somebody_leaves_nothing),
    TEST(cancelled_wait_leaves_nothing),
    TEST(freed_objects_leave_nothing),
    TEST(closed_session_ends_the_wait),
    TEST(loss_of_one_is_the_loss_of_all),
    TEST(loss_while_the_rest_is_awaited_begins_anew),
    TEST(expiry_while_waiting_begins_anew),
    TEST(equal_paths_are_refused),
    TEST(parts_are_not_taken_by_themselves),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "multi", tests);
}
