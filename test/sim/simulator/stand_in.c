/*
 * What the library asks of the system, answered by the virtual world (the linker's --wrap leads here): waiting lets
 * the world go on, and what stands in a payload is the same on every machine.
 */
#include <pthread.h>
#include <pwd.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "stand_in.h"

uint64_t __real_zkl_this_thread(void);
uint64_t __wrap_zkl_this_thread(void);
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

uint64_t __wrap_zkl_this_thread(void)
{
    return pretended ? (uint64_t)pretended : __real_zkl_this_thread();
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
