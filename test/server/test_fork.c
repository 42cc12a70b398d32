/* A forked child may not use the parent's objects: each call says so at once, and the parent goes on undisturbed. */
#include "server/lock_stage.h"

#include "support/eventually.h"
#include "support/suite.h"
#include "zklock_cohort.h"
#include "zklock_observer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS_MAX = 48, CHILD_LIMIT_S = 10 };

static struct contender *holder;
static struct contender *waiter;
static zklock_multi *multi;
static zklock_cohort *cohort;
static zklock_observer *watcher;

/* @thread the notifier */
static void on_leader(zklock_observer *unused, const zklock_sighting *sighting, void *context)
{
    (void)unused;
    (void)sighting;
    (void)context;
}

static void start(void)
{
    stage_start();
    holder = contender_new(stage.session, STAGE_PATH);
    waiter = contender_new(stage.session, STAGE_PATH);
    contender_hold(holder);
    contender_queue(waiter);
    CU_ASSERT_EQUAL_FATAL(zklock_multi_new(stage.session, &multi), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(zklock_multi_add(multi, STAGE_PATH "/part", NULL), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(zklock_multi_acquire(multi, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(zklock_cohort_new(stage.session, STAGE_PATH "/threads", NULL, NULL, &cohort), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(zklock_cohort_acquire(cohort, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(zklock_observer_start(stage.session, STAGE_PATH, on_leader, NULL, &watcher), ZKLOCK_OK);
}

static int call_cohort(int *statuses)
{
    zklock_cohort *another = NULL;
    uint64_t token;
    int count = 0;

    statuses[count++] = zklock_cohort_new(stage.session, STAGE_PATH, NULL, NULL, &another);
    statuses[count++] = zklock_cohort_try(cohort, -1);
    statuses[count++] = zklock_cohort_acquire(cohort, -1);
    statuses[count++] = zklock_cohort_release(cohort);
    statuses[count++] = zklock_cohort_token(cohort, &token);
    return count;
}

static int call_several(int *statuses)
{
    zklock_multi *another = NULL;
    int descriptor;
    int count = 0;

    statuses[count++] = zklock_multi_new(stage.session, &another);
    statuses[count++] = zklock_multi_add(multi, STAGE_PATH, NULL);
    statuses[count++] = zklock_multi_try(multi, -1);
    statuses[count++] = zklock_multi_acquire(multi, -1);
    statuses[count++] = zklock_multi_acquire_start(multi, -1);
    statuses[count++] = zklock_multi_result(multi);
    statuses[count++] = zklock_multi_wait(multi);
    statuses[count++] = zklock_multi_cancel(multi);
    statuses[count++] = zklock_multi_release(multi, -1);
    statuses[count++] = zklock_multi_release_send(multi);
    statuses[count++] = zklock_multi_fd(multi, &descriptor);
    return count;
}

static int call_what_has_a_status(int statuses[CALLS_MAX])
{
    zklock_session_info info;
    zklock_session_key key;
    zklock_queue *queue = NULL;
    zklock *lock = NULL;
    zklock_observer *another = NULL;
    uint64_t token;
    char path[ZKLOCK_HELD_PATH_SIZE];
    int descriptor;
    int count = 0;

    statuses[count++] = zklock_session_wait_connected(stage.session, -1);
    statuses[count++] = zklock_session_info_get(stage.session, &info);
    statuses[count++] = zklock_session_key_get(stage.session, &key);
    statuses[count++] = zklock_new(stage.session, STAGE_PATH, NULL, &lock);
    statuses[count++] = zklock_try(holder->lock, -1);
    statuses[count++] = zklock_acquire(holder->lock, -1);
    statuses[count++] = zklock_acquire_start(holder->lock, -1);
    statuses[count++] = zklock_result(waiter->lock);
    statuses[count++] = zklock_wait(waiter->lock);
    statuses[count++] = zklock_fd(waiter->lock, &descriptor);
    statuses[count++] = zklock_cancel(waiter->lock);
    statuses[count++] = zklock_token(holder->lock, &token);
    statuses[count++] = zklock_release(holder->lock, -1);
    statuses[count++] = zklock_release_send(holder->lock);
    statuses[count++] = zklock_downgrade(holder->lock, -1);
    statuses[count++] = zklock_upgrade(holder->lock);
    statuses[count++] = zklock_queue_read(stage.session, STAGE_PATH, -1, &queue);
    statuses[count++] = zklock_observe(stage.session, STAGE_PATH, 0, -1, &queue);
    statuses[count++] = zklock_wait_free(stage.session, STAGE_PATH, -1);
    count += call_several(statuses + count);
    statuses[count++] = zklock_session_fd(stage.session, &descriptor);
    statuses[count++] = zklock_session_dispatch(stage.session);
    statuses[count++] = zklock_held_path(holder->lock, path, sizeof(path));
    count += call_cohort(statuses + count);
    statuses[count++] = zklock_observer_start(stage.session, STAGE_PATH, on_leader, NULL, &another);
    statuses[count++] = zklock_session_close(stage.session, -1);
    return count;
}

/* Those that have none say what is true for somebody who holds nothing. */
static bool calls_without_status_say_nothing(void)
{
    char text[64] = "x", detail[64] = "x", name[64] = "x";
    zklock_loss loss = ZKLOCK_LOSS_NONE;
    bool is_silent;

    zklock_session_detail(stage.session, text, sizeof(text));
    zklock_detail(holder->lock, detail, sizeof(detail));
    zklock_contender_name(holder->lock, name, sizeof(name));
    is_silent = text[0] == '\0' && detail[0] == '\0' && name[0] == '\0' && !zklock_is_held(holder->lock) &&
                zklock_remaining_ms(holder->lock) == 0 &&
                zklock_state_get(holder->lock, &loss) == ZKLOCK_STATE_IDLE;
    is_silent = is_silent && !zklock_multi_is_held(multi) && zklock_multi_remaining_ms(multi) == 0 &&
                !zklock_multi_current(multi) && !zklock_multi_lock(multi, STAGE_PATH "/part") &&
                zklock_multi_state_get(multi, &loss) == ZKLOCK_STATE_IDLE;
    zklock_multi_detail(multi, text, sizeof(text));
    zklock_multi_fd_clear(multi);
    zklock_multi_free(multi);
    is_silent = is_silent && !zklock_cohort_is_held(cohort) && zklock_cohort_remaining_ms(cohort) == 0 &&
                !zklock_cohort_lock(cohort);
    zklock_cohort_free(cohort);
    zklock_observer_stop(watcher);
    zklock_fd_clear(waiter->lock);
    zklock_free(waiter->lock);
    zklock_free(holder->lock);
    return is_silent;
}

/* Ends with 0 if all is as it should be; else with the number of the call that is not. */
static _Noreturn void be_the_child(void)
{
    int statuses[CALLS_MAX];
    int count = call_what_has_a_status(statuses);

    for (int i = 0; i < count; i++)
        if (statuses[i] != ZKLOCK_FORKED)
            _exit(i + 1);
    _exit(calls_without_status_say_nothing() ? 0 : 100);
}

static pid_t child;

static bool has_ended(void *status)
{
    return waitpid(child, status, WNOHANG) > 0;
}

static void fork_and_check(void)
{
    int status = -1;

    child = fork();
    CU_ASSERT_TRUE_FATAL(child >= 0);
    if (child == 0) {
        alarm(CHILD_LIMIT_S);
        be_the_child();
    }
    CU_ASSERT_TRUE_FATAL(eventually(has_ended, &status, STAGE_LIMIT_MS));
    CU_ASSERT_TRUE(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

static void every_call_in_a_forked_child_says_so_at_once(void)
{
    fork_and_check();
}

static void parent_holds_on_after_the_child_has_ended(void)
{
    int64_t session_id = stage_session_id(stage.session);
    char node[OBSERVER_PATH_SIZE];

    contender_node(holder, node);
    fork_and_check();
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
    CU_ASSERT_TRUE(observer_exists(stage.observer, node));
    fault_proxy_reset_counts(stage.proxy);
    CU_ASSERT_TRUE(fault_proxy_wait_requests(stage.proxy, FAULT_OP_MULTI, 5, STAGE_LIMIT_MS));
    CU_ASSERT_EQUAL(zklock_state_get(holder->lock, NULL), ZKLOCK_STATE_HELD);
    CU_ASSERT_EQUAL(stage_session_id(stage.session), session_id);
    CU_ASSERT_EQUAL(zklock_release(holder->lock, STAGE_LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(contender_result(waiter), ZKLOCK_OK);
}

/* Somebody may hold the session's mutex at the moment of the fork. */
static void *ask_all_the_time(void *arg)
{
    while (probe_count(arg) == 0)
        zklock_remaining_ms(holder->lock);
    return NULL;
}

static void forks_at_any_moment_leave_no_child_stuck(void)
{
    struct probe is_over;
    pthread_t asker;

    probe_init(&is_over);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&asker, NULL, ask_all_the_time, &is_over), 0);
    for (int i = 0; i < 100; i++)
        fork_and_check();
    probe_note(&is_over, 1);
    pthread_join(asker, NULL);
    CU_ASSERT_TRUE(zklock_is_held(holder->lock));
}

static void end(void)
{
    zklock_multi_free(multi);
    zklock_cohort_free(cohort);
    zklock_observer_stop(watcher);
    stage_end();
}

#define TEST(test) SUITE_TEST_WITH(test, start, end)

static const struct suite_test tests[] = {
    TEST(every_call_in_a_forked_child_says_so_at_once),
    TEST(parent_holds_on_after_the_child_has_ended),
    TEST(forks_at_any_moment_leave_no_child_stuck),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "fork", tests);
}
