/* Opening a session on other ports than the product's: for the simulator and the unit tests. */
#ifndef ZKL_SESSION_OPEN_H
#define ZKL_SESSION_OPEN_H

#include "base/runtime.h"
#include "session/store.h"
#include "zklock.h"

/* As zklock_session_open(), on this runtime and this store driver, which outlive the session. */
zklock_status zkl_session_open_with(const zklock_session_options *given, struct zkl_runtime *runtime,
                                    struct zkl_store_driver *driver, zklock_session **out_session);

#endif
