#include "sessions.h"

#include <stdlib.h>

#include "ensemble.h"

/* How long the leader may need to close a bucket of sessions. */
#define LONGEST_CLOSING (600 * MILLISECOND)

static int64_t bucket_end(const struct ensemble *ensemble, int64_t at_ns)
{
    return (at_ns / ensemble->tick_ns + 1) * ensemble->tick_ns;
}

struct zk_session *session_new(struct ensemble *ensemble, struct host *host, int64_t timeout_ns)
{
    struct zk_session *session = must_have(calloc(1, sizeof *session));

    session->id = INT64_C(0x100000000000000) + ++ensemble->session_count;
    session->host = host;
    session->timeout_ns = timeout_ns;
    session->closed_zxid = NEVER;
    session->next = ensemble->sessions;
    ensemble->sessions = session;
    session_touch(ensemble, session);
    return session;
}

void session_touch(struct ensemble *ensemble, struct zk_session *session)
{
    int64_t expiry_ns = bucket_end(ensemble, ensemble->world->now_ns + session->timeout_ns);

    if (expiry_ns > session->expiry_ns)
        session->expiry_ns = expiry_ns;
}

void session_own(struct zk_session *session, struct znode *node)
{
    node->owner = session;
    node->next_owned = session->first_owned;
    node->previous_owned = NULL;
    if (session->first_owned)
        session->first_owned->previous_owned = node;
    session->first_owned = node;
}

void session_disown(struct znode *node)
{
    if (node->previous_owned)
        node->previous_owned->next_owned = node->next_owned;
    else
        node->owner->first_owned = node->next_owned;
    if (node->next_owned)
        node->next_owned->previous_owned = node->previous_owned;
    node->owner = NULL;
}

void sessions_begin(struct ensemble *ensemble)
{
    for (struct zk_session *session = ensemble->sessions; session; session = session->next) {
        session->is_condemned = false;
        session->is_closing = session->closed_zxid != NEVER;
        session->expiry_ns = 0;
        session_touch(ensemble, session);
    }
}

struct sentence {
    struct ensemble *ensemble;
    unsigned term;
};

static void close_condemned(void *subject, void *detail)
{
    struct sentence *sentence = subject;
    struct zk_session *session = detail;
    struct ensemble *ensemble = sentence->ensemble;

    if (sentence->term == ensemble->term && ensemble->leader >= 0 && !session->is_closing)
        ensemble_close_session(ensemble, session, NULL);
    free(sentence);
}

static void condemn(struct ensemble *ensemble, struct zk_session *session, int64_t at_ns)
{
    struct sentence *sentence = must_have(malloc(sizeof *sentence));

    session->is_condemned = true;
    *sentence = (struct sentence){ensemble, ensemble->term};
    TRACE(ensemble->world, "leader: session %llx is condemned", (unsigned long long)session->id);
    world_post(&ensemble_leader(ensemble)->actor, at_ns, close_condemned, sentence, session);
}

void sessions_expire(struct ensemble *ensemble)
{
    int64_t at_ns = ensemble->world->now_ns;
    bool is_slow = chance_one_in(&ensemble->chance, 4);

    for (struct zk_session *session = ensemble->sessions; session; session = session->next) {
        if (session->is_closing || session->is_condemned || session->expiry_ns > ensemble->world->now_ns)
            continue;
        at_ns += is_slow ? chance_near(&ensemble->chance, 0, LONGEST_CLOSING / 3) : 50 * MICROSECOND;
        if (at_ns > ensemble->world->now_ns + LONGEST_CLOSING)
            at_ns = ensemble->world->now_ns + LONGEST_CLOSING;
        condemn(ensemble, session, at_ns);
    }
}

void sessions_clear(struct ensemble *ensemble)
{
    while (ensemble->sessions) {
        struct zk_session *session = ensemble->sessions;
        ensemble->sessions = session->next;
        free(session);
    }
}
