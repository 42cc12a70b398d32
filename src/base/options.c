#include "base/options.h"

#include <string.h>

bool zkl_options_take(void *options, size_t size, const void *given, size_t oldest_size)
{
    size_t given_size;

    memcpy(&given_size, given, sizeof given_size);
    if (given_size < oldest_size || given_size > size)
        return false;
    memcpy(options, given, given_size);
    memcpy(options, &size, sizeof size);
    return true;
}
