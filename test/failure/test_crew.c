/*
 * Complete stories of threads that share a contender, each played once for every call in it that can fail, as in
 * test_scenes.c. One thread stands for all of them: whoever waits lets the world go on, in which the others act.
 */
#include "failure/guarded_calls.h"
#include "failure/scene.h"
#include "support/suite.h"
#include "zklock_cohort.h"

#define STRANGER SCENE_PATH "/stranger-lock-0000000000"

enum { ANNE = 1, BERT, CARL, END_OF_CREW };

static zklock_cohort *cohort; /* NULL: it could not be made */

static void make_with(unsigned most_passes)
{
    zklock_cohort_options options;
    zklock_options lock;

    scene_options(&lock);
    zklock_cohort_options_init(&options);
    options.most_passes = most_passes;
    options.most_ms = -1;
    if (!scene_expect("new", zklock_cohort_new(scene.session, SCENE_PATH, &lock, &options, &cohort), ZKLOCK_OK, SHORTAGE))
        cohort = NULL;
}

/* ---------------------------------------------------------------- what each of them does */

/* Which of them owns it; 0: nobody. */
static int owner(void)
{
    uint64_t token;
    int found = 0;

    for (int who = ANNE; who < END_OF_CREW; who++) {
        int before = guarded_calls_be_thread(who);
        if (zklock_cohort_token(cohort, &token) == ZKLOCK_OK)
            found = who;
        guarded_calls_be_thread(before);
    }
    return found;
}

static zklock_status acquire_as(int who, int64_t limit_ms)
{
    int before = guarded_calls_be_thread(who);
    zklock_status status = zklock_cohort_acquire(cohort, limit_ms);

    guarded_calls_be_thread(before);
    return status;
}

static bool takes_it(int who)
{
    return cohort && scene_expect("acquire", acquire_as(who, SCENE_LIMIT_MS), ZKLOCK_OK, SHORTAGE);
}

static void let_go_as(int who, zklock_status wanted)
{
    int before = guarded_calls_be_thread(who);

    scene_expect("release", zklock_cohort_release(cohort), wanted, BIT(LOST) | BIT(NOT_HELD));
    guarded_calls_be_thread(before);
}

static void lets_go_if_owner(int who)
{
    if (cohort && owner() == who)
        let_go_as(who, ZKLOCK_OK);
}

/* As something that happens while another one waits: once he owns it. */
static void lets_go(void *who)
{
    if (!cohort || !scene.is_in_act)
        return;
    if (owner() == (int)(intptr_t)who)
        let_go_as((int)(intptr_t)who, ZKLOCK_OK);
    else
        world_later(300, lets_go, who);
}

static void lets_go_later(int64_t delay_ms, int who)
{
    world_later(delay_ms, lets_go, (void *)(intptr_t)who);
}

/* While the first one waits; he returns before the first one does, whoever has been served before. */
static void carl_wants_it(void *unused)
{
    (void)unused;
    if (cohort && scene.is_in_act)
        scene_expect("acquire", acquire_as(CARL, SCENE_LIMIT_MS), ZKLOCK_OK, SHORTAGE);
}

/* A lock that nobody of them owns is not held. */
static void end(void)
{
    if (!cohort)
        return;
    int who = owner();
    zklock_state state = zklock_state_get(zklock_cohort_lock(cohort), NULL);
    if (state == ZKLOCK_STATE_HELD && !who)
        scene_complain("it is held, and nobody owns it");
    if (state == ZKLOCK_STATE_HELD)
        scene_look_at_node(zklock_cohort_lock(cohort), SCENE_PATH);
    if (state == ZKLOCK_STATE_LOST && scene.lost == 0)
        scene_complain("lost, and nobody was told");
    if (who)
        let_go_as(who, ZKLOCK_OK);
    if (owner())
        scene_complain("nobody waits, and it was handed on");
    zklock_cohort_free(cohort);
    cohort = NULL;
}

#define CREW .end = end

/* ---------------------------------------------------------------- handed on */

static void take_it_alone(void)
{
    make_with(1000);
    if (takes_it(ANNE))
        let_go_as(ANNE, ZKLOCK_OK);
}

static void one_of_them_takes_it_and_lets_go(void)
{
    sweep(&(struct scene_plan){CREW, .act = take_it_alone});
}

static void hand_it_on(void)
{
    make_with(1000);
    if (!takes_it(ANNE))
        return;
    lets_go_later(300, ANNE);
    if (takes_it(BERT))
        let_go_as(BERT, ZKLOCK_OK);
}

static void it_is_handed_on(void)
{
    sweep(&(struct scene_plan){CREW, .act = hand_it_on});
}

static void hand_it_on_twice(void)
{
    make_with(1000);
    if (!takes_it(ANNE))
        return;
    world_later(100, carl_wants_it, NULL);
    lets_go_later(300, ANNE);
    lets_go_later(600, BERT);
    takes_it(BERT);
    lets_go_if_owner(CARL);
}

static void it_is_handed_on_in_order(void)
{
    sweep(&(struct scene_plan){CREW, .act = hand_it_on_twice});
}

static void ask_anew_each_time(void)
{
    make_with(0);
    if (!takes_it(ANNE))
        return;
    world_later(100, carl_wants_it, NULL);
    lets_go_later(300, ANNE);
    lets_go_later(600, BERT);
    takes_it(BERT);
    lets_go_if_owner(CARL);
}

static void it_is_asked_for_anew_where_nothing_is_handed_on(void)
{
    sweep(&(struct scene_plan){CREW, .act = ask_anew_each_time});
}

/* ---------------------------------------------------------------- not served */

static void wait_in_vain(void)
{
    make_with(1000);
    if (!takes_it(ANNE))
        return;
    scene_expect("acquire", acquire_as(BERT, 500), ZKLOCK_TIMEOUT, SHORTAGE);
    let_go_as(ANNE, ZKLOCK_OK);
}

static void limit_of_one_passes_behind_another(void)
{
    sweep(&(struct scene_plan){CREW, .act = wait_in_vain});
}

static void one_stranger(void)
{
    pocket_create(STRANGER);
    pocket_set_counter(SCENE_PATH, 1);
}

static void stranger_goes(void *unused)
{
    (void)unused;
    pocket_delete(STRANGER);
}

static void wait_in_vain_for_stranger(void)
{
    make_with(1000);
    if (cohort)
        scene_expect("acquire", acquire_as(ANNE, 800), ZKLOCK_TIMEOUT, SHORTAGE);
    world_pass(200);
}

static void limit_passes_and_the_contender_goes(void)
{
    sweep(&(struct scene_plan){CREW, .set = one_stranger, .act = wait_in_vain_for_stranger});
}

static void try_behind_stranger(void)
{
    make_with(1000);
    if (!cohort)
        return;
    int before = guarded_calls_be_thread(ANNE);
    scene_expect("try", zklock_cohort_try(cohort, SCENE_LIMIT_MS), ZKLOCK_BUSY, SHORTAGE);
    guarded_calls_be_thread(before);
}

static void busy_lock_is_tried(void)
{
    sweep(&(struct scene_plan){CREW, .set = one_stranger, .act = try_behind_stranger});
}

static void wait_for_stranger_together(void)
{
    make_with(1000);
    world_later(100, carl_wants_it, NULL);
    world_later(500, stranger_goes, NULL);
    lets_go_later(1000, BERT);
    takes_it(BERT);
    if (cohort)
        lets_go_if_owner(CARL);
}

static void two_of_them_wait_for_a_stranger(void)
{
    sweep(&(struct scene_plan){CREW, .set = one_stranger, .act = wait_for_stranger_together});
}

/* ---------------------------------------------------------------- what networks and servers do */

static void expire(void *unused)
{
    (void)unused;
    if (scene.is_in_act)
        pocket_expire();
}

static void loses_it(void *unused)
{
    expire(NULL);
    if (cohort && owner() == ANNE)
        let_go_as(ANNE, ZKLOCK_LOST);
    (void)unused;
}

static void expire_while_another_waits(void)
{
    make_with(1000);
    if (!takes_it(ANNE))
        return;
    world_later(300, loses_it, NULL);
    if (takes_it(BERT))
        let_go_as(BERT, ZKLOCK_OK);
}

static void next_one_queues_anew_after_a_loss(void)
{
    sweep(&(struct scene_plan){CREW, .act = expire_while_another_waits, .session_ends = true});
}

static void expire_while_waiting(void)
{
    world_later(300, expire, NULL);
    wait_for_stranger_together();
}

static void those_who_wait_outlive_their_session(void)
{
    sweep(&(struct scene_plan){CREW, .set = one_stranger, .act = expire_while_waiting, .session_ends = true});
}

static void create_is_applied_unseen(void)
{
    pocket_break(ZKL_OP_CREATE, POCKET_LOSE_REPLY);
}

static void applied_create_is_adopted(void)
{
    sweep(&(struct scene_plan){CREW, .set = create_is_applied_unseen, .act = hand_it_on});
}

static void remove_node(void *unused)
{
    char node[1024] = SCENE_PATH "/";

    (void)unused;
    if (!cohort || !scene.is_in_act)
        return;
    zklock_contender_name(zklock_cohort_lock(cohort), node + sizeof SCENE_PATH, sizeof node - sizeof SCENE_PATH);
    pocket_delete(node);
}

static void be_removed_while_waiting(void)
{
    make_with(1000);
    if (!cohort)
        return;
    world_later(500, remove_node, NULL);
    scene_expect("acquire", acquire_as(ANNE, SCENE_LIMIT_MS), ZKLOCK_REMOVED, SHORTAGE);
}

static void removal_is_told_to_who_waits(void)
{
    sweep(&(struct scene_plan){CREW, .set = one_stranger, .act = be_removed_while_waiting});
}

static void free_while_held(void)
{
    make_with(1000);
    takes_it(ANNE);
    zklock_cohort_free(cohort);
    cohort = NULL;
    world_pass(500);
}

static void held_cohort_is_freed(void)
{
    sweep(&(struct scene_plan){CREW, .act = free_while_held});
}

static void close_while_held(void)
{
    make_with(1000);
    takes_it(ANNE);
    zklock_free(scene.keeper);
    scene.keeper = NULL;
    scene_expect("close", zklock_session_close(scene.session, SCENE_LIMIT_MS), ZKLOCK_OK, BIT(UNCONFIRMED));
    zklock_cohort_free(cohort);
    cohort = NULL;
    scene.session = NULL;
}

static void session_closes_while_one_owns_it(void)
{
    sweep(&(struct scene_plan){CREW, .act = close_while_held});
}

static const struct suite_test tests[] = {
    SUITE_TEST(one_of_them_takes_it_and_lets_go),
    SUITE_TEST(it_is_handed_on),
    SUITE_TEST(it_is_handed_on_in_order),
    SUITE_TEST(it_is_asked_for_anew_where_nothing_is_handed_on),
    SUITE_TEST(limit_of_one_passes_behind_another),
    SUITE_TEST(limit_passes_and_the_contender_goes),
    SUITE_TEST(busy_lock_is_tried),
    SUITE_TEST(two_of_them_wait_for_a_stranger),
    SUITE_TEST(next_one_queues_anew_after_a_loss),
    SUITE_TEST(those_who_wait_outlive_their_session),
    SUITE_TEST(applied_create_is_adopted),
    SUITE_TEST(removal_is_told_to_who_waits),
    SUITE_TEST(held_cohort_is_freed),
    SUITE_TEST(session_closes_while_one_owns_it),
    SUITE_END,
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "crew", tests);
}
