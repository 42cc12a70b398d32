/* A listing with anything in it: the own place is the one that sorting the whole queue gives, in whichever order the
 * children come. */
#include "recipe/queue.h"

#include "fuzz.h"

#define MOST_CHILDREN 12

struct child {
    char name[80];
    struct zkl_name parsed;
    int64_t czxid;
};

static struct child children[MOST_CHILDREN];
static int child_count;
static char own_prefix[ZKL_PREFIX_SIZE];
static int own_index; /* -1: none */

static bool is_contender(const struct child *child)
{
    return child->parsed.kind != ZKL_KIND_FOREIGN && child->parsed.kind != ZKL_KIND_LEASE;
}

/* ---------------------------------------------------------------- a listing out of bytes */

static int32_t take_number(struct input *input)
{
    static const int32_t numbers[] = {0, 1, 2, 7, INT32_MAX - 1, INT32_MAX, INT32_MIN, INT32_MIN + 1, -1};
    uint8_t choice = take_byte(input);

    return choice < 200 ? numbers[choice % (sizeof numbers / sizeof numbers[0])] : (int32_t)take_word(input, 4);
}

static void write_name(struct input *input, char *name, size_t size)
{
    static const char *const words[] = {"-lock-", "__lock__", "__rlock__", "-__READ__", "-__WRIT__", "-latch-",
                                        "-lease-", "-"};
    uint8_t form = take_byte(input);
    unsigned id = take_byte(input) % 8;

    if (form >= 240) {
        char *text = take_text(input, size - 1);
        snprintf(name, size, "%s", text);
        free(text);
    } else if (form >= 220) {
        snprintf(name, size, "x-%08x-%010d", id, (int)take_number(input));
    } else {
        snprintf(name, size, "%08x%s%010d", id, words[form % 8], (int)take_number(input));
    }
}

/* Names differ, and nobody else has our token. */
static bool is_there_already(const char *name)
{
    bool is_stranger = child_count != own_index;

    if (is_stranger && zkl_name_is_own(name, own_prefix))
        return true;
    for (int i = 0; i < child_count; i++)
        if (strcmp(children[i].name, name) == 0)
            return true;
    return false;
}

static void add_child(const char *name, int64_t czxid)
{
    if (is_there_already(name))
        return;
    snprintf(children[child_count].name, sizeof children[0].name, "%s", name);
    children[child_count].parsed = zkl_name_parse(name);
    children[child_count].czxid = czxid;
    child_count++;
}

/* All czxids differ: two nodes have the same one only if one transaction made both. */
static void take_listing(struct input *input)
{
    static const unsigned char token[ZKL_TOKEN_BYTES] = {0xa5};
    char name[80];
    int own_at = take_byte(input) % MOST_CHILDREN;
    int count = take_byte(input) % MOST_CHILDREN;

    child_count = 0;
    own_index = -1;
    zkl_name_prefix(take_byte(input) % 2 ? ZKL_NAMING_KAZOO : ZKL_NAMING_CURATOR, token, own_prefix);
    for (int i = 0; i < count; i++) {
        int64_t czxid = (int64_t)take_byte(input) * MOST_CHILDREN + i + 1;
        if (i == own_at) {
            snprintf(name, sizeof name, "%s%010d", own_prefix, (int)take_number(input));
            own_index = child_count;
        } else {
            write_name(input, name, sizeof name);
        }
        add_child(name, czxid);
    }
}

/* ---------------------------------------------------------------- what has to come out */

static int compare(const struct child *a, const struct child *b)
{
    return zkl_queue_compare(a->parsed, a->czxid, b->parsed, b->czxid);
}

static void expect_order(void)
{
    for (int a = 0; a < child_count; a++) {
        EXPECT(compare(&children[a], &children[a]) == 0);
        for (int b = 0; b < child_count; b++) {
            EXPECT(a == b || compare(&children[a], &children[b]) != 0);
            EXPECT((compare(&children[a], &children[b]) < 0) == (compare(&children[b], &children[a]) > 0));
            for (int c = 0; c < child_count; c++)
                if (compare(&children[a], &children[b]) < 0 && compare(&children[b], &children[c]) < 0)
                    EXPECT(compare(&children[a], &children[c]) < 0);
        }
    }
}

/* As the whole queue's order says; -1: nobody is ahead. */
static int count_ahead(int *out_nearest)
{
    int count = 0;

    *out_nearest = -1;
    for (int i = 0; i < child_count; i++) {
        if (i == own_index || !is_contender(&children[i]) || compare(&children[i], &children[own_index]) > 0)
            continue;
        count++;
        if (*out_nearest < 0 || compare(&children[i], &children[*out_nearest]) > 0)
            *out_nearest = i;
    }
    return count;
}

static bool has_rival_in_doubt(void)
{
    for (int i = 0; i < child_count; i++)
        if (i != own_index && is_contender(&children[i]) &&
            zkl_queue_is_ambiguous(children[i].parsed, children[own_index].parsed))
            return true;
    return false;
}

static void find_place(int rotation, bool with_survey, struct zkl_place *out_place)
{
    const char *names[MOST_CHILDREN];
    int64_t czxids[MOST_CHILDREN];

    for (int i = 0; i < child_count; i++) {
        const struct child *child = &children[(i + rotation) % child_count];
        bool is_asked = own_index >= 0 && zkl_queue_is_ambiguous(child->parsed, children[own_index].parsed);
        names[i] = child->name;
        czxids[i] = is_asked ? child->czxid : 0;
    }
    zkl_queue_place(names, child_count, own_prefix, with_survey ? czxids : NULL, out_place);
    if (out_place->ahead >= 0)
        out_place->ahead = (out_place->ahead + rotation) % child_count;
    if (out_place->own >= 0)
        out_place->own = (out_place->own + rotation) % child_count;
}

static bool is_tie(int a, int b)
{
    return children[a].parsed.number == children[b].parsed.number &&
           !zkl_queue_is_ambiguous(children[a].parsed, children[own_index].parsed);
}

static void expect_place(const struct zkl_place *place, bool with_survey)
{
    int nearest;
    int ahead_count;

    EXPECT(place->own_is_present == (own_index >= 0));
    EXPECT(place->own == own_index);
    if (own_index < 0)
        return;
    EXPECT(place->needs_survey == (!with_survey && has_rival_in_doubt()));
    ahead_count = count_ahead(&nearest);
    if (place->needs_survey)
        return;
    EXPECT(place->ahead_count == ahead_count);
    EXPECT((place->ahead < 0) == (nearest < 0));
    /* Among equal numbers ahead, whose czxids were not asked for, either will do: both have to go. */
    if (place->ahead >= 0)
        EXPECT(place->ahead == nearest || is_tie(place->ahead, nearest));
    if (place->ahead_is_plain)
        EXPECT(children[place->ahead].parsed.kind == ZKL_KIND_LOCK && !with_survey);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct zkl_place first, place;

    take_listing(&input);
    expect_order();
    for (int with_survey = 0; with_survey < 2; with_survey++) {
        find_place(0, with_survey, &first);
        for (int rotation = 0; rotation < child_count; rotation++) {
            find_place(rotation, with_survey, &place);
            expect_place(&place, with_survey);
            EXPECT(place.ahead_count == first.ahead_count && place.is_mixed == first.is_mixed);
            EXPECT(place.needs_survey == first.needs_survey && place.foreign_count == first.foreign_count);
        }
    }
    return 0;
}
