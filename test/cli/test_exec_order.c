/* Who comes when: junk beside contenders (C07), numbers at the end of their range (C08). */
#include "cli_stage.h"

#include "server/counter_log.h"

#include <stdio.h>
#include <string.h>

#define LIMIT "/limit"

enum { CROWD = 6 };

static void put(const char *name, int flags)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", LOCK, name);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, path, "", flags, NULL), ZOK);
}

/* Names that sort before every contender's, and contenders whose prefixes sort opposite to their numbers. */
static void order_is_by_number_and_junk_is_left_alone(void)
{
    static const char *const junk[] = {"x", "config", "lock-", "lock-12", "a-b-c", "0000000000"};
    struct process *process;

    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, "/locks", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL_FATAL(observer_create(stage_observer, LOCK, "", 0, NULL), ZOK);
    for (int i = 0; i < 6; i++)
        put(junk[i], 0);
    /* Before ours by its prefix, behind it by its number: it must not hold us up. */
    put("_a_00000000-0000-0000-0000-000000000000-lock-2000000000", ZOO_EPHEMERAL);
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-n", LOCK, "--", "true", NULL)), 0);
    /* Behind ours by its prefix, before it by its number. */
    put("z-lock-0000000000", ZOO_EPHEMERAL);
    process = stage_start("exec", "-n", LOCK, "--", "echo", "never", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    CU_ASSERT_EQUAL(observer_delete(stage_observer, LOCK "/z-lock-0000000000"), ZOK);
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-n", LOCK, "--", "true", NULL)), 0);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 7);
}

static void set_up_at_the_limit(void)
{
    stage_server = zk_server_start(NULL);
    zk_server_stop(stage_server);
    counter_log_write(zk_server_data_directory(stage_server), LIMIT, INT32_MAX - 2);
    zk_server_restart(stage_server);
    stage_observer = observer_open(zk_server_address(stage_server), 30000);
}

/* From the third one on all have the same number. */
static void commands_at_the_end_of_the_numbers_run_one_by_one(void)
{
    const char *file = stage_file("sections");
    struct process *processes[CROWD];
    struct process *holder;
    struct critical_verdict verdict;

    holder = stage_start("exec", "-T", "30", LIMIT, "--", "sh", "-c", "echo held; exec sleep 300", NULL);
    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "held\n", PATIENCE_MS));
    for (int i = 0; i < CROWD; i++) {
        processes[i] = stage_start("exec", "-T", "30", LIMIT, "--", critical_program(), file, "20", NULL);
        CU_ASSERT_TRUE(observer_wait_count(stage_observer, LIMIT, 2 + i, PATIENCE_MS));
    }
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(holder), 143);
    for (int i = 0; i < CROWD; i++)
        CU_ASSERT_EQUAL(stage_end(processes[i]), 0);
    CU_ASSERT_TRUE_FATAL(critical_judge(file, &verdict));
    /* Tokens that rise are the order of creation. */
    CU_ASSERT_STRING_EQUAL(verdict.problem, "");
    CU_ASSERT_TRUE(critical_is_clean(&verdict));
    CU_ASSERT_EQUAL(verdict.sections, CROWD);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LIMIT), 0);
}

static void doctor_warns_near_the_end_of_the_numbers_and_at_it(void)
{
    struct process *doctor = stage_start("doctor", LIMIT, NULL);

    CU_ASSERT_EQUAL(stage_end(doctor), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(doctor), "the next sequence number is 2147483645 of 2147483647"));
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(stage_end(stage_start("exec", LIMIT, "--", "true", NULL)), 0);
    doctor = stage_start("doctor", LIMIT, NULL);
    CU_ASSERT_EQUAL(stage_end(doctor), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(doctor), "the sequence numbers have reached 2147483647"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(doctor), LIMIT));
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(order_is_by_number_and_junk_is_left_alone, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(commands_at_the_end_of_the_numbers_run_one_by_one, set_up_at_the_limit, stage_tear_down),
    SUITE_TEST_WITH(doctor_warns_near_the_end_of_the_numbers_and_at_it, set_up_at_the_limit, stage_tear_down),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_order", tests);
}
