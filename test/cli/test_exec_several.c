/* zklock exec with several paths, once in a period, under a service manager, on a terminal; a chroot. */
#include "cli_stage.h"

#include "support/directory.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define OTHER "/locks/another"

/* ---------------------------------------------------------------- several paths */

static void several_paths_are_held_together_in_sorted_order(void)
{
    struct process *process = stage_start("exec", LOCK, OTHER, "--", "sh", "-c",
                                          "echo \"$ZKLOCK_PATH\"; set -- $ZKLOCK_TOKEN $ZKLOCK_CONTENDER; echo $#; "
                                          "test $1 -lt $2 && echo rising; exec sleep 300",
                                          NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "rising\n", PATIENCE_MS));
    CU_ASSERT_STRING_EQUAL(stage_output(process), OTHER " " LOCK "\n4\nrising\n");
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
    CU_ASSERT_EQUAL(observer_count(stage_observer, OTHER), 1);
    process_signal(process, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(process), 143);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
    CU_ASSERT_EQUAL(observer_count(stage_observer, OTHER), 0);
}

static void one_held_path_leaves_nothing_of_the_others(void)
{
    struct process *process;

    stage_hold("x");
    process = stage_start("exec", "-n", OTHER, LOCK, "--", "echo", "ran", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 1);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), LOCK ": not acquired: held by "));
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, OTHER, 0, PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_end(stage_start("exec", "-w", "1", OTHER, LOCK, "--", "true", NULL)), 1);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, OTHER, 0, PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
}

static void paths_in_any_order_never_lock_each_other_out(void)
{
    enum { ROUNDS = 4 };
    struct process *one[ROUNDS];
    struct process *two[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        one[i] = stage_start("exec", LOCK, OTHER, "--", "true", NULL);
        two[i] = stage_start("exec", OTHER, LOCK, "--", "true", NULL);
    }
    for (int i = 0; i < ROUNDS; i++) {
        CU_ASSERT_EQUAL(stage_end(one[i]), 0);
        CU_ASSERT_EQUAL(stage_end(two[i]), 0);
    }
}

static void delete_front(const char *path)
{
    char name[OBSERVER_PATH_SIZE];
    char node[OBSERVER_PATH_SIZE + 64];

    observer_front(stage_observer, path, name);
    snprintf(node, sizeof(node), "%s/%s", path, name);
    CU_ASSERT_EQUAL(observer_delete(stage_observer, node), ZOK);
}

static void loss_of_one_of_several_stops_the_command(void)
{
    struct process *process = stage_start("exec", LOCK, OTHER, "--", "sh", "-c", "echo held; exec sleep 300", NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "held\n", PATIENCE_MS));
    delete_front(OTHER);
    CU_ASSERT_EQUAL(stage_end(process), 79);
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
}

static void loss_of_the_first_while_the_second_is_awaited_begins_afresh(void)
{
    struct process *holder = stage_hold("x");
    struct process *process = stage_start("exec", LOCK, OTHER, "--", "echo", "ran", NULL);
    char before[OBSERVER_PATH_SIZE];

    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, OTHER, 1, PATIENCE_MS));
    observer_front(stage_observer, OTHER, before);
    delete_front(OTHER);
    CU_ASSERT_TRUE(observer_wait_front_other_than(stage_observer, OTHER, before, PATIENCE_MS));
    CU_ASSERT_TRUE(process_is_running(process));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "ran\n");
}

/* ---------------------------------------------------------------- once in a period */

static struct process *run_once(const char *period, const char *script)
{
    struct process *process = stage_start("exec", "--once-per", period, LOCK, "--", "sh", "-c", script, NULL);

    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    return process;
}

static void command_runs_once_in_the_period(void)
{
    struct process *again;
    struct observed_node node;

    CU_ASSERT_STRING_EQUAL(stage_output(run_once("3600", "echo ran")), "ran\n");
    again = run_once("3600", "echo ran");
    CU_ASSERT_EQUAL(process_exit_status(again), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(again), "");
    CU_ASSERT_STRING_EQUAL(stage_error(again), "");
    CU_ASSERT_EQUAL_FATAL(observer_look(stage_observer, LOCK, &node), ZOK);
    CU_ASSERT_EQUAL(strncmp(node.data, "{\"zklock_stamp\":1,\"zklock\":", 26), 0);
    observed_node_clear(&node);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
}

static void failed_run_does_not_count(void)
{
    CU_ASSERT_EQUAL(process_exit_status(run_once("3600", "exit 3")), 3);
    CU_ASSERT_STRING_EQUAL(stage_output(run_once("3600", "echo ran")), "ran\n");
}

static bool runs_again(void *unused)
{
    struct process *process = run_once("2", "echo ran");
    bool has_run = strcmp(stage_output(process), "ran\n") == 0;

    (void)unused;
    stage_forget(process);
    return has_run;
}

static void command_runs_again_after_the_period(void)
{
    int64_t start_ms = monotonic_ms();

    CU_ASSERT_TRUE(runs_again(NULL));
    CU_ASSERT_TRUE(eventually(runs_again, NULL, PATIENCE_MS));
    CU_ASSERT_TRUE(monotonic_ms() - start_ms >= 2000);
}

static void data_of_others_are_left_alone(void)
{
    struct process *process;

    CU_ASSERT_EQUAL(observer_create(stage_observer, "/locks", "", 0, NULL), ZOK);
    CU_ASSERT_EQUAL(observer_create(stage_observer, LOCK, "theirs", 0, NULL), ZOK);
    process = run_once("3600", "echo ran");
    CU_ASSERT_EQUAL(process_exit_status(process), 64);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "there are data of somebody else at the path"));
}

/* The command has run, and its stamp takes too long on a connection that lives: that is not "somebody else holds it". */
static void stamp_without_an_answer_is_69(void)
{
    enum { SLOW_MS = 2800 };
    struct process *process;
    char *directory = directory_make("zklock-once");
    char gate[256];
    char script[300];
    int fd;

    stage_put_proxy_between();
    snprintf(gate, sizeof(gate), "%s/gate", directory);
    CU_ASSERT_EQUAL_FATAL(mkfifo(gate, 0600), 0);
    snprintf(script, sizeof(script), "echo ran; read line < %s; exit 0", gate);
    process = stage_start("exec", "--once-per", "3600", LOCK, "--", "sh", "-c", script, NULL);
    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "ran\n", PATIENCE_MS));
    fault_proxy_set_delay(stage_proxy, SLOW_MS, SLOW_MS);
    fd = open(gate, O_WRONLY | O_CLOEXEC);
    close(fd);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 69);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "cannot write the stamp of --once-per"));
    fault_proxy_set_delay(stage_proxy, 0, 0);
    directory_remove(directory);
    free(directory);
}

/* ---------------------------------------------------------------- whom it tells */

static int open_manager(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {PATIENCE_MS / 1000, 0};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    CU_ASSERT_EQUAL_FATAL(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    return fd;
}

static const char *hear(int fd, char *buffer, size_t size)
{
    ssize_t count = recv(fd, buffer, size - 1, 0);

    buffer[count > 0 ? count : 0] = '\0';
    return buffer;
}

static void service_manager_is_told_when_the_lock_is_held(void)
{
    const char *path = stage_file("notify");
    int fd = open_manager(path);
    const char *const arguments[] = {"exec", LOCK, "--", "true", NULL};
    char setting[256];
    char text[512];
    const char *const environment[] = {setting, NULL};
    struct process_options options = {.arguments = arguments, .environment = environment};
    struct process *holder = stage_hold("x");
    struct process *process;

    snprintf(setting, sizeof(setting), "NOTIFY_SOCKET=%s", path);
    process = stage_start_with(&options);
    CU_ASSERT_STRING_EQUAL(hear(fd, text, sizeof(text)), "STATUS=Waiting for " LOCK);
    stage_let_go(holder);
    CU_ASSERT_STRING_EQUAL(hear(fd, text, sizeof(text)), "READY=1\nSTATUS=Holding " LOCK);
    CU_ASSERT_STRING_EQUAL(hear(fd, text, sizeof(text)), "STATUS=Releasing " LOCK);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    close(fd);
}

static void wait_on_a_terminal_shows_the_place(void)
{
    const char *const arguments[] = {"exec", LOCK, "--", "echo", "ran", NULL};
    struct process_options options = {.arguments = arguments, .is_on_terminal = true, .columns = 200};
    struct process *holder = stage_hold("first");
    struct process *process = stage_start_with(&options);
    struct process *piped;

    CU_ASSERT_TRUE(process_wait_output(process, "waiting for " LOCK ": place 2 of 2", PATIENCE_MS));
    CU_ASSERT_TRUE(process_wait_output(process, " (first)", PATIENCE_MS));
    piped = stage_start("exec", LOCK, "--", "true", NULL);
    CU_ASSERT_TRUE(process_wait_output(process, "waiting for " LOCK ": place 2 of 3", PATIENCE_MS));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    /* The line is gone before the command writes. */
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "\r\x1b[Kran\r\n"));
    CU_ASSERT_EQUAL(stage_end(piped), 0);
    CU_ASSERT_STRING_EQUAL(stage_error(piped), "");
}

/* However long the holder's label is: a line that wrapped could not be cleared. */
static void line_of_progress_fits_the_terminal(void)
{
    enum { NARROW = 60 };
    const char *const arguments[] = {"exec", LOCK, "--", "true", NULL};
    struct process_options options = {.arguments = arguments, .is_on_terminal = true, .columns = NARROW};
    struct process *holder = stage_hold("a label that takes more room than there is");
    struct process *process = stage_start_with(&options);
    const char *line;

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "held for ", PATIENCE_MS));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    line = strstr(stage_output(process), "zklock: waiting");
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_TRUE(strcspn(line, "\r\n") <= NARROW - 1);
}

/* ---------------------------------------------------------------- chroot */

static void expect_below(const char *chroot, const char *path, const char *node)
{
    char servers[128];
    struct process *process;

    snprintf(servers, sizeof(servers), "%s%s", zk_server_address(stage_server), chroot);
    process = stage_start("exec", "-S", servers, path, "--", "sh", "-c", "echo held; exec sleep 300", NULL);
    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "held\n", PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_count(stage_observer, node), 1);
    process_signal(process, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(process), 143);
}

static void nothing_is_made_outside_a_chroot(void)
{
    CU_ASSERT_EQUAL(observer_create(stage_observer, "/there", "", 0, NULL), ZOK);
    expect_below("/there", "/l", "/there/l");
    expect_below("/new/nested", "/l", "/new/nested/l");
    expect_below("/root", "/", "/root");
    CU_ASSERT_FALSE(observer_exists(stage_observer, "/l"));
    /* zookeeper, there, new, root */
    CU_ASSERT_EQUAL(observer_count(stage_observer, "/"), 4);
}

/* ---------------------------------------------------------------- limits */

static void silent_first_address_leaves_time_for_the_second(void)
{
    struct fault_proxy *silent = fault_proxy_start(zk_server_port(stage_server));
    char servers[128];
    struct process *process;

    fault_proxy_set_mood(silent, FAULT_HOLE);
    snprintf(servers, sizeof(servers), "%s,%s", fault_proxy_address(silent), zk_server_address(stage_server));
    process = stage_start("exec", "-S", servers, "-w", "20", LOCK, "--", "echo", "ran", NULL);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "ran\n");
    fault_proxy_free(silent);
}

static void limit_of_a_hundred_days_is_no_trouble(void)
{
    struct process *holder = stage_hold("x");
    struct process *process = stage_start("exec", "-w", "8640000", LOCK, "--", "echo", "ran", NULL);

    CU_ASSERT_TRUE_FATAL(observer_wait_count(stage_observer, LOCK, 2, PATIENCE_MS));
    CU_ASSERT_TRUE(process_is_running(process));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_STRING_EQUAL(stage_output(process), "ran\n");
}

static void verbose_names_whom_it_waits_for_with_times(void)
{
    struct process *holder = stage_hold("first");
    struct process *process = stage_start("exec", "-v", LOCK, "--", "true", NULL);
    const char *const story[] = {"resolved ", "connected, session 0x", "queued at place 2 behind _c_",
                                 "waiting; " LOCK " is held by ", "woken: _c_", "held after "};
    const char *at;

    CU_ASSERT_TRUE(process_wait_error(process, ", first), in the queue since", PATIENCE_MS));
    stage_let_go(holder);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    at = stage_error(process);
    for (size_t i = 0; i < sizeof(story) / sizeof(story[0]) && at; i++) {
        at = strstr(at, story[i]);
        CU_ASSERT_PTR_NOT_NULL(at);
    }
}

#define ON_STAGE(test) SUITE_TEST_WITH(test, stage_set_up, stage_tear_down)

static const struct suite_test tests[] = {
    ON_STAGE(several_paths_are_held_together_in_sorted_order),
    ON_STAGE(one_held_path_leaves_nothing_of_the_others),
    ON_STAGE(paths_in_any_order_never_lock_each_other_out),
    ON_STAGE(loss_of_one_of_several_stops_the_command),
    ON_STAGE(loss_of_the_first_while_the_second_is_awaited_begins_afresh),
    ON_STAGE(command_runs_once_in_the_period),
    ON_STAGE(failed_run_does_not_count),
    ON_STAGE(command_runs_again_after_the_period),
    ON_STAGE(data_of_others_are_left_alone),
    ON_STAGE(stamp_without_an_answer_is_69),
    ON_STAGE(service_manager_is_told_when_the_lock_is_held),
    ON_STAGE(wait_on_a_terminal_shows_the_place),
    ON_STAGE(line_of_progress_fits_the_terminal),
    ON_STAGE(nothing_is_made_outside_a_chroot),
    ON_STAGE(silent_first_address_leaves_time_for_the_second),
    ON_STAGE(limit_of_a_hundred_days_is_no_trouble),
    ON_STAGE(verbose_names_whom_it_waits_for_with_times),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_several", tests);
}
