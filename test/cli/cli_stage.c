#include "cli_stage.h"

#include "support/directory.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROCESSES = 32, MOST_ARGUMENTS = 48, MOST_FILES = 16, TEXT_SIZE = 1 << 20 };

struct zk_server *stage_server;
struct observer *stage_observer;
struct fault_proxy *stage_proxy;

static struct process *processes[MOST_PROCESSES];
static int process_count;
static char *directory;
static char *files[MOST_FILES];
static int file_count;
static char text_of_file[TEXT_SIZE];

void stage_set_up(void)
{
    stage_server = zk_server_start(NULL);
    stage_observer = observer_open(zk_server_address(stage_server), 10000);
}

void stage_put_proxy_between(void)
{
    stage_proxy = fault_proxy_start(zk_server_port(stage_server));
}

void stage_tear_down(void)
{
    while (process_count > 0)
        process_free(processes[--process_count]);
    observer_close(stage_observer);
    fault_proxy_free(stage_proxy);
    zk_server_free(stage_server);
    stage_observer = NULL;
    stage_proxy = NULL;
    stage_server = NULL;
    while (file_count > 0)
        free(files[--file_count]);
    if (directory)
        directory_remove(directory);
    free(directory);
    directory = NULL;
}

const char *stage_file(const char *name)
{
    if (!directory)
        directory = directory_make("zklock-cli");
    if (!directory || file_count == MOST_FILES || asprintf(&files[file_count], "%s/%s", directory, name) < 0)
        suite_abandon("cannot make a directory for the test's files");
    return files[file_count++];
}

const char *stage_read(const char *path)
{
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text_of_file, 1, TEXT_SIZE - 1, file) : 0;

    text_of_file[length] = '\0';
    if (file)
        fclose(file);
    return text_of_file;
}

struct wanted_text {
    const char *path;
    const char *text;
};

static bool has_text(void *context)
{
    const struct wanted_text *wanted = context;

    return strstr(stage_read(wanted->path), wanted->text) != NULL;
}

bool stage_wait_text(const char *path, const char *text, int timeout_ms)
{
    struct wanted_text wanted = {path, text};

    return eventually(has_text, &wanted, timeout_ms);
}

int stage_count_text(const char *path, const char *text)
{
    int count = 0;

    for (const char *at = strstr(stage_read(path), text); at; at = strstr(at + 1, text))
        count++;
    return count;
}

bool stage_has_more(void *growth)
{
    const struct stage_growth *wanted = growth;

    return stage_count_text(wanted->path, "\n") > wanted->count;
}

bool stage_is_process_gone(void *pid)
{
    return kill(*(pid_t *)pid, 0) != 0;
}

struct process *stage_start_with(const struct process_options *options)
{
    struct process_options whole = *options;
    const char *arguments[MOST_ARGUMENTS + 2] = {ZKLOCK_COMMAND};
    const char *environment[16] = {NULL};
    char servers[64] = "ZKLOCK_SERVERS";
    int count = 0;

    while (options->arguments[count] && count < MOST_ARGUMENTS) {
        arguments[count + 1] = options->arguments[count];
        count++;
    }
    if (stage_server)
        snprintf(servers, sizeof(servers), "ZKLOCK_SERVERS=%s",
                 stage_proxy ? fault_proxy_address(stage_proxy) : zk_server_address(stage_server));
    /* The caller's own settings come later and so prevail. */
    environment[0] = servers;
    for (int i = 0; options->environment && options->environment[i] && i < 14; i++)
        environment[i + 1] = options->environment[i];
    whole.arguments = arguments;
    whole.environment = environment;
    if (process_count == MOST_PROCESSES)
        suite_abandon("too many processes on the stage");
    return processes[process_count++] = process_start(&whole);
}

struct process *stage_start(const char *argument, ...)
{
    const char *arguments[MOST_ARGUMENTS + 1] = {argument};
    struct process_options options = {.arguments = arguments};
    va_list rest;

    va_start(rest, argument);
    for (int i = 1; i < MOST_ARGUMENTS && arguments[i - 1]; i++)
        arguments[i] = va_arg(rest, const char *);
    va_end(rest);
    return stage_start_with(&options);
}

int stage_end(struct process *process)
{
    return process_wait(process, PATIENCE_MS) ? process_exit_status(process) : -1;
}

struct process *stage_hold(const char *label)
{
    struct process *holder = stage_start("exec", "--label", label, LOCK, "--", "sh", "-c",
                                         "echo held; exec sleep 300", NULL);

    if (!process_wait_output(holder, "held\n", PATIENCE_MS))
        suite_abandon("the holder does not get the lock: %s", stage_error(holder));
    return holder;
}

void stage_forget(struct process *process)
{
    for (int i = 0; i < process_count; i++) {
        if (processes[i] == process)
            processes[i--] = processes[--process_count];
    }
    process_free(process);
}

void stage_let_go(struct process *holder)
{
    process_signal(holder, SIGTERM);
}

int stage_lines(const char *text)
{
    int lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

const char *stage_output(struct process *process)
{
    return process_output(process, NULL);
}

const char *stage_error(struct process *process)
{
    return process_error(process, NULL);
}

bool stage_delete_contender(int index)
{
    struct observed_list list;
    char path[OBSERVER_PATH_SIZE];
    bool is_deleted = false;

    if (observer_list(stage_observer, LOCK, &list) != ZOK)
        return false;
    if (index < list.count) {
        snprintf(path, sizeof(path), "%s/%s", LOCK, list.nodes[index].name);
        is_deleted = observer_delete(stage_observer, path) == ZOK;
    }
    observed_list_clear(&list);
    return is_deleted;
}
