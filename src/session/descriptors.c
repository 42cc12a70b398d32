#include "session/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool grow(struct zkl_descriptors *descriptors)
{
    size_t capacity = descriptors->capacity > 0 ? descriptors->capacity * 2 : 64;
    int *numbers = realloc(descriptors->numbers, capacity * sizeof(*numbers));

    if (!numbers)
        return false;
    descriptors->numbers = numbers;
    descriptors->capacity = capacity;
    return true;
}

static bool append(struct zkl_descriptors *descriptors, int number)
{
    if (descriptors->count == descriptors->capacity && !grow(descriptors))
        return false;
    descriptors->numbers[descriptors->count++] = number;
    return true;
}

void zkl_descriptors_list(struct zkl_descriptors *out_descriptors)
{
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;

    *out_descriptors = (struct zkl_descriptors){.is_complete = directory != NULL};
    while (directory && out_descriptors->is_complete && (entry = readdir(directory))) {
        /* The directory's own descriptor is there too, and its number will be the next one's. */
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory))
            out_descriptors->is_complete = append(out_descriptors, atoi(entry->d_name));
    }
    if (directory)
        closedir(directory);
}

void zkl_descriptors_clear(struct zkl_descriptors *descriptors)
{
    free(descriptors->numbers);
    *descriptors = (struct zkl_descriptors){.numbers = NULL};
}

static int compare_numbers(const void *one, const void *other)
{
    int left = *(const int *)one, right = *(const int *)other;

    return (left > right) - (left < right);
}

static bool contains(const struct zkl_descriptors *descriptors, int number)
{
    return bsearch(&number, descriptors->numbers, descriptors->count, sizeof(number), compare_numbers) != NULL;
}

static bool is_unsealed(int number)
{
    int flags = fcntl(number, F_GETFD);

    return flags >= 0 && !(flags & FD_CLOEXEC);
}

static void seal(int number)
{
    fcntl(number, F_SETFD, FD_CLOEXEC);
}

/* Whether this is an end of a non-blocking pipe, and which. */
static bool is_pipe_end(int number, int access, ino_t *out_inode)
{
    int flags = fcntl(number, F_GETFL);
    struct stat status;

    if (flags < 0 || (flags & O_ACCMODE) != access || !(flags & O_NONBLOCK))
        return false;
    if (fstat(number, &status) != 0 || !S_ISFIFO(status.st_mode))
        return false;
    *out_inode = status.st_ino;
    return true;
}

static bool is_candidate(const struct zkl_descriptors *before, int number)
{
    return is_unsealed(number) && !contains(before, number);
}

static void seal_write_end(const struct zkl_descriptors *before, const struct zkl_descriptors *now, int read_end,
                           ino_t inode)
{
    for (size_t i = 0; i < now->count; i++) {
        int number = now->numbers[i];
        ino_t other;

        if (is_candidate(before, number) && is_pipe_end(number, O_WRONLY, &other) && other == inode) {
            seal(number);
            seal(read_end);
        }
    }
}

/* The pair is asked for so that a pipe which another thread has just made for a child is not taken for ours. */
void zkl_descriptors_seal_new_pipes(const struct zkl_descriptors *before)
{
    struct zkl_descriptors now;

    if (!before->is_complete)
        return;
    zkl_descriptors_list(&now);
    for (size_t i = 0; i < now.count; i++) {
        ino_t inode;

        if (is_candidate(before, now.numbers[i]) && is_pipe_end(now.numbers[i], O_RDONLY, &inode))
            seal_write_end(before, &now, now.numbers[i], inode);
    }
    zkl_descriptors_clear(&now);
}

static bool is_connected_to(int number, const struct zkl_address *peers, int peer_count)
{
    struct zkl_address peer = {.size = sizeof(peer.socket_address)};

    if (getpeername(number, (struct sockaddr *)&peer.socket_address, &peer.size) != 0)
        return false;
    for (int i = 0; i < peer_count; i++) {
        if (zkl_address_equal(&peer, &peers[i]))
            return true;
    }
    return false;
}

void zkl_descriptors_seal_sockets(const struct zkl_address *peers, int peer_count)
{
    struct zkl_descriptors now;
    int failure = errno;

    zkl_descriptors_list(&now);
    for (size_t i = 0; i < now.count; i++) {
        if (is_unsealed(now.numbers[i]) && is_connected_to(now.numbers[i], peers, peer_count))
            seal(now.numbers[i]);
    }
    zkl_descriptors_clear(&now);
    errno = failure;
}
