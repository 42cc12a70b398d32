// The header compiles as C++, and its functions have C linkage.
#include <cstdio>

#include <zklock.h>
#include <zklock.hpp>

int main()
{
    zklock_options options;
    zklock_options_init(&options);
    options.on_event = [](zklock *, const zklock_event *, void *) {};

    zklock_session_options session_options;
    zklock_session_options_init(&session_options);
    session_options.lease = ZKLOCK_LEASE_STRICT;

    zklock_session *session = nullptr;
    if (zklock_session_open(&session_options, &session) != ZKLOCK_OK)
        return 1;
    zklock *lock = nullptr;
    zklock_status status = zklock_new(session, "/consumer", &options, &lock);
    zklock_free(lock);
    zklock_session_close(session, 0);
    std::printf("%s: %s\n", zklock_status_name(status), zklock_status_text(status));
    return status == ZKLOCK_OK ? 0 : 1;
}
