#include "safe_text.h"

#include <langinfo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

struct character {
    uint32_t code;
    int size; /* in bytes; 0: the bytes are no UTF-8 */
};

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

static int sequence_size(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return 2;
    if ((first & 0xF0) == 0xE0)
        return 3;
    if (first >= 0xF0 && first <= 0xF4)
        return 4;
    return 0;
}

/* Overlong forms, surrogates and numbers beyond Unicode are refused, as any careful reader does. */
static struct character decode(const unsigned char *bytes, size_t size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    static const unsigned char first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const struct character invalid = {bytes[0], 0};
    int length = sequence_size(bytes[0]);
    uint32_t code;

    if (length == 0 || (size_t)length > size)
        return invalid;
    code = bytes[0] & first_bits[length];
    for (int i = 1; i < length; i++) {
        if (!is_continuation(bytes[i]))
            return invalid;
        code = code << 6 | (bytes[i] & 0x3F);
    }
    if (code < least[length] || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF)
        return invalid;
    return (struct character){code, length};
}

/* Characters that change how a terminal shows what stands around them. */
static bool is_treacherous(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C || code == 0xFEFF ||
           (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2060 && code <= 0x206F) || (code >= 0xFFF9 && code <= 0xFFFB) || code >= 0xE0000;
}

static bool is_utf8_locale(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void escape(struct character character, char out_text[12])
{
    if (character.size == 0 || character.code < 0x80) {
        switch (character.code) {
        case '\n': strcpy(out_text, "\\n"); return;
        case '\r': strcpy(out_text, "\\r"); return;
        case '\t': strcpy(out_text, "\\t"); return;
        default: snprintf(out_text, 12, "\\x%02x", (unsigned)character.code); return;
        }
    }
    snprintf(out_text, 12, character.code > 0xFFFF ? "\\U%06x" : "\\u%04x", (unsigned)character.code);
}

size_t safe_text(const char *text, size_t size, char *buffer, size_t buffer_size)
{
    bool shows_utf8 = is_utf8_locale();
    size_t used = 0;

    if (buffer_size == 0)
        return 0;
    for (size_t at = 0; at < size;) {
        struct character character = decode((const unsigned char *)text + at, size - at);
        char escaped[12] = "";
        size_t length = character.size ? (size_t)character.size : 1;
        bool is_plain = character.size == 1 || (character.size > 1 && shows_utf8);
        const char *piece = text + at;
        size_t piece_size = length;

        if (!is_plain || is_treacherous(character.code)) {
            escape(character, escaped);
            piece = escaped;
            piece_size = strlen(escaped);
        }
        if (used + piece_size + 1 > buffer_size)
            break;
        memcpy(buffer + used, piece, piece_size);
        used += piece_size;
        at += length;
    }
    buffer[used] = '\0';
    return used;
}

static int columns_of(uint32_t code)
{
    int columns = wcwidth((wchar_t)code);

    return columns < 0 ? 1 : columns;
}

int safe_text_columns(const char *text)
{
    int columns = 0;

    for (size_t at = 0, size = strlen(text); at < size;) {
        struct character character = decode((const unsigned char *)text + at, size - at);

        columns += columns_of(character.code);
        at += character.size ? (size_t)character.size : 1;
    }
    return columns;
}

void safe_text_cut(char *text, int columns)
{
    int used = 0;

    if (safe_text_columns(text) <= columns)
        return;
    for (size_t at = 0, size = strlen(text); at < size;) {
        struct character character = decode((const unsigned char *)text + at, size - at);

        used += columns_of(character.code);
        if (used > columns - 1) {
            strcpy(text + at, columns > 0 ? "~" : "");
            return;
        }
        at += character.size ? (size_t)character.size : 1;
    }
}
