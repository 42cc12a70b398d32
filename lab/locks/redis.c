#include "redis.h"

#include "../lock.h"

#include <stdarg.h>
#include <string.h>
#include <sys/time.h>

bool redis_link_init(struct redis_link *link, const char **servers, int timeout_ms)
{
    memset(link, 0, sizeof(*link));
    link->timeout_ms = timeout_ms;
    return lab_next_server(servers, link->host, &link->port);
}

void redis_link_clear(struct redis_link *link)
{
    if (link->context)
        redisFree(link->context);
    link->context = NULL;
}

static bool connect_link(struct redis_link *link)
{
    struct timeval limit = {link->timeout_ms / 1000, link->timeout_ms % 1000 * 1000};

    if (link->context && link->context->err)
        redis_link_clear(link);
    if (link->context)
        return true;
    link->context = redisConnectWithTimeout(link->host, link->port, limit);
    return link->context && !link->context->err && redisSetTimeout(link->context, limit) == REDIS_OK;
}

static redisReply *call(struct redis_link *link, const char *format, va_list arguments)
{
    return connect_link(link) ? redisvCommand(link->context, format, arguments) : NULL;
}

redisReply *redis_call(struct redis_link *link, const char *format, ...)
{
    va_list arguments;
    redisReply *reply;

    va_start(arguments, format);
    reply = call(link, format, arguments);
    va_end(arguments);
    return reply;
}

long long redis_number(struct redis_link *link, long long nil, const char *format, ...)
{
    va_list arguments;
    redisReply *reply;
    long long number = -1;

    va_start(arguments, format);
    reply = call(link, format, arguments);
    va_end(arguments);
    if (reply && reply->type == REDIS_REPLY_INTEGER)
        number = reply->integer;
    else if (reply && reply->type == REDIS_REPLY_NIL)
        number = nil;
    freeReplyObject(reply);
    return number;
}

bool redis_is_ok(struct redis_link *link, const char *format, ...)
{
    va_list arguments;
    redisReply *reply;
    bool is_ok;

    va_start(arguments, format);
    reply = call(link, format, arguments);
    va_end(arguments);
    is_ok = reply && reply->type == REDIS_REPLY_STATUS && strcmp(reply->str, "OK") == 0;
    freeReplyObject(reply);
    return is_ok;
}
