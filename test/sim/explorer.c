/*
 * explorer: plays ZooKeeper, the network and the clock against the shipped recipe, through every interleaving
 * within the bounds of a setting, and prints the shortest trace of the first broken promise.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "driver.h"
#include "search.h"
#include "settings.h"

static const char usage[] =
    "usage: explorer [--suite small|large] [--setting NAME] [--list]\n"
    "                [--clients N] [--faults K] [--give-ups G] [--depth D] [--worlds W]\n"
    "  --suite     run each setting of that suite; all moves of the machine have to be taken\n"
    "  --setting   run one; the numbers that follow it change it (default: any-fault)\n"
    "  --depth     at most so many steps from the first world; 0: no bound\n"
    "  --worlds    stop after so many worlds\n"
    "exit status: 0 no promise was broken, 1 one was, 64 usage\n";

struct options {
    const char *suite;
    bool is_list;
    uint64_t most_worlds;
};

static void run(uint64_t most_worlds, bool *is_violated)
{
    struct search_result result;

    search_run(most_worlds, &result);
    printf("%-22s %d clients, %d faults, %d give-ups: %9llu worlds, %10llu steps, depth %3d, %6.1f s%s\n",
           setting.name, setting.clients, setting.faults, setting.give_ups, (unsigned long long)result.worlds,
           (unsigned long long)result.steps, result.depth, result.seconds,
           result.is_complete ? "" : result.violation ? ", VIOLATED" : ", bounded");
    fflush(stdout);
    *is_violated |= result.violation != NULL;
}

/* Prints each allowed move; returns how many were not taken. */
static int print_moves(void)
{
    int missing = 0;

    printf("moves:\n");
    for (int from = 0; from < ZKL_STATE_COUNT; from++) {
        for (int to = 0; to < ZKL_STATE_COUNT; to++) {
            if (!zkl_move_is_allowed(from, to))
                continue;
            printf("  %9s -> %-9s %12llu%s\n", zkl_state_name(from), zkl_state_name(to),
                   (unsigned long long)moves_taken[from][to], moves_taken[from][to] ? "" : "  NOT TAKEN");
            missing += moves_taken[from][to] == 0;
        }
    }
    return missing;
}

static bool parse_number(const char *text, uint64_t *out_number)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || number > UINT32_MAX)
        return false;
    *out_number = number;
    return true;
}

static int refuse(const char *option, const char *value)
{
    fprintf(stderr, "explorer: %s %s is not understood\n%s", option, value ? value : "", usage);
    return 64;
}

static bool choose_setting(const char *name)
{
    const struct setting *chosen = settings_find(name);

    if (chosen)
        setting = *chosen;
    return chosen != NULL;
}

static bool set_number(int option, uint64_t number, struct options *options)
{
    switch (option) {
    case 'c': setting.clients = (int)number; return number >= 1 && number <= MOST_CLIENTS;
    case 'k': setting.faults = (int)number; return number <= 8;
    case 'g': setting.give_ups = (int)number; return number <= 8;
    case 'd': setting.depth = (int)number; return number <= 100000;
    default: options->most_worlds = number; return number <= UINT32_MAX;
    }
}

/* Returns 0, or the exit status. */
static int parse(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"suite", required_argument, NULL, 'S'},   {"setting", required_argument, NULL, 's'},
        {"list", no_argument, NULL, 'l'},          {"clients", required_argument, NULL, 'c'},
        {"faults", required_argument, NULL, 'k'},  {"give-ups", required_argument, NULL, 'g'},
        {"depth", required_argument, NULL, 'd'},   {"worlds", required_argument, NULL, 'w'},
        {NULL, 0, NULL, 0},
    };
    int option;
    int index;

    while ((option = getopt_long(argc, argv, "", known, &index)) != -1) {
        uint64_t number;
        if (option == '?')
            return refuse("the command line", "");
        if (option == 'l')
            options->is_list = true;
        else if (option == 'S')
            options->suite = optarg;
        else if (option == 's' ? !choose_setting(optarg)
                               : !parse_number(optarg, &number) || !set_number(option, number, options))
            return refuse(known[index].name, optarg);
    }
    return optind < argc ? refuse("argument", argv[optind]) : 0;
}

static int run_suite(const struct options *options)
{
    bool is_violated = false;
    int missing;

    if (!settings_suite(options->suite, 0))
        return refuse("--suite", options->suite);
    for (int i = 0; settings_suite(options->suite, i) && !is_violated; i++) {
        setting = *settings_suite(options->suite, i);
        run(options->most_worlds, &is_violated);
    }
    missing = print_moves();
    if (missing > 0 && !is_violated)
        printf("%d allowed moves were never taken\n", missing);
    return is_violated || missing > 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct options options = {.most_worlds = UINT32_MAX};
    bool is_violated = false;
    int status;

    steps_catch_assertions();
    choose_setting("any-fault");
    status = parse(argc, argv, &options);
    if (status != 0)
        return status;
    if (options.is_list) {
        settings_print();
        return 0;
    }
    if (options.suite)
        return run_suite(&options);
    run(options.most_worlds, &is_violated);
    print_moves();
    return is_violated ? 1 : 0;
}
