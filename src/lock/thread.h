/* Which thread owns something. */
#ifndef ZKL_THREAD_H
#define ZKL_THREAD_H

#include <stdint.h>

/* The number of the calling thread. No two of a process have ever had one, whereas a pthread_t comes back. @locks none */
uint64_t zkl_this_thread(void);

#endif
