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

/* Tokens and contenders of all locks, a blank between them. False: one of them never was granted, or no memory. */
static bool join(const struct exec *exec, char **out_tokens, char **out_contenders)
{
    size_t tokens_size;
    size_t contenders_size;
    FILE *tokens = open_memstream(out_tokens, &tokens_size);
    FILE *contenders = open_memstream(out_contenders, &contenders_size);
    bool is_granted = tokens && contenders;

    for (int i = 0; i < exec->hold.count && is_granted; i++) {
        char contender[CONTENDER_SIZE];
        uint64_t token = 0;

        zklock_contender_name(exec->hold.locks[i], contender, sizeof(contender));
        is_granted = zklock_token(exec->hold.locks[i], &token) == ZKLOCK_OK;
        fprintf(tokens, "%s%" PRIu64, i ? " " : "", token);
        fprintf(contenders, "%s%s", i ? " " : "", contender);
    }
    is_granted = (!tokens || fclose(tokens) == 0) && is_granted;
    return (!contenders || fclose(contenders) == 0) && is_granted;
}

static bool add_own(const struct exec *exec, char **entries)
{
    char *tokens = NULL;
    char *contenders = NULL;
    bool is_added = join(exec, &tokens, &contenders) &&
                    asprintf(&entries[0], "ZKLOCK_PATH=%s", exec->options->path) >= 0 &&
                    asprintf(&entries[1], "ZKLOCK_TOKEN=%s", tokens) >= 0 &&
                    asprintf(&entries[2], "ZKLOCK_CONTENDER=%s", contenders) >= 0 &&
                    asprintf(&entries[3], "ZKLOCK_SESSION_TIMEOUT_MS=%" PRId64, exec->session_timeout_ms) >= 0;

    free(tokens);
    free(contenders);
    return is_added;
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
