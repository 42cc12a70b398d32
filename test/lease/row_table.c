/* Every row. The grids are such that a late ping, half a tick and 100 ms after the one before, falls on them. */
#include "row.h"

#define BIT(kind) (1u << (kind))
#define BEATS BIT(KIND_BEAT)
#define CYCLE (BEATS | BIT(KIND_READ) | BIT(KIND_SYNC))
#define ALL_KINDS (BEATS | BIT(KIND_WRITE) | BIT(KIND_READ) | BIT(KIND_SYNC))

/* Sessions end a millisecond after T at the earliest: with this phase, and a touch on the grid, they do. */
#define EARLIEST(tick) {(tick) - 1, (tick) - 1, (tick) - 1}
#define ENSEMBLE(tick, timeout) \
    .tick_ms = (tick), .timeout_ms = (timeout), .other_timeout_ms = (timeout), .phase_ms = EARLIEST(tick), \
    .ping_late_ms = 100, .condemned_ms = 600, .server_count = 2, .home = 1
/* Four ticks of a second. */
#define FOLLOWER ENSEMBLE(1000, 4000), .kinds = BEATS
#define STANDALONE ENSEMBLE(1000, 4000), .kinds = BEATS, .server_count = 1, .home = 0
/* Four ticks of half a second, so that R is shorter than condemned sessions last. */
#define SHORT_TICKS ENSEMBLE(500, 2000), .kinds = BEATS, .server_count = 1, .home = 0
#define QUARTERS(horizon) {.grid_ms = 250, .horizon_ms = (horizon), .most_states = ENOUGH_STATES}
#define ENOUGH_STATES 20000000
#define GRID(horizon) {.grid_ms = 600, .horizon_ms = (horizon), .most_states = ENOUGH_STATES}
#define INSTANTS(grid, horizon) \
    {.grid_ms = (grid), .at_instants = true, .horizon_ms = (horizon), .most_states = ENOUGH_STATES}
/* Of a random row: everything is drawn. */
#define ANYWHERE \
    .rate_ppm = 10000, .ping_late_ms = 100, .condemned_ms = 600, .server_count = 3, .begins_lapsed = true, \
    .callbacks_are_late = true, .stalls = true, .kinds = ALL_KINDS, .most_sends = 100, .most_losses = 3, .most_elections = 1
#define RUNS(count) {.most_states = (count)}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"

const struct row rows[] = {
    /* ---- the shipped rules */
    {SECTION_SHIPPED, "a follower, every ping", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .most_sends = 4}, GRID(7200), WITH_RATES, false},
    {SECTION_SHIPPED, "a follower, fine grid", METHOD_EXPLORE,
     {.rule = &rule_strict, ENSEMBLE(200, 800), .kinds = BEATS, .most_sends = 3},
     {.grid_ms = 100, .horizon_ms = 1200, .most_states = ENOUGH_STATES}, 0, false},
    {SECTION_SHIPPED, "a follower, each moment that matters", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .pings_late = true, .answers_are_prompt = true, .most_sends = 3},
     INSTANTS(1000, 2400), WITH_RATES, false},
    {SECTION_SHIPPED, "a follower, T of two ticks", METHOD_EXPLORE,
     {.rule = &rule_strict_unknown_tick, ENSEMBLE(1000, 2000), .kinds = BEATS, .pings_late = true, .most_sends = 3},
     INSTANTS(500, 2000), WITH_RATES, false},
    {SECTION_SHIPPED, "a follower, and other writes", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .kinds = BEATS | BIT(KIND_WRITE), .pings_late = true, .answers_are_prompt = true,
      .most_sends = 3}, GRID(4200), 0, false},
    {SECTION_SHIPPED, "a reconnect", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .pings_late = true, .most_losses = 1, .most_sends = 3}, GRID(4200), WITH_RATES,
     false},
    {SECTION_SHIPPED, "a reconnect, late callbacks", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .pings_late = true, .most_losses = 1, .callbacks_are_late = true,
      .most_sends = 2}, GRID(4200), 0, false},
    {SECTION_SHIPPED, "a new leader", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .server_count = 3, .pings_late = true, .most_elections = 1, .most_sends = 3},
     GRID(4200), 0, false},
    {SECTION_SHIPPED, "a new leader and a reconnect", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .server_count = 3, .pings_late = true, .most_elections = 1, .most_losses = 1,
      .answers_are_prompt = true, .most_sends = 2}, GRID(3000), 0, false},

    /* ---- after a lapse */
    {SECTION_LAPSE, "a follower, after a lapse", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .begins_lapsed = true, .pings_late = true, .answers_are_prompt = true,
      .most_sends = 4}, GRID(4200), WITH_SILENCES, false},
    {SECTION_LAPSE, "the leader, after a lapse", METHOD_EXPLORE,
     {.rule = &rule_strict, SHORT_TICKS, .begins_lapsed = true, .answers_are_prompt = true, .most_sends = 4},
     QUARTERS(3500), WITH_SILENCES, false},
    {SECTION_LAPSE, "the leader, after a lapse", METHOD_EXAMPLE,
     {.rule = &rule_wait_first, SHORT_TICKS, .begins_lapsed = true, .answers_are_prompt = true, .most_sends = 4},
     QUARTERS(3000), 0, true},
    {SECTION_LAPSE, "a follower, after a lapse", METHOD_EXAMPLE,
     {.rule = &rule_wait_first, FOLLOWER, .begins_lapsed = true, .pings_late = true, .answers_are_prompt = true,
      .most_sends = 4}, GRID(4200), 0, true},
    {SECTION_LAPSE, "the leader, after a lapse", METHOD_EXAMPLE,
     {.rule = &rule_without_wait, SHORT_TICKS, .begins_lapsed = true, .answers_are_prompt = true,
      .untouched_ms = 1500, .most_sends = 3}, QUARTERS(3000), 0, true},

    /* ---- one server alone */
    {SECTION_STANDALONE, "a reconnect, late callbacks", METHOD_EXPLORE,
     {.rule = &rule_standalone, STANDALONE, .most_losses = 1, .callbacks_are_late = true, .most_sends = 3},
     GRID(3600), WITH_RATES, false},
    {SECTION_STANDALONE, "after a lapse", METHOD_EXPLORE,
     {.rule = &rule_standalone, STANDALONE, .kinds = BEATS | BIT(KIND_READ), .begins_lapsed = true,
      .answers_are_prompt = true, .most_sends = 3}, GRID(7200), WITH_SILENCES, false},

    /* ---- a read, a sync and a write */
    {SECTION_CYCLE, "a follower", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .kinds = CYCLE, .pings_late = true, .answers_are_prompt = true,
      .most_sends = 3}, GRID(3000), WITH_RATES, false},
    {SECTION_CYCLE, "a follower, each moment that matters", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .kinds = CYCLE, .pings_late = true, .answers_are_prompt = true,
      .most_sends = 3, .rate_ppm = 10101}, INSTANTS(1200, 1800), 0, false},
    {SECTION_CYCLE, "a follower, T of two ticks", METHOD_EXPLORE,
     {.rule = &rule_strict_unknown_tick, ENSEMBLE(1000, 2000), .kinds = CYCLE, .pings_late = true,
      .answers_are_prompt = true, .most_sends = 3}, INSTANTS(500, 1500), WITH_RATES | AT_NIGHT, false},
    {SECTION_CYCLE, "a follower, threads that stall", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .kinds = CYCLE, .pings_late = true, .answers_are_prompt = true, .stalls = true,
      .most_sends = 3}, GRID(1800), 0, false},
    {SECTION_CYCLE, "a new leader", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .kinds = BEATS | BIT(KIND_SYNC), .server_count = 3, .pings_late = true,
      .answers_are_prompt = true, .most_elections = 1, .most_sends = 3}, GRID(1800), 0, false},
    {SECTION_CYCLE, "a new leader, longer", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .kinds = CYCLE, .server_count = 3, .pings_late = true,
      .answers_are_prompt = true, .most_elections = 1, .most_sends = 3}, GRID(3000), AT_NIGHT, false},
    {SECTION_CYCLE, "a leader that is deposed", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .home = 0, .kinds = CYCLE, .server_count = 3, .pings_late = true,
      .answers_are_prompt = true, .most_elections = 1, .most_losses = 1, .most_sends = 3}, GRID(1800), 0, false},
    {SECTION_CYCLE, "a reconnect", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .kinds = CYCLE, .pings_late = true, .answers_are_prompt = true,
      .most_losses = 1, .most_sends = 3}, GRID(1800), 0, false},
    {SECTION_CYCLE, "a reconnect, late answers", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .kinds = CYCLE, .pings_late = true, .most_losses = 1, .most_sends = 3},
     GRID(3000), AT_NIGHT, false},
    {SECTION_CYCLE, "late callbacks", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .kinds = CYCLE, .pings_late = true, .answers_are_prompt = true,
      .callbacks_are_late = true, .most_sends = 3}, GRID(1800), AT_NIGHT, false},
    {SECTION_CYCLE, "the leader, after a lapse", METHOD_EXPLORE,
     {.rule = &rule_strict, SHORT_TICKS, .kinds = CYCLE, .begins_lapsed = true, .answers_are_prompt = true,
      .most_sends = 4}, QUARTERS(3500), WITH_SILENCES, false},
    {SECTION_CYCLE, "a follower, after a lapse", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .kinds = CYCLE, .begins_lapsed = true, .pings_late = true,
      .answers_are_prompt = true, .most_sends = 4}, GRID(3600), WITH_SILENCES | AT_NIGHT, false},
    {SECTION_CYCLE, "a follower", METHOD_SHORTEST,
     {.rule = &rule_read_cycle, FOLLOWER, .kinds = BEATS | BIT(KIND_READ), .pings_late = true,
      .answers_are_prompt = true, .most_sends = 3}, GRID(4200), 0, true},
    {SECTION_CYCLE, "a leader that is deposed", METHOD_SHORTEST,
     {.rule = &rule_sync_cycle, FOLLOWER, .home = 0, .server_count = 3, .kinds = BIT(KIND_SYNC), .pings_late = true,
      .answers_are_prompt = true, .most_elections = 1, .most_sends = 3}, GRID(4200), 0, true},

    /* ---- servers that grant different timeouts */
    {SECTION_TIMEOUT, "a server that grants more", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .server_count = 3, .other_timeout_ms = 8000, .pings_late = true,
      .answers_are_prompt = true, .most_losses = 2, .most_sends = 2}, GRID(2400), 0, false},
    {SECTION_TIMEOUT, "a server that grants more, later", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .server_count = 3, .other_timeout_ms = 8000, .begins_lapsed = true,
      .pings_late = true, .answers_are_prompt = true, .most_losses = 2, .most_sends = 4}, GRID(4200), AT_NIGHT, false},
    {SECTION_TIMEOUT, "one that grants half, once told", METHOD_EXPLORE,
     {.rule = &rule_strict, FOLLOWER, .server_count = 3, .timeout_ms = 8000, .begins_lapsed = true,
      .is_judged_once_told = true, .pings_late = true, .answers_are_prompt = true, .most_losses = 1,
      .most_sends = 4}, GRID(3600), 0, false},
    {SECTION_TIMEOUT, "a server that grants more", METHOD_SHORTEST,
     {.rule = &rule_latest_timeout, FOLLOWER, .server_count = 3, .other_timeout_ms = 8000, .pings_late = true,
      .answers_are_prompt = true, .most_losses = 2, .most_sends = 3}, GRID(2400), 0, true},

    /* ---- at random */
    {SECTION_ROAMED, "anything", METHOD_ROAM, {.rule = &rule_strict, ANYWHERE}, RUNS(60000), 0, false},
    {SECTION_ROAMED, "anything", METHOD_ROAM, {.rule = &rule_strict_unknown_tick, ANYWHERE}, RUNS(40000), 0, false},
    {SECTION_ROAMED, "anything", METHOD_ROAM,
     {.rule = &rule_standalone, ANYWHERE, .server_count = 1, .most_elections = 0}, RUNS(40000), 0, false},
    {SECTION_ROAMED, "anything, a server that grants more", METHOD_ROAM,
     {.rule = &rule_strict, ANYWHERE, .other_timeout_ms = 1}, RUNS(20000), 0, false},

    /* ---- what comes to mind first */
    {SECTION_NAIVE, "a follower", METHOD_SHORTEST,
     {.rule = &rule_last_answer, FOLLOWER, .kinds = BIT(KIND_READ), .most_sends = 1}, GRID(4200), 0, true},
    {SECTION_NAIVE, "a follower", METHOD_SHORTEST, {.rule = &rule_last_write, FOLLOWER, .most_sends = 1}, GRID(4200),
     0, true},
    {SECTION_NAIVE, "a follower", METHOD_SHORTEST,
     {.rule = &rule_last_sync, FOLLOWER, .kinds = BIT(KIND_SYNC), .most_sends = 1}, GRID(4200), 0, true},
    {SECTION_NAIVE, "a leader that is deposed", METHOD_SHORTEST,
     {.rule = &rule_last_sync, FOLLOWER, .home = 0, .server_count = 3, .kinds = BIT(KIND_SYNC), .most_elections = 1,
      .most_sends = 1}, GRID(4200), 0, true},
    {SECTION_NAIVE, "a follower", METHOD_SHORTEST, {.rule = &rule_without_lag, FOLLOWER, .most_sends = 3}, GRID(4200),
     0, true},
    {SECTION_NAIVE, "a reconnect", METHOD_SHORTEST,
     {.rule = &rule_callback_time, FOLLOWER, .most_losses = 1, .callbacks_are_late = true}, GRID(4200), 0, true},
    {SECTION_NAIVE, "a reconnect to a deposed leader", METHOD_SHORTEST,
     {.rule = &rule_without_proof, FOLLOWER, .server_count = 3, .home = 0, .most_losses = 1, .most_elections = 1,
      .most_sends = 1}, GRID(4200), 0, true},
    {SECTION_NAIVE, "anything", METHOD_ROAM, {.rule = &rule_last_answer, ANYWHERE}, RUNS(2000), 0, true},
    {SECTION_NAIVE, "anything", METHOD_ROAM, {.rule = &rule_last_write, ANYWHERE}, RUNS(2000), 0, true},
    {SECTION_NAIVE, "anything", METHOD_ROAM, {.rule = &rule_last_sync, ANYWHERE}, RUNS(2000), 0, true},
    {SECTION_NAIVE, "anything", METHOD_ROAM, {.rule = &rule_without_lag, ANYWHERE}, RUNS(10000), 0, true},
    {SECTION_NAIVE, "anything", METHOD_ROAM, {.rule = &rule_callback_time, ANYWHERE}, RUNS(2000), 0, true},
    {SECTION_NAIVE, "anything", METHOD_ROAM, {.rule = &rule_without_proof, ANYWHERE}, RUNS(2000), 0, true},

    /* ---- what the shipped rules rest on */
    {SECTION_ASSUMPTION, "rates 2 % apart", METHOD_SHORTEST,
     {.rule = &rule_strict, FOLLOWER, .rate_ppm = -20000, .most_sends = 3}, GRID(4200), 0, true},
    {SECTION_ASSUMPTION, "pings late by a second", METHOD_EXAMPLE,
     {.rule = &rule_strict, FOLLOWER, .ping_late_ms = 1000, .pings_late = true, .most_sends = 3}, GRID(4200), 0, true},
    {SECTION_ASSUMPTION, "T of one tick", METHOD_EXAMPLE,
     {.rule = &rule_strict_unknown_tick, ENSEMBLE(2000, 2000), .kinds = BEATS, .pings_late = true,
      .answers_are_prompt = true, .most_sends = 3}, INSTANTS(1000, 2000), 0, true},
    {SECTION_ASSUMPTION, "a server that grants half of T", METHOD_SHORTEST,
     {.rule = &rule_strict, FOLLOWER, .server_count = 3, .other_timeout_ms = 2000, .most_losses = 1}, GRID(4200), 0,
     true},
    {SECTION_ASSUMPTION, "touches that pass two relays", METHOD_EXAMPLE,
     {.rule = &rule_strict, FOLLOWER, .ping_late_ms = 700, .pings_late = true, .answers_are_prompt = true,
      .most_sends = 3}, INSTANTS(1200, 2400), 0, true},
    {SECTION_ASSUMPTION, "a touch that the follower loses", METHOD_EXAMPLE,
     {.rule = &rule_strict, FOLLOWER, .loses_touches = true, .pings_late = true, .answers_are_prompt = true,
      .most_sends = 3}, GRID(4200), 0, true},
    {SECTION_ASSUMPTION, "condemned sessions answer for 2 s", METHOD_EXAMPLE,
     {.rule = &rule_strict, SHORT_TICKS, .condemned_ms = 2000, .begins_lapsed = true, .untouched_ms = 1500,
      .answers_are_prompt = true, .most_sends = 4}, QUARTERS(3500), 0, true},
};

#pragma GCC diagnostic pop

const int row_count = sizeof rows / sizeof rows[0];
