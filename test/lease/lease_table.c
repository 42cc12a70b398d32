/* Prints the table of all rows. usage: lease_table [SCALE], where SCALE multiplies the random runs. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "row.h"

int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 1;
    int64_t states = 0, schedules = 0;
    int unexpected = 0;

    if (argc > 2 || scale < 1) {
        fprintf(stderr, "usage: lease_table [SCALE]; SCALE is a number from 1 on\n");
        return 64;
    }
    row_print_heading();
    for (int i = 0; i < row_count; i++) {
        static struct finding finding;
        row_run(&rows[i], scale, &finding);
        row_print(&rows[i], &finding);
        states += finding.states;
        schedules += finding.schedules;
        unexpected += !row_is_as_expected(&rows[i], &finding);
    }
    printf("%d rows, %lld states and moves, %lld schedules, %.1f s of processor time, %d rows not as expected\n",
           row_count, (long long)states, (long long)schedules, (double)clock() / CLOCKS_PER_SEC, unexpected);
    return unexpected > 0;
}
