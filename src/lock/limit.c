#include "lock/limit.h"

#include <stdio.h>
#include <string.h>

#include "zklock.h"

#define MEMBER "\"zklock_permits\""

struct text {
    const char *at;
    const char *end;
};

static void skip_blanks(struct text *text)
{
    while (text->at < text->end && strchr(" \t\r\n", *text->at) && *text->at)
        text->at++;
}

static bool take(struct text *text, const char *expected)
{
    size_t size = strlen(expected);

    skip_blanks(text);
    if ((size_t)(text->end - text->at) < size || memcmp(text->at, expected, size) != 0)
        return false;
    text->at += size;
    return true;
}

static bool take_number(struct text *text, unsigned *out_number)
{
    unsigned long number = 0;

    skip_blanks(text);
    if (text->at == text->end || *text->at < '1' || *text->at > '9')
        return false;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
        number = number * 10 + (unsigned long)(*text->at - '0');
        if (number > ZKLOCK_PERMITS_MAX)
            return false;
    }
    *out_number = (unsigned)number;
    return true;
}

int zkl_limit_write(char text[ZKL_LIMIT_SIZE], unsigned permits)
{
    return snprintf(text, ZKL_LIMIT_SIZE, "{" MEMBER ":%u}", permits);
}

bool zkl_limit_read(const char *data, size_t size, unsigned *out_permits)
{
    struct text text = {data, data ? data + size : NULL};
    unsigned permits;

    if (!data || !take(&text, "{") || !take(&text, MEMBER) || !take(&text, ":") || !take_number(&text, &permits))
        return false;
    skip_blanks(&text);
    if (text.at == text.end || (*text.at != ',' && *text.at != '}'))
        return false;
    *out_permits = permits;
    return true;
}
