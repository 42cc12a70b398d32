/* Breadth first over all worlds of a setting, so that the first violation found has a shortest trace. */
#ifndef SIM_SEARCH_H
#define SIM_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

struct search_result {
    uint64_t worlds;
    uint64_t steps;
    int depth;
    bool is_complete; /* every world within the setting was explored */
    double seconds; /* of processor time */
    const char *violation; /* NULL: none; else its trace was printed */
};

/* Explores the present `setting`, at most so many worlds. */
void search_run(uint64_t most_worlds, struct search_result *out_result);

#endif
