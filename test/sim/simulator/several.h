/* Several locks of a process that its user takes as one: some of its contenders are the parts. */
#ifndef SIMULATOR_SEVERAL_H
#define SIMULATOR_SEVERAL_H

#include <stdbool.h>
#include <stdint.h>

#include "zklock.h"

struct process;
struct item;

enum { MOST_PARTS = 4 };

struct several {
    struct process *process;
    zklock_multi *multi; /* NULL: there is none */
    int count;           /* its parts are the first contenders of the process; 0: there is none at all */
    bool is_asking;
    bool is_holding;
    bool is_lost_seen;
    int64_t hold_ns;
};

void several_make(struct several *several, struct process *process);
void several_free(struct several *several);
/* What its user wants. */
void several_play(struct several *several, const struct item *item);
/* After anything that happened to the process. */
void several_look(struct several *several);
bool several_is_busy(const struct several *several);

#endif
