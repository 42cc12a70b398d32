#include "support/odd_clock.h"

#include "support/directory.h"
#include "support/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char *directory;
static char *file_path;
static char *place;
static int64_t *offset_s;

void odd_clock_start(void)
{
    int file;

    directory = directory_make("zklock-clock");
    if (!directory || asprintf(&file_path, "%s/offset", directory) < 0
        || asprintf(&place, "ZKLOCK_TEST_CLOCK=%s", file_path) < 0)
        suite_abandon("cannot make a directory for the odd clock");
    file = open(file_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(*offset_s)) != 0)
        suite_abandon("cannot make %s", file_path);
    offset_s = mmap(NULL, sizeof(*offset_s), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (offset_s == MAP_FAILED)
        suite_abandon("cannot map %s", file_path);
    setenv("ZKLOCK_TEST_CLOCK", file_path, 1);
}

void odd_clock_end(void)
{
    if (offset_s)
        odd_clock_step(0);
    unsetenv("ZKLOCK_TEST_CLOCK");
    if (directory)
        directory_remove(directory);
    free(directory);
    free(file_path);
    free(place);
    directory = file_path = place = NULL;
}

void odd_clock_step(int64_t off_s)
{
    __atomic_store_n(offset_s, off_s, __ATOMIC_SEQ_CST);
}

const char *odd_clock_preload(void)
{
    return "LD_PRELOAD=" ZKLOCK_ODD_CLOCK;
}

const char *odd_clock_place(void)
{
    return place;
}
