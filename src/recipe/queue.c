#include "recipe/queue.h"

#include <string.h>

static bool is_beyond_counter(struct zkl_name name)
{
    return name.number < 0 || name.number == INT32_MAX;
}

int zkl_queue_compare(struct zkl_name a, int64_t a_czxid, struct zkl_name b, int64_t b_czxid)
{
    bool a_is_beyond = is_beyond_counter(a);
    bool b_is_beyond = is_beyond_counter(b);

    if (a_is_beyond != b_is_beyond)
        return a_is_beyond ? 1 : -1;
    if (!a_is_beyond && a.number != b.number)
        return a.number < b.number ? -1 : 1;
    return (a_czxid > b_czxid) - (a_czxid < b_czxid);
}

bool zkl_queue_is_ambiguous(struct zkl_name name, struct zkl_name own)
{
    if (is_beyond_counter(own))
        return is_beyond_counter(name);
    return name.number == own.number;
}

/* Whose names, and whether a queue of them has readers. */
enum family {
    FAMILY_OUR_LOCK = 1,
    FAMILY_LOCK = 2,
    FAMILY_KAZOO_LOCK = 4,
    FAMILY_WRITE = 8,
    FAMILY_OUR_READ = 16,
    FAMILY_READ = 32,
    FAMILY_KAZOO_READ = 64,
    FAMILY_LATCH = 128,
};

#define READERS_AND_WRITERS (FAMILY_WRITE | FAMILY_OUR_READ | FAMILY_READ | FAMILY_KAZOO_READ)

unsigned zkl_queue_family(struct zkl_name name)
{
    switch (name.kind) {
    case ZKL_KIND_LOCK: return name.is_ours ? FAMILY_OUR_LOCK : FAMILY_LOCK;
    case ZKL_KIND_KAZOO_LOCK: return FAMILY_KAZOO_LOCK;
    case ZKL_KIND_WRITE: return FAMILY_WRITE;
    case ZKL_KIND_READ: return name.is_ours ? FAMILY_OUR_READ : FAMILY_READ;
    case ZKL_KIND_KAZOO_READ: return FAMILY_KAZOO_READ;
    case ZKL_KIND_LATCH: return FAMILY_LATCH;
    case ZKL_KIND_FOREIGN:
    case ZKL_KIND_LEASE: break;
    }
    return 0;
}

bool zkl_queue_is_one(unsigned families)
{
    static const unsigned circles[] = {
        FAMILY_OUR_LOCK | FAMILY_LOCK | FAMILY_KAZOO_LOCK, FAMILY_OUR_LOCK | FAMILY_OUR_READ,
        FAMILY_WRITE | FAMILY_OUR_READ | FAMILY_READ,      FAMILY_KAZOO_LOCK | FAMILY_KAZOO_READ,
        FAMILY_LATCH,
    };

    for (size_t i = 0; i < sizeof circles / sizeof circles[0]; i++)
        if ((families & ~circles[i]) == 0)
            return true;
    return false;
}

static int find_own(const char *const *children, int count, const char *prefix, const int64_t *czxids)
{
    for (int i = 0; i < count; i++)
        if (zkl_name_is_own(children[i], prefix))
            return czxids && czxids[i] < 0 ? -1 : i;
    return -1;
}

/* A listing as seen from one contender. */
struct view {
    struct zkl_name own;
    struct zkl_name last; /* the one right ahead, as far as seen */
    const int64_t *czxids;
    struct zkl_place place;
};

static int64_t czxid_at(const struct view *view, int index)
{
    return view->czxids ? view->czxids[index] : 0;
}

static void count_contender(struct view *view, struct zkl_name name, int index)
{
    struct zkl_place *place = &view->place;

    if (zkl_kind_is_shared(name.kind) && zkl_kind_is_shared(view->own.kind))
        return;
    if (!view->czxids && zkl_queue_is_ambiguous(name, view->own)) {
        place->needs_survey = true;
        return;
    }
    int64_t czxid = czxid_at(view, index);
    if (czxid < 0 || zkl_queue_compare(name, czxid, view->own, czxid_at(view, place->own)) > 0)
        return;
    place->ahead_count++;
    if (place->ahead >= 0 && zkl_queue_compare(name, czxid, view->last, czxid_at(view, place->ahead)) < 0)
        return;
    place->ahead = index;
    view->last = name;
}

/* Whether nothing that counts can appear where the one right ahead was. */
static bool is_plain(const struct view *view)
{
    if (view->place.ahead < 0)
        return false;
    /* Beyond the counter, and among equal numbers, a later one is not always behind: list again. */
    if (view->czxids)
        return false;
    /* A writer may come back as a reader, which readers do not mind. */
    return view->last.kind != ZKL_KIND_WRITE || zkl_kind_is_shared(view->own.kind);
}

/* Of the own contender alone; the others are to be counted. */
static struct view view_from_own(const char *const *children, int count, const char *prefix, const int64_t *czxids)
{
    struct view view = {.czxids = czxids, .place = {.ahead = -1}};

    view.place.own = find_own(children, count, prefix, czxids);
    view.place.own_is_present = view.place.own >= 0;
    if (view.place.own_is_present)
        view.own = zkl_name_parse(children[view.place.own]);
    return view;
}

void zkl_queue_place(const char *const *children, int count, const char *prefix, const int64_t *czxids,
                     struct zkl_place *out_place)
{
    struct view view = view_from_own(children, count, prefix, czxids);
    struct zkl_place *place = &view.place;
    unsigned families = 0;
    bool has_run_out = false;

    for (int i = 0; i < count; i++) {
        struct zkl_name name = zkl_name_parse(children[i]);
        if (zkl_queue_family(name) == 0) {
            place->foreign_count++;
            continue;
        }
        families |= zkl_queue_family(name);
        has_run_out |= is_beyond_counter(name);
        if (place->own_is_present && i != place->own)
            count_contender(&view, name, i);
    }
    place->is_mixed = !zkl_queue_is_one(families);
    place->is_unordered = has_run_out && (families & READERS_AND_WRITERS) != 0;
    place->ahead_is_plain = is_plain(&view);
    *out_place = *place;
}

void zkl_queue_place_lease(const char *const *children, int count, const char *prefix, const int64_t *czxids,
                           struct zkl_place *out_place)
{
    struct view view = view_from_own(children, count, prefix, czxids);
    struct zkl_place *place = &view.place;

    for (int i = 0; i < count; i++) {
        struct zkl_name name = zkl_name_parse(children[i]);
        if (name.kind != ZKL_KIND_LEASE)
            place->foreign_count++;
        else if (place->own_is_present && i != place->own)
            count_contender(&view, name, i);
    }
    place->ahead = -1;
    *out_place = *place;
}

void zkl_place_allow(struct zkl_place *place, int permits)
{
    place->ahead_count = place->ahead_count < permits ? 0 : place->ahead_count - permits + 1;
}
