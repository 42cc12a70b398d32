/* The table of zklock.h, asked in every direction. */
#include "zklock.h"

#define QUOTE(number) #number
#define DOTTED(major, minor, patch) QUOTE(major) "." QUOTE(minor) "." QUOTE(patch)

const char *zklock_status_text(zklock_status status)
{
    switch (status) {
#define CASE(name, code, text, retriable, exit_status) case ZKLOCK_##name: return text;
        ZKLOCK_STATUS_MAP(CASE)
#undef CASE
    }
    return "unknown status";
}

const char *zklock_status_name(zklock_status status)
{
    switch (status) {
#define CASE(name, code, text, retriable, exit_status) case ZKLOCK_##name: return "ZKLOCK_" #name;
        ZKLOCK_STATUS_MAP(CASE)
#undef CASE
    }
    return "ZKLOCK_?";
}

bool zklock_status_is_retriable(zklock_status status)
{
    switch (status) {
#define CASE(name, code, text, retriable, exit_status) case ZKLOCK_##name: return retriable;
        ZKLOCK_STATUS_MAP(CASE)
#undef CASE
    }
    return false;
}

int zklock_status_exit(zklock_status status)
{
    switch (status) {
#define CASE(name, code, text, retriable, exit_status) case ZKLOCK_##name: return exit_status;
        ZKLOCK_STATUS_MAP(CASE)
#undef CASE
    }
    /* A number that is no status is our own fault, as ZKLOCK_INTERNAL is. */
    return zklock_status_exit(ZKLOCK_INTERNAL);
}

const char *zklock_loss_text(zklock_loss loss)
{
    switch (loss) {
    case ZKLOCK_LOSS_NONE:
        return "not lost";
    case ZKLOCK_LOSS_EXPIRED:
        return "the server ended the session";
    case ZKLOCK_LOSS_LEASE:
        return "the lease ran out without an answer from the servers";
    case ZKLOCK_LOSS_REMOVED:
        return "somebody deleted the contender";
    case ZKLOCK_LOSS_CLOSED:
        return "the session was closed";
    case ZKLOCK_LOSS_HOLD_LIMIT:
        return "it was held for as long as its hold limit allows";
    }
    return "unknown reason";
}

const char *zklock_version(void)
{
    return DOTTED(ZKLOCK_VERSION_MAJOR, ZKLOCK_VERSION_MINOR, ZKLOCK_VERSION_PATCH);
}
