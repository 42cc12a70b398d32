/* Running a program: arguments, environment, streams, signals, exit status.
 *
 * Output goes to memory that never blocks the program; it is complete as soon as the program has ended. The
 * program is killed when the test program ends, and gets no descriptor of the test's but those named here.
 * A function that cannot do its work ends the test program. */
#ifndef ZKLOCK_TEST_PROCESS_H
#define ZKLOCK_TEST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process;

enum { PROCESS_KEPT_DESCRIPTORS = 8 };

/* 0 or NULL: the default. */
struct process_options {
    const char *const *arguments;       /* arguments[0] is the program, looked up on PATH; ends with NULL */
    const char *const *environment;     /* "NAME=value" sets, "NAME" unsets, the last one counts; ends with NULL */
    const char *directory;
    const void *input;                  /* what stands on standard input; default: /dev/null */
    size_t input_length;
    const char *output_file;            /* standard output goes there instead of to memory (appended) */
    const char *error_file;
    int kept[PROCESS_KEPT_DESCRIPTORS]; /* descriptors that it inherits under their numbers; ends with 0 */
    bool is_on_terminal;                /* all three streams are a new terminal, which it controls */
    int columns;                        /* of that terminal; 0: it does not say */
    bool is_group_leader;               /* in a process group of its own */
    void (*before_exec)(void *context); /* runs in the child: only what is safe after a fork */
    void *context;
};

struct process *process_start(const struct process_options *options);
/* Arguments as a list that ends with NULL; defaults for the rest. */
struct process *process_run(const char *program, ...) __attribute__((sentinel));
/* Kills it when it still runs. Accepts NULL. */
void process_free(struct process *process);

pid_t process_pid(const struct process *process);
void process_signal(struct process *process, int signal_number);
/* To its group, which it leads as a group leader or on a terminal. */
void process_signal_group(struct process *process, int signal_number);

/* True when it has ended in time. */
bool process_wait(struct process *process, int timeout_ms);
bool process_is_running(struct process *process);
/* Until it is stopped by a signal (as by SIGSTOP). */
bool process_wait_stopped(struct process *process, int timeout_ms);
/* The exit status; -1 while it runs and when a signal ended it. The signal; 0 when none did. */
int process_exit_status(struct process *process);
int process_end_signal(struct process *process);

/* What it has written so far, with a NUL behind it; valid until the next call for the same stream. On a
 * terminal all is output. */
const char *process_output(struct process *process, size_t *out_length);
const char *process_error(struct process *process, size_t *out_length);
bool process_wait_output(struct process *process, const char *text, int timeout_ms);
bool process_wait_error(struct process *process, const char *text, int timeout_ms);

/* Types on its terminal; "\x03" is Ctrl-C. */
void process_type(struct process *process, const char *keys);

#endif
