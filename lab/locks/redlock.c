/* Redlock: the same key on several independent masters, held when a majority took it and some of its time to live is
 * left: validity = time to live - time spent - drift. Otherwise, and at the release, it is taken back everywhere; the
 * next attempt comes after a random delay. Source: "Distributed Locks with Redis" of Redis's own manual. The validity
 * is computed once, and it is the caller's to keep within it. No renewal, no token. */
#include "../lock.h"
#include "redis.h"

#include <stdlib.h>

enum { MOST_MASTERS = 5, MASTER_LIMIT_MS = 200, RETRY_MOST_MS = 100, LEAST_DRIFT_MS = 2 };

static const char release_script[] =
    "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1]) or 0";

struct redlock {
    struct lab_place place;
    struct redis_link masters[MOST_MASTERS];
    int count;
    char value[LAB_ID_SIZE];
};

static void *open_redlock(const struct lab_place *place)
{
    struct redlock *redlock = lab_alloc(sizeof(*redlock));
    const char *servers = place->servers;

    redlock->place = *place;
    while (redlock->count < MOST_MASTERS &&
           redis_link_init(&redlock->masters[redlock->count], &servers, MASTER_LIMIT_MS))
        redlock->count++;
    return redlock;
}

static int release_everywhere(struct redlock *redlock)
{
    int released = 0;

    for (int i = 0; i < redlock->count; i++) {
        released += redis_number(&redlock->masters[i], 0, "EVAL %s 1 %s %s", release_script, redlock->place.name,
                                 redlock->value) == 1;
    }
    return released;
}

static enum lab_result try_redlock(void *lock, uint64_t *out_token)
{
    struct redlock *redlock = lock;
    int64_t start_ms = lab_now_ms();
    int64_t drift_ms = redlock->place.ttl_ms / 100 + LEAST_DRIFT_MS;
    int taken = 0;

    *out_token = 0;
    lab_count_look();
    lab_make_id(redlock->value);
    for (int i = 0; i < redlock->count; i++) {
        taken += redis_is_ok(&redlock->masters[i], "SET %s %s NX PX %d", redlock->place.name, redlock->value,
                             redlock->place.ttl_ms);
        if (i == redlock->count / 2)
            lab_point("between");
    }
    if (taken > redlock->count / 2 && redlock->place.ttl_ms - (lab_now_ms() - start_ms) - drift_ms > 0)
        return LAB_OK;
    release_everywhere(redlock);
    return LAB_BUSY;
}

static enum lab_result acquire_redlock(void *lock, int limit_ms, uint64_t *out_token)
{
    int64_t end_ms = lab_now_ms() + limit_ms;

    while (try_redlock(lock, out_token) != LAB_OK) {
        if (lab_now_ms() >= end_ms)
            return LAB_BUSY;
        lab_sleep_ms(lab_random(1, RETRY_MOST_MS));
    }
    return LAB_OK;
}

static enum lab_result release_redlock(void *lock)
{
    struct redlock *redlock = lock;

    return release_everywhere(redlock) > redlock->count / 2 ? LAB_OK : LAB_LOST;
}

static void close_redlock(void *lock)
{
    struct redlock *redlock = lock;

    for (int i = 0; i < redlock->count; i++)
        redis_link_clear(&redlock->masters[i]);
    free(redlock);
}

const struct lab_kind lab_redlock = {
    "redlock", open_redlock, try_redlock, acquire_redlock, release_redlock, close_redlock, NULL};
