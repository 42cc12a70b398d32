/* Where callbacks on other threads leave what they saw, and where the test's own thread waits for it.
 * Any thread may note; waits are on CLOCK_MONOTONIC and return true when the event came in time. */
#ifndef ZKLOCK_TEST_PROBE_H
#define ZKLOCK_TEST_PROBE_H

#include <pthread.h>
#include <stdbool.h>

enum { PROBE_HISTORY = 256 };

struct probe {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int count;                          /* events since the start or the last reset */
    long long history[PROBE_HISTORY];   /* the value of event i stands at i % PROBE_HISTORY */
};

void probe_init(struct probe *probe);
void probe_clear(struct probe *probe);
void probe_reset(struct probe *probe);

void probe_note(struct probe *probe, long long value);

int probe_count(struct probe *probe);
/* The newest value, or the value of the index-th event (from 0); 0 if there was none. */
long long probe_last(struct probe *probe);
long long probe_at(struct probe *probe, int index);
/* Whether some noted event that is still remembered had this value. */
bool probe_saw(struct probe *probe, long long value);

/* At least n events; an event with this value (an earlier one counts too). */
bool probe_wait_count(struct probe *probe, int n, int timeout_ms);
bool probe_wait_value(struct probe *probe, long long value, int timeout_ms);

#endif
