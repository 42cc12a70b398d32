#include "failure/fail.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t mutex;
    bool is_armed;
    long first, last, again;
    long calls, hits;
    const char *what; /* of the first hit */
    const void *site;
    long position;
} fail = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void fail_from(long position, long count)
{
    pthread_mutex_lock(&fail.mutex);
    fail.is_armed = true;
    fail.first = position;
    fail.last = position + count - 1;
    fail.again = 0;
    fail.calls = 0;
    fail.hits = 0;
    fail.what = NULL;
    pthread_mutex_unlock(&fail.mutex);
}

void fail_again_after(long distance)
{
    pthread_mutex_lock(&fail.mutex);
    fail.again = fail.first + distance;
    pthread_mutex_unlock(&fail.mutex);
}

void fail_stop(void)
{
    pthread_mutex_lock(&fail.mutex);
    fail.is_armed = false;
    pthread_mutex_unlock(&fail.mutex);
}

static long read_count(const long *count)
{
    pthread_mutex_lock(&fail.mutex);
    long value = *count;
    pthread_mutex_unlock(&fail.mutex);
    return value;
}

long fail_calls(void)
{
    return read_count(&fail.calls);
}

long fail_hits(void)
{
    return read_count(&fail.hits);
}

/* @locks expects the mutex */
static void note_hit(const char *what, const void *site)
{
    if (fail.hits++ > 0)
        return;
    fail.what = what;
    fail.site = site;
    fail.position = fail.calls;
}

bool fail_is_due(const char *what, const void *site)
{
    pthread_mutex_lock(&fail.mutex);
    if (fail.is_armed)
        fail.calls++;
    bool is_chosen = (fail.calls >= fail.first && fail.calls <= fail.last) || fail.calls == fail.again;
    bool is_due = fail.is_armed && is_chosen;
    if (is_due)
        note_hit(what, site);
    pthread_mutex_unlock(&fail.mutex);
    return is_due;
}

/* As addr2line takes it. */
static uintptr_t offset_of(const void *site)
{
    Dl_info info;

    return site && dladdr(site, &info) ? (uintptr_t)site - (uintptr_t)info.dli_fbase : 0;
}

const char *fail_text(void)
{
    static char text[128];

    pthread_mutex_lock(&fail.mutex);
    if (fail.what)
        snprintf(text, sizeof text, "%s, position %ld, program+0x%jx", fail.what, fail.position,
                 (uintmax_t)offset_of(fail.site));
    else
        snprintf(text, sizeof text, "nothing failed");
    pthread_mutex_unlock(&fail.mutex);
    return text;
}

/* ---------------------------------------------------------------- the ledger */

enum { BUCKETS = 1024 };

struct entry {
    struct entry *next;
    const void *memory;
    const char *what;
    const void *site;
};

static struct {
    pthread_mutex_t mutex;
    struct entry *buckets[BUCKETS];
    long count;
} ledger = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct entry **bucket_of(const void *memory)
{
    return &ledger.buckets[((uintptr_t)memory >> 4) % BUCKETS];
}

void ledger_add(const void *memory, const char *what, const void *site)
{
    struct entry *entry = memory ? malloc(sizeof *entry) : NULL;

    if (!entry)
        return;
    pthread_mutex_lock(&ledger.mutex);
    *entry = (struct entry){*bucket_of(memory), memory, what, site};
    *bucket_of(memory) = entry;
    ledger.count++;
    pthread_mutex_unlock(&ledger.mutex);
}

void ledger_remove(const void *memory)
{
    pthread_mutex_lock(&ledger.mutex);
    struct entry **at = bucket_of(memory);
    while (*at && (*at)->memory != memory)
        at = &(*at)->next;
    struct entry *entry = *at;
    if (entry) {
        *at = entry->next;
        ledger.count--;
    }
    pthread_mutex_unlock(&ledger.mutex);
    free(entry);
}

long ledger_count(void)
{
    pthread_mutex_lock(&ledger.mutex);
    long count = ledger.count;
    pthread_mutex_unlock(&ledger.mutex);
    return count;
}

void ledger_tell(void)
{
    pthread_mutex_lock(&ledger.mutex);
    for (int i = 0; i < BUCKETS; i++) {
        while (ledger.buckets[i]) {
            struct entry *entry = ledger.buckets[i];
            printf("\n  not freed: %s, program+0x%jx", entry->what, (uintmax_t)offset_of(entry->site));
            ledger.buckets[i] = entry->next;
            free(entry);
        }
    }
    ledger.count = 0;
    pthread_mutex_unlock(&ledger.mutex);
}
