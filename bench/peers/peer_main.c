/* The loop of a peer: one order a line, one answer a line. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workload.h"

enum need { NEEDS_NOTHING, NEEDS_WAIT, NEEDS_QUEUE, NEEDS_START, NEEDS_WRITES };

static const struct {
    const char *name;
    void (*run)(struct bench *bench);
    enum need need;
} workloads[] = {
    {"cycle", workload_cycle, NEEDS_NOTHING},       {"latency", workload_latency, NEEDS_WAIT},
    {"handover", workload_handover, NEEDS_QUEUE},   {"drain", workload_drain, NEEDS_START},
    {"locks", workload_locks, NEEDS_NOTHING},       {"footprint", workload_footprint, NEEDS_START},
    {"hold", workload_hold, NEEDS_NOTHING},         {"drop", workload_drop, NEEDS_NOTHING},
    {"acquire", workload_acquire, NEEDS_WAIT},      {"capacity", workload_capacity, NEEDS_WRITES},
};

static bool can(const struct peer *peer, enum need need)
{
    switch (need) {
    case NEEDS_NOTHING:
        break;
    case NEEDS_WAIT:
        return peer->can_wait;
    case NEEDS_QUEUE:
        return peer->can_queue;
    case NEEDS_START:
        return peer->start != NULL;
    case NEEDS_WRITES:
        return peer->write_many != NULL;
    }
    return true;
}

void peer_fail(const char *format, ...)
{
    va_list arguments;

    fputs("error ", stdout);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
    _Exit(1);
}

int64_t peer_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

const char *order_text(const struct order *order, const char *key, const char *fallback)
{
    size_t size = strlen(key);

    for (int i = 1; i < order->word_count; i++) {
        if (strncmp(order->words[i], key, size) == 0 && order->words[i][size] == '=')
            return order->words[i] + size + 1;
    }
    return fallback;
}

long order_number(const struct order *order, const char *key, long fallback)
{
    const char *text = order_text(order, key, NULL);
    char *end;
    long number = text ? strtol(text, &end, 10) : fallback;

    if (text && (end == text || *end != '\0' || number < 0))
        peer_fail("%s=%s is no number", key, text);
    return number;
}

static void split(char *line, struct order *order)
{
    char *rest = line;

    order->word_count = 0;
    for (char *word = strsep(&rest, " \n"); word; word = strsep(&rest, " \n")) {
        if (word[0] && order->word_count < (int)(sizeof order->words / sizeof order->words[0]))
            order->words[order->word_count++] = word;
    }
}

static void run_order(const struct peer *peer, const char *servers, const struct order *order)
{
    struct bench bench = {
        .peer = peer,
        .servers = servers,
        .path = order_text(order, "path", "/bench"),
        .count = order_number(order, "count", 1),
        .timeout_ms = (unsigned)order_number(order, "timeout", 10000),
        .order = order,
    };
    char *answer = NULL;
    size_t size = 0;

    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        if (strcmp(order->words[0], workloads[i].name) != 0 || !can(peer, workloads[i].need))
            continue;
        bench.out = open_memstream(&answer, &size);
        if (!bench.out)
            peer_fail("out of memory");
        workloads[i].run(&bench);
        fclose(bench.out);
        printf("ok%s\n", answer);
        free(answer);
        return;
    }
    puts("unsupported");
}

int peer_main(int argc, char **argv, const struct peer *peer)
{
    char line[1024];
    struct order order;

    if (argc != 2) {
        fprintf(stderr, "usage: %s SERVERS\nReads one workload a line, and answers each with one line.\n", argv[0]);
        return 64;
    }
    while (fgets(line, sizeof line, stdin)) {
        split(line, &order);
        if (order.word_count == 0)
            continue;
        run_order(peer, argv[1], &order);
        fflush(stdout);
    }
    return 0;
}
