/* The command as a child process: started so that it finds everything as if its caller had started it. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child_plan {
    char *const *argv;       /* looked up along PATH, as execvp does */
    char *const *environment;
    int terminal_fd;         /* to be taken into the foreground; -1: not */
    int output_fd; /* instead of standard output and error, with no standard input; -1: the caller's */
};

struct child {
    pid_t pid;     /* also its process group */
    int report_fd; /* says why exec failed; -1 after child_exec_error() */
};

/*
 * Forks. The child gets a process group of its own, dies when this thread's process does (parent-death signal
 * KILL), has the caller's descriptors, mask and dispositions (see inherit.h), and executes the command.
 * Returns 0 or an errno.
 * @thread the one that lives as long as the process: the parent-death signal follows the thread
 */
int child_start(const struct child_plan *plan, struct child *out_child);

/* Once the child has ended: the errno with which exec failed, or 0 if the command did start. */
int child_exec_error(struct child *child);

#endif
