#include "etcd_gateway.h"

#include "../lock.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 65536, URL_SIZE = 256 };

struct etcd_gateway {
    CURL *curl;
    char base[URL_SIZE / 2];
    char text[MOST_TEXT]; /* of the answer, so far */
    size_t length;
    bool (*is_enough)(json_t *answer); /* of a stream */
    bool was_enough;
};

struct etcd_gateway *etcd_gateway_open(const char *servers)
{
    struct etcd_gateway *gateway = lab_alloc(sizeof(*gateway));
    char host[64] = "";
    int port = 0;

    lab_next_server(&servers, host, &port);
    snprintf(gateway->base, sizeof(gateway->base), "http://%s:%d/v3/", host, port);
    gateway->curl = curl_easy_init();
    return gateway;
}

void etcd_gateway_close(struct etcd_gateway *gateway)
{
    curl_easy_cleanup(gateway->curl);
    free(gateway);
}

/* A stream has an answer a line. */
static void read_lines(struct etcd_gateway *gateway)
{
    char *end;

    while (!gateway->was_enough && (end = memchr(gateway->text, '\n', gateway->length))) {
        size_t used = (size_t)(end - gateway->text) + 1;
        json_t *answer = json_loadb(gateway->text, used, 0, NULL);

        gateway->was_enough = answer && gateway->is_enough(answer);
        json_decref(answer);
        gateway->length -= used;
        memmove(gateway->text, end + 1, gateway->length);
    }
}

/* For curl: whoever takes less than it was given ends the transfer. */
static size_t take_text(char *text, size_t size, size_t count, void *arg)
{
    struct etcd_gateway *gateway = arg;
    size_t bytes = size * count;

    if (bytes > sizeof(gateway->text) - gateway->length)
        return 0;
    memcpy(gateway->text + gateway->length, text, bytes);
    gateway->length += bytes;
    if (gateway->is_enough)
        read_lines(gateway);
    return gateway->was_enough ? 0 : bytes;
}

static bool post(struct etcd_gateway *gateway, const char *path, json_t *body, int limit_ms)
{
    char url[URL_SIZE];
    char *text = json_dumps(body, JSON_COMPACT);
    CURLcode code;

    snprintf(url, sizeof(url), "%s%s", gateway->base, path);
    gateway->length = 0;
    gateway->was_enough = false;
    curl_easy_setopt(gateway->curl, CURLOPT_URL, url);
    curl_easy_setopt(gateway->curl, CURLOPT_POSTFIELDS, text);
    curl_easy_setopt(gateway->curl, CURLOPT_WRITEFUNCTION, take_text);
    curl_easy_setopt(gateway->curl, CURLOPT_WRITEDATA, gateway);
    curl_easy_setopt(gateway->curl, CURLOPT_TIMEOUT_MS, (long)(limit_ms > 0 ? limit_ms : 1));
    curl_easy_setopt(gateway->curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(gateway->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(gateway->curl, CURLOPT_NOPROXY, "*");
    code = curl_easy_perform(gateway->curl);
    free(text);
    json_decref(body);
    return code == CURLE_OK;
}

json_t *etcd_call(struct etcd_gateway *gateway, const char *path, json_t *body, int limit_ms)
{
    gateway->is_enough = NULL;
    if (!post(gateway, path, body, limit_ms))
        return NULL;
    return json_loadb(gateway->text, gateway->length, 0, NULL);
}

bool etcd_stream(struct etcd_gateway *gateway, const char *path, json_t *body, int limit_ms,
                 bool (*is_enough)(json_t *answer))
{
    gateway->is_enough = is_enough;
    post(gateway, path, body, limit_ms);
    return gateway->was_enough;
}

json_t *etcd_key(const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = (const unsigned char *)text;
    size_t left = strlen(text);
    char key[256], *to = key;

    for (; left > 0 && to < key + sizeof(key) - 5; from += 3) {
        unsigned group = from[0] * 65536U + (left > 1 ? from[1] * 256U : 0) + (left > 2 ? from[2] : 0);

        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[group & 63] : '=';
        left -= left > 3 ? 3 : left;
    }
    return json_stringn(key, (size_t)(to - key));
}

int64_t etcd_number(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);

    return json_is_string(value) ? atoll(json_string_value(value)) : 0;
}
