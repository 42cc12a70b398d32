#include "visited.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARKS UINT64_C(3)
#define FIRST_CAPACITY ((size_t)1 << 16)

void *visited_allocate(void *memory, size_t count, size_t size)
{
    void *moved = count > SIZE_MAX / size ? NULL : realloc(memory, count * size);

    if (!moved) {
        fprintf(stderr, "explorer: no memory for %zu times %zu bytes; choose smaller bounds\n", count, size);
        exit(2);
    }
    return moved;
}

static uint64_t *new_entries(size_t capacity)
{
    uint64_t *entries = visited_allocate(NULL, capacity, sizeof *entries);

    memset(entries, 0, capacity * sizeof *entries);
    return entries;
}

void visited_init(struct visited *visited)
{
    memset(visited, 0, sizeof *visited);
    visited->capacity = FIRST_CAPACITY;
    visited->entries = new_entries(FIRST_CAPACITY);
}

void visited_clear(struct visited *visited)
{
    free(visited->entries);
    free(visited->origins);
    memset(visited, 0, sizeof *visited);
}

/* Where this fingerprint is, or where it would go. */
static uint64_t *find(const struct visited *visited, uint64_t fingerprint)
{
    uint64_t key = fingerprint & ~MARKS;
    size_t at = (size_t)(fingerprint >> 20) & (visited->capacity - 1);

    while (visited->entries[at] != 0 && (visited->entries[at] & ~MARKS) != key)
        at = (at + 1) & (visited->capacity - 1);
    return &visited->entries[at];
}

static void grow(struct visited *visited)
{
    uint64_t *old = visited->entries;
    size_t old_capacity = visited->capacity;

    visited->capacity *= 2;
    visited->entries = new_entries(visited->capacity);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i] != 0)
            *find(visited, old[i]) = old[i];
    free(old);
}

unsigned visited_mark(struct visited *visited, uint64_t fingerprint, enum mark mark)
{
    uint64_t *entry = find(visited, fingerprint);
    unsigned marks = (unsigned)(*entry & MARKS);

    if (*entry == 0)
        visited->count++;
    *entry = (fingerprint & ~MARKS) | marks | mark;
    if (visited->count > visited->capacity / 4 * 3)
        grow(visited);
    return marks;
}

unsigned visited_marks(const struct visited *visited, uint64_t fingerprint)
{
    return (unsigned)(*find(visited, fingerprint) & MARKS);
}

void visited_record(struct visited *visited, uint32_t parent, const struct step *step)
{
    if (visited->origin_count == visited->origin_capacity) {
        visited->origin_capacity = visited->origin_capacity ? visited->origin_capacity * 2 : FIRST_CAPACITY;
        visited->origins =
            visited_allocate(visited->origins, visited->origin_capacity, sizeof visited->origins[0]);
    }
    visited->origins[visited->origin_count++] = (struct origin){parent, *step};
}
