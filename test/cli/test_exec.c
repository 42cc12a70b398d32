/* What the command gets and gives back: arguments, streams, descriptors, environment, status. */
#include "cli_stage.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int status_of(const char *script)
{
    return stage_end(stage_start("exec", LOCK, "--", "sh", "-c", script, NULL));
}

static void arguments_arrive_byte_for_byte(void)
{
    struct process *process = stage_start("exec", LOCK, "--", "printf", "[%s]", "a b", "", "$HOME", "*", "-v",
                                          "--help", "--", "it's", "\xff\n", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "[a b][][$HOME][*][-v][--help][--][it's][\xff\n]");
    CU_ASSERT_STRING_EQUAL(stage_error(process), "");
}

static void options_may_stand_behind_the_path(void)
{
    struct process *process =
        stage_start("exec", LOCK, "-w", "20", "--label", "x", "--", "echo", "done", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "done\n");
}

static void ten_megabytes_pass_through(void)
{
    enum { SIZE = 10000000 };
    const char *const arguments[] = {"exec", LOCK, "--", "cat", NULL};
    char *input = malloc(SIZE);
    struct process_options options = {.arguments = arguments, .input = input, .input_length = SIZE};
    struct process *process;
    size_t length;

    CU_ASSERT_PTR_NOT_NULL_FATAL(input);
    for (size_t i = 0; i < SIZE; i++)
        input[i] = (char)(i * 2654435761u >> 13);
    process = stage_start_with(&options);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    process_output(process, &length);
    CU_ASSERT_EQUAL_FATAL(length, SIZE);
    CU_ASSERT_EQUAL(memcmp(process_output(process, NULL), input, SIZE), 0);
    free(input);
}

/* Reads one line of what is left for others: zklock itself must not have touched it. */
static void standard_input_is_left_alone(void)
{
    const char *const arguments[] = {"exec", LOCK, "--", "sh", "-c", "read line; echo \"$line\"; cat", NULL};
    struct process_options options = {.arguments = arguments, .input = "first\nsecond\n", .input_length = 13};
    struct process *process = stage_start_with(&options);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "first\nsecond\n");
}

/* ls itself opens the directory: one number more than it was given. */
static void command_has_only_the_callers_descriptors(void)
{
    struct process *process = stage_start("exec", LOCK, "--", "sh", "-c", "cd /proc/self/fd; echo *", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "0 1 2 3\n");
}

static void descriptor_of_the_caller_arrives_under_its_number(void)
{
    const char *const arguments[] = {"exec", LOCK, "--", "sh", "-c", "cat /proc/self/fd/57", NULL};
    struct process_options options = {.arguments = arguments, .kept = {57}};
    int ends[2];
    struct process *process;

    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL_FATAL(dup3(ends[0], 57, O_CLOEXEC), 57);
    process = stage_start_with(&options);
    CU_ASSERT_EQUAL(write(ends[1], "passed\n", 7), 7);
    close(ends[1]);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "passed\n");
    close(ends[0]);
    close(57);
}

static void close_standard_streams(void *context)
{
    (void)context;
    close(0);
    close(2);
}

/* No socket of ours may become the command's standard error. */
static void closed_standard_streams_stay_closed(void)
{
    const char *const arguments[] = {
        "exec", LOCK, "--",
        "sh",   "-c", "test -e /proc/$$/fd/0 || echo no 0; test -e /proc/$$/fd/2 || echo no 2",
        NULL};
    struct process_options options = {.arguments = arguments, .before_exec = close_standard_streams};
    struct process *process = stage_start_with(&options);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "no 0\nno 2\n");
}

static void set_odd_signals(void *context)
{
    sigset_t set;

    (void)context;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_SETMASK, &set, NULL);
    signal(SIGCHLD, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_DFL);
}

static void mask_and_dispositions_are_the_callers(void)
{
    const char *const arguments[] = {"exec", LOCK, "--", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status",
                                     NULL};
    struct process_options options = {.arguments = arguments, .before_exec = set_odd_signals};
    struct process *process = stage_start_with(&options);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "SigBlk:\t0000000000000800"));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "SigIgn:\t0000000000010001"));
}

static void status_is_the_commands_own(void)
{
    CU_ASSERT_EQUAL(status_of("exit 0"), 0);
    CU_ASSERT_EQUAL(status_of("exit 1"), 1);
    CU_ASSERT_EQUAL(status_of("exit 2"), 2);
    CU_ASSERT_EQUAL(status_of("exit 125"), 125);
    CU_ASSERT_EQUAL(status_of("exit 126"), 126);
    CU_ASSERT_EQUAL(status_of("exit 127"), 127);
    CU_ASSERT_EQUAL(status_of("exit 255"), 255);
}

static void death_by_signal_is_128_and_its_number(void)
{
    CU_ASSERT_EQUAL(status_of("kill -KILL $$"), 137);
    CU_ASSERT_EQUAL(status_of("ulimit -c 0; kill -SEGV $$"), 139);
    CU_ASSERT_EQUAL(status_of("kill -TERM $$"), 143);
}

static void command_that_cannot_be_executed_is_told_apart(void)
{
    struct process *missing = stage_start("exec", LOCK, "--", "no-such-program-here", NULL);
    struct process *refused;

    CU_ASSERT_EQUAL(stage_end(missing), 127);
    CU_ASSERT_STRING_EQUAL(stage_error(missing),
                           "zklock: cannot execute 'no-such-program-here': No such file or directory\n");
    refused = stage_start("exec", LOCK, "--", "/etc/passwd", NULL);
    CU_ASSERT_EQUAL(stage_end(refused), 126);
    CU_ASSERT_STRING_EQUAL(stage_error(refused), "zklock: cannot execute '/etc/passwd': Permission denied\n");
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
}

static void environment_tells_of_the_lock(void)
{
    struct process *process = stage_start(
        "exec", "-T", "7", LOCK, "--", "sh", "-c",
        "echo $ZKLOCK_PATH $ZKLOCK_SESSION_TIMEOUT_MS; echo $ZKLOCK_TOKEN; echo $ZKLOCK_CONTENDER; sleep 300",
        NULL);
    char expected[OBSERVER_PATH_SIZE + 128];
    char name[OBSERVER_PATH_SIZE];
    char path[2 * OBSERVER_PATH_SIZE];
    struct observed_node node;

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "-lock-", PATIENCE_MS));
    observer_front(stage_observer, LOCK, name);
    snprintf(path, sizeof(path), "%s/%s", LOCK, name);
    CU_ASSERT_EQUAL_FATAL(observer_look(stage_observer, path, &node), ZOK);
    snprintf(expected, sizeof(expected), LOCK " 7000\n%lld\n%s\n", (long long)node.czxid, name);
    CU_ASSERT_TRUE(process_wait_output(process, expected, PATIENCE_MS));
    observed_node_clear(&node);
}

static void rest_of_the_environment_is_the_callers(void)
{
    const char *const arguments[] = {"exec", LOCK, "--", "sh", "-c", "env | grep -v ^ZKLOCK_ | sort", NULL};
    const char *const bare[] = {"sh", "-c", "env | grep -v ^ZKLOCK_ | sort", NULL};
    struct process_options options = {.arguments = arguments};
    struct process_options bare_options = {.arguments = bare};
    struct process *process = stage_start_with(&options);
    struct process *without = process_start(&bare_options);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_TRUE(process_wait(without, PATIENCE_MS));
    CU_ASSERT_STRING_EQUAL(stage_output(process), stage_output(without));
    process_free(without);
}

static void nested_command_sees_the_inner_lock(void)
{
    struct process *process = stage_start("exec", LOCK, "--", ZKLOCK_COMMAND, "exec", "/locks/inner", "--",
                                          "sh", "-c", "echo $ZKLOCK_PATH; env | grep -c ^ZKLOCK_TOKEN", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "/locks/inner\n1\n");
}

static void nested_command_on_one_path_is_warned_and_keeps_its_limit(void)
{
    struct process *process =
        stage_start("exec", LOCK, "--", ZKLOCK_COMMAND, "exec", "-w", "2", LOCK, "--", "echo", "never", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "it waits for itself"));
}

static void lock_is_free_when_the_command_has_ended(void)
{
    CU_ASSERT_EQUAL(status_of("exit 0"), 0);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
}

static void background_process_is_left_alone_with_one_warning(void)
{
    const char *file = stage_file("alive");
    char script[8192];
    struct process *process;

    snprintf(script, sizeof(script), "(sleep 1; echo alive > %s) & exit 0", file);
    process = stage_start("exec", LOCK, "--", "sh", "-c", script, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "running in the background, without the lock"));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
    CU_ASSERT_TRUE(stage_wait_text(file, "alive", PATIENCE_MS));
}

static void background_processes_are_ended_on_request(void)
{
    const char *file = stage_file("pid");
    char script[8192];
    struct process *process;
    int first = 0;
    int second = 0;

    snprintf(script, sizeof(script),
             "sleep 300 & echo $!; setsid sh -c 'trap \"\" TERM; echo $$ > %s; exec sleep 300' & "
             "while [ ! -s %s ]; do sleep 0.02; done; exit 4", file, file);
    process = stage_start("exec", "--kill-leftovers", LOCK, "--", "sh", "-c", script, NULL);
    CU_ASSERT_EQUAL(stage_end(process), 4);
    CU_ASSERT_STRING_EQUAL(stage_error(process), "");
    first = atoi(stage_output(process));
    second = atoi(stage_read(file));
    CU_ASSERT_TRUE_FATAL(first > 1 && second > 1);
    CU_ASSERT_NOT_EQUAL(kill(first, 0), 0);
    CU_ASSERT_NOT_EQUAL(kill(second, 0), 0);
}

static void lock_is_kept_for_the_least_time_asked(void)
{
    struct process *process = stage_start("exec", "--min-hold", "300", LOCK, "--", "echo", "done", NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "done\n", PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-n", LOCK, "--", "true", NULL)), 1);
    process_signal(process, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
}

static void verbose_tells_the_story_on_standard_error(void)
{
    struct process *process = stage_start("exec", "-v", LOCK, "--", "echo", "done", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "done\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "zklock: +0."));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "token"));
}

static void label_and_command_name_stand_in_the_payload(void)
{
    struct process *named = stage_hold("night \"run\"");
    struct observed_list list;
    struct process *other;

    CU_ASSERT_EQUAL_FATAL(observer_list(stage_observer, LOCK, &list), ZOK);
    CU_ASSERT_EQUAL_FATAL(list.count, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(list.nodes[0].data, "\"label\":\"night \\u0022run\\u0022\""));
    observed_list_clear(&list);
    stage_let_go(named);
    CU_ASSERT_EQUAL(stage_end(named), 143);
    other = stage_start("exec", LOCK, "--", "/bin/sleep", "300", NULL);
    CU_ASSERT_TRUE(observer_wait_front_other_than(stage_observer, LOCK, "", PATIENCE_MS));
    CU_ASSERT_EQUAL_FATAL(observer_list(stage_observer, LOCK, &list), ZOK);
    CU_ASSERT_EQUAL_FATAL(list.count, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(list.nodes[0].data, "\"label\":\"sleep\""));
    CU_ASSERT_PTR_NULL(strstr(list.nodes[0].data, "300"));
    observed_list_clear(&list);
    stage_let_go(other);
}

static void style_of_kazoo_names_the_contender(void)
{
    struct process *process = stage_start("exec", "--style", "kazoo", LOCK, "--", "sh", "-c",
                                          "echo $ZKLOCK_CONTENDER", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "__lock__00000"));
}

#define ON_STAGE(test) SUITE_TEST_WITH(test, stage_set_up, stage_tear_down)

static const struct suite_test tests[] = {
    ON_STAGE(arguments_arrive_byte_for_byte),
    ON_STAGE(options_may_stand_behind_the_path),
    ON_STAGE(ten_megabytes_pass_through),
    ON_STAGE(standard_input_is_left_alone),
    ON_STAGE(command_has_only_the_callers_descriptors),
    ON_STAGE(descriptor_of_the_caller_arrives_under_its_number),
    ON_STAGE(closed_standard_streams_stay_closed),
    ON_STAGE(mask_and_dispositions_are_the_callers),
    ON_STAGE(status_is_the_commands_own),
    ON_STAGE(death_by_signal_is_128_and_its_number),
    ON_STAGE(command_that_cannot_be_executed_is_told_apart),
    ON_STAGE(environment_tells_of_the_lock),
    ON_STAGE(rest_of_the_environment_is_the_callers),
    ON_STAGE(nested_command_sees_the_inner_lock),
    ON_STAGE(nested_command_on_one_path_is_warned_and_keeps_its_limit),
    ON_STAGE(lock_is_free_when_the_command_has_ended),
    ON_STAGE(background_process_is_left_alone_with_one_warning),
    ON_STAGE(background_processes_are_ended_on_request),
    ON_STAGE(lock_is_kept_for_the_least_time_asked),
    ON_STAGE(verbose_tells_the_story_on_standard_error),
    ON_STAGE(label_and_command_name_stand_in_the_payload),
    ON_STAGE(style_of_kazoo_names_the_contender),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec", tests);
}
