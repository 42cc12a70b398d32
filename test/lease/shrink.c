#include "shrink.h"

#include <string.h>

static bool can_move(const struct setting *setting, const struct world *world, struct move move)
{
    struct move moves[MOST_MOVES];
    int count = world_moves(setting, world, moves);

    for (int i = 0; i < count; i++)
        if (moves[i].type == move.type && moves[i].subject == move.subject)
            return true;
    return false;
}

/* Plays the schedule without one of its moves, and without those that cannot happen then. False: no violation. */
static bool play_without(const struct finding *finding, int left_out, struct finding *out_played)
{
    const struct setting *setting = &finding->setting;
    struct world world;

    *out_played = *finding;
    out_played->step_count = 0;
    world_begin(setting, &world);
    for (int i = 0; i < finding->step_count; i++) {
        const struct timed_move *step = &finding->steps[i];
        if (i == left_out)
            continue;
        if (step->at_ns > world.now_ns && step->at_ns > world_latest(setting, &world))
            return false;
        if (step->at_ns > world.now_ns)
            world_wait(&world, step->at_ns);
        if (!can_move(setting, &world, step->move))
            continue;
        world_move(setting, &world, step->move);
        out_played->steps[out_played->step_count++] = *step;
        if (world_margin(setting, &world) < -MOMENT_NS)
            return true;
    }
    return false;
}

void shrink(struct finding *finding)
{
    static struct finding shorter;
    bool was_shortened = finding->violations > 0;

    while (was_shortened) {
        was_shortened = false;
        for (int i = finding->step_count - 1; i >= 0; i--) {
            if (play_without(finding, i, &shorter)) {
                *finding = shorter;
                was_shortened = true;
            }
        }
    }
}
