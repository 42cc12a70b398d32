/* The keeper: what becomes of the job and of the lock when zklock is killed, frozen, or loses its keeper. All with a
 * session timeout so long that it cannot be what passes the lock on. */
#include "cli_stage.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONG_TIMEOUT "60"
/* Long enough for a holder on a busy machine, short enough to wait for its end. */
#define MIDDLE_TIMEOUT "8"

/* Three generations in the critical section: a shell, its child, and a daemon that has left session and group. */
static const char three_generations[] =
    "trap '' TERM HUP; (setsid sh -c \"trap '' TERM HUP; $CRITICAL $SECTIONS.daemon 300000 5\" &); "
    "sh -c '$CRITICAL $SECTIONS.child 300000 5; :' & exec $CRITICAL $SECTIONS 300000 5";

static const char *sections;

static void start(void)
{
    stage_set_up();
    sections = stage_file("sections");
    setenv("SECTIONS", sections, 1);
    setenv("CRITICAL", critical_program(), 1);
}

static const char *file_of(const char *generation)
{
    static char path[4096];

    snprintf(path, sizeof(path), "%s%s", sections, generation);
    return path;
}

static struct process *start_job(const char *timeout, const char *guard)
{
    struct process *process =
        stage_start("exec", "-T", timeout, guard, LOCK, "--", "sh", "-c", three_generations, NULL);

    CU_ASSERT_TRUE_FATAL(critical_wait_sections(file_of(""), 1, PATIENCE_MS));
    CU_ASSERT_TRUE_FATAL(critical_wait_sections(file_of(".child"), 1, PATIENCE_MS));
    CU_ASSERT_TRUE_FATAL(critical_wait_sections(file_of(".daemon"), 1, PATIENCE_MS));
    return process;
}

/* All three files behind one another in the first, so that the judge sees every generation as one more section. */
static int count_overlaps_with(int64_t next_start_ns)
{
    static const char *const generations[] = {"", ".child", ".daemon"};
    int overlaps = 0;

    for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
        struct critical_record record;

        CU_ASSERT_TRUE_FATAL(critical_read(file_of(generations[i]), &record));
        for (int j = 0; j < record.count; j++)
            overlaps += record.sections[j].end_ns > next_start_ns;
        critical_record_clear(&record);
    }
    return overlaps;
}

/* Holds as soon as it returns. */
static struct process *start_sleeper(const char *timeout, const char *guard)
{
    struct process *process =
        stage_start("exec", "-T", timeout, guard, LOCK, "--", "sh", "-c", "echo ready; exec sleep 300", NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "ready\n", PATIENCE_MS));
    return process;
}

static struct process *queue_next(void)
{
    struct process *next = stage_start("exec", "-T", LONG_TIMEOUT, LOCK, "--", critical_program(),
                                       file_of(".next"), "100", "5", NULL);

    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    return next;
}

/* The next one has had the lock, and nobody of the job was there any more when it began. */
static void expect_no_overlap(struct process *next)
{
    struct critical_record record;

    CU_ASSERT_EQUAL(stage_end(next), 0);
    CU_ASSERT_TRUE_FATAL(critical_read(file_of(".next"), &record));
    CU_ASSERT_EQUAL_FATAL(record.count, 1);
    CU_ASSERT_EQUAL(count_overlaps_with(record.sections[0].start_ns), 0);
    critical_record_clear(&record);
}

/* The keeper of this zklock: its only child. 0: none. */
static pid_t keeper_of(struct process *process)
{
    char path[64];
    int pid = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)process_pid(process), (int)process_pid(process));
    file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%d", &pid) != 1)
            pid = 0;
        fclose(file);
    }
    return pid;
}

static void lock_of_a_killed_zklock_passes_on_when_all_its_job_is_gone(void)
{
    struct process *holder = start_job(LONG_TIMEOUT, "--guard");
    struct process *next = queue_next();

    process_signal(holder, SIGKILL);
    expect_no_overlap(next);
}

static void keeper_is_there_unasked(void)
{
    /* An option that changes nothing: none about the keeper. */
    struct process *holder = start_sleeper(LONG_TIMEOUT, "--min-hold=0");
    struct process *next = queue_next();

    process_signal(holder, SIGKILL);
    CU_ASSERT_EQUAL(stage_end(next), 0);
}

static void place_of_a_killed_waiter_is_given_up(void)
{
    struct process *waiter;

    stage_hold("x");
    waiter = stage_start("exec", "-T", LONG_TIMEOUT, LOCK, "--", "true", NULL);
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    process_signal(waiter, SIGKILL);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 1, PATIENCE_MS));
}

/* C30: zklock alone is frozen. Without a keeper its command would run on into the next one's time. */
static void job_of_a_frozen_zklock_is_gone_before_the_next_begins(void)
{
    struct process *holder = start_job(MIDDLE_TIMEOUT, "--guard");
    struct process *next = queue_next();

    process_signal(holder, SIGSTOP);
    expect_no_overlap(next);
    process_signal(holder, SIGCONT);
    CU_ASSERT_EQUAL(stage_end(holder), 79);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(holder), "its keeper had to kill the command before the lease ended"));
}

static void frozen_zklock_that_only_warns_of_a_loss_keeps_its_job(void)
{
    struct process *holder = stage_start("exec", "-T", "2", "--on-loss", "warn", LOCK, "--", critical_program(),
                                         file_of(""), "300000", "5", NULL);
    struct process *next;

    CU_ASSERT_TRUE_FATAL(critical_wait_sections(file_of(""), 1, PATIENCE_MS));
    next = queue_next();
    process_signal(holder, SIGSTOP);
    CU_ASSERT_EQUAL(stage_end(next), 0);
    CU_ASSERT_TRUE(eventually(stage_has_more,
                              &(struct stage_growth){file_of(""), stage_lines(stage_read(file_of("")))}, PATIENCE_MS));
    process_signal(holder, SIGCONT);
}

static void without_a_keeper_the_session_timeout_passes_the_lock_on(void)
{
    struct process *holder = start_sleeper(MIDDLE_TIMEOUT, "--no-guard");
    struct process *next = queue_next();
    pid_t child = keeper_of(holder);

    CU_ASSERT_TRUE_FATAL(child > 0);
    process_signal(holder, SIGKILL);
    CU_ASSERT_TRUE(eventually(stage_is_process_gone, &child, PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_end(next), 0);
}

/* The command's end is the end of the leash: what it leaves running is left alone, even while the lock is kept. */
static void leftovers_are_left_alone_while_the_lock_is_kept(void)
{
    struct process *holder =
        stage_start("exec", "-T", "2", "--min-hold", "300", LOCK, "--", "sh", "-c",
                    "$CRITICAL $SECTIONS 300000 5 & until grep -q alive $SECTIONS; do sleep 0.02; done", NULL);
    struct critical_record record;
    int beats;
    pid_t leftover;

    CU_ASSERT_TRUE_FATAL(process_wait_error(holder, "left 1 process running", PATIENCE_MS));
    CU_ASSERT_TRUE_FATAL(critical_read(sections, &record));
    leftover = (pid_t)record.sections[0].id;
    critical_record_clear(&record);
    /* Longer than the lease was when the command ended; not even zklock's death ends it now. */
    CU_ASSERT_FALSE(eventually(stage_is_process_gone, &leftover, 3000));
    process_signal(holder, SIGKILL);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
    beats = stage_lines(stage_read(sections));
    CU_ASSERT_TRUE(eventually(stage_has_more, &(struct stage_growth){sections, beats}, PATIENCE_MS));
    kill(leftover, SIGKILL);
}

/* Stopped for longer than the lease was when it last looked, it goes on by what is true now. */
static void keeper_that_was_stopped_for_long_harms_nobody(void)
{
    struct process *holder = start_sleeper("2", "--guard");
    pid_t keeper = keeper_of(holder);

    kill(keeper, SIGSTOP);
    CU_ASSERT_FALSE(eventually(stage_is_process_gone, &keeper, 4000));
    kill(keeper, SIGCONT);
    CU_ASSERT_FALSE(process_wait(holder, 1000));
    process_signal(holder, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(holder), 143);
}

static void stopped_keeper_does_not_hold_up_the_end(void)
{
    struct process *holder = start_job(MIDDLE_TIMEOUT, "--guard");
    pid_t keeper = keeper_of(holder);

    kill(keeper, SIGSTOP);
    CU_ASSERT_TRUE(stage_delete_contender(0));
    CU_ASSERT_EQUAL(stage_end(holder), 79);
    CU_ASSERT_TRUE(stage_is_process_gone(&keeper));
}

static void command_starts_without_a_keeper_that_was_killed_while_we_waited(void)
{
    struct process *first = stage_hold("x");
    struct process *waiter = stage_start("exec", LOCK, "--", "sh", "-c", "exit 6", NULL);

    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    kill(keeper_of(waiter), SIGKILL);
    stage_let_go(first);
    CU_ASSERT_EQUAL(stage_end(waiter), 6);
}

/* A stopped keeper does not answer; what it was asked to start must not start when it goes on. */
static void command_is_not_started_by_a_keeper_that_comes_too_late(void)
{
    struct process *first = stage_hold("x");
    struct process *waiter =
        stage_start("exec", "-T", "4", "--guard", LOCK, "--", critical_program(), sections, "300000", "5", NULL);
    pid_t keeper;

    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    keeper = keeper_of(waiter);
    kill(keeper, SIGSTOP);
    stage_let_go(first);
    CU_ASSERT_EQUAL(stage_end(waiter), 71);
    CU_ASSERT_TRUE(stage_is_process_gone(&keeper));
    CU_ASSERT_STRING_EQUAL(stage_read(sections), "");
}

static void killed_keeper_takes_its_job_along_and_the_lock_is_released(void)
{
    struct process *holder = start_job(LONG_TIMEOUT, "--guard");
    struct process *next = queue_next();

    kill(keeper_of(holder), SIGKILL);
    CU_ASSERT_EQUAL(stage_end(holder), 137);
    expect_no_overlap(next);
}

static void keeper_ends_with_zklock(void)
{
    struct process *holder =
        stage_start("exec", LOCK, "--", "sh", "-c", "trap 'exit 5' USR1; echo ready; while :; do sleep 0.05; done", NULL);
    pid_t keeper;

    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "ready\n", PATIENCE_MS));
    keeper = keeper_of(holder);
    CU_ASSERT_TRUE_FATAL(keeper > 0);
    process_signal(holder, SIGUSR1);
    CU_ASSERT_EQUAL(stage_end(holder), 5);
    CU_ASSERT_TRUE(stage_is_process_gone(&keeper));
}

/* Of everything that is open in the keeper nothing is a file, and the only pipe is its own. */
static void keeper_has_no_descriptor_of_the_job(void)
{
    struct process *holder = start_sleeper(LONG_TIMEOUT, "--guard");
    char directory[64];
    char path[512];
    char target[512];
    int pipes = 0;
    DIR *opened;

    snprintf(directory, sizeof(directory), "/proc/%d/fd", (int)keeper_of(holder));
    opened = opendir(directory);
    CU_ASSERT_PTR_NOT_NULL_FATAL(opened);
    for (struct dirent *entry; (entry = readdir(opened)) != NULL;) {
        ssize_t length;

        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        length = readlink(path, target, sizeof(target) - 1);
        if (length < 0)
            continue;
        target[length] = '\0';
        pipes += strncmp(target, "pipe:", 5) == 0;
        CU_ASSERT_TRUE(target[0] != '/' || strcmp(target, "/dev/null") == 0);
    }
    closedir(opened);
    CU_ASSERT_EQUAL(pipes, 1);
}

static void keeper_is_not_found_by_the_name_of_zklock(void)
{
    struct process *holder = start_sleeper(LONG_TIMEOUT, "--guard");
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)process_pid(holder));
    CU_ASSERT_STRING_EQUAL(stage_read(path), "zklock\n");
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)keeper_of(holder));
    CU_ASSERT_STRING_EQUAL(stage_read(path), "job-keeper\n");
    /* The directory in front may be called as it likes. */
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)keeper_of(holder));
    CU_ASSERT_STRING_EQUAL(strrchr(stage_read(path), '/'), "/keeper");
}

/* Each of the two would clean up after the other. What is left is the kernel's doing, and the session timeout. */
static void command_dies_with_zklock_and_keeper(void)
{
    struct process *holder = stage_start("exec", "-T", MIDDLE_TIMEOUT, LOCK, "--", "sh", "-c",
                                         "echo $$ > $SECTIONS.new; mv $SECTIONS.new $SECTIONS; exec sleep 300", NULL);
    struct process *next;
    pid_t keeper;
    pid_t command;

    CU_ASSERT_TRUE_FATAL(stage_wait_text(sections, "\n", PATIENCE_MS));
    command = (pid_t)atoi(stage_read(sections));
    keeper = keeper_of(holder);
    next = queue_next();
    /* Stopped first, so that neither has time to see the other's end. */
    kill(keeper, SIGSTOP);
    process_signal(holder, SIGKILL);
    kill(keeper, SIGKILL);
    CU_ASSERT_TRUE(eventually(stage_is_process_gone, &command, PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_end(next), 0);
}

static void guard_and_no_guard_contradict_each_other(void)
{
    struct process *process = stage_start("exec", "--guard", "--no-guard", LOCK, "--", "true", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 64);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "contradict each other"));
}

#define TEST(test) SUITE_TEST_WITH(test, start, stage_tear_down)

static const struct suite_test tests[] = {
    TEST(lock_of_a_killed_zklock_passes_on_when_all_its_job_is_gone),
    TEST(keeper_is_there_unasked),
    TEST(place_of_a_killed_waiter_is_given_up),
    TEST(job_of_a_frozen_zklock_is_gone_before_the_next_begins),
    TEST(frozen_zklock_that_only_warns_of_a_loss_keeps_its_job),
    TEST(without_a_keeper_the_session_timeout_passes_the_lock_on),
    TEST(leftovers_are_left_alone_while_the_lock_is_kept),
    TEST(keeper_that_was_stopped_for_long_harms_nobody),
    TEST(stopped_keeper_does_not_hold_up_the_end),
    TEST(command_starts_without_a_keeper_that_was_killed_while_we_waited),
    TEST(command_is_not_started_by_a_keeper_that_comes_too_late),
    TEST(killed_keeper_takes_its_job_along_and_the_lock_is_released),
    TEST(keeper_ends_with_zklock),
    TEST(keeper_has_no_descriptor_of_the_job),
    TEST(keeper_is_not_found_by_the_name_of_zklock),
    TEST(command_dies_with_zklock_and_keeper),
    TEST(guard_and_no_guard_contradict_each_other),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_guard", tests);
}
