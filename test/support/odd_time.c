/* The odd clock's functions, in the place of the C library's: see odd_clock.h. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t *shared_offset_s;

static int64_t read_offset_s(void)
{
    const int64_t *offset_s = __atomic_load_n(&shared_offset_s, __ATOMIC_ACQUIRE);
    const char *path = getenv("ZKLOCK_TEST_CLOCK");

    if (!offset_s && path) {
        int file = open(path, O_RDONLY | O_CLOEXEC);

        if (file < 0)
            return 0;
        offset_s = mmap(NULL, sizeof(*offset_s), PROT_READ, MAP_SHARED, file, 0);
        close(file);
        if (offset_s == MAP_FAILED)
            return 0;
        __atomic_store_n(&shared_offset_s, offset_s, __ATOMIC_RELEASE);
    }
    return offset_s ? __atomic_load_n(offset_s, __ATOMIC_SEQ_CST) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out_time)
{
    int failure = (int)syscall(SYS_clock_gettime, clock, out_time);

    if (failure == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out_time->tv_sec += (time_t)read_offset_s();
    return failure;
}

int gettimeofday(struct timeval *restrict out_time, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    out_time->tv_sec = now.tv_sec;
    out_time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out_time)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (out_time)
        *out_time = now.tv_sec;
    return now.tv_sec;
}
