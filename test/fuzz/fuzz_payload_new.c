/* The payload that we write for any label is one line of JSON, and brings the label back. */
#include <jansson.h>
#include <stdbool.h>
#include <unistd.h>

#include "fuzz.h"
#include "lock/payload.h"

#define LONGEST_LABEL 256

static const char *text_of(const json_t *object, const char *field)
{
    const json_t *value = json_object_get(object, field);

    EXPECT(json_is_string(value));
    return json_string_value(value);
}

static bool is_utf8(const char *text)
{
    json_t *decoded = json_string(text);
    bool is_valid = decoded != NULL;

    json_decref(decoded);
    return is_valid;
}

static void expect_label(const char *written, const char *label)
{
    EXPECT(strlen(written) <= LONGEST_LABEL);
    if (!is_utf8(label))
        return;
    if (strlen(label) <= LONGEST_LABEL)
        EXPECT(strcmp(written, label) == 0);
    else
        EXPECT(strncmp(written, label, strlen(written)) == 0 && strlen(written) > LONGEST_LABEL - 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    int64_t wall_ms = (int64_t)take_word(&input, 6);
    char *label = take_text(&input, 1000);
    char *payload = zkl_payload_new(label, "exclusive", wall_ms);
    json_t *object;

    EXPECT(payload != NULL);
    for (const char *at = payload; *at; at++)
        EXPECT((unsigned char)*at >= 0x20 && *at != 0x7f);
    object = json_loads(payload, JSON_REJECT_DUPLICATES, NULL);
    EXPECT(json_is_object(object));
    EXPECT(json_integer_value(json_object_get(object, "v")) == 1);
    EXPECT(json_integer_value(json_object_get(object, "pid")) == (json_int_t)getpid());
    EXPECT(strcmp(text_of(object, "style"), "exclusive") == 0);
    text_of(object, "zklock");
    text_of(object, "host");
    text_of(object, "user");
    text_of(object, "start");
    expect_label(text_of(object, "label"), label);
    json_decref(object);
    free(payload);
    free(label);
    return 0;
}
