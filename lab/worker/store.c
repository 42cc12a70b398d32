#include "store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static FILE *open_locked(const char *file)
{
    int descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "r+");

    if (!stream || flock(descriptor, LOCK_EX) != 0) {
        perror(file);
        exit(1);
    }
    return stream;
}

static void scan(FILE *stream, int64_t *out_value, uint64_t *out_token)
{
    *out_value = 0;
    *out_token = 0;
    if (fscanf(stream, "%" SCNd64 " %" SCNu64, out_value, out_token) != 2)
        rewind(stream);
}

/* Puts down value and token if the token is not behind. */
static bool visit(const char *file, uint64_t token, const int64_t *value, int64_t *out_value)
{
    FILE *stream = open_locked(file);
    uint64_t highest;
    bool is_allowed;

    scan(stream, out_value, &highest);
    is_allowed = token == 0 || token >= highest;
    if (is_allowed) {
        rewind(stream);
        fprintf(stream, "%20" PRId64 " %20" PRIu64 "\n", value ? *value : *out_value,
                token > highest ? token : highest);
    }
    fclose(stream);
    return is_allowed;
}

bool store_read(const char *file, uint64_t token, int64_t *out_value)
{
    return visit(file, token, NULL, out_value);
}

bool store_write(const char *file, int64_t value, uint64_t token)
{
    int64_t present;

    return visit(file, token, &value, &present);
}
