#include "demo_view.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

enum { STRIP_COLUMNS = 48, BAR_COLUMNS = 48, MOST_ROWS = 16, LEAST_SLOT_NS = 2000000, TENTHS = 10 };

/* For how much of each slot a worker held, or waited. */
struct strip {
    int64_t held_ns[STRIP_COLUMNS];
    int64_t waited_ns[STRIP_COLUMNS];
};

static const char *const activity_names[] = {"starts", "waits", "holds", "", "done", "failed"};

void demo_view_open(struct demo_view *view, const struct demo_board *board, int64_t think_ms)
{
    const char *term = getenv("TERM");
    const char *no_colour = getenv("NO_COLOR");

    *view = (struct demo_view){.board = board, .slot_ns = think_ms * 1000000 / 2};
    if (view->slot_ns < LEAST_SLOT_NS)
        view->slot_ns = LEAST_SLOT_NS;
    view->is_terminal = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
    view->has_colours = view->is_terminal && !(no_colour && no_colour[0]);
    view->has_blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* Adds what of [from, to) falls into each slot of the window that begins at `window_ns`. */
static void cover(int64_t slots[STRIP_COLUMNS], int64_t slot_ns, int64_t window_ns, int64_t from_ns,
                  int64_t to_ns)
{
    for (int i = 0; i < STRIP_COLUMNS; i++) {
        int64_t first = window_ns + i * slot_ns;
        int64_t start = from_ns > first ? from_ns : first;
        int64_t stop = to_ns < first + slot_ns ? to_ns : first + slot_ns;

        if (stop > start)
            slots[i] += stop - start;
    }
}

static void fill_strip(const struct demo_view *view, int number, int64_t now_ns, struct strip *out_strip)
{
    const struct demo_worker *worker = &view->board->workers[number];
    int64_t window_ns = now_ns - STRIP_COLUMNS * view->slot_ns;
    int activity = atomic_load((atomic_int *)(intptr_t)&worker->activity);
    int64_t since_ns = atomic_load((_Atomic int64_t *)(intptr_t)&worker->since_ns);

    memset(out_strip, 0, sizeof(*out_strip));
    for (int i = atomic_load((atomic_int *)(intptr_t)&worker->turn_count) - 1; i >= 0; i--) {
        const struct demo_turn *turn = demo_board_turn(view->board, number, i);

        if (turn->stop_ns < window_ns)
            break;
        cover(out_strip->held_ns, view->slot_ns, window_ns, turn->start_ns, turn->stop_ns);
        cover(out_strip->waited_ns, view->slot_ns, window_ns, turn->asked_ns, turn->start_ns);
    }
    if (activity == DEMO_HOLDING)
        cover(out_strip->held_ns, view->slot_ns, window_ns, since_ns, now_ns);
    if (activity == DEMO_WAITING)
        cover(out_strip->waited_ns, view->slot_ns, window_ns, since_ns, now_ns);
}

/* Holding more than half of a slot: two at once in one column are two at once in fact. */
static bool holds_in(const struct demo_view *view, const struct strip *strip, int slot)
{
    return strip->held_ns[slot] * 2 > view->slot_ns;
}

static bool is_disputed(const struct demo_view *view, const struct strip *strips, int slot)
{
    int holders = 0;

    for (int i = 0; i < view->board->worker_count; i++)
        holders += holds_in(view, &strips[i], slot);
    return holders > 1;
}

static void draw_slot(const struct demo_view *view, const struct strip *strips, int number, int slot)
{
    const char *colour = "";
    const char *mark = " ";

    if (holds_in(view, &strips[number], slot)) {
        mark = view->has_blocks ? "\xe2\x96\x88" : "#";
        colour = is_disputed(view, strips, slot) ? "\033[31m" : "\033[32m";
    } else if (strips[number].waited_ns[slot] * 2 > view->slot_ns) {
        mark = view->has_blocks ? "\xc2\xb7" : ".";
        colour = "\033[2m";
    }
    if (view->has_colours && colour[0])
        printf("%s%s\033[0m", colour, mark);
    else
        fputs(mark, stdout);
}

static void draw_worker(const struct demo_view *view, const struct strip *strips, int number)
{
    const struct demo_worker *worker = &view->board->workers[number];
    int activity = atomic_load((atomic_int *)(intptr_t)&worker->activity);
    int rounds = atomic_load((atomic_int *)(intptr_t)&worker->rounds);

    printf("\033[K%3d ", number + 1);
    for (int slot = 0; slot < STRIP_COLUMNS; slot++)
        draw_slot(view, strips, number, slot);
    printf(" %d/%d %s\n", rounds, view->board->rounds, activity_names[activity]);
}

static void draw_bar(const struct demo_view *view)
{
    int done = demo_board_rounds_done(view->board);
    int all = view->board->rounds * view->board->worker_count;
    int filled = (int)((int64_t)done * BAR_COLUMNS / all);

    printf("\033[K   [");
    for (int i = 0; i < BAR_COLUMNS; i++)
        fputs(i < filled ? (view->has_blocks ? "\xe2\x96\xa0" : "=") : " ", stdout);
    printf("] %d/%d\n", done, all);
}

static void draw(struct demo_view *view)
{
    int count = view->board->worker_count;
    int rows = count < MOST_ROWS ? count : MOST_ROWS;
    struct strip *strips = calloc((size_t)count, sizeof(*strips));
    int64_t now_ns = clock_boottime_ns();

    if (!strips)
        return;
    if (view->drawn_lines > 0)
        printf("\033[%dA\r", view->drawn_lines);
    for (int i = 0; i < count; i++)
        fill_strip(view, i, now_ns, &strips[i]);
    for (int i = 0; i < rows; i++)
        draw_worker(view, strips, i);
    draw_bar(view);
    view->drawn_lines = rows + 1;
    fflush(stdout);
    free(strips);
}

static void tell(struct demo_view *view)
{
    int done = demo_board_rounds_done(view->board);
    int all = view->board->rounds * view->board->worker_count;
    int tenths = (int)((int64_t)done * TENTHS / all);
    const char *what = "";
    int who = 0;

    if (tenths <= view->told_tenths)
        return;
    for (int i = 0; i < view->board->worker_count; i++) {
        if (atomic_load(&view->board->workers[i].activity) == DEMO_HOLDING) {
            who = i + 1;
            what = "; inside now: worker ";
        }
    }
    printf("progress  %d of %d rounds done%s", done, all, what);
    if (who > 0)
        printf("%d", who);
    putchar('\n');
    fflush(stdout);
    view->told_tenths = tenths;
}

void demo_view_refresh(struct demo_view *view)
{
    if (view->is_terminal)
        draw(view);
    else
        tell(view);
}
