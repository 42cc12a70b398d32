#include "listing.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_NORMAL, NUMBER_LIMIT, NUMBER_NEGATIVE, NUMBER_KINDS };

/* A place in one byte. */
enum {
    PLACE_PRESENT = 1,
    PLACE_MIXED = 2,
    PLACE_SURVEY = 4,
    PLACE_PLAIN = 8,
    PLACE_UNORDERED = 16,
    PLACE_COUNT_SHIFT = 5, /* three: that many or more */
};

enum { KIND_LOCK, KIND_WRITE, KIND_READ, KIND_LEASE, KINDS };

static char prefixes[MOST_NODES + 1][KINDS][ZKL_PREFIX_SIZE];
static char names[MOST_NODES][KINDS][NUMBER_KINDS][ZKL_OWN_NAME_SIZE];
/* A reader in the place of an earlier writer, by both slots. */
static char downgraded[MOST_NODES][MOST_NODES][ZKL_OWN_NAME_SIZE];

static void write_name(char out[ZKL_OWN_NAME_SIZE], const char *prefix, int number)
{
    int size = snprintf(out, ZKL_OWN_NAME_SIZE, "%s%010d", prefix, number);

    if (size < 0 || size >= ZKL_OWN_NAME_SIZE)
        out[0] = '\0';
}

static void write_names_of(int slot, int kind)
{
    static const enum zkl_kind kinds[] = {ZKL_KIND_LOCK, ZKL_KIND_WRITE, ZKL_KIND_READ, ZKL_KIND_LEASE};
    unsigned char token[ZKL_TOKEN_BYTES];
    char *prefix = prefixes[slot][kind];

    memset(token, 0xee - 0x11 * slot, sizeof token);
    zkl_name_prefix(kinds[kind], token, prefix);
    if (slot == MOST_NODES)
        return;
    write_name(names[slot][kind][NUMBER_NORMAL], prefix, slot + 7);
    write_name(names[slot][kind][NUMBER_LIMIT], prefix, INT32_MAX);
    /* The counter wraps for each create that is under way at the limit: no order in these, either. */
    write_name(names[slot][kind][NUMBER_NEGATIVE], prefix, INT32_MIN + (slot * 5) % 3);
    for (int writer = 0; writer < slot; writer++)
        write_name(downgraded[slot][writer], prefixes[slot][KIND_READ], writer + 7);
}

/* The later a node was made, the earlier its name sorts. The last prefix is one that no node has. */
static void write_names(void)
{
    for (int slot = 0; slot <= MOST_NODES; slot++)
        for (int kind = 0; kind < KINDS; kind++)
            write_names_of(slot, kind);
}

static int kind_of(const struct world *world, int slot)
{
    if (world->permits > 0)
        return KIND_LEASE;
    if (has_bit(world->readers, slot))
        return KIND_READ;
    return has_bit(world->writers, slot) ? KIND_WRITE : KIND_LOCK;
}

static const char *name_of(const struct world *world, int slot)
{
    int kind = kind_of(world, slot);

    if (prefixes[0][0][0] == '\0')
        write_names();
    if (world->writer_of[slot] < MOST_NODES)
        return downgraded[slot][world->writer_of[slot]];
    if (has_bit(world->negative, slot))
        return names[slot][kind][NUMBER_NEGATIVE];
    return names[slot][kind][has_bit(world->at_limit, slot) ? NUMBER_LIMIT : NUMBER_NORMAL];
}

/* The children by name, and what the queue says. */
struct listing {
    const char *children[MOST_NODES];
    int64_t czxids[MOST_NODES];
    uint8_t slots[MOST_NODES];
    int count;
};

static void list(const struct world *world, uint8_t children, uint8_t present, struct listing *out_listing)
{
    out_listing->count = 0;
    for (int slot = 0; slot < MOST_NODES; slot++) {
        if (!has_bit(children, slot))
            continue;
        out_listing->children[out_listing->count] = name_of(world, slot);
        out_listing->czxids[out_listing->count] = has_bit(present, slot) ? slot + 1 : -1;
        out_listing->slots[out_listing->count++] = (uint8_t)slot;
    }
}

static void place(const struct world *world, const struct listing *listing, uint8_t own, const int64_t *czxids,
                  struct message *reply)
{
    const char *prefix = own < MOST_NODES ? prefixes[own][kind_of(world, own)] : prefixes[MOST_NODES][KIND_LOCK];
    struct zkl_place found;
    int counted;

    if (world->permits > 0) {
        zkl_queue_place_lease(listing->children, listing->count, prefix, czxids, &found);
        zkl_place_allow(&found, world->permits);
    } else {
        zkl_queue_place(listing->children, listing->count, prefix, czxids, &found);
    }
    counted = found.ahead_count < 3 ? found.ahead_count : 3;
    reply->place = (uint8_t)(counted << PLACE_COUNT_SHIFT);
    reply->place |= found.own_is_present ? PLACE_PRESENT : 0;
    reply->place |= found.is_mixed ? PLACE_MIXED : 0;
    reply->place |= found.needs_survey ? PLACE_SURVEY : 0;
    reply->place |= found.is_unordered ? PLACE_UNORDERED : 0;
    reply->place |= found.ahead_is_plain ? PLACE_PLAIN : 0;
    reply->subject = found.ahead >= 0 ? listing->slots[found.ahead] : NONE;
}

void listing_place(const struct world *world, uint8_t children, uint8_t own, struct message *reply)
{
    struct listing listing;

    list(world, children, children, &listing);
    place(world, &listing, own, NULL, reply);
}

void listing_survey(const struct world *world, uint8_t children, uint8_t present, uint8_t own,
                    struct message *reply)
{
    struct listing listing;

    list(world, children, present, &listing);
    place(world, &listing, own, listing.czxids, reply);
}

struct zkl_place listing_unpack(const struct message *reply)
{
    struct zkl_place place = {
        .own_is_present = (reply->place & PLACE_PRESENT) != 0,
        .is_mixed = (reply->place & PLACE_MIXED) != 0,
        .is_unordered = (reply->place & PLACE_UNORDERED) != 0,
        .needs_survey = (reply->place & PLACE_SURVEY) != 0,
        .ahead_is_plain = (reply->place & PLACE_PLAIN) != 0,
        .ahead_count = reply->place >> PLACE_COUNT_SHIFT,
        .ahead = reply->subject == NONE ? -1 : reply->subject,
        .own = -1,
    };
    return place;
}
