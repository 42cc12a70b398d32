#include "figures.h"

#include <stdio.h>

#include "zklock.h"

void figures_add(struct figures *sum, const struct figures *more)
{
    sum->worlds += more->worlds;
    sum->events += more->events;
    sum->virtual_ns += more->virtual_ns;
    sum->acquires += more->acquires;
    sum->grants += more->grants;
    sum->shared_grants += more->shared_grants;
    sum->downgrades += more->downgrades;
    sum->several_grants += more->several_grants;
    sum->handed_on += more->handed_on;
    sum->requeued += more->requeued;
    sum->suspended += more->suspended;
    sum->writes += more->writes;
    sum->sessions += more->sessions;
    sum->excused += more->excused;
    for (int i = 0; i < STATUS_COUNT; i++)
        sum->results[i] += more->results[i];
    for (int i = 0; i < LOSS_COUNT; i++)
        sum->losses[i] += more->losses[i];
    for (int i = 0; i < ITEM_KIND_COUNT; i++)
        sum->items[i] += more->items[i];
    if (more->expired_holders > 0 && (sum->expired_holders == 0 || more->narrowest_ns < sum->narrowest_ns))
        sum->narrowest_ns = more->narrowest_ns;
    sum->expired_holders += more->expired_holders;
    if (more->longest_drain_ns > sum->longest_drain_ns)
        sum->longest_drain_ns = more->longest_drain_ns;
    sum->digest = sum->digest * 31 + more->digest;
}

static void print_count(const char *what, uint64_t count)
{
    if (count > 0)
        printf("  %-48s %12llu\n", what, (unsigned long long)count);
}

void figures_print(const struct figures *figures, double seconds, double cpu_seconds)
{
    printf("%llu worlds, %llu events, %.1f virtual hours, in %.1f s (%.1f s of a processor: %.0f events a second)\n",
           (unsigned long long)figures->worlds, (unsigned long long)figures->events,
           (double)figures->virtual_ns / (3600.0 * SECOND), seconds, cpu_seconds,
           cpu_seconds > 0 ? (double)figures->events / cpu_seconds : 0.0);
    print_count("acquires", figures->acquires);
    print_count("grants", figures->grants);
    print_count("of these, to shared ones", figures->shared_grants);
    print_count("downgrades", figures->downgrades);
    print_count("grants of several as one", figures->several_grants);
    print_count("handed on from thread to thread", figures->handed_on);
    print_count("queued again after an expiry", figures->requeued);
    print_count("suspended while held", figures->suspended);
    print_count("entries of the log", figures->writes);
    print_count("sessions", figures->sessions);
    for (int i = 0; i < STATUS_COUNT; i++)
        print_count(zklock_status_text((zklock_status)i), figures->results[i]);
    for (int i = 0; i < LOSS_COUNT; i++)
        print_count(zklock_loss_text((zklock_loss)i), figures->losses[i]);
    print_count("grants while a removal was not yet known", figures->excused);
    for (int i = 0; i < ITEM_KIND_COUNT; i++)
        print_count(item_name((enum item_kind)i), figures->items[i]);
    print_count("holders whose session was ended by the server", figures->expired_holders);
    if (figures->expired_holders > 0)
        printf("  %-48s %12.3f s\n", "least time between their lease's end and that",
               (double)figures->narrowest_ns / SECOND);
    printf("  %-48s %12.3f s\n", "longest time until all were served", (double)figures->longest_drain_ns / SECOND);
}
