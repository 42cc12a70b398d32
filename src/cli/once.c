#include "once.h"

#include <string.h>

#include "message.h"

enum { LIMIT_MS = 10000 };

/* Somebody else keeps data at the path: a mistake of whoever gave it. */
static int refuse_path(const struct exec *exec)
{
    const char *path = exec->options->path;
    unsigned permits;

    if (zklock_permits_read(exec->session, path, LIMIT_MS, &permits) == ZKLOCK_OK && permits > 0)
        message_error("%s is a semaphore's: its limit is where --once-per would keep its stamp; give another path", path);
    else
        message_error("%s: there are data of somebody else at the path, where --once-per would keep its stamp; give "
                      "another path", path);
    return EXIT_USAGE;
}

static int fail(const struct exec *exec, const char *what, zklock_status status)
{
    const char *needed = strcmp(what, "read") == 0 ? ": it needs the right READ" : ": it needs the right WRITE";

    if (status == ZKLOCK_REFUSED)
        return refuse_path(exec);
    message_error("%s: cannot %s the stamp of --once-per: %s%s", exec->options->path, what, zklock_status_text(status),
                  status == ZKLOCK_DENIED ? needed : "");
    /* The lock is held: that the servers do not answer is no conflict. */
    return status == ZKLOCK_TIMEOUT ? EXIT_NO_SERVER : zklock_status_exit(status);
}

int once_check(struct exec *exec)
{
    int64_t age_ms;
    zklock_status status;
    char age[32];

    if (exec->options->once_per_ms == 0)
        return EXEC_GOES_ON;
    status = zklock_stamp_age(exec->hold.locks[0], LIMIT_MS, &age_ms);
    if (status != ZKLOCK_OK)
        return fail(exec, "read", status);
    if (age_ms < 0 || age_ms >= exec->options->once_per_ms)
        return EXEC_GOES_ON;
    number_print_seconds(age_ms / 1000 * 1000, age, sizeof(age));
    message_story("%s: it has run %s s ago; not again", exec->options->path, age);
    return 0;
}

int once_note(struct exec *exec)
{
    zklock_status status;

    if (exec->options->once_per_ms == 0)
        return 0;
    status = zklock_stamp_write(exec->hold.locks[0], LIMIT_MS);
    return status == ZKLOCK_OK ? 0 : fail(exec, "write", status);
}
