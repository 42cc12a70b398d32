/* Wrong command lines, and the help: no server is needed for either. */
#include "cli_stage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line on standard error that contains `expected`, nothing on standard output, status 64. */
static void expect_usage_error(const char *expected, const char *const arguments[])
{
    const struct process_options options = {.arguments = arguments};
    struct process *process = stage_start_with(&options);

    CU_ASSERT_EQUAL(stage_end(process), 64);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    CU_ASSERT_EQUAL(strncmp(stage_error(process), "zklock: ", 8), 0);
    if (!strstr(stage_error(process), expected)) {
        printf("\n%s(expected: %s)\n", stage_error(process), expected);
        CU_FAIL("another message was expected");
    }
    stage_tear_down();
}

#define EXPECT(expected, ...) expect_usage_error(expected, (const char *const[]){__VA_ARGS__, NULL})

static void command_without_sense_is_refused(void)
{
    expect_usage_error("which subcommand", (const char *const[]){NULL});
    EXPECT("unknown subcommand 'exce'", "exce", "/l", "--", "true");
    EXPECT("unknown subcommand '--bogus'", "--bogus");
    EXPECT("the lock's path is missing", "status");
    EXPECT("the lock's path is missing", "wait");
    EXPECT("'/b': too many paths", "wait", "/a", "/b");
    EXPECT("'/b': too many paths", "list", "/a", "/b");
    EXPECT("path 'a': ", "doctor", "a");
    EXPECT("which contender?", "break", "/a");
    EXPECT("the lock's path is missing", "revoke");
    EXPECT("the token is missing", "verify", "/a");
    EXPECT("token '12x': character 3 ('x')", "verify", "/a", "12x");
    EXPECT("token '9223372036854775808': out of range", "verify", "/a", "9223372036854775808");
    EXPECT("--json and --watch contradict each other", "status", "--json", "--watch", "/a");
    EXPECT("'x': there are no arguments", "server", "x");
}

static void exec_needs_one_path_and_a_command(void)
{
    EXPECT("the command is missing; put it behind --", "exec", "/l");
    EXPECT("the command is missing; put it behind --", "exec", "/l", "true");
    EXPECT("the command behind -- is missing", "exec", "/l", "--");
    EXPECT("the command behind -- is missing", "exec", "/l", "--", "");
    EXPECT("the lock's path is missing", "exec", "--", "true");
    EXPECT("path '/a' was given twice", "exec", "/a", "/b", "/a", "--", "true");
    EXPECT("path '/b c': a blank", "exec", "/a", "/b c", "--", "true");
    EXPECT("--once-per keeps its stamp at the path; give one", "exec", "--once-per", "9", "/a", "/b", "--", "true");
    EXPECT("'/b': too many paths", "elect", "/a", "/b", "--", "true");
    EXPECT("--on-loss warn has no sense in an election", "elect", "--on-loss", "warn", "/a", "--", "true");
    EXPECT("--once-per and -s contradict each other", "exec", "-s", "--once-per", "9", "/a", "--", "true");
    EXPECT("-s, --shared has no sense in an election", "elect", "-s", "/a", "--", "true");
    EXPECT("--once-per has no sense in an election", "elect", "--once-per", "9", "/a", "--", "true");
    EXPECT("-p, --permits has no sense in an election", "elect", "-p", "2", "/a", "--", "true");
    EXPECT("-p, --permits and -s, --shared cannot", "exec", "-p", "2", "-s", "/a", "--", "true");
    EXPECT("-p, --permits and --once-per cannot", "exec", "-p", "2", "--once-per", "9", "/a", "--", "true");
    EXPECT("--style other than curator cannot", "exec", "-p", "2", "--style", "kazoo", "/a", "--", "true");
    EXPECT("option -p, --permits: '1000001': out of range", "exec", "-p", "1000001", "/a", "--", "true");
    EXPECT("number '0': out of range", "permits", "/a", "0");
    EXPECT("number 'x': character 1", "permits", "/a", "x");
    EXPECT("too many", "permits", "/a", "2", "3");
}

static void bad_paths_name_the_place(void)
{
    EXPECT("path 'l': ", "exec", "l", "--", "true");
    EXPECT("path '/a//b': ", "exec", "/a//b", "--", "true");
    EXPECT("path '/a/../b': ", "exec", "/a/../b", "--", "true");
    EXPECT("path '/a\\nb': ", "exec", "/a\nb", "--", "true");
    EXPECT("path '/a/': ", "status", "/ok", "/a/");
    EXPECT("path '/': the root of all is no lock", "exec", "/", "--", "true");
    EXPECT("path '/': the root of all is no lock", "status", "/a", "/");
    EXPECT("path '/': the root of all is no lock", "verify", "-S", "zk1/", "/", "12");
    EXPECT("path '/': the root of all is no lock", "permits", "/", "2");
}

static void reason_stands_behind_a_long_path_too(void)
{
    char path[4002];

    memset(path, 'q', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    EXPECT("qqq...': ", "exec", path, "--", "true");
    EXPECT("a path has at most 900 bytes", "exec", path, "--", "true");
}

static void name_that_is_no_contender_s_is_not_broken(void)
{
    EXPECT("'' is no contender's name", "break", "--contender", "", "/a");
    EXPECT("'..' is no contender's name", "break", "--contender", "..", "/a");
    EXPECT("'/a/_c_x-lock-0000000001' is no contender's name", "break", "--contender", "/a/_c_x-lock-0000000001", "/a");
    EXPECT("'_c_x-lock-000000000' is no contender's name", "break", "--contender", "_c_x-lock-000000000", "/a");
}

static void expect_output_to_fail(const char *subcommand, const char *output_file, void (*before_exec)(void *),
                                  const char *reason)
{
    const char *const arguments[] = {subcommand, "--help", NULL};
    const struct process_options options = {
        .arguments = arguments, .output_file = output_file, .before_exec = before_exec};
    struct process *process = stage_start_with(&options);

    CU_ASSERT_EQUAL(stage_end(process), 71);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), reason));
    stage_tear_down();
}

static void close_output(void *ignored)
{
    (void)ignored;
    close(STDOUT_FILENO);
}

static void output_that_cannot_be_written_is_said(void)
{
    static const char *const subcommands[] = {"exec", "elect", "demo", "status", "server"};

    for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++) {
        expect_output_to_fail(subcommands[i], "/dev/full", NULL, "cannot write to standard output: No space left");
        expect_output_to_fail(subcommands[i], NULL, close_output, "cannot write to standard output: Bad file");
    }
}

static void bad_numbers_name_option_and_place(void)
{
    EXPECT("option -w, --wait: '-1': character 1 ('-')", "exec", "-w", "-1", "/l", "--", "true");
    EXPECT("option -w, --wait: 'abc': character 1 ('a')", "exec", "-w", "abc", "/l", "--", "true");
    EXPECT("option -w, --wait: '2,5': character 2 (',')", "wait", "-w", "2,5", "/l");
    EXPECT("option -E, --conflict-exit-code: '256': out of range", "exec", "-E", "256", "/l", "--", "true");
    EXPECT("option -E, --conflict-exit-code: '-1': character 1", "exec", "-E", "-1", "/l", "--", "true");
    EXPECT("option -T, --session-timeout: '0': out of range", "status", "-T", "0", "/l");
    EXPECT("option --tick-time: '1.5': character 2", "status", "--tick-time", "1.5", "/l");
    EXPECT("option --rounds: '0': out of range", "demo", "--rounds", "0");
    EXPECT("option --port: '65536': out of range", "server", "--port", "65536");
}

static void bad_choices_name_what_is_right(void)
{
    EXPECT("'maybe': unknown; give one of stop warn", "exec", "--on-loss", "maybe", "/l", "--", "true");
    EXPECT("give one of strict standalone cheap", "exec", "--lease=lax", "/l", "--", "true");
    EXPECT("give one of curator curator-rw curator-latch kazoo", "exec", "--style", "zookeeper", "/l", "--", "true");
    EXPECT("'NOPE': no such signal", "exec", "--stop-signal", "NOPE", "/l", "--", "true");
    EXPECT("contradict each other", "exec", "-n", "-w", "2", "/l", "--", "true");
    EXPECT("lies in the lock's own directory", "demo", "--counter", "/a/b", "/a");
    EXPECT("'/-counter' lies in the lock's own directory", "demo", "/");
    EXPECT("lies in the lock's own directory", "demo", "--counter=/beside", "/");
}

static void grace_that_does_not_fit_into_the_lease_is_refused(void)
{
    EXPECT("option -k, --kill-after: more than 0.3", "exec", "-T", "10", "-k", "3.1", "/l", "--", "true");
    EXPECT("--style curator-latch and -s contradict", "exec", "--style", "curator-latch", "-s", "/l", "--", "true");
    EXPECT("option --hold-limit: stopping the command takes 2.25 s", "exec", "--hold-limit", "2", "/l", "--", "true");
    EXPECT("--hold-limit and --on-loss warn contradict", "exec", "--hold-limit", "9", "--on-loss", "warn", "/l", "--", "true");
    EXPECT("--min-hold: more than --hold-limit", "exec", "--hold-limit", "9", "--min-hold", "10", "/l", "--", "true");
    EXPECT("give at most 0.3,", "exec", "-T", "1", "-k", "1", "/l", "--", "true");
}

static void bad_servers_name_their_source(void)
{
    EXPECT("option -S, --servers: 'a:99999'", "status", "-S", "a:99999", "/l");
    EXPECT("option -S, --servers: ''", "status", "-S", "", "/l");
}

static void bad_servers_of_the_environment_are_named_as_such(void)
{
    const char *const arguments[] = {"status", "/l", NULL};
    const char *const environment[] = {"ZKLOCK_SERVERS=a:b", NULL};
    struct process_options options = {.arguments = arguments, .environment = environment};
    struct process *process = stage_start_with(&options);

    CU_ASSERT_EQUAL(stage_end(process), 64);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "environment variable ZKLOCK_SERVERS: 'a:b'"));
}

static void unknown_options_are_refused(void)
{
    EXPECT("unknown option '--bogus'", "exec", "--bogus", "/l", "--", "true");
    EXPECT("unknown option '-Z'", "exec", "-nZ", "/l", "--", "true");
    EXPECT("option -w, --wait needs a value", "exec", "/l", "-w", "--", "true");
    EXPECT("option --label needs a value", "exec", "/l", "--label", "--", "true");
    EXPECT("option -n, --nonblock takes no value", "exec", "--nonblock=yes", "/l", "--", "true");
}

/* Options that are not there yet must not look as if they were. */
static void options_to_come_are_refused(void)
{
    static const char *const to_come[] = {"--watch"};

    for (size_t i = 0; i < sizeof(to_come) / sizeof(to_come[0]); i++)
        EXPECT("unknown option", "exec", to_come[i], "/l", "--", "true");
}

static void usage_errors_are_told_under_quiet_too(void)
{
    EXPECT("unknown option '--bogus'", "exec", "-q", "--bogus", "/l", "--", "true");
}

static int longest_line(const char *text)
{
    int longest = 0;

    for (size_t length = strcspn(text, "\n"); *text; length = strcspn(text, "\n")) {
        longest = (int)length > longest ? (int)length : longest;
        text += length + (text[length] == '\n');
    }
    return longest;
}

static void encryption_is_refused_where_the_client_library_cannot(void)
{
    if (CLIENT_LIBRARY_HAS_TLS)
        return;
    EXPECT("exec: option --tls: this build cannot encrypt", "exec", "--tls", "ca.pem", "/l", "--", "true");
    EXPECT("status: option --tls: this build cannot encrypt", "status", "--tls", "ca.pem", "/l");
    CU_ASSERT_EQUAL(setenv("ZKLOCK_TLS", "ca.pem", 1), 0);
    EXPECT("use a tunnel, see zklock(1)", "wait", "/l");
    unsetenv("ZKLOCK_TLS");
}

static void expect_help(const char *subcommand)
{
    struct process *process =
        subcommand ? stage_start(subcommand, "--help", NULL) : stage_start("--help", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_error(process), "");
    CU_ASSERT_EQUAL(strncmp(stage_output(process), "Usage: zklock", 13), 0);
    CU_ASSERT_TRUE(stage_lines(stage_output(process)) <= 24);
    CU_ASSERT_TRUE(longest_line(stage_output(process)) <= 80);
    CU_ASSERT_PTR_NULL(strstr(stage_output(process), "--guard"));
    stage_tear_down();
}

static void help_fits_a_screen(void)
{
    expect_help(NULL);
    expect_help("exec");
    expect_help("elect");
    expect_help("status");
    expect_help("wait");
    expect_help("list");
    expect_help("verify");
    expect_help("revoke");
    expect_help("break");
    expect_help("permits");
    expect_help("doctor");
    expect_help("server");
    expect_help("demo");
}

static void version_is_printed(void)
{
    struct process *process = stage_start("--version", NULL);
    struct process *of_exec = stage_start("exec", "-V", NULL);

    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_EQUAL(strncmp(stage_output(process), "zklock 0.", 9), 0);
    CU_ASSERT_EQUAL(stage_end(of_exec), 0);
    CU_ASSERT_EQUAL(strncmp(stage_output(of_exec), "zklock 0.", 9), 0);
}

static const struct suite_test tests[] = {
    SUITE_TEST_WITH(command_without_sense_is_refused, NULL, stage_tear_down),
    SUITE_TEST_WITH(exec_needs_one_path_and_a_command, NULL, stage_tear_down),
    SUITE_TEST_WITH(bad_paths_name_the_place, NULL, stage_tear_down),
    SUITE_TEST_WITH(reason_stands_behind_a_long_path_too, NULL, stage_tear_down),
    SUITE_TEST_WITH(name_that_is_no_contender_s_is_not_broken, NULL, stage_tear_down),
    SUITE_TEST_WITH(output_that_cannot_be_written_is_said, NULL, stage_tear_down),
    SUITE_TEST_WITH(bad_numbers_name_option_and_place, NULL, stage_tear_down),
    SUITE_TEST_WITH(bad_choices_name_what_is_right, NULL, stage_tear_down),
    SUITE_TEST_WITH(grace_that_does_not_fit_into_the_lease_is_refused, NULL, stage_tear_down),
    SUITE_TEST_WITH(bad_servers_name_their_source, NULL, stage_tear_down),
    SUITE_TEST_WITH(bad_servers_of_the_environment_are_named_as_such, NULL, stage_tear_down),
    SUITE_TEST_WITH(unknown_options_are_refused, NULL, stage_tear_down),
    SUITE_TEST_WITH(options_to_come_are_refused, NULL, stage_tear_down),
    SUITE_TEST_WITH(usage_errors_are_told_under_quiet_too, NULL, stage_tear_down),
    SUITE_TEST_WITH(encryption_is_refused_where_the_client_library_cannot, NULL, stage_tear_down),
    SUITE_TEST_WITH(help_fits_a_screen, NULL, stage_tear_down),
    SUITE_TEST_WITH(version_is_printed, NULL, stage_tear_down),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "usage", tests);
}
