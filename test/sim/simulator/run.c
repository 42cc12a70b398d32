#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "items.h"

/* The world that goes on while a call waits: there is one at a time. */
static struct run *running;

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---------------------------------------------------------------- going on */

void run_pump(void)
{
    if (!world_step(&running->world))
        checker_fail(running, PROPERTY_CALL, "a call waits for something that will never happen");
}

/* Only here, so that no call waits inside another one. */
static void depart(struct run *run)
{
    for (int slot = 0; slot < MOST_CLIENTS; slot++) {
        struct process *process = run->slots[slot];
        if (process && (process->departure == CLOSING || process->departure == CRASHING))
            process_depart(process);
    }
}

void run_until(struct run *run, int64_t until_ns)
{
    while (world_next(&run->world) <= until_ns) {
        run_pump();
        if (run->has_departures) {
            run->has_departures = false;
            depart(run);
        }
    }
    run->world.now_ns = longer(run->world.now_ns, until_ns);
}

/* ---------------------------------------------------------------- the beginning */

/* In worlds of that kind some are semaphores, in others shared. */
static void make_paths(struct run *run)
{
    const struct scenario *scenario = &run->plan->scenario;
    struct chance chance = chance_stream(scenario->seed, 2);

    for (int i = 0; i < scenario->path_count; i++) {
        snprintf(run->paths[i].path, sizeof run->paths[i].path, i % 3 == 0 ? "/lock-%d" : "/locks/some/lock-%d", i);
        if (scenario->kind == WORLD_PERMITS && chance_one_in(&chance, 2))
            run->paths[i].permits = (int)chance_between(&chance, 1, 3);
        if (scenario->kind == WORLD_SHARED || scenario->kind == WORLD_SEVERAL)
            run->paths[i].is_shared = chance_below(&chance, 3) < (scenario->kind == WORLD_SHARED ? 2 : 1);
    }
}

void run_init(struct run *run, const struct plan *plan, const struct run_options *options)
{
    const struct scenario *scenario = &plan->scenario;
    struct ensemble_options ensemble = {
        .server_count = scenario->server_count,
        .tick_ns = scenario->tick_ns,
        .link_latency = scenario->link_latency,
        .commit_latency = scenario->commit_latency,
        .seed = scenario->seed,
    };

    memset(run, 0, sizeof *run);
    running = run;
    run->plan = plan;
    run->is_quiet = options->is_quiet;
    world_init(&run->world);
    run->world.is_traced = options->is_traced;
    ensemble_init(&run->ensemble, &run->world, &ensemble);
    run->ensemble.listener =
        (struct ensemble_listener){.ctx = run, .on_gone = checker_on_gone, .on_write = checker_on_write,
                                   .on_watch = checker_on_watch};
    make_paths(run);
}

static void plan_next_item(struct run *run);

static void play_item(void *subject, void *detail)
{
    struct run *run = subject;

    plan_next_item(run);
    items_play(run, detail);
}

/* One at a time, so that the queue of events stays short. */
static void plan_next_item(struct run *run)
{
    if (run->next_item == run->plan->count)
        return;
    const struct item *item = &run->plan->items[run->next_item++];
    world_post(&run->ensemble.nobody, item->at_ns, play_item, run, (void *)item);
}

static void begin_chaos(struct run *run)
{
    const struct plan *plan = run->plan;

    for (int slot = 0; slot < plan->scenario.client_count; slot++)
        process_start(run, slot);
    plan_next_item(run);
}

/* ---------------------------------------------------------------- the calm */

/* Who still wants something, or still has something; NULL: nobody. */
static struct contender *find_busy(struct run *run)
{
    for (int slot = 0; slot < MOST_CLIENTS; slot++) {
        struct process *process = run->slots[slot];
        if (process && several_is_busy(&process->several))
            return &process->contenders[0];
        for (int i = 0; process && i < process->contender_count; i++) {
            struct contender *contender = &process->contenders[i];
            bool is_idle = zklock_state_get(contender->lock, NULL) == ZKLOCK_STATE_IDLE;
            if (contender->is_asking || contender->is_holding || !is_idle || crew_is_busy(&process->crews[i]))
                return contender;
        }
    }
    return NULL;
}

static struct znode *find_owned(struct znode *node)
{
    for (struct znode *child = node->first_child; child; child = child->next) {
        if (child->dzxid == NEVER && child->owner)
            return child;
        struct znode *found = child->dzxid == NEVER ? find_owned(child) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

static int64_t longest_timeout(const struct run *run)
{
    return longer(run->plan->scenario.timeout_ns, 2 * run->plan->scenario.tick_ns);
}

/* Several locks are held one after the other, too, and a contender of a cohort by each of its threads. */
static int longest_queue(const struct scenario *scenario)
{
    if (scenario->kind == WORLD_SEVERAL)
        return scenario->client_count * scenario->lock_count;
    return scenario->kind == WORLD_COHORTS ? scenario->client_count * CREW_SIZE : scenario->client_count;
}

/* Dead sessions expire, leases are earned again, zombies are swept, and then one after the other holds. */
static int64_t longest_drain(const struct run *run)
{
    const struct scenario *scenario = &run->plan->scenario;

    return 5 * longest_timeout(run) + 6 * scenario->tick_ns + 40 * SECOND +
           longest_queue(scenario) * (scenario->longest_hold_ns + SECOND);
}

static void drain(struct run *run)
{
    int64_t begin_ns = run->world.now_ns;
    int64_t limit_ns = begin_ns + longest_drain(run);
    struct contender *busy;
    struct znode *left;

    do {
        run_until(run, run->world.now_ns + 100 * MILLISECOND);
        busy = find_busy(run);
        left = busy ? NULL : find_owned(run->ensemble.tree.root);
    } while ((busy || left) && run->world.now_ns < limit_ns);
    if (busy)
        checker_fail(run, PROPERTY_SERVED, "%s: lock %d, state %d", busy->process->host.name, busy->index,
                     (int)zklock_state_get(busy->lock, NULL));
    if (left)
        checker_fail(run, PROPERTY_REMAINS, "%s", left->path);
    run->figures.longest_drain_ns = run->world.now_ns - begin_ns;
}

/* ---------------------------------------------------------------- the end */

static void close_all(struct run *run)
{
    for (int slot = 0; slot < MOST_CLIENTS; slot++) {
        if (!run->slots[slot])
            continue;
        process_close(run->slots[slot], -1);
        process_depart(run->slots[slot]);
    }
}

/* All sessions are over by now, those of the crashed as well. */
static void check_sessions(struct run *run)
{
    for (struct zk_session *session = run->ensemble.sessions; session; session = session->next)
        if (session->closed_zxid == NEVER)
            checker_fail(run, PROPERTY_REMAINS, "session %llx of %s", (unsigned long long)session->id,
                         session->host->name);
}

void run_clear(struct run *run)
{
    ensemble_stop(&run->ensemble);
    while (world_step(&run->world))
        ;
    ensemble_clear(&run->ensemble);
    while (run->processes) {
        struct process *process = run->processes;
        run->processes = process->next;
        free(process);
    }
    world_clear(&run->world);
    running = NULL;
}

static void take_figures(struct run *run, struct figures *out_figures)
{
    run->figures.worlds = 1;
    run->figures.events = run->world.event_count;
    run->figures.virtual_ns = run->world.now_ns;
    run->figures.writes = (uint64_t)run->ensemble.committed;
    run->figures.sessions = (uint64_t)run->ensemble.session_count;
    run->figures.digest = run->world.digest;
    *out_figures = run->figures;
}

void run_play(const struct plan *plan, const struct run_options *options, struct figures *out_figures)
{
    struct run *run = must_have(calloc(1, sizeof *run));

    run_init(run, plan, options);
    begin_chaos(run);
    run_until(run, plan->scenario.chaos_ns);
    TRACE(&run->world, "calm");
    drain(run);
    close_all(run);
    run_until(run, run->world.now_ns + 2 * longest_timeout(run) + 2 * SECOND);
    check_sessions(run);
    take_figures(run, out_figures);
    run_clear(run);
    free(run);
}
