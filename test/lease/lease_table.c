/* Prints the table of all rows, or of those whose name contains NAME. usage: lease_table [SCALE [NAME]], where SCALE
 * multiplies the random runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "row.h"

int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 1;
    int64_t states = 0, schedules = 0;
    const char *wanted = argc > 2 ? argv[2] : "";
    int unexpected = 0;

    if (argc > 3 || scale < 1) {
        fprintf(stderr, "usage: lease_table [SCALE [NAME]]; SCALE is a number from 1 on\n");
        return 64;
    }
    row_print_heading();
    for (int i = 0; i < row_count; i++) {
        static struct finding finding;
        if (!strstr(rows[i].name, wanted))
            continue;
        row_run(&rows[i], scale, &finding);
        row_print(&rows[i], &finding);
        states += finding.states;
        schedules += finding.schedules;
        unexpected += !row_is_as_expected(&rows[i], &finding);
    }
    printf("%lld states and moves, %lld schedules, %.1f s of processor time, %d rows not as expected\n",
           (long long)states, (long long)schedules, (double)clock() / CLOCKS_PER_SEC, unexpected);
    return unexpected > 0;
}
