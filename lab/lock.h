/* What every lock of the laboratory is behind, and what the worker gives it. One process has one lock object. */
#ifndef ZKLOCK_LAB_LOCK_H
#define ZKLOCK_LAB_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lab_result {
    LAB_OK,
    LAB_BUSY,   /* somebody else has it, or the limit passed */
    LAB_LOST,   /* at the release: it was ours no longer */
    LAB_FAILED, /* no usable answer */
};

struct lab_place {
    const char *servers; /* "host:port,..."; valid for as long as the lock is */
    const char *name;    /* of the lock */
    int ttl_ms;          /* time to live, lease, session timeout: what the lock has of the kind */
    bool is_renewed;     /* false: a fixed time to live, where the lock knows such a thing */
};

/* What the resource is when only the lock's own row can be it. */
struct lab_row {
    bool (*read)(void *lock, int64_t *out_value);
    bool (*write)(void *lock, int64_t value); /* false: refused, nothing is written */
};

/* Tokens: 0 stands for a lock that has none. One thread calls these functions. */
struct lab_kind {
    const char *name;
    void *(*open)(const struct lab_place *place); /* NULL: no server */
    enum lab_result (*try_once)(void *lock, uint64_t *out_token);
    enum lab_result (*acquire)(void *lock, int limit_ms, uint64_t *out_token);
    enum lab_result (*release)(void *lock);
    void (*close)(void *lock);
    const struct lab_row *row; /* NULL: the resource is outside */
};

extern const struct lab_kind lab_redis_naive, lab_redis_set, lab_redisson, lab_redlock, lab_etcd, lab_mysql_row,
    lab_mysql_key, lab_mysql_version, lab_zk_node, lab_zklock;

/* The holder is told that the lock is gone. Any thread. */
void lab_tell_lost(const char *reason);
/* A waiter looked whether it is its turn. Any thread. */
void lab_count_look(void);
/* Here the experiment may kill or stop the process. */
void lab_point(const char *name);

/* Zeroed; the end of the process where there is no memory. */
void *lab_alloc(size_t size) __attribute__((malloc, returns_nonnull));
int64_t lab_now_ms(void);
void lab_sleep_ms(int64_t duration_ms);
/* 32 hexadecimal digits that nobody else has, and a NUL. */
enum { LAB_ID_SIZE = 33 };
void lab_make_id(char id[LAB_ID_SIZE]);
/* From `least` to `most`. */
int lab_random(int least, int most);
/* Tries every few milliseconds, at random between the two, until the limit passes. */
enum lab_result lab_poll(const struct lab_kind *kind, void *lock, int limit_ms, uint64_t *out_token);
/* Takes the next "host:port" from the list that *list points into. */
bool lab_next_server(const char **list, char host[64], int *out_port);

/* A thread that does something over and over until it is ended, or until that says false. */
struct lab_beat;
struct lab_beat *lab_beat_start(int every_ms, bool (*beat)(void *arg), void *arg);
void lab_beat_end(struct lab_beat *beat);

#endif
