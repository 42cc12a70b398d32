/*
 * Who leads, line by line, told as it changes and without standing in the queue.
 *
 * usage: follow_leader SERVERS PATH   until its input ends
 */
#include <stdio.h>

#include <zklock.h>
#include <zklock_observer.h>

/* Runs on the session's notifier thread. What others wrote is not printed: it may be anything. */
static void on_leader(zklock_observer *observer, const zklock_sighting *sighting, void *context)
{
    (void)observer;
    (void)context;
    if (sighting->status != ZKLOCK_OK)
        printf("not to be seen: %s\n", zklock_status_text(sighting->status));
    else if (!sighting->leader)
        puts("nobody leads");
    else
        printf("token %llu leads, and says %zu bytes of itself\n", (unsigned long long)sighting->leader->token,
               sighting->leader->payload_size);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    zklock_session_options options;
    zklock_session *session = NULL;
    zklock_observer *observer = NULL;

    if (argc != 3) {
        fprintf(stderr, "usage: follow_leader SERVERS PATH\n");
        return 64;
    }
    zklock_session_options_init(&options);
    options.servers = argv[1];
    zklock_status status = zklock_session_open(&options, &session);
    if (status == ZKLOCK_OK)
        status = zklock_observer_start(session, argv[2], on_leader, NULL, &observer);
    if (status != ZKLOCK_OK)
        fprintf(stderr, "%s\n", zklock_status_text(status));
    while (status == ZKLOCK_OK && getchar() != EOF)
        continue;
    zklock_observer_stop(observer);
    zklock_session_close(session, -1);
    return zklock_status_exit(status);
}
