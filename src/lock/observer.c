/* An observer as an object: its life, what it hears of the session, and what its owner is told. */
#include "lock/observer.h"

#include <stdlib.h>
#include <string.h>

#include "lock/lock_state.h"
#include "session/path.h"

/* ---------------------------------------------------------------- what the owner is told */

static bool was_told(const struct zklock_observer *observer, const struct zkl_sighting *sighting)
{
    return observer->has_told && observer->told_status == sighting->public.status &&
           observer->told_token == sighting->leader.token;
}

/* @thread the notifier  @locks takes the session's mutex; the observer may be gone once the callback has run */
static void tell(void *key, const zklock_event *event)
{
    struct zklock_observer *observer = key;
    zklock_session *session = observer->session;

    (void)event;
    zkl_session_lock(session);
    struct zkl_sighting *sighting = observer->pending;
    bool is_news = sighting && !observer->is_over && !was_told(observer, sighting);
    observer->pending = NULL;
    observer->is_queued = false;
    if (is_news) {
        observer->has_told = true;
        observer->told_status = sighting->public.status;
        observer->told_token = sighting->leader.token;
    }
    zkl_session_unlock(session);
    if (is_news)
        observer->callback(observer, &sighting->public, observer->context);
    free(sighting);
}

bool zkl_observer_see(struct zklock_observer *observer, struct zkl_sighting *sighting)
{
    struct zkl_notice_to_user notice = {.run = tell, .key = observer};
    bool is_due = sighting && !observer->is_queued && !was_told(observer, sighting);

    if (!sighting || (is_due && !zkl_notices_reserve(&observer->notices, 1))) {
        free(sighting);
        return false;
    }
    /* Of a notice that is queued, the latest sighting is what it will tell. */
    free(observer->pending);
    observer->pending = sighting;
    if (is_due) {
        observer->is_queued = true;
        zkl_session_notify(observer->session, &observer->notices, &notice);
    }
    return true;
}

/* ---------------------------------------------------------------- what it hears of the session */

/* No further callback begins. */
static void end(struct zklock_observer *observer)
{
    if (observer->is_over)
        return;
    observer->is_over = true;
    zkl_observer_leave_watch(observer);
    zkl_session_unreserve(observer->session, observer->room);
    zkl_session_leave(observer->session, &observer->member);
}

static void on_link(struct zkl_member *member, enum zkl_link link)
{
    struct zklock_observer *observer = (struct zklock_observer *)member;

    switch (link) {
    case ZKL_LINK_CONNECTED:
        zkl_observer_look(observer);
        break;
    case ZKL_LINK_REPLACED:
    case ZKL_LINK_EXPIRED:
        zkl_observer_forget_watch(observer);
        observer->look++;
        break;
    case ZKL_LINK_REFUSED:
        /* Without memory it is told at the next refusal. */
        (void)zkl_observer_see(observer, zkl_sighting_new(ZKLOCK_DENIED, NULL));
        break;
    case ZKL_LINK_CLOSING:
        end(observer);
        break;
    case ZKL_LINK_DISCONNECTED:
    case ZKL_LINK_LEASED:
    case ZKL_LINK_LAPSED:
    case ZKL_LINK_SILENT:
    case ZKL_LINK_ANSWERING:
        break;
    }
}

static void on_node(struct zkl_member *member, enum zkl_node_event event, const char *path)
{
    struct zklock_observer *observer = (struct zklock_observer *)member;
    const char *watched = zkl_observer_watched(observer);

    (void)event;
    if (!watched || strcmp(watched, path) != 0)
        return;
    zkl_observer_forget_watch(observer);
    zkl_observer_look(observer);
}

static void on_time(struct zkl_member *member, int64_t now_ns)
{
    (void)now_ns;
    zkl_observer_look((struct zklock_observer *)member);
}

static const struct zkl_member_class observer_class = {
    .on_link = on_link, .on_node = on_node, .on_time = on_time, .is_easy = true};

/* ---------------------------------------------------------------- life */

static void destroy(struct zklock_observer *observer)
{
    zkl_observer_forget_watch(observer);
    zkl_notices_clear(&observer->notices);
    free(observer->pending);
    free(observer->path);
    free(observer);
}

void zkl_observer_unref(struct zklock_observer *observer)
{
    if (--observer->refs == 0)
        destroy(observer);
}

static struct zklock_observer *new_observer(zklock_session *session, const char *path)
{
    struct zklock_observer *observer = calloc(1, sizeof *observer);

    if (!observer)
        return NULL;
    observer->member.class = &observer_class;
    observer->session = session;
    observer->refs = 1;
    observer->path = zkl_path_below(zkl_session_chroot(session), path);
    if (observer->path && zkl_notices_reserve(&observer->notices, 1))
        return observer;
    destroy(observer);
    return NULL;
}

/* @locks expects the session's mutex */
static zklock_status begin(struct zklock_observer *observer)
{
    zklock_session *session = observer->session;
    size_t room = zkl_session_path_room(strlen(observer->path) + 1 + ZKL_OWN_NAME_SIZE);

    if (zkl_session_is_closing(session))
        return ZKLOCK_CLOSED;
    if (!zkl_session_reserve(session, room))
        return ZKLOCK_TOO_LARGE;
    observer->room = room;
    zkl_session_ref(session);
    zkl_session_join(session, &observer->member);
    zkl_observer_look(observer);
    return ZKLOCK_OK;
}

zklock_status zklock_observer_start(zklock_session *session, const char *path, zklock_observer_fn *callback,
                                    void *context, zklock_observer **out_observer)
{
    if (!session || !path || !callback || !out_observer)
        return ZKLOCK_BAD_ARGUMENT;
    zklock_status status = zkl_lock_check_path(session, path);
    if (status != ZKLOCK_OK)
        return status;
    struct zklock_observer *observer = new_observer(session, path);
    if (!observer)
        return ZKLOCK_NO_MEMORY;
    observer->callback = callback;
    observer->context = context;
    zkl_session_lock(session);
    status = begin(observer);
    /* Whoever tells takes the mutex first. */
    if (status == ZKLOCK_OK)
        *out_observer = observer;
    zkl_session_unlock(session);
    if (status != ZKLOCK_OK)
        destroy(observer);
    return status;
}

void zklock_observer_stop(zklock_observer *observer)
{
    if (!observer || !zkl_session_is_own(observer->session))
        return;
    zklock_session *session = observer->session;
    zkl_session_lock(session);
    end(observer);
    zkl_session_forget_notices(session, observer);
    zkl_observer_unref(observer);
    zkl_session_unref_unlock(session);
}
