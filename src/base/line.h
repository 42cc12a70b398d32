/* One line of text that is put together piece by piece in a caller's buffer; what does not fit is cut off. Pure. */
#ifndef ZKL_LINE_H
#define ZKL_LINE_H

#include <stddef.h>

struct zkl_line {
    char *buffer;
    size_t size;
    size_t length;
};

/* Starts an empty line. `buffer` may be NULL: then everything is cut off. */
void zkl_line_init(struct zkl_line *line, char *buffer, size_t size);
void zkl_line_append(struct zkl_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes one line of a text that others may have had a hand in: control characters, those of UTF-8's second block
 * included, become question marks. */
void zkl_line_tame(char *text);

#endif
