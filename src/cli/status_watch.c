/* zklock status --watch: a live view on a terminal; elsewhere a line for every change. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "colour.h"
#include "commands.h"
#include "connection.h"
#include "message.h"
#include "payload.h"
#include "safe_text.h"
#include "signals.h"
#include "status.h"
#include "subcommand.h"

enum { PERIOD_MS = 1000, READ_LIMIT_MS = 1000, LINE_SIZE = 2048 };

#define OTHER_SCREEN "\x1b[?1049h\x1b[?25l"
#define OWN_SCREEN "\x1b[?25h\x1b[?1049l"
#define CLEARED "\x1b[H\x1b[J"

struct watch {
    zklock_session *session;
    const struct words *words;
    int signal_fd;
    bool is_live;  /* on a terminal, which is drawn anew */
    bool has_keys;
    struct termios modes;
    char **seen;   /* the latest line of each path */
};

static void enter_screen(const struct watch *watch)
{
    struct termios raw = watch->modes;

    if (watch->is_live)
        fputs(OTHER_SCREEN, stdout);
    if (!watch->has_keys)
        return;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

static void leave_screen(const struct watch *watch)
{
    if (watch->has_keys)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &watch->modes);
    if (watch->is_live)
        fputs(OWN_SCREEN, stdout);
    fflush(stdout);
}

static void print_clock(char *buffer, size_t size)
{
    time_t now = time(NULL);
    struct tm fields;

    if (!localtime_r(&now, &fields) || strftime(buffer, size, "%H:%M:%S", &fields) == 0)
        buffer[0] = '\0';
}

/* One path in one line, without the time. */
static void describe(const char *path, const zklock_queue *queue, char *buffer, size_t size)
{
    char raw[LINE_SIZE];
    char holder[512] = "free";
    size_t holders = 0;

    while (holders < queue->count && queue->contenders[holders]->is_holder)
        holders++;
    if (queue->count > 0)
        payload_describe(queue->contenders[0], holder, sizeof(holder));
    snprintf(raw, sizeof(raw), "%s: %s%s, %zu wait%s", path, holders ? "held by " : "", holder,
             queue->count - holders, queue->count - holders == 1 ? "s" : "");
    safe_text(raw, strlen(raw), buffer, size);
}

static void describe_silence(const struct watch *watch, const char *path, char *buffer, size_t size)
{
    char detail[512];
    char raw[LINE_SIZE];

    zklock_session_detail(watch->session, detail, sizeof(detail));
    snprintf(raw, sizeof(raw), "%s: no answer%s%s", path, detail[0] ? ": " : "", detail);
    safe_text(raw, strlen(raw), buffer, size);
}

static void describe_failure(const struct watch *watch, const char *path, zklock_status status, char *buffer, size_t size)
{
    char detail[512];
    char raw[LINE_SIZE];

    zklock_session_detail(watch->session, detail, sizeof(detail));
    if (status == ZKLOCK_DENIED && !detail[0])
        snprintf(detail, sizeof(detail), "it needs the right READ");
    snprintf(raw, sizeof(raw), "%s: %s%s%s", path, zklock_status_text(status), detail[0] ? ": " : "", detail);
    safe_text(raw, strlen(raw), buffer, size);
}

/* Elsewhere than on a terminal: what has changed, with the time. */
static void print_change(struct watch *watch, int index, const char *line)
{
    char when[16];

    if (watch->seen[index] && strcmp(watch->seen[index], line) == 0)
        return;
    free(watch->seen[index]);
    watch->seen[index] = strdup(line);
    print_clock(when, sizeof(when));
    printf("%s %s\n", when, line);
}

static void show_path(struct watch *watch, int index)
{
    const char *path = watch->words->items[index];
    zklock_queue *queue = NULL;
    char line[LINE_SIZE];
    zklock_status status = zklock_queue_read(watch->session, path, READ_LIMIT_MS, &queue);

    if (status == ZKLOCK_OK && watch->is_live) {
        status_table_print(path, queue, subcommand_wall_ms());
    } else {
        if (status == ZKLOCK_OK)
            describe(path, queue, line, sizeof(line));
        else if (status == ZKLOCK_NO_SERVER || status == ZKLOCK_TIMEOUT)
            describe_silence(watch, path, line, sizeof(line));
        else
            describe_failure(watch, path, status, line, sizeof(line));
        if (watch->is_live)
            printf("%s\n", line);
        else
            print_change(watch, index, line);
    }
    zklock_queue_free(queue);
}

static void show(struct watch *watch)
{
    char when[16];

    print_clock(when, sizeof(when));
    if (watch->is_live)
        printf("%s%s%s%s\n\n", CLEARED, colour_begin(COLOUR_FAINT),
               watch->has_keys ? "q quits" : "", colour_end());
    for (int i = 0; i < watch->words->count; i++)
        show_path(watch, i);
    if (watch->is_live)
        printf("\n%sas of %s%s\n", colour_begin(COLOUR_FAINT), when, colour_end());
}

/* The status to end with, or -1. */
static int take_keys(const struct watch *watch)
{
    char keys[64];
    ssize_t count = watch->has_keys ? read(STDIN_FILENO, keys, sizeof(keys)) : 0;

    for (ssize_t i = 0; i < count; i++) {
        if (keys[i] == 'q' || keys[i] == 'Q')
            return 0;
    }
    return -1;
}

static int take_signals(const struct watch *watch)
{
    int number;

    while ((number = signals_next(watch->signal_fd)) != 0) {
        if (signals_ends_wait(number))
            return 128 + number;
        if (number == SIGTSTP) {
            leave_screen(watch);
            raise(SIGSTOP);
            enter_screen(watch);
        }
    }
    return -1;
}

static int look_on(struct watch *watch)
{
    struct pollfd descriptors[] = {{watch->signal_fd, POLLIN, 0}, {watch->has_keys ? STDIN_FILENO : -1, POLLIN, 0}};
    int status = -1;

    while (status < 0) {
        show(watch);
        if (commands_finish(0) != 0)
            return EXIT_SYSTEM;
        poll(descriptors, 2, PERIOD_MS);
        status = take_signals(watch);
        if (status < 0 && (descriptors[1].revents & POLLIN))
            status = take_keys(watch);
        if (descriptors[1].revents & (POLLHUP | POLLERR))
            descriptors[1].fd = -1;
    }
    return status;
}

int status_watch(zklock_session *session, const struct words *words)
{
    struct watch watch = {.session = session, .words = words, .is_live = isatty(STDOUT_FILENO)};
    int status;

    watch.has_keys = watch.is_live && isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &watch.modes) == 0;
    watch.seen = calloc((size_t)words->count, sizeof(char *));
    if (!watch.seen || !signals_open(&watch.signal_fd)) {
        free(watch.seen);
        message_error("cannot receive signals");
        return EXIT_SYSTEM;
    }
    enter_screen(&watch);
    status = look_on(&watch);
    leave_screen(&watch);
    for (int i = 0; i < words->count; i++)
        free(watch.seen[i]);
    free(watch.seen);
    return status;
}
