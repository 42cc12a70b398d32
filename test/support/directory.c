#include "support/directory.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPEN_DIRECTORIES = 16 };

char *directory_make(const char *name)
{
    const char *base = getenv("TMPDIR");
    char *path = NULL;

    if (asprintf(&path, "%s/%s-XXXXXX", base && base[0] == '/' ? base : "/tmp", name) < 0)
        return NULL;
    if (!mkdtemp(path)) {
        free(path);
        return NULL;
    }
    return path;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

bool directory_remove(const char *path)
{
    return nftw(path, remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS) == 0;
}
