/* A session as the common options ask for it. */
#ifndef CLI_CONNECTION_H
#define CLI_CONNECTION_H

#include "options.h"
#include "zklock.h"

/* Begins to connect; says why not. `label` stands in the payload of contenders; NULL: the program's name.
 * Returns 0 or the exit status. */
int connection_open(const struct common_options *options, const char *label, zklock_session **out_session);

/* How long to try to connect. */
int64_t connection_limit_ms(const struct common_options *options);

/* Waits for the connection in one piece: for subcommands that leave nothing behind. Returns 0 or the exit
 * status. */
int connection_wait(zklock_session *session, int64_t limit_ms);

/* Says that no server could be used within the limit, and which address said what. Returns the
 * exit status. */
int connection_fail(zklock_session *session, int64_t limit_ms);

/* Says why it cannot connect, when that has another reason than time. Returns the exit status. */
int connection_refuse(zklock_session *session, zklock_status status);

#endif
