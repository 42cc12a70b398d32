/* Threads that share a contender: exclusion among processes, bounds, tokens, limits, losses, and what a hand-over costs. */
#include "server/lock_stage.h"

#include "lock/cohort.h"
#include "support/critical.h"
#include "support/directory.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HELPERS = 16 };

static zklock_cohort *cohort;

static zklock_cohort *new_cohort(zklock_session *session, unsigned most_passes, int64_t most_ms)
{
    zklock_cohort_options options;
    zklock_cohort *made = NULL;

    zklock_cohort_options_init(&options);
    options.most_passes = most_passes;
    options.most_ms = most_ms;
    CU_ASSERT_EQUAL_FATAL(zklock_cohort_new(session, STAGE_PATH, NULL, &options, &made), ZKLOCK_OK);
    return made;
}

static void tear_down(void)
{
    zklock_cohort_free(cohort);
    cohort = NULL;
    stage_end();
}

/* ---------------------------------------------------------------- threads that take the lock once */

struct helper {
    pthread_t thread;
    int64_t timeout_ms;
    zklock_status acquired;
    zklock_status released;
    uint64_t token;
    int place; /* among those who were served */
};

static struct helper helpers[MOST_HELPERS];
static atomic_int served;

static void *take_once(void *arg)
{
    struct helper *helper = arg;

    helper->acquired = zklock_cohort_acquire(cohort, helper->timeout_ms);
    if (helper->acquired != ZKLOCK_OK)
        return NULL;
    helper->place = atomic_fetch_add(&served, 1);
    if (zklock_cohort_token(cohort, &helper->token) != ZKLOCK_OK || !zklock_cohort_is_held(cohort))
        helper->token = 0;
    helper->released = zklock_cohort_release(cohort);
    return NULL;
}

static int waiting(void)
{
    zklock *lock = zklock_cohort_lock(cohort);
    int count = 0;

    zkl_session_lock(lock->session);
    for (const struct zkl_cohort_waiter *at = cohort->plan.first; at; at = at->next)
        count++;
    zkl_session_unlock(lock->session);
    return count;
}

static bool as_many_wait(void *number)
{
    return waiting() == *(int *)number;
}

static void await_waiting(int number)
{
    CU_ASSERT_TRUE_FATAL(eventually(as_many_wait, &number, STAGE_LIMIT_MS));
}

/* One after the other, so that they stand in this order. */
static void start_helpers(int count, int64_t timeout_ms)
{
    int already = waiting();

    atomic_store(&served, 0);
    for (int i = 0; i < count; i++) {
        helpers[i] = (struct helper){.timeout_ms = timeout_ms, .place = -1};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&helpers[i].thread, NULL, take_once, &helpers[i]), 0);
        await_waiting(already + i + 1);
    }
}

static void join_helpers(int count)
{
    for (int i = 0; i < count; i++)
        pthread_join(helpers[i].thread, NULL);
}

static uint64_t hold(void)
{
    uint64_t token = 0;

    CU_ASSERT_EQUAL_FATAL(zklock_cohort_acquire(cohort, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(zklock_cohort_is_held(cohort));
    CU_ASSERT_TRUE(zklock_cohort_remaining_ms(cohort) > 0);
    CU_ASSERT_EQUAL(zklock_cohort_token(cohort, &token), ZKLOCK_OK);
    return token;
}

static bool wait_contenders(int count)
{
    return observer_wait_count(stage.observer, STAGE_PATH, count, STAGE_LIMIT_MS);
}

/* ---------------------------------------------------------------- handing on */

static void hand_over_within_the_process_asks_nothing(void)
{
    cohort = new_cohort(stage.session, 100, -1);
    uint64_t token = hold();
    start_helpers(8, -1);
    CU_ASSERT_EQUAL(observer_count(stage.observer, STAGE_PATH), 1);
    CU_ASSERT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_OK);
    join_helpers(8);
    for (int i = 0; i < 8; i++) {
        CU_ASSERT_EQUAL(helpers[i].acquired, ZKLOCK_OK);
        CU_ASSERT_EQUAL(helpers[i].released, ZKLOCK_OK);
        CU_ASSERT_EQUAL(helpers[i].token, token);
        CU_ASSERT_EQUAL(helpers[i].place, i);
    }
    CU_ASSERT_TRUE(wait_contenders(0));
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), 1);
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_DELETE), 1);
}

/* Seven owners, of whom two come after each grant's first. */
static void token_is_that_of_the_grant_and_rises_with_the_next(void)
{
    uint64_t tokens[7];

    cohort = new_cohort(stage.session, 2, -1);
    tokens[0] = hold();
    start_helpers(6, -1);
    CU_ASSERT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_OK);
    join_helpers(6);
    for (int i = 0; i < 6; i++)
        tokens[i + 1] = helpers[i].token;
    for (int i = 1; i < 7; i++)
        CU_ASSERT_TRUE(i % 3 ? tokens[i] == tokens[i - 1] : tokens[i] > tokens[i - 1]);
    CU_ASSERT_TRUE(wait_contenders(0));
    CU_ASSERT_EQUAL(fault_proxy_requests(stage.proxy, FAULT_OP_CREATE2), 3);
}

static void another_process_has_its_turn_after_the_passes(void)
{
    struct contender *other = contender_new(stage_open_outside(), STAGE_PATH);

    cohort = new_cohort(stage.session, 1, -1);
    hold();
    contender_queue(other);
    start_helpers(3, -1);
    CU_ASSERT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(other), ZKLOCK_OK);
    CU_ASSERT_EQUAL(atomic_load(&served), 1);
    CU_ASSERT_EQUAL(waiting(), 2);
    CU_ASSERT_EQUAL(zklock_release(other->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    join_helpers(3);
    CU_ASSERT_TRUE(helpers[0].token < contender_token(other) && contender_token(other) < helpers[1].token);
    CU_ASSERT_EQUAL(helpers[1].token, helpers[2].token);
}

static void nothing_is_handed_on_after_the_time(void)
{
    cohort = new_cohort(stage.session, 100, 0);
    uint64_t token = hold();
    start_helpers(1, -1);
    CU_ASSERT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_OK);
    join_helpers(1);
    CU_ASSERT_TRUE(helpers[0].token > token);
}

/* ---------------------------------------------------------------- two processes */

enum { PROCESSES = 2, THREADS_EACH = 8, ROUNDS = 30, PASSES = 5 };

static int record;
static atomic_int failures;

static void *work(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t token = 0;
        char text[32];
        if (zklock_cohort_acquire(cohort, STAGE_LIMIT_MS) != ZKLOCK_OK ||
            zklock_cohort_token(cohort, &token) != ZKLOCK_OK) {
            failures++;
            continue;
        }
        snprintf(text, sizeof(text), "%" PRIu64, token);
        failures += !critical_write(record, "start", text) || !critical_write(record, "stop", text);
        failures += zklock_cohort_release(cohort) != ZKLOCK_OK;
    }
    return NULL;
}

/* What the test starts of its own program: --work SERVERS FILE. */
static int work_as_process(const char *servers, const char *file)
{
    zklock_session_options options;
    zklock_session *session = NULL;
    zklock_cohort_options bounds;
    pthread_t threads[THREADS_EACH];

    zklock_session_options_init(&options);
    options.servers = servers;
    options.tick_time_ms = STAGE_TICK_MS;
    zklock_cohort_options_init(&bounds);
    bounds.most_passes = PASSES;
    record = critical_open(file);
    if (record < 0 || zklock_session_open(&options, &session) != ZKLOCK_OK ||
        zklock_cohort_new(session, STAGE_PATH, NULL, &bounds, &cohort) != ZKLOCK_OK)
        return 2;
    for (int i = 0; i < THREADS_EACH; i++) {
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 2;
    }
    for (int i = 0; i < THREADS_EACH; i++)
        pthread_join(threads[i], NULL);
    zklock_cohort_free(cohort);
    zklock_session_close(session, STAGE_LIMIT_MS);
    return failures == 0 ? 0 : 1;
}

/* At most so many sections under one token. */
static int longest_run(const char *file)
{
    struct critical_record sections;
    int longest = 0;
    int run = 0;

    CU_ASSERT_TRUE_FATAL(critical_read(file, &sections));
    for (int i = 0; i < sections.count; i++) {
        run = i > 0 && sections.sections[i].token == sections.sections[i - 1].token ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }
    critical_record_clear(&sections);
    return longest;
}

static void judge(const char *file)
{
    struct critical_verdict verdict;

    CU_ASSERT_TRUE_FATAL(critical_judge(file, &verdict));
    CU_ASSERT_EQUAL(verdict.sections, PROCESSES * THREADS_EACH * ROUNDS);
    CU_ASSERT_EQUAL(verdict.overlaps, 0);
    CU_ASSERT_EQUAL(verdict.falling_tokens, 0);
    CU_ASSERT_EQUAL(verdict.missing_tokens + verdict.malformed_lines + verdict.unfinished, 0);
    CU_ASSERT_TRUE(verdict.repeated_tokens > 0);
    CU_ASSERT_TRUE(longest_run(file) <= PASSES + 1);
    printf("[%d sections, %d of them handed on, %d in a row] ", verdict.sections, verdict.repeated_tokens,
           longest_run(file));
}

static void threads_of_two_processes_exclude_each_other(void)
{
    char *directory = directory_make("cohort");
    char file[4096];
    struct process *processes[PROCESSES];
    int most_contenders = 0;

    snprintf(file, sizeof(file), "%s/record", directory);
    for (int i = 0; i < PROCESSES; i++)
        processes[i] = process_run("/proc/self/exe", "--work", zk_server_address(stage.server), file, NULL);
    while (process_is_running(processes[0]) || process_is_running(processes[1])) {
        int count = observer_count(stage.observer, STAGE_PATH);
        most_contenders = count > most_contenders ? count : most_contenders;
    }
    CU_ASSERT_TRUE(most_contenders >= 1 && most_contenders <= PROCESSES);
    for (int i = 0; i < PROCESSES; i++) {
        CU_ASSERT_EQUAL(process_exit_status(processes[i]), 0);
        process_free(processes[i]);
    }
    judge(file);
    CU_ASSERT_TRUE(wait_contenders(0));
    CU_ASSERT_TRUE(directory_remove(directory));
    free(directory);
}

/* ---------------------------------------------------------------- limits, failures and losses */

static void limit_is_each_threads_own(void)
{
    struct contender *other = contender_new(stage_open_outside(), STAGE_PATH);

    cohort = new_cohort(stage.session, 100, -1);
    contender_hold(other);
    start_helpers(2, 300);
    join_helpers(2);
    CU_ASSERT_EQUAL(helpers[0].acquired, ZKLOCK_TIMEOUT);
    CU_ASSERT_EQUAL(helpers[1].acquired, ZKLOCK_TIMEOUT);
    CU_ASSERT_TRUE(wait_contenders(1));
    CU_ASSERT_EQUAL(zklock_cohort_acquire(cohort, 0), ZKLOCK_BUSY);
    start_helpers(1, -1);
    CU_ASSERT_EQUAL(zklock_cohort_try(cohort, -1), ZKLOCK_BUSY);
    CU_ASSERT_EQUAL(zklock_cohort_acquire(cohort, 100), ZKLOCK_TIMEOUT);
    CU_ASSERT_EQUAL(waiting(), 1);
    CU_ASSERT_EQUAL(zklock_release(other->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    join_helpers(1);
    CU_ASSERT_EQUAL(helpers[0].acquired, ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_cohort_try(cohort, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void delete_front(void)
{
    char front[OBSERVER_PATH_SIZE];
    char node[OBSERVER_PATH_SIZE + 64];

    observer_front(stage.observer, STAGE_PATH, front);
    snprintf(node, sizeof(node), "%s/%s", STAGE_PATH, front);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), ZOK);
}

static bool is_not_held(void *unused)
{
    (void)unused;
    return !zklock_cohort_is_held(cohort);
}

static void loss_is_told_and_the_next_one_queues_anew(void)
{
    cohort = new_cohort(stage.session, 100, -1);
    uint64_t token = hold();
    start_helpers(2, -1);
    delete_front();
    CU_ASSERT_TRUE(eventually(is_not_held, NULL, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_cohort_remaining_ms(cohort), 0);
    CU_ASSERT_EQUAL(zklock_cohort_acquire(cohort, -1), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(waiting(), 2);
    CU_ASSERT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_LOST);
    join_helpers(2);
    CU_ASSERT_EQUAL(helpers[0].released, ZKLOCK_OK);
    CU_ASSERT_TRUE(helpers[0].token > token);
    CU_ASSERT_EQUAL(helpers[0].token, helpers[1].token);
}

static char name[64];

static bool has_a_name(void *unused)
{
    (void)unused;
    zklock_contender_name(zklock_cohort_lock(cohort), name, sizeof(name));
    return name[0] != '\0';
}

static void removed_contender_ends_the_wait_of_all(void)
{
    char node[OBSERVER_PATH_SIZE];
    struct contender *other = contender_new(stage.session, STAGE_PATH);

    cohort = new_cohort(stage_open_outside(), 100, -1);
    contender_hold(other);
    start_helpers(3, -1);
    CU_ASSERT_TRUE_FATAL(eventually(has_a_name, NULL, STAGE_LIMIT_MS));
    snprintf(node, sizeof(node), STAGE_PATH "/%s", name);
    CU_ASSERT_EQUAL(observer_delete(stage.observer, node), ZOK);
    join_helpers(3);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(helpers[i].acquired, ZKLOCK_REMOVED);
    CU_ASSERT_EQUAL(zklock_release(other->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    hold();
}

static void closed_session_ends_the_waits(void)
{
    zklock_session *session = stage_open(fault_proxy_address(stage.proxy), STAGE_TIMEOUT_MS);

    cohort = new_cohort(session, 100, -1);
    hold();
    start_helpers(2, -1);
    CU_ASSERT_EQUAL(stage_close(session, STAGE_LIMIT_MS), ZKLOCK_OK);
    join_helpers(2);
    CU_ASSERT_EQUAL(helpers[0].acquired, ZKLOCK_CLOSED);
    CU_ASSERT_EQUAL(helpers[1].acquired, ZKLOCK_CLOSED);
    CU_ASSERT_FALSE(zklock_cohort_is_held(cohort));
    CU_ASSERT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_LOST);
    CU_ASSERT_EQUAL(zklock_cohort_acquire(cohort, -1), ZKLOCK_CLOSED);
}

/* ---------------------------------------------------------------- misuse */

static zklock_status statuses_of_another[4];

static void *use_what_is_not_mine(void *unused)
{
    uint64_t token;

    (void)unused;
    statuses_of_another[0] = zklock_cohort_release(cohort);
    statuses_of_another[1] = zklock_cohort_token(cohort, &token);
    statuses_of_another[2] = zklock_cohort_try(cohort, -1);
    statuses_of_another[3] = zklock_cohort_is_held(cohort) ? ZKLOCK_OK : ZKLOCK_NOT_HELD;
    return NULL;
}

static void owner_is_a_thread(void)
{
    pthread_t other;

    cohort = new_cohort(stage.session, 100, -1);
    CU_ASSERT_EQUAL(zklock_cohort_release(cohort), ZKLOCK_NOT_HELD);
    hold();
    CU_ASSERT_EQUAL(zklock_cohort_acquire(cohort, -1), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL(zklock_cohort_try(cohort, -1), ZKLOCK_ALREADY);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, use_what_is_not_mine, NULL), 0);
    pthread_join(other, NULL);
    CU_ASSERT_EQUAL(statuses_of_another[0], ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(statuses_of_another[1], ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(statuses_of_another[2], ZKLOCK_BUSY);
    CU_ASSERT_EQUAL(statuses_of_another[3], ZKLOCK_NOT_HELD);
    CU_ASSERT_TRUE(zklock_cohort_is_held(cohort));
}

static void *acquire_for_good(void *unused)
{
    (void)unused;
    statuses_of_another[0] = zklock_cohort_acquire(cohort, STAGE_LIMIT_MS);
    return NULL;
}

/* The system gives the id of a thread that has ended to the next one. */
static void thread_with_the_id_of_the_owner_is_not_the_owner(void)
{
    pthread_t thread;

    cohort = new_cohort(stage.session, 100, -1);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, acquire_for_good, NULL), 0);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(statuses_of_another[0], ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, use_what_is_not_mine, NULL), 0);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(statuses_of_another[0], ZKLOCK_NOT_HELD);
    CU_ASSERT_EQUAL(statuses_of_another[2], ZKLOCK_BUSY);
    CU_ASSERT_EQUAL(statuses_of_another[3], ZKLOCK_NOT_HELD);
}

static void its_lock_is_there_to_look_at(void)
{
    cohort = new_cohort(stage.session, 100, -1);
    zklock *lock = zklock_cohort_lock(cohort);
    CU_ASSERT_EQUAL(zklock_acquire(lock, -1), ZKLOCK_BAD_ARGUMENT);
    hold();
    CU_ASSERT_EQUAL(zklock_state_get(lock, NULL), ZKLOCK_STATE_HELD);
    CU_ASSERT_EQUAL(zklock_release(lock, -1), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_release_send(lock), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_cancel(lock), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_downgrade(lock, -1), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_TRUE(zklock_cohort_is_held(cohort));
}

static void bad_arguments_are_refused(void)
{
    zklock_options shared;
    zklock_cohort_options unknown = {.size = 1};
    zklock_cohort *made = NULL;

    zklock_options_init(&shared);
    shared.mode = ZKLOCK_MODE_SHARED;
    CU_ASSERT_EQUAL(zklock_cohort_new(stage.session, STAGE_PATH, &shared, NULL, &made), ZKLOCK_BAD_ARGUMENT);
    shared.mode = ZKLOCK_MODE_SEMAPHORE;
    CU_ASSERT_EQUAL(zklock_cohort_new(stage.session, STAGE_PATH, &shared, NULL, &made), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_cohort_new(stage.session, STAGE_PATH, NULL, &unknown, &made), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_cohort_new(stage.session, "no path", NULL, NULL, &made), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_cohort_acquire(NULL, -1), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_cohort_release(NULL), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_PTR_NULL(made);
}

#define TEST(test) SUITE_TEST_WITH(test, stage_start, tear_down)

static const struct suite_test tests[] = {
    TEST(hand_over_within_the_process_asks_nothing),
    TEST(token_is_that_of_the_grant_and_rises_with_the_next),
    TEST(another_process_has_its_turn_after_the_passes),
    TEST(nothing_is_handed_on_after_the_time),
    TEST(threads_of_two_processes_exclude_each_other),
    TEST(limit_is_each_threads_own),
    TEST(loss_is_told_and_the_next_one_queues_anew),
    TEST(removed_contender_ends_the_wait_of_all),
    TEST(closed_session_ends_the_waits),
    TEST(owner_is_a_thread),
    TEST(thread_with_the_id_of_the_owner_is_not_the_owner),
    TEST(its_lock_is_there_to_look_at),
    TEST(bad_arguments_are_refused),
    SUITE_END
};

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--work") == 0)
        return work_as_process(argv[2], argv[3]);
    return suite_main(argc, argv, "cohort", tests);
}
