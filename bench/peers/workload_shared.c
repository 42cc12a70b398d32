#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

void *bench_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        peer_fail("out of memory");
    return memory;
}

void bench_rest(const struct bench *bench)
{
    long rest_ms = order_number(bench->order, "rest_ms", 5);
    struct timespec rest = {.tv_sec = rest_ms / 1000, .tv_nsec = rest_ms % 1000 * 1000000};

    nanosleep(&rest, NULL);
}

void contender_open(const struct bench *bench, const char *path, struct contender *contender)
{
    contender->session = bench->peer->open(bench->servers, bench->timeout_ms);
    contender->lock = bench->peer->lock_new(contender->session, path);
}

void contender_close(const struct bench *bench, struct contender *contender)
{
    bench->peer->lock_free(contender->lock);
    bench->peer->close(contender->session);
}

static long count_entries(const char *directory)
{
    DIR *entries = opendir(directory);
    long count = 0;

    if (!entries)
        peer_fail("cannot read %s", directory);
    for (const struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

static long resident_pages(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long pages = 0;

    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        peer_fail("cannot read /proc/self/statm");
    fclose(file);
    return pages;
}

static int64_t microseconds(struct timeval time)
{
    return time.tv_sec * INT64_C(1000000) + time.tv_usec;
}

void usage_read(struct usage *usage)
{
    struct rusage own;

    getrusage(RUSAGE_SELF, &own);
    usage->cpu_us = microseconds(own.ru_utime) + microseconds(own.ru_stime);
    usage->resident_bytes = resident_pages() * sysconf(_SC_PAGESIZE);
    usage->threads = count_entries("/proc/self/task");
    usage->descriptors = count_entries("/proc/self/fd");
}

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

void samples_report(const struct bench *bench, const char *name, int64_t *samples, long count)
{
    qsort(samples, (size_t)count, sizeof samples[0], compare);
    fprintf(bench->out, " %s=%lld %s_p99=%lld", name, (long long)samples[count / 2], name,
            (long long)samples[count * 99 / 100]);
}
