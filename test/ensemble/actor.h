/* A program that plays a part in a test and tells its story on standard output, line by line. It dies with the test
 * program. Functions that cannot do their work end the test program. */
#ifndef ZKLOCK_TEST_ENSEMBLE_ACTOR_H
#define ZKLOCK_TEST_ENSEMBLE_ACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { ACTOR_LINE = 256 };

struct actor;

/* argv as for execvp, NULL at its end. Standard error goes to the test's output. */
struct actor *actor_start(const char *const argv[]);
#define actor_start_with(...) actor_start((const char *const[]){__VA_ARGS__, NULL})
/* Kills what still runs. Accepts NULL. */
void actor_free(struct actor *actor);

pid_t actor_pid(const struct actor *actor);
/* Waits for the next line that begins with this word; lines before it are read over. out_line, of ACTOR_LINE, may be
 * NULL. False when the time is over or the story has ended. */
bool actor_wait_line(struct actor *actor, const char *word, int timeout_ms, char *out_line);
/* Whether a line that begins with this word has come among all those that are there now. Nothing is read over. */
bool actor_has_told(struct actor *actor, const char *word);

/* Gives it a line to read. */
void actor_ask(struct actor *actor, const char *line);
void actor_end_input(struct actor *actor);
void actor_kill(struct actor *actor);
/* Exit status, 128 + n when signal n ended it, -1 when it still runs at the end of the time. */
int actor_wait_end(struct actor *actor, int timeout_ms);

#endif
