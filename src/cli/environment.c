#include "environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONTENDER_SIZE = 1024 };

/* Variables of ours, those of an outer lock included: a nested command sees the inner lock. */
static bool is_own(const char *entry)
{
    static const char *const names[ENVIRONMENT_MOST] = {"ZKLOCK_PATH=", "ZKLOCK_TOKEN=", "ZKLOCK_CONTENDER=",
                                                 "ZKLOCK_SESSION_TIMEOUT_MS="};

    for (int i = 0; i < ENVIRONMENT_MOST; i++) {
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

char **environment_variables(const struct exec *exec)
{
    char **variables = calloc(ENVIRONMENT_MOST + 1, sizeof(*variables));

    if (variables && !add_own(exec, variables)) {
        environment_variables_free(variables);
        return NULL;
    }
    return variables;
}

void environment_variables_free(char **variables)
{
    for (int i = 0; variables && i < ENVIRONMENT_MOST; i++)
        free(variables[i]);
    free(variables);
}

char **environment_with(char *const *variables)
{
    size_t count = 0;
    size_t used = 0;
    char **environment;

    while (environ && environ[count])
        count++;
    environment = calloc(count + ENVIRONMENT_MOST + 1, sizeof(*environment));
    if (!environment)
        return NULL;
    for (int i = 0; variables[i]; i++)
        environment[used++] = variables[i];
    for (size_t i = 0; i < count; i++) {
        if (!is_own(environ[i]))
            environment[used++] = environ[i];
    }
    return environment;
}
