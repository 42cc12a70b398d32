#include "environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OWN_COUNT = 4, CONTENDER_SIZE = 1024 };

/* Variables of ours, those of an outer lock included: a nested command sees the inner lock. */
static bool is_own(const char *entry)
{
    static const char *const names[OWN_COUNT] = {"ZKLOCK_PATH=", "ZKLOCK_TOKEN=", "ZKLOCK_CONTENDER=",
                                                 "ZKLOCK_SESSION_TIMEOUT_MS="};

    for (int i = 0; i < OWN_COUNT; i++) {
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

static bool add_own(const struct exec *exec, char **entries)
{
    char contender[CONTENDER_SIZE];
    uint64_t token = 0;

    zklock_contender_name(exec->lock, contender, sizeof(contender));
    if (zklock_token(exec->lock, &token) != ZKLOCK_OK)
        return false;
    return asprintf(&entries[0], "ZKLOCK_PATH=%s", exec->options->path) >= 0 &&
           asprintf(&entries[1], "ZKLOCK_TOKEN=%" PRIu64, token) >= 0 &&
           asprintf(&entries[2], "ZKLOCK_CONTENDER=%s", contender) >= 0 &&
           asprintf(&entries[3], "ZKLOCK_SESSION_TIMEOUT_MS=%" PRId64, exec->session_timeout_ms) >= 0;
}

char **environment_of_command(const struct exec *exec)
{
    size_t count = 0;
    size_t used = 0;
    char **environment;

    while (environ && environ[count])
        count++;
    environment = calloc(count + OWN_COUNT + 1, sizeof(*environment));
    if (!environment)
        return NULL;
    /* Own entries come first, so that environment_free() knows which ones to free. */
    if (!add_own(exec, environment)) {
        environment_free(environment);
        return NULL;
    }
    used = OWN_COUNT;
    for (size_t i = 0; i < count; i++) {
        if (!is_own(environ[i]))
            environment[used++] = environ[i];
    }
    return environment;
}

void environment_free(char **environment)
{
    for (int i = 0; environment && i < OWN_COUNT; i++)
        free(environment[i]);
    free(environment);
}
