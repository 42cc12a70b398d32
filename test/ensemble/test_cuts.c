/* Cuts that only containers show: of a client's host in one direction, and of a leader that another one replaces. */
#include "ensemble/actor.h"
#include "ensemble/compose.h"
#include "ensemble/host.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 500, SOON_MS = 30000, ELECTION_MS = 60000 };

static const char lock_path[] = "/cuts/lock";

static struct compose *compose;

static void start_ensemble(void)
{
    const char *missing = compose_missing();

    if (!missing)
        missing = host_missing();
    if (missing)
        suite_skip(missing);
    compose = compose_start(TICK_MS);
}

static void free_ensemble(void)
{
    compose_free(compose);
    compose = NULL;
}

static struct actor *start_holder(const char *hosts)
{
    return actor_start_with(CONTENDER, hosts, "4000", lock_path, "hold");
}

static int64_t time_of(const char *line)
{
    const char *blank = strchr(line, ' ');

    return blank ? strtoll(blank, NULL, 10) : 0;
}

static void expect_loss_before_grant(struct actor *holder, struct actor *next)
{
    char lost[ACTOR_LINE], held[ACTOR_LINE];

    CU_ASSERT_TRUE_FATAL(actor_wait_line(holder, "lost", SOON_MS, lost));
    CU_ASSERT_TRUE_FATAL(actor_wait_line(next, "held", SOON_MS, held));
    printf("\nfrom the loss to the next holder: %" PRId64 " ms\n", (time_of(held) - time_of(lost)) / 1000000);
    CU_ASSERT_TRUE(time_of(lost) < time_of(held));
}

static void check_holder_on_a_host(void (*cut)(struct host *host))
{
    struct host *host = host_start(compose, 1);
    struct actor *holder = actor_start_with("nsenter", host_entry(host), "--", CONTENDER,
                                            compose_bridge_hosts(compose), "4000", lock_path, "hold");
    struct actor *next;

    CU_ASSERT_TRUE_FATAL(actor_wait_line(holder, "held", SOON_MS, NULL));
    next = start_holder(compose_hosts(compose));
    cut(host);
    expect_loss_before_grant(holder, next);
    host_heal(host);
    actor_free(holder);
    actor_free(next);
    host_free(host);
}

static void muted_holder_is_told_before_the_next_holds(void)
{
    check_holder_on_a_host(host_mute);
}

static void deaf_holder_is_told_before_the_next_holds(void)
{
    check_holder_on_a_host(host_deafen);
}

/* The old leader is cut off from its peers and goes on answering for a while; its client knows no other server. */
static void holder_at_a_deposed_leader_is_told_before_the_next_holds(void)
{
    int leader = compose_leader(compose);
    char old_one[80], others[160];
    struct actor *holder, *next;

    CU_ASSERT_TRUE_FATAL(leader >= 0);
    snprintf(old_one, sizeof(old_one), "%s:2181", compose_address(compose, leader));
    snprintf(others, sizeof(others), "%s:2181,%s:2181", compose_address(compose, (leader + 1) % COMPOSE_SIZE),
             compose_address(compose, (leader + 2) % COMPOSE_SIZE));
    holder = start_holder(old_one);
    CU_ASSERT_TRUE_FATAL(actor_wait_line(holder, "held", SOON_MS, NULL));
    next = start_holder(others);
    compose_server_cut(compose, leader);
    CU_ASSERT_TRUE(compose_wait_leader(compose, leader, ELECTION_MS) >= 0);
    expect_loss_before_grant(holder, next);
    compose_server_heal(compose, leader);
    actor_free(holder);
    actor_free(next);
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(muted_holder_is_told_before_the_next_holds, start_ensemble, free_ensemble),
    SUITE_TEST_WITH(deaf_holder_is_told_before_the_next_holds, start_ensemble, free_ensemble),
    SUITE_TEST_WITH(holder_at_a_deposed_leader_is_told_before_the_next_holds, start_ensemble, free_ensemble),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "cuts", tests);
}
