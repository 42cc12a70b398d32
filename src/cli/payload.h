/* What the owner of a contender wrote into it: JSON of zklock, anything from anybody else. Only ever read
 * with care. */
#ifndef CLI_PAYLOAD_H
#define CLI_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "zklock.h"

/* Valid UTF-8, but a stranger's: not to be printed raw. Empty where the payload does not say. */
struct payload {
    bool is_readable; /* a JSON object with at least one field that we know */
    char host[128];
    char pid[24];
    char user[64];
    char label[128];
};

void payload_read(const zklock_contender *contender, struct payload *out_payload);

/*
 * One line for messages, which make it safe: "held by web1:4711 (deploy, backup.sh), in the queue since
 * 14:03:07", or what else is known of a contender that says nothing about itself.
 */
void payload_describe(const zklock_contender *contender, char *buffer, size_t size);

#endif
