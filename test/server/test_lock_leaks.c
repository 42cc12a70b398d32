/* Very many acquires in a row: memory, watches and contenders stay what they were. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef REPETITIONS
#define REPETITIONS 3000
#endif

/* What may be under way or cached in the client library at one moment and not at another. */
enum { WARM_UP = 500, NOISE_BYTES = 8000 };

/* Bytes in use, when nothing is under way. (Under a sanitizer this is 0, and the sanitizer looks itself.) */
static size_t bytes_in_use(int contenders)
{
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage.observer, STAGE_PATH, contenders, STAGE_LIMIT_MS));
    stage_fence(stage.session);
    return mallinfo2().uordblks;
}

static bool has_at_most_watches(void *context)
{
    int count = zk_server_watch_count(stage.server);

    return count >= 0 && count <= *(int *)context;
}

static void check_that_nothing_grows(void (*repeat)(struct contender *), int contenders, int watches)
{
    struct contender *contender = contender_new(stage.session, STAGE_PATH);
    size_t before;

    for (int i = 0; i < WARM_UP; i++)
        repeat(contender);
    before = bytes_in_use(contenders);
    for (int i = 0; i < REPETITIONS; i++)
        repeat(contender);
    printf(" [%zd bytes more after %d] ", (ssize_t)(bytes_in_use(contenders) - before), REPETITIONS);
    CU_ASSERT_TRUE(bytes_in_use(contenders) < before + NOISE_BYTES);
    CU_ASSERT_TRUE(eventually(has_at_most_watches, &watches, STAGE_LIMIT_MS));
}

static void hold_outside(void)
{
    contender_hold(contender_new(stage_open_outside(), STAGE_PATH));
}

static void acquire_and_release(struct contender *contender)
{
    CU_ASSERT_EQUAL_FATAL(zklock_acquire(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(zklock_release(contender->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
}

static void pairs_of_acquire_and_release_leave_nothing(void)
{
    check_that_nothing_grows(acquire_and_release, 0, 0);
}

static void try_for_a_millisecond(struct contender *contender)
{
    zklock_status status = zklock_try(contender->lock, 1);

    CU_ASSERT_TRUE_FATAL(status == ZKLOCK_BUSY || status == ZKLOCK_NO_SERVER);
}

static void tries_of_a_held_lock_leave_nothing(void)
{
    hold_outside();
    check_that_nothing_grows(try_for_a_millisecond, 1, 1);
}

static void wait_for_a_moment(struct contender *contender)
{
    zklock_status status = zklock_acquire(contender->lock, 2);

    CU_ASSERT_TRUE_FATAL(status == ZKLOCK_TIMEOUT || status == ZKLOCK_NO_SERVER);
}

/* Besides the holder's own watch, the one that the waits plant on its node. */
static void waits_for_a_held_lock_leave_nothing(void)
{
    hold_outside();
    check_that_nothing_grows(wait_for_a_moment, 1, 2);
}

static void use_a_new_object(struct contender *unused)
{
    zklock *lock = NULL;

    (void)unused;
    CU_ASSERT_EQUAL_FATAL(zklock_new(stage.session, STAGE_PATH, NULL, &lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(zklock_acquire(lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    zklock_free(lock);
}

static void objects_freed_while_they_hold_leave_nothing(void)
{
    check_that_nothing_grows(use_a_new_object, 0, 0);
}

#define TEST(test) SUITE_TEST_WITH(test, stage_start, stage_end)

static const struct suite_test tests[] = {
    TEST(pairs_of_acquire_and_release_leave_nothing),
    TEST(tries_of_a_held_lock_leave_nothing),
    TEST(waits_for_a_held_lock_leave_nothing),
    TEST(objects_freed_while_they_hold_leave_nothing),
    SUITE_END
};

/* The allocator counts what it keeps for each thread as in use, unless it is told beforehand to keep nothing. */
static void start_again_with_an_exact_allocator(char **argv)
{
    if (getenv("GLIBC_TUNABLES"))
        return;
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1", 1);
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    start_again_with_an_exact_allocator(argv);
    return suite_main(argc, argv, "lock_leaks", tests);
}
