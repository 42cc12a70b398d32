/* What every fuzzer needs: the input taken piece by piece, a second reading of UTF-8, and a check that ends the
 * process. */
#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
    const uint8_t *data;
    size_t size;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* 0 when nothing is left. */
static inline uint8_t take_byte(struct input *input)
{
    if (input->size == 0)
        return 0;
    input->size--;
    return *input->data++;
}

static inline uint64_t take_word(struct input *input, int byte_count)
{
    uint64_t word = 0;

    while (byte_count-- > 0)
        word = word << 8 | take_byte(input);
    return word;
}

/* Both take at most `longest` bytes, into memory of exactly their size, so that a step too far shows. Caller frees. */
char *take_bytes(struct input *input, size_t longest, size_t *out_size);
/* A string: it ends at the first NUL, which is taken as well. */
char *take_text(struct input *input, size_t longest);

/* Bytes of the character at `text`, by the byte ranges of RFC 3629; 0: the bytes are no UTF-8. */
size_t read_character(const char *text, size_t size, uint32_t *out_point);
bool is_utf8(const char *text);

#define EXPECT(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

#endif
