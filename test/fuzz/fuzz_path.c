/* Paths: accepted are exactly those that ZooKeeper accepts, by a second reading of its rules over UTF-16 units. */
#include "session/path.h"

#include "fuzz.h"
#include "session/servers.h"

#define LONGEST 1000

/* Of valid UTF-8. Returns how many units. */
static int to_utf16(const char *text, uint16_t units[LONGEST])
{
    int count = 0;

    for (size_t left = strlen(text), size; left > 0; text += size, left -= size) {
        uint32_t point = 0;
        size = read_character(text, left, &point);
        if (point >= 0x10000) {
            units[count++] = (uint16_t)(0xD800 + ((point - 0x10000) >> 10));
            point = 0xDC00 + ((point - 0x10000) & 0x3FF);
        }
        units[count++] = (uint16_t)point;
    }
    return count;
}

static bool is_allowed(uint16_t unit)
{
    return unit > 0x1F && (unit < 0x7F || unit > 0x9F) && (unit < 0xD800 || unit > 0xF8FF) && unit < 0xFFF0;
}

static bool is_component(const uint16_t *units, int count)
{
    for (int i = 0; i < count; i++)
        if (!is_allowed(units[i]))
            return false;
    return count > 0 && !(count == 1 && units[0] == '.') && !(count == 2 && units[0] == '.' && units[1] == '.');
}

static bool is_made_of_components(const char *path)
{
    uint16_t units[LONGEST];
    int count = to_utf16(path, units);
    int start = 1;

    if (count == 0 || units[0] != '/')
        return false;
    for (int i = 1; i <= count && count > 1; i++) {
        if (i < count && units[i] != '/')
            continue;
        if (!is_component(units + start, i - start))
            return false;
        start = i + 1;
    }
    return true;
}

static bool is_reserved(const char *path)
{
    return strcmp(path, "/zookeeper") == 0 || strncmp(path, "/zookeeper/", strlen("/zookeeper/")) == 0;
}

static bool is_good(const char *path)
{
    return is_utf8(path) && is_made_of_components(path) && !is_reserved(path) && strlen(path) <= ZKL_LONGEST_PATH;
}

static void expect_complaint(const char *detail, size_t path_size)
{
    unsigned long position;

    for (const char *at = detail; *at; at++)
        EXPECT(*at >= ' ' && *at <= '~');
    EXPECT(sscanf(detail, "character %lu: ", &position) == 1);
    EXPECT(position >= 1 && position <= path_size + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    char *path = take_text(&input, LONGEST);
    size_t cut_size = take_byte(&input) % 80;
    char *cut = malloc(cut_size + 1);
    char detail[200] = "";
    bool is_accepted = zkl_path_check(path, detail, sizeof detail) == ZKLOCK_OK;

    EXPECT(cut != NULL);
    EXPECT(is_accepted == is_good(path));
    if (!is_accepted) {
        expect_complaint(detail, strlen(path));
        zkl_path_check(path, cut, cut_size);
        EXPECT(cut_size == 0 || (strlen(cut) < cut_size && strncmp(detail, cut, strlen(cut)) == 0));
    }
    free(cut);
    free(path);
    return 0;
}
