/* The payload that we write, whatever host, user and label are called: one line of JSON that brings them back. */
#include <jansson.h>
#include <unistd.h>

#include "cli/payload.h"
#include "fuzz.h"
#include "lock/payload.h"

#define LONGEST_FIELD 256

static char host[LONGEST_FIELD], user[LONGEST_FIELD];

/* Instead of the machine's own name. */
int gethostname(char *out_name, size_t size)
{
    strncpy(out_name, host, size);
    return 0;
}

static const char *text_of(const json_t *object, const char *field)
{
    const json_t *value = json_object_get(object, field);

    EXPECT(json_is_string(value));
    return json_string_value(value);
}

/* What is no UTF-8 became question marks, byte by byte; what was too long is cut at a character's end. */
static void expect_field(const char *written, const char *given, size_t room)
{
    size_t left = strnlen(given, room);
    uint32_t point;

    EXPECT(is_utf8(written));
    while (left > 0) {
        size_t size = read_character(given, strlen(given), &point);
        if (size > left)
            break;
        EXPECT(size > 0 ? strncmp(written, given, size) == 0 : *written == '?');
        size = size > 0 ? size : 1;
        written += size;
        given += size;
        left -= size;
    }
    EXPECT(*written == '\0');
}

static void expect_line(const char *payload, const char *label)
{
    json_t *object = json_loads(payload, JSON_REJECT_DUPLICATES, NULL);

    EXPECT(is_utf8(payload));
    for (const char *at = payload; *at; at++)
        EXPECT((unsigned char)*at >= ' ' && *at != 0x7F);
    EXPECT(json_is_object(object) && json_object_size(object) == 8);
    EXPECT(json_integer_value(json_object_get(object, "v")) == 1);
    EXPECT(json_integer_value(json_object_get(object, "pid")) == (json_int_t)getpid());
    EXPECT(strcmp(text_of(object, "style"), "curator") == 0);
    EXPECT(strcmp(text_of(object, "zklock"), zklock_version()) == 0);
    EXPECT(strlen(text_of(object, "start")) <= 31);
    expect_field(text_of(object, "host"), host, LONGEST_FIELD - 1);
    expect_field(text_of(object, "user"), user, LONGEST_FIELD - 1);
    expect_field(text_of(object, "label"), label, LONGEST_FIELD);
    json_decref(object);
}

/* The command finds in it what was put there. */
static void expect_read_back(const char *payload)
{
    zklock_contender contender = {.payload = payload, .payload_size = strlen(payload)};
    struct payload read;

    payload_read(&contender, &read);
    EXPECT(read.is_readable);
    EXPECT(atol(read.pid) == (long)getpid());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    char *label = take_text(&input, 600);
    char *host_name = take_text(&input, sizeof host - 1);
    char *user_name = take_text(&input, sizeof user - 1);
    int64_t wall_ms = (int64_t)take_word(&input, 8);
    char *payload;

    strcpy(host, host_name);
    strcpy(user, user_name);
    payload = zkl_payload_new(label, user, "curator", wall_ms);
    EXPECT(payload != NULL);
    expect_line(payload, label);
    expect_read_back(payload);
    free(payload);
    free(user_name);
    free(host_name);
    free(label);
    return 0;
}
