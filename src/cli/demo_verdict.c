#include "demo_verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int compare_start(const void *left, const void *right)
{
    const struct demo_turn *one = left;
    const struct demo_turn *other = right;

    return (one->start_ns > other->start_ns) - (one->start_ns < other->start_ns);
}

static int compare_number(const void *left, const void *right)
{
    int64_t one = *(const int64_t *)left;
    int64_t other = *(const int64_t *)right;

    return (one > other) - (one < other);
}

/* All turns of all workers, by their start. NULL without memory. */
static struct demo_turn *sorted_turns(const struct demo_board *board, int *out_count)
{
    struct demo_turn *turns =
        calloc((size_t)board->worker_count * (size_t)board->turn_capacity + 1, sizeof(*turns));
    int count = 0;

    for (int worker = 0; turns && worker < board->worker_count; worker++) {
        int own = atomic_load(&board->workers[worker].turn_count);

        for (int i = 0; i < own; i++)
            turns[count++] = *demo_board_turn(board, worker, i);
    }
    if (turns)
        qsort(turns, (size_t)count, sizeof(*turns), compare_start);
    *out_count = count;
    return turns;
}

static void judge_order(const struct demo_turn *turns, int count, struct demo_verdict *verdict)
{
    int64_t latest_stop_ns = 0;

    for (int i = 0; i < count; i++) {
        if (i > 0 && turns[i].start_ns < latest_stop_ns)
            verdict->overlaps++;
        if (turns[i].stop_ns > latest_stop_ns)
            latest_stop_ns = turns[i].stop_ns;
        if (turns[i].token == 0)
            continue;
        /* The counter tells of the last writer, whichever host he was on. */
        if ((i > 0 && turns[i].token <= turns[i - 1].token) || turns[i].token <= turns[i].token_found)
            verdict->falls++;
    }
}

/* From one worker's leaving to the next one's entering, where the next one was waiting and nobody of another
 * host came between. */
static int64_t median_hand_over(const struct demo_turn *turns, int count)
{
    int64_t *gaps = calloc((size_t)count + 1, sizeof(*gaps));
    int found = 0;
    int64_t median = -1;

    for (int i = 1; gaps && i < count; i++) {
        const struct demo_turn *before = &turns[i - 1];

        if (turns[i].token && turns[i].asked_ns < before->stop_ns && turns[i].token_found == before->token &&
            turns[i].start_ns >= before->stop_ns)
            gaps[found++] = turns[i].start_ns - before->stop_ns;
    }
    if (found > 0) {
        qsort(gaps, (size_t)found, sizeof(*gaps), compare_number);
        median = gaps[found / 2];
    }
    free(gaps);
    return median;
}

bool demo_verdict_make(const struct demo_board *board, const struct demo_balance *before,
                       const struct demo_balance *after, struct demo_verdict *out_verdict)
{
    struct demo_verdict verdict = {
        .start = before->value,
        .added = after->added - before->added,
        .added_here = demo_board_rounds_done(board),
        .found = after->value,
    };
    struct demo_turn *turns = sorted_turns(board, &verdict.turns);

    if (!turns)
        return false;
    verdict.lost = verdict.start + verdict.added - verdict.found;
    verdict.has_no_lock = verdict.turns > 0 && turns[0].token == 0;
    for (int i = 0; i < board->worker_count; i++)
        verdict.losses += atomic_load(&board->workers[i].losses);
    judge_order(turns, verdict.turns, &verdict);
    verdict.hand_over_ns = median_hand_over(turns, verdict.turns);
    free(turns);
    *out_verdict = verdict;
    return true;
}

bool demo_verdict_is_right(const struct demo_verdict *verdict)
{
    return verdict->lost == 0 && verdict->overlaps == 0 && verdict->falls == 0;
}

static void print_turns(const struct demo_verdict *verdict)
{
    printf("turns     %d, of which %d overlapped another", verdict->turns, verdict->overlaps);
    if (verdict->losses > 0)
        printf("; %d begun again after a lost lock", verdict->losses);
    putchar('\n');
    if (verdict->has_no_lock)
        return;
    if (verdict->falls == 0)
        printf("tokens    rose from holder to holder\n");
    else
        printf("tokens    fell %d time%s\n", verdict->falls, verdict->falls == 1 ? "" : "s");
    if (verdict->hand_over_ns >= 0)
        printf("hand-over median %.2f ms\n", (double)verdict->hand_over_ns / 1e6);
}

static void print_conclusion(const struct demo_verdict *verdict)
{
    if (verdict->lost != 0)
        printf("lost %" PRId64 " update%s", verdict->lost, verdict->lost == 1 ? "" : "s");
    else if (verdict->overlaps > 0)
        printf("wrong: two were inside at once");
    else if (verdict->falls > 0)
        printf("wrong: a token fell");
    else
        printf("right: no update was lost");
}

void demo_verdict_print(const struct demo_verdict *verdict, bool has_colours)
{
    printf("counter   expected %" PRId64 " = %" PRId64 " at the start + %" PRId64 " here",
           verdict->start + verdict->added, verdict->start, verdict->added_here);
    if (verdict->added != verdict->added_here)
        printf(" + %" PRId64 " by other runs", verdict->added - verdict->added_here);
    printf("; found %" PRId64 "\n", verdict->found);
    print_turns(verdict);
    printf("verdict   %s", has_colours ? (demo_verdict_is_right(verdict) ? "\033[1;32m" : "\033[1;31m") : "");
    print_conclusion(verdict);
    printf("%s\n", has_colours ? "\033[0m" : "");
}
