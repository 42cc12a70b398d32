/* Redis, naive: SETNX, then EXPIRE; DEL without a look. Source: the older tutorials, and what the text of SETNX in
 * Redis's own manual warns of. No identity, no renewal, no token. */
#include "../lock.h"
#include "redis.h"

#include <stdlib.h>

enum { ANSWER_LIMIT_MS = 10000 };

struct naive {
    struct lab_place place;
    struct redis_link link;
};

static void *open_naive(const struct lab_place *place)
{
    struct naive *naive = lab_alloc(sizeof(*naive));
    const char *servers = place->servers;

    naive->place = *place;
    redis_link_init(&naive->link, &servers, ANSWER_LIMIT_MS);
    return naive;
}

static enum lab_result try_naive(void *lock, uint64_t *out_token)
{
    struct naive *naive = lock;
    long long is_set;

    *out_token = 0;
    lab_count_look();
    is_set = redis_number(&naive->link, 0, "SETNX %s 1", naive->place.name);
    if (is_set != 1)
        return is_set == 0 ? LAB_BUSY : LAB_FAILED;
    lab_point("between");
    redis_number(&naive->link, 0, "EXPIRE %s %d", naive->place.name, naive->place.ttl_ms / 1000);
    return LAB_OK;
}

static enum lab_result acquire_naive(void *lock, int limit_ms, uint64_t *out_token)
{
    return lab_poll(&lab_redis_naive, lock, limit_ms, out_token);
}

static enum lab_result release_naive(void *lock)
{
    struct naive *naive = lock;
    long long count = redis_number(&naive->link, 0, "DEL %s", naive->place.name);

    return count < 0 ? LAB_FAILED : count == 0 ? LAB_LOST : LAB_OK;
}

static void close_naive(void *lock)
{
    struct naive *naive = lock;

    redis_link_clear(&naive->link);
    free(naive);
}

const struct lab_kind lab_redis_naive = {
    "redis-naive", open_naive, try_naive, acquire_naive, release_naive, close_naive, NULL};
