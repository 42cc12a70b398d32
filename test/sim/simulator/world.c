#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct event {
    struct actor *actor;
    event_fn *run; /* NULL: cancelled */
    void *subject;
    void *detail;
    struct event *next; /* among the spare ones, or those kept by a paused actor */
};

void *must_have(void *memory)
{
    if (memory)
        return memory;
    fprintf(stderr, "simulator: out of memory\n");
    exit(2);
}

void world_init(struct world *world)
{
    memset(world, 0, sizeof *world);
}

static void free_events(struct event *event)
{
    while (event) {
        struct event *next = event->next;
        free(event);
        event = next;
    }
}

void world_clear(struct world *world)
{
    for (size_t i = 0; i < world->slot_count; i++)
        free(world->slots[i].event);
    free_events(world->spare);
    free(world->slots);
    memset(world, 0, sizeof *world);
}

/* ---------------------------------------------------------------- the heap */

static bool is_before(const struct slot *a, const struct slot *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->order < b->order);
}

static void push(struct world *world, struct slot slot)
{
    if (world->slot_count == world->slot_room) {
        world->slot_room = world->slot_room ? world->slot_room * 2 : 1024;
        world->slots = must_have(realloc(world->slots, world->slot_room * sizeof *world->slots));
    }
    size_t at = world->slot_count++;
    while (at > 0) {
        size_t parent = (at - 1) / 4;
        if (!is_before(&slot, &world->slots[parent]))
            break;
        world->slots[at] = world->slots[parent];
        at = parent;
    }
    world->slots[at] = slot;
}

static size_t least_child(const struct world *world, size_t parent)
{
    size_t least = parent * 4 + 1;
    size_t end = least + 4 < world->slot_count ? least + 4 : world->slot_count;

    for (size_t child = least + 1; child < end; child++)
        if (is_before(&world->slots[child], &world->slots[least]))
            least = child;
    return least;
}

static struct slot pop(struct world *world)
{
    struct slot first = world->slots[0];
    struct slot last = world->slots[--world->slot_count];
    size_t at = 0;

    while (at * 4 + 1 < world->slot_count) {
        size_t child = least_child(world, at);
        if (!is_before(&world->slots[child], &last))
            break;
        world->slots[at] = world->slots[child];
        at = child;
    }
    world->slots[at] = last;
    return first;
}

/* ---------------------------------------------------------------- events */

struct event *world_post(struct actor *actor, int64_t at_ns, event_fn *run, void *subject, void *detail)
{
    struct world *world = actor->world;
    struct event *event = world->spare;

    if (event)
        world->spare = event->next;
    else
        event = must_have(malloc(sizeof *event));
    *event = (struct event){.actor = actor, .run = run, .subject = subject, .detail = detail};
    if (at_ns < world->now_ns)
        at_ns = world->now_ns;
    push(world, (struct slot){at_ns, world->posted_count++, event});
    return event;
}

void world_cancel(struct event *event)
{
    if (event)
        event->run = NULL;
}

static void spare_event(struct world *world, struct event *event)
{
    event->next = world->spare;
    world->spare = event;
}

static void happen(struct world *world, struct event *event)
{
    struct event copy = *event;

    spare_event(world, event);
    if (!copy.run)
        return;
    world->event_count++;
    world->digest = (world->digest ^ (uint64_t)world->now_ns) * UINT64_C(0x9e3779b97f4a7c15);
    copy.run(copy.subject, copy.detail);
    if (copy.actor->after_event)
        copy.actor->after_event(copy.actor);
}

static void keep(struct actor *actor, struct event *event)
{
    event->next = NULL;
    *actor->kept_end = event;
    actor->kept_end = &event->next;
}

bool world_step(struct world *world)
{
    if (world->slot_count == 0)
        return false;
    struct slot slot = pop(world);
    world->now_ns = slot.at_ns;
    if (slot.event->actor->is_paused && slot.event->run)
        keep(slot.event->actor, slot.event);
    else
        happen(world, slot.event);
    return true;
}

int64_t world_next(const struct world *world)
{
    return world->slot_count > 0 ? world->slots[0].at_ns : NEVER;
}

/* ---------------------------------------------------------------- actors */

void actor_init(struct actor *actor, struct world *world)
{
    memset(actor, 0, sizeof *actor);
    actor->world = world;
    actor->kept_end = &actor->kept;
}

void actor_pause(struct actor *actor)
{
    actor->is_paused = true;
}

void actor_resume(struct actor *actor)
{
    actor->is_paused = false;
    actor->resumed_ns = actor->world->now_ns;
    while (actor->kept && !actor->is_paused) {
        struct event *event = actor->kept;
        actor->kept = event->next;
        if (!actor->kept)
            actor->kept_end = &actor->kept;
        happen(actor->world, event);
    }
}

void world_trace(const struct world *world, const char *format, ...)
{
    va_list arguments;

    printf("%12.6f  ", (double)world->now_ns / (double)SECOND);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}
