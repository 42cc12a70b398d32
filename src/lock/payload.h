/* What a contender says about its owner: one line of UTF-8 JSON, version 1. */
#ifndef ZKL_PAYLOAD_H
#define ZKL_PAYLOAD_H

#include <stdint.h>

/* `wall_ms` since 1970. Caller frees; NULL: no memory. */
char *zkl_payload_new(const char *label, const char *user, const char *style, int64_t wall_ms);

#endif
