#include "demo_board.h"

#include <sys/mman.h>

#include "clock.h"

/* Lost rounds are turns as well; beyond this many the rest goes unrecorded. */
enum { SPARE_TURNS = 64 };

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static size_t workers_size(const struct demo_board *board)
{
    return sizeof(*board->workers) * (size_t)board->worker_count;
}

static size_t turns_size(const struct demo_board *board)
{
    return sizeof(*board->turns) * (size_t)board->worker_count * (size_t)board->turn_capacity;
}

bool demo_board_open(struct demo_board *board, int worker_count, int rounds)
{
    *board = (struct demo_board){.worker_count = worker_count,
                                 .rounds = rounds,
                                 .turn_capacity = rounds + SPARE_TURNS};
    board->workers = map(workers_size(board));
    board->turns = map(turns_size(board));
    if (board->workers && board->turns)
        return true;
    demo_board_close(board);
    return false;
}

void demo_board_close(struct demo_board *board)
{
    if (board->workers)
        munmap(board->workers, workers_size(board));
    if (board->turns)
        munmap(board->turns, turns_size(board));
    board->workers = NULL;
    board->turns = NULL;
}

void demo_board_act(struct demo_board *board, int worker, enum demo_activity activity)
{
    atomic_store(&board->workers[worker].since_ns, clock_boottime_ns());
    atomic_store(&board->workers[worker].activity, (int)activity);
}

void demo_board_add(struct demo_board *board, int worker, const struct demo_turn *turn)
{
    struct demo_worker *own = &board->workers[worker];
    int count = atomic_load(&own->turn_count);

    if (count >= board->turn_capacity)
        return;
    board->turns[worker * board->turn_capacity + count] = *turn;
    atomic_store(&own->turn_count, count + 1);
}

const struct demo_turn *demo_board_turn(const struct demo_board *board, int worker, int index)
{
    return &board->turns[worker * board->turn_capacity + index];
}

int demo_board_rounds_done(const struct demo_board *board)
{
    int done = 0;

    for (int i = 0; i < board->worker_count; i++)
        done += atomic_load(&board->workers[i].rounds);
    return done;
}
