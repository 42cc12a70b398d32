/* Structs of options that grow from version to version: each begins with the size that its writer knows. */
#ifndef ZKL_OPTIONS_H
#define ZKL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copies over the defaults in `options` what the caller has of them. A caller that was compiled with an older header has
 * less than `size`, and at least `oldest_size`. False: it has another size, or more than this library knows of.
 */
bool zkl_options_take(void *options, size_t size, const void *given, size_t oldest_size);

#endif
