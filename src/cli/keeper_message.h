/* What zklock and its keeper say to each other: one struct a message, a text behind it. */
#ifndef CLI_KEEPER_MESSAGE_H
#define CLI_KEEPER_MESSAGE_H

#include <stdatomic.h>

#include "keeper.h"

/* In memory of both. Written by zklock alone. */
struct keeper_shared {
    _Atomic int64_t leash_ms; /* 0: none */
    atomic_bool is_job_over;
    atomic_bool is_dismissed;
};

enum keeper_order_kind {
    KEEPER_SESSION, /* key, timeout_ms */
    KEEPER_COMMAND, /* takes_terminal; behind it the variables, each ends with NUL */
    KEEPER_SIGNAL,  /* number */
    KEEPER_LOOK, /* at the shared memory */
};

/* From zklock; the keeper sends struct keeper_news. */
struct keeper_order {
    enum keeper_order_kind kind;
    zklock_session_key key;
    int64_t timeout_ms; /* of the session: so long after zklock the servers end it by themselves */
    bool takes_terminal;
    int number;
};

struct keeper_plan {
    struct keeper_shared *shared;
    int fd;        /* to zklock */
    int master_fd; /* a pidfd of zklock */
    char *const *argv;
    const char *servers;
};

/* What the keeper is, from the fork on. Never returns. @thread the only one of the process */
_Noreturn void keeper_main(const struct keeper_plan *plan);

#endif
