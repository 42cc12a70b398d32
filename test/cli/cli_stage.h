/* The stage of the command's tests: a server, an observer, a proxy, and the command itself.
 *
 * Set up per test; what was started on it is killed when it is torn down. */
#ifndef ZKLOCK_TEST_CLI_STAGE_H
#define ZKLOCK_TEST_CLI_STAGE_H

#include "support/critical.h"
#include "support/eventually.h"
#include "support/fault_proxy.h"
#include "support/observer.h"
#include "support/process.h"
#include "support/suite.h"
#include "support/zk_server.h"

#define LOCK "/locks/one"

/* How long anything that must happen may take on a busy machine. */
enum { PATIENCE_MS = 30000 };

extern struct zk_server *stage_server;
extern struct observer *stage_observer;
extern struct fault_proxy *stage_proxy; /* only after stage_put_proxy_between() */

void stage_set_up(void);
void stage_tear_down(void);
/* From here on the command is sent to the server through a proxy. */
void stage_put_proxy_between(void);

/* The stage's own directory, for files of a test, made at first use; "NAME" below it. Valid until the test's
 * end. */
const char *stage_file(const char *name);
/* The whole text of a file; "" when it is not there. Valid until the next call. */
const char *stage_read(const char *path);
/* Until the file contains this text. */
bool stage_wait_text(const char *path, const char *text, int timeout_ms);
/* For eventually(): whether the file has more than `count` lines; whether a process (pid_t *) is gone. */
struct stage_growth {
    const char *path;
    int count;
};
bool stage_has_more(void *growth);
bool stage_is_process_gone(void *pid);
/* How often the text stands in the file. */
int stage_count_text(const char *path, const char *text);

/* Starts the command: arguments up to NULL. ZKLOCK_SERVERS names the stage's server, or the proxy. */
struct process *stage_start(const char *argument, ...) __attribute__((sentinel));
/* The same with everything that a process can be given; arguments[0] and ZKLOCK_SERVERS are filled in. */
struct process *stage_start_with(const struct process_options *options);
/* Waits for its end and returns its exit status; -1 when it did not end or a signal ended it. */
int stage_end(struct process *process);

/* Frees one before the test's end: for tests that start many. */
void stage_forget(struct process *process);

/* Holds LOCK until the test's end or stage_let_go(), in a process of the command. Returns when it is held. */
struct process *stage_hold(const char *label);
void stage_let_go(struct process *holder);

/* The text's number of lines. */
int stage_lines(const char *text);
const char *stage_output(struct process *process);
const char *stage_error(struct process *process);

/* Names of LOCK's contenders in the order of creation: deletes the index-th. False when it is not there. */
bool stage_delete_contender(int index);

#endif
