/* Structs of options that grow from version to version: each begins with the size that its writer knows. */
#ifndef ZKL_OPTIONS_H
#define ZKL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes exactly the caller's `size` bytes: that size, then of the defaults what fits, and zeros behind what is known. */
void zkl_options_fill(void *options, size_t size, const void *defaults, size_t known_size);

/*
 * Copies over the defaults in `options` what the caller has of them. A caller that was compiled with an older header has
 * less than `size`, and at least `oldest_size`; one with a newer header has more. False: it has another size, or asks for
 * something that this library does not know of: there something else than zero stands.
 */
bool zkl_options_take(void *options, size_t size, const void *given, size_t oldest_size);

#endif
