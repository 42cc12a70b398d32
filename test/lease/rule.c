#include "rule.h"

#include <stddef.h>
#include <string.h>

static int64_t safe(const struct zkl_lease *lease)
{
    return lease->timeout_ns - lease->timeout_ns / 100;
}

static bool is_write(enum kind kind)
{
    return kind == KIND_BEAT || kind == KIND_WRITE;
}

/* ---------------------------------------------------------------- the shipped rules, called as the session does */

static const enum zkl_beat_kind beat_kinds[] = {
    [KIND_BEAT] = ZKL_BEAT_WRITE, [KIND_READ] = ZKL_BEAT_READ, [KIND_SYNC] = ZKL_BEAT_SYNC};

static void tell_shipped(struct zkl_lease *lease, enum kind kind, bool is_ok, const struct zkl_beat *times)
{
    zkl_lease_answered(lease, times->sent_ns, times->answered_ns, is_ok);
    if (is_ok && is_write(kind))
        zkl_lease_wrote(lease, times->sent_ns, times->answered_ns);
    if (is_ok && kind != KIND_WRITE)
        zkl_lease_beat(lease, beat_kinds[kind], times->sent_ns, times->answered_ns);
}

const struct rule rule_strict = {"strict, tick known", ZKL_RULE_STRICT, true, zkl_lease_connected,
                                 zkl_lease_disconnected, tell_shipped};
const struct rule rule_strict_unknown_tick = {"strict, tick unknown", ZKL_RULE_STRICT, false, zkl_lease_connected,
                                              zkl_lease_disconnected, tell_shipped};
const struct rule rule_standalone = {"standalone", ZKL_RULE_STANDALONE, true, zkl_lease_connected,
                                     zkl_lease_disconnected, tell_shipped};

/* ---------------------------------------------------------------- "the last one + T" */

static void claim(struct zkl_lease *lease, int64_t from_ns, int64_t now_ns)
{
    if (zkl_lease_check(lease, now_ns) && from_ns + safe(lease) > lease->until_ns)
        lease->until_ns = from_ns + safe(lease);
}

static void ignore_loss(struct zkl_lease *lease, int64_t now_ns)
{
    zkl_lease_check(lease, now_ns);
}

static void first_connected(struct zkl_lease *lease, int64_t now_ns, int64_t timeout_ns)
{
    if (lease->timeout_ns == 0)
        zkl_lease_connected(lease, now_ns, timeout_ns);
    zkl_lease_check(lease, now_ns);
}

static void claim_any(struct zkl_lease *lease, enum kind kind, bool is_ok, const struct zkl_beat *times)
{
    (void)kind;
    if (is_ok)
        claim(lease, times->sent_ns, times->answered_ns);
}

static void claim_write(struct zkl_lease *lease, enum kind kind, bool is_ok, const struct zkl_beat *times)
{
    if (is_ok && is_write(kind))
        claim(lease, times->sent_ns, times->answered_ns);
}

static void claim_sync(struct zkl_lease *lease, enum kind kind, bool is_ok, const struct zkl_beat *times)
{
    if (is_ok && kind == KIND_SYNC)
        claim(lease, times->sent_ns, times->answered_ns);
}

const struct rule rule_last_answer = {"last answered request + T", ZKL_RULE_STRICT, true, first_connected,
                                      ignore_loss, claim_any};
const struct rule rule_last_write = {"last quorum write + T", ZKL_RULE_STRICT, true, first_connected, ignore_loss,
                                     claim_write};
const struct rule rule_last_sync = {"last sync + T", ZKL_RULE_STRICT, true, first_connected, ignore_loss, claim_sync};

/* ---------------------------------------------------------------- reconnects */

/* The shipped rule for all but this. */
static void connected_now(struct zkl_lease *lease, int64_t now_ns, int64_t timeout_ns)
{
    bool is_first = lease->timeout_ns == 0;

    zkl_lease_connected(lease, now_ns, timeout_ns);
    if (!is_first)
        claim(lease, now_ns, now_ns);
}

static void connected_at_newest(struct zkl_lease *lease, int64_t now_ns, int64_t timeout_ns)
{
    zkl_lease_connected(lease, now_ns, timeout_ns);
    if (lease->anchor_ns > 0)
        claim(lease, lease->anchor_ns, now_ns);
}

static void connected_anew(struct zkl_lease *lease, int64_t now_ns, int64_t timeout_ns)
{
    if (lease->timeout_ns != 0)
        lease->timeout_ns = timeout_ns;
    zkl_lease_connected(lease, now_ns, timeout_ns);
}

const struct rule rule_latest_timeout = {"reconnect: T is the latest granted", ZKL_RULE_STRICT, true, connected_anew,
                                         zkl_lease_disconnected, tell_shipped};
const struct rule rule_callback_time = {"reconnect: time of the callback + T", ZKL_RULE_STRICT, true, connected_now,
                                        zkl_lease_disconnected, tell_shipped};
const struct rule rule_without_proof = {"reconnect: u + T without a write", ZKL_RULE_STRICT, true,
                                        connected_at_newest, zkl_lease_disconnected, tell_shipped};

/* ---------------------------------------------------------------- cycles of three, by hand */

enum after_lapse { BEGINS_AT_ONCE, WAITS_FIRST, IS_PROVED };

struct cycle {
    unsigned first;  /* kinds that may be A, */
    unsigned middle; /* W1, */
    unsigned last;   /* W2 */
    bool has_lag;
    enum after_lapse after_lapse;
};

#define BIT(kind) (1u << (kind))
#define ANY (BIT(KIND_BEAT) | BIT(KIND_WRITE) | BIT(KIND_READ) | BIT(KIND_SYNC))

static int64_t lag(const struct zkl_lease *lease)
{
    int64_t half_tick_ns = lease->tick_ns > 0 ? lease->tick_ns / 2 : lease->timeout_ns / 4 + 150 * MS;
    return (half_tick_ns + 100 * MS) * 100 / 98;
}

static int64_t condemned_time(const struct zkl_lease *lease)
{
    return 2 * lease->tick_ns > 1000 * MS ? 2 * lease->tick_ns : 1000 * MS;
}

/* The kind of each answer stands in the lowest two bits of its first time; that is no length of time to speak of. */
static struct zkl_beat pack(enum kind kind, const struct zkl_beat *times)
{
    return (struct zkl_beat){.sent_ns = (times->sent_ns & ~INT64_C(3)) | (int64_t)kind,
                             .answered_ns = times->answered_ns};
}

static const struct zkl_beat *newest(const struct zkl_lease *lease, unsigned kinds, int64_t before_ns)
{
    for (int i = lease->beat_count - 1; i >= 0; i--)
        if (lease->beats[i].answered_ns <= before_ns && (kinds & BIT(lease->beats[i].sent_ns & 3)))
            return &lease->beats[i];
    return NULL;
}

static void remember(struct zkl_lease *lease, enum kind kind, const struct zkl_beat *times)
{
    if (lease->beat_count == ZKL_LEASE_BEATS) {
        memmove(lease->beats, lease->beats + 1, sizeof lease->beats - sizeof lease->beats[0]);
        lease->beat_count--;
    }
    lease->beats[lease->beat_count++] = pack(kind, times);
}

static bool counts(struct zkl_lease *lease, const struct cycle *cycle, enum kind kind, const struct zkl_beat *times)
{
    if (lease->connected_ns == 0 || times->sent_ns < lease->connected_ns || times->sent_ns < lease->lapsed_ns)
        return false;
    if (lease->lapsed_ns == 0 || cycle->after_lapse != WAITS_FIRST)
        return true;
    if (lease->promised_ns == 0 && is_write(kind)) {
        lease->promised_ns = times->answered_ns;
        lease->proof_from_ns = times->answered_ns + condemned_time(lease);
    }
    return lease->promised_ns != 0 && times->sent_ns >= lease->proof_from_ns;
}

/* The end of a lease, or after a lapse a promise of it, which a later write proves. */
static void take_end(struct zkl_lease *lease, const struct cycle *cycle, int64_t until_ns, const struct zkl_beat *times)
{
    int64_t now_ns = times->answered_ns;

    if (lease->lapsed_ns == 0 || cycle->after_lapse != IS_PROVED) {
        if (until_ns > now_ns && until_ns > lease->until_ns)
            lease->until_ns = until_ns;
        return;
    }
    if (lease->promised_ns <= now_ns) {
        lease->promised_ns = 0;
    } else if (times->sent_ns >= lease->proof_from_ns) {
        lease->until_ns = lease->promised_ns;
        lease->lapsed_ns = 0;
    }
    if (until_ns > now_ns && lease->promised_ns == 0)
        lease->proof_from_ns = now_ns + condemned_time(lease);
    if (until_ns > now_ns && until_ns > lease->promised_ns)
        lease->promised_ns = until_ns;
}

static void complete_cycle(struct zkl_lease *lease, const struct cycle *cycle, enum kind kind,
                           const struct zkl_beat *times)
{
    zkl_lease_check(lease, times->answered_ns);
    if (!counts(lease, cycle, kind, times))
        return;
    if (cycle->last & BIT(kind)) {
        const struct zkl_beat *middle = newest(lease, cycle->middle, times->sent_ns);
        int64_t middle_ns = middle ? middle->sent_ns & ~INT64_C(3) : 0;
        const struct zkl_beat *first =
            middle ? newest(lease, cycle->first, middle_ns - (cycle->has_lag ? lag(lease) : 0)) : NULL;
        take_end(lease, cycle, first ? (first->sent_ns & ~INT64_C(3)) + safe(lease) : 0, times);
    }
    remember(lease, kind, times);
}

#define WRITES (BIT(KIND_BEAT) | BIT(KIND_WRITE))

static const struct cycle without_lag = {ANY, WRITES | BIT(KIND_SYNC), WRITES, false, IS_PROVED};
static const struct cycle without_wait = {BIT(KIND_BEAT), BIT(KIND_BEAT), WRITES, true, BEGINS_AT_ONCE};
static const struct cycle wait_first = {BIT(KIND_BEAT), BIT(KIND_BEAT), WRITES, true, WAITS_FIRST};
static const struct cycle middle_read = {ANY, ANY, WRITES, true, IS_PROVED};
static const struct cycle last_sync = {ANY, WRITES | BIT(KIND_SYNC), ANY & ~BIT(KIND_READ), true, IS_PROVED};

#define CYCLE(name) \
    static void complete_##name(struct zkl_lease *lease, enum kind kind, bool is_ok, const struct zkl_beat *times) \
    { \
        if (is_ok) \
            complete_cycle(lease, &name, kind, times); \
        else \
            zkl_lease_check(lease, times->answered_ns); \
    }

CYCLE(without_lag)
CYCLE(without_wait)
CYCLE(wait_first)
CYCLE(middle_read)
CYCLE(last_sync)

const struct rule rule_without_lag = {"A without the distance R", ZKL_RULE_STRICT, true, zkl_lease_connected,
                                      zkl_lease_disconnected, complete_without_lag};
const struct rule rule_without_wait = {"after a lapse: no wait", ZKL_RULE_STRICT, true, zkl_lease_connected,
                                       zkl_lease_disconnected, complete_without_wait};
const struct rule rule_wait_first = {"after a lapse: wait, then A, W1, W2", ZKL_RULE_STRICT, true, zkl_lease_connected,
                                     zkl_lease_disconnected, complete_wait_first};
const struct rule rule_read_cycle = {"cheaper still: any, read, write", ZKL_RULE_STRICT, true, zkl_lease_connected,
                                     zkl_lease_disconnected, complete_middle_read};
const struct rule rule_sync_cycle = {"cheaper still: any, sync, sync", ZKL_RULE_STRICT, true, zkl_lease_connected,
                                     zkl_lease_disconnected, complete_last_sync};
