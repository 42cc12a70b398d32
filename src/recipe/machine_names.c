/* What the states, events and asks are called, and which moves exist. */
#include "recipe/machine.h"

#define NAME_OF(table, index) \
    ((unsigned)(index) < sizeof(table) / sizeof((table)[0]) ? (table)[index] : "unknown")

const char *zkl_state_name(enum zkl_state state)
{
    static const char *const names[] = {
        [ZKL_NEW] = "new",           [ZKL_CREATING] = "creating",   [ZKL_PREPARING] = "preparing",
        [ZKL_FINDING] = "finding",   [ZKL_LISTING] = "listing",     [ZKL_SURVEYING] = "surveying",
        [ZKL_WATCHING] = "watching", [ZKL_WAITING] = "waiting",     [ZKL_HELD] = "held",
        [ZKL_LOST] = "lost",         [ZKL_DELETING] = "deleting",   [ZKL_GONE] = "gone",
    };
    return NAME_OF(names, state);
}

const char *zkl_event_name(enum zkl_event_type type)
{
    static const char *const names[] = {
        [ZKL_EV_START] = "start",
        [ZKL_EV_CREATED] = "created",
        [ZKL_EV_PREPARED] = "prepared",
        [ZKL_EV_FOUND] = "found",
        [ZKL_EV_LISTED] = "listed",
        [ZKL_EV_SURVEYED] = "surveyed",
        [ZKL_EV_WATCHED] = "watched",
        [ZKL_EV_DELETED] = "deleted",
        [ZKL_EV_DOWNGRADED] = "downgraded",
        [ZKL_EV_UNSENT] = "unsent",
        [ZKL_EV_RETRY] = "retry",
        [ZKL_EV_OWN_GONE] = "own gone",
        [ZKL_EV_OWN_CHANGED] = "own changed",
        [ZKL_EV_AHEAD_GONE] = "ahead gone",
        [ZKL_EV_AHEAD_CHANGED] = "ahead changed",
        [ZKL_EV_CONNECTED] = "connected",
        [ZKL_EV_DISCONNECTED] = "disconnected",
        [ZKL_EV_EXPIRED] = "expired",
        [ZKL_EV_LEASED] = "leased",
        [ZKL_EV_LAPSED] = "lapsed",
        [ZKL_EV_GIVE_UP] = "give up",
        [ZKL_EV_RELEASE] = "release",
        [ZKL_EV_DOWNGRADE] = "downgrade",
        [ZKL_EV_LOOK] = "look",
        [ZKL_EV_GUARDED] = "guarded",
        [ZKL_EV_HOLD_OVER] = "hold over",
    };
    return NAME_OF(names, type);
}

const char *zkl_ask_name(enum zkl_ask ask)
{
    static const char *const names[] = {
        [ZKL_ASK_NOTHING] = "nothing", [ZKL_ASK_CREATE] = "create",       [ZKL_ASK_PREPARE] = "prepare",
        [ZKL_ASK_FIND] = "find",       [ZKL_ASK_LIST] = "list",           [ZKL_ASK_SURVEY] = "survey",
        [ZKL_ASK_WATCH] = "watch",     [ZKL_ASK_WATCH_OWN] = "watch own", [ZKL_ASK_DELETE] = "delete",
        [ZKL_ASK_DOWNGRADE] = "downgrade",
    };
    return NAME_OF(names, ask);
}

#define TO(state) (1u << (state))

bool zkl_move_is_allowed(enum zkl_state from, enum zkl_state to)
{
    static const unsigned ended = TO(ZKL_DELETING) | TO(ZKL_GONE);
    static const unsigned placed = TO(ZKL_SURVEYING) | TO(ZKL_WATCHING) | TO(ZKL_HELD);
    const unsigned allowed[ZKL_STATE_COUNT] = {
        [ZKL_NEW] = TO(ZKL_CREATING) | TO(ZKL_GONE),
        [ZKL_CREATING] = TO(ZKL_PREPARING) | TO(ZKL_FINDING) | TO(ZKL_LISTING) | placed | ended,
        [ZKL_PREPARING] = TO(ZKL_CREATING) | TO(ZKL_GONE),
        [ZKL_FINDING] = TO(ZKL_CREATING) | TO(ZKL_PREPARING) | TO(ZKL_SURVEYING) | TO(ZKL_WATCHING) | ended,
        [ZKL_LISTING] = TO(ZKL_CREATING) | TO(ZKL_WAITING) | placed | TO(ZKL_DELETING),
        [ZKL_SURVEYING] = TO(ZKL_CREATING) | TO(ZKL_LISTING) | TO(ZKL_WAITING) | TO(ZKL_WATCHING) | TO(ZKL_HELD) |
                          TO(ZKL_DELETING),
        [ZKL_WATCHING] = TO(ZKL_CREATING) | TO(ZKL_LISTING) | TO(ZKL_WAITING) | TO(ZKL_HELD) | ended,
        [ZKL_WAITING] = TO(ZKL_CREATING) | TO(ZKL_LISTING) | TO(ZKL_WATCHING) | TO(ZKL_HELD) | TO(ZKL_DELETING),
        [ZKL_HELD] = TO(ZKL_LOST) | TO(ZKL_DELETING),
        [ZKL_LOST] = ended,
        [ZKL_DELETING] = TO(ZKL_GONE),
        [ZKL_GONE] = 0,
    };
    return from < ZKL_STATE_COUNT && to < ZKL_STATE_COUNT && (allowed[from] & TO(to)) != 0;
}
