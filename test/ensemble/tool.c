#include "ensemble/tool.h"

#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void become_tool(const char *const argv[], int output, bool is_quiet)
{
    int nothing = open("/dev/null", O_RDWR);

    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    if (is_quiet)
        dup2(nothing, STDERR_FILENO);
    execvp(argv[0], (char *const *)argv);
    if (!is_quiet)
        perror(argv[0]);
    _exit(127);
}

/* Reads all, keeps what has room. */
static void read_all(int input, char *text, size_t size)
{
    char surplus[4096];
    size_t length = 0;
    ssize_t count;

    do {
        bool has_room = length + 1 < size;

        count = read(input, has_room ? text + length : surplus, has_room ? size - 1 - length : sizeof(surplus));
        if (count > 0 && has_room)
            length += (size_t)count;
    } while (count > 0 || (count < 0 && errno == EINTR));
    if (size == 0)
        return;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    text[length] = '\0';
}

static bool run(const char *const argv[], char *out_text, size_t size, bool is_quiet)
{
    int ends[2];
    int status = 0;
    pid_t tool;

    if (pipe2(ends, O_CLOEXEC) < 0)
        suite_abandon("%s: no pipe: %s", argv[0], strerror(errno));
    fflush(NULL);
    tool = fork();
    if (tool < 0)
        suite_abandon("%s: %s", argv[0], strerror(errno));
    if (tool == 0)
        become_tool(argv, ends[1], is_quiet);
    close(ends[1]);
    read_all(ends[0], out_text, out_text ? size : 0);
    close(ends[0]);
    while (waitpid(tool, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool tool_run(const char *const argv[], char *out_text, size_t size)
{
    return run(argv, out_text, size, false);
}

bool tool_run_quietly(const char *const argv[], char *out_text, size_t size)
{
    return run(argv, out_text, size, true);
}

void tool_require(const char *const argv[], char *out_text, size_t size)
{
    char line[512] = "";
    size_t length = 0;

    if (tool_run(argv, out_text, size))
        return;
    for (int i = 0; argv[i] && length < sizeof(line); i++)
        length += (size_t)snprintf(line + length, sizeof(line) - length, " %s", argv[i]);
    suite_abandon("this command failed:%s", line);
}
