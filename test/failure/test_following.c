/* Complete stories of an observer, each played once for every call in it that can fail, as in test_scenes.c. */
#include "failure/scene.h"
#include "support/suite.h"
#include "zklock_observer.h"

#define FIRST SCENE_PATH "/stranger-lock-0000000000"
#define SECOND SCENE_PATH "/stranger-lock-0000000001"

enum { STORY_MS = 2500, SETTLE_MS = 20000 };

static zklock_observer *observer; /* NULL: it could not be started */
static int calls;
static zklock_status told_status;
static uint64_t told_token;

static void on_leader(zklock_observer *itself, const zklock_sighting *sighting, void *context)
{
    uint64_t token = sighting->leader ? sighting->leader->token : 0;

    (void)context;
    if (itself != observer)
        scene_complain("it was told before its start had returned it, or after its stop");
    if (calls > 0 && told_status == sighting->status && told_token == token)
        scene_complain("told twice: token %llu", (unsigned long long)token);
    calls++;
    told_status = sighting->status;
    told_token = token;
}

static void start(void)
{
    calls = 0;
    if (!scene_expect("start", zklock_observer_start(scene.session, SCENE_PATH, on_leader, NULL, &observer), ZKLOCK_OK,
                      SHORTAGE))
        observer = NULL;
}

static void stop(void)
{
    zklock_observer_stop(observer);
    observer = NULL;
}

static bool has_told_how_things_stand(void)
{
    const char *leader = pocket_exists(FIRST) ? FIRST : SECOND;

    return calls > 0 && told_status == ZKLOCK_OK && told_token == (uint64_t)pocket_czxid(leader);
}

/* With memory again, what is true is told sooner or later, and then nothing more. */
static void end(void)
{
    if (!observer)
        return;
    if (!world_pass_until(has_told_how_things_stand, SETTLE_MS))
        scene_complain("%d calls, the last with %s, token %llu", calls, zklock_status_name(told_status),
                       (unsigned long long)told_token);
    stop();
    pocket_delete(FIRST);
    pocket_delete(SECOND);
    world_pass(STORY_MS);
}

#define STORY .end = end

static void two_strangers(void)
{
    pocket_create(FIRST);
    pocket_create(SECOND);
    pocket_set_counter(SCENE_PATH, 2);
}

static void node_goes(void *path)
{
    pocket_delete(path);
}

static void node_comes(void *path)
{
    pocket_create(path);
    pocket_set_counter(SCENE_PATH, 2);
}

static void expire(void *unused)
{
    (void)unused;
    if (scene.is_in_act)
        pocket_expire();
}

static void disconnect(void *unused)
{
    (void)unused;
    pocket_disconnect();
}

/* ---------------------------------------------------------------- changes */

static void first_one_goes(void)
{
    start();
    world_later(700, node_goes, (void *)FIRST);
    world_pass(STORY_MS);
}

static void next_leader_is_told(void)
{
    sweep(&(struct scene_plan){STORY, .set = two_strangers, .act = first_one_goes});
}

static void unreadable_strangers(void)
{
    two_strangers();
    pocket_deny(ZKL_OP_GET, "stranger");
}

static void unreadable_leader_is_told(void)
{
    sweep(&(struct scene_plan){STORY, .set = unreadable_strangers, .act = first_one_goes});
}

static void somebody_comes(void)
{
    start();
    world_later(700, node_comes, (void *)FIRST);
    world_pass(STORY_MS);
}

static void newcomer_is_told(void)
{
    sweep(&(struct scene_plan){STORY, .act = somebody_comes});
}

static void newcomer_is_told_where_there_was_no_path(void)
{
    sweep(&(struct scene_plan){STORY, .act = somebody_comes, .lock_dir_is_missing = true});
}

/* ---------------------------------------------------------------- what networks and servers do */

static void first_one_goes_after_an_expiry(void)
{
    world_later(300, expire, NULL);
    first_one_goes();
}

static void observer_outlives_its_session(void)
{
    sweep(&(struct scene_plan){
        STORY, .set = two_strangers, .act = first_one_goes_after_an_expiry, .session_ends = true});
}

static void first_one_goes_during_a_cut(void)
{
    world_later(690, disconnect, NULL);
    first_one_goes();
}

static void observer_outlives_a_cut(void)
{
    sweep(&(struct scene_plan){STORY, .set = two_strangers, .act = first_one_goes_during_a_cut});
}

static void list_is_lost(void)
{
    two_strangers();
    pocket_break(ZKL_OP_LIST, POCKET_LOSE_REPLY);
}

static void lost_list_is_asked_for_again(void)
{
    sweep(&(struct scene_plan){STORY, .set = list_is_lost, .act = first_one_goes});
}

/* ---------------------------------------------------------------- the end */

static void stop_at_once(void)
{
    start();
    stop();
    world_pass(STORY_MS);
    if (calls > 0)
        scene_complain("told after the stop");
}

static void observer_is_stopped_at_once(void)
{
    sweep(&(struct scene_plan){.set = two_strangers, .act = stop_at_once});
}

static void close_while_observed(void)
{
    start();
    world_pass(300);
    zklock_free(scene.keeper);
    scene.keeper = NULL;
    scene_expect("close", zklock_session_close(scene.session, SCENE_LIMIT_MS), ZKLOCK_OK, BIT(UNCONFIRMED));
    scene.session = NULL;
    stop();
}

static void session_closes_while_observed(void)
{
    sweep(&(struct scene_plan){.set = two_strangers, .act = close_while_observed});
}

static const struct suite_test tests[] = {
    SUITE_TEST(next_leader_is_told),
    SUITE_TEST(unreadable_leader_is_told),
    SUITE_TEST(newcomer_is_told),
    SUITE_TEST(newcomer_is_told_where_there_was_no_path),
    SUITE_TEST(observer_outlives_its_session),
    SUITE_TEST(observer_outlives_a_cut),
    SUITE_TEST(lost_list_is_asked_for_again),
    SUITE_TEST(observer_is_stopped_at_once),
    SUITE_TEST(session_closes_while_observed),
    SUITE_END,
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "following", tests);
}
