/* Redis, one server: SET key value NX PX, a random value, compare-and-delete by script, and a thread that renews.
 * Source: "Distributed Locks with Redis" of Redis's own manual, the part on a single instance and on extending.
 * The holder is told when a renewal finds somebody else's value or none. No token. */
#include "../lock.h"
#include "redis.h"

#include <stdlib.h>

enum { ANSWER_LIMIT_MS = 10000 };

static const char renew_script[] =
    "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('pexpire', KEYS[1], ARGV[2]) or 0";
static const char release_script[] =
    "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1]) or 0";

struct set_lock {
    struct lab_place place;
    struct redis_link link, renewal_link;
    char value[LAB_ID_SIZE];
    struct lab_beat *renewal;
};

static void *open_set(const struct lab_place *place)
{
    struct set_lock *set = lab_alloc(sizeof(*set));
    const char *servers = place->servers;

    set->place = *place;
    redis_link_init(&set->link, &servers, ANSWER_LIMIT_MS);
    servers = place->servers;
    redis_link_init(&set->renewal_link, &servers, place->ttl_ms / 3);
    return set;
}

static bool renew(void *arg)
{
    struct set_lock *set = arg;
    long long is_ours = redis_number(&set->renewal_link, 0, "EVAL %s 1 %s %s %d", renew_script, set->place.name,
                                     set->value, set->place.ttl_ms);

    if (is_ours == 0)
        lab_tell_lost("renewal found another value");
    return is_ours != 0;
}

static enum lab_result try_set(void *lock, uint64_t *out_token)
{
    struct set_lock *set = lock;
    redisReply *reply;
    int type;

    *out_token = 0;
    lab_count_look();
    lab_make_id(set->value);
    reply = redis_call(&set->link, "SET %s %s NX PX %d", set->place.name, set->value, set->place.ttl_ms);
    type = reply ? reply->type : REDIS_REPLY_ERROR;
    freeReplyObject(reply);
    if (type != REDIS_REPLY_STATUS)
        return type == REDIS_REPLY_NIL ? LAB_BUSY : LAB_FAILED;
    lab_point("between");
    if (set->place.is_renewed)
        set->renewal = lab_beat_start(set->place.ttl_ms / 3, renew, set);
    return LAB_OK;
}

static enum lab_result acquire_set(void *lock, int limit_ms, uint64_t *out_token)
{
    return lab_poll(&lab_redis_set, lock, limit_ms, out_token);
}

static enum lab_result release_set(void *lock)
{
    struct set_lock *set = lock;
    long long count;

    lab_beat_end(set->renewal);
    set->renewal = NULL;
    count = redis_number(&set->link, 0, "EVAL %s 1 %s %s", release_script, set->place.name, set->value);
    return count < 0 ? LAB_FAILED : count == 0 ? LAB_LOST : LAB_OK;
}

static void close_set(void *lock)
{
    struct set_lock *set = lock;

    lab_beat_end(set->renewal);
    redis_link_clear(&set->link);
    redis_link_clear(&set->renewal_link);
    free(set);
}

const struct lab_kind lab_redis_set = {"redis-set", open_set, try_set, acquire_set, release_set, close_set, NULL};
