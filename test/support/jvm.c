#include "support/jvm.h"

#include "support/eventually.h"
#include "support/installation.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 64, PID_OUTPUT = 3, STOP_GRACE_MS = 10000, KILL_PATIENCE_MS = 30000 };

extern char **environ;

struct command {
    char *words[MOST_ARGUMENTS + 1];
    int count;
};

static void add_word(struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_word(struct command *command, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (command->count < MOST_ARGUMENTS && vasprintf(&command->words[command->count], format, arguments) >= 0)
        command->count++;
    va_end(arguments);
}

static void add_flags(struct command *command, const char *flags)
{
    char *copy = strdup(flags ? flags : "");
    char *rest = copy;

    for (char *flag = strsep(&rest, " \n"); flag; flag = strsep(&rest, " \n")) {
        if (flag[0])
            add_word(command, "%s", flag);
    }
    free(copy);
}

static void free_command(struct command *command)
{
    for (int i = 0; i < command->count; i++)
        free(command->words[i]);
}

static void compose_command(struct command *command, const char *directory, const char *config_file,
                            const char *flags)
{
    char *class_path = installation_class_path();
    char *java = installation_java();

    add_word(command, "%s", ZKLOCK_SERVER_KEEPER);
    add_word(command, "%d", (int)getpid());
    add_word(command, "%s", directory);
    add_word(command, "%s", java ? java : "java");
    /* What a server that lives for seconds wants: a quick start, little memory, few threads. */
    add_flags(command, "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dzookeeper.jmx.log4j.disable=true"
                       " -Dzookeeper.preAllocSize=1024 -Dzookeeper.admin.enableServer=false"
                       " -Dorg.slf4j.simpleLogger.showDateTime=true"
                       " -Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS");
    add_word(command, "-Dorg.slf4j.simpleLogger.defaultLogLevel=%s",
             getenv("ZKLOCK_SERVER_LOG") ? getenv("ZKLOCK_SERVER_LOG") : "warn");
    add_word(command, "-Dzookeeper.log.dir=%s", directory);
    add_flags(command, flags);
    add_word(command, "-cp");
    /* The directory first: it holds the logging set-up that upstream's own back ends look for. */
    add_word(command, "%s:%s", directory, class_path ? class_path : "");
    add_word(command, "org.apache.zookeeper.server.quorum.QuorumPeerMain");
    add_word(command, "%s", config_file);
    free(class_path);
    free(java);
}

static pid_t spawn_keeper(char **words, int pid_output, const char *log_file)
{
    posix_spawn_file_actions_t actions;
    pid_t keeper;
    int failure;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_file, O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pid_output, PID_OUTPUT);
    /* An inherited socket of the test's client would stay open after the client has closed it. */
    posix_spawn_file_actions_addclosefrom_np(&actions, PID_OUTPUT + 1);
    failure = posix_spawn(&keeper, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure == 0 ? keeper : -1;
}

static bool read_pid(int pid_input, pid_t *out_pid)
{
    ssize_t length;

    do
        length = read(pid_input, out_pid, sizeof(*out_pid));
    while (length < 0);
    return length == (ssize_t)sizeof(*out_pid);
}

bool jvm_start(struct jvm *jvm, const char *directory, const char *config_file, const char *flags)
{
    struct command command = {.count = 0};
    char log_file[4096];
    int pipe_ends[2];

    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return false;
    snprintf(log_file, sizeof(log_file), "%s/server.log", directory);
    compose_command(&command, directory, config_file, flags);
    /* dup2 onto itself would leave close-on-exec set. */
    if (pipe_ends[1] == PID_OUTPUT)
        pipe_ends[1] = fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, PID_OUTPUT + 1);
    jvm->keeper = spawn_keeper(command.words, pipe_ends[1], log_file);
    free_command(&command);
    close(pipe_ends[1]);
    if (jvm->keeper < 0 || !read_pid(pipe_ends[0], &jvm->pid)) {
        close(pipe_ends[0]);
        return false;
    }
    close(pipe_ends[0]);
    jvm->pid_fd = pidfd_open(jvm->pid, 0);
    return true;
}

static void forget(struct jvm *jvm)
{
    if (jvm->pid_fd >= 0)
        close(jvm->pid_fd);
    memset(jvm, 0, sizeof(*jvm));
    jvm->pid_fd = -1;
}

static bool is_gone(void *context)
{
    struct jvm *jvm = context;

    if (jvm->keeper > 0 && waitpid(jvm->keeper, NULL, WNOHANG) != 0)
        forget(jvm);
    return jvm->keeper <= 0;
}

bool jvm_is_running(struct jvm *jvm)
{
    return !is_gone(jvm);
}

void jvm_signal(struct jvm *jvm, int signal_number)
{
    if (jvm_is_running(jvm) && jvm->pid_fd >= 0)
        pidfd_send_signal(jvm->pid_fd, signal_number, NULL, 0);
}

static bool is_thread_stopped(const char *stat_file)
{
    FILE *file = fopen(stat_file, "re");
    char line[512] = "";
    const char *name_end;

    /* A thread that has just ended does not run either. */
    if (!file)
        return true;
    if (!fgets(line, sizeof(line), file))
        line[0] = '\0';
    fclose(file);
    name_end = strrchr(line, ')');
    return !name_end || name_end[2] == 'T';
}

static bool is_standing_still(void *context)
{
    struct jvm *jvm = context;
    char pattern[64];
    glob_t threads;
    bool is_still = true;

    snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/stat", (int)jvm->pid);
    if (glob(pattern, 0, NULL, &threads) != 0)
        return true;
    for (size_t i = 0; i < threads.gl_pathc; i++)
        is_still = is_still && is_thread_stopped(threads.gl_pathv[i]);
    globfree(&threads);
    return is_still;
}

void jvm_pause(struct jvm *jvm)
{
    jvm_signal(jvm, SIGSTOP);
    eventually(is_standing_still, jvm, STOP_GRACE_MS);
}

void jvm_stop(struct jvm *jvm)
{
    jvm_signal(jvm, SIGTERM);
    jvm_signal(jvm, SIGCONT);
    if (!eventually(is_gone, jvm, STOP_GRACE_MS))
        jvm_kill(jvm);
}

void jvm_kill(struct jvm *jvm)
{
    jvm_signal(jvm, SIGKILL);
    eventually(is_gone, jvm, KILL_PATIENCE_MS);
}
