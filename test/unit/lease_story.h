/* The words in which the tests of the lease tell their stories; their session timeout is ten seconds. */
#ifndef TEST_LEASE_STORY_H
#define TEST_LEASE_STORY_H

#include "recipe/lease.h"

#include "support/suite.h"

#define MS INT64_C(1000000)
#define T_MS 10000
#define SAFE_MS 9900  /* T less one percent */
#define TICK_MS 2000
#define LAG_MS 1112   /* half a tick and 100 ms, by a clock that is 1 % fast */
#define ROUND_TRIP_MS 4

static struct zkl_lease lease;

static inline void open_at(int64_t at_ms, enum zkl_lease_rule rule)
{
    zkl_lease_open(&lease, rule, TICK_MS * MS, at_ms * MS);
}

static inline void connect_at(int64_t at_ms)
{
    zkl_lease_connected(&lease, at_ms * MS, T_MS * MS);
}

/* A strict lease of a session whose handle was opened at 1 s and connected 20 ms later. */
static inline void begin(void)
{
    open_at(1000, ZKL_RULE_STRICT);
    connect_at(1020);
}

static inline void answer(int64_t sent_ms, int64_t at_ms, bool was_answered)
{
    zkl_lease_answered(&lease, sent_ms * MS, at_ms * MS, was_answered);
}

static inline void write_at(int64_t sent_ms)
{
    answer(sent_ms, sent_ms + ROUND_TRIP_MS, true);
    zkl_lease_wrote(&lease, sent_ms * MS, (sent_ms + ROUND_TRIP_MS) * MS);
}

static inline void beat_of(enum zkl_beat_kind kind, int64_t sent_ms)
{
    answer(sent_ms, sent_ms + ROUND_TRIP_MS, true);
    zkl_lease_beat(&lease, kind, sent_ms * MS, (sent_ms + ROUND_TRIP_MS) * MS);
}

static inline void beat_at(int64_t sent_ms)
{
    beat_of(ZKL_BEAT_WRITE, sent_ms);
}

static inline int64_t until_ms(void)
{
    return lease.until_ns / MS;
}

#endif
