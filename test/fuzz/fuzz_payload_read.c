/* The payload of somebody else's contender: what of it is shown is what a reader of JSON finds there. */
#include <jansson.h>

#include "cli/payload.h"
#include "fuzz.h"

#define LONGEST_PAYLOAD 65536

/* The field's text, or as much as there is room for, cut at a character's end. */
static bool expect_text(const json_t *object, const char *field, const char *shown, size_t room)
{
    const json_t *value = json_object_get(object, field);
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    size_t size = strnlen(shown, room);
    uint32_t point;

    EXPECT(size < room && is_utf8(shown));
    EXPECT(strncmp(text, shown, size) == 0);
    if (text[size])
        EXPECT(size + read_character(text + size, strlen(text + size), &point) >= room);
    return json_is_string(value);
}

static bool expect_pid(const json_t *object, const char *shown, size_t room)
{
    const json_t *value = json_object_get(object, "pid");
    char text[32] = "";

    if (json_is_integer(value))
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    EXPECT(strnlen(shown, room) < room && strcmp(text, shown) == 0);
    return json_is_integer(value);
}

static void expect_payload(const zklock_contender *contender)
{
    struct payload payload;
    json_t *object = contender->payload ? json_loadb(contender->payload, contender->payload_size, 0, NULL) : NULL;
    bool is_known;

    payload_read(contender, &payload);
    is_known = expect_text(object, "host", payload.host, sizeof payload.host);
    is_known |= expect_pid(object, payload.pid, sizeof payload.pid);
    is_known |= expect_text(object, "user", payload.user, sizeof payload.user);
    is_known |= expect_text(object, "label", payload.label, sizeof payload.label);
    EXPECT(payload.is_readable == is_known);
    json_decref(object);
}

/* It ends, however little room there is; with enough room it says since when. */
static void expect_description(const zklock_contender *contender, size_t room)
{
    char whole[1024];
    char *text = malloc(room);

    EXPECT(text != NULL);
    payload_describe(contender, whole, sizeof whole);
    payload_describe(contender, text, room);
    EXPECT(strstr(whole, ", in the queue since ") != NULL);
    EXPECT(strnlen(text, room) < room && strncmp(text, whole, strlen(text)) == 0);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    size_t payload_size = take_byte(&input); /* the rest of the input says who wrote it */
    char *payload = take_bytes(&input, payload_size < 255 ? payload_size : LONGEST_PAYLOAD, &payload_size);
    zklock_contender contender = {.created_ms = (int64_t)take_word(&input, 8),
                                  .session_id = (int64_t)take_word(&input, 8),
                                  .payload = payload_size > 0 ? payload : NULL,
                                  .payload_size = payload_size};
    size_t room = 1 + (size_t)take_word(&input, 2) % 600;
    char *name = take_text(&input, 100);

    contender.name = name;
    expect_payload(&contender);
    expect_description(&contender, room);
    free(name);
    free(payload);
    return 0;
}
