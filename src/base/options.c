#include "base/options.h"

#include <string.h>

/* No struct comes near it: what is larger was never filled in. */
#define LARGEST_SIZE 4096

void zkl_options_fill(void *options, size_t size, const void *defaults, size_t known_size)
{
    if (size < sizeof size)
        return;
    memset(options, 0, size);
    memcpy(options, defaults, size < known_size ? size : known_size);
    memcpy(options, &size, sizeof size);
}

bool zkl_options_take(void *options, size_t size, const void *given, size_t oldest_size)
{
    const unsigned char *bytes = given;
    size_t given_size;

    memcpy(&given_size, given, sizeof given_size);
    if (given_size < oldest_size || given_size > LARGEST_SIZE)
        return false;
    for (size_t i = size; i < given_size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    memcpy(options, given, given_size < size ? given_size : size);
    memcpy(options, &size, sizeof size);
    return true;
}
