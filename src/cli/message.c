#include "message.h"

#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "safe_text.h"

/* A line fits into a pipe at once (PIPE_BUF). */
enum { RAW_SIZE = 2048, LINE_SIZE = 4096, PATIENCE_MS = 100, COLUMNS = 80, LEAST_COLUMNS = 40 };

#define LINE_CLEARED "\r\x1b[K"

/* Whether the cursor stands behind a line of progress. */
static atomic_bool has_progress;

/* Set once, before a second thread exists. */
static enum message_level shown_level = MESSAGE_NORMAL;
static int64_t start_ms;

static int64_t monotonic_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void message_set_level(enum message_level level)
{
    shown_level = level;
    start_ms = monotonic_ms();
}

enum message_level message_level(void)
{
    return shown_level;
}

/* A terminal that was stopped by Ctrl-S, or a full pipe, must not keep a process from guarding its lease. */
static bool is_writable(void)
{
    struct pollfd descriptor = {STDERR_FILENO, POLLOUT, 0};

    return poll(&descriptor, 1, PATIENCE_MS) == 1;
}

/* One write a line, so that lines of several processes do not mix. A message that cannot be written is lost:
 * nothing better can be done about it. */
__attribute__((format(printf, 2, 0)))
static void write_line(const char *prefix, const char *format, va_list arguments)
{
    char raw[RAW_SIZE];
    char line[LINE_SIZE];
    size_t used;

    vsnprintf(raw, sizeof(raw), format, arguments);
    used = (size_t)snprintf(line, sizeof(line), "%szklock: %s",
                            atomic_exchange(&has_progress, false) ? LINE_CLEARED : "", prefix);
    used += safe_text(raw, strlen(raw), line + used, sizeof(line) - used - 1);
    line[used++] = '\n';
    if (is_writable() && write(STDERR_FILENO, line, used) < 0)
        return;
}

#define WRITE_FORMATTED(prefix)                \
    do {                                       \
        va_list arguments;                     \
        va_start(arguments, format);           \
        write_line(prefix, format, arguments); \
        va_end(arguments);                     \
    } while (0)

void message_usage(const char *format, ...)
{
    WRITE_FORMATTED("");
}

void message_error(const char *format, ...)
{
    if (shown_level >= MESSAGE_NORMAL)
        WRITE_FORMATTED("");
}

void message_warn(const char *format, ...)
{
    if (shown_level >= MESSAGE_NORMAL)
        WRITE_FORMATTED("warning: ");
}

void message_story(const char *format, ...)
{
    char prefix[48];

    if (shown_level < MESSAGE_VERBOSE)
        return;
    snprintf(prefix, sizeof(prefix), "+%.3f s: ", (double)(monotonic_ms() - start_ms) / 1000);
    WRITE_FORMATTED(prefix);
}

bool message_shows_progress(void)
{
    return shown_level == MESSAGE_NORMAL && isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

/* One less than the terminal has, so that the cursor stays in the line that is to be cleared. */
static int columns_for_progress(void)
{
    struct winsize size = {0};

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return COLUMNS - 1;
    return (size.ws_col < LEAST_COLUMNS ? LEAST_COLUMNS : size.ws_col) - 1;
}

void message_progress(const char *format, ...)
{
    char raw[RAW_SIZE];
    char text[RAW_SIZE];
    char line[LINE_SIZE];
    va_list arguments;
    int used;

    va_start(arguments, format);
    vsnprintf(raw, sizeof(raw), format, arguments);
    va_end(arguments);
    safe_text(raw, strlen(raw), text, sizeof(text));
    safe_text_cut(text, columns_for_progress() - (int)strlen("zklock: "));
    used = snprintf(line, sizeof(line), LINE_CLEARED "zklock: %s", text);
    atomic_store(&has_progress, true);
    if (is_writable() && write(STDERR_FILENO, line, (size_t)used) < 0)
        return;
}

void message_progress_end(void)
{
    if (atomic_exchange(&has_progress, false) && is_writable() &&
        write(STDERR_FILENO, LINE_CLEARED, strlen(LINE_CLEARED)) < 0)
        return;
}
