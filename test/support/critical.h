/* The critical-section checker: whoever is under the lock writes to one file when it starts, while it lives
 * and when it stops, and a judge reads the file afterwards.
 *
 * One line each, appended by a single write: "start|alive|stop ID CLOCK TOKEN", with the clock in nanoseconds
 * of CLOCK_BOOTTIME and "-" for no token. The id is the thread's (a process's first thread has its pid). */
#ifndef ZKLOCK_TEST_CRITICAL_H
#define ZKLOCK_TEST_CRITICAL_H

#include <stdbool.h>
#include <stdint.h>

/* The file is made when it is not there; -1 on failure. */
int critical_open(const char *path);
/* mark: "start", "alive" or "stop"; token NULL or "": none. */
bool critical_write(int file, const char *mark, const char *token);

/* The program that does this for a child: critical-section FILE HOLD_MS [BEAT_MS]. It takes the token from
 * ZKLOCK_TOKEN, and shows a sign of life every BEAT_MS (default 0: none). */
const char *critical_program(void);

struct critical_section {
    long id;
    int64_t start_ns;
    int64_t end_ns;         /* its stop, or its last sign of life */
    uint64_t token;
    bool has_token;
    bool is_finished;       /* it wrote its stop */
};

struct critical_record {
    struct critical_section *sections;  /* by start */
    int count;
    int malformed_lines;
};

struct critical_verdict {
    int sections;
    int unfinished;         /* killed, or still running */
    int overlaps;           /* sections that started before an earlier one had ended */
    int falling_tokens;     /* tokens below that of an earlier section */
    int repeated_tokens;
    int missing_tokens;
    int malformed_lines;
    char problem[256];      /* the first one in words, "" when all is well */
};

/* False when the file cannot be read. A file that is not there yet has no sections. */
bool critical_read(const char *path, struct critical_record *out_record);
void critical_record_clear(struct critical_record *record);
bool critical_judge(const char *path, struct critical_verdict *out_verdict);
/* No overlap, no malformed line, and tokens that only rise. */
bool critical_is_clean(const struct critical_verdict *verdict);
/* Until so many sections have started. */
bool critical_wait_sections(const char *path, int count, int timeout_ms);

#endif
