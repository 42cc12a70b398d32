/*
 * What the library asks of the system, answered by the virtual world (the linker's --wrap leads here): waiting lets
 * the world go on, and what stands in a payload is the same on every machine.
 */
#include <pthread.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "stand_in.h"

pthread_t __real_pthread_self(void);
pthread_t __wrap_pthread_self(void);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
pid_t __wrap_getpid(void);
int __wrap_gethostname(char *name, size_t size);
int __wrap_getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **out_found);

/* Every wake-up may be spurious: the caller looks again. */
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)condition;
    pthread_mutex_unlock(mutex);
    run_pump();
    pthread_mutex_lock(mutex);
    return 0;
}

static int pretended;

void stand_in_for_thread(int number)
{
    pretended = number;
}

pthread_t __wrap_pthread_self(void)
{
    return pretended ? (pthread_t)pretended : __real_pthread_self();
}

pid_t __wrap_getpid(void)
{
    return 4711;
}

int __wrap_gethostname(char *name, size_t size)
{
    strncpy(name, "host", size);
    return 0;
}

int __wrap_getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **out_found)
{
    (void)uid;
    (void)entry;
    (void)buffer;
    (void)size;
    *out_found = NULL;
    return 0;
}
