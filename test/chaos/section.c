#include "chaos/section.h"

#include "support/eventually.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Without a lock of its own: a process that is frozen in here must not hold up the others. */
struct section_resource {
    _Atomic uint64_t highest[SECTION_MODES];
};

const char *section_mode_name(enum section_mode mode)
{
    return mode == SECTION_SHARED ? "shared" : "exclusive";
}

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(74);
}

static int open_file(const char *directory, const char *lock, const char *kind, int flags)
{
    char path[512];
    int file;

    snprintf(path, sizeof(path), "%s/%s.%s", directory, lock, kind);
    file = open(path, flags | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0)
        give_up(path);
    return file;
}

void section_place_open(struct section_place *place, const char *directory, const char *lock)
{
    int file = open_file(directory, lock, "resource", O_RDWR);
    void *memory;

    if (ftruncate(file, sizeof(struct section_resource)) != 0)
        give_up("ftruncate");
    memory = mmap(NULL, sizeof(struct section_resource), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        give_up("mmap");
    close(file);
    place->resource = memory;
    place->writes = open_file(directory, lock, "writes", O_WRONLY | O_APPEND);
    for (int mode = 0; mode < SECTION_MODES; mode++)
        place->records[mode] = open_file(directory, lock, section_mode_name(mode), O_WRONLY | O_APPEND);
}

static void append(int file, const char *line, int length)
{
    if (write(file, line, (size_t)length) != length)
        give_up("a record");
}

void section_mark(const struct section_place *place, enum section_mode mode, const char *mark, int64_t clock_ns,
                  uint64_t token)
{
    char line[128];
    int length = snprintf(line, sizeof(line), "%s %d %" PRId64 " %" PRIu64 "\n", mark, getpid(), clock_ns, token);

    append(place->records[mode], line, length);
}

/* Takes the token unless one that excludes it has been seen: above it, of an exclusive holder or, for an exclusive one,
 * of anybody. */
static bool decide(struct section_resource *resource, enum section_mode mode, uint64_t token)
{
    _Atomic uint64_t *own = &resource->highest[mode];
    uint64_t seen = atomic_load(own);

    do {
        enum section_mode other = mode == SECTION_SHARED ? SECTION_EXCLUSIVE : SECTION_SHARED;

        if (atomic_load(&resource->highest[other]) > token || (mode == SECTION_EXCLUSIVE && seen > token))
            return false;
        if (seen >= token)
            return true;
    } while (!atomic_compare_exchange_weak(own, &seen, token));
    return true;
}

bool section_write(const struct section_place *place, enum section_mode mode, uint64_t token)
{
    int64_t before_ns = boottime_ns();
    bool is_accepted = decide(place->resource, mode, token);
    char line[160];
    int length = snprintf(line, sizeof(line), "%s %s %" PRId64 " %" PRId64 " %d %" PRIu64 "\n",
                          is_accepted ? "accepted" : "refused", section_mode_name(mode), before_ns, boottime_ns(),
                          getpid(), token);

    append(place->writes, line, length);
    return is_accepted;
}
