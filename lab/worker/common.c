/* What several locks need: memory, identities, chance, polling, lists of servers, a thread that renews. */
#include "../lock.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { POLL_LEAST_MS = 30, POLL_MOST_MS = 70 };

void *lab_alloc(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory)
        abort();
    return memory;
}

void lab_make_id(char id[LAB_ID_SIZE])
{
    unsigned char bytes[16];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        abort();
    for (int i = 0; i < 16; i++)
        snprintf(id + 2 * (size_t)i, 3, "%02x", bytes[i]);
}

int lab_random(int least, int most)
{
    unsigned number;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        abort();
    return least + (int)(number % (unsigned)(most - least + 1));
}

enum lab_result lab_poll(const struct lab_kind *kind, void *lock, int limit_ms, uint64_t *out_token)
{
    int64_t end_ms = lab_now_ms() + limit_ms;

    for (;;) {
        enum lab_result result = kind->try_once(lock, out_token);

        if (result == LAB_OK || lab_now_ms() >= end_ms)
            return result;
        lab_sleep_ms(lab_random(POLL_LEAST_MS, POLL_MOST_MS));
    }
}

bool lab_next_server(const char **list, char host[64], int *out_port)
{
    int length = 0;

    if (sscanf(*list, "%63[^:]:%d%n", host, out_port, &length) != 2)
        return false;
    *list += length;
    if (**list == ',')
        ++*list;
    return true;
}

struct lab_beat {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_ended;
    int every_ms;
    bool (*beat)(void *arg);
    void *arg;
};

static bool wait_for_end(struct lab_beat *beat)
{
    struct timespec until;
    bool is_ended;
    int64_t due_ms = lab_now_ms() + beat->every_ms;

    until.tv_sec = due_ms / 1000;
    until.tv_nsec = due_ms % 1000 * 1000000;
    pthread_mutex_lock(&beat->mutex);
    while (!beat->is_ended && pthread_cond_timedwait(&beat->changed, &beat->mutex, &until) == 0)
        continue;
    is_ended = beat->is_ended;
    pthread_mutex_unlock(&beat->mutex);
    return is_ended;
}

static void *run_beat(void *arg)
{
    struct lab_beat *beat = arg;

    while (!wait_for_end(beat) && beat->beat(beat->arg))
        continue;
    return NULL;
}

struct lab_beat *lab_beat_start(int every_ms, bool (*function)(void *arg), void *arg)
{
    struct lab_beat *beat = lab_alloc(sizeof(*beat));
    pthread_condattr_t attributes;

    beat->every_ms = every_ms;
    beat->beat = function;
    beat->arg = arg;
    pthread_mutex_init(&beat->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&beat->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&beat->thread, NULL, run_beat, beat) != 0)
        abort();
    return beat;
}

void lab_beat_end(struct lab_beat *beat)
{
    if (!beat)
        return;
    pthread_mutex_lock(&beat->mutex);
    beat->is_ended = true;
    pthread_cond_signal(&beat->changed);
    pthread_mutex_unlock(&beat->mutex);
    pthread_join(beat->thread, NULL);
    pthread_cond_destroy(&beat->changed);
    pthread_mutex_destroy(&beat->mutex);
    free(beat);
}
