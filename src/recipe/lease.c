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
/* Two of them, in hundredths of T, are allowed for. */
#define ROUND_TRIPS 2

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

void zkl_lease_resume(struct zkl_lease *lease, int64_t now_ns)
{
    lease->newest_sent_ns = larger(lease->newest_sent_ns, now_ns);
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

/* The newest beat, of that kind or a stronger one, that was answered by `before_ns`, or NULL. */
static const struct zkl_beat *beat_answered_by(const struct zkl_lease *lease, enum zkl_beat_kind least,
                                               int64_t before_ns)
{
    for (int i = lease->beat_count - 1; i >= 0; i--)
        if (lease->beats[i].answered_ns <= before_ns && lease->beats[i].kind >= least)
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
    const struct zkl_beat *previous = beat_answered_by(lease, ZKL_BEAT_SYNC, sent_ns);
    const struct zkl_beat *relayed =
        previous ? beat_answered_by(lease, ZKL_BEAT_READ, previous->sent_ns - relay_lag(lease)) : NULL;
    if (relayed && relayed->sent_ns + safe_timeout(lease) > now_ns)
        prolong(lease, relayed->sent_ns + safe_timeout(lease), now_ns);
}

void zkl_lease_beat(struct zkl_lease *lease, enum zkl_beat_kind kind, int64_t sent_ns, int64_t now_ns)
{
    if (kind == ZKL_BEAT_WRITE)
        zkl_lease_wrote(lease, sent_ns, now_ns);
    else
        zkl_lease_check(lease, now_ns);
    if (!is_evidence(lease, sent_ns))
        return;
    if (lease->beat_count == ZKL_LEASE_BEATS) {
        memmove(lease->beats, lease->beats + 1, sizeof lease->beats - sizeof lease->beats[0]);
        lease->beat_count--;
    }
    struct zkl_beat *newest = &lease->beats[lease->beat_count++];
    newest->sent_ns = sent_ns;
    newest->answered_ns = now_ns;
    newest->kind = kind;
}

/* What shall always be left of a lease, in hundredths of T: enough to notice and to act, or not to lapse. */
static int least_share(bool is_wanted)
{
    return is_wanted ? 40 : 15;
}

int64_t zkl_lease_interval(const struct zkl_lease *lease, bool is_wanted, bool has_lease)
{
    /* Back to back, but not so close that the beats of the last R outgrow their array. */
    if (is_wanted && !has_lease)
        return larger(BACK_TO_BACK, relay_lag(lease) / 16);
    /* When the lease is prolonged for the next time, five intervals, R and two round trips have passed since A was
     * sent: less than one before R, one from W1 to W2, three to the next W2. */
    int64_t hundredth_ns = lease->timeout_ns / 100;
    int64_t spare_ns = (hundredth_ns * (99 - ROUND_TRIPS - least_share(is_wanted)) - relay_lag(lease)) / 5;
    return larger(SHORTEST_INTERVAL, smaller(lease->timeout_ns / (is_wanted ? 12 : 6), spare_ns));
}

enum zkl_beat_kind zkl_lease_next_beat(const struct zkl_lease *lease, bool is_wanted, int64_t now_ns)
{
    int64_t interval_ns = zkl_lease_interval(lease, is_wanted, true);
    int64_t least_ns = lease->timeout_ns / 100 * (least_share(is_wanted) + 1);
    int64_t left_ns = zkl_lease_remaining(lease, now_ns);

    if (lease->rule != ZKL_RULE_STRICT || lease->beat_count == 0)
        return ZKL_BEAT_WRITE;
    switch (lease->beats[lease->beat_count - 1].kind) {
    case ZKL_BEAT_WRITE: return left_ns - 2 * interval_ns >= least_ns ? ZKL_BEAT_READ : ZKL_BEAT_WRITE;
    case ZKL_BEAT_READ: return left_ns - interval_ns >= least_ns ? ZKL_BEAT_SYNC : ZKL_BEAT_WRITE;
    case ZKL_BEAT_SYNC: break;
    }
    return ZKL_BEAT_WRITE;
}
