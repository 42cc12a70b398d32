/* The limit of a semaphore as the data of its path: one member of a JSON object. Pure. */
#ifndef ZKL_LIMIT_H
#define ZKL_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* Room for the text, with its NUL. */
#define ZKL_LIMIT_SIZE 64

/* Writes {"zklock_permits":N}. Returns its length. */
int zkl_limit_write(char text[ZKL_LIMIT_SIZE], unsigned permits);
/* Reads the same, with blanks where JSON has them and with members behind it. False: this is no limit. */
bool zkl_limit_read(const char *data, size_t size, unsigned *out_permits);

#endif
