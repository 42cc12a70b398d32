/*
 * Ways to conclude from answers how long a session surely lives: the shipped ones, and those that come to mind first.
 * All keep what they know in a struct zkl_lease; what is not shipped uses its fields as it likes.
 */
#ifndef TEST_LEASE_RULE_H
#define TEST_LEASE_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "recipe/lease.h"

#define MS INT64_C(1000000)

enum kind {
    KIND_BEAT,  /* the session's heartbeat: a quorum write */
    KIND_WRITE, /* another quorum write */
    KIND_READ,
    KIND_SYNC,
    KIND_COUNT
};

struct rule {
    const char *name;
    enum zkl_lease_rule shipped;
    bool tick_is_known;
    void (*connected)(struct zkl_lease *lease, int64_t now_ns, int64_t timeout_ns);
    void (*disconnected)(struct zkl_lease *lease, int64_t now_ns);
    /* A completion ran: OK, or failed with an unknown outcome. */
    void (*completed)(struct zkl_lease *lease, enum kind kind, bool is_ok, const struct zkl_beat *times);
};

extern const struct rule rule_strict;
extern const struct rule rule_strict_unknown_tick;
extern const struct rule rule_standalone;

extern const struct rule rule_last_answer;      /* last answered request + T */
extern const struct rule rule_last_write;       /* last quorum write + T */
extern const struct rule rule_last_sync;        /* last sync + T */
extern const struct rule rule_without_lag;      /* three heartbeats, A not R older than W1 */
extern const struct rule rule_callback_time;    /* at CONNECTED: the time of the callback + T */
extern const struct rule rule_without_proof;    /* at CONNECTED: u + T, without a write behind it */
extern const struct rule rule_without_wait;     /* after a lapse: the three heartbeats at once */
extern const struct rule rule_wait_first;       /* after a lapse: a wait, then the three heartbeats */
extern const struct rule rule_read_cycle;       /* W1 a read */
extern const struct rule rule_sync_cycle;       /* W2 a sync */
extern const struct rule rule_latest_timeout;   /* T is what the latest connection was granted */

#endif
