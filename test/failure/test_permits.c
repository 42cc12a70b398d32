/*
 * Complete stories of a semaphore, each played once for every call in it that can fail, as in test_scenes.c.
 */
#include "failure/scene.h"
#include "support/suite.h"

#define LEASES SCENE_PATH "/leases"
#define GUARDS SCENE_PATH "/locks"
#define LEASE LEASES "/stranger-lease-0000000000"
#define GUARD GUARDS "/stranger-lock-0000000000"

static void acquire_and_release(void)
{
    scene_make_lock();
    if (scene_acquire())
        scene_release();
}

/* A stranger's znode, which goes while the act waits. */
static void node_goes(void *path)
{
    pocket_delete(path);
}

static void wait_for(const char *node)
{
    world_later(700, node_goes, (void *)node);
    acquire_and_release();
}

static void wait_in_vain(void)
{
    scene_make_lock();
    if (scene_begin())
        scene_await(ZKLOCK_TIMEOUT, SHORTAGE);
}

static void try_in_vain(void)
{
    scene_make_lock();
    if (!scene.lock)
        return;
    zklock_status status = zklock_try(scene.lock, SCENE_LIMIT_MS);
    scene.started += status != ZKLOCK_NO_MEMORY;
    scene_expect("try", status, ZKLOCK_BUSY, SHORTAGE);
}

static void cancel(void *unused)
{
    (void)unused;
    scene_expect("cancel", zklock_cancel(scene.lock), ZKLOCK_OK, BIT(NOT_HELD));
}

static void wait_and_cancel(void)
{
    scene_make_lock();
    if (!scene_begin())
        return;
    world_later(500, cancel, NULL);
    scene_await(ZKLOCK_CANCELLED, SHORTAGE);
}

static void free_while_waiting(void)
{
    scene_make_lock();
    if (!scene_begin())
        return;
    world_pass(500);
    zklock_free(scene.lock);
    scene.lock = NULL;
    world_pass(500);
}

static void expire(void *unused)
{
    (void)unused;
    if (scene.is_in_act)
        pocket_expire();
}

static void expire_while_held(void)
{
    scene_make_lock();
    if (!scene_acquire())
        return;
    expire(NULL);
    scene_expect("release of what is lost", zklock_release(scene.lock, SCENE_LIMIT_MS), ZKLOCK_LOST, BIT(LOST));
}

static void lose_answer_to_create(void)
{
    pocket_break(ZKL_OP_CREATE, POCKET_LOSE_REPLY);
}

/* ---------------------------------------------------------------- permits */

#define SEMAPHORE(count) .mode = ZKLOCK_MODE_SEMAPHORE, .permits = (count)

static void set_limit(const char *text)
{
    pocket_set(SCENE_PATH, text);
    pocket_create(LEASES);
    pocket_create(GUARDS);
}

static void limit_of_one(void)
{
    set_limit("{\"zklock_permits\":1}");
}

static void first_permit_sets_the_limit(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(2), .act = acquire_and_release});
}

static void permit_of_a_set_limit_is_taken(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(0), .set = limit_of_one, .act = acquire_and_release});
}

static void parents_of_a_semaphore_are_made(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .act = acquire_and_release, .lock_dir_is_missing = true});
}

static void taken_permit(void)
{
    limit_of_one();
    pocket_create(LEASE);
    pocket_set_counter(LEASES, 1);
}

static void wait_for_lease(void)
{
    wait_for(LEASE);
}

static void permit_is_awaited(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = taken_permit, .act = wait_for_lease});
}

static void held_guard(void)
{
    limit_of_one();
    pocket_create(GUARD);
    pocket_set_counter(GUARDS, 1);
}

static void wait_for_guard(void)
{
    wait_for(GUARD);
}

static void guard_is_awaited(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = held_guard, .act = wait_for_guard});
}

static void limit_rises(void *unused)
{
    (void)unused;
    pocket_set(SCENE_PATH, "{\"zklock_permits\":2}");
}

static void held_guard_and_no_limit(void)
{
    set_limit("");
    pocket_create(GUARD);
    pocket_set_counter(GUARDS, 1);
}

static void wait_for_guard_and_a_changed_limit(void)
{
    world_later(500, limit_rises, NULL);
    wait_for_guard();
}

static void waiter_for_the_guard_sets_the_limit_and_follows_it(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = held_guard_and_no_limit, .act = wait_for_guard_and_a_changed_limit});
}

static void wait_for_the_limit_to_rise(void)
{
    world_later(700, limit_rises, NULL);
    acquire_and_release();
}

static void risen_limit_lets_the_waiter_in(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = taken_permit, .act = wait_for_the_limit_to_rise});
}

static void ask_for_another_limit(void)
{
    scene_make_lock();
    if (scene_begin())
        scene_await(ZKLOCK_OTHER_PERMITS, SHORTAGE);
}

static void other_limit_is_refused(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(3), .set = limit_of_one, .act = ask_for_another_limit});
}

#define LOCK SCENE_PATH "/stranger-lock-0000000000"

static void lock_at_a_semaphores_path(void)
{
    limit_of_one();
    pocket_create(LOCK);
}

static void acquire_beside(void)
{
    scene_make_lock();
    if (scene_begin())
        scene_await(ZKLOCK_MIXED_STYLES, SHORTAGE);
}

static void try_beside(void)
{
    scene_make_lock();
    if (!scene.lock)
        return;
    zklock_status status = zklock_try(scene.lock, SCENE_LIMIT_MS);
    scene.started += status != ZKLOCK_NO_MEMORY;
    scene_expect("try", status, ZKLOCK_MIXED_STYLES, SHORTAGE);
}

static void permit_beside_a_lock_is_refused(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = lock_at_a_semaphores_path, .act = acquire_beside});
}

static void permit_beside_a_lock_is_tried(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = lock_at_a_semaphores_path, .act = try_beside});
}

static void lock_beside_a_permit_is_refused(void)
{
    sweep(&(struct scene_plan){.set = taken_permit, .act = acquire_beside});
}

static void lock_beside_an_empty_semaphore_is_taken(void)
{
    sweep(&(struct scene_plan){.set = limit_of_one, .act = acquire_and_release});
}

static void lose_answer_beside_a_permit(void)
{
    taken_permit();
    lose_answer_to_create();
}

static void adopted_lock_beside_a_permit_is_refused(void)
{
    sweep(&(struct scene_plan){.set = lose_answer_beside_a_permit, .act = acquire_beside});
}

static void lose_answer_beside_an_empty_semaphore(void)
{
    limit_of_one();
    lose_answer_to_create();
}

static void lock_beside_an_empty_semaphore_is_adopted(void)
{
    sweep(&(struct scene_plan){.set = lose_answer_beside_an_empty_semaphore, .act = acquire_and_release});
}

static void try_and_release(void)
{
    scene_make_lock();
    if (!scene.lock)
        return;
    zklock_status status = zklock_try(scene.lock, SCENE_LIMIT_MS);
    scene.started += status != ZKLOCK_NO_MEMORY;
    if (scene_expect("try", status, ZKLOCK_OK, SHORTAGE))
        scene_release();
}

static void free_permit_is_tried(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = limit_of_one, .act = try_and_release});
}

static void taken_permit_is_tried(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = taken_permit, .act = try_in_vain});
}

static void limit_passes_before_a_permit(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = taken_permit, .act = wait_in_vain});
}

static void limit_passes_before_the_guard(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = held_guard, .act = wait_in_vain});
}

static void wait_for_a_permit_is_cancelled(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = taken_permit, .act = wait_and_cancel});
}

static void wait_for_the_guard_is_cancelled(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = held_guard, .act = wait_and_cancel});
}

static void waiter_for_a_permit_is_freed(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = taken_permit, .act = free_while_waiting});
}

static void limit_and_a_lost_answer(void)
{
    limit_of_one();
    lose_answer_to_create();
}

static void applied_create_of_a_guard_is_adopted(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = limit_and_a_lost_answer, .act = acquire_and_release});
}

static void expire_while_waiting_for_a_lease(void)
{
    world_later(400, expire, NULL);
    wait_for_lease();
}

static void expired_waiter_for_a_permit_queues_again(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = taken_permit, .act = expire_while_waiting_for_a_lease,
                               .session_ends = true});
}

static void expired_permit_is_lost(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .act = expire_while_held, .session_ends = true});
}

static void be_cut_while_waiting_for_a_lease(void)
{
    scene_make_lock();
    if (!scene_begin())
        return;
    world_pass(200);
    pocket_disconnect();
    world_later(500, node_goes, (void *)LEASE);
    scene_await(ZKLOCK_OK, SHORTAGE);
}

static void waiter_for_a_permit_outlives_a_cut(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = taken_permit, .act = be_cut_while_waiting_for_a_lease});
}

static void close_while_waiting(void)
{
    scene_make_lock();
    bool is_begun = scene_begin();
    world_pass(500);
    zklock_free(scene.keeper);
    scene.keeper = NULL;
    scene_expect("close", zklock_session_close(scene.session, SCENE_LIMIT_MS), ZKLOCK_OK, BIT(UNCONFIRMED));
    if (is_begun)
        scene_expect("result", zklock_result(scene.lock), ZKLOCK_CLOSED, SHORTAGE);
    zklock_free(scene.lock);
    scene.lock = NULL;
    scene.session = NULL;
}

static void session_closes_while_a_permit_is_awaited(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = taken_permit, .act = close_while_waiting});
}

static void write_and_read_limit(void)
{
    unsigned permits = 0;
    zklock_status status = zklock_permits_write(scene.session, SCENE_PATH, 3, SCENE_LIMIT_MS);

    if (!scene_expect("write", status, ZKLOCK_OK, SHORTAGE))
        return;
    status = zklock_permits_read(scene.session, SCENE_PATH, SCENE_LIMIT_MS, &permits);
    if (scene_expect("read", status, ZKLOCK_OK, SHORTAGE) && permits != 3)
        scene_complain("a limit of %u was read", permits);
}

static void limit_is_changed(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = limit_of_one, .act = write_and_read_limit});
}

static void limit_is_set_where_nothing_is(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .act = write_and_read_limit, .lock_dir_is_missing = true});
}

static void await_any_permit(void)
{
    world_later(700, node_goes, (void *)LEASE);
    scene_expect("wait", zklock_wait_free(scene.session, SCENE_PATH, SCENE_LIMIT_MS), ZKLOCK_OK, SHORTAGE);
}

static void free_permit_is_awaited(void)
{
    sweep(&(struct scene_plan){SEMAPHORE(1), .set = taken_permit, .act = await_any_permit});
}

static const struct suite_test tests[] = {
    SUITE_TEST(first_permit_sets_the_limit),
    SUITE_TEST(permit_of_a_set_limit_is_taken),
    SUITE_TEST(parents_of_a_semaphore_are_made),
    SUITE_TEST(permit_is_awaited),
    SUITE_TEST(guard_is_awaited),
    SUITE_TEST(waiter_for_the_guard_sets_the_limit_and_follows_it),
    SUITE_TEST(risen_limit_lets_the_waiter_in),
    SUITE_TEST(other_limit_is_refused),
    SUITE_TEST(permit_beside_a_lock_is_refused),
    SUITE_TEST(permit_beside_a_lock_is_tried),
    SUITE_TEST(lock_beside_a_permit_is_refused),
    SUITE_TEST(lock_beside_an_empty_semaphore_is_taken),
    SUITE_TEST(adopted_lock_beside_a_permit_is_refused),
    SUITE_TEST(lock_beside_an_empty_semaphore_is_adopted),
    SUITE_TEST(free_permit_is_tried),
    SUITE_TEST(taken_permit_is_tried),
    SUITE_TEST(limit_passes_before_a_permit),
    SUITE_TEST(limit_passes_before_the_guard),
    SUITE_TEST(wait_for_a_permit_is_cancelled),
    SUITE_TEST(wait_for_the_guard_is_cancelled),
    SUITE_TEST(waiter_for_a_permit_is_freed),
    SUITE_TEST(applied_create_of_a_guard_is_adopted),
    SUITE_TEST(expired_waiter_for_a_permit_queues_again),
    SUITE_TEST(expired_permit_is_lost),
    SUITE_TEST(waiter_for_a_permit_outlives_a_cut),
    SUITE_TEST(session_closes_while_a_permit_is_awaited),
    SUITE_TEST(limit_is_changed),
    SUITE_TEST(limit_is_set_where_nothing_is),
    SUITE_TEST(free_permit_is_awaited),
    SUITE_END,
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "permits", tests);
}
