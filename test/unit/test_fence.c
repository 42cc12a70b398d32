/* The fence at the resource: which tokens it lets in, what it remembers, whom it shuts out. */
#include "support/directory.h"
#include "support/suite.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "zklock.h"

enum { RECORD = 64, LIMIT_MS = 30000 * ZKLOCK_TEST_SLOWNESS };

static char *directory;
static char file[256];
static zklock_fence *fence;

static void set_up(void)
{
    directory = directory_make("fence");
    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
    snprintf(file, sizeof(file), "%s/fence", directory);
    CU_ASSERT_EQUAL_FATAL(zklock_fence_open(file, &fence), ZKLOCK_OK);
}

static void tear_down(void)
{
    zklock_fence_close(fence);
    fence = NULL;
    directory_remove(directory);
    free(directory);
}

static void reopen(void)
{
    zklock_fence_close(fence);
    fence = NULL;
    CU_ASSERT_EQUAL_FATAL(zklock_fence_open(file, &fence), ZKLOCK_OK);
}

static zklock_status admit(uint64_t token)
{
    return zklock_fence_admit(fence, token, LIMIT_MS);
}

static size_t read_file(char bytes[3 * RECORD])
{
    FILE *stream = fopen(file, "r");

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    size_t size = fread(bytes, 1, 3 * RECORD, stream);
    fclose(stream);
    return size;
}

static void write_file(const char *bytes, size_t size)
{
    FILE *stream = fopen(file, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, stream), size);
    CU_ASSERT_EQUAL(fclose(stream), 0);
}

/* ---------------------------------------------------------------- tokens */

static void check_tokens(void)
{
    CU_ASSERT_EQUAL(admit(7), ZKLOCK_OK);
    CU_ASSERT_EQUAL(admit(7), ZKLOCK_OK);
    CU_ASSERT_EQUAL(admit(6), ZKLOCK_STALE);
    CU_ASSERT_EQUAL(admit(UINT64_MAX), ZKLOCK_OK);
    CU_ASSERT_EQUAL(admit(UINT64_MAX - 1), ZKLOCK_STALE);
}

static void older_tokens_are_refused_and_equal_ones_let_in(void)
{
    check_tokens();
    zklock_fence_close(fence);
    CU_ASSERT_EQUAL_FATAL(zklock_fence_open(NULL, &fence), ZKLOCK_OK);
    check_tokens();
}

static void file_remembers(void)
{
    for (uint64_t token = 10; token < 20; token++) {
        CU_ASSERT_EQUAL(admit(token), ZKLOCK_OK);
        reopen();
        CU_ASSERT_EQUAL(admit(token - 1), ZKLOCK_STALE);
    }
}

static void objects_on_one_file_know_of_each_other(void)
{
    zklock_fence *other = NULL;

    CU_ASSERT_EQUAL_FATAL(zklock_fence_open(file, &other), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_fence_enter(other, 5, LIMIT_MS), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_fence_enter(fence, 6, 20), ZKLOCK_TIMEOUT);
    zklock_fence_leave(other);
    CU_ASSERT_EQUAL(admit(4), ZKLOCK_STALE);
    CU_ASSERT_EQUAL(admit(6), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_fence_admit(other, 5, LIMIT_MS), ZKLOCK_STALE);
    zklock_fence_close(other);
}

/* ---------------------------------------------------------------- crashes */

/* Of the record that is being written any part may have reached the disk: the token before it is never forgotten. */
static void torn_record_leaves_the_token_before_it(void)
{
    char before[3 * RECORD];
    char after[3 * RECORD];

    CU_ASSERT_EQUAL(admit(41), ZKLOCK_OK);
    CU_ASSERT_EQUAL(admit(42), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(read_file(before), 2 * RECORD);
    CU_ASSERT_EQUAL(admit(4300), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(read_file(after), 2 * RECORD);
    for (int cut = 0; cut <= 2 * RECORD; cut++) {
        char torn[2 * RECORD];
        memcpy(torn, after, (size_t)cut);
        memcpy(torn + cut, before + cut, (size_t)(2 * RECORD - cut));
        write_file(torn, sizeof(torn));
        reopen();
        CU_ASSERT_EQUAL(admit(41), ZKLOCK_STALE);
        CU_ASSERT_EQUAL(admit(4300), ZKLOCK_OK);
        CU_ASSERT_EQUAL(admit(4299), ZKLOCK_STALE);
    }
}

static void file_whose_making_was_cut_short_is_made_anew(void)
{
    char whole[3 * RECORD];

    CU_ASSERT_EQUAL_FATAL(read_file(whole), 2 * RECORD);
    for (int size = 0; size < 2 * RECORD; size += 7) {
        write_file(whole, (size_t)size);
        reopen();
        CU_ASSERT_EQUAL(admit(1), ZKLOCK_OK);
    }
}

static void file_of_somebody_else_is_left_alone(void)
{
    static const char *const texts[] = {"dear diary\n", "zklock-fence 2 0\n"};
    char bytes[3 * RECORD];
    zklock_fence *other = NULL;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        write_file(texts[i], strlen(texts[i]));
        CU_ASSERT_EQUAL(zklock_fence_open(file, &other), ZKLOCK_BAD_ARGUMENT);
        CU_ASSERT_EQUAL(admit(99), ZKLOCK_BAD_ARGUMENT);
        CU_ASSERT_EQUAL(read_file(bytes), strlen(texts[i]));
        CU_ASSERT_EQUAL(memcmp(bytes, texts[i], strlen(texts[i])), 0);
    }
    CU_ASSERT_EQUAL(zklock_fence_open(directory, &other), ZKLOCK_SYSTEM);
    CU_ASSERT_EQUAL(zklock_fence_open("/dev/null", &other), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_fence_open("/no/such/directory/fence", &other), ZKLOCK_SYSTEM);
}

/* As on a full disk: the second record has no room. */
static void token_that_cannot_be_written_down_is_not_let_in(void)
{
    const struct rlimit narrow = {RECORD, RLIM_INFINITY};
    const struct rlimit wide = {RLIM_INFINITY, RLIM_INFINITY};
    int refused = 0;

    signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &narrow), 0);
    for (uint64_t token = 1; token <= 2; token++)
        refused += admit(token) == ZKLOCK_SYSTEM;
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &wide), 0);
    CU_ASSERT_EQUAL(refused, 2);
    CU_ASSERT_EQUAL(admit(1), ZKLOCK_OK);
    CU_ASSERT_EQUAL(admit(2), ZKLOCK_OK);
    CU_ASSERT_EQUAL(admit(1), ZKLOCK_STALE);
}

/* ---------------------------------------------------------------- shutting out */

/* A process that is inside, and stays there until it is killed. */
static pid_t start_dweller(void)
{
    int pipe_ends[2];
    char byte = 0;

    CU_ASSERT_EQUAL_FATAL(pipe(pipe_ends), 0);
    pid_t pid = fork();
    CU_ASSERT_TRUE_FATAL(pid >= 0);
    if (pid == 0) {
        zklock_fence *own = NULL;
        bool is_inside = zklock_fence_admit(fence, 1, 0) == ZKLOCK_FORKED &&
                         zklock_fence_open(file, &own) == ZKLOCK_OK && zklock_fence_enter(own, 50, -1) == ZKLOCK_OK;
        (void)!write(pipe_ends[1], is_inside ? "y" : "n", 1);
        pause();
        _exit(0);
    }
    CU_ASSERT_EQUAL(read(pipe_ends[0], &byte, 1), 1);
    CU_ASSERT_EQUAL(byte, 'y');
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    return pid;
}

static void process_inside_shuts_others_out_until_it_dies(void)
{
    pid_t dweller = start_dweller();

    CU_ASSERT_EQUAL(zklock_fence_enter(fence, 60, 50), ZKLOCK_TIMEOUT);
    CU_ASSERT_EQUAL(zklock_fence_enter(fence, 40, 0), ZKLOCK_TIMEOUT);
    kill(dweller, SIGKILL);
    CU_ASSERT_EQUAL(zklock_fence_enter(fence, 49, LIMIT_MS), ZKLOCK_STALE);
    CU_ASSERT_EQUAL(zklock_fence_enter(fence, 50, LIMIT_MS), ZKLOCK_OK);
    zklock_fence_leave(fence);
    CU_ASSERT_EQUAL(waitpid(dweller, NULL, 0), dweller);
}

enum { THREADS = 4, ROUNDS = 100 };

static atomic_int inside, violations;
static atomic_uint_fast64_t next_token;

static void *pass(void *newest_seen)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t token = atomic_fetch_add(&next_token, 1);
        zklock_status status = zklock_fence_enter(fence, token, LIMIT_MS);
        uint64_t *newest = newest_seen;
        if (status == ZKLOCK_STALE)
            continue;
        violations += status != ZKLOCK_OK || atomic_fetch_add(&inside, 1) != 0 || token < *newest;
        *newest = token;
        atomic_fetch_sub(&inside, 1);
        zklock_fence_leave(fence);
    }
    return NULL;
}

static void threads_come_one_by_one_and_never_back(void)
{
    pthread_t threads[THREADS];
    uint64_t newest = 0;

    for (int i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, pass, &newest), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(atomic_load(&violations), 0);
    CU_ASSERT_EQUAL(admit(newest), ZKLOCK_OK);
}

static void thread_inside_shuts_others_out_until_their_limit(void)
{
    CU_ASSERT_EQUAL_FATAL(zklock_fence_enter(fence, 1, 0), ZKLOCK_OK);
    CU_ASSERT_EQUAL(zklock_fence_enter(fence, 2, 0), ZKLOCK_TIMEOUT);
    CU_ASSERT_EQUAL(zklock_fence_enter(fence, 2, 20), ZKLOCK_TIMEOUT);
    zklock_fence_leave(fence);
    CU_ASSERT_EQUAL(admit(2), ZKLOCK_OK);
}

static void *enter_and_leave(void *unused)
{
    (void)unused;
    return zklock_fence_admit(fence, 2, -1) == ZKLOCK_OK ? &fence : NULL;
}

/* Whether or not it waits already. */
static void thread_that_is_cancelled_while_it_waits_returns_first(void)
{
    pthread_t thread;
    void *result = NULL;

    CU_ASSERT_EQUAL_FATAL(zklock_fence_enter(fence, 1, 0), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, enter_and_leave, NULL), 0);
    pthread_cancel(thread);
    zklock_fence_leave(fence);
    pthread_join(thread, &result);
    CU_ASSERT_PTR_EQUAL(result, &fence);
    CU_ASSERT_EQUAL(admit(3), ZKLOCK_OK);
}

/* Which has the open file, too, and with it the lock. */
static void fence_that_is_closed_inside_is_left_whatever_children_live(void)
{
    zklock_fence *other = NULL;

    CU_ASSERT_EQUAL_FATAL(zklock_fence_open(file, &other), ZKLOCK_OK);
    CU_ASSERT_EQUAL_FATAL(zklock_fence_enter(fence, 1, 0), ZKLOCK_OK);
    pid_t child = fork();
    CU_ASSERT_TRUE_FATAL(child >= 0);
    if (child == 0) {
        pause();
        _exit(0);
    }
    CU_ASSERT_EQUAL(zklock_fence_enter(other, 2, 0), ZKLOCK_TIMEOUT);
    zklock_fence_close(fence);
    fence = NULL;
    CU_ASSERT_EQUAL(zklock_fence_enter(other, 2, 0), ZKLOCK_OK);
    zklock_fence_close(other);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

#define TEST(test) SUITE_TEST_WITH(test, set_up, tear_down)

static const struct suite_test tests[] = {
    TEST(older_tokens_are_refused_and_equal_ones_let_in),
    TEST(file_remembers),
    TEST(objects_on_one_file_know_of_each_other),
    TEST(torn_record_leaves_the_token_before_it),
    TEST(file_whose_making_was_cut_short_is_made_anew),
    TEST(file_of_somebody_else_is_left_alone),
    TEST(token_that_cannot_be_written_down_is_not_let_in),
    TEST(process_inside_shuts_others_out_until_it_dies),
    TEST(threads_come_one_by_one_and_never_back),
    TEST(thread_inside_shuts_others_out_until_their_limit),
    TEST(thread_that_is_cancelled_while_it_waits_returns_first),
    TEST(fence_that_is_closed_inside_is_left_whatever_children_live),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "fence", tests);
}
