/* Contenders' names: strangers' by a second reading of the rules, and our own read back. */
#include "recipe/name.h"

#include "fuzz.h"

/* Whether `text` is a number of 32 bits as a server writes it. */
static bool is_number(const char *text, int32_t *out_number)
{
    char written[16];
    size_t size = strlen(text);
    long long value = strtoll(text, NULL, 10);

    if (size < 10 || size > 11 || value < INT32_MIN || value > INT32_MAX)
        return false;
    snprintf(written, sizeof written, "%010d", (int)value);
    *out_number = (int32_t)value;
    return strcmp(written, text) == 0;
}

/* "x-<session>-", and nothing else. */
static bool is_session(const char *head, size_t size)
{
    size_t sign = size > 2 && head[2] == '-';
    size_t digits;

    if (size < 4 || strncmp(head, "x-", 2) != 0)
        return false;
    digits = strspn(head + 2 + sign, "0123456789abcdefABCDEF");
    return digits > 0 && 2 + sign + digits + 1 == size && head[size - 1] == '-';
}

/* What stands before the number decides. */
static enum zkl_kind kind_of(const char *head, size_t size)
{
    static const struct {
        enum zkl_kind kind;
        const char *end;
    } rows[] = {
        {ZKL_KIND_LOCK, "-lock-"},     {ZKL_KIND_KAZOO_LOCK, "__lock__"}, {ZKL_KIND_KAZOO_READ, "__rlock__"},
        {ZKL_KIND_READ, "-__READ__"},  {ZKL_KIND_WRITE, "-__WRIT__"}, {ZKL_KIND_LATCH, "-latch-"},
        {ZKL_KIND_LEASE, "-lease-"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t end_size = strlen(rows[i].end);
        if (size >= end_size && memcmp(head + size - end_size, rows[i].end, end_size) == 0)
            return rows[i].kind;
    }
    return is_session(head, size) ? ZKL_KIND_LOCK : ZKL_KIND_FOREIGN;
}

static struct zkl_name read_again(const char *name)
{
    struct zkl_name read = {ZKL_KIND_FOREIGN, 0, false};
    size_t size = strlen(name);

    for (size_t tail = 10; tail <= 11 && tail <= size && read.kind == ZKL_KIND_FOREIGN; tail++) {
        int32_t number;
        if (!is_number(name + size - tail, &number))
            continue;
        read.kind = kind_of(name, size - tail);
        read.number = read.kind == ZKL_KIND_FOREIGN ? 0 : number;
    }
    return read;
}

static void expect_read(const char *name)
{
    struct zkl_name parsed = zkl_name_parse(name);
    struct zkl_name again = read_again(name);

    EXPECT(parsed.kind == again.kind);
    EXPECT(parsed.number == again.number);
}

/* A token that differs in the low half of one byte is another's: of two bytes the high half says what UUID it is. */
static void read_own(struct input *input, char prefix[ZKL_PREFIX_SIZE])
{
    unsigned char token[ZKL_TOKEN_BYTES];
    char other[ZKL_PREFIX_SIZE], name[ZKL_OWN_NAME_SIZE], other_name[ZKL_OWN_NAME_SIZE];
    enum zkl_kind kind = ZKL_KIND_LOCK + take_byte(input) % (ZKL_KIND_LEASE - ZKL_KIND_LOCK + 1);
    bool is_kazoo = kind == ZKL_KIND_KAZOO_LOCK || kind == ZKL_KIND_KAZOO_READ;
    int32_t number = (int32_t)take_word(input, 4);

    for (size_t i = 0; i < sizeof token; i++)
        token[i] = take_byte(input);
    zkl_name_prefix(kind, token, prefix);
    token[take_byte(input) % sizeof token] ^= (unsigned char)(1 + take_byte(input) % 15);
    zkl_name_prefix(kind, token, other);
    EXPECT(strnlen(prefix, ZKL_PREFIX_SIZE) < ZKL_PREFIX_SIZE);
    EXPECT(snprintf(name, sizeof name, "%s%010d", prefix, (int)number) < (int)sizeof name);
    EXPECT(zkl_name_is_own(name, prefix) && !zkl_name_is_own(name, other));
    EXPECT(zkl_name_parse(name).kind == kind && zkl_name_parse(name).number == number);
    EXPECT(zkl_name_parse(name).is_ours == !is_kazoo);
    EXPECT(zkl_name_downgraded(name, other_name) == (kind == ZKL_KIND_WRITE));
    EXPECT(kind != ZKL_KIND_WRITE || (zkl_name_parse(other_name).kind == ZKL_KIND_READ &&
                                      zkl_name_parse(other_name).number == number));
}

/* Own is the prefix and a number, nothing else; `text` is what a stranger wrote, or what stands behind the prefix. */
static void expect_own(const char *text, const char *prefix, bool is_behind_prefix)
{
    size_t prefix_size = strlen(prefix);
    char *name = malloc(prefix_size + strlen(text) + 1);
    int32_t number;

    EXPECT(name != NULL);
    sprintf(name, "%s%s", is_behind_prefix ? prefix : "", text);
    EXPECT(zkl_name_is_own(name, prefix) ==
           (strncmp(name, prefix, prefix_size) == 0 && is_number(name + prefix_size, &number)));
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    char *name = take_text(&input, 300);
    char prefix[ZKL_PREFIX_SIZE];

    expect_read(name);
    read_own(&input, prefix);
    expect_own(name, prefix, take_byte(&input) % 2);
    free(name);
    return 0;
}
