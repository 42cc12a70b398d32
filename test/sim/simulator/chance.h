/* Randomness from a seed: one stream for each client and for each part of the ensemble, so that leaving something out
 * of a run changes the rest of it as little as possible. */
#ifndef SIMULATOR_CHANCE_H
#define SIMULATOR_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

struct chance {
    uint64_t state;
};

/* The next 64 bits (splitmix64). */
static inline uint64_t chance_bits(struct chance *chance)
{
    uint64_t bits = chance->state += UINT64_C(0x9e3779b97f4a7c15);

    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return bits ^ bits >> 31;
}

/* A stream of its own for part `which` of what `seed` stands for. */
static inline struct chance chance_stream(uint64_t seed, uint64_t which)
{
    struct chance chance = {seed ^ which * UINT64_C(0xd1342543de82ef95)};

    chance.state = chance_bits(&chance);
    return chance;
}

/* From 0 to bound - 1. */
static inline int64_t chance_below(struct chance *chance, int64_t bound)
{
    return (int64_t)(((unsigned __int128)chance_bits(chance) * (unsigned __int128)bound) >> 64);
}

static inline int64_t chance_between(struct chance *chance, int64_t least, int64_t most)
{
    return least + chance_below(chance, most - least + 1);
}

/* As chance_between(), and most often near `least`. */
static inline int64_t chance_near(struct chance *chance, int64_t least, int64_t most)
{
    return least + chance_below(chance, chance_below(chance, chance_below(chance, most - least + 1) + 1) + 1);
}

static inline bool chance_one_in(struct chance *chance, int64_t count)
{
    return chance_below(chance, count) == 0;
}

#endif
