/*
 * Complete stories of shared locks and downgrades, and of who observes, each played once for every call in it that can
 * fail, as in test_scenes.c.
 */
#include "failure/scene.h"
#include "support/suite.h"

#define WRITER SCENE_PATH "/stranger-__WRIT__0000000000"
#define READER SCENE_PATH "/stranger-__READ__0000000000"
#define FIRST SCENE_PATH "/stranger-lock-0000000000"
#define SECOND SCENE_PATH "/stranger-lock-0000000001"

#define SHARED .mode = ZKLOCK_MODE_SHARED, .style = ZKLOCK_STYLE_CURATOR_RW
#define EXCLUSIVE .mode = ZKLOCK_MODE_EXCLUSIVE, .style = ZKLOCK_STYLE_CURATOR_RW

static void acquire_and_release(void)
{
    scene_make_lock();
    if (scene_acquire())
        scene_release();
}

static void stand(const char *node)
{
    pocket_create(node);
    pocket_set_counter(SCENE_PATH, 1);
}

static void node_goes(void *path)
{
    pocket_delete(path);
}

static void expire(void *unused)
{
    (void)unused;
    if (scene.is_in_act)
        pocket_expire();
}

/* ---------------------------------------------------------------- shared locks */

static void a_reader(void)
{
    stand(READER);
}

static void a_writer(void)
{
    stand(WRITER);
}

static void free_lock_is_shared(void)
{
    sweep(&(struct scene_plan){SHARED, .act = acquire_and_release});
}

static void lock_is_shared_with_a_stranger(void)
{
    sweep(&(struct scene_plan){SHARED, .set = a_reader, .act = acquire_and_release});
}

static void wait_for_writer(void)
{
    world_later(700, node_goes, (void *)WRITER);
    acquire_and_release();
}

static void reader_waits_for_a_writer(void)
{
    sweep(&(struct scene_plan){SHARED, .set = a_writer, .act = wait_for_writer});
}

static void writer_waits_for_a_writer_and_lists(void)
{
    sweep(&(struct scene_plan){EXCLUSIVE, .set = a_writer, .act = wait_for_writer});
}

static void wait_for_reader(void)
{
    world_later(700, node_goes, (void *)READER);
    acquire_and_release();
}

static void writer_waits_for_a_reader(void)
{
    sweep(&(struct scene_plan){EXCLUSIVE, .set = a_reader, .act = wait_for_reader});
}

static void writer_becomes_reader(void *unused)
{
    (void)unused;
    pocket_delete(WRITER);
    pocket_create(READER);
}

static void wait_for_a_downgrade(void)
{
    world_later(700, writer_becomes_reader, NULL);
    acquire_and_release();
}

static void reader_is_let_in_by_a_downgrade(void)
{
    sweep(&(struct scene_plan){SHARED, .set = a_writer, .act = wait_for_a_downgrade});
}

static void expire_while_shared(void)
{
    scene_make_lock();
    if (!scene_acquire())
        return;
    expire(NULL);
    scene_expect("release of what is lost", zklock_release(scene.lock, SCENE_LIMIT_MS), ZKLOCK_LOST, BIT(LOST));
}

static void expired_reader_has_lost(void)
{
    sweep(&(struct scene_plan){SHARED, .act = expire_while_shared, .session_ends = true});
}

/* ---------------------------------------------------------------- downgrades */

/* Whether it holds; shared, if nothing has failed. */
static bool acquire_and_downgrade(void)
{
    scene_make_lock();
    if (!scene_acquire())
        return false;
    zklock_status status = zklock_downgrade(scene.lock, SCENE_LIMIT_MS);
    scene_expect("downgrade", status, ZKLOCK_OK, BIT(NO_MEMORY) | BIT(UNCONFIRMED) | BIT(LOST));
    return status != ZKLOCK_LOST;
}

static void downgrade_and_release(void)
{
    if (acquire_and_downgrade())
        scene_release();
}

static void writer_is_downgraded_and_released(void)
{
    sweep(&(struct scene_plan){EXCLUSIVE, .act = downgrade_and_release});
}

static void replace_is_applied_unseen(void)
{
    pocket_break(ZKL_OP_REPLACE, POCKET_LOSE_REPLY);
}

static void applied_downgrade_is_found(void)
{
    sweep(&(struct scene_plan){EXCLUSIVE, .set = replace_is_applied_unseen, .act = downgrade_and_release});
}

static void replace_gets_lost(void)
{
    pocket_break(ZKL_OP_REPLACE, POCKET_LOSE_REQUEST);
}

static void lost_downgrade_is_repeated(void)
{
    sweep(&(struct scene_plan){EXCLUSIVE, .set = replace_gets_lost, .act = downgrade_and_release});
}

static void replace_is_kept(void)
{
    pocket_break(ZKL_OP_REPLACE, POCKET_KEEP_REQUEST);
}

static void late_downgrade_changes_nothing(void)
{
    sweep(&(struct scene_plan){EXCLUSIVE, .set = replace_is_kept, .act = downgrade_and_release});
}

/* Before its fate is known: two names are to be deleted. */
static void release_during_the_downgrade(void)
{
    scene_make_lock();
    if (!scene_acquire())
        return;
    /* With nothing under way it is sent at once. */
    world_pass(100);
    scene_expect("downgrade", zklock_downgrade(scene.lock, 0), ZKLOCK_UNCONFIRMED, BIT(NO_MEMORY) | BIT(LOST));
    zklock_status status = zklock_release(scene.lock, SCENE_LIMIT_MS);
    scene_expect("release", status, ZKLOCK_OK, BIT(LOST) | BIT(UNCONFIRMED));
}

static void downgrade_is_overtaken_by_the_release(void)
{
    sweep(&(struct scene_plan){EXCLUSIVE, .act = release_during_the_downgrade});
}

static void unknown_downgrade_is_overtaken_by_the_release(void)
{
    sweep(&(struct scene_plan){EXCLUSIVE, .set = replace_is_applied_unseen, .act = release_during_the_downgrade});
}

static void expire_as_a_reader(void)
{
    if (!acquire_and_downgrade())
        return;
    expire(NULL);
    scene_expect("release of what is lost", zklock_release(scene.lock, SCENE_LIMIT_MS), ZKLOCK_LOST, BIT(LOST));
}

static void downgraded_lock_is_lost_with_its_session(void)
{
    sweep(&(struct scene_plan){EXCLUSIVE, .act = expire_as_a_reader, .session_ends = true});
}

static void free_as_a_reader(void)
{
    if (!acquire_and_downgrade())
        return;
    zklock_free(scene.lock);
    scene.lock = NULL;
    world_pass(500);
}

static void downgraded_holder_is_freed(void)
{
    sweep(&(struct scene_plan){EXCLUSIVE, .act = free_as_a_reader});
}

/* ---------------------------------------------------------------- observers */

static void two_strangers(void)
{
    pocket_create(FIRST);
    pocket_create(SECOND);
    pocket_set_counter(SCENE_PATH, 2);
}

static void observe(const char *seen, const char *next)
{
    zklock_queue *queue = NULL;
    uint64_t token = seen ? (uint64_t)pocket_czxid(seen) : 0;
    zklock_status status = zklock_observe(scene.session, SCENE_PATH, token, SCENE_LIMIT_MS, &queue);

    if (!scene_expect("observe", status, ZKLOCK_OK, SHORTAGE))
        return;
    uint64_t found = queue->count == 1 ? queue->contenders[0]->token : 0;
    if (found != (uint64_t)pocket_czxid(next))
        scene_complain("%zu contenders were observed, token %llu", queue->count, (unsigned long long)found);
    zklock_queue_free(queue);
}

static void observe_the_next(void)
{
    world_later(700, node_goes, (void *)FIRST);
    observe(FIRST, SECOND);
}

static void next_leader_is_observed(void)
{
    sweep(&(struct scene_plan){.set = two_strangers, .act = observe_the_next});
}

static void unreadable_strangers(void)
{
    two_strangers();
    pocket_deny(ZKL_OP_GET, "stranger");
}

static void unreadable_leader_is_observed(void)
{
    sweep(&(struct scene_plan){.set = unreadable_strangers, .act = observe_the_next});
}

static void stranger_comes(void *unused)
{
    (void)unused;
    pocket_create(FIRST);
}

static void observe_nobody(void)
{
    world_later(700, stranger_comes, NULL);
    observe(NULL, FIRST);
}

static void newcomer_is_observed(void)
{
    sweep(&(struct scene_plan){.act = observe_nobody});
}

static void observe_in_vain(void)
{
    zklock_queue *queue = NULL;
    uint64_t token = (uint64_t)pocket_czxid(FIRST);
    zklock_status status = zklock_observe(scene.session, SCENE_PATH, token, SCENE_LIMIT_MS, &queue);

    scene_expect("observe", status, ZKLOCK_TIMEOUT, SHORTAGE);
}

static void leader_that_stays_is_observed(void)
{
    sweep(&(struct scene_plan){.set = two_strangers, .act = observe_in_vain});
}

static void observe_through_an_expiry(void)
{
    world_later(300, expire, NULL);
    observe_the_next();
}

static void observer_outlives_its_session(void)
{
    sweep(&(struct scene_plan){.set = two_strangers, .act = observe_through_an_expiry, .session_ends = true});
}

static const struct suite_test tests[] = {
    SUITE_TEST(free_lock_is_shared),
    SUITE_TEST(lock_is_shared_with_a_stranger),
    SUITE_TEST(reader_waits_for_a_writer),
    SUITE_TEST(writer_waits_for_a_writer_and_lists),
    SUITE_TEST(writer_waits_for_a_reader),
    SUITE_TEST(reader_is_let_in_by_a_downgrade),
    SUITE_TEST(expired_reader_has_lost),
    SUITE_TEST(writer_is_downgraded_and_released),
    SUITE_TEST(applied_downgrade_is_found),
    SUITE_TEST(lost_downgrade_is_repeated),
    SUITE_TEST(late_downgrade_changes_nothing),
    SUITE_TEST(downgrade_is_overtaken_by_the_release),
    SUITE_TEST(unknown_downgrade_is_overtaken_by_the_release),
    SUITE_TEST(downgraded_lock_is_lost_with_its_session),
    SUITE_TEST(downgraded_holder_is_freed),
    SUITE_TEST(next_leader_is_observed),
    SUITE_TEST(unreadable_leader_is_observed),
    SUITE_TEST(newcomer_is_observed),
    SUITE_TEST(leader_that_stays_is_observed),
    SUITE_TEST(observer_outlives_its_session),
    SUITE_END,
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "modes", tests);
}
