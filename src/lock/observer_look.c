/* An observer's looks: what it asks, and what the answers say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/observer.h"
#include "lock/question.h"

#define RETRY_NS (20 * ZKL_NS_PER_MS)
/* Another look where no server tells: nobody may watch what is not there or may not be read. */
#define LOOK_NS ZKL_NS_PER_S

/* A request under way, or whose watch stands. */
struct zkl_glance {
    struct zkl_call call;
    struct zklock_observer *observer; /* counted while it is under way */
    unsigned look;
    enum zkl_op op;
    bool with_watch;
    char path[];
};

/* ---------------------------------------------------------------- what was seen */

struct zkl_sighting *zkl_sighting_new(zklock_status status, const zklock_contender *leader)
{
    size_t name_size = leader ? strlen(leader->name) + 1 : 0;
    size_t payload_size = leader && leader->payload ? leader->payload_size + 1 : 0;
    struct zkl_sighting *sighting = calloc(1, sizeof *sighting + name_size + payload_size);

    if (!sighting)
        return NULL;
    sighting->public.status = status;
    if (!leader)
        return sighting;
    sighting->leader = *leader;
    sighting->leader.name = memcpy(sighting->text, leader->name, name_size);
    if (leader->payload) {
        sighting->leader.payload = sighting->text + name_size;
        memcpy(sighting->text + name_size, leader->payload, leader->payload_size);
    }
    sighting->public.leader = &sighting->leader;
    return sighting;
}

/* ---------------------------------------------------------------- asking */

static void look_in(struct zklock_observer *observer, int64_t pause_ns)
{
    int64_t when_ns =
        zkl_session_now(observer->session) + zkl_jitter(zkl_session_runtime(observer->session), pause_ns);

    zkl_session_wake_member(observer->session, &observer->member, when_ns);
}

static void on_reply(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale);

/* About the path, or one of its children. Not sent, for lack of memory or of a connection, it is looked again soon. */
static void ask(struct zklock_observer *observer, enum zkl_op op, const char *child, bool with_watch)
{
    size_t size = strlen(observer->path) + (child ? strlen(child) + 1 : 0) + 1;
    struct zkl_glance *glance = calloc(1, sizeof *glance + size);

    if (glance) {
        glance->call.on_reply = on_reply;
        glance->observer = observer;
        glance->look = observer->look;
        glance->op = op;
        glance->with_watch = with_watch;
        snprintf(glance->path, size, "%s%s%s", observer->path, child ? "/" : "", child ? child : "");
        struct zkl_request request = {.op = op, .path = glance->path, .with_watch = with_watch};
        if (zkl_session_submit(observer->session, &glance->call, &request)) {
            observer->refs++;
            return;
        }
        free(glance);
    }
    look_in(observer, RETRY_NS);
}

void zkl_observer_look(struct zklock_observer *observer)
{
    zkl_observer_leave_watch(observer);
    observer->look++;
    observer->member.wake_ns = ZKL_NEVER;
    /* Else CONNECTED comes. */
    if (zkl_session_is_connected(observer->session))
        ask(observer, ZKL_OP_LIST, NULL, false);
}

/* ---------------------------------------------------------------- the watch */

void zkl_observer_forget_watch(struct zklock_observer *observer)
{
    free(observer->watch);
    observer->watch = NULL;
}

void zkl_observer_leave_watch(struct zklock_observer *observer)
{
    if (observer->watch)
        zkl_session_leave_watch(observer->session, observer->watch->path);
    zkl_observer_forget_watch(observer);
}

const char *zkl_observer_watched(const struct zklock_observer *observer)
{
    return observer->watch ? observer->watch->path : NULL;
}

/* ---------------------------------------------------------------- the answers; each says whether its watch is kept */

static void see(struct zklock_observer *observer, zklock_status status, const zklock_contender *leader)
{
    if (!zkl_observer_see(observer, zkl_sighting_new(status, leader)))
        look_in(observer, RETRY_NS);
}

/* Who leads is not to be seen, or there is nothing to watch. */
static void see_and_look_again(struct zklock_observer *observer, zklock_status status)
{
    look_in(observer, LOOK_NS);
    see(observer, status, NULL);
}

static bool take_list(struct zklock_observer *observer, struct zkl_glance *glance, const struct zkl_reply *reply)
{
    bool is_there = reply->code == ZKL_CODE_OK;
    const char *first = is_there ? zkl_first_contender(reply->children, reply->child_count) : NULL;

    if (first) {
        ask(observer, ZKL_OP_GET, first, true);
    } else if (is_there && !glance->with_watch) {
        ask(observer, ZKL_OP_LIST, NULL, true);
    } else if (is_there) {
        observer->watch = glance;
        see(observer, ZKLOCK_OK, NULL);
    } else if (reply->code == ZKL_CODE_UNKNOWN) {
        look_in(observer, RETRY_NS);
    } else {
        see_and_look_again(observer, reply->code == ZKL_CODE_NO_NODE ? ZKLOCK_OK : zkl_question_status(reply->code));
    }
    return observer->watch == glance;
}

static void see_leader(struct zklock_observer *observer, struct zkl_glance *glance, const struct zkl_reply *reply)
{
    const char *name = strrchr(glance->path, '/') + 1;
    struct zkl_name parsed = zkl_name_parse(name);
    zklock_contender leader = {
        .name = name,
        .number = parsed.number,
        .token = (uint64_t)reply->stat.czxid,
        .session_id = reply->stat.owner,
        .created_ms = reply->stat.ctime_ms,
        .mode = zkl_mode_of(parsed.kind),
        .is_holder = true,
        .payload = reply->data,
        .payload_size = reply->data ? (size_t)reply->data_size : 0,
        .version = reply->stat.version,
    };

    observer->watch = glance;
    /* Servers since 3.8.4 keep the events of a node from those who may not read it. */
    if (glance->op == ZKL_OP_EXISTS)
        look_in(observer, LOOK_NS);
    see(observer, ZKLOCK_OK, &leader);
}

static bool take_node(struct zklock_observer *observer, struct zkl_glance *glance, const struct zkl_reply *reply)
{
    const char *name = strrchr(glance->path, '/') + 1;

    if (reply->code == ZKL_CODE_OK) {
        see_leader(observer, glance, reply);
        return true;
    }
    if (reply->code == ZKL_CODE_NO_NODE) {
        if (glance->op == ZKL_OP_EXISTS)
            ask(observer, ZKL_OP_FORGET_WATCH, name, false);
        zkl_observer_look(observer);
    } else if (reply->code == ZKL_CODE_NO_AUTH && glance->op == ZKL_OP_GET) {
        ask(observer, ZKL_OP_EXISTS, name, true);
    } else if (reply->code == ZKL_CODE_UNKNOWN) {
        look_in(observer, RETRY_NS);
    } else {
        see_and_look_again(observer, zkl_question_status(reply->code));
    }
    return false;
}

static bool take(struct zklock_observer *observer, struct zkl_glance *glance, const struct zkl_reply *reply)
{
    if (glance->op == ZKL_OP_FORGET_WATCH)
        return false;
    return glance->op == ZKL_OP_LIST ? take_list(observer, glance, reply) : take_node(observer, glance, reply);
}

static void on_reply(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale)
{
    struct zkl_glance *glance = (struct zkl_glance *)call;
    struct zklock_observer *observer = glance->observer;
    bool is_of_interest = !is_stale && !observer->is_over && glance->look == observer->look;

    if (!is_of_interest || !take(observer, glance, reply)) {
        if (glance->with_watch && !is_stale && reply->code == ZKL_CODE_OK)
            zkl_session_leave_watch(observer->session, glance->path);
        free(glance);
    }
    zkl_observer_unref(observer);
}
