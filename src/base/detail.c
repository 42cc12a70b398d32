#include "base/detail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void zkl_detail_clear(struct zkl_detail *detail)
{
    free(detail->text);
    detail->text = NULL;
}

void zkl_detail_say(struct zkl_detail *detail, const char *format, ...)
{
    char line[ZKL_DETAIL_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    zkl_detail_clear(detail);
    if (line[0])
        detail->text = strdup(line);
}
