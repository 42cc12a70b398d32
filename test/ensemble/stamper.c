/* stamper FILE - writes the time on CLOCK_BOOTTIME in nanoseconds to the end of the file, a line every few
 * milliseconds, until it is ended: a job that shows when it was at work. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { INTERVAL_NS = 5000000 };

int main(int argc, char **argv)
{
    const struct timespec interval = {0, INTERVAL_NS};
    int file = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    struct timespec now;

    if (file < 0)
        return 64;
    for (;;) {
        clock_gettime(CLOCK_BOOTTIME, &now);
        if (dprintf(file, "%" PRId64 "\n", (int64_t)now.tv_sec * 1000000000 + now.tv_nsec) < 0)
            return 1;
        nanosleep(&interval, NULL);
    }
}
