#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "steps.h"

#define KIND(name) (UINT64_C(1) << STEP_##name)
#define NETWORK (KIND(CUT) | KIND(FREEZE) | KIND(TIME_OUT))
#define OPERATOR (KIND(KILL) | KIND(CHANGE) | KIND(REMOVE_PARENT))

/* The small ones take some seconds each, the large ones minutes; both in the order of the suite. */
static const struct setting small[] = {
    {.name = "quiet", .clients = 3, .faults = 0, .give_ups = 2},
    {.name = "tries", .clients = 3, .faults = 0, .give_ups = 1, .tries = 1},
    {.name = "cuts", .clients = 3, .faults = 1, .give_ups = 0, .kinds = NETWORK},
    {.name = "lapses", .clients = 3, .faults = 1, .give_ups = 0, .kinds = KIND(LAPSE)},
    {.name = "operator", .clients = 3, .faults = 1, .give_ups = 0, .kinds = OPERATOR},
    {.name = "any-fault", .clients = 2, .faults = 1, .give_ups = 1, .kinds = ALL_FAULTS},
    {.name = "any-two-faults", .clients = 2, .faults = 2, .give_ups = 0, .kinds = ALL_FAULTS},
    {.name = "no-parent", .clients = 2, .faults = 1, .give_ups = 1, .kinds = ALL_FAULTS,
     .has_no_parent = true},
    {.name = "limit", .clients = 2, .faults = 1, .give_ups = 1, .kinds = ALL_FAULTS, .is_at_limit = true},
    {.name = "limit-kill", .clients = 2, .faults = 2, .kinds = KIND(LAPSE) | KIND(KILL), .is_at_limit = true},
    {.name = "limit-unsent", .clients = 2, .faults = 2, .kinds = KIND(LAPSE) | KIND(FAIL_TO_SEND),
     .is_at_limit = true},
    {.name = "unreadable", .clients = 2, .faults = 1, .give_ups = 1, .kinds = ALL_FAULTS,
     .is_unreadable = true},
    {.name = "blind", .clients = 2, .faults = 1, .give_ups = 1, .kinds = ALL_FAULTS,
     .is_unreadable = true, .is_blind = true},
    {.name = "readers", .clients = 3, .faults = 0, .give_ups = 1, .readers = 2},
    {.name = "writers", .clients = 3, .faults = 0, .give_ups = 1, .readers = 1, .downgrades = 1, .has_writers = true},
    {.name = "reader-cuts", .clients = 3, .faults = 1, .kinds = NETWORK, .readers = 2},
    {.name = "readers-limit", .clients = 2, .faults = 1, .give_ups = 1, .kinds = ALL_FAULTS, .readers = 1,
     .is_at_limit = true, .numbers_left = 1},
    {.name = "downgrade", .clients = 2, .faults = 1, .give_ups = 1, .kinds = ALL_FAULTS, .downgrades = 1,
     .has_writers = true},
    {.name = "downgrade-two-faults", .clients = 2, .faults = 2,
     .kinds = KIND(CUT) | KIND(KILL) | KIND(FAIL_TO_SEND) | KIND(TIME_OUT), .downgrades = 1, .has_writers = true},
    {.name = "hold-limit", .clients = 3, .give_ups = 1, .hold_limits = 1},
    {.name = "hold-limit-any-fault", .clients = 2, .faults = 1, .kinds = ALL_FAULTS, .hold_limits = 2},
    {.name = "hold-limit-downgrade", .clients = 2, .faults = 1, .kinds = ALL_FAULTS, .downgrades = 1, .has_writers = true,
     .hold_limits = 1},
    {.name = "permits", .clients = 3, .give_ups = 1, .permits = 2, .is_guarded = true},
    {.name = "permits-raised", .clients = 3, .permits = 1, .raises = 1, .is_guarded = true},
    {.name = "permits-unguarded", .clients = 3, .permits = 1, .tries = 1},
    {.name = "permits-cuts", .clients = 3, .faults = 1, .kinds = NETWORK, .permits = 2, .is_guarded = true},
    {.name = "permits-any-fault", .clients = 2, .faults = 1, .give_ups = 1, .kinds = ALL_FAULTS, .permits = 1,
     .raises = 1, .is_guarded = true},
    {.name = "permits-limit", .clients = 2, .faults = 1, .kinds = ALL_FAULTS, .permits = 1, .is_at_limit = true},
};

static const struct setting large[] = {
    {.name = "four", .clients = 4, .faults = 0, .give_ups = 2, .tries = 1},
    {.name = "three-any-fault", .clients = 3, .faults = 1, .give_ups = 1, .kinds = ALL_FAULTS},
    {.name = "three-limit", .clients = 3, .faults = 1, .give_ups = 0, .kinds = ALL_FAULTS,
     .is_at_limit = true, .numbers_left = 1},
    {.name = "three-two-cuts", .clients = 3, .faults = 2, .give_ups = 0, .kinds = KIND(CUT)},
    {.name = "two-two-faults", .clients = 2, .faults = 2, .give_ups = 2, .kinds = ALL_FAULTS},
    {.name = "three-two-faults", .clients = 3, .faults = 2, .give_ups = 0, .kinds = ALL_FAULTS},
    {.name = "four-readers", .clients = 4, .faults = 0, .give_ups = 1, .readers = 2, .downgrades = 1,
     .has_writers = true},
    {.name = "downgrade-any-two-faults", .clients = 2, .faults = 2, .kinds = ALL_FAULTS, .readers = 1,
     .downgrades = 1, .has_writers = true},
    {.name = "three-readers-any-fault", .clients = 3, .faults = 1, .kinds = ALL_FAULTS, .readers = 1,
     .downgrades = 1, .has_writers = true},
    {.name = "three-permits-any-fault", .clients = 3, .faults = 1, .kinds = ALL_FAULTS, .permits = 2,
     .is_guarded = true},
    {.name = "four-permits", .clients = 4, .give_ups = 1, .permits = 2, .raises = 1, .is_guarded = true},
    {.name = "permits-two-faults", .clients = 2, .faults = 2, .kinds = ALL_FAULTS, .permits = 1},
    {.name = "two-three-faults", .clients = 2, .faults = 3, .give_ups = 0, .kinds = ALL_FAULTS},
};

static const struct {
    const char *name;
    const struct setting *settings;
    int count;
} suites[] = {
    {"small", small, sizeof small / sizeof small[0]},
    {"large", large, sizeof large / sizeof large[0]},
};

#define SUITE_COUNT (sizeof suites / sizeof suites[0])

const struct setting *settings_find(const char *name)
{
    for (size_t i = 0; i < SUITE_COUNT; i++)
        for (int place = 0; place < suites[i].count; place++)
            if (strcmp(suites[i].settings[place].name, name) == 0)
                return &suites[i].settings[place];
    return NULL;
}

const struct setting *settings_suite(const char *suite, int place)
{
    for (size_t i = 0; i < SUITE_COUNT; i++)
        if (strcmp(suites[i].name, suite) == 0)
            return place < suites[i].count ? &suites[i].settings[place] : NULL;
    return NULL;
}

void settings_print(void)
{
    for (size_t i = 0; i < SUITE_COUNT; i++)
        for (int place = 0; place < suites[i].count; place++)
            printf("%s: %s\n", suites[i].name, suites[i].settings[place].name);
}
