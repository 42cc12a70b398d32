/* The command and servers that are known by name: a name service that fails, hangs and changes its answers (C01, C28);
 * a wall clock that is set while the command runs. */
#include "cli_stage.h"

#include "support/odd_clock.h"
#include "support/odd_resolver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST "zk.example"

/* C27's tolerance, and what a busy machine adds to it. */
enum { LIMIT_MS = 2000, LATENESS_MS = 6000, LONG_MS = 120000, BEATS_OF_A_TIMEOUT = 4 };

static char servers[256];

static void set_up(void)
{
    stage_set_up();
    stage_put_proxy_between();
    odd_resolver_start();
    odd_resolver_say(HOST, "127.0.0.1");
    snprintf(servers, sizeof(servers), HOST ":%d", fault_proxy_port(stage_proxy));
}

static void tear_down(void)
{
    stage_tear_down();
    odd_resolver_end();
}

/* The command under the odd name service, with these servers and arguments. */
static struct process *start(const char *list, const char *const arguments[])
{
    char setting[512];
    const char *const environment[] = {setting, odd_resolver_preload(), odd_resolver_place(), NULL};
    const struct process_options options = {.arguments = arguments, .environment = environment};

    snprintf(setting, sizeof(setting), "ZKLOCK_SERVERS=%s", list);
    return stage_start_with(&options);
}

#define START(list, ...) start(list, (const char *const[]){__VA_ARGS__, NULL})

static void check_outage(const char *kind)
{
    struct process *holder = START(servers, "exec", "-T", "8", LOCK, "--", "sh", "-c", "echo held; exec sleep 300");
    struct process *waiter;
    int asked;

    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "held\n", PATIENCE_MS));
    waiter = START(servers, "exec", "-T", "8", LOCK, "--", "echo", "mine");
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    asked = odd_resolver_questions(HOST);
    odd_resolver_say(HOST, kind);
    fault_proxy_reset_counts(stage_proxy);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage_proxy, FAULT_OP_MULTI, 2 * 3 * BEATS_OF_A_TIMEOUT, LONG_MS));
    fault_proxy_cut(stage_proxy);
    fault_proxy_reset_counts(stage_proxy);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage_proxy, FAULT_OP_MULTI, 2 * BEATS_OF_A_TIMEOUT, LONG_MS));
    CU_ASSERT_EQUAL(odd_resolver_questions(HOST), asked);
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(holder), 143);
    CU_ASSERT_EQUAL(stage_end(waiter), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(waiter), "mine\n");
    odd_resolver_say(HOST, "127.0.0.1");
}

static void failing_names_leave_holder_and_waiter_alone(void)
{
    check_outage("fail");
}

static void hanging_names_leave_holder_and_waiter_alone(void)
{
    check_outage("hang");
}

static void check_complaint(const char *kind, const char *complaint)
{
    int64_t start_ms = monotonic_ms();
    struct process *process;

    odd_resolver_say(HOST, kind);
    process = START(servers, "exec", "-w", "2", LOCK, "--", "echo", "never");
    CU_ASSERT_EQUAL(stage_end(process), 69);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms >= LIMIT_MS - 100);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms < LIMIT_MS + LATENESS_MS);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), complaint));
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    odd_resolver_say(HOST, "127.0.0.1");
}

static void name_that_fails_is_said_at_the_limit(void)
{
    check_complaint("fail", "cannot resolve host " HOST);
}

static void name_that_hangs_is_said_at_the_limit(void)
{
    check_complaint("hang", "still looking up " HOST);
}

static void check_late_answer(const char *kind, int questions)
{
    struct process *process;

    odd_resolver_say(HOST, kind);
    process = START(servers, "exec", "-w", "25", LOCK, "--", "echo", "mine");
    CU_ASSERT_TRUE(odd_resolver_wait_questions(HOST, questions, PATIENCE_MS));
    odd_resolver_say(HOST, "127.0.0.1");
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "mine\n");
}

static void name_that_resolves_late_is_used(void)
{
    check_late_answer("hang", 1);
    /* Refused several times. */
    check_late_answer("fail", odd_resolver_questions(HOST) + 3);
}

static void bad_name_among_good_ones_does_no_harm(void)
{
    char list[512];

    snprintf(list, sizeof(list), "nobody.example:%d,%s,not.either.example", fault_proxy_port(stage_proxy), servers);
    CU_ASSERT_EQUAL(stage_end(START(list, "exec", "-w", "20", LOCK, "--", "true")), 0);
}

static void name_that_hangs_among_good_ones_does_no_harm(void)
{
    char list[512];

    odd_resolver_say("slow.example", "hang");
    snprintf(list, sizeof(list), "slow.example:%d,%s", fault_proxy_port(stage_proxy), servers);
    CU_ASSERT_EQUAL(stage_end(START(list, "exec", "-w", "20", LOCK, "--", "true")), 0);
}

static void name_that_leads_elsewhere_is_followed_by_a_waiter(void)
{
    const struct fault_proxy_options options = {.listen_address = "127.0.0.2",
                                                .listen_port = fault_proxy_port(stage_proxy),
                                                .target_port = zk_server_port(stage_server)};
    struct fault_proxy *elsewhere = fault_proxy_open(&options);
    struct process *holder, *waiter;

    odd_resolver_say("elsewhere.example", "127.0.0.2");
    snprintf(servers, sizeof(servers), "elsewhere.example:%d", fault_proxy_port(stage_proxy));
    holder = START(servers, "exec", LOCK, "--", "sh", "-c", "echo held; exec sleep 300");
    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "held\n", PATIENCE_MS));
    snprintf(servers, sizeof(servers), HOST ":%d", fault_proxy_port(stage_proxy));
    waiter = START(servers, "exec", "-T", "1", LOCK, "--", "echo", "mine");
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    odd_resolver_say(HOST, "127.0.0.2");
    fault_proxy_set_mood(stage_proxy, FAULT_DOWN);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 1, PATIENCE_MS));
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(waiter), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(waiter), "mine\n");
    CU_ASSERT_EQUAL(stage_end(holder), 143);
    fault_proxy_free(elsewhere);
}

/* ---------------------------------------------------------------- the wall clock is set */

static void set_up_with_clock(void)
{
    stage_set_up();
    stage_put_proxy_between();
    odd_clock_start();
}

static void tear_down_with_clock(void)
{
    stage_tear_down();
    odd_clock_end();
}

static struct process *start_with_clock(const char *const arguments[])
{
    const char *const environment[] = {odd_clock_preload(), odd_clock_place(), NULL};
    const struct process_options options = {.arguments = arguments, .environment = environment};

    return stage_start_with(&options);
}

#define START_WITH_CLOCK(...) start_with_clock((const char *const[]){__VA_ARGS__, NULL})

static void wall_clock_may_be_set_while_one_holds_and_one_waits(void)
{
    static const int64_t steps_s[] = {3600, -3600, INT64_C(315360000)};
    struct process *holder, *waiter, *limited;

    holder = START_WITH_CLOCK("exec", "-T", "8", LOCK, "--", "sh", "-c", "echo held; exec sleep 300");
    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "held\n", PATIENCE_MS));
    waiter = START_WITH_CLOCK("exec", "-T", "8", "-w", "1000", LOCK, "--", "echo", "mine");
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    for (int i = 0; i < 3; i++) {
        limited = START_WITH_CLOCK("exec", "-w", "2", LOCK, "--", "echo", "never");
        CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 3, PATIENCE_MS));
        odd_clock_step(steps_s[i]);
        CU_ASSERT_EQUAL(stage_end(limited), 1);
        fault_proxy_reset_counts(stage_proxy);
        CU_ASSERT_TRUE(fault_proxy_wait_requests(stage_proxy, FAULT_OP_MULTI, 2 * BEATS_OF_A_TIMEOUT, LONG_MS));
        CU_ASSERT_TRUE(process_is_running(holder) && process_is_running(waiter));
    }
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(holder), 143);
    CU_ASSERT_EQUAL(stage_end(waiter), 0);
}

#define NAMED(test) SUITE_TEST_WITH(test, set_up, tear_down)

static const struct suite_test tests[] = {
    NAMED(failing_names_leave_holder_and_waiter_alone),
    NAMED(hanging_names_leave_holder_and_waiter_alone),
    NAMED(name_that_fails_is_said_at_the_limit),
    NAMED(name_that_hangs_is_said_at_the_limit),
    NAMED(name_that_resolves_late_is_used),
    NAMED(bad_name_among_good_ones_does_no_harm),
    NAMED(name_that_hangs_among_good_ones_does_no_harm),
    NAMED(name_that_leads_elsewhere_is_followed_by_a_waiter),
    SUITE_TEST_WITH(wall_clock_may_be_set_while_one_holds_and_one_waits, set_up_with_clock, tear_down_with_clock),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_names", tests);
}
