/* Signals as a descriptor: nothing of zklock runs in a signal handler. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

/* Blocks every signal that zklock deals with, for this thread and those it starts; *out_fd becomes readable
 * when one comes (close-on-exec, non-blocking). Before the first other thread. */
bool signals_open(int *out_fd);

/* A second descriptor, readable while a signal that ends a wait is pending: to be watched, not to be read. */
bool signals_open_ending(int *out_fd);

/* The next signal that came, or 0. */
int signals_next(int fd);

/* TERM, INT, HUP, QUIT: what ends a wait, unless the caller had it ignored. */
bool signals_ends_wait(int signal_number);

/* What is passed on to the running command. */
bool signals_is_passed_on(int signal_number);

/* Whether somebody has continued us since the last signal that stops. */
bool signals_is_continue_pending(void);

/* Drops TSTP and CONT that are pending, since they have been acted on. */
void signals_drop_job_control(void);

#endif
