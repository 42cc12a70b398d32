#include "trial.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child's figures come back through memory that both see. */
static struct figures *shared_figures(void)
{
    static struct figures *shared;

    if (shared)
        return shared;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("simulator: mmap");
        exit(2);
    }
    return shared;
}

int trial_play(const struct plan *plan, const struct run_options *options, struct figures *out_figures)
{
    struct figures *shared = shared_figures();
    int status;

    fflush(NULL);
    memset(shared, 0, sizeof *shared);
    pid_t child = fork();
    if (child < 0) {
        perror("simulator: fork");
        exit(2);
    }
    if (child == 0) {
        if (options->is_quiet && !freopen("/dev/null", "w", stderr))
            exit(2);
        run_play(plan, options, shared);
        exit(0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    *out_figures = *shared;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const char *trial_text(int status)
{
    static char text[64];

    if (status >= STATUS_VIOLATION && status < STATUS_VIOLATION + PROPERTY_COUNT)
        return property_text((enum property)(status - STATUS_VIOLATION));
    if (status > 128)
        snprintf(text, sizeof text, "signal %d (%s)", status - 128, strsignal(status - 128));
    else
        snprintf(text, sizeof text, "exit status %d", status);
    return text;
}

/* ---------------------------------------------------------------- shrinking */

static bool still_fails(const struct plan *plan, int status)
{
    const struct run_options options = {.is_quiet = true};
    struct figures figures;

    return trial_play(plan, &options, &figures) == status;
}

/* The plan without `count` items from `begin` on. */
static struct plan without(const struct plan *plan, size_t begin, size_t count)
{
    struct plan shorter = *plan;

    shorter.count = plan->count - count;
    shorter.items = must_have(malloc((shorter.count + 1) * sizeof *shorter.items));
    memcpy(shorter.items, plan->items, begin * sizeof *plan->items);
    memcpy(shorter.items + begin, plan->items + begin + count, (plan->count - begin - count) * sizeof *plan->items);
    return shorter;
}

/* Keeps the shorter one of the two if it still fails. */
static bool replace(struct plan *plan, struct plan shorter, int status)
{
    if (!still_fails(&shorter, status)) {
        free(shorter.items);
        return false;
    }
    free(plan->items);
    *plan = shorter;
    return true;
}

static bool drop_parts(struct plan *plan, size_t part, int status)
{
    bool is_shorter = false;

    for (size_t begin = plan->count; begin > 0;) {
        size_t count = begin < part ? begin : part;
        begin -= count;
        is_shorter |= replace(plan, without(plan, begin, count), status);
    }
    return is_shorter;
}

static bool is_of_client(const struct item *item)
{
    return item->kind <= ITEM_CLOSE;
}

/* Those that the plan names get the first numbers; the others go. */
static void renumber_clients(struct plan *plan, int status)
{
    struct plan smaller = without(plan, 0, 0);
    int numbers[MOST_CLIENTS];
    int count = 0;

    memset(numbers, -1, sizeof numbers);
    for (size_t i = 0; i < smaller.count; i++) {
        struct item *item = &smaller.items[i];
        if (!is_of_client(item))
            continue;
        if (numbers[item->subject] < 0)
            numbers[item->subject] = count++;
        item->subject = numbers[item->subject];
    }
    smaller.scenario.client_count = count > 0 ? count : 1;
    if (smaller.scenario.client_count < plan->scenario.client_count)
        replace(plan, smaller, status);
    else
        free(smaller.items);
}

/* Clients from the last one on, while the failure does not need them. */
static void drop_clients(struct plan *plan, int status)
{
    while (plan->scenario.client_count > 1) {
        struct plan smaller = without(plan, 0, 0);
        size_t kept = 0;
        smaller.scenario.client_count--;
        for (size_t i = 0; i < smaller.count; i++)
            if (!is_of_client(&smaller.items[i]) || smaller.items[i].subject < smaller.scenario.client_count)
                smaller.items[kept++] = smaller.items[i];
        smaller.count = kept;
        if (!replace(plan, smaller, status))
            return;
    }
}

/* Less time in which nothing happens, before each item. */
static void drop_time(struct plan *plan, int status)
{
    for (size_t first = 0; first < plan->count; first++) {
        int64_t gap_ns = plan->items[first].at_ns - (first > 0 ? plan->items[first - 1].at_ns : 0);
        for (int64_t less_ns = gap_ns; less_ns > SECOND / 2; less_ns /= 2) {
            struct plan sooner = without(plan, 0, 0);
            for (size_t i = first; i < sooner.count; i++)
                sooner.items[i].at_ns -= less_ns;
            sooner.scenario.chaos_ns -= less_ns;
            if (replace(plan, sooner, status))
                break;
        }
    }
}

static void drop_locks(struct plan *plan, int status)
{
    while (plan->scenario.lock_count > 1) {
        struct plan smaller = without(plan, 0, 0);
        smaller.scenario.lock_count--;
        for (size_t i = 0; i < smaller.count; i++)
            if (smaller.items[i].kind <= ITEM_FREE && smaller.items[i].which >= smaller.scenario.lock_count)
                smaller.items[i].which = 0;
        if (!replace(plan, smaller, status))
            return;
    }
}

void shrink_plan(struct plan *plan, int status)
{
    for (size_t part = plan->count / 2; part > 0; part /= 2) {
        drop_parts(plan, part, status);
        drop_clients(plan, status);
    }
    renumber_clients(plan, status);
    drop_time(plan, status);
    drop_locks(plan, status);
    while (drop_parts(plan, 1, status))
        drop_clients(plan, status);
}
