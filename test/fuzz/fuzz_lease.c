/* Any story told to the lease: it ends where the rules in lease.h, read a second time over all that was told, say; a
 * lapse is one; and what has lapsed does not come back at once. */
#include "recipe/lease.h"

#include "fuzz.h"

#define MS INT64_C(1000000)
#define MOST_SENT 64

/* What was told, and what follows from it as long as nothing has lapsed. */
struct story {
    struct zkl_lease lease;
    enum zkl_lease_rule rule;
    int64_t now_ns;
    int64_t lag_ns;       /* R, of a known tick; 0: a quarter of T and 250 ms */
    int64_t timeout_ns;   /* the least T of all CONNECTED */
    int64_t connected_ns; /* 0: it is not */
    int64_t newest_ns;    /* sent, among what was answered */
    int64_t anchor_ns;    /* the same at the latest CONNECTED, until a write has used it */
    int64_t until_ns;
    bool has_lapsed;
    struct zkl_beat beats[ZKL_LEASE_BEATS]; /* of this connection */
    int beat_count;
    int64_t sent_ns[MOST_SENT]; /* and not answered yet */
    int sent_count;
};

/* A hundredth more by our clock than by the leader's. */
static int64_t lag_of(int64_t by_leader_ns)
{
    return by_leader_ns + by_leader_ns / 99 + 1;
}

static void open_lease(struct story *story, struct input *input)
{
    static const enum zkl_lease_rule rules[] = {ZKL_RULE_STRICT, ZKL_RULE_STRICT, ZKL_RULE_STANDALONE};
    static const int64_t ticks_ms[] = {0, 100, 500, 2000};
    uint8_t choice = take_byte(input);
    int64_t tick_ns = ticks_ms[choice / 4 % 4] * MS;

    memset(story, 0, sizeof *story);
    story->rule = rules[choice % 4 % 3];
    story->now_ns = 1000000 * MS;
    story->lag_ns = tick_ns > 0 ? lag_of(tick_ns / 2 + 100 * MS) : 0;
    zkl_lease_open(&story->lease, story->rule, tick_ns, story->now_ns);
}

/* ---------------------------------------------------------------- the second reading */

/* The session lives for T, less a hundredth, from `from_ns` on. */
static void prolong(struct story *story, int64_t from_ns)
{
    int64_t until_ns = from_ns + story->timeout_ns - story->timeout_ns / 100;

    if (until_ns > story->until_ns)
        story->until_ns = until_ns;
}

/* With the write that was sent then, any sync or write before it and any beat at the right distance make three. */
static void prolong_by_three(struct story *story, int64_t write_ns)
{
    int64_t lag_ns = story->lag_ns > 0 ? story->lag_ns : lag_of(story->timeout_ns / 4 + 250 * MS);

    for (const struct zkl_beat *second = story->beats; second < story->beats + story->beat_count; second++)
        for (const struct zkl_beat *first = story->beats; first < second; first++)
            if (second->kind != ZKL_BEAT_READ && second->answered_ns <= write_ns &&
                first->answered_ns <= second->sent_ns - lag_ns)
                prolong(story, first->sent_ns);
}

static bool is_of_this_connection(const struct story *story, int64_t sent_ns)
{
    return story->connected_ns > 0 && sent_ns >= story->connected_ns;
}

static void conclude_from_write(struct story *story, int64_t sent_ns)
{
    if (!is_of_this_connection(story, sent_ns))
        return;
    if (story->anchor_ns > 0)
        prolong(story, story->anchor_ns);
    story->anchor_ns = 0;
    if (story->rule == ZKL_RULE_STRICT)
        prolong_by_three(story, sent_ns);
}

static void note_beat(struct story *story, enum zkl_beat_kind kind, int64_t sent_ns)
{
    if (!is_of_this_connection(story, sent_ns))
        return;
    if (story->beat_count == ZKL_LEASE_BEATS)
        memmove(story->beats, story->beats + 1, (size_t)--story->beat_count * sizeof story->beats[0]);
    story->beats[story->beat_count++] = (struct zkl_beat){sent_ns, story->now_ns, kind};
}

static void forget_connection(struct story *story)
{
    story->connected_ns = 0;
    story->anchor_ns = 0;
    story->beat_count = 0;
}

/* ---------------------------------------------------------------- the story out of bytes */

static void pass_time(struct story *story, struct input *input)
{
    static const int64_t units_ns[] = {1, MS, 10 * MS, 100 * MS};
    int64_t unit_ns = units_ns[take_byte(input) % 4];

    story->now_ns += take_byte(input) * unit_ns;
}

static void send_request(struct story *story)
{
    if (story->sent_count < MOST_SENT)
        story->sent_ns[story->sent_count++] = story->now_ns;
}

enum answer { ANSWER_UNKNOWN, ANSWER_READ, ANSWER_WRITE, ANSWER_BEAT };

/* What was sent first is answered. */
static void answer(struct story *story, enum answer what, enum zkl_beat_kind kind)
{
    int64_t sent_ns = story->sent_ns[0];

    if (story->sent_count == 0)
        return;
    memmove(story->sent_ns, story->sent_ns + 1, (size_t)--story->sent_count * sizeof sent_ns);
    story->newest_ns = sent_ns;
    if (what != ANSWER_UNKNOWN && story->rule == ZKL_RULE_STANDALONE && story->connected_ns > 0)
        prolong(story, sent_ns);
    zkl_lease_answered(&story->lease, sent_ns, story->now_ns, what != ANSWER_UNKNOWN);
    if (what == ANSWER_WRITE || (what == ANSWER_BEAT && kind == ZKL_BEAT_WRITE))
        conclude_from_write(story, sent_ns);
    if (what == ANSWER_WRITE)
        zkl_lease_wrote(&story->lease, sent_ns, story->now_ns);
    if (what == ANSWER_BEAT) {
        note_beat(story, kind, sent_ns);
        zkl_lease_beat(&story->lease, kind, sent_ns, story->now_ns);
    }
}

static void connect(struct story *story, struct input *input)
{
    static const int64_t timeouts_ms[] = {4000, 4000, 4000, 1000, 10000, 60000};
    uint8_t choice = take_byte(input);
    int64_t timeout_ns = (choice < 250 ? timeouts_ms[choice % 6] : 1 + (int64_t)take_word(input, 3)) * MS;
    bool is_first = story->timeout_ns == 0;

    forget_connection(story);
    story->connected_ns = story->now_ns;
    if (is_first || timeout_ns < story->timeout_ns)
        story->timeout_ns = timeout_ns;
    if (is_first)
        prolong(story, story->lease.opened_ns);
    else
        story->anchor_ns = story->newest_ns;
    zkl_lease_connected(&story->lease, story->now_ns, timeout_ns);
}

static void tell(struct story *story, struct input *input)
{
    static const enum zkl_beat_kind kinds[] = {ZKL_BEAT_WRITE, ZKL_BEAT_WRITE, ZKL_BEAT_READ, ZKL_BEAT_SYNC};
    uint8_t event = take_byte(input) % 16;

    if (event < 4) {
        pass_time(story, input);
    } else if (event < 7) {
        send_request(story);
    } else if (event < 11) {
        answer(story, ANSWER_BEAT, kinds[event - 7]);
    } else if (event < 13) {
        answer(story, event == 11 ? ANSWER_UNKNOWN : ANSWER_READ, ZKL_BEAT_READ);
    } else if (event == 13) {
        connect(story, input);
    } else if (event == 14) {
        forget_connection(story);
        zkl_lease_disconnected(&story->lease, story->now_ns);
    } else if (take_byte(input) % 2) {
        answer(story, ANSWER_WRITE, ZKL_BEAT_WRITE);
    } else {
        zkl_lease_check(&story->lease, story->now_ns);
    }
    story->has_lapsed |= story->lease.lapsed_ns > 0;
}

/* ---------------------------------------------------------------- what has to come out */

static void expect_end(const struct story *story)
{
    const struct zkl_lease *lease = &story->lease;
    int64_t left_ns = zkl_lease_remaining(lease, story->now_ns);
    struct zkl_lease looked_at = *lease;

    EXPECT(left_ns >= 0 && (left_ns == 0 || story->now_ns + left_ns <= story->until_ns));
    EXPECT(story->has_lapsed || lease->until_ns == story->until_ns);
    EXPECT(zkl_lease_check(&looked_at, story->now_ns) == (left_ns > 0));
    EXPECT(zkl_lease_remaining(&looked_at, story->now_ns) == left_ns);
    EXPECT(lease->until_ns == 0 || lease->lapsed_ns == 0);
    EXPECT(lease->beat_count >= 0 && lease->beat_count <= ZKL_LEASE_BEATS);
}

static bool is_at_most(int64_t interval_ns, int64_t most_ns)
{
    return interval_ns >= 20 * MS && interval_ns <= (most_ns > 20 * MS ? most_ns : 20 * MS);
}

/* Read, sync and write in turn; a write at any time, and always when the lease is over. */
static void expect_next_beat(const struct story *story, bool is_wanted)
{
    const struct zkl_lease *lease = &story->lease;
    enum zkl_beat_kind next = zkl_lease_next_beat(lease, is_wanted, story->now_ns);

    EXPECT(is_at_most(zkl_lease_interval(lease, is_wanted, true), lease->timeout_ns / (is_wanted ? 12 : 6)));
    if (next == ZKL_BEAT_WRITE)
        return;
    EXPECT(zkl_lease_remaining(lease, story->now_ns) > lease->timeout_ns / 100 * (is_wanted ? 40 : 15));
    EXPECT(lease->beats[lease->beat_count - 1].kind == (next == ZKL_BEAT_READ ? ZKL_BEAT_WRITE : ZKL_BEAT_READ));
}

/* It comes back only by a promise, made a second ago at least, that has not run out. */
static void expect_return(const struct story *story, const struct zkl_lease *before)
{
    if (before->lapsed_ns == 0 || story->lease.until_ns == 0)
        return;
    EXPECT(story->lease.until_ns > story->now_ns);
    EXPECT(before->promised_ns > story->now_ns);
    EXPECT(story->now_ns >= before->lapsed_ns + 1000 * MS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct story story;

    open_lease(&story, &input);
    while (input.size > 0) {
        struct zkl_lease before = story.lease;
        tell(&story, &input);
        expect_end(&story);
        EXPECT(zkl_lease_interval(&story.lease, true, false) >= 50 * MS);
        expect_next_beat(&story, true);
        expect_next_beat(&story, false);
        expect_return(&story, &before);
    }
    return 0;
}
