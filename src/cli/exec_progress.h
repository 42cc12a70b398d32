/* What is told while exec waits: once in the story, to the service manager, and as a line that is drawn anew on a
 * terminal. */
#ifndef CLI_EXEC_PROGRESS_H
#define CLI_EXEC_PROGRESS_H

#include <stddef.h>

#include "exec.h"

struct progress {
    int64_t next_ms; /* of the next look, on clock_boottime_ms(); INT64_MAX: none */
    int turns;
    char place[64];   /* "place 2 of 3, " or empty */
    char holder[256]; /* empty: not known */
    int64_t holder_since_ms; /* since 1970 */
};

void progress_begin(struct progress *out_progress);
/* Does what is due now. */
void progress_turn(struct progress *progress, const struct exec *exec);
/* Leaves no line behind. */
void progress_end(void);

/* The lock that is being acquired, and its path. */
zklock *exec_current_lock(const struct exec *exec);
const char *exec_current_path(const struct exec *exec);
/* Writes "held by ..." or an empty text, when nobody is there any more or it cannot be known. False: no server answers in
 * time. */
bool exec_describe_holder(const struct exec *exec, bool warns_if_nested, char *buffer, size_t size);

#endif
