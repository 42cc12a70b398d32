/* The rows of the table: which rule, against which world, how far, and what is to be expected. */
#ifndef TEST_LEASE_ROW_H
#define TEST_LEASE_ROW_H

#include "explore.h"

enum section {
    SECTION_SHIPPED,    /* explored: the rules as they are */
    SECTION_LAPSE,      /* explored: earning a lease anew */
    SECTION_STANDALONE,
    SECTION_CYCLE,      /* explored: read, sync and write in turn, and what would cost even less */
    SECTION_TIMEOUT,    /* explored: servers that grant different timeouts */
    SECTION_ROAMED,     /* all of them, at random */
    SECTION_NAIVE,      /* rules that come to mind first */
    SECTION_ASSUMPTION, /* the shipped rules where what they rest on does not hold */
};

enum method {
    METHOD_EXPLORE,
    METHOD_SHORTEST, /* one violation, with the fewest moves */
    METHOD_EXAMPLE,  /* one violation, without moves that it does not need */
    METHOD_ROAM
};

/* What is varied within a row. */
#define WITH_RATES 1u    /* clocks that differ by 1 % either way, as well as equal ones */
#define WITH_SILENCES 2u /* sessions that the leader has not heard of for a while */
#define AT_NIGHT 4u      /* takes long */

struct row {
    enum section section;
    const char *name;
    enum method method;
    struct setting setting;
    struct bounds bounds;
    unsigned variations;
    bool is_violated; /* what is to be expected */
};

extern const struct row rows[];
extern const int row_count;

/* `scale` 1 is the default run; more of it roams longer. */
void row_run(const struct row *row, int scale, struct finding *out_finding);
bool row_is_as_expected(const struct row *row, const struct finding *finding);
void row_print_heading(void);
/* And the schedule in words, when there is a violation. */
void row_print(const struct row *row, const struct finding *finding);

#endif
