#include "lock/thread.h"

#include <stdatomic.h>

uint64_t zkl_this_thread(void)
{
    static atomic_uint_least64_t latest;
    static _Thread_local uint64_t number;

    if (number == 0)
        number = atomic_fetch_add(&latest, 1) + 1;
    return number;
}
