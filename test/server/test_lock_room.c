/* How many locks one session takes: as many as its connection can restore, and a clear refusal beyond. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WAITERS = 10000, WAITERS_A_PATH = 50, MOST_PATHS = MOST_WAITERS / WAITERS_A_PATH };
/* Bytes of a lock's path: long ones, so that ten thousand do not fit; and the longest that there are. */
enum { LONG_PATH = 95, LONGEST_PATH = 890, PATH_SIZE = 900 };

static int path_length = LONG_PATH;
static zklock *locks[MOST_WAITERS];
static int lock_count;
static char holders[MOST_PATHS][OBSERVER_PATH_SIZE];

static void end(void)
{
    while (lock_count > 0)
        zklock_free(locks[--lock_count]);
    stage_end();
}

static void name_path(int number, char out_path[PATH_SIZE])
{
    snprintf(out_path, PATH_SIZE, "/stage/%0*d", path_length - (int)strlen("/stage/"), number);
}

/* Somebody else holds all the locks. */
static void hold_path(int number)
{
    char path[PATH_SIZE];

    name_path(number, path);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, path, "", 0, NULL), ZOK);
    snprintf(holders[number], sizeof(holders[number]), "%s/h-lock-0000000000", path);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, holders[number], "", 0, NULL), ZOK);
}

/* Begins waits until one is refused; returns what it was refused with. */
static zklock_status fill_the_session(void)
{
    zklock_status status = ZKLOCK_OK;
    char path[PATH_SIZE];

    while (status == ZKLOCK_OK && lock_count < MOST_WAITERS) {
        if (lock_count % WAITERS_A_PATH == 0)
            hold_path(lock_count / WAITERS_A_PATH);
        name_path(lock_count / WAITERS_A_PATH, path);
        CU_ASSERT_EQUAL_FATAL(zklock_new(stage.session, path, NULL, &locks[lock_count]), ZKLOCK_OK);
        status = zklock_acquire_start(locks[lock_count++], -1);
    }
    return status;
}

static bool has_all_watches(void *context)
{
    return zk_server_watch_count(stage.server) == *(int *)context;
}

/* Each but the refused one watches its own node and the one ahead, which is another's own but for the first. */
static void check_watches(void)
{
    int waiting = lock_count - 1;
    int watches = waiting + (waiting + WAITERS_A_PATH - 1) / WAITERS_A_PATH;

    CU_ASSERT_TRUE(eventually(has_all_watches, &watches, STAGE_LIMIT_MS));
}

static void waits_that_would_not_survive_a_reconnect_are_refused(void)
{
    char detail[256];

    CU_ASSERT_EQUAL(fill_the_session(), ZKLOCK_TOO_LARGE);
    zklock_detail(locks[lock_count - 1], detail, sizeof(detail));
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "another session"));
    printf(" [%d waits] ", lock_count - 1);
    CU_ASSERT_TRUE(lock_count > 1000);
    check_watches();
    fault_proxy_cut(stage.proxy);
    stage_fence(stage.session);
    check_watches();
    for (int i = 0; i < lock_count - 1; i += WAITERS_A_PATH) {
        CU_ASSERT_EQUAL(zklock_result(locks[i]), ZKLOCK_PENDING);
        CU_ASSERT_EQUAL(observer_delete(stage.observer, holders[i / WAITERS_A_PATH]), ZOK);
        CU_ASSERT_EQUAL(zklock_wait(locks[i]), ZKLOCK_OK);
    }
}

static bool has_room(void *context)
{
    (void)context;
    return zklock_acquire_start(locks[lock_count - 1], -1) == ZKLOCK_OK;
}

static void room_comes_back_when_a_lock_is_given_up(void)
{
    CU_ASSERT_EQUAL(fill_the_session(), ZKLOCK_TOO_LARGE);
    CU_ASSERT_FALSE(has_room(NULL));
    CU_ASSERT_EQUAL(zklock_cancel(locks[lock_count / 2]), ZKLOCK_OK);
    CU_ASSERT_TRUE(eventually(has_room, NULL, STAGE_LIMIT_MS));
}

/* ---------------------------------------------------------------- watches left behind */

enum { BATCH = 100, MOST_BATCHES = MOST_WAITERS / BATCH };

static zklock_status begin_wait(int number)
{
    char path[PATH_SIZE];

    name_path(number, path);
    snprintf(holders[0], sizeof(holders[0]), "%s/h-lock-0000000000", path);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, path, "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage.observer, holders[0], "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL_FATAL(zklock_new(stage.session, path, NULL, &locks[lock_count++]), ZKLOCK_OK);
    return zklock_acquire_start(locks[lock_count - 1], -1);
}

/* Waits for locks that nobody has waited for yet, all given up again: each leaves its watch on the node ahead. The
 * session may be so quick in use again that it finds no moment to begin afresh; then there is no room left at last. */
static zklock_status leave_a_batch_of_watches(int batch)
{
    zklock_status status = ZKLOCK_OK;
    char path[PATH_SIZE];

    for (int i = 0; i < BATCH && status == ZKLOCK_OK; i++)
        status = begin_wait(batch * BATCH + i);
    name_path(batch * BATCH, path);
    stage_fence(stage.session); /* the lists are answered and the watches sent */
    stage_fence(stage.session); /* and planted */
    while (lock_count > 0)
        zklock_free(locks[--lock_count]);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, path, 1, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_session_wait_connected(stage.session, STAGE_LIMIT_MS), ZKLOCK_OK);
    return status;
}

static bool has_other_session(void *context)
{
    return stage_session_id(stage.session) != *(int64_t *)context;
}

static bool has_few_watches(void *context)
{
    (void)context;
    return zk_server_watch_count(stage.server) <= 2 * BATCH;
}

/* A session that nothing else needs begins afresh when they are too many. */
static void left_watches_do_not_add_up_for_ever(void)
{
    int64_t session_id = stage_session_id(stage.session);
    int batch = 0;

    path_length = LONGEST_PATH;
    while (batch < MOST_BATCHES && !has_other_session(&session_id) &&
           leave_a_batch_of_watches(batch) == ZKLOCK_OK)
        batch++;
    CU_ASSERT_TRUE(eventually(has_other_session, &session_id, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_session_wait_connected(stage.session, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(begin_wait(batch * BATCH + BATCH), ZKLOCK_OK);
    printf(" [%d waits] ", batch * BATCH);
    CU_ASSERT_TRUE(batch > 2 && batch < MOST_BATCHES);
    CU_ASSERT_TRUE(eventually(has_few_watches, NULL, STAGE_LIMIT_MS));
    path_length = LONG_PATH;
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(waits_that_would_not_survive_a_reconnect_are_refused, stage_start, end),
    SUITE_TEST_WITH(room_comes_back_when_a_lock_is_given_up, stage_start, end),
    SUITE_TEST_WITH(left_watches_do_not_add_up_for_ever, stage_start, end),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_room", tests);
}
