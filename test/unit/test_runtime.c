/* The POSIX runtime: clock, randomness, workers and their wakes. */
#include "support/eventually.h"
#include "support/probe.h"
#include "support/suite.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/runtime.h"

enum { LIMIT_MS = 20000, HOUR_MS = 3600 * 1000 };

static struct zkl_runtime *runtime;
static struct zkl_worker *worker;
static struct probe turns;      /* the number of each turn, at its beginning */
static struct probe gate;       /* a turn that waits for the test waits here */
static atomic_int turn_count;
static atomic_llong answer_ns;  /* what the next turn returns, as a time from now; ZKL_NEVER: never */

static int64_t in_ms(int64_t ms)
{
    return runtime->now_ns(runtime) + ms * ZKL_NS_PER_MS;
}

static int64_t take_counted_turn(void *arg)
{
    (void)arg;
    probe_note(&turns, atomic_fetch_add(&turn_count, 1) + 1);
    return atomic_load(&answer_ns) == ZKL_NEVER ? ZKL_NEVER : runtime->now_ns(runtime) + atomic_load(&answer_ns);
}

static int64_t take_gated_turn(void *arg)
{
    int64_t next_ns = take_counted_turn(arg);

    probe_wait_value(&gate, atomic_load(&turn_count), LIMIT_MS);
    return next_ns;
}

static void open_gate(int turn)
{
    probe_note(&gate, turn);
}

static void prepare(void)
{
    runtime = zkl_runtime_posix();
    /* A sanitizer starts a thread of its own with the first one, which would spoil the counts. */
    CU_ASSERT_EQUAL_FATAL(runtime->worker_start(runtime, "zklock-first", take_counted_turn, NULL, &worker), ZKLOCK_OK);
    runtime->worker_stop(worker);
    worker = NULL;
    probe_init(&turns);
    probe_init(&gate);
    atomic_store(&turn_count, 0);
    atomic_store(&answer_ns, ZKL_NEVER);
}

static void clean_up(void)
{
    if (worker)
        runtime->worker_stop(worker);
    probe_clear(&gate);
    probe_clear(&turns);
}

static void start(zkl_turn_fn *turn, void *arg)
{
    CU_ASSERT_EQUAL_FATAL(runtime->worker_start(runtime, "zklock-test", turn, arg, &worker), ZKLOCK_OK);
}

static int count_entries(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;

    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

static bool is_thread_count(void *context)
{
    return count_entries("/proc/self/task") == *(int *)context;
}

static void clock_is_the_one_that_counts_suspension(void)
{
    int64_t before_ns = boottime_ns();
    int64_t between_ns = runtime->now_ns(runtime);

    CU_ASSERT_TRUE(before_ns <= between_ns && between_ns <= boottime_ns());
    CU_ASSERT_TRUE(runtime->wall_ms(runtime) > INT64_C(1700000000000));
}

static void random_bytes_fill_the_whole_buffer(void)
{
    unsigned char seen[300] = {0};
    unsigned char bytes[300];

    /* A byte that stays zero in forty drafts was never written. */
    for (int draft = 0; draft < 40; draft++) {
        runtime->random(runtime, bytes, sizeof(bytes));
        for (size_t i = 0; i < sizeof(bytes); i++)
            seen[i] |= bytes[i];
    }
    CU_ASSERT_PTR_NULL(memchr(seen, 0, sizeof(seen)));
}

static void first_turn_comes_at_the_first_wake(void)
{
    start(take_counted_turn, NULL);
    CU_ASSERT_EQUAL(probe_count(&turns), 0);
    runtime->worker_wake(worker, 0);
    CU_ASSERT_TRUE(probe_wait_count(&turns, 1, LIMIT_MS));
}

static void turn_is_not_early(void)
{
    int64_t wish_ns = in_ms(30);

    start(take_counted_turn, NULL);
    runtime->worker_wake(worker, wish_ns);
    CU_ASSERT_TRUE(probe_wait_count(&turns, 1, LIMIT_MS));
    CU_ASSERT_TRUE(runtime->now_ns(runtime) >= wish_ns);
}

static void turn_comes_again_when_it_asked_for_it(void)
{
    atomic_store(&answer_ns, 3 * ZKL_NS_PER_MS);
    start(take_counted_turn, NULL);
    runtime->worker_wake(worker, 0);
    CU_ASSERT_TRUE(probe_wait_count(&turns, 5, LIMIT_MS));
}

static void turn_that_is_due_already_comes_at_once(void)
{
    atomic_store(&answer_ns, -ZKL_NS_PER_S);
    start(take_counted_turn, NULL);
    runtime->worker_wake(worker, -1);
    CU_ASSERT_TRUE(probe_wait_count(&turns, 5, LIMIT_MS));
}

static void earlier_wish_overtakes_a_later_one(void)
{
    start(take_counted_turn, NULL);
    runtime->worker_wake(worker, in_ms(HOUR_MS));
    runtime->worker_wake(worker, in_ms(10));
    CU_ASSERT_TRUE(probe_wait_count(&turns, 1, LIMIT_MS));
}

static void later_wish_does_not_delay_an_earlier_one(void)
{
    start(take_counted_turn, NULL);
    runtime->worker_wake(worker, in_ms(10));
    runtime->worker_wake(worker, in_ms(HOUR_MS));
    CU_ASSERT_TRUE(probe_wait_count(&turns, 1, LIMIT_MS));
}

static void wake_during_a_turn_outlives_its_return_value(void)
{
    start(take_gated_turn, NULL);
    runtime->worker_wake(worker, 0);
    CU_ASSERT_TRUE(probe_wait_value(&turns, 1, LIMIT_MS));
    runtime->worker_wake(worker, in_ms(HOUR_MS));
    runtime->worker_wake(worker, 0);
    open_gate(1);
    open_gate(2);
    CU_ASSERT_TRUE(probe_wait_value(&turns, 2, LIMIT_MS));
}

static void own_wish_of_a_turn_overtakes_a_wake_during_it(void)
{
    atomic_store(&answer_ns, 5 * ZKL_NS_PER_MS);
    start(take_gated_turn, NULL);
    runtime->worker_wake(worker, 0);
    CU_ASSERT_TRUE(probe_wait_value(&turns, 1, LIMIT_MS));
    runtime->worker_wake(worker, in_ms(HOUR_MS));
    open_gate(1);
    open_gate(2);
    CU_ASSERT_TRUE(probe_wait_value(&turns, 2, LIMIT_MS));
    open_gate(3);
}

static void return_value_replaces_wishes_from_before_the_turn(void)
{
    start(take_gated_turn, NULL);
    runtime->worker_wake(worker, in_ms(30));
    runtime->worker_wake(worker, 0);
    open_gate(1);
    open_gate(2);
    CU_ASSERT_TRUE(probe_wait_value(&turns, 1, LIMIT_MS));
    CU_ASSERT_FALSE(probe_wait_count(&turns, 2, 90));
}

/* A turn says how many requests it has seen; nobody else wakes the worker, so a lost wake is never made good. */
static atomic_int requested;
static struct probe seen;

static int64_t look_at_requests(void *arg)
{
    (void)arg;
    probe_note(&seen, atomic_load(&requested));
    return ZKL_NEVER;
}

static void no_wake_is_lost_at_the_end_of_a_turn(void)
{
    int round = 0;

    atomic_store(&requested, 0);
    probe_init(&seen);
    start(look_at_requests, NULL);
    while (round < 20000) {
        /* Two in a row: the second one comes near the end of the first one's turn. */
        for (int i = 0; i < 2; i++) {
            atomic_store(&requested, ++round);
            runtime->worker_wake(worker, 0);
        }
        if (!probe_wait_value(&seen, round, LIMIT_MS))
            break;
    }
    CU_ASSERT_EQUAL(probe_last(&seen), 20000);
    runtime->worker_stop(worker);
    worker = NULL;
    probe_clear(&seen);
}

static void *wake_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5000; i++) {
        atomic_fetch_add(&requested, 1);
        runtime->worker_wake(worker, i % 3 == 0 ? in_ms(1) : 0);
    }
    return NULL;
}

static void last_of_many_wakes_is_followed_by_a_turn(void)
{
    pthread_t threads[4];

    atomic_store(&requested, 0);
    probe_init(&seen);
    start(look_at_requests, NULL);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, wake_often, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_TRUE(probe_wait_value(&seen, 20000, LIMIT_MS));
    runtime->worker_stop(worker);
    worker = NULL;
    probe_clear(&seen);
}

static int64_t stop_in_turn(void *arg)
{
    struct probe *stopped = arg;

    runtime->worker_stop(worker);
    /* The turn goes on, and may even wake the worker that has stopped. */
    runtime->worker_wake(worker, 0);
    probe_note(stopped, 1);
    return 0;
}

static void worker_may_be_stopped_from_inside_its_turn(void)
{
    int thread_count = count_entries("/proc/self/task");
    int descriptor_count = count_entries("/proc/self/fd");

    start(stop_in_turn, &turns);
    runtime->worker_wake(worker, 0);
    CU_ASSERT_TRUE(probe_wait_count(&turns, 1, LIMIT_MS));
    worker = NULL;
    CU_ASSERT_TRUE(eventually(is_thread_count, &thread_count, LIMIT_MS));
    CU_ASSERT_EQUAL(count_entries("/proc/self/fd"), descriptor_count);
    CU_ASSERT_EQUAL(probe_count(&turns), 1);
}

static void *stop_worker(void *arg)
{
    runtime->worker_stop(worker);
    probe_note(arg, 1);
    return NULL;
}

static void stop_waits_for_the_running_turn(void)
{
    struct probe stopped;
    pthread_t thread;

    probe_init(&stopped);
    start(take_gated_turn, NULL);
    runtime->worker_wake(worker, 0);
    CU_ASSERT_TRUE(probe_wait_value(&turns, 1, LIMIT_MS));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, stop_worker, &stopped), 0);
    CU_ASSERT_FALSE(probe_wait_count(&stopped, 1, 50));
    open_gate(1);
    CU_ASSERT_TRUE(probe_wait_count(&stopped, 1, LIMIT_MS));
    pthread_join(thread, NULL);
    worker = NULL;
    probe_clear(&stopped);
}

static void worker_that_was_never_woken_stops(void)
{
    int descriptor_count = count_entries("/proc/self/fd");

    start(take_counted_turn, NULL);
    runtime->worker_stop(worker);
    start(take_counted_turn, NULL);
    runtime->worker_wake(worker, in_ms(HOUR_MS));
    runtime->worker_stop(worker);
    worker = NULL;
    CU_ASSERT_EQUAL(probe_count(&turns), 0);
    CU_ASSERT_EQUAL(count_entries("/proc/self/fd"), descriptor_count);
}

struct thread_facts {
    sigset_t mask;
    char name[16];
    struct probe ready;
};

static int64_t note_facts(void *arg)
{
    struct thread_facts *facts = arg;

    pthread_sigmask(SIG_BLOCK, NULL, &facts->mask);
    pthread_getname_np(pthread_self(), facts->name, sizeof(facts->name));
    probe_note(&facts->ready, 1);
    return ZKL_NEVER;
}

static void note_facts_once(void *arg)
{
    note_facts(arg);
}

static void assert_signals_are_blocked(const struct thread_facts *facts)
{
    const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1, SIGPIPE};

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        CU_ASSERT_TRUE(sigismember(&facts->mask, signals[i]));
}

static void signals_are_blocked_in_a_worker_and_not_in_its_creator(void)
{
    struct thread_facts facts;
    sigset_t own;

    probe_init(&facts.ready);
    start(note_facts, &facts);
    runtime->worker_wake(worker, 0);
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&facts.ready, 1, LIMIT_MS));
    assert_signals_are_blocked(&facts);
    CU_ASSERT_STRING_EQUAL(facts.name, "zklock-test");
    pthread_sigmask(SIG_BLOCK, NULL, &own);
    CU_ASSERT_FALSE(sigismember(&own, SIGTERM));
    probe_clear(&facts.ready);
}

static void detached_job_runs_with_signals_blocked(void)
{
    int thread_count = count_entries("/proc/self/task");
    struct thread_facts facts;

    probe_init(&facts.ready);
    CU_ASSERT_EQUAL_FATAL(runtime->run_detached(runtime, note_facts_once, &facts), ZKLOCK_OK);
    CU_ASSERT_TRUE_FATAL(probe_wait_count(&facts.ready, 1, LIMIT_MS));
    assert_signals_are_blocked(&facts);
    CU_ASSERT_TRUE(eventually(is_thread_count, &thread_count, LIMIT_MS));
    probe_clear(&facts.ready);
}

static void start_without_descriptors_leaves_nothing(void)
{
    int thread_count = count_entries("/proc/self/task");
    struct rlimit usual, none;

    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = (struct rlimit){.rlim_cur = 3, .rlim_max = usual.rlim_max};
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    CU_ASSERT_EQUAL(runtime->worker_start(runtime, "zklock-test", take_counted_turn, NULL, &worker), ZKLOCK_SYSTEM);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &usual), 0);
    CU_ASSERT_PTR_NULL(worker);
    CU_ASSERT_EQUAL(count_entries("/proc/self/task"), thread_count);
}

/* ---------------------------------------------------------------- jitter */

enum { JITTERED = 1000, JITTER_NS = 400, SLICES = 10 };

static void jittered_times_spread_over_a_quarter_and_are_never_longer(void)
{
    int in_slice[SLICES] = {0};
    int outside = 0;

    for (int i = 0; i < JITTERED; i++) {
        int64_t length_ns = zkl_jitter(runtime, JITTER_NS);
        int64_t slice = (JITTER_NS - length_ns) * SLICES / (JITTER_NS / 4 + 1);
        if (length_ns > JITTER_NS || slice >= SLICES)
            outside++;
        else
            in_slice[slice]++;
    }
    CU_ASSERT_EQUAL(outside, 0);
    /* A hundred are to be expected in each; that one has less than thirty does not happen. */
    for (int i = 0; i < SLICES; i++)
        CU_ASSERT_TRUE(in_slice[i] >= 30);
}

static void jitter_of_hardly_any_time_is_that_time(void)
{
    for (int length_ns = 0; length_ns < 4; length_ns++)
        CU_ASSERT_EQUAL(zkl_jitter(runtime, length_ns), length_ns);
}

#define WITH(function) SUITE_TEST_WITH(function, prepare, clean_up)

static const struct suite_test tests[] = {
    WITH(clock_is_the_one_that_counts_suspension),
    WITH(random_bytes_fill_the_whole_buffer),
    WITH(first_turn_comes_at_the_first_wake),
    WITH(turn_is_not_early),
    WITH(turn_comes_again_when_it_asked_for_it),
    WITH(turn_that_is_due_already_comes_at_once),
    WITH(earlier_wish_overtakes_a_later_one),
    WITH(later_wish_does_not_delay_an_earlier_one),
    WITH(wake_during_a_turn_outlives_its_return_value),
    WITH(own_wish_of_a_turn_overtakes_a_wake_during_it),
    WITH(return_value_replaces_wishes_from_before_the_turn),
    WITH(no_wake_is_lost_at_the_end_of_a_turn),
    WITH(last_of_many_wakes_is_followed_by_a_turn),
    WITH(worker_may_be_stopped_from_inside_its_turn),
    WITH(stop_waits_for_the_running_turn),
    WITH(worker_that_was_never_woken_stops),
    WITH(signals_are_blocked_in_a_worker_and_not_in_its_creator),
    WITH(detached_job_runs_with_signals_blocked),
    WITH(start_without_descriptors_leaves_nothing),
    WITH(jittered_times_spread_over_a_quarter_and_are_never_longer),
    WITH(jitter_of_hardly_any_time_is_that_time),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "runtime", tests);
}
