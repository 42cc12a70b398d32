#include "support/process_internal.h"

#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 64, CANNOT_START = 125 };

struct plan {
    const struct process_options *options;
    char **environment;
    int streams[3];
    int terminal;           /* the program's end; -1: none */
};

static int open_memory(const char *name)
{
    int file = memfd_create(name, MFD_CLOEXEC);

    /* Appending, as the read position is shared with the program, and its own children write there too. */
    if (file < 0 || fcntl(file, F_SETFL, O_APPEND) != 0)
        suite_abandon("no memory for the output of a program");
    return file;
}

static int open_input(const struct process_options *options)
{
    int file;

    if (!options->input)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    file = memfd_create("input", MFD_CLOEXEC);
    if (file < 0 || write(file, options->input, options->input_length) != (ssize_t)options->input_length
        || lseek(file, 0, SEEK_SET) != 0)
        suite_abandon("no memory for the input of a program");
    return file;
}

static int open_output(const char *path, int memory)
{
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)
                    : fcntl(memory, F_DUPFD_CLOEXEC, 3);

    if (file < 0)
        suite_abandon("cannot open %s for the output of a program", path ? path : "memory");
    return file;
}

static void open_streams(struct process *process, struct plan *plan)
{
    plan->terminal = -1;
    process->terminal = -1;
    process->output.file = open_memory("output");
    process->error.file = open_memory("error");
    if (plan->options->is_on_terminal) {
        const struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)plan->options->columns};

        if (openpty(&process->terminal, &plan->terminal, NULL, NULL, size.ws_col ? &size : NULL) != 0)
            suite_abandon("no terminal: %s", strerror(errno));
        fcntl(process->terminal, F_SETFL, O_NONBLOCK);
        fcntl(process->terminal, F_SETFD, FD_CLOEXEC);
        for (int i = 0; i < 3; i++)
            plan->streams[i] = fcntl(plan->terminal, F_DUPFD_CLOEXEC, 3);
        return;
    }
    plan->streams[0] = open_input(plan->options);
    plan->streams[1] = open_output(plan->options->output_file, process->output.file);
    plan->streams[2] = open_output(plan->options->error_file, process->error.file);
}

static bool names_same(const char *entry, const char *setting)
{
    size_t length = strcspn(setting, "=");

    return strncmp(entry, setting, length) == 0 && entry[length] == '=';
}

static bool is_overridden(const char *entry, const char *const *settings)
{
    for (; settings && *settings; settings++) {
        if (names_same(entry, *settings))
            return true;
    }
    return false;
}

static char **compose_environment(const char *const *settings)
{
    size_t count = 1;
    size_t filled = 0;
    char **environment;

    for (char **entry = environ; *entry; entry++)
        count++;
    for (const char *const *setting = settings; setting && *setting; setting++)
        count++;
    environment = calloc(count, sizeof(*environment));
    if (!environment)
        suite_abandon("out of memory");
    for (char **entry = environ; *entry; entry++) {
        if (!is_overridden(*entry, settings))
            environment[filled++] = *entry;
    }
    for (const char *const *setting = settings; setting && *setting; setting++) {
        if (strchr(*setting, '=') && !is_overridden(*setting, setting + 1))
            environment[filled++] = (char *)*setting;
    }
    return environment;
}

/* From here to exec only calls that are safe after a fork of a process with threads. */
static void settle_descriptors(const struct plan *plan)
{
    for (int i = 0; i < 3; i++)
        dup2(plan->streams[i], i);
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    for (int i = 0; i < PROCESS_KEPT_DESCRIPTORS && plan->options->kept[i] > 0; i++)
        fcntl(plan->options->kept[i], F_SETFD, 0);
}

static _Noreturn void become_program(const struct plan *plan, pid_t parent)
{
    const struct process_options *options = plan->options;
    const char complaint[] = "cannot start the program\n";

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(CANNOT_START);
    if (options->is_on_terminal && (setsid() < 0 || ioctl(plan->streams[0], TIOCSCTTY, 0) != 0))
        _exit(CANNOT_START);
    if (options->is_group_leader)
        setpgid(0, 0);
    settle_descriptors(plan);
    if (options->directory && chdir(options->directory) != 0)
        _exit(CANNOT_START);
    if (options->before_exec)
        options->before_exec(options->context);
    execvpe(options->arguments[0], (char *const *)options->arguments, plan->environment);
    if (write(STDERR_FILENO, complaint, sizeof(complaint) - 1) < 0)
        _exit(CANNOT_START);
    _exit(CANNOT_START);
}

struct process *process_start(const struct process_options *options)
{
    struct process *process = calloc(1, sizeof(*process));
    struct plan plan = {.options = options};
    pid_t parent = getpid();

    if (!process)
        suite_abandon("out of memory");
    open_streams(process, &plan);
    plan.environment = compose_environment(options->environment);
    process->pid = fork();
    if (process->pid == 0)
        become_program(&plan, parent);
    if (process->pid < 0)
        suite_abandon("cannot fork: %s", strerror(errno));
    /* Both sides set the group, so that it stands whoever comes first. */
    if (options->is_group_leader)
        setpgid(process->pid, process->pid);
    for (int i = 0; i < 3; i++)
        close(plan.streams[i]);
    if (plan.terminal >= 0)
        close(plan.terminal);
    free(plan.environment);
    return process;
}

struct process *process_run(const char *program, ...)
{
    const char *arguments[MOST_ARGUMENTS + 1] = {program};
    struct process_options options = {.arguments = arguments};
    va_list list;
    int count = 0;

    va_start(list, program);
    while (arguments[count] && count < MOST_ARGUMENTS)
        arguments[++count] = va_arg(list, const char *);
    va_end(list);
    return process_start(&options);
}
