#include "recipe/lease.h"

#include <string.h>

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
/* Clock rates of client and leader differ by at most one in this: our clock shows at least T less a hundredth when T
 * has passed at the leader, and at most a ninety-ninth more than a time that the leader takes for something. */
#define RATE_ERROR 100
/* How late the leader's ping loop may be. */
#define LEADER_SLACK (100 * MS)
/* With an unknown tick, half of T may be one: the server grants no less than two. */
#define UNKNOWN_TICK_SLACK (250 * MS)
#define SHORTEST_INTERVAL (20 * MS)
#define BACK_TO_BACK (50 * MS)

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t safe_timeout(const struct zkl_lease *lease)
{
    return lease->timeout_ns - lease->timeout_ns / RATE_ERROR;
}

static int64_t relay_lag(const struct zkl_lease *lease)
{
    int64_t by_leader_ns =
        lease->tick_ns > 0 ? lease->tick_ns / 2 + LEADER_SLACK : lease->timeout_ns / 4 + UNKNOWN_TICK_SLACK;
    return by_leader_ns + by_leader_ns / (RATE_ERROR - 1) + 1;
}

/* How long a condemned session may go on answering: the leader ends a bucket of sessions one by one. */
static int64_t condemned_time(const struct zkl_lease *lease)
{
    int64_t tick_ns = lease->tick_ns > 0 ? lease->tick_ns : lease->timeout_ns / 2;
    return larger(SECOND, 2 * tick_ns);
}

void zkl_lease_open(struct zkl_lease *lease, enum zkl_lease_rule rule, int64_t tick_ns, int64_t now_ns)
{
    memset(lease, 0, sizeof *lease);
    lease->rule = rule;
    lease->tick_ns = tick_ns;
    lease->opened_ns = now_ns;
}

static void lapse(struct zkl_lease *lease, int64_t now_ns)
{
    lease->until_ns = 0;
    lease->anchor_ns = 0;
    lease->lapsed_ns = now_ns;
    lease->promised_ns = 0;
    lease->beat_count = 0;
}

bool zkl_lease_check(struct zkl_lease *lease, int64_t now_ns)
{
    if (lease->until_ns > now_ns)
        return true;
    if (lease->until_ns > 0)
        lapse(lease, now_ns);
    return false;
}

int64_t zkl_lease_remaining(const struct zkl_lease *lease, int64_t now_ns)
{
    return lease->until_ns > now_ns ? lease->until_ns - now_ns : 0;
}

/* The session surely lives until then, or will have when the promise is proved. The clock was compared first: a lease
 * that has lapsed is not prolonged. */
static void prolong(struct zkl_lease *lease, int64_t until_ns, int64_t now_ns)
{
    if (lease->lapsed_ns == 0) {
        lease->until_ns = larger(lease->until_ns, until_ns);
    } else if (until_ns > now_ns) {
        if (lease->promised_ns == 0)
            lease->proof_from_ns = now_ns + condemned_time(lease);
        lease->promised_ns = larger(lease->promised_ns, until_ns);
    }
}

/* The server did what was sent then for a session that it was not about to end: a promise comes true. One that has
 * run out meanwhile is none. */
static void prove(struct zkl_lease *lease, int64_t sent_ns, int64_t now_ns)
{
    if (lease->promised_ns == 0)
        return;
    if (lease->promised_ns > now_ns && sent_ns >= lease->proof_from_ns) {
        lease->until_ns = lease->promised_ns;
        lease->lapsed_ns = 0;
    }
    if (lease->lapsed_ns == 0 || lease->promised_ns <= now_ns)
        lease->promised_ns = 0;
}

static void connected_first(struct zkl_lease *lease, int64_t now_ns, int64_t timeout_ns)
{
    lease->timeout_ns = timeout_ns;
    lease->until_ns = lease->opened_ns + safe_timeout(lease);
    zkl_lease_check(lease, now_ns);
}

void zkl_lease_connected(struct zkl_lease *lease, int64_t now_ns, int64_t timeout_ns)
{
    lease->connected_ns = now_ns;
    lease->beat_count = 0;
    lease->anchor_ns = 0;
    if (lease->timeout_ns == 0) {
        connected_first(lease, now_ns, timeout_ns);
    } else if (lease->timeout_ns != timeout_ns) {
        /* A server with other limits may have moved the expiry back, unseen. */
        lapse(lease, now_ns);
        lease->timeout_ns = smaller(lease->timeout_ns, timeout_ns);
    } else if (zkl_lease_check(lease, now_ns) && lease->lapsed_ns == 0) {
        lease->anchor_ns = lease->newest_sent_ns;
    }
    if (lease->rule == ZKL_RULE_CHEAP)
        lease->until_ns = INT64_MAX;
}

void zkl_lease_disconnected(struct zkl_lease *lease, int64_t now_ns)
{
    if (lease->rule == ZKL_RULE_CHEAP && lease->connected_ns > 0) {
        /* The client library notices silence after two thirds of T. */
        lease->until_ns = now_ns + safe_timeout(lease) / 3;
    }
    lease->connected_ns = 0;
    lease->anchor_ns = 0;
    lease->beat_count = 0;
}

void zkl_lease_answered(struct zkl_lease *lease, int64_t sent_ns, int64_t now_ns, bool was_answered)
{
    zkl_lease_check(lease, now_ns);
    lease->newest_sent_ns = larger(lease->newest_sent_ns, sent_ns);
    if (!was_answered || lease->rule != ZKL_RULE_STANDALONE || lease->connected_ns == 0 || sent_ns < lease->lapsed_ns)
        return;
    prove(lease, sent_ns, now_ns);
    prolong(lease, sent_ns + safe_timeout(lease), now_ns);
}

/* The newest beat that was answered by `before_ns`, or NULL. */
static const struct zkl_beat *beat_answered_by(const struct zkl_lease *lease, int64_t before_ns)
{
    for (int i = lease->beat_count - 1; i >= 0; i--)
        if (lease->beats[i].answered_ns <= before_ns)
            return &lease->beats[i];
    return NULL;
}

/* An answer of the connection that we know to be up, to what was sent since the last lapse. */
static bool is_evidence(const struct zkl_lease *lease, int64_t sent_ns)
{
    return lease->connected_ns > 0 && sent_ns >= lease->connected_ns && sent_ns >= lease->lapsed_ns;
}

void zkl_lease_wrote(struct zkl_lease *lease, int64_t sent_ns, int64_t now_ns)
{
    bool has_lease = zkl_lease_check(lease, now_ns);

    if (!is_evidence(lease, sent_ns))
        return;
    prove(lease, sent_ns, now_ns);
    if (has_lease && lease->anchor_ns > 0)
        prolong(lease, lease->anchor_ns + safe_timeout(lease), now_ns);
    lease->anchor_ns = 0;
    if (lease->rule != ZKL_RULE_STRICT)
        return;
    const struct zkl_beat *previous = beat_answered_by(lease, sent_ns);
    const struct zkl_beat *relayed =
        previous ? beat_answered_by(lease, previous->sent_ns - relay_lag(lease)) : NULL;
    if (relayed && relayed->sent_ns + safe_timeout(lease) > now_ns)
        prolong(lease, relayed->sent_ns + safe_timeout(lease), now_ns);
}

void zkl_lease_beat(struct zkl_lease *lease, int64_t sent_ns, int64_t now_ns)
{
    zkl_lease_wrote(lease, sent_ns, now_ns);
    if (!is_evidence(lease, sent_ns))
        return;
    if (lease->beat_count == ZKL_LEASE_BEATS) {
        memmove(lease->beats, lease->beats + 1, sizeof lease->beats - sizeof lease->beats[0]);
        lease->beat_count--;
    }
    lease->beats[lease->beat_count++] = (struct zkl_beat){sent_ns, now_ns};
}

int64_t zkl_lease_interval(const struct zkl_lease *lease, bool is_wanted, bool has_lease)
{
    int64_t timeout_ns = lease->timeout_ns;
    if (!is_wanted)
        return timeout_ns / 6;
    /* Back to back, but not so close that the beats of the last R outgrow their array. */
    if (!has_lease)
        return larger(BACK_TO_BACK, relay_lag(lease) / 16);
    /* Three intervals, R and two round trips of T/100 after A was sent, the lease shall still have 0.4 T. */
    int64_t spare_ns = (timeout_ns / 100 * 57 - relay_lag(lease)) / 3;
    return larger(SHORTEST_INTERVAL, smaller(timeout_ns / 12, spare_ns));
}
