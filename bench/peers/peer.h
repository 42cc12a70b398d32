/*
 * What a peer written in C has to say about itself; peer_main.c and the workloads do the rest. A peer is a program that
 * reads one workload a line from its standard input and answers each with one line: see README.md.
 *
 * Every function here may end the program by peer_fail(): a measurement with a hole in it is none.
 */
#ifndef ZKLOCK_BENCH_PEER_H
#define ZKLOCK_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void peer_granted_fn(void *arg);

struct peer {
    /* A session of its own, connected. */
    void *(*open)(const char *servers, unsigned timeout_ms);
    void (*close)(void *session);
    void *(*lock_new)(void *session, const char *path);
    void (*lock_free)(void *lock);
    /* Both block. A release that is sent only may return before it was confirmed. */
    void (*acquire)(void *lock);
    void (*release)(void *lock, bool is_sent);
    /* Begins an acquire; `on_granted` may call release(lock, true). NULL: the peer has nothing of the kind. */
    void (*start)(void *lock, peer_granted_fn *on_granted, void *arg);
    /* Return when a lock that was begun is queued at the server, or held; needed where start() is. */
    void (*wait_queued)(void *lock);
    void (*wait_held)(void *lock);
    /* Sends writes as fast as the server takes them, and returns when all are answered. NULL: has nothing of the kind. */
    void (*write_many)(void *session, const char *path, long count);
    bool can_send;  /* release(lock, true) does return before it was confirmed */
    bool can_wait;  /* somebody who waits is told when the lock is free */
    bool can_queue; /* and many who wait are granted it in their turn */
};

/* Runs workloads until the end of the input. Returns the exit status. */
int peer_main(int argc, char **argv, const struct peer *peer);

/* Says why on the output, in place of an answer, and ends the program. */
void peer_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* The clock that all answers are in. */
int64_t peer_now_us(void);

#endif
