/* Bytes of strangers, made fit for a terminal. Pure; any thread. */
#ifndef CLI_SAFE_TEXT_H
#define CLI_SAFE_TEXT_H

#include <stddef.h>

/*
 * Copies `size` bytes of `text` to `buffer`, escaping (\n, \x1b, \u202e) control characters, direction marks
 * and whatever is no valid UTF-8; in a locale other than UTF-8 everything beyond ASCII. What does not fit is
 * cut at a character's end. `buffer` is always terminated. Returns the number of bytes written.
 */
size_t safe_text(const char *text, size_t size, char *buffer, size_t buffer_size);

/* The columns that a safe text takes on a terminal. */
int safe_text_columns(const char *text);

/* Cuts a safe text to at most `columns`, the last of which is then '~'. */
void safe_text_cut(char *text, int columns);

#endif
