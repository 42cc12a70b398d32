#include "processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

/* The command's name stands in parentheses and may contain anything, parentheses too: look for the
 * last one. */
static bool parse_stat(const char *text, struct process *out_process)
{
    const char *rest = strrchr(text, ')');
    struct process process = {.pid = (pid_t)atoi(text)};
    int parent;
    int group;

    if (!rest ||
        sscanf(rest + 1, " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &process.state, &parent, &group, &process.start) != 4)
        return false;
    process.parent = parent;
    process.group = group;
    *out_process = process;
    return true;
}

static bool read_process(pid_t pid, struct process *out_process)
{
    char path[64];
    char text[1024];
    ssize_t length;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return parse_stat(text, out_process);
}

static bool append(struct process_list *list, const struct process *process)
{
    /* Doubling at the powers of two needs no capacity beside the count. */
    if ((list->count & (list->count + 1)) == 0 || !list->items) {
        struct process *grown = realloc(list->items, sizeof(*grown) * 2 * (list->count + 1));

        if (!grown)
            return false;
        list->items = grown;
    }
    list->items[list->count++] = *process;
    return true;
}

static const struct process *find(const struct process_list *list, pid_t pid)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].pid == pid)
            return &list->items[i];
    }
    return NULL;
}

/* In a PID namespace that has got no /proc of its own the numbers there are other processes'. */
static bool is_proc_ours(void)
{
    char text[32];
    ssize_t length = readlink("/proc/self", text, sizeof(text) - 1);

    if (length <= 0)
        return false;
    text[length] = '\0';
    return (pid_t)atoi(text) == getpid();
}

static bool read_all(struct process_list *out_list)
{
    struct process_list list = {NULL, 0};
    DIR *directory = is_proc_ours() ? opendir("/proc") : NULL;
    struct dirent *entry;
    struct process process;
    bool is_complete = true;

    if (!directory)
        return false;
    while (is_complete && (entry = readdir(directory)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0]) && read_process((pid_t)atoi(entry->d_name), &process))
            is_complete = append(&list, &process);
    }
    closedir(directory);
    is_complete = is_complete && find(&list, getpid());
    if (!is_complete)
        process_list_clear(&list);
    *out_list = list;
    return is_complete;
}

static bool is_stranger(const struct process_list *strangers, const struct process *process)
{
    const struct process *known = strangers ? find(strangers, process->pid) : NULL;

    return known && known->start == process->start;
}

/* Walks up to `root`. The depth bound is for a picture that was taken while parents changed: it may contain a
 * ring. */
static bool descends(const struct process_list *all, const struct process *process, pid_t root,
                     const struct process_list *strangers)
{
    for (size_t depth = 0; process && depth <= all->count; depth++) {
        if (process->pid == root || is_stranger(strangers, process))
            return false;
        if (process->parent == root)
            return true;
        process = find(all, process->parent);
    }
    return false;
}

bool processes_below(pid_t root, const struct process_list *strangers, struct process_list *out_list)
{
    struct process_list all;
    bool is_complete = true;

    *out_list = (struct process_list){NULL, 0};
    if (!read_all(&all))
        return false;
    for (size_t i = 0; i < all.count && is_complete; i++) {
        const struct process *process = &all.items[i];

        if (process->state != 'Z' && process->state != 'X' && descends(&all, process, root, strangers))
            is_complete = append(out_list, process);
    }
    if (!is_complete)
        process_list_clear(out_list);
    process_list_clear(&all);
    return is_complete;
}

bool processes_share_group(pid_t group, pid_t self)
{
    struct process_list all;
    bool is_shared = false;

    if (!read_all(&all))
        return false;
    for (size_t i = 0; i < all.count && !is_shared; i++) {
        const struct process *process = &all.items[i];

        /* An ancestor is somebody above whom we stand. */
        if (process->group == group && process->pid != self && process->state != 'Z')
            is_shared = !descends(&all, find(&all, self), process->pid, NULL);
    }
    process_list_clear(&all);
    return is_shared;
}

void process_signal(const struct process *process, int signal_number)
{
    struct process now;
    int fd = pidfd_open(process->pid, 0);

    if (fd < 0) {
        if (errno != ESRCH)
            kill(process->pid, signal_number);
        return;
    }
    if (read_process(process->pid, &now) && now.start == process->start)
        pidfd_send_signal(fd, signal_number, NULL, 0);
    close(fd);
}

void process_list_clear(struct process_list *list)
{
    free(list->items);
    *list = (struct process_list){NULL, 0};
}
