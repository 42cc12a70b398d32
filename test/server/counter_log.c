/*
 * The format of ZooKeeper's transaction logs: a header, then a record a transaction - Adler-32 of its bytes, their
 * length, the bytes, the letter B. All numbers are big-endian.
 */
#include "server/counter_log.h"

#include "support/suite.h"

#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BYTES_MAX = 512, TYPE_CREATE = 1, TYPE_DELETE = 2, ALL_RIGHTS = 31 };

struct bytes {
    unsigned char data[BYTES_MAX];
    size_t size;
};

static void add(struct bytes *bytes, const void *data, size_t size)
{
    if (bytes->size + size > BYTES_MAX)
        suite_abandon("a transaction is too long");
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static void add_int(struct bytes *bytes, int32_t value)
{
    uint32_t big = htobe32((uint32_t)value);

    add(bytes, &big, sizeof(big));
}

static void add_long(struct bytes *bytes, int64_t value)
{
    uint64_t big = htobe64((uint64_t)value);

    add(bytes, &big, sizeof(big));
}

static void add_text(struct bytes *bytes, const char *text)
{
    add_int(bytes, (int32_t)strlen(text));
    add(bytes, text, strlen(text));
}

static struct bytes begin_transaction(int64_t zxid, int32_t type)
{
    struct bytes bytes = {.size = 0};

    add_long(&bytes, 0);    /* client */
    add_int(&bytes, 0);     /* its request */
    add_long(&bytes, zxid);
    add_long(&bytes, 0);    /* time */
    add_int(&bytes, type);
    return bytes;
}

static struct bytes create(int64_t zxid, const char *path, int32_t parent_counter)
{
    struct bytes bytes = begin_transaction(zxid, TYPE_CREATE);

    add_text(&bytes, path);
    add_text(&bytes, ""); /* data */
    add_int(&bytes, 1);   /* one entry of access control */
    add_int(&bytes, ALL_RIGHTS);
    add_text(&bytes, "world");
    add_text(&bytes, "anyone");
    add(&bytes, &(bool){false}, 1); /* not ephemeral */
    add_int(&bytes, parent_counter);
    return bytes;
}

static struct bytes delete(int64_t zxid, const char *path)
{
    struct bytes bytes = begin_transaction(zxid, TYPE_DELETE);

    add_text(&bytes, path);
    return bytes;
}

static int64_t adler32(const struct bytes *bytes)
{
    uint32_t low = 1, high = 0;

    for (size_t i = 0; i < bytes->size; i++) {
        low = (low + bytes->data[i]) % 65521;
        high = (high + low) % 65521;
    }
    return (int64_t)(high << 16 | low);
}

static void write_record(FILE *file, const struct bytes *transaction)
{
    struct bytes head = {.size = 0};

    add_long(&head, adler32(transaction));
    add_int(&head, (int32_t)transaction->size);
    fwrite(head.data, head.size, 1, file);
    fwrite(transaction->data, transaction->size, 1, file);
    fputc('B', file);
}

void counter_log_write(const char *data_directory, const char *path, int32_t next_number)
{
    struct bytes head = {.size = 0};
    struct bytes transactions[3];
    char name[4096], child[256];
    FILE *file;

    snprintf(child, sizeof(child), "%s/x", path);
    transactions[0] = create(1, path, 1);
    transactions[1] = create(2, child, next_number);
    transactions[2] = delete(3, child);
    snprintf(name, sizeof(name), "%s/version-2/log.1", data_directory);
    file = fopen(name, "we");
    if (!file)
        suite_abandon("cannot write %s", name);
    add(&head, "ZKLG", 4);
    add_int(&head, 2);
    add_long(&head, 0);
    fwrite(head.data, head.size, 1, file);
    for (int i = 0; i < 3; i++)
        write_record(file, &transactions[i]);
    if (fclose(file) != 0)
        suite_abandon("cannot write %s", name);
}
