/*
 * The library's session and lock layers over a simulated ZooKeeper, in virtual time: world after world, each with its
 * own number of servers, clients and faults, until one breaks a promise. The worlds follow from their seeds, so that
 * a failure can be seen again, looked at and made smaller.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "trial.h"

#define DEFAULT_EVENTS 20000000

struct wishes {
    uint64_t first_seed;
    uint64_t world_count; /* 0: as many as `event_count` takes */
    uint64_t event_count;
    bool is_traced;
    bool is_planned;
    bool must_shrink;
    bool is_twice;
    int only;     /* the worlds of this kind; -1: all */
    int expected; /* a property, ANY_PROPERTY, or -1 */
    size_t most_items; /* of a plan that was shrunk; 0: any */
};

static void print_usage(FILE *stream)
{
    fprintf(stream, "usage: simulator [--seed N] [--worlds N | --events N] [--trace] [--plan] [--shrink [--most N]]\n"
                    "                 [--twice] [--only KIND] [--expect PROPERTY]\n"
                    "  --seed N     the first world's seed; the next ones follow it (default: from the clock)\n"
                    "  --worlds N   so many worlds; --events N: until so many things happened (default %d)\n"
                    "  --trace      print what happens     --plan   print what is planned\n"
                    "  --shrink     make a failing plan smaller, and print what is left of it with its trace;\n"
                    "               with --most N, fail if more than N items are left\n"
                    "  --twice      play each world twice, and compare\n"
                    "  --only KIND  of the worlds that are plain, or of permits, shared, several, cohorts\n"
                    "  --expect P   succeed if and only if a world breaks this property:",
            DEFAULT_EVENTS);
    for (int i = 0; i < PROPERTY_COUNT; i++)
        fprintf(stream, " %s", property_name((enum property)i));
    fprintf(stream, " ANY\n");
}

static uint64_t read_number(const char *option, const char *text)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);

    if (*text >= '0' && *text <= '9' && *end == '\0')
        return number;
    fprintf(stderr, "simulator: %s: '%s' is no number\n", option, text);
    exit(2);
}

/* Stands for all properties. */
#define ANY_PROPERTY PROPERTY_COUNT

static int read_property(const char *text)
{
    if (strcasecmp(text, "any") == 0)
        return ANY_PROPERTY;
    for (int i = 0; i < PROPERTY_COUNT; i++)
        if (strcasecmp(text, property_name((enum property)i)) == 0)
            return i;
    fprintf(stderr, "simulator: --expect: '%s' is none of the properties; see --help\n", text);
    exit(2);
}

static int read_kind(const char *text)
{
    for (int i = 0; i < WORLD_KIND_COUNT; i++)
        if (strcmp(text, world_kind_name((enum world_kind)i)) == 0)
            return i;
    fprintf(stderr, "simulator: --only: '%s' is no kind of worlds; see --help\n", text);
    exit(2);
}

static void read_options(struct wishes *wishes, int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},   {"worlds", required_argument, NULL, 'w'},
        {"events", required_argument, NULL, 'e'}, {"expect", required_argument, NULL, 'x'},
        {"most", required_argument, NULL, 'm'},   {"trace", no_argument, NULL, 't'},
        {"plan", no_argument, NULL, 'p'},         {"shrink", no_argument, NULL, 'k'},
        {"twice", no_argument, NULL, '2'},        {"only", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 's': wishes->first_seed = read_number("--seed", optarg); break;
        case 'w': wishes->world_count = read_number("--worlds", optarg); break;
        case 'e': wishes->event_count = read_number("--events", optarg); break;
        case 'x': wishes->expected = read_property(optarg); break;
        case 'o': wishes->only = read_kind(optarg); break;
        case 'm': wishes->most_items = (size_t)read_number("--most", optarg); break;
        case 't': wishes->is_traced = true; break;
        case 'p': wishes->is_planned = true; break;
        case 'k': wishes->must_shrink = true; break;
        case '2': wishes->is_twice = true; break;
        case 'h': print_usage(stdout); exit(0);
        default: print_usage(stderr); exit(2);
        }
    }
}

/* ---------------------------------------------------------------- one world */

/* What is left of a failing plan, how it fails, and whether it is small enough. */
static bool show_smaller(const struct wishes *wishes, const struct plan *plan, int status)
{
    const struct run_options options = {.is_traced = true};
    struct plan smaller = *plan;
    struct figures figures;

    smaller.items = must_have(malloc((plan->count + 1) * sizeof *plan->items));
    memcpy(smaller.items, plan->items, plan->count * sizeof *plan->items);
    shrink_plan(&smaller, status);
    plan_print(&smaller);
    trial_play(&smaller, &options, &figures);
    printf("%zu of %zu items are left\n", smaller.count, plan->count);
    bool is_small = wishes->most_items == 0 || smaller.count <= wishes->most_items;
    plan_clear(&smaller);
    return is_small;
}

/* 0, or what is wrong. */
static int play_world(const struct wishes *wishes, uint64_t seed, struct figures *sum)
{
    struct run_options options = {.is_traced = wishes->is_traced};
    struct figures figures, again;
    struct plan plan;

    plan_draw(&plan, seed);
    if (wishes->is_planned)
        plan_print(&plan);
    int status = trial_play(&plan, &options, &figures);
    if (status == 0 && wishes->is_twice && trial_play(&plan, &options, &again) == 0 &&
        (again.digest != figures.digest || again.events != figures.events)) {
        printf("seed %llu: two runs differ\n", (unsigned long long)seed);
        status = 1;
    }
    if (status == 0)
        figures_add(sum, &figures);
    if (status != 0 && wishes->must_shrink && !show_smaller(wishes, &plan, status))
        status = 1;
    plan_clear(&plan);
    return status;
}

static bool is_expected(const struct wishes *wishes, int status)
{
    bool is_violation = status >= STATUS_VIOLATION && status < STATUS_VIOLATION + PROPERTY_COUNT;

    return is_violation && (wishes->expected == ANY_PROPERTY || status == STATUS_VIOLATION + wishes->expected);
}

static int judge(const struct wishes *wishes, int status, uint64_t seed)
{
    if (is_expected(wishes, status)) {
        printf("caught with seed %llu, as expected: %s\n", (unsigned long long)seed, trial_text(status));
        return 0;
    }
    if (status != 0) {
        printf("failed: seed %llu: %s\nagain: simulator --seed %llu --worlds 1 --trace (or --shrink)\n",
               (unsigned long long)seed, trial_text(status), (unsigned long long)seed);
        return 1;
    }
    if (wishes->expected >= 0)
        printf("failed: nothing was caught\n");
    return wishes->expected >= 0;
}

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

/* Of this program and its children. */
static double cpu_seconds(void)
{
    double seconds = 0;

    for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
        struct rusage usage;
        getrusage(who, &usage);
        seconds += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
        seconds += (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    }
    return seconds;
}

int main(int argc, char **argv)
{
    struct wishes wishes = {.event_count = DEFAULT_EVENTS, .only = -1, .expected = -1};
    struct figures sum = {0};
    struct timespec begin;
    uint64_t seed;
    int status = 0;

    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    wishes.first_seed = (uint64_t)time(NULL) * 1000;
    read_options(&wishes, argc, argv);
    printf("first seed %llu\n", (unsigned long long)wishes.first_seed);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (seed = wishes.first_seed; status == 0; seed++) {
        bool is_enough = wishes.world_count > 0 ? seed - wishes.first_seed == wishes.world_count
                                                : sum.events >= wishes.event_count;
        if (is_enough)
            break;
        if (wishes.only >= 0 && (int)world_kind_of(seed) != wishes.only)
            continue;
        status = play_world(&wishes, seed, &sum);
    }
    figures_print(&sum, seconds_since(&begin), cpu_seconds());
    return judge(&wishes, status, seed - 1);
}
