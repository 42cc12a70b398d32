/* Colours on standard output: only on a terminal that has them, and not where NO_COLOR is set. */
#ifndef CLI_COLOUR_H
#define CLI_COLOUR_H

#include <stdbool.h>

enum colour { COLOUR_HEAD, COLOUR_GOOD, COLOUR_BAD, COLOUR_FAINT };

bool colour_is_wanted(void);

/* What begins and ends such a piece of text; "" where no colours are wanted. */
const char *colour_begin(enum colour colour);
const char *colour_end(void);

#endif
