#include "support/process_internal.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILL_PATIENCE_MS = 30000, CHILD_PATIENCE_MS = 3000, MOST_CHILDREN = 16 };

/* A terminal hands on only a few kilobytes unless somebody reads. */
static void read_terminal(struct process *process)
{
    char bytes[4096];
    ssize_t count;

    if (process->terminal < 0)
        return;
    while ((count = read(process->terminal, bytes, sizeof(bytes))) > 0) {
        if (write(process->output.file, bytes, (size_t)count) != count)
            suite_abandon("no memory for the output of a program");
    }
}

static void look_at_state(struct process *process)
{
    const int wishes = WNOHANG | WUNTRACED | WCONTINUED;
    int status = 0;

    if (process->is_reaped || waitpid(process->pid, &status, wishes) != process->pid)
        return;
    process->is_stopped = WIFSTOPPED(status);
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
        process->is_reaped = true;
        process->status = status;
    }
}

static bool has_ended(void *context)
{
    struct process *process = context;

    look_at_state(process);
    read_terminal(process);
    return process->is_reaped;
}

bool process_wait(struct process *process, int timeout_ms)
{
    return eventually(has_ended, process, timeout_ms);
}

bool process_is_running(struct process *process)
{
    return !has_ended(process);
}

static bool is_stopped(void *context)
{
    struct process *process = context;

    look_at_state(process);
    return process->is_stopped && !process->is_reaped;
}

bool process_wait_stopped(struct process *process, int timeout_ms)
{
    return eventually(is_stopped, process, timeout_ms);
}

static void close_capture(struct capture *capture)
{
    close(capture->file);
    free(capture->text);
}

/* Direct children of a process that runs. Returns how many. */
static int find_children(pid_t pid, pid_t *out_children, int most)
{
    char path[64];
    int count = 0;
    int child;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    file = fopen(path, "re");
    while (file && count < most && fscanf(file, "%d", &child) == 1)
        out_children[count++] = child;
    if (file)
        fclose(file);
    return count;
}

static bool is_gone(void *pid)
{
    return kill(*(pid_t *)pid, 0) != 0;
}

/* What it leaves gets a moment to clean up, as a keeper does that ends a session. */
static void kill_with_children(struct process *process)
{
    pid_t children[MOST_CHILDREN];
    int count = find_children(process->pid, children, MOST_CHILDREN);

    kill(process->pid, SIGKILL);
    process_wait(process, KILL_PATIENCE_MS);
    for (int i = 0; i < count; i++) {
        if (!eventually(is_gone, &children[i], CHILD_PATIENCE_MS))
            kill(children[i], SIGKILL);
    }
}

void process_free(struct process *process)
{
    if (!process)
        return;
    if (process_is_running(process))
        kill_with_children(process);
    if (process->terminal >= 0)
        close(process->terminal);
    close_capture(&process->output);
    close_capture(&process->error);
    free(process);
}

pid_t process_pid(const struct process *process)
{
    return process->pid;
}

/* Until it is reaped the pid is its own. */
void process_signal(struct process *process, int signal_number)
{
    if (!process->is_reaped)
        kill(process->pid, signal_number);
}

void process_signal_group(struct process *process, int signal_number)
{
    if (!process->is_reaped)
        kill(-process->pid, signal_number);
}

int process_exit_status(struct process *process)
{
    return !process_is_running(process) && WIFEXITED(process->status) ? WEXITSTATUS(process->status) : -1;
}

int process_end_signal(struct process *process)
{
    return !process_is_running(process) && WIFSIGNALED(process->status) ? WTERMSIG(process->status) : 0;
}

static const char *copy_text(struct capture *capture, size_t *out_length)
{
    struct stat status;
    size_t length = 0;

    if (fstat(capture->file, &status) != 0)
        suite_abandon("cannot read the output of a program");
    capture->text = realloc(capture->text, (size_t)status.st_size + 1);
    if (!capture->text)
        suite_abandon("out of memory");
    while (length < (size_t)status.st_size) {
        ssize_t count = pread(capture->file, capture->text + length, (size_t)status.st_size - length,
                              (off_t)length);

        if (count <= 0)
            break;
        length += (size_t)count;
    }
    capture->text[length] = '\0';
    if (out_length)
        *out_length = length;
    return capture->text;
}

const char *process_output(struct process *process, size_t *out_length)
{
    read_terminal(process);
    return copy_text(&process->output, out_length);
}

const char *process_error(struct process *process, size_t *out_length)
{
    return copy_text(&process->error, out_length);
}

struct text_wish {
    struct process *process;
    const char *(*stream)(struct process *process, size_t *out_length);
    const char *text;
};

static bool has_text(void *context)
{
    struct text_wish *wish = context;

    return strstr(wish->stream(wish->process, NULL), wish->text) != NULL;
}

bool process_wait_output(struct process *process, const char *text, int timeout_ms)
{
    struct text_wish wish = {process, process_output, text};

    return eventually(has_text, &wish, timeout_ms);
}

bool process_wait_error(struct process *process, const char *text, int timeout_ms)
{
    struct text_wish wish = {process, process_error, text};

    return eventually(has_text, &wish, timeout_ms);
}

void process_type(struct process *process, const char *keys)
{
    if (process->terminal < 0 || write(process->terminal, keys, strlen(keys)) != (ssize_t)strlen(keys))
        suite_abandon("cannot type on the terminal of a program");
}
