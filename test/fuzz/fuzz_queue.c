/* A listing with anything in it: the own place is the one that sorting the whole queue gives, in whichever order the
 * children come and whatever a survey found gone. */
#include "recipe/queue.h"

#include "fuzz.h"

#define MOST_CHILDREN 10

struct child {
    char name[80];
    struct zkl_name parsed;
    int64_t czxid;
    bool is_gone; /* when a survey asks for it */
};

static struct child children[MOST_CHILDREN];
static int child_count;
static char own_prefix[ZKL_PREFIX_SIZE];
static int own_index; /* -1: none */

/* ---------------------------------------------------------------- a listing out of bytes */

static int32_t take_number(struct input *input)
{
    static const int32_t numbers[] = {0, 1, 2, 7, INT32_MAX - 1, INT32_MAX, INT32_MIN, INT32_MIN + 1, -1};
    uint8_t choice = take_byte(input);

    return choice < 200 ? numbers[choice % (sizeof numbers / sizeof numbers[0])] : (int32_t)take_word(input, 4);
}

static void take_name(struct input *input, char *out_name, size_t size)
{
    static const char *const words[] = {"-lock-",     "__lock__", "__rlock__", "-__READ__",
                                        "-__WRIT__", "-latch-",  "-lease-",   "-"};
    uint8_t form = take_byte(input);
    unsigned id = take_byte(input) % 8;

    if (form >= 240) {
        char *text = take_text(input, size - 1);
        snprintf(out_name, size, "%s", text);
        free(text);
    } else if (form >= 220) {
        snprintf(out_name, size, "x-%08x-%010d", id, (int)take_number(input));
    } else if (form >= 160) {
        snprintf(out_name, size, "_c_%08x-0000-8000-8000-000000000000%s%010d", id, words[form % 8],
                 (int)take_number(input));
    } else {
        snprintf(out_name, size, "%08x%s%010d", id, words[form % 8], (int)take_number(input));
    }
}

/* Names differ, and nobody else has our token. */
static bool is_possible(const char *name)
{
    if (child_count != own_index && zkl_name_is_own(name, own_prefix))
        return false;
    for (int i = 0; i < child_count; i++)
        if (strcmp(children[i].name, name) == 0)
            return false;
    return true;
}

/* All czxids differ: only one transaction that made two nodes could give them the same. */
static void take_child(struct input *input, int position, bool is_own)
{
    struct child *child = &children[child_count];
    uint8_t time = take_byte(input);

    if (is_own) {
        own_index = child_count;
        snprintf(child->name, sizeof child->name, "%s%010d", own_prefix, (int)take_number(input));
    } else {
        take_name(input, child->name, sizeof child->name);
    }
    if (!is_possible(child->name))
        return;
    child->parsed = zkl_name_parse(child->name);
    child->czxid = (int64_t)(time & 0x3F) * MOST_CHILDREN + position + 1;
    child->is_gone = time >= 0xE0;
    child_count++;
}

static void take_listing(struct input *input)
{
    static const unsigned char token[ZKL_TOKEN_BYTES] = {0xA5};
    uint8_t first = take_byte(input);
    int own_at = take_byte(input) % (MOST_CHILDREN + 1);
    int count = first / 2 % (MOST_CHILDREN + 1);

    child_count = 0;
    own_index = -1;
    zkl_name_prefix(ZKL_KIND_LOCK + first % (ZKL_KIND_LATCH - ZKL_KIND_LOCK + 1), token, own_prefix);
    for (int i = 0; i < count; i++)
        take_child(input, i, i == own_at);
}

/* ---------------------------------------------------------------- a second reading of the order */

static bool is_contender(const struct child *child)
{
    return child->parsed.kind != ZKL_KIND_FOREIGN && child->parsed.kind != ZKL_KIND_LEASE;
}

/* Beyond the counter's end numbers say nothing. */
static int64_t rank_of(const struct child *child)
{
    return child->parsed.number < 0 || child->parsed.number == INT32_MAX ? INT32_MAX : child->parsed.number;
}

static int order(const struct child *a, const struct child *b)
{
    if (rank_of(a) != rank_of(b))
        return rank_of(a) < rank_of(b) ? -1 : 1;
    return (a->czxid > b->czxid) - (a->czxid < b->czxid);
}

static bool is_reader(const struct child *child)
{
    return child->parsed.kind == ZKL_KIND_READ || child->parsed.kind == ZKL_KIND_KAZOO_READ;
}

/* Readers do not count each other. */
static bool counts(const struct child *child)
{
    return is_contender(child) && !(is_reader(child) && own_index >= 0 && is_reader(&children[own_index]));
}

static bool is_in_doubt(const struct child *child)
{
    return child != &children[own_index] && rank_of(child) == rank_of(&children[own_index]);
}

/* A survey asks for those in doubt and for the own one. */
static bool is_found_gone(int index, bool has_survey)
{
    return has_survey && own_index >= 0 && children[index].is_gone &&
           (index == own_index || is_in_doubt(&children[index]));
}

static void expect_order(void)
{
    for (int a = 0; a < child_count; a++)
        for (int b = 0; b < child_count; b++) {
            int compared = zkl_queue_compare(children[a].parsed, children[a].czxid, children[b].parsed,
                                             children[b].czxid);
            int expected = order(&children[a], &children[b]);
            EXPECT((compared > 0) - (compared < 0) == expected);
            EXPECT((expected == 0) == (a == b));
        }
}

/* Returns how many are ahead; the last of them, -1: nobody. */
static int count_ahead(bool has_survey, int *out_nearest)
{
    int count = 0;

    *out_nearest = -1;
    for (int i = 0; i < child_count; i++) {
        if (i == own_index || !counts(&children[i]) || is_found_gone(i, has_survey) ||
            order(&children[i], &children[own_index]) > 0)
            continue;
        count++;
        if (*out_nearest < 0 || order(&children[i], &children[*out_nearest]) > 0)
            *out_nearest = i;
    }
    return count;
}

static bool is_survey_needed(void)
{
    for (int i = 0; i < child_count; i++)
        if (counts(&children[i]) && is_in_doubt(&children[i]))
            return true;
    return false;
}

static bool is_mutex(const struct child *child)
{
    return child->parsed.kind == ZKL_KIND_LOCK || child->parsed.kind == ZKL_KIND_KAZOO_LOCK;
}

/* Whether a counts b and b counts a, whoever wrote them. */
static bool count_each_other(const struct child *a, const struct child *b)
{
    enum zkl_kind other = b->parsed.kind;

    switch (a->parsed.kind) {
    case ZKL_KIND_LOCK: return is_mutex(b) || (other == ZKL_KIND_READ && a->parsed.is_ours && b->parsed.is_ours);
    case ZKL_KIND_KAZOO_LOCK: return is_mutex(b) || other == ZKL_KIND_KAZOO_READ;
    case ZKL_KIND_KAZOO_READ: return other == ZKL_KIND_KAZOO_READ || other == ZKL_KIND_KAZOO_LOCK;
    case ZKL_KIND_READ:
        return other == ZKL_KIND_READ || other == ZKL_KIND_WRITE ||
               (other == ZKL_KIND_LOCK && a->parsed.is_ours && b->parsed.is_ours);
    case ZKL_KIND_WRITE: return other == ZKL_KIND_READ || other == ZKL_KIND_WRITE;
    default: return other == a->parsed.kind;
    }
}

static bool is_mixed(void)
{
    for (int a = 0; a < child_count; a++)
        for (int b = 0; b < child_count; b++)
            if (is_contender(&children[a]) && is_contender(&children[b]) &&
                !count_each_other(&children[a], &children[b]))
                return true;
    return false;
}

static bool is_unordered(void)
{
    bool has_readers_or_writers = false, has_run_out = false;

    for (int i = 0; i < child_count; i++) {
        if (!is_contender(&children[i]))
            continue;
        has_readers_or_writers |= is_reader(&children[i]) || children[i].parsed.kind == ZKL_KIND_WRITE;
        has_run_out |= rank_of(&children[i]) == INT32_MAX;
    }
    return has_readers_or_writers && has_run_out;
}

/* ---------------------------------------------------------------- what has to come out */

/* The children from `rotation` on, as if the server had listed them so. */
static void find_place(int rotation, bool has_survey, struct zkl_place *out_place)
{
    const char *names[MOST_CHILDREN];
    int64_t czxids[MOST_CHILDREN];

    for (int i = 0; i < child_count; i++) {
        int index = (i + rotation) % child_count;
        const struct child *child = &children[index];
        bool is_asked = own_index >= 0 && zkl_queue_is_ambiguous(child->parsed, children[own_index].parsed);
        names[i] = child->name;
        czxids[i] = is_found_gone(index, has_survey) ? -1 : is_asked ? child->czxid : 0;
    }
    zkl_queue_place(names, child_count, own_prefix, has_survey ? czxids : NULL, out_place);
    if (out_place->ahead >= 0)
        out_place->ahead = (out_place->ahead + rotation) % child_count;
    if (out_place->own >= 0)
        out_place->own = (out_place->own + rotation) % child_count;
}

/* Among equal numbers ahead, whose czxids were not asked for, either will do: both have to go. */
static bool is_tie(int a, int b)
{
    return rank_of(&children[a]) == rank_of(&children[b]) && !is_in_doubt(&children[a]);
}

static void expect_ahead(const struct zkl_place *place, bool has_survey)
{
    int nearest;

    EXPECT(place->ahead_count == count_ahead(has_survey, &nearest));
    EXPECT((place->ahead < 0) == (nearest < 0));
    if (nearest < 0) {
        EXPECT(!place->ahead_is_plain);
        return;
    }
    EXPECT(place->ahead == nearest || is_tie(place->ahead, nearest));
    bool may_be_downgraded = children[place->ahead].parsed.kind == ZKL_KIND_WRITE && !is_reader(&children[own_index]);
    EXPECT(place->ahead_is_plain == (!has_survey && !may_be_downgraded));
}

static void expect_place(const struct zkl_place *place, bool has_survey)
{
    bool is_present = own_index >= 0 && !is_found_gone(own_index, has_survey);
    int foreign_count = 0;

    for (int i = 0; i < child_count; i++)
        foreign_count += !is_contender(&children[i]);
    EXPECT(place->foreign_count == foreign_count);
    EXPECT(place->is_mixed == is_mixed());
    EXPECT(place->is_unordered == is_unordered());
    EXPECT(place->own_is_present == is_present);
    EXPECT(place->own == (is_present ? own_index : -1));
    EXPECT(place->needs_survey == (is_present && !has_survey && is_survey_needed()));
    if (is_present && !place->needs_survey)
        expect_ahead(place, has_survey);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct zkl_place place;

    take_listing(&input);
    expect_order();
    for (int rotation = 0; rotation < child_count; rotation += 1 + child_count / 3)
        for (int has_survey = 0; has_survey < 2; has_survey++) {
            find_place(rotation, has_survey, &place);
            expect_place(&place, has_survey);
        }
    return 0;
}
