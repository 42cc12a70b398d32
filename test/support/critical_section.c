/* critical-section FILE HOLD_MS [BEAT_MS]
 *
 * What a test runs under the lock: writes its start to FILE, holds on, writes its stop. See critical.h.
 */
#include "support/critical.h"
#include "support/eventually.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { USAGE = 64, CANNOT_WRITE = 74 };

static bool parse_ms(const char *text, long *out_ms)
{
    char *end = NULL;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 0 || value > INT_MAX)
        return false;
    *out_ms = value;
    return true;
}

static void sleep_ns(int64_t ns)
{
    struct timespec interval = {ns / 1000000000, ns % 1000000000};

    while (nanosleep(&interval, &interval) != 0 && errno == EINTR)
        continue;
}

static bool hold(int file, const char *token, long hold_ms, long beat_ms)
{
    int64_t end_ns = boottime_ns() + (int64_t)hold_ms * 1000000;
    int64_t left_ns;

    while ((left_ns = end_ns - boottime_ns()) > 0) {
        int64_t beat_ns = (int64_t)beat_ms * 1000000;
        bool has_beat = beat_ns > 0 && beat_ns < left_ns;

        sleep_ns(has_beat ? beat_ns : left_ns);
        if (has_beat && !critical_write(file, "alive", token))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    const char *token = getenv("ZKLOCK_TOKEN");
    long hold_ms = 0;
    long beat_ms = 0;
    int file;

    if (argc < 3 || argc > 4 || !parse_ms(argv[2], &hold_ms) || (argc == 4 && !parse_ms(argv[3], &beat_ms))) {
        fprintf(stderr, "usage: critical-section FILE HOLD_MS [BEAT_MS], times in whole milliseconds\n");
        return USAGE;
    }
    file = critical_open(argv[1]);
    if (file < 0 || !critical_write(file, "start", token) || !hold(file, token, hold_ms, beat_ms)
        || !critical_write(file, "stop", token)) {
        fprintf(stderr, "critical-section: cannot write %s: %s\n", argv[1], strerror(errno));
        return CANNOT_WRITE;
    }
    return 0;
}
