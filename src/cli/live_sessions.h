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

/* Adds those of one dump to what is there ({0} at first). `servers` as of -S; NULL: localhost:2181. False: no leader said
 * it, since it may not ("4lw.commands.whitelist") or cannot be reached; `reason` says which, as static text. Blocks for
 * some seconds at most.
 *
 * A session that is being heard from while the dump is written may be missing: the server moves it from one expiry time
 * to another while it prints them. Only one that is missing from several dumps has ended. */
bool live_sessions_add(const char *servers, struct live_sessions *sessions, const char **out_reason);
bool live_sessions_contain(const struct live_sessions *sessions, int64_t id);
void live_sessions_clear(struct live_sessions *sessions);

#endif
