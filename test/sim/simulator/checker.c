#include "checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/limit.h"
#include "lock/lock_state.h"
#include "run.h"

/* Every so many looks, the public calls are asked as well. */
#define ASK_IN_PUBLIC 64
/* What an operator's deletion may take to be known where nothing is in its way: a lease's length bounds the rest. */
#define NEWS_SLACK (200 * MILLISECOND)

const char *property_name(enum property property)
{
    static const char *const names[] = {
#define PROPERTY_NAME(name, text) [PROPERTY_##name] = #name,
        PROPERTIES(PROPERTY_NAME)
#undef PROPERTY_NAME
    };
    return names[property];
}

const char *property_text(enum property property)
{
    static const char *const texts[] = {
#define PROPERTY_TEXT(name, text) [PROPERTY_##name] = text,
        PROPERTIES(PROPERTY_TEXT)
#undef PROPERTY_TEXT
    };
    return texts[property];
}

_Noreturn void checker_fail(struct run *run, enum property property, const char *format, ...)
{
    va_list arguments;

    if (!run->is_quiet) {
        printf("seed %llu, %.6f s: %s: ", (unsigned long long)run->plan->scenario.seed,
               (double)run->world.now_ns / (double)SECOND, property_text(property));
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        putchar('\n');
    }
    fflush(stdout);
    _Exit(STATUS_VIOLATION + (int)property);
}

/* ---------------------------------------------------------------- belief */

bool checker_believes(const struct contender *contender)
{
    const zklock *lock = contender->lock;
    const struct process *process = contender->process;

    if (!lock || !process_is_alive(process) || !zkl_lock_is_granted(lock))
        return false;
    return zkl_session_lease_remaining(lock->session) > 0;
}

static void compare_with_public(struct contender *contender, bool is_believed)
{
    struct run *run = contender->process->run;
    zklock_state state = zklock_state_get(contender->lock, NULL);
    bool says_held = state == ZKLOCK_STATE_HELD || state == ZKLOCK_STATE_SUSPENDED;

    if (zklock_is_held(contender->lock) != is_believed || (is_believed && !says_held))
        checker_fail(run, PROPERTY_CALL, "%s: lock %d: held %d, state %d", contender->process->host.name,
                     contender->index, is_believed, (int)state);
}

static struct znode *node_of(struct run *run, const struct contender *contender)
{
    return tree_find(&run->ensemble.tree, contender->lock->attempt->own_path, run->ensemble.committed_zxid);
}

static int more_of(int a, int b)
{
    return a > b ? a : b;
}

/* How many may hold together, at most. */
static int permits_at(const struct run *run, const struct lock_path *path)
{
    int former = run->world.now_ns < path->former_until_ns ? path->former_limit : 0;

    return more_of(path->limit > 0 ? path->limit : path->permits, former);
}

static int permits_of(const struct contender *contender)
{
    const struct run *run = contender->process->run;
    int permits = permits_at(run, &run->paths[contender->path]);

    return permits > 0 ? permits : 1;
}

static bool is_reader(const struct znode *node)
{
    return strstr(node->name, "-__READ__") != NULL;
}

/* A reader that was a writer has a number that is older than its node. */
static bool is_ahead(const struct contender *contender, const struct znode *other, const struct znode *node)
{
    if (!contender->process->run->paths[contender->path].is_shared)
        return other->czxid < node->czxid;
    return zkl_name_parse(other->name).number < zkl_name_parse(node->name).number &&
           !(is_reader(node) && is_reader(other));
}

static void check_order(struct contender *contender, const struct znode *node)
{
    struct run *run = contender->process->run;
    int older = 0;

    for (const struct znode *other = node->parent->first_child; other; other = other->next)
        if (other->owner && is_ahead(contender, other, node) && tree_is_seen(other, run->ensemble.committed_zxid) &&
            ++older == permits_of(contender))
            checker_fail(run, PROPERTY_ORDER, "%s was granted while %s was there", node->path, other->path);
}

/* An operator removed its node, and the news may be on its way. */
static bool is_excused(const struct contender *contender)
{
    for (int i = 0; i < REMOVALS_KEPT; i++)
        if ((uint64_t)contender->czxid == contender->removed_tokens[i])
            return true;
    return false;
}

static void check_node(struct contender *contender)
{
    struct run *run = contender->process->run;
    struct znode *node = node_of(run, contender);

    if (!node || node->owner->id != zkl_session_id(contender->lock->session) ||
        node->czxid != contender->czxid)
        checker_fail(run, PROPERTY_NODE, "%s: lock %d: granted, and %s is not there, or not its own",
                     contender->process->host.name, contender->index, contender->lock->attempt->own_path);
}

void checker_check_node(struct contender *contender)
{
    if (!is_excused(contender))
        check_node(contender);
}

/* While it goes on as a reader, it may be one already. */
static bool may_be_reader(const struct contender *contender)
{
    const struct zkl_machine *machine = &contender->lock->attempt->machine;

    return zkl_kind_is_shared(contender->lock->attempt->kind) || machine->is_downgrading || machine->is_downgraded;
}

/* Grants come only now, so that two at a time must show here: the belief of others runs out by itself. */
static void check_exclusion(struct contender *contender)
{
    struct run *run = contender->process->run;
    int rivals = 0;

    for (int slot = 0; slot < MOST_CLIENTS; slot++) {
        struct process *process = run->slots[slot];
        for (int i = 0; process && i < process->contender_count; i++) {
            struct contender *other = &process->contenders[i];
            bool is_rival = other != contender && other->path == contender->path && other->is_believed;
            if (!is_rival || !checker_believes(other) || (may_be_reader(contender) && may_be_reader(other)))
                continue;
            if (is_excused(other))
                run->figures.excused++;
            else if (++rivals == permits_of(contender))
                checker_fail(run, PROPERTY_EXCLUSION, "%s: %s and %s", run->paths[contender->path].path,
                             process->host.name, contender->process->host.name);
        }
    }
}

static void check_token(struct contender *contender)
{
    struct run *run = contender->process->run;
    struct lock_path *path = &run->paths[contender->path];

    bool is_exclusive = !zkl_kind_is_shared(contender->lock->attempt->kind);

    if (contender->token <= path->token && permits_of(contender) <= 1)
        checker_fail(run, PROPERTY_TOKENS, "%s: %s: %llu after %llu", path->path, contender->process->host.name,
                     (unsigned long long)contender->token, (unsigned long long)path->token);
    if (is_exclusive)
        path->token = contender->token;
}

static void begin_belief(struct contender *contender)
{
    struct run *run = contender->process->run;

    contender->is_believed = true;
    if (zklock_token(contender->lock, &contender->token) != ZKLOCK_OK)
        checker_fail(run, PROPERTY_TOKENS, "%s: a grant without one", contender->process->host.name);
    contender->czxid = (int64_t)contender->token;
    run->figures.grants++;
    run->figures.shared_grants += zkl_kind_is_shared(contender->lock->attempt->kind);
    TRACE(&run->world, "%s: lock %d holds %s, token %llx", contender->process->host.name, contender->index,
          run->paths[contender->path].path, (unsigned long long)contender->token);
    if (is_excused(contender))
        return;
    check_token(contender);
    check_node(contender);
    check_order(contender, node_of(run, contender));
    check_exclusion(contender);
}

static void check_excuse(struct contender *contender)
{
    struct run *run = contender->process->run;

    if (is_excused(contender) && run->world.now_ns > contender->excused_until_ns)
        checker_fail(run, PROPERTY_NEWS, "%s: lock %d", contender->process->host.name, contender->index);
}

static void trace_state(struct contender *contender)
{
    int state = contender->lock->attempt ? (int)contender->lock->attempt->machine.state : (int)ZKL_NEW;

    if (state == contender->seen_state)
        return;
    contender->seen_state = state;
    TRACE(&contender->process->run->world, "%s: lock %d (%s) is %s", contender->process->host.name, contender->index,
          contender->process->run->paths[contender->path].path,
          zkl_state_name((enum zkl_state)state));
}

/* When it will cease to believe, if nothing happens. */
static int64_t belief_end(const struct contender *contender)
{
    struct process *process = contender->process;
    int64_t remaining_ns = zkl_session_lease_remaining(contender->lock->session);

    return process->run->world.now_ns + remaining_ns - remaining_ns / (1000000 + process->runtime.rate_ppm) *
                                                           process->runtime.rate_ppm;
}

static void look_at(struct contender *contender, bool is_public)
{
    bool is_believed = checker_believes(contender);

    if (is_public)
        compare_with_public(contender, is_believed);
    if (is_believed && !contender->is_believed)
        begin_belief(contender);
    else if (is_believed)
        check_excuse(contender);
    contender->is_believed = is_believed;
    if (is_believed)
        contender->belief_end_ns = belief_end(contender);
}

void checker_look(struct process *process)
{
    struct run *run = process->run;
    bool is_public = ++run->look_count % ASK_IN_PUBLIC == 0;

    if (process->departure != STAYING)
        return;
    for (int i = 0; i < process->contender_count; i++) {
        if (run->world.is_traced)
            trace_state(&process->contenders[i]);
        look_at(&process->contenders[i], is_public);
        if (process->contenders[i].crew)
            crew_look(process->contenders[i].crew, is_public);
    }
    if (process->several.count > 0)
        several_look(&process->several);
}

/* ---------------------------------------------------------------- the quorum's side */

/* The contender whose node this is, or was. */
static struct contender *contender_of(struct run *run, struct znode *node)
{
    struct process *process = (struct process *)node->owner->host;

    for (int i = 0; i < process->contender_count; i++) {
        struct contender *contender = &process->contenders[i];
        const struct lock_path *path = &run->paths[contender->path];
        size_t size = strlen(path->path);
        if (strncmp(path->path, node->parent->path, size) == 0 &&
            strcmp(node->parent->path + size, path->permits > 0 ? "/leases" : "") == 0)
            return contender;
    }
    return NULL;
}

static void remember_removal(struct contender *contender, const struct znode *node)
{
    struct run *run = contender->process->run;
    int64_t timeout_ns = node->owner->timeout_ns;

    contender->removed_tokens[contender->removals++ % REMOVALS_KEPT] = (uint64_t)node->czxid;
    contender->excused_until_ns = run->world.now_ns + timeout_ns + timeout_ns / 50 + NEWS_SLACK;
}

static void note_margin(struct run *run, int64_t margin_ns)
{
    run->figures.expired_holders++;
    if (run->figures.expired_holders == 1 || margin_ns < run->figures.narrowest_ns)
        run->figures.narrowest_ns = margin_ns;
}

/* The reader that has come in the same moment: the last one that was made there. */
static void follow_replacement(struct contender *contender, const struct znode *node)
{
    struct run *run = contender->process->run;

    if (contender->czxid != node->czxid || !process_is_alive(contender->process))
        return;
    for (const struct znode *made = node->next; made; made = made->next)
        if (made->czxid == run->ensemble.committed_zxid)
            contender->czxid = made->czxid;
    if (contender->czxid == node->czxid || !contender->lock || !zkl_lock_is_granted(contender->lock) || may_be_reader(contender))
        return;
    checker_fail(run, PROPERTY_NODE, "%s was replaced, and its owner has not asked for it", node->path);
}

/* Who waits may go by what was there before, as long as its server or its callbacks may be behind. */
static void take_limit(struct run *run, const struct znode *node, int limit)
{
    const struct scenario *scenario = &run->plan->scenario;

    for (int i = 0; i < scenario->path_count; i++) {
        struct lock_path *path = &run->paths[i];
        if (path->permits == 0 || strcmp(path->path, node->path) != 0)
            continue;
        path->former_limit = permits_at(run, path);
        path->former_until_ns = run->world.now_ns + 2 * scenario->timeout_ns + SYNC_LIMIT * scenario->tick_ns;
        path->limit = limit;
    }
}

void checker_on_write(void *ctx, struct znode *node)
{
    unsigned limit;

    if (zkl_limit_read(node->data, strlen(node->data), &limit))
        take_limit(ctx, node, (int)limit);
}

void checker_on_gone(void *ctx, struct znode *node)
{
    struct run *run = ctx;
    struct contender *contender = node->owner ? contender_of(run, node) : NULL;

    if (!node->owner)
        take_limit(run, node, 0);
    if (!contender)
        return;
    TRACE(&run->world, "gone: %s", node->path);
    if (node->removal == REMOVED_FOR_ANOTHER) {
        follow_replacement(contender, node);
        return;
    }
    if (contender->czxid == node->czxid && node->removal == REMOVED_BY_EXPIRY &&
        process_is_alive(contender->process))
        note_margin(run, run->world.now_ns - contender->belief_end_ns);
    if (node->removal == REMOVED_BY_OPERATOR)
        remember_removal(contender, node);
    else if (checker_believes(contender) && contender->czxid == node->czxid)
        checker_fail(run, PROPERTY_NODE, "%s: lock %d holds for another %.3f s, and %s is gone",
                     contender->process->host.name, contender->index,
                     (double)zklock_remaining_ms(contender->lock) / 1e3, node->path);
}

/* The limit of a semaphore, which is nobody's contender. */
static bool is_on_limit(const struct watch *watch)
{
    return !watch->node->owner && !watch->is_of_children;
}

void checker_on_watch(void *ctx, struct watch *planted)
{
    const struct connection *connection = planted->connection;

    if (planted->for_czxid == 0 || is_on_limit(planted))
        return;
    for (const struct watch *watch = connection->watches; watch; watch = watch->next_of_connection)
        if (watch != planted && watch->for_czxid == planted->for_czxid && !is_on_limit(watch))
            checker_fail(ctx, PROPERTY_WATCHES, "%s watches %s and %s for one contender", connection->host->name,
                         watch->node->path, planted->node->path);
}
