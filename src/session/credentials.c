#include "session/credentials.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_SCHEME 64
/* Far below what a request may have. */
#define MOST_BYTES 65536

bool zkl_credentials_are_valid(const char *scheme, const void *bytes, size_t size)
{
    size_t length = scheme ? strnlen(scheme, LONGEST_SCHEME + 1) : 0;

    if (!scheme)
        return !bytes && size == 0;
    for (size_t i = 0; i < length; i++) {
        if (scheme[i] <= ' ' || scheme[i] > '~' || scheme[i] == ':')
            return false;
    }
    return length > 0 && length <= LONGEST_SCHEME && size <= MOST_BYTES && (bytes || size == 0);
}

bool zkl_credentials_copy(struct zkl_credentials *out_copy, const char *scheme, const void *bytes, size_t size)
{
    *out_copy = (struct zkl_credentials){0};
    if (!scheme)
        return true;
    out_copy->scheme = strdup(scheme);
    out_copy->bytes = malloc(size + 1);
    if (!out_copy->scheme || !out_copy->bytes) {
        zkl_credentials_clear(out_copy);
        return false;
    }
    if (size > 0)
        memcpy(out_copy->bytes, bytes, size);
    out_copy->size = size;
    return true;
}

void zkl_credentials_clear(struct zkl_credentials *credentials)
{
    if (credentials->bytes)
        explicit_bzero(credentials->bytes, credentials->size);
    free(credentials->bytes);
    free(credentials->scheme);
    *credentials = (struct zkl_credentials){0};
}
