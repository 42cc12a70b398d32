/* What a hand-over within a process gains over one through ZooKeeper: sixteen threads, the same server, the same run. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"
#include "zklock_cohort.h"

#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 16, SPELLS = 3, LOCAL_OWNERS = 5000, REMOTE_OWNERS = 100, LEAST_RATIO = 20 };

static zklock_cohort *cohort;
static atomic_int left;
static atomic_int inside;
static atomic_int failures;

static void enter_and_leave(void)
{
    failures += atomic_fetch_add(&inside, 1) != 0;
    atomic_fetch_sub(&inside, 1);
}

static void *hand_on_locally(void *unused)
{
    (void)unused;
    while (atomic_fetch_sub(&left, 1) > 0) {
        if (zklock_cohort_acquire(cohort, STAGE_LIMIT_MS) != ZKLOCK_OK) {
            failures++;
            continue;
        }
        enter_and_leave();
        failures += zklock_cohort_release(cohort) != ZKLOCK_OK;
    }
    return NULL;
}

static void *hand_on_through_zookeeper(void *lock)
{
    while (atomic_fetch_sub(&left, 1) > 0) {
        if (zklock_acquire(lock, STAGE_LIMIT_MS) != ZKLOCK_OK) {
            failures++;
            continue;
        }
        enter_and_leave();
        failures += zklock_release_send(lock) != ZKLOCK_OK;
    }
    return NULL;
}

/* Nanoseconds for so many owners in turn. */
static int64_t run(void *(*thread)(void *), void *arguments[THREADS], int owners)
{
    pthread_t threads[THREADS];
    int64_t start_ns = boottime_ns();

    atomic_store(&left, owners);
    for (int i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, thread, arguments[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return boottime_ns() - start_ns;
}

static void hand_over_is_twenty_times_as_fast_as_through_zookeeper(void)
{
    zklock_session *session = stage_open_outside();
    void *locks[THREADS];
    int64_t local_ns = 0;
    int64_t remote_ns = 0;

    CU_ASSERT_EQUAL_FATAL(zklock_cohort_new(session, STAGE_PATH, NULL, NULL, &cohort), ZKLOCK_OK);
    for (int i = 0; i < THREADS; i++)
        locks[i] = contender_new(session, STAGE_PATH)->lock;
    /* In turn, so that what else the machine does meets both. */
    for (int spell = 0; spell < SPELLS; spell++) {
        local_ns += run(hand_on_locally, locks, LOCAL_OWNERS);
        remote_ns += run(hand_on_through_zookeeper, locks, REMOTE_OWNERS);
    }
    double local_us = (double)local_ns / 1000 / (SPELLS * LOCAL_OWNERS);
    double remote_us = (double)remote_ns / 1000 / (SPELLS * REMOTE_OWNERS);
    printf("[%.1f us within the process, %.1f us through ZooKeeper: %.0f times the rate] ", local_us, remote_us,
           remote_us / local_us);
    CU_ASSERT_TRUE(remote_us >= LEAST_RATIO * local_us);
    CU_ASSERT_EQUAL(atomic_load(&failures), 0);
}

static void tear_down(void)
{
    zklock_cohort_free(cohort);
    cohort = NULL;
    stage_end();
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(hand_over_is_twenty_times_as_fast_as_through_zookeeper, stage_start, tear_down),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "cohort_rate", tests);
}
