#include "colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colour_is_wanted(void)
{
    const char *forbidden = getenv("NO_COLOR");
    const char *kind = getenv("TERM");

    return isatty(STDOUT_FILENO) && (!forbidden || forbidden[0] == '\0') && kind && kind[0] &&
           strcmp(kind, "dumb") != 0;
}

const char *colour_begin(enum colour colour)
{
    static const char *const codes[] = {
        [COLOUR_HEAD] = "\x1b[1m", [COLOUR_GOOD] = "\x1b[32m", [COLOUR_BAD] = "\x1b[31m", [COLOUR_FAINT] = "\x1b[2m"};

    return colour_is_wanted() ? codes[colour] : "";
}

const char *colour_end(void)
{
    return colour_is_wanted() ? "\x1b[0m" : "";
}
