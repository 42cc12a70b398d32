/* Which sessions the servers count as alive: the four-letter word "dump", asked of the leader or of a server alone. */
#ifndef CLI_LIVE_SESSIONS_H
#define CLI_LIVE_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_sessions {
    int64_t *ids;
    size_t count;
};

/* `servers` as of -S; NULL: localhost:2181. False: no leader said it, since it may not ("4lw.commands.whitelist") or
 * cannot be reached; `reason` says which, as static text. Blocks for some seconds at most. */
bool live_sessions_read(const char *servers, struct live_sessions *out_sessions, const char **out_reason);
bool live_sessions_contain(const struct live_sessions *sessions, int64_t id);
void live_sessions_clear(struct live_sessions *sessions);

#endif
