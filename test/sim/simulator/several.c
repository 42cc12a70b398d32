#include "several.h"

#include "run.h"

/* What a user does within this time of seeing a loss. */
#define REACTION (20 * MILLISECOND)

static struct run *run_of(const struct several *several)
{
    return several->process->run;
}

/* Whose rounds stand for those of the whole. */
static struct contender *first_of(struct several *several)
{
    return &several->process->contenders[0];
}

/* ---------------------------------------------------------------- made and freed */

/* Losses are told part by part; what ends a part's acquire is no end of the whole. */
static void on_event(zklock *lock, const zklock_event *event, void *arg)
{
    struct contender *contender = arg;

    if (lock != contender->lock || contender->process->departure == GONE)
        checker_fail(contender->process->run, PROPERTY_RESULTS, "%s: part %d: an event after its end",
                     contender->process->host.name, contender->index);
    if (event->kind == ZKLOCK_EVENT_LOST)
        contender->process->run->figures.losses[event->loss]++;
}

static void add_part(struct several *several, struct contender *contender)
{
    const char *path = run_of(several)->paths[contender->path].path;
    zklock_options options;

    contender_options(contender, &options);
    options.on_event = on_event;
    zklock_status status = zklock_multi_add(several->multi, path, &options);
    contender->lock = zklock_multi_lock(several->multi, path);
    if (status != ZKLOCK_OK || !contender->lock)
        checker_fail(run_of(several), PROPERTY_CALL, "a part: %s", zklock_status_name(status));
}

void several_make(struct several *several, struct process *process)
{
    several->process = process;
    zklock_status status = zklock_multi_new(process->session, &several->multi);
    if (status != ZKLOCK_OK)
        checker_fail(process->run, PROPERTY_CALL, "several as one: %s", zklock_status_name(status));
    for (int i = 0; i < several->count; i++)
        add_part(several, &process->contenders[i]);
}

void several_free(struct several *several)
{
    zklock_multi *multi = several->multi;

    if (!multi)
        return;
    several->multi = NULL;
    several->is_asking = several->is_holding = false;
    for (int i = 0; i < several->count; i++) {
        struct contender *contender = &several->process->contenders[i];
        contender->lock = NULL;
        contender->is_believed = false;
        contender->round++;
    }
    zklock_multi_free(multi);
}

/* ---------------------------------------------------------------- its user */

static void let_go(struct several *several)
{
    zklock_status status = zklock_multi_release_send(several->multi);

    several->is_holding = false;
    if (status != ZKLOCK_OK && status != ZKLOCK_LOST)
        checker_fail(run_of(several), PROPERTY_CALL, "%s: release of several that were granted: %s",
                     several->process->host.name, zklock_status_name(status));
}

static void finish_work(void *subject, void *mark)
{
    struct several *several = &((struct contender *)subject)->process->several;

    if (!contender_is_past(subject, mark) && several->is_holding)
        let_go(several);
}

static void check_limit(void *subject, void *mark)
{
    struct contender *first = subject;
    struct several *several = &first->process->several;

    if (contender_is_past(first, mark) || zklock_multi_result(several->multi) != ZKLOCK_PENDING)
        return;
    if (!contender_has_slept(first, check_limit, mark))
        checker_fail(run_of(several), PROPERTY_LIMIT, "%s: several as one still wait", several->process->host.name);
}

static void acquire(struct several *several, int64_t limit_ms, int64_t hold_ns)
{
    struct run *run = run_of(several);

    if (several->is_asking || several->is_holding)
        return;
    first_of(several)->round++;
    several->hold_ns = hold_ns;
    several->is_asking = true;
    several->is_lost_seen = false;
    run->figures.acquires++;
    zklock_status status = zklock_multi_acquire_start(several->multi, limit_ms);
    if (status != ZKLOCK_OK)
        checker_fail(run, PROPERTY_CALL, "%s: acquire of several that are idle: %s", several->process->host.name,
                     zklock_status_name(status));
    contender_post_limit(first_of(several), limit_ms, check_limit);
}

static void cancel(struct several *several)
{
    zklock_status before = zklock_multi_result(several->multi);
    zklock_status status = zklock_multi_cancel(several->multi);
    zklock_status after = zklock_multi_result(several->multi);

    if (before == ZKLOCK_PENDING && (status != ZKLOCK_OK || after != ZKLOCK_CANCELLED))
        checker_fail(run_of(several), PROPERTY_CALL, "%s: cancel of several: %s, and it ended with %s",
                     several->process->host.name, zklock_status_name(status), zklock_status_name(after));
}

void several_play(struct several *several, const struct item *item)
{
    if (item->kind == ITEM_ACQUIRE) {
        acquire(several, item->amount[0], item->amount[1]);
    } else if (item->kind == ITEM_CANCEL) {
        cancel(several);
    } else if (item->kind == ITEM_FREE) {
        several_free(several);
        several_make(several, several->process);
    }
}

/* ---------------------------------------------------------------- what must hold */

/* All of them, or none. */
static void check_parts(struct several *several, bool is_held)
{
    for (int i = 0; i < several->count; i++) {
        const struct contender *contender = &several->process->contenders[i];
        if (checker_believes(contender) != is_held)
            checker_fail(run_of(several), PROPERTY_WHOLE, "%s: the whole is %s, and %s is %s",
                         several->process->host.name, is_held ? "held" : "not held",
                         run_of(several)->paths[contender->path].path, is_held ? "not" : "held");
    }
}

static void take_result(struct several *several, zklock_status status)
{
    struct run *run = run_of(several);

    several->is_asking = false;
    run->figures.results[status]++;
    if (status != ZKLOCK_OK) {
        check_parts(several, false);
        return;
    }
    several->is_holding = true;
    run->figures.several_grants++;
    TRACE(&run->world, "%s: holds all of several", several->process->host.name);
    contender_post(first_of(several), several->hold_ns, finish_work);
}

static void look_at_loss(struct several *several)
{
    if (several->is_lost_seen || zklock_multi_state_get(several->multi, NULL) != ZKLOCK_STATE_LOST)
        return;
    several->is_lost_seen = true;
    contender_post(first_of(several), REACTION, finish_work);
}

void several_look(struct several *several)
{
    if (!several->multi)
        return;
    zklock_status status = several->is_asking ? zklock_multi_result(several->multi) : ZKLOCK_PENDING;
    if (status != ZKLOCK_PENDING)
        take_result(several, status);
    if (!several->is_holding)
        return;
    if (zklock_multi_is_held(several->multi))
        check_parts(several, true);
    else
        look_at_loss(several);
}

bool several_is_busy(const struct several *several)
{
    return several->is_asking || several->is_holding;
}
