#include "lock/payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "zklock.h"

#define LONGEST_FIELD 256

/* The number of bytes of the UTF-8 character at `text`; 0: none. */
static size_t utf8_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        size_t length;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if ((text[0] & forms[i].mask) != forms[i].lead)
            continue;
        uint32_t value = text[0] & (unsigned char)~forms[i].mask;
        for (size_t at = 1; at < forms[i].length; at++) {
            if ((text[at] & 0xc0) != 0x80)
                return 0;
            value = value << 6 | (text[at] & 0x3f);
        }
        bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
        return value < forms[i].least || value > 0x10ffff || is_surrogate ? 0 : forms[i].length;
    }
    return 0;
}

/* Writes `text` as the inside of a JSON string. What is no UTF-8 becomes a question mark; too long a text is cut. */
static void escape(char out[LONGEST_FIELD * 6 + 1], const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    const unsigned char *end = at + strnlen(text, LONGEST_FIELD);

    while (at < end) {
        size_t length = utf8_length(at);
        if (length > (size_t)(end - at))
            break;
        if (length == 0) {
            *out++ = '?';
            length = 1;
        } else if (*at < 0x20 || *at == 0x7f || *at == '"' || *at == '\\') {
            out += sprintf(out, "\\u%04x", *at);
        } else {
            memcpy(out, at, length);
            out += length;
        }
        at += length;
    }
    *out = '\0';
}

char *zkl_payload_new(const char *label, const char *user, const char *style, int64_t wall_ms)
{
    char host[LONGEST_FIELD] = "";
    char start[32] = "";
    char safe_host[LONGEST_FIELD * 6 + 1];
    char safe_user[LONGEST_FIELD * 6 + 1];
    char safe_label[LONGEST_FIELD * 6 + 1];
    time_t seconds = wall_ms / 1000;
    struct tm when;
    char *payload = NULL;

    gethostname(host, sizeof host - 1);
    escape(safe_host, host);
    escape(safe_user, user);
    escape(safe_label, label);
    if (gmtime_r(&seconds, &when))
        strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", &when);
    int size = asprintf(&payload,
                        "{\"zklock\":\"%s\",\"v\":1,\"host\":\"%s\",\"pid\":%ld,\"user\":\"%s\",\"label\":\"%s\","
                        "\"start\":\"%s\",\"style\":\"%s\"}",
                        zklock_version(), safe_host, (long)getpid(), safe_user, safe_label, start, style);
    return size < 0 ? NULL : payload;
}
