/*
 * libzookeeper's pipe and socket are not close-on-exec, and it does not tell their numbers. A program that inherited
 * the socket would keep the connection open after our end. So they are looked for in /proc/self/fd and marked.
 *
 * What remains: a program started by another thread between the making of a descriptor and its marking inherits it.
 * For the pipe that is the time of zookeeper_init2(); for a socket, from the connection attempt to the next event of
 * its store. Where /proc is not mounted nothing is marked.
 */
#ifndef ZKL_DESCRIPTORS_H
#define ZKL_DESCRIPTORS_H

#include <stddef.h>

#include "session/address.h"

/* The descriptors that were open at some moment, in ascending order. */
struct zkl_descriptors {
    int *numbers;
    size_t count;
    size_t capacity;
    bool is_complete; /* false: no /proc, or no memory */
};

void zkl_descriptors_list(struct zkl_descriptors *out_descriptors);
void zkl_descriptors_clear(struct zkl_descriptors *descriptors);

/* Marks the pipes, both ends in this process and non-blocking, that have come since `before`, if that is complete. */
void zkl_descriptors_seal_new_pipes(const struct zkl_descriptors *before);
/* Marks the sockets that are connected to one of these addresses. */
void zkl_descriptors_seal_sockets(const struct zkl_address *peers, int peer_count);

#endif
