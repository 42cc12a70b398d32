/* zklock exec -p: so many at a time; and the number, by zklock permits. */
#include "cli_stage.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define LEASES LOCK "/leases"
#define GUARDS LOCK "/locks"
#define SLEEPER "sh", "-c", "echo held; exec sleep 300"

/* Runs until the test's end. */
static struct process *hold(const char *permits)
{
    struct process *process = stage_start("exec", "-p", permits, LOCK, "--", SLEEPER, NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "held\n", PATIENCE_MS));
    return process;
}

/* Waits behind `leases` - 1 that have a permit. */
static struct process *queue(const char *permits, int leases)
{
    struct process *process = stage_start("exec", "-p", permits, LOCK, "--", SLEEPER, NULL);

    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LEASES, leases, PATIENCE_MS));
    return process;
}

static void check_error(struct process *process, const char *part)
{
    if (!strstr(stage_error(process), part))
        printf("\n%s does not say '%s'\n", stage_error(process), part);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), part));
}

static void so_many_commands_run_together(void)
{
    struct process *first = hold("2");

    hold("2");
    struct process *third = queue("2", 3);
    CU_ASSERT_STRING_EQUAL(stage_output(third), "");
    process_signal(first, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(first), 143);
    CU_ASSERT_TRUE(process_wait_output(third, "held\n", PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LEASES), 2);
}

static void command_sees_its_permit(void)
{
    struct process *process =
        stage_start("exec", "--permits", "3", LOCK, "--", "sh", "-c", "echo \"$ZKLOCK_PATH $ZKLOCK_CONTENDER\"", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_EQUAL(strncmp(stage_output(process), LOCK " leases/_c_", sizeof(LOCK " leases/_c_") - 1), 0);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LEASES), 0);
    CU_ASSERT_EQUAL(observer_count(stage_observer, GUARDS), 0);
}

static void full_semaphore_is_a_conflict(void)
{
    struct process *process;

    hold("1");
    process = stage_start("exec", "-n", "-E", "9", "-p", "1", LOCK, "--", "echo", "ran", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 9);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    check_error(process, LOCK ": not acquired: ");
    process = stage_start("exec", "-w", "0.5", "-p", "1", LOCK, "--", "echo", "ran", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 1);
    check_error(process, LOCK ": not acquired within 0.5 s: ");
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LEASES, 1, PATIENCE_MS));
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, GUARDS, 0, PATIENCE_MS));
}

static void another_number_is_refused(void)
{
    struct process *process;

    hold("2");
    process = stage_start("exec", "-p", "5", LOCK, "--", "echo", "ran", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 64);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    check_error(process, "zklock: " LOCK " has a limit of 2 permits, and 5 were asked for; to change it: "
                         "zklock permits " LOCK " N\n");
    process = stage_start("exec", "-p", "0", LOCK, "--", "echo", "ran", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "ran\n");
    process = stage_start("exec", "-p", "0", "/locks/another", "--", "echo", "ran", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 64);
    check_error(process, "/locks/another has no limit yet");
}

static void number_is_shown_and_changed(void)
{
    struct process *process = stage_start("permits", LOCK, NULL);

    CU_ASSERT_EQUAL(stage_end(process), 1);
    check_error(process, "no limit is set");
    CU_ASSERT_EQUAL(stage_end(stage_start("permits", LOCK, "1", NULL)), 0);
    process = stage_start("permits", LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "1\n");
    hold("1");
    struct process *waiter = queue("1", 2);
    process = stage_start("permits", "-v", LOCK, "2", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    check_error(process, LOCK ": 2 permits from now on");
    CU_ASSERT_TRUE(process_wait_output(waiter, "held\n", PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_set(stage_observer, LOCK, "mine", 4), 0);
    process = stage_start("permits", LOCK, "3", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 64);
    check_error(process, "data that are no limit");
}

/* Whoever holds it under a lock is asked for a permit of it, or the other way round. */
static void check_refused(struct process *process, const char *part)
{
    CU_ASSERT_EQUAL(stage_end(process), 70);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    check_error(process, "contenders of styles that do not exclude each other");
    check_error(process, part);
}

static void permit_is_refused_beside_a_lock(void)
{
    static const char *const styles[] = {"curator", "curator-rw", "kazoo"};

    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        struct process *holder = stage_start("exec", "--style", styles[i], LOCK, "--", SLEEPER, NULL);
        CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "held\n", PATIENCE_MS));
        check_refused(stage_start("exec", "-n", "-p", "2", LOCK, "--", "echo", "ran", NULL), LOCK " has a lock's contenders");
        check_refused(stage_start("exec", "-p", "2", LOCK, "--", "echo", "ran", NULL), LOCK " has a lock's contenders");
        process_signal(holder, SIGTERM);
        CU_ASSERT_EQUAL(stage_end(holder), 143);
    }
    CU_ASSERT_EQUAL(observer_count(stage_observer, LEASES), 0);
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-p", "2", LOCK, "--", "true", NULL)), 0);
}

/* Its directories are in nobody's way once it is not used any more. */
static void lock_is_refused_beside_a_permit(void)
{
    struct process *holder = hold("2");

    check_refused(stage_start("exec", "-n", LOCK, "--", "echo", "ran", NULL), LOCK " is a semaphore in use");
    check_refused(stage_start("exec", LOCK, "--", "echo", "ran", NULL), LOCK " is a semaphore in use");
    check_refused(stage_start("exec", "-s", LOCK, "--", "echo", "ran", NULL), LOCK " is a semaphore in use");
    check_refused(stage_start("exec", "--style", "curator-latch", LOCK, "--", "echo", "ran", NULL), "or ask for a permit");
    process_signal(holder, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(holder), 143);
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", LOCK, "--", "true", NULL)), 0);
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-n", LOCK, "--", "true", NULL)), 0);
}

/* As Curator's clients may come to hold it. */
static void permit_and_lock_of_another_client_are_both_shown(void)
{
    struct process *process;

    hold("2");
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK "/_c_0f0f0f0f-aaaa-4bbb-8ccc-0123456789ab-lock-", "",
                                    ZOO_EPHEMERAL | ZOO_SEQUENCE, NULL), 0);
    process = stage_start("status", LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), LOCK ": 2 hold, 0 wait; 2 permits; mixed"));
    CU_ASSERT_EQUAL(stage_lines(stage_output(process)), 4);
    process = stage_start("list", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_EQUAL(stage_lines(stage_output(process)), 2);
    process = stage_start("wait", "-w", "0.3", LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 1);
    process = stage_start("doctor", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "mixed: " LOCK));
    CU_ASSERT_PTR_NULL(strstr(stage_output(process), "foreign: "));
}

/* Both are data of the path. */
static void limit_and_stamp_exclude_each_other(void)
{
    struct process *process;

    CU_ASSERT_EQUAL(stage_end(stage_start("permits", LOCK, "2", NULL)), 0);
    process = stage_start("exec", "--once-per", "5", LOCK, "--", "echo", "ran", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 64);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    check_error(process, LOCK " is a semaphore's");
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "--once-per", "5", "/locks/daily", "--", "true", NULL)), 0);
    process = stage_start("permits", "/locks/daily", "3", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 64);
    check_error(process, "the stamp of exec --once-per");
    process = stage_start("exec", "-p", "3", "/locks/daily", "--", "echo", "ran", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 64);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    check_error(process, "/locks/daily has data that are no limit of a semaphore; give another path");
}

static void lost_permit_stops_the_command(void)
{
    struct process *process = hold("2");
    char name[OBSERVER_PATH_SIZE];
    char node[2 * OBSERVER_PATH_SIZE];

    observer_front(stage_observer, LEASES, name);
    snprintf(node, sizeof(node), LEASES "/%s", name);
    CU_ASSERT_EQUAL(observer_delete(stage_observer, node), 0);
    CU_ASSERT_EQUAL(stage_end(process), 79);
}

static void killed_holder_gives_its_permit_away(void)
{
    struct process *holder = hold("1");
    struct process *waiter = queue("1", 2);

    process_signal(holder, SIGKILL);
    CU_ASSERT_TRUE(process_wait_output(waiter, "held\n", PATIENCE_MS));
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LEASES, 1, PATIENCE_MS));
}

/* What it says of the paths; who lives is another matter. */
static void check_doctor(const char *finding)
{
    static const char *const kinds[] = {"cycle: ", "mixed: ", "foreign: ", "counter: ", "payload: ", "no-limit: "};
    struct process *doctor = stage_start("doctor", NULL);

    CU_ASSERT_TRUE(process_wait(doctor, PATIENCE_MS));
    if (finding) {
        CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(doctor), finding));
        return;
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(doctor), "not checked: parents"));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        CU_ASSERT_PTR_NULL(strstr(stage_output(doctor), kinds[i]));
}

static void status_and_list_and_doctor_know_semaphores(void)
{
    struct process *process;

    hold("2");
    hold("2");
    struct process *waiter = queue("2", 3);
    process = stage_start("status", LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), LOCK ": 2 hold, 1 waits; 2 permits\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), " prmt "));
    process = stage_start("status", "--json", LOCK, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "\"permits\": 2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "\"mode\": \"permit\""));
    process = stage_start("list", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_EQUAL(stage_lines(stage_output(process)), 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), LOCK " "));
    check_doctor(NULL);
    /* Whoever waits would set it again. */
    process_signal(waiter, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(waiter), 143);
    CU_ASSERT_EQUAL(observer_set(stage_observer, LOCK, "", 0), 0);
    check_doctor("no-limit: " LOCK);
}

/* Whoever waits for one of two waits for nobody in particular. */
static void doctor_sees_no_ring_where_another_permit_will_do(void)
{
    struct process *one = stage_start("exec", "-p", "2", "/locks/a", "/locks/b", "--", SLEEPER, NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(one, "held\n", PATIENCE_MS));
    CU_ASSERT_TRUE_FATAL(process_wait_output(
        stage_start("exec", "-p", "2", "/locks/a", "/locks/b", "--", SLEEPER, NULL), "held\n", PATIENCE_MS));
    stage_start("exec", "-p", "2", "/locks/b", "--", SLEEPER, NULL);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, "/locks/b/leases", 3, PATIENCE_MS));
    check_doctor(NULL);
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(so_many_commands_run_together, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(command_sees_its_permit, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(full_semaphore_is_a_conflict, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(another_number_is_refused, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(number_is_shown_and_changed, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(permit_is_refused_beside_a_lock, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(lock_is_refused_beside_a_permit, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(permit_and_lock_of_another_client_are_both_shown, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(limit_and_stamp_exclude_each_other, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(lost_permit_stops_the_command, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(killed_holder_gives_its_permit_away, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(status_and_list_and_doctor_know_semaphores, stage_set_up, stage_tear_down),
    SUITE_TEST_WITH(doctor_sees_no_ring_where_another_permit_will_do, stage_set_up, stage_tear_down),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_permits", tests);
}
