/* What came of the demonstration. Pure, but for the printing. */
#ifndef CLI_DEMO_VERDICT_H
#define CLI_DEMO_VERDICT_H

#include "demo_board.h"
#include "demo_counter.h"

struct demo_verdict {
    int64_t start;         /* the counter when this run began */
    int64_t added;         /* what all runs have added since */
    int64_t added_here;    /* of it, by this run */
    int64_t found;
    int64_t lost;          /* start + added - found */
    int turns;
    int losses;            /* turns that were begun again because the lock was lost */
    int overlaps;          /* two of this run's workers inside at once */
    int falls;             /* a token that was not above the one before */
    int64_t hand_over_ns;  /* median; negative: there was none */
    bool has_no_lock;
};

/* False without memory. */
bool demo_verdict_make(const struct demo_board *board, const struct demo_balance *before,
                       const struct demo_balance *after, struct demo_verdict *out_verdict);
bool demo_verdict_is_right(const struct demo_verdict *verdict);
void demo_verdict_print(const struct demo_verdict *verdict, bool has_colours);

#endif
