/*
 * Virtual time: events in their order, and the actors that they happen to. One thread, one event at a time.
 *
 * An actor is what can stand still as a whole: a client's process, a server. What happens to it meanwhile is kept and
 * happens in its order when it goes on.
 */
#ifndef SIMULATOR_WORLD_H
#define SIMULATOR_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MICROSECOND INT64_C(1000)
#define MILLISECOND INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define NEVER INT64_MAX

struct world;
struct event;

struct actor {
    struct world *world;
    bool is_paused;
    int64_t resumed_ns;
    struct event *kept; /* what happened while paused, the first first */
    struct event **kept_end;
    void (*after_event)(struct actor *actor); /* may be NULL */
};

typedef void event_fn(void *subject, void *detail);

struct slot {
    int64_t at_ns;
    uint64_t order; /* among events at one time: as they were posted */
    struct event *event;
};

struct world {
    int64_t now_ns;
    uint64_t event_count; /* that happened */
    uint64_t digest;      /* of all that happened: equal for equal runs */
    bool is_traced;

    uint64_t posted_count;
    struct slot *slots; /* a heap, four ways */
    size_t slot_count;
    size_t slot_room;
    struct event *spare;
};

void world_init(struct world *world);
/* Forgets the events that are left; their details are not freed. */
void world_clear(struct world *world);

void actor_init(struct actor *actor, struct world *world);
void actor_pause(struct actor *actor);
void actor_resume(struct actor *actor);

/* Plans `run(subject, detail)`, to happen to `actor`. The event may be cancelled until it has happened. */
struct event *world_post(struct actor *actor, int64_t at_ns, event_fn *run, void *subject, void *detail);
void world_cancel(struct event *event);

/* The next event happens. False: there is none. */
bool world_step(struct world *world);
/* When the next event happens; NEVER: there is none. */
int64_t world_next(const struct world *world);

/* `memory`, or the end of the program when there is none. */
void *must_have(void *memory);

/* One line of the trace, where one is wanted: check `is_traced` first. */
void world_trace(const struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define TRACE(world, ...)                                                                                     \
    do {                                                                                                      \
        if ((world)->is_traced)                                                                               \
            world_trace((world), __VA_ARGS__);                                                                \
    } while (0)

#endif
