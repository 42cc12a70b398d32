/* Credentials and rights at the command (C38): the file they come from, what it takes, and who gets to see them. */
#include "cli_stage.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN "/own/lock"
#define SECRET "open-sesame"

static char auth_file[512];

static void write_file(const char *name, const char *text, mode_t mode)
{
    int fd;

    snprintf(auth_file, sizeof(auth_file), "%s", stage_file(name));
    fd = open(auth_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CU_ASSERT_TRUE_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    CU_ASSERT_EQUAL(fchmod(fd, mode), 0);
    close(fd);
}

static void set_up(void)
{
    stage_set_up();
    write_file("auth", "# of the tests\ndigest:svc:" SECRET "\n", 0600);
}

static void expect_failure(struct process *process, int status, const char *first, const char *second)
{
    CU_ASSERT_EQUAL(stage_end(process), status);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    CU_ASSERT_EQUAL(stage_lines(stage_error(process)), 1);
    if (!strstr(stage_error(process), first) || !strstr(stage_error(process), second)) {
        printf("\n%s(expected: %s, %s)\n", stage_error(process), first, second);
        CU_FAIL("another message was expected");
    }
    CU_ASSERT_PTR_NULL(strstr(stage_error(process), SECRET));
}

/* Holds OWN as its creator; anybody may read it if that is said. */
static struct process *hold_own(const char *acl)
{
    struct process *holder = stage_start("exec", "-v", "-v", "--auth-file", auth_file, "--acl", acl, OWN, "--", "sh",
                                         "-c", "echo held; exec sleep 300", NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "held\n", PATIENCE_MS));
    return holder;
}

/* ---------------------------------------------------------------- the file */

static void expect_file_error(const char *text, mode_t mode, const char *expected)
{
    write_file("bad", text, mode);
    expect_failure(stage_start("exec", "--auth-file", auth_file, LOCK, "--", "echo", "ran", NULL), 64, auth_file,
                   expected);
}

static void bad_files_are_named_with_the_line(void)
{
    expect_file_error("", 0600, "no credentials");
    expect_file_error("\n# nothing\n", 0600, "no credentials");
    expect_file_error("\n" SECRET "\n", 0600, "line 2: no colon");
    expect_file_error("digest:" SECRET "\n", 0600, "line 1: a digest needs user:password");
    expect_file_error("digest:svc:" SECRET "\r\n", 0600, "line 1: a control character");
    expect_file_error("digest:svc:" SECRET "\ndigest:a:b\n", 0600, "line 2: a second line");
    expect_file_error("digest:svc:" SECRET "\n", 0604, "chmod o= ");
    expect_failure(stage_start("status", "--auth-file", "/nonexistent/auth", LOCK, NULL), 64, "/nonexistent/auth",
                   "No such file");
    expect_failure(stage_start("status", "--auth-file", "/", LOCK, NULL), 64, "of /", "is a directory");
}

static void rights_for_the_creator_need_a_file(void)
{
    expect_failure(stage_start("exec", "--acl", "creator", LOCK, "--", "echo", "ran", NULL), 64, "--acl",
                   "give --auth-file");
    expect_failure(stage_start("exec", "--acl", "mine", LOCK, "--", "echo", "ran", NULL), 64, "'mine': unknown",
                   "open creator creator-read");
}

static void file_of_the_environment_is_the_default(void)
{
    const char *const arguments[] = {"status", OWN, NULL};
    char setting[600];
    const char *const environment[] = {setting, NULL};
    const struct process_options options = {.arguments = arguments, .environment = environment};
    struct process *status;

    hold_own("creator");
    snprintf(setting, sizeof(setting), "ZKLOCK_AUTH_FILE=%s", auth_file);
    status = stage_start_with(&options);
    CU_ASSERT_EQUAL(stage_end(status), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(status), "1 holds"));
    snprintf(setting, sizeof(setting), "ZKLOCK_AUTH_FILE=/nonexistent");
    expect_failure(stage_start_with(&options), 64, "/nonexistent", "No such file");
    snprintf(setting, sizeof(setting), "ZKLOCK_AUTH_FILE=");
    expect_failure(stage_start_with(&options), 77, OWN, "READ");
}

/* ---------------------------------------------------------------- rights */

static void missing_rights_are_named_by_every_subcommand(void)
{
    hold_own("creator");
    expect_failure(stage_start("exec", OWN, "--", "echo", "ran", NULL), 77, OWN, "CREATE");
    expect_failure(stage_start("exec", OWN "/below", "--", "echo", "ran", NULL), 77, OWN "/below", "CREATE");
    expect_failure(stage_start("status", OWN, NULL), 77, OWN, "READ");
    expect_failure(stage_start("wait", OWN, NULL), 77, OWN, "READ");
    expect_failure(stage_start("revoke", OWN, NULL), 77, OWN, "READ");
    expect_failure(stage_start("verify", OWN, "1", NULL), 77, OWN, "READ");
    expect_failure(stage_start("list", OWN, NULL), 0, "1 directory was left out", "READ");
}

static void readers_may_look_and_not_touch(void)
{
    char front[OBSERVER_PATH_SIZE];

    hold_own("creator-read");
    observer_front(stage_observer, OWN, front);
    CU_ASSERT_EQUAL(stage_end(stage_start("status", OWN, NULL)), 0);
    expect_failure(stage_start("revoke", OWN, NULL), 77, OWN, "WRITE");
    expect_failure(stage_start("break", "--contender", front, OWN, NULL), 77, OWN, "DELETE");
    expect_failure(stage_start("exec", "-n", OWN, "--", "echo", "ran", NULL), 77, OWN, "CREATE");
}

static void authentication_that_failed_is_said_at_once(void)
{
    write_file("nosuch", "nosuch:svc:" SECRET, 0600);
    expect_failure(stage_start("exec", "--auth-file", auth_file, LOCK, "--", "echo", "ran", NULL), 77,
                   "authentication failed", "nosuch");
    expect_failure(stage_start("status", "--auth-file", auth_file, LOCK, NULL), 77, "authentication failed", "nosuch");
    expect_failure(stage_start("wait", "--auth-file", auth_file, LOCK, NULL), 77, "authentication failed", "nosuch");
}

static void server_restarted_during_a_wait_does_no_harm(void)
{
    struct process *holder = stage_start("exec", "-T", "40", "--auth-file", auth_file, "--acl", "creator", OWN, "--",
                                         "sh", "-c", "echo held; exec sleep 300", NULL);
    struct process *waiter;

    CU_ASSERT_TRUE_FATAL(process_wait_output(holder, "held\n", PATIENCE_MS));
    waiter = stage_start("exec", "-v", "-T", "40", "--auth-file", auth_file, "--acl", "creator", OWN, "--", "echo",
                         "mine", NULL);
    CU_ASSERT_TRUE(process_wait_error(waiter, "queued at place 2", PATIENCE_MS));
    zk_server_kill(stage_server);
    zk_server_restart(stage_server);
    CU_ASSERT_TRUE(process_wait_error(waiter, "connected again", PATIENCE_MS));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(waiter), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(waiter), "mine\n");
}

/* The keeper has the session's key, and needs no more to end it. */
static void keeper_ends_a_session_without_credentials(void)
{
    struct process *holder = hold_own("creator");
    struct process *next = stage_start("exec", "-v", "--auth-file", auth_file, OWN, "--", "echo", "mine", NULL);

    CU_ASSERT_TRUE(process_wait_error(next, "queued at place 2", PATIENCE_MS));
    process_signal(holder, SIGKILL);
    CU_ASSERT_EQUAL(stage_end(next), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(next), "mine\n");
}

static void demo_takes_credentials(void)
{
    char world[] = "world", anyone[] = "anyone", authenticated[] = "auth", as_we_are[] = "";
    struct ACL entries[] = {{31, {authenticated, as_we_are}}, {1, {world, anyone}}};
    struct ACL_vector list = {2, entries};
    struct process *demo;

    /* Only who has them may make anything there. */
    CU_ASSERT_EQUAL(observer_create(stage_observer, "/closed", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(zoo_add_auth(observer_handle(stage_observer), "digest", "svc:" SECRET, (int)strlen("svc:" SECRET),
                                 NULL, NULL), ZOK);
    CU_ASSERT_EQUAL(zoo_set_acl(observer_handle(stage_observer), "/closed", -1, &list), ZOK);
    demo = stage_start("demo", "--auth-file", auth_file, "-n", "2", "--rounds", "3", "/closed/demo", NULL);
    CU_ASSERT_EQUAL(stage_end(demo), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(demo), "right"));
}

/* ---------------------------------------------------------------- who sees them */

static bool file_contains(const char *path, const char *text)
{
    char bytes[65536];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

    if (fd >= 0)
        close(fd);
    return size > 0 && memmem(bytes, (size_t)size, text, strlen(text));
}

static void credentials_are_nowhere_to_be_seen(void)
{
    struct process *holder = hold_own("creator-read");
    struct process *processes_shown = process_run("ps", "-eww", "-o", "args", "e", NULL);
    struct observed_list list;
    char path[64];

    CU_ASSERT_TRUE(process_wait(processes_shown, PATIENCE_MS));
    CU_ASSERT_PTR_NOT_NULL(strstr(process_output(processes_shown, NULL), auth_file));
    CU_ASSERT_PTR_NULL(strstr(process_output(processes_shown, NULL), SECRET));
    process_free(processes_shown);
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)process_pid(holder));
    CU_ASSERT_FALSE(file_contains(path, SECRET));
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)process_pid(holder));
    CU_ASSERT_TRUE(file_contains(path, "--auth-file"));
    CU_ASSERT_EQUAL_FATAL(observer_list(stage_observer, OWN, &list), ZOK);
    CU_ASSERT_EQUAL_FATAL(list.count, 1);
    CU_ASSERT_PTR_NULL(strstr(list.nodes[0].data, SECRET));
    CU_ASSERT_PTR_NOT_NULL(strstr(list.nodes[0].data, "\"host\""));
    observed_list_clear(&list);
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(holder), 143);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(holder), "connected, session"));
    CU_ASSERT_PTR_NULL(strstr(stage_error(holder), SECRET));
}

/* What others wrote is shown, but does nothing to a terminal: C1 characters are escape sequences to some. */
static void names_and_payloads_of_strangers_do_nothing_to_a_terminal(void)
{
    static const char payload[] = "{\"host\":\"h\xc2\x9b" "31m\\u001b[2J\",\"pid\":1,\"label\":\"\xe2\x80\xae\"}";
    static const char *const commands[][4] = {{"status", "-v", LOCK}, {"status", "--json", LOCK}, {"list"},
                                              {"list", "--json"}, {"doctor"}, {"doctor", "--json"},
                                              {"exec", "-vvn", LOCK, "--"}};

    CU_ASSERT_EQUAL(observer_create(stage_observer, "/locks", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK, "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK "/\xe2\x80\xae-lock-0000000000", payload, 0, NULL), ZOK);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        const char *const *words = commands[i];
        struct process *process =
            stage_start(words[0], words[1], words[2], words[3], words[3] ? "true" : NULL, NULL);
        const char *texts[2];

        stage_end(process);
        texts[0] = stage_output(process);
        texts[1] = stage_error(process);
        for (int j = 0; j < 2; j++) {
            CU_ASSERT_PTR_NULL(strstr(texts[j], "\xc2\x9b"));
            CU_ASSERT_PTR_NULL(strstr(texts[j], "\xe2\x80\xae"));
            CU_ASSERT_PTR_NULL(strchr(texts[j], '\033'));
        }
        CU_ASSERT_TRUE(strlen(texts[0]) + strlen(texts[1]) > 0);
    }
}

#define TEST(test) SUITE_TEST_WITH(test, set_up, stage_tear_down)

static const struct suite_test tests[] = {
    TEST(bad_files_are_named_with_the_line),
    TEST(rights_for_the_creator_need_a_file),
    TEST(file_of_the_environment_is_the_default),
    TEST(missing_rights_are_named_by_every_subcommand),
    TEST(readers_may_look_and_not_touch),
    TEST(authentication_that_failed_is_said_at_once),
    TEST(server_restarted_during_a_wait_does_no_harm),
    TEST(keeper_ends_a_session_without_credentials),
    TEST(demo_takes_credentials),
    TEST(credentials_are_nowhere_to_be_seen),
    TEST(names_and_payloads_of_strangers_do_nothing_to_a_terminal),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_auth", tests);
}
