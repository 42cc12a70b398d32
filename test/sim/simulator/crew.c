#include "crew.h"

#include <pthread.h>

#include "run.h"
#include "stand_in.h"

#define REACTION (20 * MILLISECOND)
#define LATE_RESULT (30 * MILLISECOND)

static struct run *run_of(const struct crew *crew)
{
    return crew->contender->process->run;
}

static const char *name_of(const struct crew *crew)
{
    return crew->contender->process->host.name;
}

/* ---------------------------------------------------------------- made and freed */

void crew_make(struct crew *crew, struct contender *contender)
{
    struct chance *chance = &contender->process->host.chance;
    zklock_cohort_options options;
    zklock_options lock;

    *crew = (struct crew){.contender = contender, .owner = -1};
    contender_options(contender, &lock);
    lock.on_event = NULL;
    zklock_cohort_options_init(&options);
    options.most_passes = crew->most_passes = (unsigned)chance_near(chance, 0, 8);
    options.most_ms = crew->most_ms = chance_one_in(chance, 4) ? chance_near(chance, 0, 20) : chance_near(chance, 20, 60000);
    zklock_status status = zklock_cohort_new(contender->process->session, run_of(crew)->paths[contender->path].path, &lock,
                                             &options, &crew->cohort);
    if (status != ZKLOCK_OK)
        checker_fail(run_of(crew), PROPERTY_CALL, "a cohort: %s", zklock_status_name(status));
    contender->lock = zklock_cohort_lock(crew->cohort);
}

void crew_free(struct crew *crew)
{
    zklock_cohort *cohort = crew->cohort;

    crew->cohort = NULL;
    crew->owner = -1;
    for (int i = 0; i < CREW_SIZE; i++)
        crew->hands[i].is_waiting = false;
    zklock_cohort_free(cohort);
}

/* ---------------------------------------------------------------- its threads */

static void let_go(struct crew *crew)
{
    stand_in_for_thread(crew->owner + 1);
    zklock_status status = zklock_cohort_release(crew->cohort);
    stand_in_for_thread(0);
    crew->owner = -1;
    if (status != ZKLOCK_OK && status != ZKLOCK_LOST)
        checker_fail(run_of(crew), PROPERTY_CALL, "%s: release by the owner: %s", name_of(crew),
                     zklock_status_name(status));
}

/* Of this owner: each has a round of its own. */
static void finish_work(void *subject, void *mark)
{
    struct crew *crew = ((struct contender *)subject)->crew;

    if (!contender_is_past(subject, mark) && crew->owner >= 0)
        let_go(crew);
}

/* The session's clock says when it has waited enough; the world's, when that must have shown. */
static void arrive(struct crew *crew, int which, int64_t limit_ms, int64_t hold_ns)
{
    struct hand *hand = &crew->hands[which];
    struct process *process = crew->contender->process;
    zklock *lock = zklock_cohort_lock(crew->cohort);

    if (zkl_lock_enter(lock) != ZKLOCK_OK)
        return;
    *hand = (struct hand){.is_waiting = true, .arrival = ++crew->arrivals, .hold_ns = hold_ns, .limit_ns = NEVER};
    hand->thread.waiter.is_try = limit_ms == 0;
    hand->thread.thread = (pthread_t)(which + 1);
    hand->thread.limit_ns = zkl_lock_limit(lock->session, limit_ms);
    hand->thread.result = ZKLOCK_PENDING;
    pthread_cond_init(&hand->thread.changed, NULL);
    if (hand->thread.limit_ns != ZKL_NEVER)
        hand->limit_ns = runtime_when(&process->runtime, hand->thread.limit_ns) + LATE_RESULT;
    run_of(crew)->figures.acquires++;
    zkl_cohort_arrive(crew->cohort, &hand->thread);
    (void)zkl_lock_leave(lock, ZKLOCK_OK);
}

static bool is_anybody_waiting(const struct crew *crew)
{
    for (int i = 0; i < CREW_SIZE; i++)
        if (crew->hands[i].is_waiting)
            return true;
    return false;
}

/* Several come at once, so that there is somebody to hand it on to. */
void crew_play(struct crew *crew, const struct item *item)
{
    struct chance *chance = &crew->contender->process->host.chance;

    if (item->kind == ITEM_FREE && !is_anybody_waiting(crew)) {
        contender_renew(crew->contender);
        return;
    }
    if (item->kind != ITEM_ACQUIRE)
        return;
    for (int i = 0; i < CREW_SIZE; i++)
        if (crew->owner != i && !crew->hands[i].is_waiting && chance_one_in(chance, 2))
            arrive(crew, i, item->amount[0], item->amount[1] / CREW_SIZE);
}

/* ---------------------------------------------------------------- what must hold */

static void check_order(const struct crew *crew, const struct hand *admitted)
{
    for (int i = 0; i < CREW_SIZE; i++)
        if (crew->hands[i].is_waiting && crew->hands[i].arrival < admitted->arrival &&
            crew->hands[i].thread.result == ZKLOCK_PENDING)
            checker_fail(run_of(crew), PROPERTY_COHORT, "%s: a thread was admitted before one that came earlier",
                         name_of(crew));
}

static void check_pass(struct crew *crew)
{
    struct run *run = run_of(crew);
    int64_t age_ns = runtime_clock(&crew->contender->process->runtime) - crew->granted_ns;

    run->figures.handed_on++;
    if (++crew->passes > crew->most_passes)
        checker_fail(run, PROPERTY_COHORT, "%s: handed on %u times, and %u are allowed", name_of(crew), crew->passes,
                     crew->most_passes);
    if (age_ns >= crew->most_ms * MILLISECOND)
        checker_fail(run, PROPERTY_COHORT, "%s: handed on %.3f s after the grant", name_of(crew), (double)age_ns / SECOND);
    if (!checker_believes(crew->contender))
        checker_fail(run, PROPERTY_COHORT, "%s: handed on without a lease", name_of(crew));
    checker_check_node(crew->contender);
}

static void begin_grant(struct crew *crew, uint64_t token)
{
    if (token <= crew->token)
        checker_fail(run_of(crew), PROPERTY_TOKENS, "%s: a cohort's grant with %llu after %llu", name_of(crew),
                     (unsigned long long)token, (unsigned long long)crew->token);
    crew->token = token;
    crew->passes = 0;
    crew->granted_ns = runtime_clock(&crew->contender->process->runtime);
    crew->is_lost_seen = false;
}

static void admit(struct crew *crew, int which)
{
    struct hand *hand = &crew->hands[which];
    uint64_t token = 0;

    if (crew->owner >= 0)
        checker_fail(run_of(crew), PROPERTY_COHORT, "%s: two threads own it", name_of(crew));
    check_order(crew, hand);
    crew->owner = which;
    crew->contender->round++;
    stand_in_for_thread(which + 1);
    if (zklock_cohort_token(crew->cohort, &token) != ZKLOCK_OK)
        checker_fail(run_of(crew), PROPERTY_TOKENS, "%s: an owner without one", name_of(crew));
    stand_in_for_thread(0);
    if (token == crew->token)
        check_pass(crew);
    else
        begin_grant(crew, token);
    contender_post(crew->contender, hand->hold_ns, finish_work);
}

static void take_result(struct crew *crew, int which)
{
    struct hand *hand = &crew->hands[which];

    hand->is_waiting = false;
    pthread_cond_destroy(&hand->thread.changed);
    run_of(crew)->figures.results[hand->thread.result]++;
    if (hand->thread.result == ZKLOCK_OK)
        admit(crew, which);
}

static void check_limit(const struct crew *crew, const struct hand *hand)
{
    const struct actor *actor = &crew->contender->process->host.actor;
    int64_t now_ns = actor->world->now_ns;

    if (now_ns > hand->limit_ns && now_ns > actor->resumed_ns + LATE_RESULT)
        checker_fail(run_of(crew), PROPERTY_LIMIT, "%s: a thread of a cohort still waits", name_of(crew));
}

static void compare_with_public(const struct crew *crew)
{
    for (int i = 0; i < CREW_SIZE; i++) {
        stand_in_for_thread(i + 1);
        bool is_held = zklock_cohort_is_held(crew->cohort);
        stand_in_for_thread(0);
        if (is_held != (i == crew->owner && checker_believes(crew->contender)))
            checker_fail(run_of(crew), PROPERTY_CALL, "%s: thread %d holds: %d", name_of(crew), i, is_held);
    }
}

void crew_look(struct crew *crew, bool is_public)
{
    if (!crew->cohort)
        return;
    for (int i = 0; i < CREW_SIZE; i++) {
        if (crew->hands[i].is_waiting && crew->hands[i].thread.result != ZKLOCK_PENDING)
            take_result(crew, i);
        else if (crew->hands[i].is_waiting)
            check_limit(crew, &crew->hands[i]);
    }
    if (crew->owner < 0 && checker_believes(crew->contender))
        checker_fail(run_of(crew), PROPERTY_COHORT, "%s: held, and no thread owns it", name_of(crew));
    if (crew->owner >= 0 && !crew->is_lost_seen && crew->cohort->plan.state == ZKL_COHORT_LOST) {
        crew->is_lost_seen = true;
        contender_post(crew->contender, REACTION, finish_work);
    }
    if (is_public)
        compare_with_public(crew);
}

bool crew_is_busy(const struct crew *crew)
{
    return crew->cohort && (crew->owner >= 0 || is_anybody_waiting(crew));
}
