#include "search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "describe.h"
#include "driver.h"
#include "promises.h"
#include "visited.h"

/* A calm course that is longer than this does not end. */
#define LONGEST_CALM 400

/* The worlds of one depth, packed one behind the other, each after its size. */
struct level {
    unsigned char *bytes;
    size_t size;
    size_t capacity;
    size_t count;
    uint32_t first; /* index of the first one */
};

struct search {
    struct visited visited;
    struct level now;
    struct level next;
    uint64_t most_worlds;
    struct search_result *result;
    uint32_t broken;         /* index of the world where the trace ends */
    bool has_broken_step;    /* and the step from there that broke a promise */
    struct step broken_step;
};

static void append(struct level *level, const struct packed *packed)
{
    size_t size = sizeof packed->size + packed->size;

    if (level->size + size > level->capacity) {
        level->capacity = level->capacity ? level->capacity / 2 * 3 : (size_t)1 << 20;
        level->bytes = visited_allocate(level->bytes, level->capacity, 1);
    }
    memcpy(level->bytes + level->size, packed, size);
    level->size += size;
    level->count++;
}

/* The world that begins at this offset; returns the offset behind it. */
static size_t take_from(const struct level *level, size_t offset, struct world *out_world)
{
    uint16_t size;

    memcpy(&size, level->bytes + offset, sizeof size);
    world_unpack(level->bytes + offset + sizeof size, out_world);
    return offset + sizeof size + size;
}

static uint64_t fingerprint_of(const struct world *world)
{
    struct packed packed;

    world_pack(world, &packed);
    return world_fingerprint(&packed);
}

/* ---------------------------------------------------------------------------------------- the calm course */

/* What follows when nothing goes wrong any more has to end well. Stops at a world of which that is known. */
static const char *run_calmly(struct visited *visited, const struct world *from)
{
    static uint64_t course[LONGEST_CALM];
    struct world world;
    struct step step;
    int length = 0;

    memcpy(&world, from, world_size());
    for (;;) {
        uint64_t fingerprint = fingerprint_of(&world);
        if (visited_marks(visited, fingerprint) & MARK_CALM)
            break;
        if (length == LONGEST_CALM)
            return "the calm course from here never ends";
        course[length++] = fingerprint;
        if (!steps_calm(&world, &step)) {
            if (!promises_are_kept(&world))
                return "the calm course from here ends with something left undone";
            break;
        }
        const char *wrong = steps_take(&world, &step);
        if (wrong)
            return wrong;
        world_canonicalize(&world, NULL);
    }
    while (length > 0)
        visited_mark(visited, course[--length], MARK_CALM);
    return NULL;
}

/* -------------------------------------------------------------------------------------------------- trace */

static void print_world(const struct world *world, const uint8_t *who)
{
    printf("  parent %s, nodes alive %02x of %d\n", world->has_parent ? "there" : "missing", world->alive,
           world->node_count);
    for (int label = 0; label < setting.clients; label++) {
        for (int i = 0; i < setting.clients; i++) {
            struct text text;
            if (who[i] != label)
                continue;
            describe_client(world, &world->clients[i], &text);
            printf("    %c %s\n", 'A' + label, text.chars);
        }
    }
}

static void print_step(const struct world *world, const struct step *step, const uint8_t *who)
{
    struct text text;

    describe_step(world, step, (char)('A' + (step->client == NONE ? 0 : who[step->client])), &text);
    printf("  %s\n", text.chars);
}

/* Takes a step again, and keeps track of who is who. */
static const char *replay_step(struct world *world, const struct step *step, uint8_t *who)
{
    uint8_t from[MOST_CLIENTS];
    uint8_t before[MOST_CLIENTS];
    const char *wrong;

    print_step(world, step, who);
    wrong = steps_take(world, step);
    memcpy(before, who, sizeof before);
    if (wrong)
        return wrong;
    world_canonicalize(world, from);
    for (int i = 0; i < setting.clients; i++)
        who[i] = before[from[i]];
    return NULL;
}

/* The steps from the first world to this one, first to last. */
static int steps_to(const struct visited *visited, uint32_t index, struct step *out_steps, int most)
{
    int count = 0;

    for (; visited->origins[index].parent != index && count < most; index = visited->origins[index].parent)
        out_steps[count++] = visited->origins[index].step;
    for (int i = 0; i < count / 2; i++) {
        struct step other = out_steps[i];
        out_steps[i] = out_steps[count - 1 - i];
        out_steps[count - 1 - i] = other;
    }
    return count;
}

static void print_calm_course(struct world *world, uint8_t *who)
{
    struct step step;

    printf("and, with nothing more going wrong:\n");
    for (int i = 0; i < LONGEST_CALM && steps_calm(world, &step); i++) {
        if (replay_step(world, &step, who))
            break;
        if (i == 60) {
            printf("  ...\n");
            break;
        }
    }
}

static void print_trace(const struct search *search, bool is_calm)
{
    static struct step steps[4096];
    uint8_t who[MOST_CLIENTS] = {0, 1, 2, 3};
    struct world world;
    int count = steps_to(&search->visited, search->broken, steps, 4096);

    printf("violation: %s\ntrace:\n", search->result->violation);
    world_init(&world);
    world_canonicalize(&world, NULL);
    for (int i = 0; i < count; i++)
        replay_step(&world, &steps[i], who);
    if (search->has_broken_step)
        replay_step(&world, &search->broken_step, who);
    else if (is_calm)
        print_calm_course(&world, who);
    printf("then:\n");
    print_world(&world, who);
}

/* ------------------------------------------------------------------------------------------------- search */

/* A world that may have been seen before. Returns what is wrong with it. */
static const char *take_up(struct search *search, const struct world *world, uint32_t parent,
                           const struct step *step)
{
    struct packed packed;

    world_pack(world, &packed);
    if (visited_mark(&search->visited, world_fingerprint(&packed), MARK_EXPLORED) & MARK_EXPLORED)
        return NULL;
    search->broken = (uint32_t)search->visited.origin_count;
    visited_record(&search->visited, parent, step);
    append(&search->next, &packed);
    return promises_check(world);
}

static const char *expand(struct search *search, const struct world *world, uint32_t index)
{
    struct step steps[MOST_STEPS];
    int count = steps_list(world, steps);

    for (int i = 0; i < count; i++) {
        struct world after;
        const char *wrong;

        memcpy(&after, world, world_size());
        search->result->steps++;
        wrong = steps_take(&after, &steps[i]);
        if (wrong) {
            search->broken = index;
            search->has_broken_step = true;
            search->broken_step = steps[i];
            return wrong;
        }
        world_canonicalize(&after, NULL);
        wrong = take_up(search, &after, index, &steps[i]);
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* One depth. Returns what is wrong, or NULL. */
static const char *expand_level(struct search *search, bool *out_is_calm)
{
    size_t offset = 0;

    *out_is_calm = false;
    for (size_t i = 0; i < search->now.count; i++) {
        struct world world;
        uint32_t index = search->now.first + (uint32_t)i;
        const char *wrong;

        offset = take_from(&search->now, offset, &world);
        wrong = run_calmly(&search->visited, &world);
        if (wrong) {
            search->broken = index;
            *out_is_calm = true;
            return wrong;
        }
        wrong = expand(search, &world, index);
        if (wrong || search->visited.origin_count >= search->most_worlds)
            return wrong;
    }
    return NULL;
}

static void begin(struct search *search)
{
    struct world world;

    visited_init(&search->visited);
    world_init(&world);
    world_canonicalize(&world, NULL);
    take_up(search, &world, 0, &(struct step){0});
}

static void go_down(struct search *search)
{
    struct level done = search->now;

    search->now = search->next;
    search->now.first = (uint32_t)(search->visited.origin_count - search->now.count);
    search->next = done;
    search->next.count = search->next.size = 0;
}

static double cpu_seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void search_run(uint64_t most_worlds, struct search_result *out_result)
{
    struct search search = {.most_worlds = most_worlds, .result = out_result};
    double start = cpu_seconds();
    bool is_calm = false;

    memset(out_result, 0, sizeof *out_result);
    begin(&search);
    while (search.next.count > 0 && !out_result->violation && search.visited.origin_count < most_worlds &&
           (setting.depth == 0 || out_result->depth < setting.depth)) {
        go_down(&search);
        out_result->violation = expand_level(&search, &is_calm);
        out_result->depth++;
    }
    out_result->is_complete = search.next.count == 0 && !out_result->violation;
    out_result->worlds = search.visited.origin_count;
    out_result->seconds = cpu_seconds() - start;
    if (out_result->violation)
        print_trace(&search, is_calm);
    free(search.now.bytes);
    free(search.next.bytes);
    visited_clear(&search.visited);
}
