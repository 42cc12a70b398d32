/* What befalls a server: it is set back to an older state, or its disk fills up. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/process.h"
#include "support/suite.h"
#include "support/zk_ensemble.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

enum { SHORT_TIMEOUT_MS = 4000, SET_BACK_TIMEOUT_MS = 10000, REFUSALS = 6, LONG_MS = 90000 };

static struct contender *holder;
static struct contender *waiter;

static void run(const char *program, const char *from, const char *to)
{
    struct process *process = process_run(program, from, to, NULL);

    CU_ASSERT_TRUE_FATAL(process_wait(process, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL_FATAL(process_exit_status(process), 0);
    process_free(process);
}

static void queue(unsigned timeout_ms)
{
    holder = contender_new(stage_open(fault_proxy_address(stage.proxy), timeout_ms), STAGE_PATH);
    waiter = contender_new(stage_open(fault_proxy_address(stage.proxy), timeout_ms), STAGE_PATH);
    contender_hold(holder);
    contender_queue(waiter);
}

/* ---------------------------------------------------------------- set back to an older state */

static void start_and_queue(void)
{
    stage_start_without_session();
    queue(SET_BACK_TIMEOUT_MS);
    observer_close(stage.observer);
    stage.observer = NULL;
}

/* On a slow machine the old sessions may have been given up before the server was there. */
static bool is_refused_or_past_it(void *accepted)
{
    return fault_proxy_accepted(stage.proxy) >= *(int *)accepted + REFUSALS ||
           contender_heard(waiter, ZKLOCK_EVENT_REQUEUED);
}

/*
 * The server knows less than its clients have seen, and so refuses them for ever without ending their sessions: only a
 * fresh session helps. (A handle in place of another has seen nothing, and hears that there is no such session; that may
 * come before the lease ends.) The holder has lost; the waiter queues again; both can go on.
 */
static void server_that_was_set_back_gets_fresh_sessions(void)
{
    int64_t session_id = stage_session_id(holder->session);
    zklock_loss loss;
    int accepted;

    fault_proxy_set_mood(stage.proxy, FAULT_DOWN);
    zk_server_stop(stage.server);
    run("rm", "-rf", zk_server_data_directory(stage.server));
    run("mkdir", "-p", zk_server_data_directory(stage.server));
    zk_server_restart(stage.server);
    accepted = fault_proxy_accepted(stage.proxy);
    fault_proxy_set_mood(stage.proxy, FAULT_PASS);
    CU_ASSERT_TRUE(eventually(is_refused_or_past_it, &accepted, LONG_MS));
    loss = contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss;
    CU_ASSERT_TRUE(loss == ZKLOCK_LOSS_LEASE || loss == ZKLOCK_LOSS_EXPIRED);
    CU_ASSERT_TRUE_FATAL(probe_wait_value(&waiter->events, ZKLOCK_EVENT_REQUEUED, LONG_MS));
    CU_ASSERT_TRUE_FATAL(probe_wait_value(&waiter->events, ZKLOCK_EVENT_ENDED, LONG_MS));
    CU_ASSERT_EQUAL(zklock_wait(waiter->lock), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, LONG_MS), ZKLOCK_LOST);
    contender_queue(holder);
    CU_ASSERT_NOT_EQUAL(stage_session_id(holder->session), session_id);
    CU_ASSERT_EQUAL(zklock_release(waiter->lock, LONG_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_wait(holder->lock), ZKLOCK_OK);
}

/* ---------------------------------------------------------------- a full disk */

/* In mount namespaces of this program's own, so that nothing is left of it. */
static void start_on_a_small_disk(void)
{
    static const char config[] = "preAllocSize=64";
    char size[] = "size=4m";

    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        suite_skip("a small disk needs the right to mount");
    if (mount("small", "/mnt", "tmpfs", 0, size) != 0)
        suite_skip("no tmpfs can be mounted");
    setenv("TMPDIR", "/mnt", 1);
    stage_start_with(&(struct zk_server_options){.extra_config = config});
    queue(SHORT_TIMEOUT_MS);
}

static void fill_disk(void)
{
    static const char zeros[4096];
    FILE *file = fopen("/mnt/filling", "we");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    setbuf(file, NULL);
    while (fwrite(zeros, 1, sizeof(zeros), file) == sizeof(zeros))
        continue;
    fclose(file);
}

static bool is_refused(void *context)
{
    char detail[512];

    zklock_session_detail(((struct contender *)context)->session, detail, sizeof(detail));
    return strstr(detail, "the connection was lost") || strstr(detail, "refused");
}

/* The server ends itself at the first write that fails; when there is room again and it is started, all goes on. */
static void full_disk_of_the_server_is_told_and_outlived(void)
{
    char data[1024];
    struct contender *late = contender_new(waiter->session, STAGE_PATH);

    fill_disk();
    memset(data, 'x', sizeof(data));
    for (int i = 0; i < 1000 && observer_set(stage.observer, STAGE_PATH, data, sizeof(data)) == ZOK; i++)
        continue;
    CU_ASSERT_EQUAL(contender_await_event(holder, ZKLOCK_EVENT_LOST)->loss, ZKLOCK_LOSS_LEASE);
    CU_ASSERT_FALSE(zklock_is_held(holder->lock));
    CU_ASSERT_TRUE(eventually(is_refused, late, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_acquire(late->lock, 500), ZKLOCK_NO_SERVER);
    CU_ASSERT_EQUAL(zklock_result(waiter->lock), ZKLOCK_PENDING);
    CU_ASSERT_EQUAL(unlink("/mnt/filling"), 0);
    zk_server_restart(stage.server);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, LONG_MS), ZKLOCK_LOST);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_release(waiter->lock, LONG_MS), ZKLOCK_OK);
    CU_ASSERT_TRUE(observer_wait_count(stage.observer, STAGE_PATH, 0, LONG_MS));
}

#define TEST(test) SUITE_TEST_WITH(test, start_and_queue, stage_end)

static const struct suite_test tests[] = {
    TEST(server_that_was_set_back_gets_fresh_sessions),
    SUITE_TEST_WITH(full_disk_of_the_server_is_told_and_outlived, start_on_a_small_disk, stage_end),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "lock_server", tests);
}
