#include "ensemble/actor.h"

#include "support/eventually.h"
#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STORY_SIZE = 1 << 18 };

struct actor {
    pid_t pid;
    int pid_fd;
    int input;              /* -1: ended */
    int output;
    int status;             /* -1: not collected yet */
    size_t length;          /* of the story, */
    size_t position;        /* and how much of it was read over */
    char story[STORY_SIZE];
};

static _Noreturn void become_actor(pid_t program, const char *const argv[], int input, int output)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != program)
        _exit(127);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    execvp(argv[0], (char *const *)argv);
    perror(argv[0]);
    _exit(127);
}

struct actor *actor_start(const char *const argv[])
{
    struct actor *actor = calloc(1, sizeof(*actor));
    pid_t program = getpid();
    int inputs[2], outputs[2];

    if (!actor || pipe2(inputs, O_CLOEXEC) < 0 || pipe2(outputs, O_CLOEXEC) < 0)
        suite_abandon("%s: %s", argv[0], strerror(errno));
    fflush(NULL);
    actor->pid = fork();
    if (actor->pid == 0)
        become_actor(program, argv, inputs[0], outputs[1]);
    close(inputs[0]);
    close(outputs[1]);
    actor->input = inputs[1];
    actor->output = outputs[0];
    actor->status = -1;
    actor->pid_fd = actor->pid > 0 ? pidfd_open(actor->pid, 0) : -1;
    if (actor->pid_fd < 0)
        suite_abandon("%s: %s", argv[0], strerror(errno));
    return actor;
}

void actor_free(struct actor *actor)
{
    if (!actor)
        return;
    actor_kill(actor);
    actor_wait_end(actor, -1);
    actor_end_input(actor);
    close(actor->output);
    close(actor->pid_fd);
    free(actor);
}

pid_t actor_pid(const struct actor *actor)
{
    return actor->pid;
}

/* Takes what the actor has said within the time; false when there is nothing more, or no time. */
static bool listen_on(struct actor *actor, int timeout_ms)
{
    struct pollfd output = {.fd = actor->output, .events = POLLIN};
    ssize_t count;

    if (poll(&output, 1, timeout_ms) <= 0)
        return false;
    if (actor->length + 1 >= STORY_SIZE)
        suite_abandon("process %d tells too long a story", actor->pid);
    count = read(actor->output, actor->story + actor->length, STORY_SIZE - 1 - actor->length);
    if (count <= 0)
        return false;
    actor->length += (size_t)count;
    actor->story[actor->length] = '\0';
    return true;
}

static bool is_line_of(const char *line, const char *word)
{
    size_t length = strlen(word);

    return strncmp(line, word, length) == 0 && strchr(" \n", line[length]);
}

/* Finds a whole line from `position` on; moves it behind what it saw. */
static bool find_line(const char *story, size_t *position, const char *word, char *out_line)
{
    const char *line = story + *position, *end;

    while ((end = strchr(line, '\n'))) {
        bool is_found = is_line_of(line, word);

        if (is_found && out_line)
            snprintf(out_line, ACTOR_LINE, "%.*s", (int)(end - line), line);
        line = end + 1;
        *position = (size_t)(line - story);
        if (is_found)
            return true;
    }
    return false;
}

bool actor_wait_line(struct actor *actor, const char *word, int timeout_ms, char *out_line)
{
    int64_t deadline_ms = monotonic_ms() + timeout_ms;

    while (!find_line(actor->story, &actor->position, word, out_line)) {
        if (!listen_on(actor, remaining_ms(deadline_ms)))
            return false;
    }
    return true;
}

bool actor_has_told(struct actor *actor, const char *word)
{
    size_t start = 0;

    while (listen_on(actor, 0))
        continue;
    return find_line(actor->story, &start, word, NULL);
}

void actor_ask(struct actor *actor, const char *line)
{
    if (dprintf(actor->input, "%s\n", line) < 0)
        suite_abandon("process %d reads no more: %s", actor->pid, strerror(errno));
}

void actor_end_input(struct actor *actor)
{
    if (actor->input >= 0)
        close(actor->input);
    actor->input = -1;
}

/* By pidfd, so that it can be nobody else, even after the end. */
void actor_kill(struct actor *actor)
{
    pidfd_send_signal(actor->pid_fd, SIGKILL, NULL, 0);
}

int actor_wait_end(struct actor *actor, int timeout_ms)
{
    struct pollfd end = {.fd = actor->pid_fd, .events = POLLIN};
    int status;

    if (actor->status >= 0)
        return actor->status;
    if (poll(&end, 1, timeout_ms) <= 0 || waitpid(actor->pid, &status, 0) < 0)
        return -1;
    actor->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return actor->status;
}
