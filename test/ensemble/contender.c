/* contender HOSTS SESSION_TIMEOUT_MS PATH count ROUNDS FILE
 *     takes the lock that often; each time adds one to the number in the file, which nothing else protects, and
 *     sees that the token rose. Ends with 0 if nobody was seen inside and no token was out of order.
 *
 * contender HOSTS SESSION_TIMEOUT_MS PATH hold
 *     takes the lock once and tells its story on standard output, a line an event with the time on CLOCK_BOOTTIME in
 *     nanoseconds: held TIME TOKEN, suspended TIME, resumed TIME, lost TIME. Each line that it is given asks whether it
 *     still holds: yes TIME, no TIME. Lets go at the end of its input and says: released TIME STATUS.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "zklock.h"

static _Noreturn void give_up(zklock_status status, zklock *lock)
{
    char detail[256] = "";

    if (lock)
        zklock_detail(lock, detail, sizeof(detail));
    fprintf(stderr, "contender %d: %s: %s\n", getpid(), zklock_status_name(status), detail);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void say(const char *event, const char *more)
{
    printf("%s %" PRId64 " %s\n", event, now_ns(), more);
    fflush(stdout);
}

/* -------------------------------------------------------------------------------------------- counting */

/* What the lock protects. flock shows when two are inside at once. */
static void add_one(int file, uint64_t token)
{
    struct {
        uint64_t count, token;
    } content = {0};

    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        fprintf(stderr, "contender %d: somebody else is inside\n", getpid());
        exit(1);
    }
    if (pread(file, &content, sizeof(content), 0) == (ssize_t)sizeof(content) && content.token >= token) {
        fprintf(stderr, "contender %d: token %" PRIu64 " after %" PRIu64 "\n", getpid(), token, content.token);
        exit(1);
    }
    content.count++;
    content.token = token;
    if (pwrite(file, &content, sizeof(content), 0) != (ssize_t)sizeof(content))
        exit(1);
    flock(file, LOCK_UN);
}

static void count_rounds(zklock *lock, int rounds, const char *path)
{
    FILE *file = fopen(path, "r+e");

    if (!file) {
        perror(path);
        exit(1);
    }
    for (int i = 0; i < rounds; i++) {
        zklock_status status = zklock_acquire(lock, -1);
        uint64_t token = 0;

        if (status == ZKLOCK_OK)
            status = zklock_token(lock, &token);
        if (status != ZKLOCK_OK)
            give_up(status, lock);
        add_one(fileno(file), token);
        status = zklock_release(lock, -1);
        if (status != ZKLOCK_OK)
            give_up(status, lock);
    }
    fclose(file);
}

/* --------------------------------------------------------------------------------------------- holding */

static void tell(zklock *lock, const zklock_event *event, void *arg)
{
    char token[32];

    (void)lock;
    (void)arg;
    snprintf(token, sizeof(token), "%" PRIu64, event->token);
    switch (event->kind) {
    case ZKLOCK_EVENT_ENDED:
        say(event->status == ZKLOCK_OK ? "held" : zklock_status_name(event->status), token);
        break;
    case ZKLOCK_EVENT_SUSPENDED:
        say("suspended", "");
        break;
    case ZKLOCK_EVENT_RESUMED:
        say("resumed", "");
        break;
    case ZKLOCK_EVENT_LOST:
        say("lost", zklock_loss_text(event->loss));
        break;
    case ZKLOCK_EVENT_REQUEUED:
        say("requeued", "");
        break;
    case ZKLOCK_EVENT_RELEASED:
    case ZKLOCK_EVENT_REVOKE:
        break;
    }
}

static void hold_until_end_of_input(zklock *lock)
{
    zklock_status status = zklock_acquire(lock, -1);
    int character;

    if (status != ZKLOCK_OK)
        give_up(status, lock);
    while ((character = getchar()) != EOF) {
        if (character == '\n')
            say(zklock_is_held(lock) ? "yes" : "no", "");
    }
    say("released", zklock_status_name(zklock_release(lock, 5000)));
}

int main(int argc, char **argv)
{
    zklock_session_options session_options;
    zklock_options options;
    zklock_session *session;
    zklock *lock;
    zklock_status status;
    bool is_counting = argc == 7 && strcmp(argv[4], "count") == 0;

    if (!is_counting && !(argc == 5 && strcmp(argv[4], "hold") == 0))
        return 64;
    zklock_session_options_init(&session_options);
    session_options.servers = argv[1];
    session_options.session_timeout_ms = (unsigned)atoi(argv[2]);
    zklock_options_init(&options);
    options.on_event = is_counting ? NULL : tell;
    status = zklock_session_open(&session_options, &session);
    if (status == ZKLOCK_OK)
        status = zklock_new(session, argv[3], &options, &lock);
    if (status != ZKLOCK_OK)
        give_up(status, NULL);
    if (is_counting)
        count_rounds(lock, atoi(argv[5]), argv[6]);
    else
        hold_until_end_of_input(lock);
    zklock_free(lock);
    zklock_session_close(session, 5000);
    return 0;
}
