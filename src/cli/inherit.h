/*
 * What the caller of zklock handed over and the command must get back unchanged: descriptors, signal mask,
 * signal dispositions. Recorded before anything else runs, put back between fork and exec.
 */
#ifndef CLI_INHERIT_H
#define CLI_INHERIT_H

#include <stdbool.h>

/*
 * Takes the record, then makes this process robust: descriptors 0 to 2 are open (on /dev/null where the
 * caller had closed them, so that no socket ever becomes "standard error"), and a closed pipe or a background
 * terminal write cannot end or stop a process that holds a lock. Call it first in main().
 */
bool inherit_record(void);

/* Whether the caller handed over a standard output. */
bool inherit_has_output(void);

/* Whether the caller had this signal ignored (as nohup does with HUP). */
bool inherit_ignores(int signal_number);

/*
 * Puts everything back; what the caller did not hand over is closed by the exec that follows.
 * Async-signal-safe: for the child, right before exec.
 */
void inherit_restore(void);

#endif
