#include "support/critical.h"

#include "support/eventually.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

int critical_open(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

bool critical_write(int file, const char *mark, const char *token)
{
    char line[256];
    int length = snprintf(line, sizeof(line), "%s %d %" PRId64 " %s\n", mark, (int)gettid(), boottime_ns(),
                          token && token[0] ? token : "-");

    return length < (int)sizeof(line) && write(file, line, (size_t)length) == length;
}
