/*
 * Complete stories of a lock, each played once for every call in it that can fail: for that call alone, for it and the
 * next ones, and for all from it on. What is promised then stands in scene.c.
 */
#include <string.h>

#include "failure/scene.h"
#include "support/suite.h"

#define STRANGER SCENE_PATH "/stranger-lock-0000000000"
#define SECOND_STRANGER SCENE_PATH "/stranger-lock-0000000001"
#define LAST_STRANGER SCENE_PATH "/stranger-lock-2147483647"

/* ---------------------------------------------------------------- sessions */

static void open_and_wait(void)
{
    scene_open_session();
    if (scene.session)
        scene_expect("connect", zklock_session_wait_connected(scene.session, SCENE_LIMIT_MS), ZKLOCK_OK, SHORTAGE);
}

static void session_opens(void)
{
    sweep(&(struct scene_plan){.act = open_and_wait, .act_opens_session = true});
}

static void open_and_close(void)
{
    open_and_wait();
    zklock_status status = zklock_session_close(scene.session, SCENE_LIMIT_MS);
    scene_expect("close", status, ZKLOCK_OK, BIT(UNCONFIRMED));
    scene.session = NULL;
}

static void session_opens_and_closes(void)
{
    sweep(&(struct scene_plan){.act = open_and_close, .act_opens_session = true});
}

static void fall_silent(void)
{
    pocket_be_silent(true);
}

static void speak_again(void *unused)
{
    (void)unused;
    pocket_be_silent(false);
}

/* The pauses between look-ups that fail grow to some seconds. */
static void open_against_silence(void)
{
    world_later(3500, speak_again, NULL);
    scene_open_session();
    if (scene.session)
        scene_expect("connect", zklock_session_wait_connected(scene.session, 30000), ZKLOCK_OK, SHORTAGE);
    world_pass(SCENE_LIMIT_MS);
}

static void silent_servers_are_tried_in_turn(void)
{
    sweep(&(struct scene_plan){.set = fall_silent, .act = open_against_silence, .act_opens_session = true});
}

/* ---------------------------------------------------------------- acquiring */

static void acquire_and_release(void)
{
    scene_make_lock();
    if (scene_acquire())
        scene_release();
}

static void free_lock_is_taken_and_released(void)
{
    sweep(&(struct scene_plan){.act = acquire_and_release});
}

static void take_it_twice(void)
{
    acquire_and_release();
    if (scene_acquire())
        scene_release();
}

static void lock_object_is_used_again(void)
{
    sweep(&(struct scene_plan){.act = take_it_twice});
}

static void stranger_goes(void *unused)
{
    (void)unused;
    pocket_delete(STRANGER);
}

static void second_stranger_goes(void *unused)
{
    (void)unused;
    pocket_delete(SECOND_STRANGER);
}

static void one_stranger(void)
{
    pocket_create(STRANGER);
    pocket_set_counter(SCENE_PATH, 1);
}

static void two_strangers(void)
{
    pocket_create(STRANGER);
    pocket_create(SECOND_STRANGER);
    pocket_set_counter(SCENE_PATH, 2);
}

static void wait_for_stranger(void)
{
    world_later(700, stranger_goes, NULL);
    acquire_and_release();
}

static void waiter_is_woken(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = wait_for_stranger});
}

static void wait_for_both(void)
{
    world_later(700, stranger_goes, NULL);
    world_later(1400, second_stranger_goes, NULL);
    acquire_and_release();
}

static void waiter_deeper_in_the_queue_is_woken(void)
{
    sweep(&(struct scene_plan){.set = two_strangers, .act = wait_for_both});
}

static void stranger_changes(void *unused)
{
    (void)unused;
    pocket_set(STRANGER, "{}");
}

static void wait_for_a_stranger_that_changes(void)
{
    world_later(300, stranger_changes, NULL);
    wait_for_stranger();
}

static void watch_is_planted_again(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = wait_for_a_stranger_that_changes});
}

static void missing_parents_are_made(void)
{
    sweep(&(struct scene_plan){.act = acquire_and_release, .lock_dir_is_missing = true});
}

static void unreadable_stranger(void)
{
    one_stranger();
    pocket_deny(ZKL_OP_GET, "stranger");
}

static void unreadable_stranger_is_watched_by_exists(void)
{
    sweep(&(struct scene_plan){.set = unreadable_stranger, .act = wait_for_stranger});
}

/* It goes between the listing and the watch, so that "exists" leaves one where there is no node. */
static void wait_for_a_stranger_that_hurries(void)
{
    world_later(3, stranger_goes, NULL);
    acquire_and_release();
}

static void watch_on_nothing_is_forgotten(void)
{
    sweep(&(struct scene_plan){.set = unreadable_stranger, .act = wait_for_a_stranger_that_hurries});
}

static void last_stranger_goes(void *unused)
{
    (void)unused;
    pocket_delete(LAST_STRANGER);
}

static void stranger_at_the_end_of_the_counter(void)
{
    pocket_create(LAST_STRANGER);
    pocket_set_counter(SCENE_PATH, INT32_MAX);
}

static void wait_for_the_last_number(void)
{
    world_later(700, last_stranger_goes, NULL);
    acquire_and_release();
}

static void order_is_surveyed(void)
{
    sweep(&(struct scene_plan){.set = stranger_at_the_end_of_the_counter, .act = wait_for_the_last_number});
}

/* ---------------------------------------------------------------- not acquiring */

static void try_once(void)
{
    scene_make_lock();
    if (!scene.lock)
        return;
    zklock_status status = zklock_try(scene.lock, SCENE_LIMIT_MS);
    scene.started += status != ZKLOCK_NO_MEMORY;
    scene_expect("try", status, ZKLOCK_BUSY, SHORTAGE);
}

static void busy_lock_is_tried(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = try_once});
}

static void wait_in_vain(void)
{
    scene_make_lock();
    if (scene_begin())
        scene_await(ZKLOCK_TIMEOUT, SHORTAGE);
}

static void limit_passes(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = wait_in_vain});
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

static void waiter_is_cancelled(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = wait_and_cancel});
}

static void cancel_at_once(void)
{
    scene_make_lock();
    if (!scene_begin())
        return;
    cancel(NULL);
    scene_await(ZKLOCK_CANCELLED, SHORTAGE);
}

static void create_on_its_way_is_cancelled(void)
{
    sweep(&(struct scene_plan){.act = cancel_at_once});
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

static void waiter_is_freed(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = free_while_waiting});
}

static void free_while_held(void)
{
    scene_make_lock();
    if (!scene_acquire())
        return;
    zklock_free(scene.lock);
    scene.lock = NULL;
    world_pass(500);
}

static void holder_is_freed(void)
{
    sweep(&(struct scene_plan){.act = free_while_held});
}

static void send_release(void)
{
    scene_make_lock();
    if (scene_acquire())
        scene_expect("send", zklock_release_send(scene.lock), ZKLOCK_OK, BIT(LOST));
    world_pass(500);
}

static void release_is_sent(void)
{
    sweep(&(struct scene_plan){.act = send_release});
}

/* ---------------------------------------------------------------- what networks and servers do */

static void create_is_applied_unseen(void)
{
    pocket_break(ZKL_OP_CREATE, POCKET_LOSE_REPLY);
}

static void applied_create_is_adopted(void)
{
    sweep(&(struct scene_plan){.set = create_is_applied_unseen, .act = acquire_and_release});
}

static void create_gets_lost(void)
{
    pocket_break(ZKL_OP_CREATE, POCKET_LOSE_REQUEST);
}

static void lost_create_is_repeated(void)
{
    sweep(&(struct scene_plan){.set = create_gets_lost, .act = acquire_and_release});
}

static void create_is_kept(void)
{
    pocket_break(ZKL_OP_CREATE, POCKET_KEEP_REQUEST);
}

static void late_create_is_swept(void)
{
    sweep(&(struct scene_plan){.set = create_is_kept, .act = acquire_and_release});
}

static void delete_is_applied_unseen(void)
{
    pocket_break(ZKL_OP_DELETE, POCKET_LOSE_REPLY);
}

static void delete_is_repeated(void)
{
    sweep(&(struct scene_plan){.set = delete_is_applied_unseen, .act = acquire_and_release});
}

static void expire(void *unused)
{
    (void)unused;
    if (scene.is_in_act)
        pocket_expire();
}

static void expire_while_waiting(void)
{
    world_later(400, expire, NULL);
    wait_for_stranger();
}

static void expired_waiter_queues_again(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = expire_while_waiting, .session_ends = true});
}

static void expire_while_held(void)
{
    scene_make_lock();
    if (!scene_acquire())
        return;
    expire(NULL);
    scene_expect("release of what is lost", zklock_release(scene.lock, SCENE_LIMIT_MS), ZKLOCK_LOST, BIT(LOST));
}

static void expired_holder_has_lost(void)
{
    sweep(&(struct scene_plan){.act = expire_while_held, .session_ends = true});
}

static void disconnect(void *unused)
{
    (void)unused;
    pocket_disconnect();
}

static void be_cut_while_held(void)
{
    scene_make_lock();
    if (!scene_acquire())
        return;
    disconnect(NULL);
    world_pass(1000);
    disconnect(NULL);
    world_pass(1000);
    scene_release();
}

static void holder_outlives_two_cuts(void)
{
    sweep(&(struct scene_plan){.act = be_cut_while_held});
}

/* Somebody deletes the own contender. */
static void remove_own_node(void *unused)
{
    char path[1024] = SCENE_PATH "/";

    (void)unused;
    zklock_contender_name(scene.lock, path + strlen(path), sizeof path - strlen(path));
    pocket_delete(path);
}

static void be_removed_while_held(void)
{
    scene_make_lock();
    if (!scene_acquire())
        return;
    remove_own_node(NULL);
    world_pass(3000);
    zklock_status status = zklock_release(scene.lock, SCENE_LIMIT_MS);
    scene_expect("release of what is lost", status, ZKLOCK_LOST, BIT(UNCONFIRMED));
}

static void removed_holder_has_lost(void)
{
    sweep(&(struct scene_plan){.act = be_removed_while_held});
}

static void be_removed_while_waiting(void)
{
    scene_make_lock();
    if (!scene_begin())
        return;
    world_pass(500);
    remove_own_node(NULL);
    scene_await(ZKLOCK_REMOVED, SHORTAGE);
}

static void removed_waiter_is_told(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = be_removed_while_waiting});
}

static void disconnect_while_waiting(void)
{
    scene_make_lock();
    if (!scene_begin())
        return;
    world_pass(200);
    pocket_disconnect();
    world_later(500, stranger_goes, NULL);
    scene_await(ZKLOCK_OK, SHORTAGE);
}

static void waiter_outlives_a_cut(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = disconnect_while_waiting});
}

/* ---------------------------------------------------------------- closing, looking */

static void hold_and_close(void)
{
    scene_make_lock();
    scene_acquire();
    zklock_free(scene.keeper);
    scene.keeper = NULL;
    zklock_status status = zklock_session_close(scene.session, SCENE_LIMIT_MS);
    scene_expect("close", status, ZKLOCK_OK, BIT(UNCONFIRMED));
    zklock_free(scene.lock);
    scene.lock = NULL;
    scene.session = NULL;
}

static void session_closes_while_it_holds(void)
{
    sweep(&(struct scene_plan){.act = hold_and_close});
}

static void ask_for_descriptor(void)
{
    int descriptor;

    scene_make_lock();
    if (!scene.lock)
        return;
    scene_expect("descriptor", zklock_fd(scene.lock, &descriptor), ZKLOCK_OK, SHORTAGE);
    if (scene_acquire())
        scene_release();
}

static void descriptor_is_asked_for(void)
{
    sweep(&(struct scene_plan){.act = ask_for_descriptor});
}

static void a_queue(void)
{
    two_strangers();
    pocket_create(SCENE_PATH "/something-else");
    pocket_deny(ZKL_OP_GET, "0000000001");
}

static void read_queue(void)
{
    zklock_queue *queue = NULL;
    zklock_status status = zklock_queue_read(scene.session, SCENE_PATH, SCENE_LIMIT_MS, &queue);

    if (scene_expect("read", status, ZKLOCK_OK, SHORTAGE) && (queue->count != 2 || queue->foreign_count != 1))
        scene_complain("%zu contenders and %zu others were read", queue->count, queue->foreign_count);
    zklock_queue_free(queue);
}

static void queue_is_read(void)
{
    sweep(&(struct scene_plan){.set = a_queue, .act = read_queue});
}

static void wait_free(void)
{
    world_later(700, stranger_goes, NULL);
    scene_expect("wait", zklock_wait_free(scene.session, SCENE_PATH, SCENE_LIMIT_MS), ZKLOCK_OK, SHORTAGE);
}

static void free_lock_is_awaited(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = wait_free});
}

static void unreadable_holder_is_awaited(void)
{
    sweep(&(struct scene_plan){.set = unreadable_stranger, .act = wait_free});
}

static void search_paths(void)
{
    zklock_paths *paths = NULL;
    zklock_status status = zklock_paths_read(scene.session, "/scene", SCENE_LIMIT_MS, &paths);
    bool is_found = false;

    for (size_t i = 0; status == ZKLOCK_OK && i < paths->count; i++)
        is_found |= strcmp(paths->items[i], SCENE_PATH) == 0;
    if (scene_expect("search", status, ZKLOCK_OK, SHORTAGE) && !is_found)
        scene_complain("the lock was not found");
    zklock_paths_free(paths);
}

static void locks_are_searched(void)
{
    sweep(&(struct scene_plan){.set = a_queue, .act = search_paths});
}

static void verify_nobodys_token(void)
{
    zklock_status status = zklock_token_verify(scene.session, SCENE_PATH, 1, SCENE_LIMIT_MS);

    scene_expect("verify", status, ZKLOCK_NOT_HELD, SHORTAGE);
}

static void token_is_verified(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = verify_nobodys_token});
}

/* Of the first in the queue. */
static void intervene(zklock_status (*call)(zklock_session *, const char *, const zklock_contender *, int64_t))
{
    zklock_queue *queue = NULL;
    zklock_status status = zklock_queue_read(scene.session, SCENE_PATH, SCENE_LIMIT_MS, &queue);

    if (scene_expect("read", status, ZKLOCK_OK, SHORTAGE) && queue->count > 0) {
        status = call(scene.session, SCENE_PATH, queue->contenders[0], SCENE_LIMIT_MS);
        scene_expect("intervene", status, ZKLOCK_OK, SHORTAGE);
    }
    zklock_queue_free(queue);
}

static void break_first(void)
{
    intervene(zklock_break);
}

static void contender_is_broken(void)
{
    sweep(&(struct scene_plan){.set = one_stranger, .act = break_first});
}

static void hold_and_be_asked_to_let_go(void)
{
    scene_make_lock();
    if (!scene_acquire())
        return;
    intervene(zklock_revoke);
    world_pass(200);
    scene_release();
}

static void holder_is_asked_to_let_go(void)
{
    sweep(&(struct scene_plan){.act = hold_and_be_asked_to_let_go});
}

static const struct suite_test tests[] = {
    SUITE_TEST(session_opens),
    SUITE_TEST(session_opens_and_closes),
    SUITE_TEST(silent_servers_are_tried_in_turn),
    SUITE_TEST(free_lock_is_taken_and_released),
    SUITE_TEST(lock_object_is_used_again),
    SUITE_TEST(waiter_is_woken),
    SUITE_TEST(waiter_deeper_in_the_queue_is_woken),
    SUITE_TEST(watch_is_planted_again),
    SUITE_TEST(missing_parents_are_made),
    SUITE_TEST(unreadable_stranger_is_watched_by_exists),
    SUITE_TEST(watch_on_nothing_is_forgotten),
    SUITE_TEST(order_is_surveyed),
    SUITE_TEST(busy_lock_is_tried),
    SUITE_TEST(limit_passes),
    SUITE_TEST(waiter_is_cancelled),
    SUITE_TEST(create_on_its_way_is_cancelled),
    SUITE_TEST(waiter_is_freed),
    SUITE_TEST(holder_is_freed),
    SUITE_TEST(release_is_sent),
    SUITE_TEST(applied_create_is_adopted),
    SUITE_TEST(lost_create_is_repeated),
    SUITE_TEST(late_create_is_swept),
    SUITE_TEST(delete_is_repeated),
    SUITE_TEST(expired_waiter_queues_again),
    SUITE_TEST(expired_holder_has_lost),
    SUITE_TEST(waiter_outlives_a_cut),
    SUITE_TEST(holder_outlives_two_cuts),
    SUITE_TEST(removed_holder_has_lost),
    SUITE_TEST(removed_waiter_is_told),
    SUITE_TEST(session_closes_while_it_holds),
    SUITE_TEST(descriptor_is_asked_for),
    SUITE_TEST(queue_is_read),
    SUITE_TEST(free_lock_is_awaited),
    SUITE_TEST(unreadable_holder_is_awaited),
    SUITE_TEST(locks_are_searched),
    SUITE_TEST(token_is_verified),
    SUITE_TEST(contender_is_broken),
    SUITE_TEST(holder_is_asked_to_let_go),
    SUITE_END,
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "scenes", tests);
}
