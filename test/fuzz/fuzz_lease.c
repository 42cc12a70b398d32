/* Any story told to the lease: it never says more than T from the newest thing that was sent, and an end is an end. */
#include "recipe/lease.h"

#include <stdbool.h>

#include "fuzz.h"

#define MS INT64_C(1000000)
#define MOST_TIMES 64

struct story {
    struct zkl_lease lease;
    int64_t now_ns;
    int64_t newest_ns;       /* sent, opened included */
    int64_t most_timeout_ns; /* of all CONNECTED */
    int64_t sent_ns[MOST_TIMES];
    int sent_count;
    bool is_connected;
};

static int64_t take_timeout(struct input *input)
{
    static const int64_t timeouts_ms[] = {1000, 4000, 10000, 60000};
    uint8_t choice = take_byte(input);

    return (choice < 250 ? timeouts_ms[choice % 4] : 1 + (int64_t)take_word(input, 3)) * MS;
}

static void open_lease(struct story *story, struct input *input)
{
    static const enum zkl_lease_rule rules[] = {ZKL_RULE_STRICT, ZKL_RULE_STRICT, ZKL_RULE_STANDALONE};
    static const int64_t ticks_ms[] = {0, 100, 500, 2000};
    enum zkl_lease_rule rule = rules[take_byte(input) % 3];

    memset(story, 0, sizeof *story);
    story->now_ns = 1000000 * MS;
    story->newest_ns = story->now_ns;
    zkl_lease_open(&story->lease, rule, ticks_ms[take_byte(input) % 4] * MS, story->now_ns);
}

static void pass_time(struct story *story, struct input *input)
{
    static const int64_t units_ns[] = {1, 1000, MS, 100 * MS};
    int64_t unit_ns = units_ns[take_byte(input) % 4];

    story->now_ns += take_byte(input) * unit_ns;
}

static void send_request(struct story *story)
{
    if (story->sent_count == MOST_TIMES)
        return;
    story->sent_ns[story->sent_count++] = story->now_ns;
    story->newest_ns = story->now_ns;
}

/* One of what was sent is answered, in the order of sending. */
static void answer(struct story *story, uint8_t kind)
{
    if (story->sent_count == 0)
        return;
    int64_t sent_ns = story->sent_ns[0];
    memmove(story->sent_ns, story->sent_ns + 1, (size_t)--story->sent_count * sizeof story->sent_ns[0]);
    zkl_lease_answered(&story->lease, sent_ns, story->now_ns, kind != 0);
    if (kind >= 2)
        zkl_lease_wrote(&story->lease, sent_ns, story->now_ns);
    if (kind >= 3)
        zkl_lease_beat(&story->lease, sent_ns, story->now_ns);
}

static void take_connection(struct story *story, struct input *input)
{
    int64_t timeout_ns = take_timeout(input);

    if (timeout_ns > story->most_timeout_ns)
        story->most_timeout_ns = timeout_ns;
    story->is_connected = true;
    zkl_lease_connected(&story->lease, story->now_ns, timeout_ns);
}

static void tell(struct story *story, struct input *input)
{
    uint8_t event = take_byte(input) % 16;

    if (event < 4) {
        pass_time(story, input);
    } else if (event < 7) {
        send_request(story);
    } else if (event < 13) {
        answer(story, event % 4);
    } else if (event == 13) {
        take_connection(story, input);
    } else if (event == 14) {
        story->is_connected = false;
        zkl_lease_disconnected(&story->lease, story->now_ns);
    } else {
        zkl_lease_check(&story->lease, story->now_ns);
    }
}

static void expect_sane(const struct story *story)
{
    const struct zkl_lease *lease = &story->lease;
    struct zkl_lease looked_at = *lease;
    int64_t left_ns = zkl_lease_remaining(lease, story->now_ns);
    int64_t longest_ns = story->most_timeout_ns - story->most_timeout_ns / 100;

    EXPECT(left_ns >= 0);
    EXPECT(left_ns == 0 || story->now_ns + left_ns <= story->newest_ns + longest_ns);
    EXPECT(zkl_lease_check(&looked_at, story->now_ns) == (left_ns > 0));
    EXPECT(zkl_lease_remaining(&looked_at, story->now_ns) == left_ns);
    EXPECT(lease->until_ns == 0 || lease->lapsed_ns == 0);
    EXPECT(lease->beat_count >= 0 && lease->beat_count <= ZKL_LEASE_BEATS);
    EXPECT(zkl_lease_interval(lease, true, left_ns > 0) >= 0);
    if (lease->timeout_ns > 0)
        EXPECT(zkl_lease_interval(lease, true, left_ns > 0) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct story story;

    open_lease(&story, &input);
    while (input.size > 0) {
        struct zkl_lease before = story.lease;
        tell(&story, &input);
        expect_sane(&story);
        /* It ends later than before, or it was over. */
        if (before.until_ns > story.now_ns && before.timeout_ns == story.lease.timeout_ns && story.lease.lapsed_ns == 0)
            EXPECT(story.lease.until_ns >= before.until_ns);
        /* What has lapsed comes back by an answer alone, and not at once. */
        if (before.lapsed_ns > 0 && story.lease.until_ns > 0)
            EXPECT(before.promised_ns > 0 && story.now_ns >= before.proof_from_ns);
    }
    return 0;
}
