/*
 * A session, as the lock layer sees it: members that are told what happens, calls that are answered exactly once, the
 * lease, and the notifier. One mutex guards the session and everything of its members; it is held in every callback
 * below, and user code never runs with it held.
 */
#ifndef ZKL_SESSION_H
#define ZKL_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/detail.h"
#include "base/runtime.h"
#include "session/store.h"
#include "zklock.h"

struct zkl_handle;
struct zkl_member;
struct zkl_queued_notice;
struct zkl_zombie;

/* What happens to the session, told to each member. */
enum zkl_link {
    ZKL_LINK_CONNECTED,    /* the session answers (again) */
    ZKL_LINK_DISCONNECTED,
    ZKL_LINK_REPLACED,     /* the session goes on, its watches do not; CONNECTED follows */
    ZKL_LINK_EXPIRED,      /* this session and its nodes are gone; CONNECTED follows for a fresh one */
    ZKL_LINK_LEASED,       /* a lease was earned */
    ZKL_LINK_LAPSED,       /* the lease is over */
    ZKL_LINK_SILENT,       /* connected, but a heartbeat is overdue */
    ZKL_LINK_ANSWERING,    /* and is answered after all */
    ZKL_LINK_REFUSED,      /* the servers do not accept the credentials: nothing is to be waited for; EXPIRED follows */
    ZKL_LINK_CLOSING,      /* the owner closes the session */
};

struct zkl_member_class {
    void (*on_link)(struct zkl_member *member, enum zkl_link link);
    void (*on_node)(struct zkl_member *member, enum zkl_node_event event, const char *path);
    /* The node that heartbeats check, or NULL. */
    const char *(*own_path)(struct zkl_member *member);
    /* A heartbeat found that the own node is not there. */
    void (*on_own_gone)(struct zkl_member *member);
    /* `wake_ns` has come. It is ZKL_NEVER when this is called; set it again for another turn. */
    void (*on_time)(struct zkl_member *member, int64_t now_ns);
    /* Whether it needs nothing but a lease, and would rather begin again on a fresh session. NULL: never. */
    bool (*is_stranded)(struct zkl_member *member);
    bool is_easy; /* any session will do, at any time: it hears of EXPIRED and goes on with the next one */
};

/* Whatever needs the session to live: a contender, an inspection. A callback may add members and remove any. */
struct zkl_member {
    const struct zkl_member_class *class;
    struct zkl_member *next;
    struct zkl_member *previous;
    int64_t wake_ns; /* set it by zkl_session_wake_member() */
};

/* A request under way. The owner keeps it alive until on_reply has run. */
struct zkl_call {
    /* `is_stale`: the session has moved on to another handle; what was asked for concerns nobody any more. */
    void (*on_reply)(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale);
    struct zkl_handle *handle;
    int64_t sent_ns;
    bool is_write;
};

/* Until the mutex is given up, pthread_cancel() does not end the thread.
 * @thread any  @locks takes the session's mutex */
void zkl_session_lock(zklock_session *session);
void zkl_session_unlock(zklock_session *session);

/* Everything below: @thread any  @locks expects the session's mutex */

/* The session lives until its last reference is gone; releasing the last one unlocks and frees it. */
void zkl_session_ref(zklock_session *session);
void zkl_session_unref_unlock(zklock_session *session);

void zkl_session_join(zklock_session *session, struct zkl_member *member);
/* In the turn of another one, right behind it. */
void zkl_session_join_behind(zklock_session *session, struct zkl_member *member, struct zkl_member *other);
void zkl_session_leave(zklock_session *session, struct zkl_member *member);
void zkl_session_wake_member(zklock_session *session, struct zkl_member *member, int64_t when_ns);

/* Hands a request on. False: not sent, and never answered. */
bool zkl_session_submit(zklock_session *session, struct zkl_call *call, const struct zkl_request *request);

bool zkl_session_is_connected(const zklock_session *session);
bool zkl_session_is_closing(const zklock_session *session);
/* The servers do not accept the credentials; zkl_session_describe() says so. Tried again all the same. */
bool zkl_session_is_refused(const zklock_session *session);
/* By the clock. The first look after its end tells the members that it lapsed. */
bool zkl_session_has_lease(zklock_session *session);
int64_t zkl_session_lease_remaining(const zklock_session *session);
int64_t zkl_session_id(const zklock_session *session);
int64_t zkl_session_now(const zklock_session *session);
unsigned zkl_session_timeout_ms(const zklock_session *session);
const char *zkl_session_chroot(const zklock_session *session);
const char *zkl_session_label(const zklock_session *session);
/* Who runs this process: the name, or the number where it has none. */
const char *zkl_session_user(const zklock_session *session);
struct zkl_runtime *zkl_session_runtime(const zklock_session *session);
/* As pthread_cond_wait() with the session's mutex. */
void zkl_session_wait(zklock_session *session, pthread_cond_t *changed);
/* Whether this process opened the session. Needs no lock. */
bool zkl_session_is_own(const zklock_session *session);

/* Why it is not connected, or that it does not answer, in one line; empty while all is well. */
void zkl_session_describe(const zklock_session *session, char *buffer, size_t size);
/* The same as what there is to say. */
void zkl_session_explain(const zklock_session *session, struct zkl_detail *detail);

/* What is to be known of a create below `parent` whose fate nobody sees. Made before the create is sent, so that it
 * is remembered even when memory is short. NULL: no memory. */
struct zkl_zombie *zkl_zombie_new(const char *parent);
void zkl_zombie_free(struct zkl_zombie *zombie);
/* It has come to that: swept for as long as this session lives. The session takes the zombie over. */
void zkl_session_add_zombie(zklock_session *session, struct zkl_zombie *zombie, const char *prefix);
/* Deletes what a listing shows of zombies. Only while one is known does this look at the children. */
void zkl_session_see_children(zklock_session *session, const char *parent, const struct zkl_reply *listing);
/* Room for paths in the packets of the client library. False: there is none, and what needs it must not be begun. */
bool zkl_session_reserve(zklock_session *session, size_t bytes);
void zkl_session_unreserve(zklock_session *session, size_t bytes);
/* What a watched or an own path of this length takes. */
size_t zkl_session_path_room(size_t path_length);
/* A watch that nobody waits for any more stays on this node until it goes. */
void zkl_session_leave_watch(zklock_session *session, const char *path);
/* A contender that cannot be deleted: the session ends as soon as nothing else needs it. */
void zkl_session_spoil(zklock_session *session);

/* The notifier. `key` tells whose callbacks they are, for zkl_session_forget_notices(). */
struct zkl_notice_to_user {
    void (*run)(void *key, const zklock_event *event);
    void *key;
    zklock_event event;
};
/* Notices made ahead, so that what must be told needs no memory when the time comes. */
struct zkl_notice_stock {
    struct zkl_queued_notice *first;
    int count;
};
/* Sees to it that there are at least so many. False: no memory. */
bool zkl_notices_reserve(struct zkl_notice_stock *stock, int count);
void zkl_notices_clear(struct zkl_notice_stock *stock);
/* Takes one notice out of the stock; without one, nothing is told. */
void zkl_session_notify(zklock_session *session, struct zkl_notice_stock *stock,
                        const struct zkl_notice_to_user *to_user);
/* Drops the queued notices of `key` and waits for a running one, unless this is the notifier itself. The mutex is given
 * up while waiting. */
void zkl_session_forget_notices(zklock_session *session, void *key);
/* Whether the caller is a notifier thread, of any session. Needs no lock. */
bool zkl_is_notifier_thread(void);

void zkl_session_log(zklock_session *session, zklock_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
