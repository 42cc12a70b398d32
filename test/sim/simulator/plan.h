/*
 * What is to happen in one world, drawn from its seed beforehand: what users want, and what goes wrong. A plan can be
 * made smaller and run again, which is how a failure is shrunk.
 */
#ifndef SIMULATOR_PLAN_H
#define SIMULATOR_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

/* name, what the figures call it */
#define ITEM_KINDS(X)                                                                                         \
    X(ACQUIRE, "acquires asked for")                                                                          \
    X(CANCEL, "cancels")                                                                                      \
    X(FREE, "lock objects freed in use")                                                                      \
    X(CUT, "connections cut")                                                                                 \
    X(HOLE, "holes")                                                                                          \
    X(PAUSE, "clients paused")                                                                                \
    X(STALL, "callbacks stalled")                                                                             \
    X(TRAP, "requests lost or held")                                                                          \
    X(REFUSE, "submits refused")                                                                              \
    X(SLOW, "slow networks")                                                                                  \
    X(CRASH, "clients crashed")                                                                               \
    X(CLOSE, "sessions closed")                                                                               \
    X(CUT_FOLLOWER, "followers cut off")                                                                      \
    X(PAUSE_SERVER, "servers paused")                                                                         \
    X(RESTART_SERVER, "servers restarted")                                                                    \
    X(DEPOSE, "leaders deposed")                                                                              \
    X(REMOVE, "contenders removed by an operator")                                                            \
    X(REMOVE_TREE, "lock directories removed")                                                                \
    X(TOUCH, "contenders written to")                                                                         \
    X(JUMP, "counters jumped to their limit")                                                                 \
    X(JUNK, "foreign children")                                                                               \
    X(LIMIT, "limits of semaphores changed")

enum item_kind {
#define ITEM_ENUM(name, text) ITEM_##name,
    ITEM_KINDS(ITEM_ENUM)
#undef ITEM_ENUM
    ITEM_KIND_COUNT
};

struct item {
    enum item_kind kind;
    int subject; /* a client, a path, or the n-th follower; -1: the leader */
    int which;   /* a lock of the client; else as the kind has it */
    bool is_split; /* a server's fault: its clients reach no other server meanwhile */
    int64_t at_ns;
    int64_t amount[3]; /* times, mostly */
};

/* What its users want. By the seed, so that the worlds of each kind can be asked for. */
enum world_kind {
    WORLD_PLAIN,
    WORLD_PERMITS, /* some paths are semaphores */
    WORLD_SHARED,  /* some are shared, and exclusive holders may go on as shared ones */
    WORLD_SEVERAL, /* each client takes several locks as one, shared ones among them */
    WORLD_COHORTS, /* threads of a client share its contender */
    WORLD_KIND_COUNT
};

enum lease_kind { LEASE_STRICT, LEASE_STANDALONE };

struct scenario {
    uint64_t seed;
    enum world_kind kind;
    int server_count;
    int64_t tick_ns;
    bool is_tick_told;
    int64_t timeout_ns; /* asked for */
    enum lease_kind lease;
    int client_count;
    int lock_count; /* of each client */
    int path_count;
    int64_t chaos_ns; /* so long users come and things go wrong */
    bool is_slow; /* locks are held for about as long as a session lasts without its owner */
    int64_t longest_hold_ns;
    bool has_limits; /* of semaphores, that are changed */
    struct latency latency;
    struct latency link_latency;
    struct latency commit_latency;
};

struct plan {
    struct scenario scenario;
    struct item *items; /* by time */
    size_t count;
};

enum world_kind world_kind_of(uint64_t seed);
const char *world_kind_name(enum world_kind kind);
void plan_draw(struct plan *plan, uint64_t seed);
void plan_clear(struct plan *plan);
void plan_print(const struct plan *plan);
const char *item_name(enum item_kind kind);

#endif
