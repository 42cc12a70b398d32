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

/* The kinds that the own exclusive contender and the others count alike; anything else must not share the path. */
static bool is_counted_by_all(enum zkl_kind kind, bool own_is_kazoo)
{
    return kind == ZKL_KIND_LOCK || (kind == ZKL_KIND_KAZOO_READ && own_is_kazoo);
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

void zkl_queue_place(const char *const *children, int count, const char *prefix, const int64_t *czxids,
                     struct zkl_place *out_place)
{
    bool own_is_kazoo = strstr(prefix, "__lock__") != NULL;
    struct view view = {.czxids = czxids, .place = {.ahead = -1}};
    struct zkl_place *place = &view.place;

    place->own = find_own(children, count, prefix, czxids);
    place->own_is_present = place->own >= 0;
    if (place->own_is_present)
        view.own = zkl_name_parse(children[place->own]);
    for (int i = 0; i < count; i++) {
        struct zkl_name name = zkl_name_parse(children[i]);
        if (name.kind == ZKL_KIND_FOREIGN || name.kind == ZKL_KIND_LEASE) {
            place->foreign_count++;
            continue;
        }
        place->is_mixed |= !is_counted_by_all(name.kind, own_is_kazoo);
        if (place->own_is_present && i != place->own)
            count_contender(&view, name, i);
    }
    /* Beyond the counter, and among equal numbers, a later one is not always behind: list again. */
    place->ahead_is_plain = place->ahead >= 0 && view.last.kind == ZKL_KIND_LOCK && !czxids;
    *out_place = *place;
}
