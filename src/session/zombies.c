/*
 * Creates whose fate nobody saw. The server may keep such a request in a thread that stands still and apply it long
 * after a listing did not show it; so each listing is looked through, and sweeps list on their own: after a second,
 * then every half session timeout, for as long as the session lives.
 */
#include <stdlib.h>
#include <string.h>

#include "session/session_state.h"

#define FIRST_SWEEP_NS ZKL_NS_PER_S

/* A listing on its way, of one parent. */
struct zkl_sweep {
    struct zkl_call call;
    zklock_session *session;
    char *parent;
};

/* A delete that nobody waits for. The next sweep tries again what this one does not do. */
struct removal {
    struct zkl_call call;
    zklock_session *session;
    char path[];
};

static int64_t sweep_interval(zklock_session *session)
{
    return zkl_jitter(session->runtime, session->timeout_ms * ZKL_NS_PER_MS / 2);
}

struct zkl_zombie *zkl_zombie_new(const char *parent)
{
    struct zkl_zombie *zombie = calloc(1, sizeof *zombie);

    if (zombie)
        zombie->parent = strdup(parent);
    if (zombie && zombie->parent)
        return zombie;
    free(zombie);
    return NULL;
}

void zkl_zombie_free(struct zkl_zombie *zombie)
{
    if (!zombie)
        return;
    free(zombie->parent);
    free(zombie);
}

void zkl_session_add_zombie(zklock_session *session, struct zkl_zombie *zombie, const char *prefix)
{
    strncpy(zombie->prefix, prefix, sizeof zombie->prefix - 1);
    zombie->next = session->zombies;
    session->zombies = zombie;
    int64_t first_ns = zkl_session_now(session) + zkl_jitter(session->runtime, FIRST_SWEEP_NS);
    if (!zombie->next || first_ns < session->sweep_ns)
        session->sweep_ns = first_ns;
    zkl_session_plan(session, session->sweep_ns);
}

void zkl_zombies_clear(zklock_session *session)
{
    while (session->zombies) {
        struct zkl_zombie *zombie = session->zombies;
        session->zombies = zombie->next;
        zkl_zombie_free(zombie);
    }
    session->sweep = NULL;
}

/* The zombie that a znode's full path belongs to, as the place where it hangs in the list; NULL: none. */
static struct zkl_zombie **find(zklock_session *session, const char *path)
{
    const char *slash = strrchr(path, '/');

    for (struct zkl_zombie **at = &session->zombies; *at; at = &(*at)->next)
        if (strncmp((*at)->parent, path, (size_t)(slash - path)) == 0 && (*at)->parent[slash - path] == '\0' &&
            zkl_name_is_own(slash + 1, (*at)->prefix))
            return at;
    return NULL;
}

static void on_removed(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale)
{
    struct removal *removal = (struct removal *)call;
    bool is_gone = reply->code == ZKL_CODE_OK || reply->code == ZKL_CODE_NO_NODE;

    if (!is_stale && is_gone) {
        struct zkl_zombie **at = find(removal->session, removal->path);
        if (at) {
            struct zkl_zombie *zombie = *at;
            *at = zombie->next;
            zkl_zombie_free(zombie);
        }
    } else if (!is_stale && reply->code != ZKL_CODE_UNKNOWN) {
        zkl_session_spoil(removal->session);
    }
    free(removal);
}

static void remove_node(zklock_session *session, const char *parent, const char *name)
{
    struct removal *removal = malloc(sizeof *removal + strlen(parent) + strlen(name) + 2);

    if (!removal)
        return;
    removal->call.on_reply = on_removed;
    removal->session = session;
    strcpy(removal->path, parent);
    strcat(removal->path, "/");
    strcat(removal->path, name);
    struct zkl_request request = {.op = ZKL_OP_DELETE, .path = removal->path};
    if (!zkl_session_submit(session, &removal->call, &request))
        free(removal);
}

void zkl_session_see_children(zklock_session *session, const char *parent, const struct zkl_reply *listing)
{
    for (struct zkl_zombie *zombie = session->zombies; zombie; zombie = zombie->next) {
        if (strcmp(zombie->parent, parent) != 0)
            continue;
        for (int i = 0; i < listing->child_count; i++)
            if (zkl_name_is_own(listing->children[i], zombie->prefix))
                remove_node(session, parent, listing->children[i]);
    }
}

/* The parent that comes after `parent` in the list; the first one when `parent` is NULL; NULL: all were seen. */
static const char *next_parent(const zklock_session *session, const char *parent)
{
    const char *best = NULL;

    for (const struct zkl_zombie *zombie = session->zombies; zombie; zombie = zombie->next)
        if ((!parent || strcmp(zombie->parent, parent) > 0) && (!best || strcmp(zombie->parent, best) < 0))
            best = zombie->parent;
    return best;
}

static void free_sweep(struct zkl_sweep *sweep)
{
    free(sweep->parent);
    free(sweep);
}

static void list_parent(zklock_session *session, const char *parent);

static void on_swept(struct zkl_call *call, const struct zkl_reply *reply, bool is_stale)
{
    struct zkl_sweep *sweep = (struct zkl_sweep *)call;
    zklock_session *session = sweep->session;

    if (is_stale || session->sweep != sweep) {
        free_sweep(sweep);
        return;
    }
    session->sweep = NULL;
    if (reply->code == ZKL_CODE_OK)
        zkl_session_see_children(session, sweep->parent, reply);
    if (reply->code != ZKL_CODE_UNKNOWN) {
        const char *next = next_parent(session, sweep->parent);
        if (next)
            list_parent(session, next);
    }
    free_sweep(sweep);
}

static void list_parent(zklock_session *session, const char *parent)
{
    struct zkl_sweep *sweep = calloc(1, sizeof *sweep);

    if (!sweep)
        return;
    sweep->call.on_reply = on_swept;
    sweep->session = session;
    sweep->parent = strdup(parent);
    struct zkl_request request = {.op = ZKL_OP_LIST, .path = sweep->parent};
    if (!sweep->parent || !zkl_session_submit(session, &sweep->call, &request)) {
        free_sweep(sweep);
        return;
    }
    session->sweep = sweep;
}

int64_t zkl_zombies_turn(zklock_session *session, int64_t now_ns)
{
    if (!session->zombies || session->phase != ZKL_PHASE_CONNECTED)
        return ZKL_NEVER;
    if (now_ns >= session->sweep_ns) {
        session->sweep_ns = now_ns + sweep_interval(session);
        if (!session->sweep)
            list_parent(session, next_parent(session, NULL));
    }
    return session->sweep_ns;
}

void zkl_zombies_connected(zklock_session *session, int64_t now_ns)
{
    if (session->zombies)
        session->sweep_ns = now_ns;
}
