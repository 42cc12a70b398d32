/* "zklock status" of any queue: a table of straight columns and a JSON object, whatever the contenders say. */
#include <jansson.h>
#include <locale.h>

#include "cli/safe_text.h"
#include "cli/status.h"
#include "fuzz.h"

#define MOST_CONTENDERS 4
#define PATH "/jobs/caf\xc3\xa9"
/* Where no cell can be cut any further. */
#define MOST_COLUMNS 120

static locale_t plain, utf8;

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    setenv("NO_COLOR", "1", 1);
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    EXPECT(plain && utf8);
    return 0;
}

/* ---------------------------------------------------------------- a queue out of bytes */

static zklock_contender contenders[MOST_CONTENDERS];
static const zklock_contender *in_order[MOST_CONTENDERS];

static void take_contender(struct input *input, zklock_contender *out_contender)
{
    uint8_t first = take_byte(input);
    size_t payload_size;
    char *payload = take_bytes(input, take_byte(input), &payload_size);

    *out_contender = (zklock_contender){
        .name = take_text(input, 100),
        .payload = payload,
        .payload_size = payload_size,
        .mode = (zklock_mode)(first % 3),
        .is_holder = first & 0x80,
        .number = (int32_t)take_word(input, 4),
        .token = take_word(input, first & 0x40 ? 8 : 2),
        .session_id = (int64_t)take_word(input, first & 0x20 ? 8 : 2),
        .created_ms = (int64_t)take_word(input, 6),
    };
}

static void clear(const zklock_queue *queue)
{
    for (size_t i = 0; i < queue->count; i++) {
        free((char *)contenders[i].name);
        free((char *)contenders[i].payload);
    }
}

/* ---------------------------------------------------------------- what has to come out */

static void expect_printable(const char *line, bool is_plain)
{
    EXPECT(is_utf8(line));
    for (const char *at = line; *at; at++)
        EXPECT((unsigned char)*at >= ' ' && *at != 0x7F && (!is_plain || (unsigned char)*at < 0x80));
}

/* A line for the path; then, unless nobody is there, a heading and a row for each, all equally wide. */
static void expect_table(char *text, const zklock_queue *queue, bool is_plain)
{
    size_t count = 0;
    int columns = 0;

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        expect_printable(line, is_plain);
        if (count++ == 0)
            continue;
        EXPECT(columns == 0 || safe_text_columns(line) == columns);
        columns = safe_text_columns(line);
    }
    EXPECT(columns <= MOST_COLUMNS);
    EXPECT(count == 1 + (queue->count > 0 ? queue->count + 1 : 0));
}

static void print_table(const zklock_queue *queue, int64_t now_ms, bool is_plain)
{
    FILE *console = stdout;
    char *text = NULL;
    size_t size;

    stdout = open_memstream(&text, &size);
    EXPECT(stdout != NULL);
    status_table_print(PATH, queue, now_ms);
    EXPECT(fclose(stdout) == 0);
    stdout = console;
    EXPECT(strlen(text) == size && text[size - 1] == '\n');
    expect_table(text, queue, is_plain);
    free(text);
}

static void expect_contender(const json_t *object, const zklock_contender *contender, int64_t place)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    const char *token = json_string_value(json_object_get(object, "token"));
    const char *session = json_string_value(json_object_get(object, "session"));

    EXPECT(name && token && session);
    EXPECT(!is_utf8(contender->name) || strcmp(name, contender->name) == 0);
    EXPECT(strtoull(token, NULL, 10) == contender->token);
    EXPECT(strtoull(session, NULL, 16) == (uint64_t)contender->session_id);
    EXPECT(json_integer_value(json_object_get(object, "place")) == place);
    EXPECT(json_integer_value(json_object_get(object, "number")) == contender->number);
    EXPECT(json_is_true(json_object_get(object, "is_holder")) == contender->is_holder);
}

static void print_json(const zklock_queue *queue, int64_t now_ms)
{
    json_t *object = status_json(PATH, queue, now_ms);
    char *text = json_dumps(object, 0);
    json_t *again = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const json_t *list = json_object_get(again, "contenders");

    EXPECT(again && json_equal(object, again));
    EXPECT(strcmp(json_string_value(json_object_get(again, "path")), PATH) == 0);
    EXPECT(json_array_size(list) == queue->count);
    for (size_t i = 0; i < queue->count; i++)
        expect_contender(json_array_get(list, i), &contenders[i], (int64_t)i + 1);
    json_decref(again);
    json_decref(object);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    uint8_t first = take_byte(&input);
    int64_t now_ms = (int64_t)take_word(&input, 6);
    zklock_queue queue = {.contenders = in_order,
                          .count = first / 4 % (MOST_CONTENDERS + 1),
                          .foreign_count = first / 32,
                          .exists = first & 2};

    uselocale(first & 1 ? plain : utf8);
    for (size_t i = 0; i < queue.count; i++)
        take_contender(&input, &contenders[i]);
    for (size_t i = 0; i < queue.count; i++)
        in_order[i] = &contenders[i];
    print_table(&queue, now_ms, first & 1);
    print_json(&queue, now_ms);
    clear(&queue);
    return 0;
}
