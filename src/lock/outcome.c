/* What the machine's outcomes are called in public. */
#include "lock/attempt.h"

zklock_status zkl_outcome_status(enum zkl_outcome outcome)
{
    switch (outcome) {
    case ZKL_OUTCOME_OK:
        return ZKLOCK_OK;
    case ZKL_OUTCOME_BUSY:
        return ZKLOCK_BUSY;
    case ZKL_OUTCOME_LIMIT:
        return ZKLOCK_TIMEOUT;
    case ZKL_OUTCOME_NO_SERVER:
        return ZKLOCK_NO_SERVER;
    case ZKL_OUTCOME_CANCELLED:
        return ZKLOCK_CANCELLED;
    case ZKL_OUTCOME_CLOSED:
        return ZKLOCK_CLOSED;
    case ZKL_OUTCOME_REMOVED:
        return ZKLOCK_REMOVED;
    case ZKL_OUTCOME_EXPIRED:
    case ZKL_OUTCOME_LEASE:
    case ZKL_OUTCOME_HOLD_LIMIT:
    case ZKL_OUTCOME_LOST:
        return ZKLOCK_LOST;
    case ZKL_OUTCOME_MIXED:
        return ZKLOCK_MIXED_STYLES;
    case ZKL_OUTCOME_OTHER_LIMIT:
        return ZKLOCK_OTHER_PERMITS;
    case ZKL_OUTCOME_DENIED:
        return ZKLOCK_DENIED;
    case ZKL_OUTCOME_REFUSED:
        return ZKLOCK_REFUSED;
    }
    return ZKLOCK_INTERNAL;
}
