/*
 * What zklock says on standard error: one line a message, with the prefix "zklock: ", in one write. Text of
 * strangers is made safe: control characters, direction marks and what is no UTF-8 are shown as escapes.
 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

enum message_level {
    MESSAGE_QUIET,   /* usage errors only */
    MESSAGE_NORMAL,  /* errors and warnings */
    MESSAGE_VERBOSE, /* and the story of the acquire */
    MESSAGE_DEBUG,   /* and each request */
};

/* Once, while there is one thread. */
void message_set_level(enum message_level level);
enum message_level message_level(void);

/* Any thread. message_usage() is shown under -q too, message_story() only with -v and with the time since the
 * start. */
void message_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_story(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line that is drawn anew, and goes before any other is written: where standard error is the terminal in whose
 * foreground we are, and the level is normal. */
bool message_shows_progress(void);
void message_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_progress_end(void);

#endif
