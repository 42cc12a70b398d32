/* Who we are to the servers: a copy of what the caller gave, wiped when it is given up. */
#ifndef ZKL_CREDENTIALS_H
#define ZKL_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>

struct zkl_credentials {
    char *scheme; /* NULL: nobody in particular */
    char *bytes;
    size_t size;
};

/* Whether the servers could be told of these at all: a scheme that is a word, and not too many bytes. */
bool zkl_credentials_are_valid(const char *scheme, const void *bytes, size_t size);
/* False: no memory. Without a scheme the copy is empty. */
bool zkl_credentials_copy(struct zkl_credentials *out_copy, const char *scheme, const void *bytes, size_t size);
/* Wipes and frees; may be repeated. */
void zkl_credentials_clear(struct zkl_credentials *credentials);

#endif
