#include "explore.h"

#include <stdlib.h>
#include <string.h>

#include "instants.h"
#include "support/suite.h"

/* States that were entered, as hashes; the lowest byte is how many moves were left then. */
struct seen {
    uint64_t *slots;
    size_t size; /* a power of two */
    size_t count;
};

struct explorer {
    const struct setting *setting;
    const struct bounds *bounds;
    bool stops_at_violation;
    struct seen seen;
    struct finding *finding;
    struct timed_move path[MOST_STEPS];
    int path_length;
};

void finding_clear(struct finding *finding)
{
    memset(finding, 0, sizeof *finding);
    finding->margin_ns = NEVER;
}

void finding_add(struct finding *sum, const struct finding *added)
{
    if (sum->violations == 0 && added->violations > 0) {
        memcpy(sum->steps, added->steps, sizeof sum->steps);
        sum->step_count = added->step_count;
        sum->setting = added->setting;
    }
    sum->states += added->states;
    sum->schedules += added->schedules;
    sum->violations += added->violations;
    sum->is_cut_short |= added->is_cut_short;
    if (added->margin_ns < sum->margin_ns)
        sum->margin_ns = added->margin_ns;
}

/* The used part of a world is a whole number of words, without holes that are not zero. */
static uint64_t hash(const struct world *world)
{
    size_t size = world_size(world);
    const unsigned char *bytes = (const unsigned char *)world;
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)world->lease.beat_count;

    for (size_t at = 0; at + sizeof state <= size; at += sizeof state) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        state = (state ^ word) * UINT64_C(0xff51afd7ed558ccd);
        state ^= state >> 32;
    }
    return state;
}

#define KEY(slot) ((slot) & ~UINT64_C(0xff))
#define MOVES_LEFT(slot) ((int)((slot) & 0xff))

static uint64_t *find_slot(struct seen *seen, uint64_t key)
{
    size_t at = (size_t)(key >> 8) & (seen->size - 1);

    while (seen->slots[at] && KEY(seen->slots[at]) != key)
        at = (at + 1) & (seen->size - 1);
    return &seen->slots[at];
}

static void grow(struct seen *seen)
{
    struct seen larger = {.size = seen->size ? seen->size * 4 : 4096, .count = seen->count};

    larger.slots = calloc(larger.size, sizeof larger.slots[0]);
    if (!larger.slots)
        suite_abandon("no memory for %zu states", larger.size);
    for (size_t i = 0; i < seen->size; i++)
        if (seen->slots[i])
            *find_slot(&larger, KEY(seen->slots[i])) = seen->slots[i];
    free(seen->slots);
    *seen = larger;
}

/* Whether a state is new, or was entered with fewer moves left. */
static bool enter(struct explorer *explorer, const struct world *world, int moves_left)
{
    struct seen *seen = &explorer->seen;
    uint64_t key = KEY(hash(world) | 0x100);

    if (seen->count * 3 >= seen->size * 2)
        grow(seen);
    uint64_t *slot = find_slot(seen, key);
    if (*slot && MOVES_LEFT(*slot) >= moves_left)
        return false;
    if (!*slot) {
        seen->count++;
        explorer->finding->states++;
    }
    *slot = key | (uint64_t)moves_left;
    return true;
}

static void record_violation(struct explorer *explorer)
{
    struct finding *finding = explorer->finding;

    if (finding->violations++ > 0)
        return;
    memcpy(finding->steps, explorer->path, sizeof finding->steps);
    finding->step_count = explorer->path_length;
    finding->setting = *explorer->setting;
}

static bool is_finished(const struct explorer *explorer)
{
    const struct finding *finding = explorer->finding;

    return (explorer->stops_at_violation && finding->violations > 0) || finding->is_cut_short;
}

/* Where no lease is to be had any more there is nothing to violate. */
static bool is_over(const struct explorer *explorer, const struct world *world)
{
    const struct zkl_lease *lease = &world->lease;

    if (world->servers[world->authority].is_closing)
        return true;
    return !explorer->setting->begins_lapsed && lease->timeout_ns > 0 && !world_has_lease(explorer->setting, world);
}

static void visit(struct explorer *explorer, const struct world *world, int moves_left);

/* The place of the next beat is cleared, holes included. */
static void copy_world(struct world *to, const struct world *from)
{
    memcpy(to, from, world_size(from));
    if (from->lease.beat_count < ZKL_LEASE_BEATS)
        memset(&to->lease.beats[from->lease.beat_count], 0, sizeof to->lease.beats[0]);
}

static void visit_at(struct explorer *explorer, const struct world *world, int64_t at_ns, int moves_left)
{
    struct world later;

    if (at_ns > explorer->bounds->horizon_ms * MS) {
        explorer->finding->schedules++;
        return;
    }
    copy_world(&later, world);
    world_wait(&later, at_ns);
    visit(explorer, &later, moves_left);
}

static void visit_later(struct explorer *explorer, const struct world *world, int moves_left)
{
    int64_t grid_ns = explorer->bounds->grid_ms * MS;
    int64_t next_ns = (world->now_ns / grid_ns + 1) * grid_ns;
    int64_t latest_ns = world_latest(explorer->setting, world);
    struct instants instants = {.count = 0};

    if (explorer->bounds->at_instants)
        instants_find(explorer->setting, world, &instants);
    if (latest_ns > world->now_ns)
        instants_add(&instants, world, next_ns < latest_ns ? next_ns : latest_ns);
    for (int i = 0; i < instants.count && !is_finished(explorer); i++)
        visit_at(explorer, world, instants.at_ns[i], moves_left);
}

static void visit_moves(struct explorer *explorer, const struct world *world, int moves_left)
{
    struct move moves[MOST_MOVES];
    int count = moves_left > 0 && explorer->path_length < MOST_STEPS ? world_moves(explorer->setting, world, moves) : 0;

    for (int i = 0; i < count && !is_finished(explorer); i++) {
        struct world next;
        copy_world(&next, world);
        world_move(explorer->setting, &next, moves[i]);
        explorer->path[explorer->path_length++] = (struct timed_move){world->now_ns, moves[i]};
        visit(explorer, &next, explorer->bounds->most_moves > 0 ? moves_left - 1 : moves_left);
        explorer->path_length--;
    }
}

static void visit(struct explorer *explorer, const struct world *world, int moves_left)
{
    int64_t margin_ns = world_margin(explorer->setting, world);

    if (is_finished(explorer) || !enter(explorer, world, moves_left))
        return;
    if (explorer->finding->states >= explorer->bounds->most_states)
        explorer->finding->is_cut_short = true;
    if (margin_ns < explorer->finding->margin_ns)
        explorer->finding->margin_ns = margin_ns;
    if (margin_ns < -MOMENT_NS) {
        record_violation(explorer);
        return;
    }
    if (is_over(explorer, world)) {
        explorer->finding->schedules++;
        return;
    }
    visit_moves(explorer, world, moves_left);
    visit_later(explorer, world, moves_left);
}

void explore(const struct setting *setting, const struct bounds *bounds, bool stops_at_violation,
             struct finding *out_finding)
{
    struct explorer *explorer = calloc(1, sizeof *explorer);
    struct finding finding;
    struct world world;
    int moves = bounds->most_moves > 0 ? bounds->most_moves : 1;

    finding_clear(&finding);
    *explorer = (struct explorer){setting, bounds, stops_at_violation, .finding = &finding};
    world_begin(setting, &world);
    visit(explorer, &world, moves);
    free(explorer->seen.slots);
    free(explorer);
    finding_add(out_finding, &finding);
}

bool explore_shortest(const struct setting *setting, const struct bounds *bounds, struct finding *out_finding)
{
    for (int moves = 1; moves <= MOST_SHORT_MOVES; moves++) {
        struct bounds limited = *bounds;
        struct finding finding;
        finding_clear(&finding);
        limited.most_moves = moves;
        explore(setting, &limited, true, &finding);
        if (finding.violations > 0 || finding.is_cut_short) {
            finding_add(out_finding, &finding);
            return finding.violations > 0;
        }
    }
    return false;
}
