/* What is fit for a terminal stays fit, whatever came in and however little room there is. */
#include "cli/safe_text.h"

#include <locale.h>

#include "fuzz.h"

static locale_t plain, utf8;

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    EXPECT(plain && utf8);
    return 0;
}

/* Controls, marks that turn the direction of writing or stand for nothing at all, ends of lines, tags. */
static bool is_treacherous(uint32_t point)
{
    static const uint32_t ranges[][2] = {
        {0, 0x1F},         {0x7F, 0x9F},     {0x61C, 0x61C},     {0x200B, 0x200F},   {0x2028, 0x202E},
        {0x2060, 0x206F},  {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB},   {0xE0000, 0x10FFFF},
    };

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (point >= ranges[i][0] && point <= ranges[i][1])
            return true;
    return false;
}

/* Appends what has to be shown of the character at `text` and returns its size. */
static size_t show(const char *text, size_t size, bool is_plain, char **out)
{
    uint32_t point;
    size_t read = read_character(text, size, &point);

    if (read > 0 && !is_treacherous(point) && (read == 1 || !is_plain)) {
        memcpy(*out, text, read);
        *out += read;
    } else if (read <= 1 && *text && strchr("\n\r\t", *text)) {
        *out += sprintf(*out, "\\%c", *text == '\n' ? 'n' : *text == '\r' ? 'r' : 't');
    } else if (read <= 1) {
        *out += sprintf(*out, "\\x%02x", (unsigned char)*text);
    } else {
        *out += sprintf(*out, point > 0xFFFF ? "\\U%06x" : "\\u%04x", (unsigned)point);
    }
    return read > 0 ? read : 1;
}

/* As many whole characters as fit into `room`, the end included. */
static char *show_all(const char *text, size_t size, bool is_plain, size_t room)
{
    char *shown = malloc(size * 10 + 1);
    char *end = shown;

    EXPECT(shown != NULL);
    for (size_t at = 0; at < size;) {
        char *before = end;
        at += show(text + at, size - at, is_plain, &end);
        if ((size_t)(end - shown) + 1 > room) {
            end = before;
            break;
        }
    }
    *end = '\0';
    return shown;
}

/* A text that is safe already stays as it is, and is cut to columns at a character's end. */
static void expect_cut(const char *safe, int columns)
{
    size_t size = strlen(safe);
    char *again = malloc(size + 1);

    EXPECT(again != NULL);
    EXPECT(safe_text(safe, size, again, size + 1) == size && strcmp(again, safe) == 0);
    safe_text_cut(again, columns);
    EXPECT(safe_text_columns(again) <= columns);
    EXPECT(is_utf8(again));
    if (safe_text_columns(safe) <= columns)
        EXPECT(strcmp(again, safe) == 0);
    else if (columns > 0)
        EXPECT(strncmp(again, safe, strlen(again) - 1) == 0 && again[strlen(again) - 1] == '~');
    free(again);
}

static void expect_safe(const char *text, size_t size, bool is_plain, size_t room, int columns)
{
    char *expected = show_all(text, size, is_plain, room);
    char *buffer = malloc(room);

    EXPECT(buffer != NULL);
    EXPECT(safe_text(text, size, buffer, room) == strlen(expected));
    EXPECT(strcmp(buffer, expected) == 0);
    expect_cut(buffer, columns);
    free(buffer);
    free(expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    uint8_t first = take_byte(&input);
    size_t room = 1 + (first & 0x40 ? 400 : (size_t)take_byte(&input));
    int columns = take_byte(&input) % 100;
    size_t text_size;
    char *text = take_bytes(&input, input.size, &text_size);

    uselocale(first & 1 ? plain : utf8);
    EXPECT(safe_text(text, text_size, NULL, 0) == 0);
    expect_safe(text, text_size, first & 1, room, columns);
    free(text);
    return 0;
}
