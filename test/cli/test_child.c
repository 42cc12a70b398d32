/* The supervision of a job, without any lock: what the command inherits, and who belongs to it. */
#include "child.h"
#include "inherit.h"
#include "job.h"
#include "processes.h"
#include "support/directory.h"
#include "support/eventually.h"
#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, TEXT_SIZE = 65536 };

static struct job job;
static char *directory;
static char output_path[4096];
static char text[TEXT_SIZE];

static void set_up(void)
{
    directory = directory_make("zklock-child");
    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
    snprintf(output_path, sizeof(output_path), "%s/output", directory);
    setenv("OUTPUT", output_path, 1);
    job_init(&job);
}

static bool is_over(void *context)
{
    (void)context;
    job_reap(&job);
    return job_is_gone(&job);
}

static void tear_down(void)
{
    job_signal_all(&job, SIGKILL);
    eventually(is_over, NULL, PATIENCE_MS);
    job_clear(&job);
    directory_remove(directory);
    free(directory);
}

static void start(char *const argv[])
{
    const struct child_plan plan = {.argv = argv, .environment = environ, .terminal_fd = -1, .output_fd = -1};

    CU_ASSERT_EQUAL_FATAL(job_start(&job, &plan), 0);
}

static void start_shell(char *script)
{
    char *argv[] = {(char *)"sh", (char *)"-c", script, NULL};

    start(argv);
}

static bool has_ended(void *context)
{
    (void)context;
    job_reap(&job);
    return !job.has_leader;
}

static int end(void)
{
    CU_ASSERT_TRUE_FATAL(eventually(has_ended, NULL, PATIENCE_MS));
    return job_exit_status(&job);
}

static const char *output(void)
{
    FILE *file = fopen(output_path, "re");
    size_t length = file ? fread(text, 1, TEXT_SIZE - 1, file) : 0;

    text[length] = '\0';
    if (file)
        fclose(file);
    return text;
}

static bool says(void *context)
{
    return strstr(output(), context) != NULL;
}

static bool wait_output(const char *expected)
{
    return eventually(says, (void *)(intptr_t)expected, PATIENCE_MS);
}

static void status_is_passed_on(void)
{
    start_shell((char *)"exit 37");
    CU_ASSERT_EQUAL(end(), 37);
    start_shell((char *)"kill -9 $$");
    CU_ASSERT_EQUAL(end(), 128 + SIGKILL);
    start_shell((char *)"exit 0");
    CU_ASSERT_EQUAL(end(), 0);
}

static void exec_that_fails_tells_why(void)
{
    char *missing[] = {(char *)"/no/such/program", NULL};
    char *not_executable[] = {(char *)"/etc/passwd", NULL};

    start(missing);
    end();
    CU_ASSERT_EQUAL(job.exec_error, ENOENT);
    start(not_executable);
    end();
    CU_ASSERT_EQUAL(job.exec_error, EACCES);
    start_shell((char *)"exit 127");
    CU_ASSERT_EQUAL(end(), 127);
    CU_ASSERT_EQUAL(job.exec_error, 0);
}

static void descriptor_opened_later_does_not_reach_the_command(void)
{
    int ours = dup(STDERR_FILENO);
    char script[128];

    CU_ASSERT_TRUE_FATAL(ours >= 0);
    snprintf(script, sizeof(script), "test ! -e /proc/self/fd/%d", ours);
    start_shell(script);
    CU_ASSERT_EQUAL(end(), 0);
    CU_ASSERT_EQUAL(fcntl(ours, F_GETFD), 0);
    close(ours);
}

static void mask_and_dispositions_are_the_callers(void)
{
    sigset_t all;
    sigset_t before;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    start_shell((char *)"grep -E '^Sig(Blk|Ign)' /proc/self/status > $OUTPUT");
    sigprocmask(SIG_SETMASK, &before, NULL);
    CU_ASSERT_EQUAL(end(), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(output(), "SigBlk:\t0000000000000000"));
    CU_ASSERT_PTR_NOT_NULL(strstr(output(), "SigIgn:\t0000000000000000"));
}

static void group_gets_a_signal_once(void)
{
    start_shell((char *)"trap 'echo usr1 >> $OUTPUT' USR1; trap 'exit 3' TERM; echo ready >> $OUTPUT;"
                        " while :; do sleep 0.05; done");
    CU_ASSERT_TRUE(wait_output("ready\n"));
    job_signal_group(&job, SIGUSR1);
    CU_ASSERT_TRUE(wait_output("usr1\n"));
    job_signal_group(&job, SIGTERM);
    CU_ASSERT_EQUAL(end(), 3);
    CU_ASSERT_STRING_EQUAL(output(), "ready\nusr1\n");
}

/* A daemon: own session, parent gone. */
static char daemon_script[] = "setsid sh -c 'echo daemon >> $OUTPUT; sleep 300' & sleep 0.01; exit 0";

static bool has_one_member(void *context)
{
    (void)context;
    job_reap(&job);
    return job_count(&job) >= 1;
}

static void member_that_lost_its_parent_is_found_and_killed(void)
{
    start_shell(daemon_script);
    CU_ASSERT_TRUE(wait_output("daemon\n"));
    CU_ASSERT_EQUAL(end(), 0);
    CU_ASSERT_TRUE(eventually(has_one_member, NULL, PATIENCE_MS));
    CU_ASSERT_TRUE(job_signal_all(&job, SIGKILL) >= 1);
    CU_ASSERT_TRUE(eventually(is_over, NULL, PATIENCE_MS));
}

static void member_that_is_about_to_end_is_given_the_time(void)
{
    start_shell((char *)"sleep 0.05 & exit 0");
    CU_ASSERT_EQUAL(end(), 0);
    CU_ASSERT_EQUAL(job_settle(&job, PATIENCE_MS), 0);
    start_shell((char *)"sleep 300 & exit 0");
    CU_ASSERT_EQUAL(end(), 0);
    CU_ASSERT_EQUAL(job_settle(&job, 20), 1);
}

static bool is_killed_out(void *context)
{
    (void)context;
    job_reap(&job);
    job_signal_all(&job, SIGKILL);
    return job_is_gone(&job);
}

static void job_that_keeps_forking_is_killed_out(void)
{
    start_shell((char *)"f() { (setsid sh -c 'sleep 0.02' & ); }; echo ready >> $OUTPUT;"
                        " while :; do f; (while :; do f; sleep 0.01; done) & sleep 0.02; done");
    CU_ASSERT_TRUE(wait_output("ready\n"));
    CU_ASSERT_TRUE(eventually(is_killed_out, NULL, PATIENCE_MS));
    CU_ASSERT_EQUAL(job_count(&job), 0);
}

static void child_from_before_is_no_member(void)
{
    pid_t stranger = fork();

    if (stranger == 0) {
        pause();
        _exit(0);
    }
    job_clear(&job);
    job_init(&job);
    start_shell((char *)"exit 0");
    end();
    CU_ASSERT_EQUAL(job_count(&job), 0);
    job_signal_all(&job, SIGKILL);
    CU_ASSERT_EQUAL(waitpid(stranger, NULL, WNOHANG), 0);
    kill(stranger, SIGKILL);
    waitpid(stranger, NULL, 0);
}

static void name_with_parentheses_does_not_confuse(void)
{
    char link_path[4200];
    char *argv[] = {link_path, (char *)"300", NULL};
    struct process_list list;

    snprintf(link_path, sizeof(link_path), "%s/a) R 1 1 (b", directory);
    CU_ASSERT_EQUAL_FATAL(symlink("/bin/sleep", link_path), 0);
    start(argv);
    CU_ASSERT_TRUE(eventually(has_one_member, NULL, PATIENCE_MS));
    CU_ASSERT_TRUE_FATAL(processes_below(getpid(), &job.strangers, &list));
    CU_ASSERT_EQUAL(list.count, 1);
    CU_ASSERT_EQUAL(list.items[0].pid, job.child.pid);
    CU_ASSERT_EQUAL(list.items[0].parent, getpid());
    process_list_clear(&list);
}

static bool is_stopped(void *context)
{
    (void)context;
    job_reap(&job);
    return job.stop_signal != 0;
}

static bool is_continued(void *context)
{
    return !is_stopped(context);
}

static void stop_and_continuation_are_noticed(void)
{
    start_shell((char *)"while :; do sleep 0.05; done");
    job_signal_group(&job, SIGTSTP);
    CU_ASSERT_TRUE(eventually(is_stopped, NULL, PATIENCE_MS));
    CU_ASSERT_EQUAL(job.stop_signal, SIGTSTP);
    job_signal_group(&job, SIGCONT);
    CU_ASSERT_TRUE(eventually(is_continued, NULL, PATIENCE_MS));
}

static bool is_gone_process(void *context)
{
    return kill(*(pid_t *)context, 0) != 0;
}

/* A middle process starts a job and is killed: the job's command must not outlive it. */
static void command_dies_with_its_supervisor(void)
{
    pid_t middle = fork();
    pid_t command = 0;

    if (middle == 0) {
        start_shell((char *)"echo $$ > $OUTPUT.part; mv $OUTPUT.part $OUTPUT; exec sleep 300");
        pause();
        _exit(0);
    }
    CU_ASSERT_TRUE(wait_output("\n"));
    command = (pid_t)atoi(output());
    CU_ASSERT_TRUE_FATAL(command > 1);
    kill(middle, SIGKILL);
    waitpid(middle, NULL, 0);
    /* The orphan comes to us, its sub-reaper. */
    waitpid(command, NULL, 0);
    CU_ASSERT_TRUE(eventually(is_gone_process, &command, PATIENCE_MS));
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(status_is_passed_on, set_up, tear_down),
    SUITE_TEST_WITH(exec_that_fails_tells_why, set_up, tear_down),
    SUITE_TEST_WITH(descriptor_opened_later_does_not_reach_the_command, set_up, tear_down),
    SUITE_TEST_WITH(mask_and_dispositions_are_the_callers, set_up, tear_down),
    SUITE_TEST_WITH(group_gets_a_signal_once, set_up, tear_down),
    SUITE_TEST_WITH(member_that_lost_its_parent_is_found_and_killed, set_up, tear_down),
    SUITE_TEST_WITH(member_that_is_about_to_end_is_given_the_time, set_up, tear_down),
    SUITE_TEST_WITH(job_that_keeps_forking_is_killed_out, set_up, tear_down),
    SUITE_TEST_WITH(child_from_before_is_no_member, set_up, tear_down),
    SUITE_TEST_WITH(name_with_parentheses_does_not_confuse, set_up, tear_down),
    SUITE_TEST_WITH(stop_and_continuation_are_noticed, set_up, tear_down),
    SUITE_TEST_WITH(command_dies_with_its_supervisor, set_up, tear_down),
    SUITE_END
};

int main(int argc, char **argv)
{
    /* ctest and make ignore some signals; this program's caller ignores none. */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (!inherit_record())
        return 1;
    return suite_main(argc, argv, "child", tests);
}
