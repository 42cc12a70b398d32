#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock_state.h"
#include "run.h"
#include "session/session_open.h"

/* What a user does within this time of being told. */
#define REACTION (20 * MILLISECOND)
/* How late a result may be: threads take their time. */
#define LATE_RESULT (30 * MILLISECOND)

static struct run *run_of(const struct contender *contender)
{
    return contender->process->run;
}

/* ---------------------------------------------------------------- the user of a lock */

static void let_go(struct contender *contender)
{
    zklock_status status = zklock_release_send(contender->lock);

    contender->is_holding = false;
    if (status != ZKLOCK_OK && status != ZKLOCK_LOST)
        checker_fail(run_of(contender), PROPERTY_CALL, "%s: release of a lock that was granted: %s",
                     contender->process->host.name, zklock_status_name(status));
}

/* The number of the round, and of the lock's object, in a pointer's place. */
static void *mark_of(const struct contender *contender)
{
    return (void *)(uintptr_t)contender->round;
}

bool contender_is_past(const struct contender *contender, const void *mark)
{
    return !process_is_alive(contender->process) || mark_of(contender) != mark;
}

void contender_post(struct contender *contender, int64_t delay_ns, event_fn *run)
{
    struct host *host = &contender->process->host;

    world_post(&host->actor, host->actor.world->now_ns + delay_ns, run, contender, mark_of(contender));
}

static void finish_work(void *subject, void *mark)
{
    struct contender *contender = subject;

    if (!contender_is_past(contender, mark) && contender->is_holding)
        let_go(contender);
}

static void plan_release(struct contender *contender, int64_t delay_ns)
{
    if (delay_ns == 0)
        let_go(contender);
    else
        contender_post(contender, delay_ns, finish_work);
}

/* Not by the call that waits: what becomes of it shows in the nodes. */
static void downgrade(void *subject, void *mark)
{
    struct contender *contender = subject;

    if (contender_is_past(contender, mark) || !contender->is_holding || zkl_lock_enter(contender->lock) != ZKLOCK_OK)
        return;
    bool is_possible = zkl_lock_is_granted(contender->lock) && !contender->lock->attempt->machine.is_downgraded &&
                       zkl_session_has_lease(contender->lock->session);
    if (is_possible && zkl_attempt_downgrade(contender->lock->attempt))
        run_of(contender)->figures.downgrades++;
    (void)zkl_lock_leave(contender->lock, ZKLOCK_OK);
}

static void perhaps_downgrade(struct contender *contender)
{
    struct chance *chance = &contender->process->host.chance;
    bool is_writer = contender->lock->mode == ZKLOCK_MODE_EXCLUSIVE;

    if (run_of(contender)->paths[contender->path].is_shared && is_writer && chance_one_in(chance, 2))
        contender_post(contender, chance_near(chance, 0, contender->hold_ns), downgrade);
}

static void on_ended(struct contender *contender, zklock_status status)
{
    struct run *run = run_of(contender);

    if (!contender->is_asking)
        checker_fail(run, PROPERTY_RESULTS, "%s: lock %d: a second result, %s", contender->process->host.name,
                     contender->index, zklock_status_name(status));
    contender->is_asking = false;
    run->figures.results[status]++;
    if (status == ZKLOCK_OTHER_PERMITS)
        contender->must_free = true;
    if (status != ZKLOCK_OK)
        return;
    contender->is_holding = true;
    contender->is_lost_told = false;
    perhaps_downgrade(contender);
    plan_release(contender, contender->hold_ns);
}

static void on_lost(struct contender *contender, zklock_loss loss)
{
    struct run *run = run_of(contender);

    run->figures.losses[loss]++;
    if (contender->is_lost_told || contender->is_asking)
        checker_fail(run, PROPERTY_RESULTS, "%s: lock %d: lost without being held", contender->process->host.name,
                     contender->index);
    contender->is_lost_told = true;
    if (contender->is_holding)
        plan_release(contender, chance_between(&contender->process->host.chance, 0, 1) * REACTION);
}

static void on_event(zklock *lock, const zklock_event *event, void *arg)
{
    struct contender *contender = arg;
    struct run *run = run_of(contender);

    if (lock != contender->lock || contender->process->departure == GONE)
        checker_fail(run, PROPERTY_RESULTS, "%s: lock %d: an event after its end", contender->process->host.name,
                     contender->index);
    switch (event->kind) {
    case ZKLOCK_EVENT_ENDED:
        on_ended(contender, event->status);
        break;
    case ZKLOCK_EVENT_LOST:
        on_lost(contender, event->loss);
        break;
    case ZKLOCK_EVENT_REQUEUED:
        run->figures.requeued++;
        break;
    case ZKLOCK_EVENT_SUSPENDED:
        run->figures.suspended++;
        break;
    case ZKLOCK_EVENT_RESUMED:
    case ZKLOCK_EVENT_RELEASED:
    case ZKLOCK_EVENT_REVOKE:
        break;
    }
    if (contender->must_free)
        contender_renew(contender);
}

bool contender_has_slept(struct contender *contender, event_fn *check, void *mark)
{
    struct actor *actor = &contender->process->host.actor;

    if (actor->resumed_ns == 0 || actor->world->now_ns >= actor->resumed_ns + LATE_RESULT)
        return false;
    world_post(actor, actor->resumed_ns + LATE_RESULT, check, contender, mark);
    return true;
}

static void check_limit(void *subject, void *mark)
{
    struct contender *contender = subject;

    if (contender_is_past(contender, mark) || zklock_result(contender->lock) != ZKLOCK_PENDING)
        return;
    if (!contender_has_slept(contender, check_limit, mark))
        checker_fail(run_of(contender), PROPERTY_LIMIT, "%s: lock %d still waits", contender->process->host.name,
                     contender->index);
}

void contender_post_limit(struct contender *contender, int64_t limit_ms, event_fn *check)
{
    struct process *process = contender->process;
    int64_t limit_ns = limit_ms * MILLISECOND;
    zklock_session_info info;

    if (limit_ms < 0)
        return;
    if (limit_ms == 0 && zklock_session_info_get(process->session, &info) == ZKLOCK_OK)
        limit_ns = info.session_timeout_ms * MILLISECOND;
    int64_t at_ns = runtime_when(&process->runtime, runtime_clock(&process->runtime) + limit_ns);
    world_post(&process->host.actor, at_ns + LATE_RESULT, check, contender, mark_of(contender));
}

void contender_acquire(struct contender *contender, int64_t limit_ms, int64_t hold_ns)
{
    struct run *run = run_of(contender);

    if (contender->is_asking || contender->is_holding)
        return;
    contender->round++;
    contender->hold_ns = hold_ns;
    contender->is_asking = true;
    run->figures.acquires++;
    zklock_status status = zklock_acquire_start(contender->lock, limit_ms);
    if (status != ZKLOCK_OK)
        checker_fail(run, PROPERTY_CALL, "%s: lock %d: acquire of an idle lock: %s", contender->process->host.name,
                     contender->index, zklock_status_name(status));
    contender_post_limit(contender, limit_ms, check_limit);
}

void contender_cancel(struct contender *contender)
{
    zklock_status before = zklock_result(contender->lock);
    zklock_status status = zklock_cancel(contender->lock);
    zklock_status after = zklock_result(contender->lock);

    if (before == ZKLOCK_PENDING && (status != ZKLOCK_OK || after != ZKLOCK_CANCELLED))
        checker_fail(run_of(contender), PROPERTY_CALL, "%s: lock %d: cancel of a waiter: %s, and it ended with %s",
                     contender->process->host.name, contender->index, zklock_status_name(status),
                     zklock_status_name(after));
}

void contender_options(struct contender *contender, zklock_options *options)
{
    const struct lock_path *path = &run_of(contender)->paths[contender->path];
    bool is_kazoo = contender->index % 4 == 3 && path->permits == 0 && !path->is_shared;

    zklock_options_init(options);
    options->style = is_kazoo ? ZKLOCK_STYLE_KAZOO : ZKLOCK_STYLE_CURATOR;
    if (path->is_shared)
        options->style = ZKLOCK_STYLE_CURATOR_RW;
    options->mode = path->permits > 0 ? ZKLOCK_MODE_SEMAPHORE : ZKLOCK_MODE_EXCLUSIVE;
    if (path->is_shared && chance_one_in(&contender->process->host.chance, 2))
        options->mode = ZKLOCK_MODE_SHARED;
    /* Where the limit changes, some take the one that is there, and whoever is refused does it the other way. */
    bool names_it = !run_of(contender)->plan->scenario.has_limits || contender->renewals % 2 == 1;
    options->permits = names_it ? (unsigned)path->permits : 0;
    options->on_event = on_event;
    options->event_arg = contender;
}

static void make_lock(struct contender *contender)
{
    struct run *run = run_of(contender);
    zklock_options options;

    if (contender->is_part)
        return;
    if (contender->crew) {
        crew_make(contender->crew, contender);
        return;
    }
    contender_options(contender, &options);
    zklock_status status =
        zklock_new(contender->process->session, run->paths[contender->path].path, &options, &contender->lock);
    if (status != ZKLOCK_OK)
        checker_fail(run, PROPERTY_CALL, "a lock object: %s", zklock_status_name(status));
}

static void free_lock(struct contender *contender)
{
    zklock *lock = contender->lock;

    contender->lock = NULL;
    contender->must_free = false;
    contender->is_asking = false;
    contender->is_holding = false;
    contender->is_believed = false;
    contender->round++;
    if (contender->crew)
        crew_free(contender->crew);
    else if (!contender->is_part)
        zklock_free(lock);
}

void contender_renew(struct contender *contender)
{
    free_lock(contender);
    contender->renewals++;
    make_lock(contender);
}

/* ---------------------------------------------------------------- its process */

static void look(struct actor *actor)
{
    checker_look((struct process *)actor);
}

static void draw_host(struct process *process)
{
    struct run *run = process->run;
    int generation = ++run->slot_generations[process->slot];

    actor_init(&process->host.actor, &run->world);
    process->host.actor.after_event = look;
    process->host.chance =
        chance_stream(run->plan->scenario.seed, (uint64_t)(1000 * process->slot + generation + 10));
    process->host.latency = run->plan->scenario.latency;
    snprintf(process->host.name, sizeof process->host.name, "client %d.%d", process->slot, generation);
}

static void open_session(struct process *process)
{
    const struct scenario *scenario = &process->run->plan->scenario;
    zklock_session_options options;

    zklock_session_options_init(&options);
    options.servers = "servers";
    options.session_timeout_ms = (unsigned)(scenario->timeout_ns / MILLISECOND);
    options.tick_time_ms = scenario->is_tick_told ? (unsigned)(scenario->tick_ns / MILLISECOND) : 0;
    options.lease = scenario->lease == LEASE_STANDALONE ? ZKLOCK_LEASE_STANDALONE : ZKLOCK_LEASE_STRICT;
    zklock_status status = zkl_session_open_with(&options, &process->runtime.runtime, &process->driver.driver,
                                                 &process->session);
    if (status != ZKLOCK_OK)
        checker_fail(process->run, PROPERTY_CALL, "a session: %s", zklock_status_name(status));
}

/* The first ones are parts of several where the world is of that kind and there is more than one. */
static void place_contender(struct process *process, int index)
{
    const struct scenario *scenario = &process->run->plan->scenario;
    struct contender *contender = &process->contenders[index];

    contender->process = process;
    contender->index = index;
    contender->path = (process->slot + index) % scenario->path_count;
    contender->crew = scenario->kind == WORLD_COHORTS ? &process->crews[index] : NULL;
    contender->is_part = scenario->kind == WORLD_SEVERAL && scenario->lock_count > 1 && index < MOST_PARTS;
    process->several.count += contender->is_part;
}

struct process *process_start(struct run *run, int slot)
{
    struct process *process = must_have(calloc(1, sizeof *process));

    process->run = run;
    process->slot = slot;
    process->next = run->processes;
    run->processes = process;
    run->slots[slot] = process;
    draw_host(process);
    runtime_init(&process->runtime, &process->host, chance_between(&process->host.chance, -10000, 10000));
    driver_init(&process->driver, &process->host, &run->ensemble);
    open_session(process);
    process->contender_count = run->plan->scenario.lock_count;
    for (int i = 0; i < process->contender_count; i++)
        place_contender(process, i);
    for (int i = 0; i < process->contender_count; i++)
        make_lock(&process->contenders[i]);
    if (process->several.count > 0)
        several_make(&process->several, process);
    return process;
}

void process_close(struct process *process, int64_t timeout_ms)
{
    process->departure = CLOSING;
    process->run->has_departures = true;
    process->close_ms = timeout_ms;
}

void process_crash(struct process *process, bool is_told)
{
    TRACE(&process->run->world, "%s: crashes", process->host.name);
    process->departure = CRASHING;
    process->run->has_departures = true;
    process->close_ms = 0;
    for (int i = 0; i < process->contender_count; i++)
        process->contenders[i].is_believed = false;
    driver_kill(&process->driver, is_told);
    if (process->host.actor.is_paused)
        actor_resume(&process->host.actor);
}

void process_depart(struct process *process)
{
    bool is_crash = process->departure == CRASHING;

    for (int i = 0; i < process->contender_count; i++)
        free_lock(&process->contenders[i]);
    several_free(&process->several);
    zklock_status status = zklock_session_close(process->session, process->close_ms);
    process->departure = GONE;
    process->session = NULL;
    TRACE(&process->run->world, "%s: %s", process->host.name, is_crash ? "is buried" : "has closed its session");
    if (status != ZKLOCK_OK && status != ZKLOCK_UNCONFIRMED)
        checker_fail(process->run, PROPERTY_CALL, "close: %s", zklock_status_name(status));
    if (process->run->slots[process->slot] == process)
        process->run->slots[process->slot] = NULL;
}
