/*
 * What the library's calls lead to in its copy for these tests (see redirected_calls.txt). Only its own calls: those of
 * the tests, of libzookeeper and of the C library itself stay what they are.
 */
#include <dirent.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "failure/fail.h"
#include "lock/thread.h"
#include "failure/guarded_calls.h"

#define IS_DUE(name) fail_is_due(name, __builtin_return_address(0))

static pthread_mutex_t waiter_mutex = PTHREAD_MUTEX_INITIALIZER;
static void (*let_world_go_on)(void);

/* Memory, if there is any, goes into the ledger. */
static void *booked(void *memory, const char *what, const void *site)
{
    ledger_add(memory, what, site);
    return memory;
}

static void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

void *guarded_malloc(size_t size)
{
    return IS_DUE("malloc") ? refuse() : booked(malloc(size), "malloc", __builtin_return_address(0));
}

void *guarded_calloc(size_t count, size_t size)
{
    return IS_DUE("calloc") ? refuse() : booked(calloc(count, size), "calloc", __builtin_return_address(0));
}

void *guarded_realloc(void *memory, size_t size)
{
    if (IS_DUE("realloc"))
        return refuse();
    ledger_remove(memory);
    return booked(realloc(memory, size), "realloc", __builtin_return_address(0));
}

void guarded_free(void *memory)
{
    int failure = errno;

    ledger_remove(memory);
    free(memory);
    errno = failure;
}

char *guarded_strdup(const char *text)
{
    return IS_DUE("strdup") ? refuse() : booked(strdup(text), "strdup", __builtin_return_address(0));
}

char *guarded_strndup(const char *text, size_t size)
{
    return IS_DUE("strndup") ? refuse() : booked(strndup(text, size), "strndup", __builtin_return_address(0));
}

/* What is left in *out_text after a failure is undefined: here, what nobody can use without being seen. */
static int print(char **out_text, const char *format, va_list arguments, const void *site)
{
    int size = -1;

    if (!fail_is_due("asprintf", site))
        size = vasprintf(out_text, format, arguments);
    if (size >= 0)
        ledger_add(*out_text, "asprintf", site);
    else
        *out_text = (char *)(uintptr_t)1;
    return size;
}

int guarded_vasprintf(char **out_text, const char *format, va_list arguments)
{
    return print(out_text, format, arguments, __builtin_return_address(0));
}

int guarded_asprintf(char **out_text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int size = print(out_text, format, arguments, __builtin_return_address(0));
    va_end(arguments);
    return size;
}

static int refuse_descriptor(void)
{
    errno = EMFILE;
    return -1;
}

int guarded_open(const char *path, int flags, ...)
{
    va_list rest;

    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return IS_DUE("open") ? refuse_descriptor() : open(path, flags, mode);
}

int guarded_eventfd(unsigned count, int flags)
{
    return IS_DUE("eventfd") ? refuse_descriptor() : eventfd(count, flags);
}

int guarded_timerfd_create(int clock, int flags)
{
    return IS_DUE("timerfd_create") ? refuse_descriptor() : timerfd_create(clock, flags);
}

int guarded_socket(int domain, int type, int protocol)
{
    return IS_DUE("socket") ? refuse_descriptor() : socket(domain, type, protocol);
}

DIR *guarded_opendir(const char *path)
{
    return IS_DUE("opendir") ? refuse() : opendir(path);
}

int guarded_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **out_found)
{
    return IS_DUE("getaddrinfo") ? EAI_MEMORY : getaddrinfo(host, port, hints, out_found);
}

int guarded_getnameinfo(const struct sockaddr *address, socklen_t size, char *host, socklen_t host_size, char *port,
                        socklen_t port_size, int flags)
{
    if (IS_DUE("getnameinfo"))
        return EAI_MEMORY;
    return getnameinfo(address, size, host, host_size, port, port_size, flags);
}

int guarded_getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **out_found)
{
    if (!IS_DUE("getpwuid_r"))
        return getpwuid_r(uid, entry, buffer, size, out_found);
    *out_found = NULL;
    return ENOMEM;
}

int guarded_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
    return IS_DUE("pthread_create") ? EAGAIN : pthread_create(thread, attributes, run, arg);
}

/* ---------------------------------------------------------------- waiting */

void guarded_calls_set_waiter(void (*go_on)(void))
{
    pthread_mutex_lock(&waiter_mutex);
    let_world_go_on = go_on;
    pthread_mutex_unlock(&waiter_mutex);
}

/* In a virtual world every wake-up may be spurious: the caller looks again. */
int guarded_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    pthread_mutex_lock(&waiter_mutex);
    void (*go_on)(void) = let_world_go_on;
    pthread_mutex_unlock(&waiter_mutex);
    if (!go_on)
        return pthread_cond_wait(condition, mutex);
    pthread_mutex_unlock(mutex);
    go_on();
    pthread_mutex_lock(mutex);
    return 0;
}

/* ---------------------------------------------------------------- threads that are one */

static _Thread_local int pretended;

int guarded_calls_be_thread(int number)
{
    int before = pretended;

    pretended = number;
    return before;
}

uint64_t zkl_this_thread(void)
{
    return (uint64_t)guarded_pthread_self();
}

pthread_t guarded_pthread_self(void)
{
    return pretended ? (pthread_t)pretended : pthread_self();
}
