#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "message.h"
#include "payload.h"
#include "safe_text.h"
#include "status.h"

enum { TERMINAL_COLUMNS = 80, CELL_SIZE = 160 };

enum column {
    COLUMN_PLACE,
    COLUMN_STATE,
    COLUMN_HOST,
    COLUMN_PID,
    COLUMN_USER,
    COLUMN_LABEL,
    COLUMN_MODE,
    COLUMN_AGE,
    COLUMN_SESSION,
    COLUMN_TOKEN,
    COLUMN_COUNT,
};

struct row {
    char cells[COLUMN_COUNT][CELL_SIZE];
};

/* Columns that may be cut when the terminal is too narrow, and what is then left of them at least. */
static const struct {
    const char *title;
    bool is_number;
    int least_when_cut; /* 0: never cut */
} columns[COLUMN_COUNT] = {
    {"#", true, 0},     {"STATE", false, 0}, {"HOST", false, 6},   {"PID", true, 0},      {"USER", false, 4},
    {"WHAT", false, 6}, {"MODE", false, 0},  {"AGE", true, 0},     {"SESSION", false, 0}, {"TOKEN", true, 0},
};

const char *status_mode_name(zklock_mode mode)
{
    switch (mode) {
    case ZKLOCK_MODE_EXCLUSIVE: return "exclusive";
    case ZKLOCK_MODE_SHARED: return "shared";
    case ZKLOCK_MODE_LEADER_LATCH: return "latch";
    case ZKLOCK_MODE_SEMAPHORE: return "permit";
    }
    return "unknown";
}

static const char *short_mode(zklock_mode mode)
{
    switch (mode) {
    case ZKLOCK_MODE_EXCLUSIVE: return "excl";
    case ZKLOCK_MODE_SHARED: return "shrd";
    case ZKLOCK_MODE_LEADER_LATCH: return "ltch";
    case ZKLOCK_MODE_SEMAPHORE: return "prmt";
    }
    return "?";
}

void status_print_age(int64_t age_ms, char *buffer, size_t size)
{
    long long seconds = age_ms > 0 ? age_ms / 1000 : 0;

    if (seconds < 60)
        snprintf(buffer, size, "%llds", seconds);
    else if (seconds < 3600)
        snprintf(buffer, size, "%lldm%02lld", seconds / 60, seconds % 60);
    else if (seconds < 86400)
        snprintf(buffer, size, "%lldh%02lld", seconds / 3600, seconds % 3600 / 60);
    else
        snprintf(buffer, size, "%lldd%02lld", seconds / 86400, seconds % 86400 / 3600);
}

static void print_text(const char *text, char *buffer, size_t size)
{
    safe_text(text[0] ? text : "-", text[0] ? strlen(text) : 1, buffer, size);
}

static void fill_row(const zklock_contender *contender, size_t place, int64_t now_ms, struct row *out_row)
{
    struct payload payload;
    char (*cells)[CELL_SIZE] = out_row->cells;

    payload_read(contender, &payload);
    snprintf(cells[COLUMN_PLACE], CELL_SIZE, "%zu", place);
    snprintf(cells[COLUMN_STATE], CELL_SIZE, contender->is_holder ? "holds" : "waits");
    print_text(payload.host, cells[COLUMN_HOST], CELL_SIZE);
    print_text(payload.pid, cells[COLUMN_PID], CELL_SIZE);
    print_text(payload.user, cells[COLUMN_USER], CELL_SIZE);
    print_text(payload.label, cells[COLUMN_LABEL], CELL_SIZE);
    snprintf(cells[COLUMN_MODE], CELL_SIZE, "%s", short_mode(contender->mode));
    status_print_age(now_ms - contender->created_ms, cells[COLUMN_AGE], CELL_SIZE);
    snprintf(cells[COLUMN_SESSION], CELL_SIZE, "%llx", (unsigned long long)contender->session_id);
    snprintf(cells[COLUMN_TOKEN], CELL_SIZE, "%" PRIu64, contender->token);
}

static void measure(const struct row *rows, size_t count, int out_widths[COLUMN_COUNT])
{
    for (int column = 0; column < COLUMN_COUNT; column++) {
        out_widths[column] = (int)strlen(columns[column].title);
        for (size_t i = 0; i < count; i++) {
            int width = safe_text_columns(rows[i].cells[column]);

            if (width > out_widths[column])
                out_widths[column] = width;
        }
    }
}

static int total_of(const int widths[COLUMN_COUNT])
{
    int total = COLUMN_COUNT - 1;

    for (int column = 0; column < COLUMN_COUNT; column++)
        total += widths[column];
    return total;
}

/* Takes a character at a time from the widest column that can spare one. */
static void shrink(int widths[COLUMN_COUNT])
{
    while (total_of(widths) > TERMINAL_COLUMNS) {
        int widest = -1;

        for (int column = 0; column < COLUMN_COUNT; column++) {
            bool can_spare =
                columns[column].least_when_cut > 0 && widths[column] > columns[column].least_when_cut;

            if (can_spare && (widest < 0 || widths[column] > widths[widest]))
                widest = column;
        }
        if (widest < 0)
            return;
        widths[widest]--;
    }
}

static void print_cell(const char *text, int width, bool is_right)
{
    int padding = width - safe_text_columns(text);

    printf("%*s%s%*s", is_right && padding > 0 ? padding : 0, "", text,
           !is_right && padding > 0 ? padding : 0, "");
}

static void print_row(struct row *row, const int widths[COLUMN_COUNT])
{
    for (int column = 0; column < COLUMN_COUNT; column++) {
        safe_text_cut(row->cells[column], widths[column]);
        if (column > 0)
            putchar(' ');
        print_cell(row->cells[column], widths[column], columns[column].is_number);
    }
    putchar('\n');
}

static void print_header(const int widths[COLUMN_COUNT])
{
    struct row row;

    fputs(colour_begin(COLOUR_HEAD), stdout);

    for (int column = 0; column < COLUMN_COUNT; column++)
        snprintf(row.cells[column], CELL_SIZE, "%s", columns[column].title);
    print_row(&row, widths);
    fputs(colour_end(), stdout);
}

static void print_names(const zklock_queue *queue)
{
    char name[512];

    for (size_t i = 0; i < queue->count; i++) {
        safe_text(queue->contenders[i]->name, strlen(queue->contenders[i]->name), name, sizeof(name));
        printf("  %zu is %s\n", i + 1, name);
    }
}

static void print_summary(const char *path, const zklock_queue *queue)
{
    char safe_path[1200];
    size_t holders = 0;

    for (size_t i = 0; i < queue->count; i++)
        holders += queue->contenders[i]->is_holder;
    safe_text(path, strlen(path), safe_path, sizeof(safe_path));
    if (!queue->exists)
        printf("%s: free (no such path yet)", safe_path);
    else if (queue->count == 0)
        printf("%s: free", safe_path);
    else
        printf("%s: %zu hold%s, %zu wait%s", safe_path, holders, holders == 1 ? "s" : "",
               queue->count - holders, queue->count - holders == 1 ? "s" : "");
    if (queue->is_semaphore && queue->permits > 0)
        printf("; %u permit%s", queue->permits, queue->permits == 1 ? "" : "s");
    else if (queue->is_semaphore)
        printf("; no limit set");
    if (queue->is_mixed)
        printf("; mixed: they do not exclude each other");
    if (queue->foreign_count > 0)
        printf("; %zu foreign child%s", queue->foreign_count, queue->foreign_count == 1 ? "" : "ren");
    putchar('\n');
}

void status_table_print(const char *path, const zklock_queue *queue, int64_t now_ms)
{
    struct row *rows = calloc(queue->count + 1, sizeof(*rows));
    int widths[COLUMN_COUNT];

    print_summary(path, queue);
    for (size_t i = 0; rows && i < queue->count; i++)
        fill_row(queue->contenders[i], i + 1, now_ms, &rows[i]);
    if (rows && queue->count > 0) {
        measure(rows, queue->count, widths);
        shrink(widths);
        print_header(widths);
        for (size_t i = 0; i < queue->count; i++) {
            fputs(colour_begin(queue->contenders[i]->is_holder ? COLOUR_GOOD : COLOUR_FAINT), stdout);
            print_row(&rows[i], widths);
            fputs(colour_end(), stdout);
        }
        if (message_level() >= MESSAGE_VERBOSE)
            print_names(queue);
    }
    free(rows);
}
