#include "support/critical.h"

#include "support/eventually.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *critical_program(void)
{
    return ZKLOCK_CRITICAL_SECTION;
}

static struct critical_section *find_running(struct critical_record *record, long id)
{
    for (int i = record->count - 1; i >= 0; i--) {
        if (record->sections[i].id == id)
            return record->sections[i].is_finished ? NULL : &record->sections[i];
    }
    return NULL;
}

static bool add_section(struct critical_record *record, const struct critical_section *section)
{
    size_t size = (size_t)(record->count + 1) * sizeof(*section);
    struct critical_section *sections = realloc(record->sections, size);

    if (!sections)
        return false;
    record->sections = sections;
    record->sections[record->count++] = *section;
    return true;
}

static bool parse_token(const char *text, struct critical_section *section)
{
    char *end = NULL;

    section->has_token = strcmp(text, "-") != 0;
    if (!section->has_token)
        return true;
    errno = 0;
    section->token = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

/* False for a line that makes no sense, by itself or after those before it. */
static bool take_line(struct critical_record *record, const char *line)
{
    struct critical_section section = {0};
    struct critical_section *running;
    char mark[8], token[64], surplus;
    int64_t clock_ns;

    if (sscanf(line, "%7s %ld %" SCNd64 " %63s %c", mark, &section.id, &clock_ns, token, &surplus) != 4
        || !strchr(line, '\n') || !parse_token(token, &section))
        return false;
    running = find_running(record, section.id);
    if (strcmp(mark, "start") == 0) {
        section.start_ns = section.end_ns = clock_ns;
        /* Ids come again: an unfinished section of the same id belongs to one that was killed. */
        return add_section(record, &section);
    }
    if (!running || clock_ns < running->end_ns)
        return false;
    running->end_ns = clock_ns;
    running->is_finished = strcmp(mark, "stop") == 0;
    return running->is_finished || strcmp(mark, "alive") == 0;
}

static int compare_start(const void *left, const void *right)
{
    int64_t a = ((const struct critical_section *)left)->start_ns;
    int64_t b = ((const struct critical_section *)right)->start_ns;

    return (a > b) - (a < b);
}

bool critical_read(const char *path, struct critical_record *out_record)
{
    struct critical_record record = {0};
    FILE *file = fopen(path, "re");
    char line[512];

    if (!file && errno != ENOENT)
        return false;
    while (file && fgets(line, sizeof(line), file)) {
        if (!take_line(&record, line))
            record.malformed_lines++;
    }
    if (file)
        fclose(file);
    if (record.count > 1)
        qsort(record.sections, (size_t)record.count, sizeof(*record.sections), compare_start);
    *out_record = record;
    return true;
}

void critical_record_clear(struct critical_record *record)
{
    free(record->sections);
    memset(record, 0, sizeof(*record));
}

static void complain(struct critical_verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void complain(struct critical_verdict *verdict, const char *format, ...)
{
    va_list arguments;

    if (verdict->problem[0])
        return;
    va_start(arguments, format);
    vsnprintf(verdict->problem, sizeof(verdict->problem), format, arguments);
    va_end(arguments);
}

static void judge_overlap(struct critical_verdict *verdict, const struct critical_section *section,
                          const struct critical_section *latest)
{
    if (!latest || section->start_ns >= latest->end_ns)
        return;
    verdict->overlaps++;
    complain(verdict, "%ld started %" PRId64 " us before the end of %ld (tokens %" PRIu64 " and %" PRIu64 ")",
             section->id, (latest->end_ns - section->start_ns) / 1000, latest->id, section->token,
             latest->token);
}

static void judge_token(struct critical_verdict *verdict, const struct critical_section *section,
                        uint64_t highest)
{
    if (!section->has_token) {
        verdict->missing_tokens++;
        return;
    }
    if (section->token > highest)
        return;
    if (section->token == highest)
        verdict->repeated_tokens++;
    else
        verdict->falling_tokens++;
    complain(verdict, "%ld has the token %" PRIu64 " after %" PRIu64, section->id, section->token, highest);
}

bool critical_judge(const char *path, struct critical_verdict *out_verdict)
{
    struct critical_verdict verdict = {0};
    const struct critical_section *latest = NULL;
    struct critical_record record;
    uint64_t highest = 0;

    if (!critical_read(path, &record))
        return false;
    verdict.sections = record.count;
    verdict.malformed_lines = record.malformed_lines;
    for (int i = 0; i < record.count; i++) {
        const struct critical_section *section = &record.sections[i];

        verdict.unfinished += !section->is_finished;
        judge_overlap(&verdict, section, latest);
        judge_token(&verdict, section, highest);
        if (!latest || section->end_ns > latest->end_ns)
            latest = section;
        if (section->has_token && section->token > highest)
            highest = section->token;
    }
    if (record.malformed_lines > 0)
        complain(&verdict, "%d malformed lines in %s", record.malformed_lines, path);
    critical_record_clear(&record);
    *out_verdict = verdict;
    return true;
}

bool critical_is_clean(const struct critical_verdict *verdict)
{
    return verdict->problem[0] == '\0';
}

struct section_wish {
    const char *path;
    int count;
};

static bool has_sections(void *context)
{
    struct section_wish *wish = context;
    struct critical_verdict verdict;

    return critical_judge(wish->path, &verdict) && verdict.sections >= wish->count;
}

bool critical_wait_sections(const char *path, int count, int timeout_ms)
{
    struct section_wish wish = {path, count};

    return eventually(has_sections, &wish, timeout_ms);
}
