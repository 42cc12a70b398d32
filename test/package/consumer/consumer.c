/* The least that shows header and library to be of one mind; needs no server. */
#include <stdio.h>
#include <string.h>

#include <zklock.h>

int main(void)
{
    char version[32], detail[128];
    snprintf(version, sizeof version, "%d.%d.%d", ZKLOCK_VERSION_MAJOR, ZKLOCK_VERSION_MINOR, ZKLOCK_VERSION_PATCH);
    if (strcmp(version, zklock_version()) != 0) {
        fprintf(stderr, "the header is of %s, the library of %s\n", version, zklock_version());
        return 1;
    }
    if (zklock_path_check("/a//b", detail, sizeof detail) != ZKLOCK_BAD_ARGUMENT) {
        fprintf(stderr, "an empty component was accepted\n");
        return 1;
    }
    printf("zklock %s: %s\n", version, detail);
    return 0;
}
