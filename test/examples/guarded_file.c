/*
 * A file that several hosts or processes append to, one at a time, guarded by a lock and by a fence in front of it. The
 * lock keeps them apart; the fence is for the one that was frozen between looking at the lock and writing.
 *
 * usage: guarded_file SERVERS LOCK FENCE FILE   takes the lock, reads a line from standard input, appends it to FILE
 *
 * Ends with 0 when the line was written, 3 when the fence refused it, 1 after any other failure.
 */
#include <stdio.h>
#include <string.h>

#include <zklock.h>

enum { SESSION_TIMEOUT_MS = 2000, FENCE_LIMIT_MS = 5000 };

static int fail(const char *what, zklock_status status)
{
    fprintf(stderr, "%s: %s\n", what, zklock_status_text(status));
    return 1;
}

/* The resource's side: whoever writes goes through the fence, with the token of the grant that lets it write. */
static int append(const char *file, zklock_fence *fence, uint64_t token, const char *line)
{
    zklock_status status = zklock_fence_enter(fence, token, FENCE_LIMIT_MS);

    if (status == ZKLOCK_STALE) {
        printf("refused: %s\n", zklock_status_text(status));
        return 3;
    }
    if (status != ZKLOCK_OK)
        return fail("the fence", status);
    FILE *out = fopen(file, "a");
    int is_written = out && fputs(line, out) >= 0;
    is_written = out && fclose(out) == 0 && is_written;
    zklock_fence_leave(fence);
    puts(is_written ? "written" : "not written");
    return is_written ? 0 : 1;
}

/* The client's side: what it is about to write was decided while it held the lock. */
static int work(zklock *lock, char **argv)
{
    zklock_fence *fence = NULL;
    uint64_t token;
    char line[256];

    zklock_status status = zklock_acquire(lock, -1);
    if (status == ZKLOCK_OK)
        status = zklock_token(lock, &token);
    if (status != ZKLOCK_OK)
        return fail(argv[2], status);
    status = zklock_fence_open(argv[3], &fence);
    if (status != ZKLOCK_OK)
        return fail(argv[3], status);
    printf("held with token %llu\n", (unsigned long long)token);
    fflush(stdout);
    int exit_status = 1;
    if (fgets(line, sizeof line, stdin))
        exit_status = append(argv[4], fence, token, line);
    zklock_fence_close(fence);
    return exit_status;
}

int main(int argc, char **argv)
{
    zklock_session_options options;
    zklock_session *session = NULL;
    zklock *lock = NULL;

    if (argc != 5) {
        fprintf(stderr, "usage: guarded_file SERVERS LOCK FENCE FILE\n");
        return 64;
    }
    zklock_session_options_init(&options);
    options.servers = argv[1];
    options.session_timeout_ms = SESSION_TIMEOUT_MS;
    zklock_status status = zklock_session_open(&options, &session);
    if (status == ZKLOCK_OK)
        status = zklock_new(session, argv[2], NULL, &lock);
    int exit_status = status == ZKLOCK_OK ? work(lock, argv) : fail(argv[2], status);
    zklock_free(lock);
    zklock_session_close(session, -1);
    return exit_status;
}
