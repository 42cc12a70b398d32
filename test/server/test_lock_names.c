/* Servers that are known by name, and a name service that fails, hangs and changes its answers; a wall clock that is
 * set. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/odd_clock.h"
#include "support/odd_resolver.h"
#include "support/suite.h"
#include "support/zk_ensemble.h"

#include <stdio.h>
#include <string.h>

enum { SHORT_TIMEOUT_MS = 8000, LIMIT_MS = 1000, LATENESS_MS = 8000, LONG_MS = 120000, BEATS_OF_A_TIMEOUT = 4 };

#define HOST "zk.example"

static struct zk_ensemble *ensemble;
static char servers[256];
static struct contender *holder;
static struct contender *waiter;

/* The stage's server behind the proxy, by name. */
static void start(void)
{
    stage_start_without_session();
    odd_resolver_start();
    odd_resolver_say(HOST, "127.0.0.1");
    snprintf(servers, sizeof(servers), HOST ":%d", fault_proxy_port(stage.proxy));
}

/* Three servers, each by a name of its own. */
static void start_three(void)
{
    char host[32];

    ensemble = zk_ensemble_start(NULL);
    odd_resolver_start();
    servers[0] = '\0';
    for (int i = 0; i < ZK_ENSEMBLE_SIZE; i++) {
        snprintf(host, sizeof(host), "zk%d.example", i);
        odd_resolver_say(host, "127.0.0.1");
        snprintf(servers + strlen(servers), sizeof(servers) - strlen(servers), "%s%s:%d", i ? "," : "", host,
                 zk_server_port(zk_ensemble_server(ensemble, i)));
    }
}

static void end(void)
{
    stage_end();
    zk_ensemble_free(ensemble);
    ensemble = NULL;
    odd_resolver_end();
}

static int questions(void)
{
    return odd_resolver_questions(HOST) + odd_resolver_questions("zk0.example") +
           odd_resolver_questions("zk1.example") + odd_resolver_questions("zk2.example");
}

static void say_of_all(const char *answer)
{
    static const char *const hosts[] = {HOST, "zk0.example", "zk1.example", "zk2.example"};

    for (int i = 0; i < 4; i++)
        odd_resolver_say(hosts[i], answer);
}

static void hold_and_queue(void)
{
    holder = contender_new(stage_open(servers, SHORT_TIMEOUT_MS), STAGE_PATH);
    waiter = contender_new(stage_open(servers, SHORT_TIMEOUT_MS), STAGE_PATH);
    contender_hold(holder);
    contender_queue(waiter);
}

/* ---------------------------------------------------------------- C01: outages of the name service */

/* Whoever is connected asks nothing, and comes back after a cut without asking. */
static void check_outage(const char *kind)
{
    int asked, beats;

    hold_and_queue();
    asked = questions();
    say_of_all(kind);
    fault_proxy_reset_counts(stage.proxy);
    beats = 2 * 3 * BEATS_OF_A_TIMEOUT; /* three timeouts of two sessions: a third of the beats are writes */
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_MULTI, beats, LONG_MS));
    CU_ASSERT_FALSE(contender_heard(holder, ZKLOCK_EVENT_SUSPENDED));
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_EQUAL(zklock_result(waiter->lock), ZKLOCK_PENDING);
    fault_proxy_cut(stage.proxy);
    contender_await_event(holder, ZKLOCK_EVENT_RESUMED);
    CU_ASSERT_EQUAL(questions(), asked);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    say_of_all("127.0.0.1");
}

static void failing_names_do_not_touch_who_is_connected(void)
{
    check_outage("fail");
}

static void hanging_names_do_not_touch_who_is_connected(void)
{
    check_outage("hang");
}

static bool has_moved(void *context)
{
    zklock_session_info info;

    return zklock_session_info_get(holder->session, &info) == ZKLOCK_OK && info.is_connected &&
           zklock_remaining_ms(holder->lock) > *(int64_t *)context;
}

/* The leader is lost while the names are: the others' addresses are known. */
static void leader_is_lost_while_names_hang(void)
{
    int64_t most_of_it_ms = 5000;
    int leader = zk_ensemble_wait_leader(ensemble, -1, STAGE_LIMIT_MS);
    int asked;

    holder = contender_new(stage_open(servers, 10000), STAGE_PATH);
    waiter = contender_new(stage_open(servers, 10000), STAGE_PATH);
    contender_hold(holder);
    contender_queue(waiter);
    asked = questions();
    say_of_all("hang");
    zk_server_kill(zk_ensemble_server(ensemble, leader));
    CU_ASSERT_TRUE(zk_ensemble_wait_leader(ensemble, leader, STAGE_LIMIT_MS) >= 0);
    CU_ASSERT_TRUE(eventually(has_moved, &most_of_it_ms, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(questions(), asked);
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_FALSE(contender_heard(holder, ZKLOCK_EVENT_LOST));
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    say_of_all("127.0.0.1");
}

/* ---------------------------------------------------------------- C28: names at the beginning */

static void check_limit(const char *kind, const char *complaint)
{
    zklock_session *session;
    struct contender *contender;
    char detail[512];
    int64_t start_ms;

    odd_resolver_say(HOST, kind);
    session = stage_begin(servers, SHORT_TIMEOUT_MS);
    contender = contender_new(session, STAGE_PATH);
    start_ms = monotonic_ms();
    CU_ASSERT_EQUAL(zklock_acquire(contender->lock, LIMIT_MS), ZKLOCK_NO_SERVER);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms < LIMIT_MS + LATENESS_MS);
    zklock_detail(contender->lock, detail, sizeof(detail));
    if (!strstr(detail, complaint))
        printf("\n%s\n", detail);
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, complaint));
    /* Asked again, and used as soon as there is an answer. */
    odd_resolver_say(HOST, "127.0.0.1");
    contender_hold(contender);
    odd_resolver_say(HOST, "fail");
}

static void name_that_fails_is_said_and_asked_again(void)
{
    check_limit("fail", "cannot resolve host " HOST);
}

static void name_that_hangs_is_said_and_used_when_it_comes(void)
{
    check_limit("hang", "looking up " HOST);
}

static void bad_name_among_good_ones_does_no_harm(void)
{
    char list[512];

    snprintf(list, sizeof(list), "nobody.example:%d,%s", fault_proxy_port(stage.proxy), servers);
    contender_hold(contender_new(stage_open(list, SHORT_TIMEOUT_MS), STAGE_PATH));
}

/* A name that hangs, ahead of one that is answered, does not eat the limit (C27). */
static void name_that_hangs_among_good_ones_does_no_harm(void)
{
    struct contender *contender;
    char list[512];

    odd_resolver_say("slow.example", "hang");
    snprintf(list, sizeof(list), "slow.example:%d,%s", fault_proxy_port(stage.proxy), servers);
    contender = contender_new(stage_begin(list, SHORT_TIMEOUT_MS), STAGE_PATH);
    contender_hold(contender);
    CU_ASSERT_EQUAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    odd_resolver_say("slow.example", "fail");
}

/* The name leads elsewhere, and nobody is left at the old address: found within some session timeouts, with a new
 * place in the queue. */
static void name_that_leads_elsewhere_is_followed(void)
{
    const struct fault_proxy_options options = {.listen_address = "127.0.0.2",
                                                .listen_port = fault_proxy_port(stage.proxy),
                                                .target_port = zk_server_port(stage.server)};
    struct fault_proxy *elsewhere = fault_proxy_open(&options);

    waiter = contender_new(stage_open(servers, 2 * STAGE_TICK_MS), STAGE_PATH);
    holder = contender_new(stage_open_outside(), STAGE_PATH);
    contender_hold(holder);
    contender_queue(waiter);
    odd_resolver_say(HOST, "127.0.0.2");
    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    contender_await_event(waiter, ZKLOCK_EVENT_REQUEUED);
    contender_await_state(waiter, ZKL_WAITING);
    CU_ASSERT_TRUE(fault_proxy_accepted(elsewhere) > 0);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    stage_close(waiter->session, STAGE_LIMIT_MS);
    fault_proxy_free(elsewhere);
}

/* ---------------------------------------------------------------- the wall clock is set */

static void start_with_clock(void)
{
    odd_clock_start();
    start();
}

static void end_with_clock(void)
{
    end();
    odd_clock_end();
}

/* Leases, limits and heartbeats go on as if nothing had happened. */
static void check_step(int64_t off_s)
{
    int64_t start_ms = monotonic_ms();
    struct contender *late = contender_new(waiter->session, STAGE_PATH);

    contender_begin(late, LIMIT_MS);
    odd_clock_step(off_s);
    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_EQUAL(contender_result(late), ZKLOCK_TIMEOUT);
    CU_ASSERT_TRUE(monotonic_ms() - start_ms >= LIMIT_MS - 1);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_MULTI, BEATS_OF_A_TIMEOUT, LONG_MS));
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_TRUE(zklock_remaining_ms(holder->lock) > 0);
    CU_ASSERT_TRUE(zklock_remaining_ms(holder->lock) <= SHORT_TIMEOUT_MS);
    CU_ASSERT_FALSE(contender_heard(holder, ZKLOCK_EVENT_SUSPENDED));
}

static void wall_clock_may_be_set_at_any_time(void)
{
    hold_and_queue();
    check_step(3600);
    check_step(-3600);
    check_step(INT64_C(10) * 365 * 86400);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
}

#define TEST(test) SUITE_TEST_WITH(test, start, end)

static const struct suite_test tests[] = {
    TEST(failing_names_do_not_touch_who_is_connected),
    TEST(hanging_names_do_not_touch_who_is_connected),
    SUITE_TEST_WITH(leader_is_lost_while_names_hang, start_three, end),
    TEST(name_that_fails_is_said_and_asked_again),
    TEST(name_that_hangs_is_said_and_used_when_it_comes),
    TEST(bad_name_among_good_ones_does_no_harm),
    TEST(name_that_hangs_among_good_ones_does_no_harm),
    TEST(name_that_leads_elsewhere_is_followed),
    SUITE_TEST_WITH(wall_clock_may_be_set_at_any_time, start_with_clock, end_with_clock),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_names", tests);
}
