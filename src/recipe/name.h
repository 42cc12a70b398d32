/* Contenders' names on the wire: ours, and those of the other libraries whose locks we share. Pure. */
#ifndef ZKL_NAME_H
#define ZKL_NAME_H

#include <stdbool.h>
#include <stdint.h>

enum zkl_kind {
    ZKL_KIND_FOREIGN, /* no contender of a known kind: counted for people, never for the order */
    ZKL_KIND_LOCK,    /* an exclusive contender: "-lock-", "x-<session>-" */
    ZKL_KIND_KAZOO_LOCK, /* kazoo's "__lock__" */
    ZKL_KIND_WRITE,   /* Curator's "-__WRIT__" */
    ZKL_KIND_READ,    /* Curator's "-__READ__" */
    ZKL_KIND_KAZOO_READ, /* kazoo's "__rlock__" */
    ZKL_KIND_LATCH,   /* Curator's "-latch-" */
    ZKL_KIND_LEASE,   /* Curator's semaphore, in a directory of its own */
};

struct zkl_name {
    enum zkl_kind kind;
    int32_t number; /* the server's sequence number, as it wrote it */
    bool is_ours;   /* written by this library, see zkl_name_prefix() */
};

#define ZKL_TOKEN_BYTES 16
/* "_c_" + 36 + "-__READ__" + NUL, and room for the number. */
#define ZKL_PREFIX_SIZE 52
#define ZKL_OWN_NAME_SIZE 64

/* What `name` (without its directory) is. A number stands as the server writes it and fits 32 bits, or it is none. */
struct zkl_name zkl_name_parse(const char *name);

/* Whether it is a contender for the lock that its directory is: the leases of a semaphore are none. */
bool zkl_name_is_contender(struct zkl_name name);

/*
 * Writes the name of a new contender of this kind up to its number. Every byte of `token` shows in it. Curator and
 * kazoo write random UUIDs, which are of version 4; ours say version 8, so that a listing alone shows whose they are.
 */
void zkl_name_prefix(enum zkl_kind kind, const unsigned char token[ZKL_TOKEN_BYTES], char out_prefix[ZKL_PREFIX_SIZE]);

/* Writes the name that the contender `name`, of kind WRITE, has once it has become a reader: the same token, the same
 * number. False: it is no such name. */
bool zkl_name_downgraded(const char *name, char out_name[ZKL_OWN_NAME_SIZE]);

/* Whether contenders of this kind may hold together. */
bool zkl_kind_is_shared(enum zkl_kind kind);

/* Whether `name` is the prefix and a number. */
bool zkl_name_is_own(const char *name, const char *prefix);

#endif
