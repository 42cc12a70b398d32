/* Redis, Redisson's way: a hash of owner and count kept by scripts, re-entrant; a watchdog renews every third of the
 * time to live unless a lease time was given; waiters subscribe to a channel and look again when it speaks, or when
 * the time to live that they were told is over. Source: the text and documentation of Redisson's RLock, whose default
 * time to live is 30 s. Nobody is told of a loss, and there is no token. */
#include "../lock.h"
#include "redis.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum { ANSWER_LIMIT_MS = 10000 };

/* Nil: taken, once more or for the first time. Else the milliseconds that the present owner still has. */
static const char take_script[] =
    "local free = redis.call('exists', KEYS[1]) == 0 "
    "if not free and redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return redis.call('pttl', KEYS[1]) end "
    "redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2]) return nil";
static const char renew_script[] =
    "return redis.call('hexists', KEYS[1], ARGV[1]) == 1 and redis.call('pexpire', KEYS[1], ARGV[2]) or 0";
/* Nil: not ours. Else how many times we still hold it. */
static const char release_script[] =
    "if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end "
    "local left = redis.call('hincrby', KEYS[1], ARGV[1], -1) "
    "if left > 0 then redis.call('pexpire', KEYS[1], ARGV[2]) return left end "
    "redis.call('del', KEYS[1]) redis.call('publish', KEYS[2], 'free') return 0";

struct redisson {
    struct lab_place place;
    struct redis_link link, channel_link, renewal_link;
    char owner[LAB_ID_SIZE], channel[128];
    struct lab_beat *watchdog;
};

static void *open_redisson(const struct lab_place *place)
{
    struct redisson *redisson = lab_alloc(sizeof(*redisson));
    struct redis_link *links[] = {&redisson->link, &redisson->channel_link, &redisson->renewal_link};

    redisson->place = *place;
    lab_make_id(redisson->owner);
    snprintf(redisson->channel, sizeof(redisson->channel), "channel:{%s}", place->name);
    for (int i = 0; i < 3; i++) {
        const char *servers = place->servers;

        redis_link_init(links[i], &servers, i < 2 ? ANSWER_LIMIT_MS : place->ttl_ms / 3);
    }
    return redisson;
}

static bool renew(void *arg)
{
    struct redisson *redisson = arg;

    return redis_number(&redisson->renewal_link, 0, "EVAL %s 1 %s %s %d", renew_script, redisson->place.name,
                        redisson->owner, redisson->place.ttl_ms) != 0;
}

/* The time that the owner still has, or one of these. */
enum { TAKEN = -10, NO_ANSWER = -1 };

static long long take(struct redisson *redisson)
{
    long long left_ms;

    lab_count_look();
    left_ms = redis_number(&redisson->link, TAKEN, "EVAL %s 1 %s %s %d", take_script, redisson->place.name,
                           redisson->owner, redisson->place.ttl_ms);
    if (left_ms != TAKEN)
        return left_ms;
    lab_point("between");
    if (redisson->place.is_renewed && !redisson->watchdog)
        redisson->watchdog = lab_beat_start(redisson->place.ttl_ms / 3, renew, redisson);
    return TAKEN;
}

static enum lab_result try_redisson(void *lock, uint64_t *out_token)
{
    long long left_ms = take(lock);

    *out_token = 0;
    return left_ms == TAKEN ? LAB_OK : left_ms == NO_ANSWER ? LAB_FAILED : LAB_BUSY;
}

static void wait_for_word(struct redisson *redisson, int64_t wait_ms)
{
    redisContext *context = redisson->channel_link.context;
    struct pollfd channel = {context ? context->fd : -1, POLLIN, 0};
    void *message = NULL;

    if (poll(&channel, 1, (int)wait_ms) > 0 && redisGetReply(context, &message) == REDIS_OK)
        freeReplyObject(message);
}

static enum lab_result acquire_redisson(void *lock, int limit_ms, uint64_t *out_token)
{
    struct redisson *redisson = lock;
    int64_t end_ms = lab_now_ms() + limit_ms;
    long long left_ms = take(redisson);

    *out_token = 0;
    if (left_ms == TAKEN)
        return LAB_OK;
    freeReplyObject(redis_call(&redisson->channel_link, "SUBSCRIBE %s", redisson->channel));
    while ((left_ms = take(redisson)) != TAKEN && lab_now_ms() < end_ms) {
        int64_t wait_ms = end_ms - lab_now_ms();

        if (left_ms == NO_ANSWER)
            wait_ms = 50;
        else if (left_ms >= 0 && left_ms < wait_ms)
            wait_ms = left_ms;
        wait_for_word(redisson, wait_ms);
    }
    redis_link_clear(&redisson->channel_link);
    return left_ms == TAKEN ? LAB_OK : LAB_BUSY;
}

static enum lab_result release_redisson(void *lock)
{
    struct redisson *redisson = lock;
    long long left = redis_number(&redisson->link, -2, "EVAL %s 2 %s %s %s %d", release_script, redisson->place.name,
                                  redisson->channel, redisson->owner, redisson->place.ttl_ms);

    if (left <= 0) {
        lab_beat_end(redisson->watchdog);
        redisson->watchdog = NULL;
    }
    return left >= 0 ? LAB_OK : left == -2 ? LAB_LOST : LAB_FAILED;
}

static void close_redisson(void *lock)
{
    struct redisson *redisson = lock;

    lab_beat_end(redisson->watchdog);
    redis_link_clear(&redisson->link);
    redis_link_clear(&redisson->channel_link);
    redis_link_clear(&redisson->renewal_link);
    free(redisson);
}

const struct lab_kind lab_redisson = {
    "redisson", open_redisson, try_redisson, acquire_redisson, release_redisson, close_redisson, NULL};
