/*
 * The whole library, on its own threads and on libzookeeper, against a real server: at sampled points of one story a
 * call of the library fails, alone or with the next two. (libzookeeper's own calls do not: short of memory, it aborts.)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "failure/fail.h"
#include "support/eventually.h"
#include "support/observer.h"
#include "support/suite.h"
#include "support/zk_server.h"
#include "zklock.h"

#define LOCK_PATH "/shortage"
#define STRANGER LOCK_PATH "/stranger-lock-0000000000"

enum {
    POINTS = 100, /* for each length of a spell */
    LIMIT_MS = 5000,
    TIMEOUT_MS = 4000,
    PATIENCE_MS = 30000,
    MOST_COMPLAINTS = 5,
};

static struct zk_server *server;
static struct observer *observer;
static int complaints;
static int clean_runs; /* in which the lock was had and let go */

static void start(void)
{
    server = zk_server_start(NULL);
    observer = observer_open(zk_server_address(server), 30000);
}

static void stop(void)
{
    observer_close(observer);
    zk_server_free(server);
}

static void complain(const char *what, zklock_status status)
{
    complaints++;
    printf("\n  %s: %s: %s", fail_text(), what, zklock_status_name(status));
}

#define BIT(name) (1u << ZKLOCK_##name)
/* The failures are over long before any limit: nothing is to be seen of them but a call that was refused at once. */
#define SHORTAGE (BIT(NO_MEMORY) | BIT(SYSTEM))

static bool expect(const char *what, zklock_status status, unsigned tolerated)
{
    if (status != ZKLOCK_OK && (fail_hits() == 0 || !(tolerated & 1u << status)))
        complain(what, status);
    return status == ZKLOCK_OK;
}

static bool open_session(zklock_session **out_session)
{
    zklock_session_options options;

    zklock_session_options_init(&options);
    options.servers = zk_server_address(server);
    options.session_timeout_ms = TIMEOUT_MS;
    options.tick_time_ms = 500;
    return expect("open", zklock_session_open(&options, out_session), SHORTAGE);
}

/* ---------------------------------------------------------------- the story */

static void look_at_queue(zklock_session *session)
{
    zklock_queue *queue = NULL;

    expect("read", zklock_queue_read(session, LOCK_PATH, LIMIT_MS, &queue), SHORTAGE);
    zklock_queue_free(queue);
}

/* Behind a stranger, who goes. */
static void wait_and_hold(zklock_session *session, zklock *lock)
{
    if (!expect("begin", zklock_acquire_start(lock, LIMIT_MS), SHORTAGE))
        return;
    look_at_queue(session);
    observer_delete(observer, STRANGER);
    if (!expect("acquire", zklock_wait(lock), SHORTAGE))
        return;
    clean_runs += expect("release", zklock_release(lock, LIMIT_MS), 0);
}

static void play(void)
{
    zklock_session *session = NULL;
    zklock *lock = NULL;
    int descriptor;

    if (!open_session(&session))
        return;
    if (expect("new", zklock_new(session, LOCK_PATH, NULL, &lock), SHORTAGE)) {
        expect("descriptor", zklock_fd(lock, &descriptor), SHORTAGE);
        wait_and_hold(session, lock);
    }
    zklock_free(lock);
    observer_delete(observer, STRANGER);
    expect("wait free", zklock_wait_free(session, LOCK_PATH, LIMIT_MS), SHORTAGE);
    expect("close", zklock_session_close(session, LIMIT_MS), 0);
}

/* ---------------------------------------------------------------- what must hold afterwards */

static int lowest_free_descriptor(void)
{
    int number = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);

    close(number);
    return number;
}

static bool is_clean(void *descriptor)
{
    return ledger_count() == 0 && lowest_free_descriptor() == *(int *)descriptor;
}

static void look_for_remains(int descriptor)
{
    if (!observer_wait_count(observer, LOCK_PATH, 0, PATIENCE_MS))
        complain("contenders are left", ZKLOCK_OK);
    /* A handle is closed on a thread of its own, which may outlive the session. */
    if (!eventually(is_clean, &descriptor, PATIENCE_MS)) {
        complain("memory or descriptors are left", ZKLOCK_OK);
        ledger_tell();
    }
}

static void let_another_acquire(void)
{
    zklock_session *session = NULL;
    zklock *lock = NULL;

    if (!open_session(&session))
        return;
    if (expect("another lock", zklock_new(session, LOCK_PATH, NULL, &lock), 0) &&
        expect("another acquire", zklock_acquire(lock, LIMIT_MS), 0))
        expect("another release", zklock_release(lock, LIMIT_MS), 0);
    zklock_free(lock);
    expect("another close", zklock_session_close(session, LIMIT_MS), 0);
}

static long play_with(long position, long count, bool another_follows)
{
    int descriptor = lowest_free_descriptor();

    observer_create(observer, STRANGER, "", 0, NULL);
    fail_from(position, count);
    play();
    fail_stop();
    observer_delete(observer, STRANGER);
    look_for_remains(descriptor);
    if (another_follows) {
        fail_from(FAIL_FOR_EVER, 0);
        let_another_acquire();
        fail_stop();
        look_for_remains(descriptor);
    }
    return fail_calls();
}

static void every_sampled_failure_is_survived(void)
{
    long calls, hits = 0;

    observer_create(observer, LOCK_PATH, "", 0, NULL);
    calls = play_with(FAIL_FOR_EVER, 0, true);
    CU_ASSERT_EQUAL(clean_runs, 1);
    for (long spell = 1; spell <= 3; spell += 2) {
        for (int i = 0; i < POINTS && complaints < MOST_COMPLAINTS; i++) {
            play_with(1 + i * calls / POINTS, spell, i % 10 == 0);
            hits += i % 10 != 0 && fail_hits() > 0;
        }
    }
    printf("%ld calls a story, %ld failures, %d stories with the lock all the same ", calls, hits, clean_runs - 1);
    CU_ASSERT_EQUAL(complaints, 0);
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(every_sampled_failure_is_survived, start, stop),
    SUITE_END,
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "shortage", tests);
}
