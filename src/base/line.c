#include "base/line.h"

#include <stdarg.h>
#include <stdio.h>

void zkl_line_init(struct zkl_line *line, char *buffer, size_t size)
{
    line->buffer = buffer;
    line->size = buffer ? size : 0;
    line->length = 0;
    if (line->size > 0)
        buffer[0] = '\0';
}

void zkl_line_append(struct zkl_line *line, const char *format, ...)
{
    size_t room = line->size - line->length;
    va_list arguments;
    int wanted;

    if (room <= 1)
        return;
    va_start(arguments, format);
    wanted = vsnprintf(line->buffer + line->length, room, format, arguments);
    va_end(arguments);
    if (wanted > 0)
        line->length += (size_t)wanted < room ? (size_t)wanted : room - 1;
}

void zkl_line_tame(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at; at++) {
        if (at[0] == 0xC2 && at[1] >= 0x80 && at[1] <= 0x9F)
            at[0] = at[1] = '?';
        else if (at[0] < ' ' || at[0] == 0x7F)
            at[0] = '?';
    }
}
