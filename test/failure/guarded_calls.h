/* What the library's calls lead to in its copy for these tests. */
#ifndef ZKLOCK_TEST_GUARDED_CALLS_H
#define ZKLOCK_TEST_GUARDED_CALLS_H

#include <dirent.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>

/* Waiting for a condition runs this instead, without the mutex; NULL: it waits. */
void guarded_calls_set_waiter(void (*go_on)(void));

/* The library takes the calling thread for this one of some others, 0: for what it is. Returns what it was taken for. */
int guarded_calls_be_thread(int number);

void *guarded_malloc(size_t size);
void *guarded_calloc(size_t count, size_t size);
void *guarded_realloc(void *memory, size_t size);
void guarded_free(void *memory);
char *guarded_strdup(const char *text);
char *guarded_strndup(const char *text, size_t size);
int guarded_asprintf(char **out_text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int guarded_vasprintf(char **out_text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
int guarded_open(const char *path, int flags, ...);
int guarded_eventfd(unsigned count, int flags);
int guarded_timerfd_create(int clock, int flags);
int guarded_socket(int domain, int type, int protocol);
DIR *guarded_opendir(const char *path);
int guarded_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **out_found);
int guarded_getnameinfo(const struct sockaddr *address, socklen_t size, char *host, socklen_t host_size, char *port,
                        socklen_t port_size, int flags);
int guarded_getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **out_found);
int guarded_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg);
pthread_t guarded_pthread_self(void);
int guarded_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);

#endif
