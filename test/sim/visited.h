/* The worlds seen so far: fingerprints with marks, and for each explored one the step that led there. */
#ifndef SIM_VISITED_H
#define SIM_VISITED_H

#include <stddef.h>
#include <stdint.h>

#include "steps.h"

enum mark {
    MARK_EXPLORED = 1,
    MARK_CALM = 2, /* its calm course comes to a good end */
};

struct origin {
    uint32_t parent; /* index of a world; its own index: the first one */
    struct step step;
};

struct visited {
    uint64_t *entries; /* fingerprint above the two marks; 0: empty */
    size_t capacity;   /* a power of two */
    size_t count;
    struct origin *origins;
    size_t origin_count;
    size_t origin_capacity;
};

void visited_init(struct visited *visited);
void visited_clear(struct visited *visited);
/* Adds a mark; returns the marks that were there before. */
unsigned visited_mark(struct visited *visited, uint64_t fingerprint, enum mark mark);
unsigned visited_marks(const struct visited *visited, uint64_t fingerprint);
/* Records where the next explored world came from. */
void visited_record(struct visited *visited, uint32_t parent, const struct step *step);

/* malloc and realloc that end the program when there is nothing left. */
void *visited_allocate(void *memory, size_t count, size_t size);

#endif
