/* Files of credentials: accepted exactly if they are of the documented form, by a reading from the end; complaints name a
 * line that is there, and never a byte of what stands in it. */
#include "cli/auth_file.h"
#include "fuzz.h"

struct reading {
    int lines, used, first_used, second_used;
    const char *begin, *end; /* of the first line that is used */
};

/* From the last byte to the first: a line ends where the one behind it begins. */
static struct reading read_backwards(const char *text, size_t size)
{
    struct reading reading = {.first_used = -1, .second_used = -1};
    const char *end = text + size;
    int from_behind = 0;

    if (size > 0 && end[-1] == '\n')
        end--;
    else if (size == 0)
        return reading;
    for (const char *at = end;; at--) {
        if (at != text && at[-1] != '\n')
            continue;
        if (end > at && *at != '#') {
            reading.used++;
            reading.second_used = reading.first_used;
            reading.first_used = from_behind;
            reading.begin = at;
            reading.end = end;
        }
        from_behind++;
        end = at - 1;
        if (at == text)
            break;
    }
    reading.lines = from_behind;
    return reading;
}

static bool is_word(const char *text, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

    for (size_t i = 0; i < size; i++)
        if (text[i] == '\0' || !strchr(letters, text[i]))
            return false;
    return size >= 1 && size <= 32;
}

static bool is_right(const struct reading *reading)
{
    size_t size = (size_t)(reading->end - reading->begin), scheme = 0;

    for (size_t i = 0; i < size; i++)
        if ((unsigned char)reading->begin[i] < ' ' || reading->begin[i] == 127)
            return false;
    while (scheme < size && reading->begin[scheme] != ':')
        scheme++;
    if (scheme + 1 >= size || !is_word(reading->begin, scheme))
        return false;
    return scheme != 6 || memcmp(reading->begin, "digest", 6) != 0 ||
           memchr(reading->begin + 7, ':', size - 7) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading reading = read_backwards((const char *)data, size);
    bool is_expected = reading.used == 1 && is_right(&reading);
    struct auth_problem problem = {-1, NULL};
    struct auth auth;

    EXPECT(auth_parse((const char *)data, size, &auth, &problem) == is_expected);
    if (is_expected) {
        size_t scheme = strlen(auth.scheme);
        EXPECT(memcmp(auth.scheme, reading.begin, scheme) == 0 && reading.begin[scheme] == ':');
        EXPECT(auth.credentials == reading.begin + scheme + 1 && auth.credentials + auth.size == reading.end);
        return 0;
    }
    EXPECT(problem.text && strlen(problem.text) < 100);
    if (reading.used == 0)
        EXPECT(problem.line == 0);
    else if (!is_right(&reading))
        EXPECT(problem.line == reading.lines - reading.first_used);
    else
        EXPECT(problem.line == reading.lines - reading.second_used);
    return 0;
}
