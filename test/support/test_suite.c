/* The parts of the support that need no ZooKeeper: suite, probe, eventually. */
#include "support/eventually.h"
#include "support/probe.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct probe probe;
static bool is_set_up;

static void prepare_probe(void)
{
    probe_init(&probe);
    is_set_up = true;
}

static void clear_probe(void)
{
    if (is_set_up)
        probe_clear(&probe);
    is_set_up = false;
}

static void *note_seven(void *context)
{
    probe_note(context, 7);
    return NULL;
}

static void probe_wakes_waiter_on_another_thread(void)
{
    pthread_t thread;

    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, note_seven, &probe), 0);
    CU_ASSERT_TRUE(probe_wait_count(&probe, 1, 5000));
    CU_ASSERT_EQUAL(probe_last(&probe), 7);
    pthread_join(thread, NULL);
}

static void probe_wait_ends_at_its_deadline(void)
{
    int64_t start_ms = monotonic_ms();

    CU_ASSERT_FALSE(probe_wait_count(&probe, 1, 20));
    CU_ASSERT_FALSE(probe_wait_value(&probe, 3, 20));
    CU_ASSERT_TRUE(monotonic_ms() - start_ms >= 40);
}

static void probe_remembers_the_order_of_values(void)
{
    for (int i = 0; i < PROBE_HISTORY + 3; i++)
        probe_note(&probe, i);
    CU_ASSERT_EQUAL(probe_count(&probe), PROBE_HISTORY + 3);
    CU_ASSERT_EQUAL(probe_at(&probe, PROBE_HISTORY), PROBE_HISTORY);
    CU_ASSERT_EQUAL(probe_at(&probe, 1), 0);
    CU_ASSERT_TRUE(probe_saw(&probe, 5));
    CU_ASSERT_FALSE(probe_saw(&probe, 2));
}

static bool reaches_three(void *context)
{
    int *calls = context;

    return ++*calls >= 3;
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static void eventually_sees_a_condition_come_true(void)
{
    int calls = 0;

    CU_ASSERT_TRUE(eventually(reaches_three, &calls, 5000));
    CU_ASSERT_EQUAL(calls, 3);
    CU_ASSERT_FALSE(eventually(never, NULL, 10));
}

static void set_up_runs_before_each_test(void)
{
    CU_ASSERT_TRUE(is_set_up);
}

/* The inner program: this file's own failing suite, run in a child so that its failure is not ours. */
static void fails(void)
{
    CU_ASSERT_EQUAL(1, 2);
}

static void fails_in_set_up(void)
{
    CU_FAIL_FATAL("set-up failed");
}

static void is_never_reached(void)
{
    printf("REACHED\n");
}

static void says_torn_down(void)
{
    printf("TORN DOWN\n");
}

static const struct suite_test failing_tests[] = {
    SUITE_TEST_WITH(fails, NULL, says_torn_down),
    SUITE_TEST_WITH(is_never_reached, fails_in_set_up, says_torn_down),
    SUITE_END
};

static int run_failing_suite(const char *program, char *out_text, size_t size)
{
    char command[4096];
    size_t length;
    FILE *output;

    snprintf(command, sizeof(command), "'%s' --failing-suite", program);
    output = popen(command, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(output);
    length = fread(out_text, 1, size - 1, output);
    out_text[length] = '\0';
    return pclose(output);
}

static void failed_assertion_is_counted_and_located(void)
{
    char program[4096] = "";
    char text[8192];
    int status;

    CU_ASSERT_TRUE_FATAL(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
    status = run_failing_suite(program, text, sizeof(text));
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "test_suite.c:"));
    CU_ASSERT_PTR_NULL(strstr(text, "REACHED\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "TORN DOWN"));
}

static const struct suite_test tests[] = {
    SUITE_TEST(failed_assertion_is_counted_and_located),
    SUITE_TEST_WITH(probe_wakes_waiter_on_another_thread, prepare_probe, clear_probe),
    SUITE_TEST_WITH(probe_wait_ends_at_its_deadline, prepare_probe, clear_probe),
    SUITE_TEST_WITH(probe_remembers_the_order_of_values, prepare_probe, clear_probe),
    SUITE_TEST(eventually_sees_a_condition_come_true),
    SUITE_TEST_WITH(set_up_runs_before_each_test, prepare_probe, clear_probe),
    SUITE_END
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--failing-suite") == 0)
        return suite_main(1, argv, "failing", failing_tests);
    return suite_main(argc, argv, "suite", tests);
}
