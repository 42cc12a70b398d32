/* Worlds in which nothing goes wrong but what the test does. */
#include "run.h"
#include "session/session.h"
#include "support/suite.h"

#define HOUR (3600 * SECOND)

static struct plan plan;
static struct run run;
static struct process *process;
static int64_t end_ns;   /* of the lease, by the process's clock, as it was seen last */
static int64_t least_ns; /* that was left of it, just before anything happened */

static int64_t clock_now(void)
{
    return runtime_clock(&process->runtime);
}

/* What was left just before this, and how far the lease goes now. */
static void note_lease(struct actor *actor)
{
    checker_look((struct process *)actor);
    if (end_ns > 0 && end_ns - clock_now() < least_ns)
        least_ns = end_ns - clock_now();
    end_ns = process->contenders[0].is_believed
                 ? clock_now() + zkl_session_lease_remaining(process->session)
                 : 0;
}

static void begin(int64_t timeout_ns, int64_t tick_ns, bool is_tick_told, int server)
{
    static const struct run_options options = {.is_quiet = false};

    plan = (struct plan){.scenario = {.seed = 1,
                                      .server_count = 3,
                                      .tick_ns = tick_ns,
                                      .is_tick_told = is_tick_told,
                                      .timeout_ns = timeout_ns,
                                      .client_count = 1,
                                      .lock_count = 1,
                                      .path_count = 1,
                                      .latency = {100 * MICROSECOND, MILLISECOND, 5 * MILLISECOND},
                                      .link_latency = {50 * MICROSECOND, MILLISECOND, 5 * MILLISECOND},
                                      .commit_latency = {100 * MICROSECOND, 4 * MILLISECOND, 8 * MILLISECOND}}};
    run_init(&run, &plan, &options);
    process = process_start(&run, 0);
    process->driver.only_server = server + 1;
    process->host.actor.after_event = note_lease;
    end_ns = 0;
    least_ns = NEVER;
    contender_acquire(&process->contenders[0], -1, 2 * HOUR);
}

static void end(void)
{
    process_close(process, -1);
    process_depart(process);
    run_clear(&run);
}

static void check_an_hour(int64_t timeout_ns, int64_t tick_ns, bool is_tick_told, int server)
{
    begin(timeout_ns, tick_ns, is_tick_told, server);
    run_until(&run, HOUR);
    CU_ASSERT_TRUE(zklock_is_held(process->contenders[0].lock));
    CU_ASSERT_EQUAL(run.figures.grants, 1);
    CU_ASSERT(least_ns >= timeout_ns / 10 * 4);
    if (least_ns < timeout_ns / 10 * 4)
        printf("T %lld ms, tick %lld ms%s: %lld ms were left\n", (long long)(timeout_ns / MILLISECOND),
               (long long)(tick_ns / MILLISECOND), is_tick_told ? "" : " (not told)",
               (long long)(least_ns / MILLISECOND));
    end();
}

static void check_all(int server)
{
    static const int64_t timeouts[] = {4 * SECOND, 6 * SECOND, 10 * SECOND, 30 * SECOND, 60 * SECOND};
    static const int64_t ticks_of_timeout[] = {2, 5, 20};

    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++)
            for (int is_told = 0; is_told < 2; is_told++)
                check_an_hour(timeouts[i], timeouts[i] / ticks_of_timeout[j], is_told, server);
}

static void held_lock_keeps_two_fifths_of_its_lease_at_the_leader(void)
{
    check_all(0);
}

static void held_lock_keeps_two_fifths_of_its_lease_at_a_follower(void)
{
    check_all(1);
}

/* In the last, broken millisecond it is still held: a heartbeat that is answered then prolongs it. */
static void held_lock_is_held_until_its_lease_ends(void)
{
    begin(4 * SECOND, 2 * SECOND, true, 1);
    run_until(&run, 10 * SECOND);
    process->host.holes[TO_SERVER] = process->host.holes[TO_CLIENT] = 7;
    while (zkl_session_lease_remaining(process->session) > MILLISECOND / 2)
        run_until(&run, run.world.now_ns + 100 * MICROSECOND);
    CU_ASSERT(zkl_session_lease_remaining(process->session) > 0);
    CU_ASSERT_TRUE(zklock_is_held(process->contenders[0].lock));
    run_until(&run, run.world.now_ns + MILLISECOND);
    CU_ASSERT_FALSE(zklock_is_held(process->contenders[0].lock));
    /* Its owner may have let go of it by now. */
    zklock_state state = zklock_state_get(process->contenders[0].lock, NULL);
    CU_ASSERT(state == ZKLOCK_STATE_LOST || state == ZKLOCK_STATE_RELEASING);
    process->host.holes[TO_SERVER] = process->host.holes[TO_CLIENT] = 0;
    wire_resume(&process->host);
    end();
}

static const struct suite_test tests[] = {
    SUITE_TEST(held_lock_keeps_two_fifths_of_its_lease_at_the_leader),
    SUITE_TEST(held_lock_keeps_two_fifths_of_its_lease_at_a_follower),
    SUITE_TEST(held_lock_is_held_until_its_lease_ends),
    SUITE_END,
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "healthy", tests);
}
