#include "roam.h"

#include <string.h>

#include "instants.h"

struct roamer {
    struct setting setting;
    struct world world;
    uint64_t random;
    unsigned still; /* bits of enum move_type that stand still for now */
    uint64_t silence; /* the client sends once in so many chances, */
    int64_t quiet_until_ns; /* and not at all before that */
    bool ends_with_lease;
    struct finding *finding;
    struct timed_move path[MOST_STEPS];
    int path_length;
};

static uint64_t below(struct roamer *roamer, uint64_t bound)
{
    roamer->random ^= roamer->random << 13;
    roamer->random ^= roamer->random >> 7;
    roamer->random ^= roamer->random << 17;
    return (roamer->random >> 11) % bound;
}

static bool once_in(struct roamer *roamer, uint64_t times)
{
    return below(roamer, times) == 0;
}

/* ---------------------------------------------------------------- what varies from run to run */

static void draw_times(struct roamer *roamer, const struct setting *base)
{
    static const int64_t ticks_ms[] = {100, 200, 500, 1000, 2000, 3000};
    struct setting *setting = &roamer->setting;
    int64_t ticks = once_in(roamer, 2) ? 2 + (int64_t)below(roamer, 3) : 2 + (int64_t)below(roamer, 19);

    if (base->tick_ms == 0) {
        setting->tick_ms = ticks_ms[below(roamer, sizeof ticks_ms / sizeof ticks_ms[0])];
        setting->timeout_ms = setting->tick_ms * ticks + (int64_t)below(roamer, (uint64_t)setting->tick_ms);
        setting->other_timeout_ms = setting->timeout_ms * (base->other_timeout_ms ? 2 : 1);
    }
    for (int i = 0; i < MOST_SERVERS; i++)
        setting->phase_ms[i] = (int64_t)below(roamer, (uint64_t)setting->tick_ms);
}

/* Rates that differ by one part in n: our clock is slow by that, or the leader's is. */
static int draw_rate(struct roamer *roamer, int limit_ppm)
{
    switch (below(roamer, 3)) {
    case 0:
        return -limit_ppm;
    case 1:
        return (int)(INT64_C(1000000) * limit_ppm / (1000000 - limit_ppm));
    }
    return 0;
}

static void begin(struct roamer *roamer, const struct setting *base)
{
    roamer->setting = *base;
    draw_times(roamer, base);
    roamer->setting.rate_ppm = draw_rate(roamer, base->rate_ppm);
    roamer->setting.callbacks_are_late = base->callbacks_are_late && once_in(roamer, 2);
    roamer->setting.stalls = base->stalls && once_in(roamer, 3);
    roamer->setting.begins_lapsed = base->begins_lapsed && once_in(roamer, 2);
    roamer->setting.home = base->server_count > 1 && !once_in(roamer, 4) ? 1 : 0;
    roamer->still = 0;
    roamer->setting.pings_late = !once_in(roamer, 4);
    roamer->ends_with_lease = !once_in(roamer, 4) && !roamer->setting.begins_lapsed;
    if (once_in(roamer, 2))
        roamer->setting.kinds &= (unsigned)below(roamer, 16) | 1u << KIND_BEAT;
    roamer->silence = once_in(roamer, 2) ? 1 : 1 + below(roamer, 40);
    roamer->quiet_until_ns = 0;
    if (once_in(roamer, 2))
        roamer->quiet_until_ns = (int64_t)below(roamer, (uint64_t)(roamer->setting.timeout_ms * MS));
    if (once_in(roamer, 2))
        roamer->setting.most_losses = roamer->setting.most_elections = 0;
    roamer->path_length = 0;
    world_begin(&roamer->setting, &roamer->world);
}

/* ---------------------------------------------------------------- time */

static int64_t choose_instant(struct roamer *roamer)
{
    const struct setting *setting = &roamer->setting;
    const struct world *world = &roamer->world;
    int64_t latest_ns = world_latest(setting, world);
    int64_t soon_ns = world->now_ns + MOMENT_NS;
    struct instants instants;

    instants_find(setting, world, &instants);
    instants_add(&instants, world, soon_ns + (int64_t)below(roamer, 3 * MS));
    instants_add(&instants, world, soon_ns + (int64_t)below(roamer, (uint64_t)(setting->tick_ms * MS)));
    if (once_in(roamer, 4))
        instants_add(&instants, world, soon_ns + (int64_t)below(roamer, (uint64_t)(setting->timeout_ms * MS)));
    int64_t chosen_ns = instants.at_ns[below(roamer, (uint64_t)instants.count)];
    return chosen_ns < latest_ns ? chosen_ns : latest_ns;
}

/* ---------------------------------------------------------------- a run */

#define BIT(type) (1u << (type))

static void change_mood(struct roamer *roamer)
{
    static const unsigned directions[] = {BIT(MOVE_SEND),  BIT(MOVE_ANSWER), BIT(MOVE_CALLBACK), BIT(MOVE_DOWN),
                                          BIT(MOVE_UP),    BIT(MOVE_CLOSE),  BIT(MOVE_CONNECT),  BIT(MOVE_PING),
                                          BIT(MOVE_FORWARD)};

    if (once_in(roamer, 3))
        roamer->still ^= directions[below(roamer, sizeof directions / sizeof directions[0])];
    if (once_in(roamer, 12))
        roamer->still = 0;
}

static bool is_willing(struct roamer *roamer, struct move move)
{
    if (roamer->still & BIT(move.type))
        return false;
    if (move.type == MOVE_SEND)
        return roamer->world.now_ns >= roamer->quiet_until_ns && once_in(roamer, roamer->silence);
    if (move.type == MOVE_LOSE || move.type == MOVE_ELECT || move.type == MOVE_TAKE)
        return once_in(roamer, 12);
    return true;
}

/* One of the moves that do not stand still; false: let time pass. */
static bool choose_move(struct roamer *roamer, struct move *out_move)
{
    struct move moves[MOST_MOVES];
    int count = world_moves(&roamer->setting, &roamer->world, moves);

    if (world_latest(&roamer->setting, &roamer->world) == roamer->world.now_ns) {
        *out_move = moves[below(roamer, (uint64_t)count)];
        return true;
    }
    for (int tries = 0; tries < 3 && count > 0 && !once_in(roamer, 8); tries++) {
        *out_move = moves[below(roamer, (uint64_t)count)];
        if (is_willing(roamer, *out_move))
            return true;
    }
    return false;
}

static void record(struct roamer *roamer, struct move move)
{
    if (roamer->path_length < MOST_STEPS)
        roamer->path[roamer->path_length++] = (struct timed_move){roamer->world.now_ns, move};
}

static void take_step(struct roamer *roamer)
{
    struct move move;

    if (choose_move(roamer, &move)) {
        record(roamer, move);
        world_move(&roamer->setting, &roamer->world, move);
    } else {
        change_mood(roamer);
        world_wait(&roamer->world, choose_instant(roamer));
    }
}

static void run(struct roamer *roamer, int most_moves)
{
    struct finding *finding = roamer->finding;

    for (int i = 0; i < most_moves; i++) {
        take_step(roamer);
        finding->states++;
        int64_t margin_ns = world_margin(&roamer->setting, &roamer->world);
        if (margin_ns < finding->margin_ns)
            finding->margin_ns = margin_ns;
        if (margin_ns < -MOMENT_NS) {
            if (finding->violations++ == 0) {
                memcpy(finding->steps, roamer->path, sizeof finding->steps);
                finding->step_count = roamer->path_length;
                finding->setting = roamer->setting;
            }
            return;
        }
        if (roamer->world.servers[roamer->world.authority].is_closing ||
            (roamer->ends_with_lease && roamer->world.lease.lapsed_ns > 0))
            return;
    }
}

void roam(const struct setting *setting, const struct journey *journey, struct finding *out_finding)
{
    struct finding finding;
    struct roamer roamer = {.random = journey->seed | 1, .finding = &finding};

    finding_clear(&finding);
    for (int64_t i = 0; i < journey->runs; i++) {
        begin(&roamer, setting);
        run(&roamer, journey->most_moves);
        finding.schedules++;
    }
    finding_add(out_finding, &finding);
}
