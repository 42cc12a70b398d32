/* A thread that pthread_cancel() ends in the middle would leave mutexes locked, and what it was about to others: so it is
 * not ended there. @thread any */
#ifndef ZKL_CANCEL_H
#define ZKL_CANCEL_H

#include <pthread.h>

/* From now on a request to end this thread is put off. Returns what was so before. */
static inline int zkl_cancel_forbid(void)
{
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void zkl_cancel_restore(int before)
{
    pthread_setcancelstate(before, NULL);
}

#endif
