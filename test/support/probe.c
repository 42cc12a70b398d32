#include "support/probe.h"

#include "support/eventually.h"

#include <string.h>

void probe_init(struct probe *probe)
{
    memset(probe, 0, sizeof(*probe));
    pthread_mutex_init(&probe->mutex, NULL);
    monotonic_condition_init(&probe->changed);
}

void probe_clear(struct probe *probe)
{
    pthread_cond_destroy(&probe->changed);
    pthread_mutex_destroy(&probe->mutex);
}

void probe_reset(struct probe *probe)
{
    pthread_mutex_lock(&probe->mutex);
    probe->count = 0;
    pthread_mutex_unlock(&probe->mutex);
}

void probe_note(struct probe *probe, long long value)
{
    pthread_mutex_lock(&probe->mutex);
    probe->history[probe->count % PROBE_HISTORY] = value;
    probe->count++;
    pthread_cond_broadcast(&probe->changed);
    pthread_mutex_unlock(&probe->mutex);
}

int probe_count(struct probe *probe)
{
    int count;

    pthread_mutex_lock(&probe->mutex);
    count = probe->count;
    pthread_mutex_unlock(&probe->mutex);
    return count;
}

long long probe_at(struct probe *probe, int index)
{
    long long value = 0;

    pthread_mutex_lock(&probe->mutex);
    if (index >= 0 && index < probe->count && index >= probe->count - PROBE_HISTORY)
        value = probe->history[index % PROBE_HISTORY];
    pthread_mutex_unlock(&probe->mutex);
    return value;
}

long long probe_last(struct probe *probe)
{
    long long value = 0;

    pthread_mutex_lock(&probe->mutex);
    if (probe->count > 0)
        value = probe->history[(probe->count - 1) % PROBE_HISTORY];
    pthread_mutex_unlock(&probe->mutex);
    return value;
}

static bool contains_value(const struct probe *probe, long long value)
{
    int remembered = probe->count < PROBE_HISTORY ? probe->count : PROBE_HISTORY;

    for (int i = 0; i < remembered; i++) {
        if (probe->history[i] == value)
            return true;
    }
    return false;
}

bool probe_saw(struct probe *probe, long long value)
{
    bool is_seen;

    pthread_mutex_lock(&probe->mutex);
    is_seen = contains_value(probe, value);
    pthread_mutex_unlock(&probe->mutex);
    return is_seen;
}

bool probe_wait_count(struct probe *probe, int n, int timeout_ms)
{
    struct timespec deadline = monotonic_deadline(timeout_ms);
    int failure = 0;
    bool is_reached;

    pthread_mutex_lock(&probe->mutex);
    while (probe->count < n && failure == 0)
        failure = pthread_cond_timedwait(&probe->changed, &probe->mutex, &deadline);
    is_reached = probe->count >= n;
    pthread_mutex_unlock(&probe->mutex);
    return is_reached;
}

bool probe_wait_value(struct probe *probe, long long value, int timeout_ms)
{
    struct timespec deadline = monotonic_deadline(timeout_ms);
    int failure = 0;
    bool is_seen;

    pthread_mutex_lock(&probe->mutex);
    while (!contains_value(probe, value) && failure == 0)
        failure = pthread_cond_timedwait(&probe->changed, &probe->mutex, &deadline);
    is_seen = contains_value(probe, value);
    pthread_mutex_unlock(&probe->mutex);
    return is_seen;
}
