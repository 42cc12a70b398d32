#include "recipe/name.h"

#include <stddef.h>
#include <string.h>

/* The server writes numbers with "%010d": ten characters, or a minus and ten digits. Anything else, a negative zero for
 * one, is no server's. */
#define NUMBER_WIDTH 10

static bool parse_number(const char *text, int32_t *out_number)
{
    bool is_negative = text[0] == '-';
    const char *digit = text + (is_negative ? 1 : 0);
    int64_t value = 0;

    for (; *digit >= '0' && *digit <= '9'; digit++) {
        value = value * 10 + (*digit - '0');
        if (value > (int64_t)INT32_MAX + 1)
            return false;
    }
    bool is_long_negative = is_negative && text[1] != '0' && digit - text == NUMBER_WIDTH + 1;
    if (*digit != '\0' || (digit - text != NUMBER_WIDTH && !is_long_negative))
        return false;
    if (is_negative ? value == 0 : value > INT32_MAX)
        return false;
    *out_number = (int32_t)(is_negative ? -value : value);
    return true;
}

/* Where the last `word` in `text` ends, or NULL. */
static const char *after_last(const char *text, const char *word)
{
    const char *found = NULL;
    size_t word_size = strlen(word);

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        found = at + word_size;
    return found;
}

/* ZooKeeper's own recipes: "x-<session, decimal or hex>-<number>". From server id 128 up, decimal ids are negative. */
static const char *after_session_id(const char *name)
{
    if (name[0] != 'x' || name[1] != '-')
        return NULL;
    const char *id = name + 2 + (name[2] == '-');
    size_t id_size = strspn(id, "0123456789abcdefABCDEF");
    if (id_size == 0 || id[id_size] != '-')
        return NULL;
    return id + id_size + 1;
}

/* What stands in front of the number, as other clients spell it. */
static const struct {
    const char *word;
    enum zkl_kind kind;
} KNOWN[] = {
    {"-lock-", ZKL_KIND_LOCK},      {"__lock__", ZKL_KIND_KAZOO_LOCK}, {"__rlock__", ZKL_KIND_KAZOO_READ},
    {"-__READ__", ZKL_KIND_READ},   {"-__WRIT__", ZKL_KIND_WRITE},     {"-latch-", ZKL_KIND_LATCH},
    {"-lease-", ZKL_KIND_LEASE},
};

#define KNOWN_COUNT (sizeof KNOWN / sizeof KNOWN[0])

/* "_c_", and a UUID that says version 8, variant 10. */
#define VERSION_AT 17
#define VARIANT_AT 22

static bool is_marked(const char *name)
{
    return strncmp(name, "_c_", 3) == 0 && strlen(name) > VARIANT_AT && name[VERSION_AT - 1] == '-' &&
           name[VERSION_AT] == '8' && name[VARIANT_AT - 1] == '-' && strchr("89ab", name[VARIANT_AT]);
}

struct zkl_name zkl_name_parse(const char *name)
{
    struct zkl_name parsed = {ZKL_KIND_FOREIGN, 0, false};
    const char *number = after_session_id(name);
    enum zkl_kind kind = ZKL_KIND_LOCK;

    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        const char *end = after_last(name, KNOWN[i].word);
        if (end && (!number || end > number)) {
            number = end;
            kind = KNOWN[i].kind;
        }
    }
    if (number && parse_number(number, &parsed.number)) {
        parsed.kind = kind;
        parsed.is_ours = is_marked(name);
    }
    return parsed;
}

static char *write_hex(char *out, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    return out;
}

static const char *word_of(enum zkl_kind kind)
{
    size_t at = 0;

    while (at + 1 < KNOWN_COUNT && KNOWN[at].kind != kind)
        at++;
    return KNOWN[at].word;
}

void zkl_name_prefix(enum zkl_kind kind, const unsigned char token[ZKL_TOKEN_BYTES], char out_prefix[ZKL_PREFIX_SIZE])
{
    static const size_t groups[] = {4, 2, 2, 2, 6};
    unsigned char marked[ZKL_TOKEN_BYTES];
    char *out = out_prefix;

    memcpy(marked, token, sizeof marked);
    marked[6] = (unsigned char)(0x80 | (marked[6] & 0x0f));
    marked[8] = (unsigned char)(0x80 | (marked[8] & 0x3f));
    if (kind == ZKL_KIND_KAZOO_LOCK || kind == ZKL_KIND_KAZOO_READ) {
        out = write_hex(out, marked, ZKL_TOKEN_BYTES);
    } else {
        memcpy(out, "_c_", 3);
        out += 3;
        for (size_t i = 0, at = 0; i < sizeof groups / sizeof groups[0]; at += groups[i++]) {
            if (i > 0)
                *out++ = '-';
            out = write_hex(out, marked + at, groups[i]);
        }
    }
    memcpy(out, word_of(kind), strlen(word_of(kind)) + 1);
}

bool zkl_name_downgraded(const char *name, char out_name[ZKL_OWN_NAME_SIZE])
{
    const char *number = after_last(name, "-__WRIT__");

    if (zkl_name_parse(name).kind != ZKL_KIND_WRITE || strlen(name) >= ZKL_OWN_NAME_SIZE)
        return false;
    memcpy(out_name, name, strlen(name) + 1);
    memcpy(out_name + (number - name) - strlen("READ__"), "READ", 4);
    return true;
}

bool zkl_name_is_contender(struct zkl_name name)
{
    return name.kind != ZKL_KIND_FOREIGN && name.kind != ZKL_KIND_LEASE;
}

bool zkl_kind_is_shared(enum zkl_kind kind)
{
    return kind == ZKL_KIND_READ || kind == ZKL_KIND_KAZOO_READ;
}

bool zkl_name_is_own(const char *name, const char *prefix)
{
    size_t size = strlen(prefix);
    int32_t number;

    return strncmp(name, prefix, size) == 0 && parse_number(name + size, &number);
}
