#include "inherit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { SIGNAL_COUNT = 65 };

/* The kernel's value; older headers lack the name. */
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* One process, one caller: the record is a fact of the process. Written once, before any thread exists. */
static struct {
    int *descriptors; /* ascending */
    int descriptor_count;
    sigset_t mask;
    bool is_ignored[SIGNAL_COUNT];
    bool has_no_output;
} caller;

/* Signals whose disposition zklock itself changes, each for a reason given in set_own_dispositions(). */
static const int own_dispositions[] = {SIGCHLD, SIGPIPE, SIGXFSZ, SIGTTOU};

static int compare_int(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static bool remember(int descriptor)
{
    int *grown = realloc(caller.descriptors, sizeof(int) * (size_t)(caller.descriptor_count + 1));

    if (!grown)
        return false;
    caller.descriptors = grown;
    caller.descriptors[caller.descriptor_count++] = descriptor;
    return true;
}

/* Without /proc there is no list to read; asking number by number finds what an ordinary caller
 * hands over. */
static bool record_by_asking(void)
{
    for (int descriptor = 0; descriptor < 1024; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0 && !remember(descriptor))
            return false;
    }
    return true;
}

static bool record_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    bool is_complete = true;

    if (!directory)
        return record_by_asking();
    while (is_complete && (entry = readdir(directory)) != NULL) {
        int descriptor = atoi(entry->d_name);

        if (entry->d_name[0] != '.' && descriptor != dirfd(directory))
            is_complete = remember(descriptor);
    }
    closedir(directory);
    if (caller.descriptors)
        qsort(caller.descriptors, (size_t)caller.descriptor_count, sizeof(int), compare_int);
    return is_complete;
}

static void record_signals(void)
{
    sigprocmask(SIG_SETMASK, NULL, &caller.mask);
    for (int number = 1; number < SIGNAL_COUNT; number++) {
        struct sigaction action;

        if (sigaction(number, NULL, &action) == 0)
            caller.is_ignored[number] = action.sa_handler == SIG_IGN;
    }
}

/* SIGCHLD ignored would lose the command's status; the other three could end or stop a process that holds a
 * lock for nothing but a message that nobody reads. */
static void set_own_dispositions(void)
{
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
}

/* open() takes the lowest free number: going upwards, that is the gap itself. */
static bool fill_standard_descriptors(void)
{
    caller.has_no_output = fcntl(STDOUT_FILENO, F_GETFD) < 0;
    for (int descriptor = 0; descriptor <= STDERR_FILENO; descriptor++) {
        if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != descriptor)
            return false;
    }
    return true;
}

bool inherit_has_output(void)
{
    return !caller.has_no_output;
}

bool inherit_record(void)
{
    if (!record_descriptors())
        return false;
    record_signals();
    set_own_dispositions();
    return fill_standard_descriptors();
}

bool inherit_ignores(int signal_number)
{
    return signal_number > 0 && signal_number < SIGNAL_COUNT && caller.is_ignored[signal_number];
}

static void close_at_exec_one_by_one(unsigned first, unsigned last)
{
    for (unsigned descriptor = first; descriptor <= last && descriptor < 65536; descriptor++)
        fcntl((int)descriptor, F_SETFD, FD_CLOEXEC);
}

/* Kernels before 5.11 do not know the flag. */
static void close_at_exec(unsigned first, unsigned last)
{
    if (first <= last && close_range(first, last, CLOSE_RANGE_CLOEXEC) != 0)
        close_at_exec_one_by_one(first, last);
}

void inherit_restore(void)
{
    unsigned next = 0;

    for (int i = 0; i < caller.descriptor_count; i++) {
        unsigned kept = (unsigned)caller.descriptors[i];

        if (kept > next)
            close_at_exec(next, kept - 1);
        next = kept + 1;
    }
    close_at_exec(next, ~0U);
    for (size_t i = 0; i < sizeof(own_dispositions) / sizeof(own_dispositions[0]); i++)
        signal(own_dispositions[i], caller.is_ignored[own_dispositions[i]] ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &caller.mask, NULL);
}
