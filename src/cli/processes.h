/*
 * The processes below one, read from /proc: how a job is found whose members have left their process group or
 * lost their parents. A list is a picture of one moment; who wants all of them reads again until none is
 * left.
 */
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    pid_t parent;
    pid_t group;
    char state;               /* as /proc shows it: R S D T Z ... */
    unsigned long long start; /* in clock ticks since boot: tells two processes of one number apart */
};

struct process_list {
    struct process *items;
    size_t count;
};

/* All descendants of `root` without those in or below `strangers` (may be NULL), zombies left out. False
 * without memory or a /proc that shows our own PID namespace; then the list is empty. */
bool processes_below(pid_t root, const struct process_list *strangers, struct process_list *out_list);

/* Whether somebody is in process group `group` who is neither `self` nor an ancestor of it. */
bool processes_share_group(pid_t group, pid_t self);

/* Sends a signal to that very process, not to a later one of the same number. */
void process_signal(const struct process *process, int signal_number);

void process_list_clear(struct process_list *list);

#endif
