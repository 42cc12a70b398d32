/*
 * A fence in memory or in a file.
 *
 * The file has two records, written in turn, in place: whatever a crash leaves of the one, the other still says the token
 * before it, and the one whose record was not finished has not been admitted. Nothing is renamed, so that the lock on the
 * open file is a lock on the fence.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "zklock.h"

enum { RECORD_SIZE = 64, RECORDS = 2, FIRST_NAP_US = 500, LONGEST_NAP_US = 20000 };

#define NS_PER_MS 1000000
#define NS_PER_S INT64_C(1000000000)
/* Condition variables refuse CLOCK_BOOTTIME, which goes on in suspend: so the limit is looked at now and then. */
#define LONGEST_WAIT_NS NS_PER_S

struct zklock_fence {
    pid_t pid;
    int fd; /* -1: in memory */
    pthread_mutex_t mutex;
    pthread_cond_t left;
    bool is_entered;
    uint64_t newest;
    int turn; /* the record that is written next */
};

/* ---------------------------------------------------------------- the file */

static uint32_t sum_of(uint64_t token)
{
    uint32_t sum = 2166136261u;

    for (int i = 0; i < 8; i++)
        sum = (sum ^ (uint8_t)(token >> 8 * i)) * 16777619u;
    return sum;
}

/* `record` has room for a NUL behind it. */
static void write_record(char *record, uint64_t token)
{
    snprintf(record, RECORD_SIZE + 1, "zklock-fence 1 %020" PRIu64 " %08" PRIx32 "%*s\n", token, sum_of(token),
             RECORD_SIZE - 15 - 20 - 1 - 8 - 1, "");
}

static bool read_record(const char *record, uint64_t *out_token)
{
    char digits[21] = "";
    char again[RECORD_SIZE + 1];

    memcpy(digits, record + 15, 20);
    if (strspn(digits, "0123456789") != 20)
        return false;
    uint64_t token = strtoull(digits, NULL, 10);
    write_record(again, token);
    if (memcmp(record, again, RECORD_SIZE) != 0)
        return false;
    *out_token = token;
    return true;
}

/* What a crash can have left of a file that was being made. */
static bool is_unfinished(const char *bytes, ssize_t size)
{
    char first[RECORD_SIZE + 1];

    write_record(first, 0);
    for (ssize_t i = 0; i < size; i++) {
        if (bytes[i] != '\0' && bytes[i] != first[i % RECORD_SIZE])
            return false;
    }
    return true;
}

static zklock_status put(int fd, const char *bytes, size_t size, off_t at)
{
    while (size > 0) {
        ssize_t written = pwrite(fd, bytes, size, at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return ZKLOCK_SYSTEM;
        bytes += written;
        at += written;
        size -= (size_t)written;
    }
    return fsync(fd) == 0 ? ZKLOCK_OK : ZKLOCK_SYSTEM;
}

/* @locks the file's */
static zklock_status make(struct zklock_fence *fence)
{
    char records[RECORDS * RECORD_SIZE + 1];

    for (int i = 0; i < RECORDS; i++)
        write_record(records + i * RECORD_SIZE, 0);
    fence->turn = 0;
    return put(fence->fd, records, RECORDS * RECORD_SIZE, 0);
}

/* Takes what the file says now: others write it, too. @locks the file's */
static zklock_status look(struct zklock_fence *fence)
{
    char bytes[RECORDS * RECORD_SIZE + 1];
    ssize_t size = pread(fence->fd, bytes, sizeof bytes, 0);
    bool is_known = false;

    if (size < 0)
        return ZKLOCK_SYSTEM;
    for (int i = 0; i < RECORDS && (i + 1) * RECORD_SIZE <= size && size <= RECORDS * RECORD_SIZE; i++) {
        uint64_t token;
        if (!read_record(bytes + i * RECORD_SIZE, &token))
            continue;
        if (!is_known || token > fence->newest) {
            fence->newest = token;
            fence->turn = (i + 1) % RECORDS;
        }
        is_known = true;
    }
    if (is_known)
        return ZKLOCK_OK;
    return size <= RECORDS * RECORD_SIZE && is_unfinished(bytes, size) ? make(fence) : ZKLOCK_BAD_ARGUMENT;
}

static zklock_status note(struct zklock_fence *fence, uint64_t token)
{
    char record[RECORD_SIZE + 1];

    write_record(record, token);
    zklock_status status = put(fence->fd, record, RECORD_SIZE, fence->turn * RECORD_SIZE);
    if (status == ZKLOCK_OK)
        fence->turn = (fence->turn + 1) % RECORDS;
    return status;
}

/* ---------------------------------------------------------------- limits */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int64_t end_of(int64_t timeout_ms)
{
    return timeout_ms < 0 || timeout_ms > INT64_MAX / 4 / NS_PER_MS ? INT64_MAX : now_ns() + timeout_ms * NS_PER_MS;
}

/* The kernel's locks on files wait for ever or not at all. */
static zklock_status lock_file(int fd, int64_t end_ns)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int64_t nap_us = FIRST_NAP_US;

    while (fcntl(fd, F_OFD_SETLK, &whole) != 0) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return ZKLOCK_SYSTEM;
        if (now_ns() >= end_ns)
            return ZKLOCK_TIMEOUT;
        nanosleep(&(struct timespec){.tv_nsec = nap_us * 1000}, NULL);
        nap_us = nap_us * 2 < LONGEST_NAP_US ? nap_us * 2 : LONGEST_NAP_US;
    }
    return ZKLOCK_OK;
}

static void unlock_file(int fd)
{
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

    if (fd >= 0)
        (void)fcntl(fd, F_OFD_SETLK, &whole);
}

/* For so long at most. @locks expects the fence's mutex, gives it up while waiting */
static void await_change(struct zklock_fence *fence, int64_t longest_ns)
{
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t ns = end.tv_nsec + (longest_ns < LONGEST_WAIT_NS ? longest_ns : LONGEST_WAIT_NS);
    end.tv_sec += (time_t)(ns / NS_PER_S);
    end.tv_nsec = (long)(ns % NS_PER_S);
    (void)pthread_cond_timedwait(&fence->left, &fence->mutex, &end);
}

/* @locks expects the fence's mutex, gives it up while waiting */
static zklock_status await_turn(struct zklock_fence *fence, int64_t end_ns)
{
    while (fence->is_entered) {
        int64_t left_ns = end_ns == INT64_MAX ? INT64_MAX : end_ns - now_ns();
        if (left_ns <= 0)
            return ZKLOCK_TIMEOUT;
        await_change(fence, left_ns);
    }
    return ZKLOCK_OK;
}

/* ---------------------------------------------------------------- the public calls */

/* A file that a crash takes away again remembers nothing. Directories that may not be read are their owner's affair. */
static void sync_directory_of(const char *file)
{
    char *directory = strdup(file);
    char *slash = directory ? strrchr(directory, '/') : NULL;

    if (slash)
        slash[slash == directory] = '\0';
    int fd = directory ? open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(directory);
}

static zklock_status open_file(struct zklock_fence *fence, const char *file)
{
    struct stat about;

    fence->fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (fence->fd < 0)
        return ZKLOCK_SYSTEM;
    if (fstat(fence->fd, &about) != 0 || !S_ISREG(about.st_mode))
        return ZKLOCK_BAD_ARGUMENT;
    zklock_status status = lock_file(fence->fd, INT64_MAX);
    if (status == ZKLOCK_OK)
        status = look(fence);
    unlock_file(fence->fd);
    if (status == ZKLOCK_OK)
        sync_directory_of(file);
    return status;
}

static zklock_status open_fence(const char *file, zklock_fence **out_fence)
{
    pthread_condattr_t attributes;
    zklock_fence *fence = out_fence ? calloc(1, sizeof *fence) : NULL;

    if (!fence)
        return out_fence ? ZKLOCK_NO_MEMORY : ZKLOCK_BAD_ARGUMENT;
    fence->pid = getpid();
    fence->fd = -1;
    pthread_mutex_init(&fence->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&fence->left, &attributes);
    pthread_condattr_destroy(&attributes);
    zklock_status status = file ? open_file(fence, file) : ZKLOCK_OK;
    if (status == ZKLOCK_OK)
        *out_fence = fence;
    else
        zklock_fence_close(fence);
    return status;
}

zklock_status zklock_fence_open(const char *file, zklock_fence **out_fence)
{
    int before = zkl_cancel_forbid();
    zklock_status status = open_fence(file, out_fence);

    zkl_cancel_restore(before);
    return status;
}

void zklock_fence_close(zklock_fence *fence)
{
    if (!fence || fence->pid != getpid())
        return;
    int before = zkl_cancel_forbid();
    /* The lock is that of the open file, which a forked child may still have. */
    unlock_file(fence->fd);
    if (fence->fd >= 0)
        close(fence->fd);
    pthread_cond_destroy(&fence->left);
    pthread_mutex_destroy(&fence->mutex);
    free(fence);
    zkl_cancel_restore(before);
}

/* Alone, as far as this object is concerned. */
static zklock_status admit(struct zklock_fence *fence, uint64_t token, int64_t end_ns)
{
    zklock_status status = fence->fd < 0 ? ZKLOCK_OK : lock_file(fence->fd, end_ns);

    if (status != ZKLOCK_OK)
        return status;
    if (fence->fd >= 0)
        status = look(fence);
    if (status == ZKLOCK_OK && token < fence->newest)
        status = ZKLOCK_STALE;
    if (status == ZKLOCK_OK && token > fence->newest && fence->fd >= 0)
        status = note(fence, token);
    if (status == ZKLOCK_OK)
        fence->newest = token;
    else
        unlock_file(fence->fd);
    return status;
}

static zklock_status enter(zklock_fence *fence, uint64_t token, int64_t end_ns)
{
    pthread_mutex_lock(&fence->mutex);
    zklock_status status = await_turn(fence, end_ns);
    fence->is_entered |= status == ZKLOCK_OK;
    pthread_mutex_unlock(&fence->mutex);
    if (status != ZKLOCK_OK)
        return status;
    status = admit(fence, token, end_ns);
    if (status != ZKLOCK_OK)
        zklock_fence_leave(fence);
    return status;
}

zklock_status zklock_fence_enter(zklock_fence *fence, uint64_t token, int64_t timeout_ms)
{
    int64_t end_ns = end_of(timeout_ms);

    if (!fence)
        return ZKLOCK_BAD_ARGUMENT;
    if (fence->pid != getpid())
        return ZKLOCK_FORKED;
    int before = zkl_cancel_forbid();
    zklock_status status = enter(fence, token, end_ns);
    zkl_cancel_restore(before);
    return status;
}

void zklock_fence_leave(zklock_fence *fence)
{
    if (!fence || fence->pid != getpid())
        return;
    pthread_mutex_lock(&fence->mutex);
    if (fence->is_entered)
        unlock_file(fence->fd);
    fence->is_entered = false;
    pthread_cond_signal(&fence->left);
    pthread_mutex_unlock(&fence->mutex);
}

zklock_status zklock_fence_admit(zklock_fence *fence, uint64_t token, int64_t timeout_ms)
{
    zklock_status status = zklock_fence_enter(fence, token, timeout_ms);

    if (status == ZKLOCK_OK)
        zklock_fence_leave(fence);
    return status;
}
