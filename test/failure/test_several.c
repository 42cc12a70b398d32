/*
 * Complete stories of several locks that are taken as one, each played once for every call in it that can fail, as in
 * test_scenes.c.
 */
#include <stdio.h>

#include "failure/scene.h"
#include "support/suite.h"

#define STRANGER SCENE_SECOND "/stranger-lock-0000000000"

enum { PARTS = 3 };

static const char *const paths[PARTS] = {SCENE_PATH, SCENE_SECOND, SCENE_THIRD};

static zklock_multi *multi; /* NULL: not all of it could be made */

/* Its third part is shared: kinds may be mixed. */
static zklock_status add_part(int which)
{
    zklock_options options;

    scene_options(&options);
    if (which == 2)
        options.mode = ZKLOCK_MODE_SHARED;
    return zklock_multi_add(multi, paths[which], &options);
}

static void make(void)
{
    zklock_status status = zklock_multi_new(scene.session, &multi);

    if (!scene_expect("new", status, ZKLOCK_OK, SHORTAGE))
        multi = NULL;
    for (int i = 0; i < PARTS && multi; i++) {
        if (scene_expect("add", add_part(i), ZKLOCK_OK, SHORTAGE))
            continue;
        zklock_multi_free(multi);
        multi = NULL;
    }
}

static void look_at_parts(void)
{
    for (int i = 0; i < PARTS; i++)
        scene_look_at_node(zklock_multi_lock(multi, paths[i]), paths[i]);
}

/* What was not got is held nowhere. */
static void look_for_held_parts(void)
{
    for (int i = 0; i < PARTS; i++)
        if (zklock_is_held(zklock_multi_lock(multi, paths[i])))
            scene_complain("%s is held, and not the whole", paths[i]);
}

static bool has_ended(void)
{
    return zklock_multi_result(multi) != ZKLOCK_PENDING;
}

static void end(void)
{
    if (!multi)
        return;
    if (!world_pass_until(has_ended, 20000))
        scene_complain("an acquire has no end");
    zklock_state state = zklock_multi_state_get(multi, NULL);
    if (state == ZKLOCK_STATE_HELD)
        look_at_parts();
    else if (state == ZKLOCK_STATE_IDLE)
        look_for_held_parts();
    if (state == ZKLOCK_STATE_LOST && scene.lost == 0)
        scene_complain("lost, and nobody was told");
    if (state == ZKLOCK_STATE_HELD || state == ZKLOCK_STATE_LOST)
        scene_expect("last release", zklock_multi_release(multi, SCENE_LIMIT_MS), ZKLOCK_OK, BIT(LOST));
    zklock_multi_free(multi);
    multi = NULL;
}

static bool acquire(void)
{
    make();
    if (!multi)
        return false;
    bool is_held = scene_expect("acquire", zklock_multi_acquire(multi, SCENE_LIMIT_MS), ZKLOCK_OK, SHORTAGE);
    if (is_held)
        look_at_parts();
    else
        look_for_held_parts();
    return is_held;
}

static bool begin(void)
{
    make();
    return multi && scene_expect("begin", zklock_multi_acquire_start(multi, SCENE_LIMIT_MS), ZKLOCK_OK, BIT(NO_MEMORY));
}

static void acquire_and_release(void)
{
    if (!acquire())
        return;
    zklock_status status = zklock_multi_release(multi, SCENE_LIMIT_MS);
    scene_expect("release", status, ZKLOCK_OK, BIT(LOST) | BIT(UNCONFIRMED));
}

static void one_stranger(void)
{
    pocket_create(STRANGER);
    pocket_set_counter(SCENE_SECOND, 1);
}

static void stranger_goes(void *unused)
{
    (void)unused;
    pocket_delete(STRANGER);
}

static void expire(void *unused)
{
    (void)unused;
    if (scene.is_in_act)
        pocket_expire();
}

/* So many calls can fail in these that every pair would take too long. */
#define SEVERAL .has_several_paths = true, .end = end, .most_distance = 30

/* ---------------------------------------------------------------- taken, and not taken */

static void free_locks_are_taken_and_released(void)
{
    sweep(&(struct scene_plan){SEVERAL, .act = acquire_and_release});
}

static void wait_for_stranger(void)
{
    world_later(700, stranger_goes, NULL);
    acquire_and_release();
}

static void taker_keeps_its_place_and_none_beyond(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = one_stranger, .act = wait_for_stranger});
}

static void try_once(void)
{
    make();
    if (!multi)
        return;
    scene_expect("try", zklock_multi_try(multi, SCENE_LIMIT_MS), ZKLOCK_BUSY, SHORTAGE);
    look_for_held_parts();
}

static void busy_lock_among_them_is_tried(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = one_stranger, .act = try_once});
}

static void wait_in_vain(void)
{
    if (!begin())
        return;
    scene_expect("result", zklock_multi_wait(multi), ZKLOCK_TIMEOUT, SHORTAGE);
    look_for_held_parts();
}

static void limit_passes(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = one_stranger, .act = wait_in_vain});
}

static void cancel(void *unused)
{
    (void)unused;
    scene_expect("cancel", zklock_multi_cancel(multi), ZKLOCK_OK, BIT(NOT_HELD));
}

static void wait_and_cancel(void)
{
    if (!begin())
        return;
    world_later(500, cancel, NULL);
    scene_expect("result", zklock_multi_wait(multi), ZKLOCK_CANCELLED, SHORTAGE);
}

static void taker_is_cancelled(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = one_stranger, .act = wait_and_cancel});
}

static void cancel_at_once(void)
{
    if (!begin())
        return;
    cancel(NULL);
    scene_expect("result", zklock_multi_wait(multi), ZKLOCK_CANCELLED, SHORTAGE);
}

static void creates_on_their_way_are_cancelled(void)
{
    sweep(&(struct scene_plan){SEVERAL, .act = cancel_at_once});
}

static void free_while_waiting(void)
{
    bool is_begun = begin();

    world_pass(is_begun ? 500 : 0);
    zklock_multi_free(multi);
    multi = NULL;
    world_pass(500);
}

static void taker_is_freed(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = one_stranger, .act = free_while_waiting});
}

static void free_while_held(void)
{
    acquire();
    zklock_multi_free(multi);
    multi = NULL;
    world_pass(500);
}

static void holder_is_freed(void)
{
    sweep(&(struct scene_plan){SEVERAL, .act = free_while_held});
}

static void send_release(void)
{
    if (acquire())
        scene_expect("send", zklock_multi_release_send(multi), ZKLOCK_OK, BIT(LOST));
    world_pass(500);
}

static void release_is_sent(void)
{
    sweep(&(struct scene_plan){SEVERAL, .act = send_release});
}

static void ask_for_descriptor(void)
{
    int descriptor;

    make();
    if (!multi)
        return;
    scene_expect("descriptor", zklock_multi_fd(multi, &descriptor), ZKLOCK_OK, SHORTAGE);
    scene_expect("acquire", zklock_multi_acquire(multi, SCENE_LIMIT_MS), ZKLOCK_OK, SHORTAGE);
}

static void descriptor_is_asked_for(void)
{
    sweep(&(struct scene_plan){SEVERAL, .act = ask_for_descriptor});
}

/* ---------------------------------------------------------------- what networks and servers do */

static void create_is_applied_unseen(void)
{
    pocket_break(ZKL_OP_CREATE, POCKET_LOSE_REPLY);
}

static void applied_create_is_adopted(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = create_is_applied_unseen, .act = acquire_and_release});
}

/* The fate of a create is not known by then. */
static void wait_behind_silence(void)
{
    bool is_begun = begin();

    pocket_be_silent(true);
    if (is_begun)
        scene_expect("result", zklock_multi_wait(multi), ZKLOCK_NO_SERVER, SHORTAGE);
    pocket_be_silent(false);
}

static void limit_passes_while_nobody_answers(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = create_is_applied_unseen, .act = wait_behind_silence, .session_ends = true});
}

static void create_is_kept(void)
{
    pocket_break(ZKL_OP_CREATE, POCKET_KEEP_REQUEST);
}

static void late_create_is_swept(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = create_is_kept, .act = acquire_and_release});
}

static void delete_is_applied_unseen(void)
{
    pocket_break(ZKL_OP_DELETE, POCKET_LOSE_REPLY);
}

static void delete_is_repeated(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = delete_is_applied_unseen, .act = acquire_and_release});
}

static void expire_while_waiting(void)
{
    world_later(400, expire, NULL);
    wait_for_stranger();
}

/* What was held before the stranger's path is taken anew, too. */
static void expired_taker_begins_again(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = one_stranger, .act = expire_while_waiting, .session_ends = true});
}

static void expire_while_held(void)
{
    if (!acquire())
        return;
    expire(NULL);
    scene_expect("release of what is lost", zklock_multi_release(multi, SCENE_LIMIT_MS), ZKLOCK_LOST, BIT(LOST));
}

static void expired_holder_has_lost(void)
{
    sweep(&(struct scene_plan){SEVERAL, .act = expire_while_held, .session_ends = true});
}

static void remove_part(int which)
{
    char node[1024];
    int size = snprintf(node, sizeof node, "%s/", paths[which]);

    zklock_contender_name(zklock_multi_lock(multi, paths[which]), node + size, sizeof node - (size_t)size);
    pocket_delete(node);
}

static bool is_lost(void)
{
    return !zklock_multi_is_held(multi);
}

static void lose_one_while_held(void)
{
    if (!acquire())
        return;
    remove_part(1);
    /* Where it could not be watched, until the lease ends. */
    if (!world_pass_until(is_lost, POCKET_TIMEOUT_MS))
        scene_complain("one is gone, and the whole is held");
    zklock_status status = zklock_multi_release(multi, SCENE_LIMIT_MS);
    scene_expect("release of what is lost", status, ZKLOCK_LOST, BIT(UNCONFIRMED));
}

static void holder_of_all_but_one_has_lost(void)
{
    sweep(&(struct scene_plan){SEVERAL, .act = lose_one_while_held});
}

static void lose_one_while_waiting(void)
{
    if (!begin())
        return;
    world_pass(300);
    remove_part(0);
    world_later(400, stranger_goes, NULL);
    scene_expect("result", zklock_multi_wait(multi), ZKLOCK_OK, SHORTAGE);
}

static void lost_part_is_taken_anew(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = one_stranger, .act = lose_one_while_waiting});
}

static void be_cut_while_waiting(void)
{
    if (!begin())
        return;
    world_pass(200);
    pocket_disconnect();
    world_later(500, stranger_goes, NULL);
    scene_expect("result", zklock_multi_wait(multi), ZKLOCK_OK, SHORTAGE);
}

static void taker_outlives_a_cut(void)
{
    sweep(&(struct scene_plan){SEVERAL, .set = one_stranger, .act = be_cut_while_waiting});
}

static void close_while_held(void)
{
    acquire();
    zklock_free(scene.keeper);
    scene.keeper = NULL;
    scene_expect("close", zklock_session_close(scene.session, SCENE_LIMIT_MS), ZKLOCK_OK, BIT(UNCONFIRMED));
    zklock_multi_free(multi);
    multi = NULL;
    scene.session = NULL;
}

static void session_closes_while_it_holds(void)
{
    sweep(&(struct scene_plan){SEVERAL, .act = close_while_held});
}

static const struct suite_test tests[] = {
    SUITE_TEST(free_locks_are_taken_and_released),
    SUITE_TEST(taker_keeps_its_place_and_none_beyond),
    SUITE_TEST(busy_lock_among_them_is_tried),
    SUITE_TEST(limit_passes),
    SUITE_TEST(taker_is_cancelled),
    SUITE_TEST(creates_on_their_way_are_cancelled),
    SUITE_TEST(taker_is_freed),
    SUITE_TEST(holder_is_freed),
    SUITE_TEST(release_is_sent),
    SUITE_TEST(descriptor_is_asked_for),
    SUITE_TEST(applied_create_is_adopted),
    SUITE_TEST(limit_passes_while_nobody_answers),
    SUITE_TEST(late_create_is_swept),
    SUITE_TEST(delete_is_repeated),
    SUITE_TEST(expired_taker_begins_again),
    SUITE_TEST(expired_holder_has_lost),
    SUITE_TEST(holder_of_all_but_one_has_lost),
    SUITE_TEST(lost_part_is_taken_anew),
    SUITE_TEST(taker_outlives_a_cut),
    SUITE_TEST(session_closes_while_it_holds),
    SUITE_END,
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "several", tests);
}
