/*
 * Redis as context: SET NX with a limit, and a script that deletes the key if it is still ours. Nobody waits in a queue
 * and nobody is told, so that only the free lock is measured.
 */
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

struct own_lock {
    redisContext *session;
    char *path;
};

static void *open_session(const char *servers, unsigned timeout_ms)
{
    const char *colon = strrchr(servers, ':');
    char *host = colon ? strndup(servers, (size_t)(colon - servers)) : NULL;
    redisContext *session = host ? redisConnect(host, atoi(colon + 1)) : NULL;

    (void)timeout_ms;
    if (!session || session->err)
        peer_fail("cannot connect to %s", servers);
    free(host);
    return session;
}

static void close_session(void *session)
{
    redisFree(session);
}

static void *new_lock(void *session, const char *path)
{
    struct own_lock *own = calloc(1, sizeof *own);

    if (!own || !(own->path = strdup(path)))
        peer_fail("out of memory");
    own->session = session;
    return own;
}

static void free_lock(void *lock)
{
    struct own_lock *own = lock;

    free(own->path);
    free(own);
}

static void acquire(void *lock)
{
    struct own_lock *own = lock;
    redisReply *reply = redisCommand(own->session, "SET %s 01234567-89ab-cdef-0123-456789abcdef NX PX 10000", own->path);

    if (!reply || reply->type != REDIS_REPLY_STATUS)
        peer_fail("SET NX failed");
    freeReplyObject(reply);
}

static void release(void *lock, bool is_sent)
{
    static const char script[] = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) "
                                 "else return 0 end";
    struct own_lock *own = lock;
    redisReply *reply =
        redisCommand(own->session, "EVAL %s 1 %s 01234567-89ab-cdef-0123-456789abcdef", script, own->path);

    (void)is_sent;
    if (!reply || reply->type != REDIS_REPLY_INTEGER || reply->integer != 1)
        peer_fail("the key was not ours any more");
    freeReplyObject(reply);
}

int main(int argc, char **argv)
{
    static const struct peer peer = {
        .open = open_session,
        .close = close_session,
        .lock_new = new_lock,
        .lock_free = free_lock,
        .acquire = acquire,
        .release = release,
    };

    return peer_main(argc, argv, &peer);
}
