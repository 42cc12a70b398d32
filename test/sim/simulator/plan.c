#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ensemble.h"

const char *item_name(enum item_kind kind)
{
    static const char *const names[] = {
#define ITEM_NAME(name, text) text,
        ITEM_KINDS(ITEM_NAME)
#undef ITEM_NAME
    };
    return names[kind];
}

/* ---------------------------------------------------------------- the scene */

enum world_kind world_kind_of(uint64_t seed)
{
    static const enum world_kind kinds[] = {WORLD_PERMITS, WORLD_SHARED, WORLD_PLAIN,   WORLD_PERMITS,
                                            WORLD_SEVERAL, WORLD_PLAIN,  WORLD_PERMITS, WORLD_COHORTS,
                                            WORLD_PLAIN,   WORLD_PERMITS, WORLD_SEVERAL, WORLD_PLAIN};

    return kinds[seed % 12];
}

const char *world_kind_name(enum world_kind kind)
{
    static const char *const names[] = {"plain", "permits", "shared", "several", "cohorts"};

    return names[kind];
}

static int64_t pick(struct chance *chance, const int64_t *values, int count)
{
    return values[chance_below(chance, count)];
}

static void draw_latencies(struct scenario *scenario, struct chance *chance)
{
    static const int64_t speeds[] = {50 * MICROSECOND, 200 * MICROSECOND, MILLISECOND, 10 * MILLISECOND};
    int64_t speed_ns = pick(chance, speeds, 4);

    scenario->latency = (struct latency){speed_ns / 2, speed_ns * 2, scenario->timeout_ns / 5};
    speed_ns = pick(chance, speeds, 3);
    scenario->link_latency = (struct latency){speed_ns / 4, speed_ns, 40 * MILLISECOND};
    scenario->commit_latency = (struct latency){speed_ns / 2, speed_ns * 4, 100 * MILLISECOND};
}

static void draw_scenario(struct scenario *scenario, struct chance *chance, uint64_t seed)
{
    static const int64_t ticks[] = {500 * MILLISECOND, SECOND, 2 * SECOND, 3 * SECOND};
    static const int64_t timeouts[] = {2, 2, 3, 4, 6, 10, 20}; /* in ticks: the servers grant nothing else */

    memset(scenario, 0, sizeof *scenario);
    scenario->seed = seed;
    scenario->kind = world_kind_of(seed);
    scenario->server_count = chance_one_in(chance, 4) ? 1 : 3;
    scenario->tick_ns = pick(chance, ticks, 4);
    scenario->is_tick_told = chance_one_in(chance, 2);
    scenario->timeout_ns = pick(chance, timeouts, 7) * scenario->tick_ns;
    if (scenario->server_count == 1 && chance_one_in(chance, 2))
        scenario->lease = LEASE_STANDALONE;
    scenario->path_count = (int)chance_near(chance, 1, 12);
    scenario->client_count = (int)chance_between(chance, 2, chance_one_in(chance, 4) ? 40 : 12);
    scenario->lock_count = (int)chance_between(chance, 1, scenario->path_count < 8 ? scenario->path_count : 8);
    scenario->is_slow = !chance_one_in(chance, 3);
    scenario->chaos_ns = chance_near(chance, 20, scenario->is_slow ? 1500 : 400) * SECOND;
    scenario->longest_hold_ns = scenario->is_slow ? chance_between(chance, SECOND, 3 * scenario->timeout_ns)
                                                  : chance_near(chance, 1, 3000) * MILLISECOND;
    draw_latencies(scenario, chance);
}

/* ---------------------------------------------------------------- items */

static void add(struct plan *plan, struct item item)
{
    if ((plan->count & (plan->count - 1)) == 0)
        plan->items = must_have(realloc(plan->items, (plan->count ? plan->count * 2 : 1) * sizeof *plan->items));
    plan->items[plan->count++] = item;
}

static int64_t draw_limit_ms(struct chance *chance)
{
    switch (chance_below(chance, 8)) {
    case 0:
        return 0;
    case 1:
        return chance_near(chance, 1, 500);
    case 2:
    case 3:
        return chance_near(chance, 100, 30000);
    default:
        return -1;
    }
}

static int64_t draw_hold(struct chance *chance, int64_t longest_ns)
{
    if (chance_one_in(chance, 4))
        return 0;
    return chance_one_in(chance, 4) ? chance_between(chance, 0, longest_ns) : chance_near(chance, 0, longest_ns);
}

/* What one lock's user wants, as often as there is time for. */
static void draw_user(struct plan *plan, struct chance *chance, int client, int which)
{
    const struct scenario *scenario = &plan->scenario;
    int64_t pause_ns = scenario->is_slow ? chance_between(chance, SECOND, 2 * scenario->timeout_ns)
                                         : chance_near(chance, 100, 6000) * MILLISECOND;

    for (int64_t at_ns = chance_below(chance, pause_ns); at_ns < scenario->chaos_ns;
         at_ns += chance_near(chance, 1, 2 * pause_ns)) {
        struct item item = {.kind = ITEM_ACQUIRE, .subject = client, .which = which, .at_ns = at_ns};
        item.amount[0] = draw_limit_ms(chance);
        item.amount[1] = draw_hold(chance, scenario->longest_hold_ns);
        add(plan, item);
        if (chance_one_in(chance, 12)) {
            item.kind = chance_one_in(chance, 3) ? ITEM_FREE : ITEM_CANCEL;
            item.at_ns += chance_near(chance, 0, SECOND);
            item.amount[0] = chance_one_in(chance, 2); /* FREE: from a callback */
            add(plan, item);
        }
    }
}

/* How long the fault lasts: it is over before the calm begins. */
static int64_t draw_span(const struct scenario *scenario, struct chance *chance, const struct item *item)
{
    int64_t longest_ns = 2 * scenario->timeout_ns;
    int64_t span_ns = chance_one_in(chance, 2) ? chance_near(chance, MILLISECOND, longest_ns)
                                               : chance_between(chance, longest_ns / 4, longest_ns);

    return item->at_ns + span_ns > scenario->chaos_ns ? scenario->chaos_ns - item->at_ns : span_ns;
}

static void draw_trap(struct chance *chance, enum world_kind kind, struct item *item)
{
    static const enum zkl_op ops[] = {ZKL_OP_CREATE, ZKL_OP_CREATE, ZKL_OP_CREATE, ZKL_OP_DELETE, ZKL_OP_GET,
                                      ZKL_OP_LIST,   ZKL_OP_CHECK,  ZKL_OP_CREATE_PARENT};

    item->which = (int)ops[chance_below(chance, 8)];
    if (item->which == (int)ZKL_OP_CREATE_PARENT && kind == WORLD_SHARED)
        item->which = (int)ZKL_OP_REPLACE;
    item->amount[1] = chance_between(chance, TRAP_LOST_BEFORE, TRAP_HELD);
}

static void draw_client_fault(struct plan *plan, struct chance *chance, int client, int64_t at_ns)
{
    static const enum item_kind kinds[] = {ITEM_CUT,  ITEM_CUT,  ITEM_CUT,  ITEM_HOLE, ITEM_HOLE,  ITEM_PAUSE,
                                           ITEM_TRAP, ITEM_TRAP, ITEM_TRAP, ITEM_TRAP, ITEM_TRAP,  ITEM_STALL,
                                           ITEM_SLOW, ITEM_CRASH, ITEM_CLOSE, ITEM_REFUSE};
    const struct scenario *scenario = &plan->scenario;
    struct item item = {.kind = kinds[chance_below(chance, 16)], .subject = client, .at_ns = at_ns};

    item.amount[0] = draw_span(scenario, chance, &item);
    switch (item.kind) {
    case ITEM_HOLE:
        item.which = (int)chance_between(chance, 1, 7);    /* the servers */
        item.amount[1] = chance_between(chance, 1, 3);     /* the directions */
        break;
    case ITEM_TRAP:
        draw_trap(chance, scenario->kind, &item);
        break;
    case ITEM_SLOW:
        item.amount[1] = chance_near(chance, MILLISECOND, scenario->timeout_ns / 2);
        break;
    case ITEM_CRASH:
    case ITEM_CLOSE:
        item.which = (int)chance_below(chance, 2);         /* whether the server is told */
        item.amount[1] = chance_near(chance, 0, 2000);     /* limit of the close */
        break;
    case ITEM_REFUSE:
        item.which = (int)chance_between(chance, 1, 4);
        break;
    default:
        break;
    }
    add(plan, item);
}

/* The callbacks stand still, or the whole process, while the connection breaks, is made again, and falls into a hole:
 * when they go on, they hear of things that are long over. */
static void draw_late_news(struct plan *plan, struct chance *chance, int client, int64_t at_ns)
{
    const struct scenario *scenario = &plan->scenario;
    int64_t still_ns = chance_between(chance, scenario->timeout_ns / 20, scenario->timeout_ns / 2);
    int64_t hole_ns = at_ns + still_ns + chance_near(chance, -still_ns / 2, MILLISECOND);
    int64_t end_ns = hole_ns + chance_between(chance, scenario->timeout_ns / 2, 2 * scenario->timeout_ns);

    if (end_ns >= scenario->chaos_ns)
        return;
    add(plan, (struct item){.kind = chance_one_in(chance, 4) ? ITEM_PAUSE : ITEM_STALL, .subject = client,
                            .at_ns = at_ns, .amount = {still_ns}});
    add(plan, (struct item){.kind = ITEM_CUT, .subject = client, .at_ns = at_ns + chance_near(chance, 0, still_ns)});
    add(plan, (struct item){.kind = ITEM_HOLE, .subject = client, .which = 7, .at_ns = hole_ns,
                            .amount = {end_ns - hole_ns, chance_between(chance, 1, 3)}});
}

/* Faults that meet are worse than faults alone. */
static void draw_client_faults(struct plan *plan, struct chance *chance, int client)
{
    int64_t first_ns = chance_below(chance, plan->scenario.chaos_ns);

    if (chance_one_in(chance, 5)) {
        draw_late_news(plan, chance, client, first_ns);
        return;
    }
    for (int64_t i = chance_near(chance, 1, 5); i > 0; i--) {
        int64_t at_ns = first_ns + chance_near(chance, 0, plan->scenario.timeout_ns);
        if (at_ns < plan->scenario.chaos_ns)
            draw_client_fault(plan, chance, client, at_ns);
    }
}

/* One at a time, so that a quorum is left. */
static void draw_server_faults(struct plan *plan, struct chance *chance, int64_t gap_ns)
{
    static const enum item_kind kinds[] = {ITEM_CUT_FOLLOWER, ITEM_CUT_FOLLOWER,   ITEM_PAUSE_SERVER,
                                           ITEM_PAUSE_SERVER, ITEM_RESTART_SERVER, ITEM_DEPOSE};
    const struct scenario *scenario = &plan->scenario;
    int64_t limit_ns = SYNC_LIMIT * scenario->tick_ns;

    for (int64_t at_ns = chance_below(chance, gap_ns); at_ns < scenario->chaos_ns;) {
        struct item item = {.kind = kinds[chance_below(chance, 6)], .at_ns = at_ns};
        if (scenario->server_count == 1)
            item.kind = chance_one_in(chance, 2) ? ITEM_PAUSE_SERVER : ITEM_RESTART_SERVER;
        item.subject = (int)chance_between(chance, -1, 1);
        item.which = (int)chance_between(chance, 1, 3);
        item.amount[0] = chance_one_in(chance, 2) ? chance_near(chance, MILLISECOND, limit_ns)
                                                  : chance_between(chance, limit_ns / 4, limit_ns * 3 / 2);
        item.amount[1] = chance_between(chance, MILLISECOND, limit_ns);
        item.amount[2] = (item.amount[0] > item.amount[1] ? item.amount[0] : item.amount[1]) + 2 * SECOND;
        item.is_split = chance_one_in(chance, 2);
        if (item.kind == ITEM_PAUSE_SERVER)
            item.amount[0] = chance_near(chance, MILLISECOND, limit_ns * 2 / 5);
        int64_t longest_ns = item.kind == ITEM_DEPOSE ? item.amount[2] : item.amount[0] + 2 * SECOND;
        if (at_ns + longest_ns < scenario->chaos_ns)
            add(plan, item);
        at_ns += longest_ns + chance_near(chance, MILLISECOND, gap_ns * 2);
    }
}

static void draw_operator(struct plan *plan, struct chance *chance, int path)
{
    static const enum item_kind kinds[] = {ITEM_REMOVE, ITEM_REMOVE, ITEM_REMOVE_TREE,
                                           ITEM_TOUCH,  ITEM_JUMP,   ITEM_JUNK};
    struct item item = {.kind = kinds[chance_below(chance, 6)], .subject = path};

    item.at_ns = chance_below(chance, plan->scenario.chaos_ns);
    item.which = (int)chance_near(chance, 0, 4); /* the place in the queue */
    item.amount[0] = chance_between(chance, INT32_MAX - 6, INT32_MAX);
    add(plan, item);
}

/* Of its own stream, so that all else stays what it is. The paths that are no semaphores have none. */
static void draw_limits(struct plan *plan)
{
    struct scenario *scenario = &plan->scenario;
    struct chance chance = chance_stream(scenario->seed, 3);

    if (scenario->kind != WORLD_PERMITS || chance_one_in(&chance, 3))
        return;
    scenario->has_limits = true;
    for (int path = 0; path < scenario->path_count; path++)
        for (int64_t i = chance_between(&chance, 0, 20); i > 0; i--)
            add(plan, (struct item){.kind = ITEM_LIMIT, .subject = path, .which = (int)chance_between(&chance, 1, 4),
                                    .at_ns = chance_below(&chance, scenario->chaos_ns)});
}

static int compare(const void *a, const void *b)
{
    const struct item *one = a;
    const struct item *other = b;

    if (one->at_ns != other->at_ns)
        return one->at_ns < other->at_ns ? -1 : 1;
    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    return one->subject != other->subject ? one->subject - other->subject : one->which - other->which;
}

/* How often something goes wrong is one of the things that differ from world to world. */
static void draw_faults(struct plan *plan, struct chance *chance)
{
    const struct scenario *scenario = &plan->scenario;
    int64_t seconds = scenario->chaos_ns / SECOND;
    int64_t client_gap = chance_near(chance, 2, 60);
    int64_t operator_gap = chance_near(chance, 3, 400);

    for (int client = 0; client < scenario->client_count; client++)
        for (int64_t i = chance_below(chance, 2 * seconds / client_gap + 1); i > 0; i--)
            draw_client_faults(plan, chance, client);
    draw_server_faults(plan, chance, chance_near(chance, 1, 30) * SECOND);
    if (chance_one_in(chance, 2))
        for (int path = 0; path < scenario->path_count; path++)
            for (int64_t i = chance_below(chance, 2 * seconds / operator_gap + 1); i > 0; i--)
                draw_operator(plan, chance, path);
}

void plan_draw(struct plan *plan, uint64_t seed)
{
    struct chance chance = chance_stream(seed, 0);

    memset(plan, 0, sizeof *plan);
    draw_scenario(&plan->scenario, &chance, seed);
    for (int client = 0; client < plan->scenario.client_count; client++)
        for (int which = 0; which < plan->scenario.lock_count; which++)
            draw_user(plan, &chance, client, which);
    draw_faults(plan, &chance);
    draw_limits(plan);
    qsort(plan->items, plan->count, sizeof *plan->items, compare);
}

void plan_clear(struct plan *plan)
{
    free(plan->items);
    memset(plan, 0, sizeof *plan);
}

void plan_print(const struct plan *plan)
{
    const struct scenario *scenario = &plan->scenario;

    printf("seed %llu (%s): %d servers, tick %.1f s%s, session timeout %.1f s asked%s, %d clients with %d locks each on "
           "%d paths, %.0f s\n",
           (unsigned long long)scenario->seed, world_kind_name(scenario->kind), scenario->server_count, (double)scenario->tick_ns / SECOND,
           scenario->is_tick_told ? "" : " (not told)", (double)scenario->timeout_ns / SECOND,
           scenario->lease == LEASE_STANDALONE ? ", standalone lease" : "", scenario->client_count,
           scenario->lock_count, scenario->path_count, (double)scenario->chaos_ns / SECOND);
    for (size_t i = 0; i < plan->count; i++) {
        const struct item *item = &plan->items[i];
        printf("%12.6f  %-36s subject %d, which %d, %lld %lld %lld\n", (double)item->at_ns / SECOND,
               item_name(item->kind), item->subject, item->which, (long long)item->amount[0],
               (long long)item->amount[1], (long long)item->amount[2]);
    }
}
