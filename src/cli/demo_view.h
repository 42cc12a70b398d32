/* The demonstration as it goes on: drawn anew on a terminal, a line now and then elsewhere. */
#ifndef CLI_DEMO_VIEW_H
#define CLI_DEMO_VIEW_H

#include "demo_board.h"

struct demo_view {
    const struct demo_board *board;
    int64_t slot_ns;    /* the time that one column of the timeline stands for */
    bool is_terminal;
    bool has_colours;   /* not with NO_COLOR */
    bool has_blocks;    /* the locale is UTF-8 */
    int drawn_lines;
    int told_tenths;    /* of all rounds, in plain mode */
};

/* `think_ms` sets the scale of the timeline. */
void demo_view_open(struct demo_view *view, const struct demo_board *board, int64_t think_ms);
void demo_view_refresh(struct demo_view *view);

#endif
