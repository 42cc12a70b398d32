/* One ZooKeeper server process. It runs under a keeper, a small program that ends it when the test program
 * ends in whatever way. Signals go to exactly that process (by pidfd), never to a number. */
#ifndef ZKLOCK_TEST_JVM_H
#define ZKLOCK_TEST_JVM_H

#include <stdbool.h>
#include <sys/types.h>

struct jvm {
    pid_t keeper;       /* 0: not running */
    pid_t pid;
    int pid_fd;
};

/* Starts ZooKeeper with this configuration file. What it prints goes to <directory>/server.log; the directory
 * is removed when the test program dies. flags: for the JVM, separated by blanks; may be NULL. */
bool jvm_start(struct jvm *jvm, const char *directory, const char *config_file, const char *flags);
bool jvm_is_running(struct jvm *jvm);
void jvm_signal(struct jvm *jvm, int signal_number);
/* SIGSTOP; returns when every thread of the process stands still. */
void jvm_pause(struct jvm *jvm);
/* TERM, and KILL when that does not help; returns when the process is gone. */
void jvm_stop(struct jvm *jvm);
void jvm_kill(struct jvm *jvm);

#endif
