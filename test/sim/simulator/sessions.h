/*
 * Sessions, and how the leader tracks them: a touch moves the expiry to the end of the bucket of ticks that now + T
 * falls into; what is in a bucket whose time has come is closed, one session after the other.
 */
#ifndef SIMULATOR_SESSIONS_H
#define SIMULATOR_SESSIONS_H

#include "tree.h"

struct ensemble;
struct host;

struct zk_session {
    int64_t id;
    int64_t timeout_ns;
    struct host *host;     /* whose it is */
    int owner;             /* the server that may speak for it */
    int64_t expiry_ns;
    bool is_condemned;     /* its bucket's time has come: no touch helps any more */
    bool is_closing;       /* its end is on the log's way */
    int64_t closed_zxid;   /* NEVER: it is not */
    unsigned touched_at;   /* bits of the followers that will tell the leader of it */
    struct znode *first_owned; /* those that went included */
    struct zk_session *next;
};

struct zk_session *session_new(struct ensemble *ensemble, struct host *host, int64_t timeout_ns);
void session_touch(struct ensemble *ensemble, struct zk_session *session);
void session_own(struct zk_session *session, struct znode *node);
void session_disown(struct znode *node);

/* A leader begins: every session has its whole timeout, and what was condemned is not. */
void sessions_begin(struct ensemble *ensemble);
/* What is due is condemned. */
void sessions_expire(struct ensemble *ensemble);
void sessions_clear(struct ensemble *ensemble);

#endif
