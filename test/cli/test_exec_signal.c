/* Signals and the terminal while the command runs: each is seen exactly once, and zklock outlives the
 * command. */
#include "cli_stage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Logs each signal it gets to the file, and ends with 7 on the second TERM. */
static const char *logger(const char *file)
{
    static char script[16384];

    snprintf(
        script, sizeof(script),
        "note() { echo $1 >> %s; }; terms=0; "
        "trap 'note INT.' INT; trap 'note HUP.' HUP; trap 'note QUIT.' QUIT; trap 'note USR1.' USR1; "
        "trap 'note USR2.' USR2; trap 'note WINCH.' WINCH; trap 'note TSTP.' TSTP; trap 'note CONT.' CONT; "
        "trap 'note TERM.; terms=$((terms+1)); test $terms -lt 2 || exit 7' TERM; "
        "note ready.; while :; do read -t 1 line <> $0; done",
        file);
    return script;
}

/* bash: its read ends at once when a signal comes, so that no trap is late. The pipe that it reads never
 * speaks. */
static struct process *start_logger(const char *file)
{
    const char *fifo = stage_file("silent");
    struct process *process;

    if (access(fifo, F_OK) != 0) {
        char make[8192];

        snprintf(make, sizeof(make), "mkfifo %s", fifo);
        CU_ASSERT_EQUAL_FATAL(system(make), 0);
    }
    process = stage_start("exec", LOCK, "--", "bash", "-c", logger(file), fifo, NULL);
    CU_ASSERT_TRUE_FATAL(stage_wait_text(file, "ready.", PATIENCE_MS));
    return process;
}

static void end_logger(struct process *process, const char *file)
{
    CU_ASSERT_TRUE(stage_wait_text(file, "TERM.", PATIENCE_MS));
    process_signal(process, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(process), 7);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
}

static void each_signal_reaches_the_command_once(void)
{
    static const struct {
        int number;
        const char *mark;
    } sent[] = {{SIGINT, "INT."},   {SIGHUP, "HUP."},   {SIGQUIT, "QUIT."}, {SIGUSR1, "USR1."},
                {SIGUSR2, "USR2."}, {SIGWINCH, "WINCH."}, {SIGTERM, "TERM."}};
    const char *file = stage_file("log");
    struct process *process = start_logger(file);

    for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
        process_signal(process, sent[i].number);
        CU_ASSERT_TRUE(stage_wait_text(file, sent[i].mark, PATIENCE_MS));
    }
    for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]) - 1; i++)
        CU_ASSERT_EQUAL(stage_count_text(file, sent[i].mark), 1);
    CU_ASSERT_EQUAL(stage_count_text(file, "TERM."), 1);
    end_logger(process, file);
}

static void term_ends_the_command_and_frees_the_lock(void)
{
    struct process *process = stage_hold("x");

    process_signal(process, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(process), 143);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
}

static void lock_is_held_until_the_command_has_ended(void)
{
    const char *file = stage_file("log");
    struct process *process = start_logger(file);

    process_signal(process, SIGTERM);
    CU_ASSERT_TRUE(stage_wait_text(file, "TERM.", PATIENCE_MS));
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 1);
    CU_ASSERT_TRUE(process_is_running(process));
    end_logger(process, file);
}

static void stop_and_continuation_are_passed_on_once(void)
{
    const char *file = stage_file("log");
    struct process *process = start_logger(file);

    process_signal(process, SIGTSTP);
    CU_ASSERT_TRUE(process_wait_stopped(process, PATIENCE_MS));
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_error(process), "the session goes on ageing"));
    process_signal(process, SIGCONT);
    CU_ASSERT_TRUE(stage_wait_text(file, "CONT.", PATIENCE_MS));
    process_signal(process, SIGTERM);
    CU_ASSERT_TRUE(stage_wait_text(file, "TERM.", PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_count_text(file, "TSTP."), 1);
    CU_ASSERT_EQUAL(stage_count_text(file, "CONT."), 1);
    end_logger(process, file);
}

static void continuation_without_a_stop_is_passed_on_once(void)
{
    const char *file = stage_file("log");
    struct process *process = start_logger(file);

    process_signal(process, SIGCONT);
    CU_ASSERT_TRUE(stage_wait_text(file, "CONT.", PATIENCE_MS));
    process_signal(process, SIGTERM);
    CU_ASSERT_TRUE(stage_wait_text(file, "TERM.", PATIENCE_MS));
    CU_ASSERT_EQUAL(stage_count_text(file, "CONT."), 1);
    end_logger(process, file);
}

/* Stopped for longer than its session: the command must not run again. */
static void command_stopped_for_too_long_is_killed_before_it_goes_on(void)
{
    const char *file = stage_file("ticks");
    char script[8192];
    struct process *process;
    int ticks;

    snprintf(script, sizeof(script),
             "trap 'echo CONT >> %s' CONT; while :; do echo tick >> %s; sleep 0.02; done", file, file);
    process = stage_start("exec", "-T", "4", LOCK, "--", "sh", "-c", script, NULL);
    CU_ASSERT_TRUE_FATAL(stage_wait_text(file, "tick", PATIENCE_MS));
    process_signal(process, SIGTSTP);
    CU_ASSERT_TRUE_FATAL(process_wait_stopped(process, PATIENCE_MS));
    ticks = stage_count_text(file, "tick");
    CU_ASSERT_TRUE(observer_wait_count(stage_observer, LOCK, 0, PATIENCE_MS));
    process_signal(process, SIGCONT);
    CU_ASSERT_EQUAL(stage_end(process), 79);
    CU_ASSERT_EQUAL(stage_count_text(file, "tick"), ticks);
    CU_ASSERT_EQUAL(stage_count_text(file, "CONT"), 0);
}

static struct process *start_on_terminal(const char *script)
{
    const char *const arguments[] = {"exec", LOCK, "--", "bash", "-c", script, NULL};
    struct process_options options = {.arguments = arguments, .is_on_terminal = true};

    return stage_start_with(&options);
}

static void interrupt_key_reaches_the_command_once(void)
{
    const char *file = stage_file("log");
    char script[8192];
    struct process *process;

    snprintf(script, sizeof(script),
             "trap 'echo INT. >> %s' INT; trap 'exit 7' TERM; echo ready; while :; do read -t 1 line; done",
             file);
    process = start_on_terminal(script);
    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "ready", PATIENCE_MS));
    process_type(process, "\x03");
    CU_ASSERT_TRUE(stage_wait_text(file, "INT.", PATIENCE_MS));
    process_signal(process, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(process), 7);
    CU_ASSERT_EQUAL(stage_count_text(file, "INT."), 1);
}

static void command_reads_from_the_terminal(void)
{
    struct process *process = start_on_terminal("echo ready; read line; echo \"got $line\"");

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "ready", PATIENCE_MS));
    process_type(process, "hello\n");
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "got hello"));
}

/* Somebody of our own process group has the terminal too, as in "zklock exec ... | less": the command gets it
 * only when it is stopped for want of it. */
static void command_gets_the_terminal_when_it_asks_for_it(void)
{
    char script[8192];
    const char *arguments[] = {"sh", "-c", script, NULL};
    const char *environment[] = {NULL, NULL};
    struct process_options options = {.arguments = arguments,
                                      .environment = environment,
                                      .is_on_terminal = true};
    char servers[64];
    struct process *process;

    snprintf(servers, sizeof(servers), "ZKLOCK_SERVERS=%s", zk_server_address(stage_server));
    environment[0] = servers;
    snprintf(script, sizeof(script),
             "sleep 300 & " ZKLOCK_COMMAND " exec " LOCK
             " -- sh -c 'echo ready; read line < /dev/tty; echo got $line'; "
             "kill $!; echo back");
    process = process_start(&options);
    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "ready", PATIENCE_MS));
    process_type(process, "hello\n");
    CU_ASSERT_TRUE(process_wait_output(process, "got hello", PATIENCE_MS));
    CU_ASSERT_TRUE(process_wait_output(process, "back", PATIENCE_MS));
    process_free(process);
}

static void stop_key_stops_command_and_zklock(void)
{
    struct process *process =
        start_on_terminal("trap 'exit 7' TERM; echo ready; while :; do read -t 1 line; done");

    CU_ASSERT_TRUE_FATAL(process_wait_output(process, "ready", PATIENCE_MS));
    process_type(process, "\x1a");
    CU_ASSERT_TRUE(process_wait_stopped(process, PATIENCE_MS));
    process_signal(process, SIGCONT);
    process_signal(process, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(process), 7);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "the session goes on ageing"));
}

/* A person's shell, a script of theirs, the command in it: Ctrl-Z brings the prompt back, fg the command. */
static void script_around_the_command_stops_and_goes_on_with_it(void)
{
    const char *script = stage_file("script");
    char servers[64];
    char line[8192];
    const char *arguments[] = {"bash", "--norc", "-i", NULL};
    const char *environment[] = {servers, "PS1=prompt> ", NULL};
    struct process_options options = {.arguments = arguments,
                                      .environment = environment,
                                      .is_on_terminal = true};
    FILE *file = fopen(script, "we");
    struct process *shell;

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fprintf(file,
            ZKLOCK_COMMAND " exec " LOCK " -- bash -c 'echo in\"\"ner; while ! read -t 0.2 x; do :; done; "
                           "echo got $x'\necho script done\n");
    fclose(file);
    snprintf(servers, sizeof(servers), "ZKLOCK_SERVERS=%s", zk_server_address(stage_server));
    shell = process_start(&options);
    snprintf(line, sizeof(line), "sh %s\n", script);
    process_type(shell, line);
    CU_ASSERT_TRUE_FATAL(process_wait_output(shell, "inner", PATIENCE_MS));
    process_type(shell, "\x1a");
    CU_ASSERT_TRUE(process_wait_output(shell, "Stopped", PATIENCE_MS));
    process_type(shell, "echo at the $((1+1))nd prompt\nfg\n");
    CU_ASSERT_TRUE(process_wait_output(shell, "at the 2nd prompt", PATIENCE_MS));
    process_type(shell, "hello\n");
    CU_ASSERT_TRUE(process_wait_output(shell, "got hello", PATIENCE_MS));
    CU_ASSERT_TRUE(process_wait_output(shell, "script done", PATIENCE_MS));
    process_free(shell);
}

static void stop_key_stops_zklock_while_it_keeps_the_lock(void)
{
    struct process *process = stage_start("exec", "-T", "60", "--min-hold", "300", LOCK, "--", "sh", "-c",
                                          "sleep 20 & exit 0", NULL);

    CU_ASSERT_TRUE_FATAL(process_wait_error(process, "left 1 process running", PATIENCE_MS));
    process_signal(process, SIGTSTP);
    CU_ASSERT_TRUE(process_wait_stopped(process, PATIENCE_MS));
    process_signal(process, SIGCONT);
    process_signal(process, SIGTERM);
    CU_ASSERT_EQUAL(stage_end(process), 0);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
}

/* A container's root may lack it. */
static bool can_make_pid_namespaces(void)
{
    struct process *process = process_run("unshare", "--pid", "--fork", "--mount-proc", "true", NULL);
    bool is_made = process_wait(process, PATIENCE_MS) && process_exit_status(process) == 0;

    process_free(process);
    return is_made;
}

/* As process 1 of a container: whoever loses his parent there becomes zklock's child. */
static void process_one_reaps_orphans_and_leaves_none(void)
{
    char command[8192];
    const char *const arguments[] = {"unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", command, NULL};
    struct process_options options = {.arguments = arguments};
    struct process *process;

    if (!can_make_pid_namespaces())
        suite_skip("no right to make PID namespaces");
    snprintf(
        command, sizeof(command),
        "exec " ZKLOCK_COMMAND " exec -S %s --kill-leftovers " LOCK
        " -- sh -c 'for i in 1 2 3; do (setsid sh -c \"sleep 0.05\" &) ; done; "
             "(setsid sleep 300 &); sleep 0.5; "
        "echo zombies $(grep -l \"^State:.Z\" /proc/[0-9]*/status 2>/dev/null | wc -l); exit 6'",
        zk_server_address(stage_server));
    process = process_start(&options);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 6);
    CU_ASSERT_PTR_NOT_NULL(strstr(stage_output(process), "zombies 0"));
    process_free(process);
    CU_ASSERT_EQUAL(observer_count(stage_observer, LOCK), 0);
}

static void process_one_passes_term_on(void)
{
    char command[4096];
    const char *const arguments[] = {"unshare", "--pid", "--fork", "--kill-child=KILL",
                                     "sh",      "-c",    command,  NULL};
    struct process_options options = {.arguments = arguments};
    struct process *process;

    if (!can_make_pid_namespaces())
        suite_skip("no right to make PID namespaces");
    snprintf(command, sizeof(command),
             "exec " ZKLOCK_COMMAND " exec -S %s " LOCK " -- sh -c 'trap \"exit 7\" TERM; kill -TERM 1; "
             "while :; do sleep 0.02; done'",
             zk_server_address(stage_server));
    process = process_start(&options);
    CU_ASSERT_TRUE(process_wait(process, PATIENCE_MS));
    CU_ASSERT_EQUAL(process_exit_status(process), 7);
    process_free(process);
}

#define ON_STAGE(test) SUITE_TEST_WITH(test, stage_set_up, stage_tear_down)

static const struct suite_test tests[] = {
    ON_STAGE(each_signal_reaches_the_command_once),
    ON_STAGE(term_ends_the_command_and_frees_the_lock),
    ON_STAGE(lock_is_held_until_the_command_has_ended),
    ON_STAGE(stop_and_continuation_are_passed_on_once),
    ON_STAGE(continuation_without_a_stop_is_passed_on_once),
    ON_STAGE(command_stopped_for_too_long_is_killed_before_it_goes_on),
    ON_STAGE(interrupt_key_reaches_the_command_once),
    ON_STAGE(command_reads_from_the_terminal),
    ON_STAGE(command_gets_the_terminal_when_it_asks_for_it),
    ON_STAGE(stop_key_stops_command_and_zklock),
    ON_STAGE(script_around_the_command_stops_and_goes_on_with_it),
    ON_STAGE(stop_key_stops_zklock_while_it_keeps_the_lock),
    ON_STAGE(process_one_reaps_orphans_and_leaves_none),
    ON_STAGE(process_one_passes_term_on),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "exec_signal", tests);
}
