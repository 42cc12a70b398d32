/* One connection to one Redis, made again when it broke. */
#ifndef ZKLOCK_LAB_REDIS_H
#define ZKLOCK_LAB_REDIS_H

#include <stdbool.h>

#include <hiredis/hiredis.h>

struct redis_link {
    char host[64];
    int port;
    int timeout_ms; /* for connecting and for each answer */
    redisContext *context;
};

/* Takes the next server of the list; connects when first used. */
bool redis_link_init(struct redis_link *link, const char **servers, int timeout_ms);
/* NULL: no answer, and the next call connects afresh. The caller frees it with freeReplyObject(). */
redisReply *redis_call(struct redis_link *link, const char *format, ...);
/* The answer as a number: nil is `nil`, no answer or an error -1. */
long long redis_number(struct redis_link *link, long long nil, const char *format, ...);
/* Whether the answer is OK. */
bool redis_is_ok(struct redis_link *link, const char *format, ...);
void redis_link_clear(struct redis_link *link);

#endif
