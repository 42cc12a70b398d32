/* etcd's v3 interface through its JSON gateway: one connection, one request at a time. */
#ifndef ZKLOCK_LAB_ETCD_GATEWAY_H
#define ZKLOCK_LAB_ETCD_GATEWAY_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct etcd_gateway;

/* The first server of the list. Never NULL. */
struct etcd_gateway *etcd_gateway_open(const char *servers);
void etcd_gateway_close(struct etcd_gateway *gateway);
/* Sends `body`, which it frees, and returns the answer, which the caller frees; NULL: none, or an error. */
json_t *etcd_call(struct etcd_gateway *gateway, const char *path, json_t *body, int limit_ms);
/* Sends `body`, which it frees, and reads a stream of answers until `is_enough` says so or the limit passes. */
bool etcd_stream(struct etcd_gateway *gateway, const char *path, json_t *body, int limit_ms,
                 bool (*is_enough)(json_t *answer));
/* As the gateway wants keys: base64. At most 180 bytes. */
json_t *etcd_key(const char *text);
/* The gateway writes 64-bit numbers as strings, and leaves zeros out. */
int64_t etcd_number(const json_t *object, const char *member);

#endif
