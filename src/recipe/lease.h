/*
 * How long a session surely lives at the server, as arithmetic over what was sent and answered. Pure: every call brings
 * its times, in nanoseconds of one clock that counts suspend.
 *
 *   sent      the clock just before a request was handed to the client library
 *   answered  the clock in its completion
 *   T         the session timeout that the server granted; T' = T less 1 % for the difference of clock rates
 *   R         half a tick and 100 ms by the leader's clock, so 1 % more by ours: what a follower may lag behind in
 *             telling the leader of us
 *
 *   Fresh session   until = clock before the handle was opened + T': creating a session is a quorum write.
 *   Heartbeats      W2, a quorum write, answered; W1 the newest sync or write answered before W2 was sent; A the newest
 *                   heartbeat of any kind answered R before W1 was sent: until = A.sent + T'. The leader pinged the
 *                   server between A and W1; the answer to W1 came behind that ping, and W2 went behind what the
 *                   server told the leader then. So the leader that took W2 knew of A.
 *   Reconnect       CONNECTED before the end, and a quorum write sent after it is answered: until = u + T', u = the
 *                   newest `sent` of any completion that had run before CONNECTED. For the first CONNECTED of a handle
 *                   that goes on with a session, u = the clock before it was opened.
 *   Lapse           once the end is reached nothing revives a holder. A waiter may earn a lease anew: what the rules
 *                   say from then on is a promise, kept up as a lease would be, until a write is answered that was
 *                   sent at least max(1 s, 2 ticks) after the promise was made. A session that the leader is about
 *                   to end takes touches and writes for a while, and they do not save it; by then it would be closed.
 *
 * Reads, pings and sync alone are no evidence: servers that are cut off answer them.
 */
#ifndef ZKL_LEASE_H
#define ZKL_LEASE_H

#include <stdbool.h>
#include <stdint.h>

enum zkl_lease_rule { ZKL_RULE_STRICT, ZKL_RULE_STANDALONE, ZKL_RULE_CHEAP };

#define ZKL_LEASE_BEATS 64

/* A heartbeat's kind. Two of three are cheap: what they have to show is only that a server took our touch, and that it
 * told the leader; the write is what proves that the leader is one. */
enum zkl_beat_kind {
    ZKL_BEAT_READ,  /* any answer */
    ZKL_BEAT_SYNC,  /* went to what the server takes for the leader, and came back behind the leader's pings */
    ZKL_BEAT_WRITE, /* a quorum write; it is also what the others are */
};

struct zkl_beat {
    int64_t sent_ns;
    int64_t answered_ns;
    enum zkl_beat_kind kind;
};

struct zkl_lease {
    enum zkl_lease_rule rule;
    int64_t tick_ns;          /* 0: unknown */
    int64_t opened_ns;        /* just before the handle was opened */
    int64_t timeout_ns;       /* T of the first CONNECTED; 0 before it */
    int64_t until_ns;         /* the end; 0: no lease */
    int64_t connected_ns;     /* the latest CONNECTED; 0 while disconnected */
    int64_t newest_sent_ns;   /* newest `sent` among the completions that have run */
    int64_t anchor_ns;        /* u of the latest CONNECTED; 0: none, or used up */
    int64_t lapsed_ns;        /* when it lapsed; 0: it has not, or was earned anew since */
    int64_t promised_ns;      /* after a lapse: what will be the end once it is proved; 0: nothing */
    int64_t proof_from_ns;    /* and an answer to what was sent from then on proves it */
    int beat_count;
    struct zkl_beat beats[ZKL_LEASE_BEATS]; /* answered heartbeats of this connection, the newest last */
};

/* A fresh session's handle is about to be opened. */
void zkl_lease_open(struct zkl_lease *lease, enum zkl_lease_rule rule, int64_t tick_ns, int64_t now_ns);
/* Another handle, which goes on with the session, is about to be opened: what it says of itself is newer than anything
 * that the one before it was answered. */
void zkl_lease_resume(struct zkl_lease *lease, int64_t now_ns);
void zkl_lease_connected(struct zkl_lease *lease, int64_t now_ns, int64_t timeout_ns);
void zkl_lease_disconnected(struct zkl_lease *lease, int64_t now_ns);
/* A completion ran that the client library itself delivered on this handle; `was_answered`: not an unknown outcome. */
void zkl_lease_answered(struct zkl_lease *lease, int64_t sent_ns, int64_t now_ns, bool was_answered);
/* A quorum write was answered OK. Call zkl_lease_answered() first. */
void zkl_lease_wrote(struct zkl_lease *lease, int64_t sent_ns, int64_t now_ns);
/* The same for a heartbeat, which later writes build upon. */
void zkl_lease_beat(struct zkl_lease *lease, enum zkl_beat_kind kind, int64_t sent_ns, int64_t now_ns);

/* Looks at the clock: whether the lease runs. The first time it does not, it has lapsed. */
bool zkl_lease_check(struct zkl_lease *lease, int64_t now_ns);
/* Nanoseconds left; 0 when there is no lease. Changes nothing. */
int64_t zkl_lease_remaining(const struct zkl_lease *lease, int64_t now_ns);

/* The time between heartbeats: at most T/12 while a lock is held or wanted, shorter still to earn a lease; else T/6. */
int64_t zkl_lease_interval(const struct zkl_lease *lease, bool is_wanted, bool has_lease);
/* What the next heartbeat is to be: read, sync and write in turn, as long as the lease lasts well beyond the write. */
enum zkl_beat_kind zkl_lease_next_beat(const struct zkl_lease *lease, bool is_wanted, int64_t now_ns);

#endif
