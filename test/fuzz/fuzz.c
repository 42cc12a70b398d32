#include "fuzz.h"

const char *__asan_default_options(void);

/* Small inputs, millions of them: what is freed need not be kept for long. */
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=4:malloc_context_size=4";
}

static char *take(struct input *input, size_t size, size_t room)
{
    char *piece = malloc(room > 0 ? room : 1);

    if (!piece)
        abort();
    if (size > 0)
        memcpy(piece, input->data, size);
    input->data += size;
    input->size -= size;
    return piece;
}

char *take_bytes(struct input *input, size_t longest, size_t *out_size)
{
    *out_size = longest < input->size ? longest : input->size;
    return take(input, *out_size, *out_size);
}

char *take_text(struct input *input, size_t longest)
{
    size_t limit = longest < input->size ? longest : input->size;
    const uint8_t *end = limit > 0 ? memchr(input->data, '\0', limit) : NULL;
    size_t size = end ? (size_t)(end - input->data) : limit;
    char *text = take(input, size, size + 1);

    text[size] = '\0';
    if (end)
        take_byte(input);
    return text;
}

size_t read_character(const char *text, size_t size, uint32_t *out_point)
{
    /* The first byte, the second byte; the others are from 80 to BF. */
    static const struct {
        unsigned char first_from, first_to, second_from, second_to;
        size_t size;
    } rows[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    const unsigned char *bytes = (const unsigned char *)text;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (size < rows[i].size || bytes[0] < rows[i].first_from || bytes[0] > rows[i].first_to)
            continue;
        if (rows[i].size > 1 && (bytes[1] < rows[i].second_from || bytes[1] > rows[i].second_to))
            return 0;
        *out_point = rows[i].size == 1 ? bytes[0] : bytes[0] & (0x7Fu >> rows[i].size);
        for (size_t at = 1; at < rows[i].size; at++) {
            if (bytes[at] < 0x80 || bytes[at] > 0xBF)
                return 0;
            *out_point = *out_point << 6 | (bytes[at] & 0x3Fu);
        }
        return rows[i].size;
    }
    return 0;
}

bool is_utf8(const char *text)
{
    uint32_t point;

    for (size_t left = strlen(text), size; left > 0; text += size, left -= size) {
        size = read_character(text, left, &point);
        if (size == 0)
            return false;
    }
    return true;
}
