/* The lock on three servers: nothing lost, order kept, and what happens when a server, a holder or a network goes. */
#include "ensemble/actor.h"
#include "ensemble/host.h"
#include "ensemble/trio.h"
#include "support/critical.h"
#include "support/directory.h"
#include "support/eventually.h"
#include "support/observer.h"
#include "support/suite.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TICK_MS = 500,
    SOON_MS = 20000,        /* for what takes no time but the machine's */
    ELECTION_MS = 30000,
    DEMO_MS = 120000,
    SLACK_MS = 500,         /* until a process runs that could */
};

static const char lock_path[] = "/ensemble/lock";

static struct trio *trio;
static char *directory;

static void start_trio(void)
{
    trio = trio_start(TICK_MS);
    directory = directory_make("zklock-ensemble");
    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
}

static void free_trio(void)
{
    struct trio *old = trio;

    if (directory)
        directory_remove(directory);
    free(directory);
    directory = NULL;
    trio = NULL;
    trio_free(old);
}

static struct actor *start_holder(int session_timeout_ms)
{
    char timeout[16];

    snprintf(timeout, sizeof(timeout), "%d", session_timeout_ms);
    return actor_start_with(CONTENDER, trio_hosts(trio), timeout, lock_path, "hold");
}

/* What stands behind the first word of a line. */
static int64_t time_of(const char *line)
{
    const char *blank = strchr(line, ' ');

    return blank ? strtoll(blank, NULL, 10) : 0;
}

static void print_margin(const char *what, int64_t earlier_ns, int64_t later_ns)
{
    printf("\n%s: %" PRId64 " ms\n", what, (later_ns - earlier_ns) / 1000000);
}

static uint64_t token_of(const char *line)
{
    const char *blank = strrchr(line, ' ');

    return blank ? strtoull(blank, NULL, 10) : 0;
}

/* ------------------------------------------------------------------------------------- nothing is lost */

enum { PROCESSES = 16, ROUNDS = 200 };

static void start_counters(struct actor *counters[PROCESSES], const char *file)
{
    char rounds[16];

    snprintf(rounds, sizeof(rounds), "%d", ROUNDS);
    for (int i = 0; i < PROCESSES; i++)
        counters[i] = actor_start_with(CONTENDER, trio_hosts(trio), "10000", lock_path, "count", rounds, file);
}

static void sixteen_processes_lose_no_round_and_tokens_rise(void)
{
    struct actor *counters[PROCESSES];
    uint64_t count = 0;
    char path[256];
    int file;

    snprintf(path, sizeof(path), "%s/count", directory);
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CU_ASSERT_TRUE_FATAL(file >= 0);
    start_counters(counters, path);
    for (int i = 0; i < PROCESSES; i++) {
        CU_ASSERT_EQUAL(actor_wait_end(counters[i], 150000), 0);
        actor_free(counters[i]);
    }
    CU_ASSERT_EQUAL(pread(file, &count, sizeof(count), 0), (ssize_t)sizeof(count));
    CU_ASSERT_EQUAL(count, PROCESSES * ROUNDS);
    close(file);
}

/* --------------------------------------------------------------------------------------- a holder dies */

static void next_holds_within_a_timeout_and_two_ticks_of_a_kill(void)
{
    enum { TIMEOUT_MS = 4000 };
    struct actor *holder = start_holder(TIMEOUT_MS), *next;
    char first[ACTOR_LINE], second[ACTOR_LINE];
    int64_t killed_ns;

    CU_ASSERT_TRUE_FATAL(actor_wait_line(holder, "held", SOON_MS, first));
    next = start_holder(TIMEOUT_MS);
    /* A waiter that has just arrived is no different from one that has waited long. */
    killed_ns = boottime_ns();
    actor_kill(holder);
    CU_ASSERT_TRUE_FATAL(actor_wait_line(next, "held", TIMEOUT_MS + SOON_MS, second));
    print_margin("from the kill to the next holder", killed_ns, time_of(second));
    CU_ASSERT_TRUE(time_of(second) - killed_ns < (TIMEOUT_MS + 2 * TICK_MS + SLACK_MS) * INT64_C(1000000));
    CU_ASSERT_TRUE(token_of(second) > token_of(first));
    actor_free(holder);
    actor_free(next);
}

/* ------------------------------------------------------------------------------- the leader is restarted */

static void start_queue(struct actor *queue[3], struct observer *observer)
{
    for (int i = 0; i < 3; i++) {
        queue[i] = start_holder(10000);
        if (i == 0)
            CU_ASSERT_TRUE_FATAL(actor_wait_line(queue[0], "held", SOON_MS, NULL));
        CU_ASSERT_TRUE_FATAL(observer_wait_count(observer, lock_path, i + 1, SOON_MS));
    }
}

static void restart_leader(void)
{
    int leader = trio_leader(trio);

    CU_ASSERT_TRUE_FATAL(leader >= 0);
    trio_server_stop(trio, leader);
    CU_ASSERT_TRUE_FATAL(trio_wait_serving(trio, 2, ELECTION_MS));
    trio_server_begin(trio, leader);
    CU_ASSERT_TRUE_FATAL(trio_wait_serving(trio, 3, ELECTION_MS));
}

static bool are_same_nodes(const struct observed_list *a, const struct observed_list *b)
{
    bool are_same = a->count == b->count;

    for (int i = 0; are_same && i < a->count; i++)
        are_same = strcmp(a->nodes[i].name, b->nodes[i].name) == 0 && a->nodes[i].owner == b->nodes[i].owner;
    return are_same;
}

/* Each lets go when its input ends; the next holds then, and nobody else. */
static void expect_order(struct actor *queue[3])
{
    for (int i = 0; i < 3; i++) {
        char line[ACTOR_LINE];

        if (i > 0)
            CU_ASSERT_TRUE(actor_wait_line(queue[i], "held", SOON_MS, NULL));
        CU_ASSERT_FALSE(actor_has_told(queue[i], "lost"));
        CU_ASSERT_FALSE(actor_has_told(queue[i], "requeued"));
        if (i < 2)
            CU_ASSERT_FALSE(actor_has_told(queue[i + 1], "held"));
        actor_end_input(queue[i]);
        CU_ASSERT_TRUE(actor_wait_line(queue[i], "released", SOON_MS, line));
        CU_ASSERT_PTR_NOT_NULL(strstr(line, "ZKLOCK_OK"));
        CU_ASSERT_EQUAL(actor_wait_end(queue[i], SOON_MS), 0);
    }
}

static void queue_survives_restarts_of_the_leader(void)
{
    struct observer *observer = observer_open(trio_hosts(trio), 10000);
    struct observed_list before, after;
    struct actor *queue[3] = {NULL};

    start_queue(queue, observer);
    CU_ASSERT_EQUAL_FATAL(observer_list(observer, lock_path, &before), ZOK);
    for (int round = 0; round < 3; round++)
        restart_leader();
    CU_ASSERT_EQUAL_FATAL(observer_list(observer, lock_path, &after), ZOK);
    CU_ASSERT_TRUE(are_same_nodes(&before, &after));
    expect_order(queue);
    observed_list_clear(&before);
    observed_list_clear(&after);
    observer_close(observer);
    for (int i = 0; i < 3; i++)
        actor_free(queue[i]);
}

/* --------------------------------------------------------------------------------------- a network is cut */

static struct host *start_host(int number)
{
    const char *missing = trio_compose(trio) ? host_missing() : "no containers, hence no bridge to join hosts to";

    if (missing)
        suite_skip(missing);
    return host_start(trio_compose(trio), number);
}

static struct actor *start_demo(const struct host *host)
{
    return actor_start_with("nsenter", host_entry(host), "--", ZKLOCK, "demo", "--workers", "4", "--rounds", "60",
                            "--think", "20", "-S", compose_bridge_hosts(trio_compose(trio)));
}

static void two_hosts_lose_nothing_while_a_server_is_restarted(void)
{
    struct host *hosts[2] = {start_host(1), start_host(2)};
    struct actor *demos[2] = {start_demo(hosts[0]), start_demo(hosts[1])};
    int server = trio_leader(trio);
    char verdict[ACTOR_LINE] = "";

    for (int i = 0; i < 2; i++)
        CU_ASSERT_TRUE_FATAL(actor_wait_line(demos[i], "progress", SOON_MS, NULL));
    trio_server_stop(trio, server);
    CU_ASSERT_TRUE(trio_wait_serving(trio, 2, ELECTION_MS));
    trio_server_begin(trio, server);
    CU_ASSERT_TRUE(trio_wait_serving(trio, 3, ELECTION_MS));
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_TRUE(actor_wait_line(demos[i], "verdict", DEMO_MS, verdict));
        CU_ASSERT_PTR_NOT_NULL(strstr(verdict, "right"));
        CU_ASSERT_EQUAL(actor_wait_end(demos[i], SOON_MS), 0);
    }
    for (int i = 0; i < 2; i++) {
        actor_free(demos[i]);
        host_free(hosts[i]);
    }
}

static void cut_off_holder_is_told_before_the_next_holds(void)
{
    struct host *host = start_host(1);
    struct actor *holder = actor_start_with("nsenter", host_entry(host), "--", CONTENDER,
                                            compose_bridge_hosts(trio_compose(trio)), "4000", lock_path, "hold");
    char lost[ACTOR_LINE], held[ACTOR_LINE];
    struct actor *next;

    CU_ASSERT_TRUE_FATAL(actor_wait_line(holder, "held", SOON_MS, NULL));
    next = start_holder(4000);
    host_cut(host);
    CU_ASSERT_TRUE_FATAL(actor_wait_line(holder, "lost", SOON_MS, lost));
    CU_ASSERT_TRUE_FATAL(actor_wait_line(next, "held", SOON_MS, held));
    print_margin("from the loss to the next holder", time_of(lost), time_of(held));
    CU_ASSERT_TRUE(time_of(lost) < time_of(held));
    host_heal(host);
    actor_free(holder);
    actor_free(next);
    host_free(host);
}

/* C30: it was asked while it stood still, so that nothing can have told it before the answer. */
static void thawed_holder_says_no_at_the_first_question(void)
{
    struct actor *holder = start_holder(2000), *next;

    CU_ASSERT_TRUE_FATAL(actor_wait_line(holder, "held", SOON_MS, NULL));
    actor_ask(holder, "?");
    CU_ASSERT_TRUE(actor_wait_line(holder, "yes", SOON_MS, NULL));
    next = start_holder(4000);
    kill(actor_pid(holder), SIGSTOP);
    CU_ASSERT_TRUE_FATAL(actor_wait_line(next, "held", SOON_MS, NULL));
    actor_ask(holder, "?");
    kill(actor_pid(holder), SIGCONT);
    CU_ASSERT_TRUE(actor_wait_line(holder, "no", SOON_MS, NULL));
    CU_ASSERT_TRUE(actor_wait_line(holder, "lost", SOON_MS, NULL) || actor_has_told(holder, "lost"));
    actor_end_input(holder);
    CU_ASSERT_EQUAL(actor_wait_end(holder, SOON_MS), 0);
    actor_free(holder);
    actor_free(next);
}

static void cut_off_command_is_stopped_before_the_next_starts(void)
{
    struct host *host = start_host(1);
    struct critical_verdict verdict;
    struct actor *holder, *next;
    char file[256];

    snprintf(file, sizeof(file), "%s/critical", directory);
    holder = actor_start_with("nsenter", host_entry(host), "--", ZKLOCK, "exec", "-T", "4", "-S",
                              compose_bridge_hosts(trio_compose(trio)), lock_path, "--",
                              critical_program(), file, "60000", "5");
    CU_ASSERT_TRUE_FATAL(critical_wait_sections(file, 1, SOON_MS));
    next = actor_start_with(ZKLOCK, "exec", "-T", "4", "-S", trio_hosts(trio), lock_path, "--",
                            critical_program(), file, "100");
    host_cut(host);
    CU_ASSERT_EQUAL(actor_wait_end(holder, SOON_MS), 79);
    CU_ASSERT_EQUAL(actor_wait_end(next, SOON_MS), 0);
    CU_ASSERT_TRUE_FATAL(critical_judge(file, &verdict));
    CU_ASSERT_STRING_EQUAL(verdict.problem, "");
    CU_ASSERT_TRUE(critical_is_clean(&verdict));
    CU_ASSERT_EQUAL(verdict.sections, 2);
    actor_free(holder);
    actor_free(next);
    host_free(host);
}

/* ------------------------------------------------------------------------------------- the keeper */

enum { KILLS = 9, GENERATIONS = 3 };

/* Three generations in the critical section: a shell, its child, and a daemon that has left session and group. */
static const char three_generations[] =
    "trap '' TERM HUP; (setsid sh -c \"trap '' TERM HUP; $CRITICAL $SECTIONS.2 300000 5\" &); "
    "sh -c '$CRITICAL $SECTIONS.1 300000 5; :' & exec $CRITICAL $SECTIONS.0 300000 5";

static const char *sections_of(int generation)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/job.%d", directory, generation);
    return path;
}

/* Waits until all of the job has begun once more. */
static void await_job(int sections)
{
    for (int i = 0; i < GENERATIONS; i++)
        CU_ASSERT_TRUE_FATAL(critical_wait_sections(sections_of(i), sections, SOON_MS));
}

/* Whether a sign of life of the job is younger than that. */
static bool has_lived_after(int64_t time_ns)
{
    bool has_lived = false;

    for (int i = 0; i < GENERATIONS; i++) {
        struct critical_record record;

        CU_ASSERT_TRUE_FATAL(critical_read(sections_of(i), &record));
        for (int j = 0; j < record.count; j++)
            has_lived = has_lived || record.sections[j].end_ns > time_ns;
        critical_record_clear(&record);
    }
    return has_lived;
}

/* Kills the command that holds on one host while another waits on the other. Returns what the lock took to pass on. */
static int64_t kill_holder_once(struct host *hosts[2], struct observer *observer, int round)
{
    const char *servers = compose_bridge_hosts(trio_compose(trio));
    struct actor *holder, *next;
    char held[ACTOR_LINE];
    int64_t killed_ns;

    holder = actor_start_with("nsenter", host_entry(hosts[0]), "--", ZKLOCK, "exec", "-T", "60", "-S", servers, lock_path,
                              "--", "sh", "-c", three_generations);
    await_job(round + 1);
    next = actor_start_with("nsenter", host_entry(hosts[1]), "--", CONTENDER, servers, "60000", lock_path, "hold");
    CU_ASSERT_TRUE_FATAL(observer_wait_count(observer, lock_path, 2, SOON_MS));
    killed_ns = boottime_ns();
    actor_kill(holder);
    CU_ASSERT_TRUE_FATAL(actor_wait_line(next, "held", SOON_MS, held));
    CU_ASSERT_FALSE(has_lived_after(time_of(held)));
    actor_free(holder);
    actor_end_input(next);
    CU_ASSERT_EQUAL(actor_wait_end(next, SOON_MS), 0);
    actor_free(next);
    return time_of(held) - killed_ns;
}

static int compare_times(const void *one, const void *other)
{
    int64_t difference = *(const int64_t *)one - *(const int64_t *)other;

    return (difference > 0) - (difference < 0);
}

/* With a session timeout of a minute, which cannot be what passes the lock on. */
static void lock_of_a_killed_command_passes_to_another_host_when_its_job_is_gone(void)
{
    struct host *hosts[2] = {start_host(1), start_host(2)};
    struct observer *observer = observer_open(trio_hosts(trio), SOON_MS);
    int64_t times[KILLS];
    char prefix[256];

    snprintf(prefix, sizeof(prefix), "%s/job", directory);
    setenv("SECTIONS", prefix, 1);
    setenv("CRITICAL", critical_program(), 1);
    for (int i = 0; i < KILLS; i++)
        times[i] = kill_holder_once(hosts, observer, i);
    qsort(times, KILLS, sizeof(times[0]), compare_times);
    printf("\nfrom the kill to the next holder on another host: median %.1f ms, longest %.1f ms\n",
           (double)times[KILLS / 2] / 1e6, (double)times[KILLS - 1] / 1e6);
    observer_close(observer);
    host_free(hosts[0]);
    host_free(hosts[1]);
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(sixteen_processes_lose_no_round_and_tokens_rise, start_trio, free_trio),
    SUITE_TEST_WITH(next_holds_within_a_timeout_and_two_ticks_of_a_kill, start_trio, free_trio),
    SUITE_TEST_WITH(queue_survives_restarts_of_the_leader, start_trio, free_trio),
    SUITE_TEST_WITH(two_hosts_lose_nothing_while_a_server_is_restarted, start_trio, free_trio),
    SUITE_TEST_WITH(cut_off_holder_is_told_before_the_next_holds, start_trio, free_trio),
    SUITE_TEST_WITH(thawed_holder_says_no_at_the_first_question, start_trio, free_trio),
    SUITE_TEST_WITH(cut_off_command_is_stopped_before_the_next_starts, start_trio, free_trio),
    SUITE_TEST_WITH(lock_of_a_killed_command_passes_to_another_host_when_its_job_is_gone, start_trio, free_trio),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "trio", tests);
}
