/* Steps and worlds in words, for the trace of a violation. */
#include "describe.h"

#include <stdio.h>
#include <string.h>

static const char *const op_names[OP_COUNT] = {
    [OP_CREATE] = "create",
    [OP_CREATE_LIST] = "list behind the create",
    [OP_PREPARE] = "make the parent",
    [OP_BARRIER] = "barrier",
    [OP_FIND_LIST] = "list behind the barrier",
    [OP_LIST] = "list",
    [OP_SURVEY] = "survey",
    [OP_GET_OWN] = "get own",
    [OP_GET_AHEAD] = "get ahead",
    [OP_EXISTS_AHEAD] = "exists ahead",
    [OP_LIST_LEASES] = "watch the leases",
    [OP_WATCH_OWN] = "watch own",
    [OP_DELETE] = "delete",
    [OP_DELETE_WRITER] = "delete of the writer",
    [OP_DELETE_READER] = "delete of the reader",
    [OP_DOWNGRADE] = "downgrade",
    [OP_GET_READER] = "get the reader",
    [OP_SWEEP] = "delete of a zombie",
    [OP_DELETED] = "news of a deletion",
    [OP_CHANGED] = "news of a change",
    [OP_CHILDREN] = "news of the leases",
};

static const char *const answer_names[] = {
    [ZKL_ANSWER_NONE] = "", [ZKL_ANSWER_OK] = "ok", [ZKL_ANSWER_UNKNOWN] = "unknown",
    [ZKL_ANSWER_NO_NODE] = "no node", [ZKL_ANSWER_DENIED] = "denied", [ZKL_ANSWER_REFUSED] = "refused",
};

static const char *const step_names[STEP_COUNT] = {
    [STEP_NOTICE_CUT] = "notices that it is disconnected",
    [STEP_NOTICE_LAPSE] = "is told that its lease is over",
    [STEP_NOTICE_EXPIRY] = "learns that its session has expired",
    [STEP_OPEN_FRESH] = "is connected with a fresh session",
    [STEP_RECONNECT] = "is connected again",
    [STEP_LATE_CREATE] = "has an old create applied late",
    [STEP_LATE_DELETE] = "has an old delete applied late",
    [STEP_LATE_DOWNGRADE] = "has an old downgrade applied late",
    [STEP_DELIVER] = "gets",
    [STEP_APPLY] = "is served",
    [STEP_RETRY] = "tries again",
    [STEP_EARN_LEASE] = "earns a lease",
    [STEP_BEAT] = "learns by its heartbeat that its node is gone",
    [STEP_SWEEP] = "sweeps its zombies",
    [STEP_START] = "starts",
    [STEP_GUARD] = "has the guard",
    [STEP_RAISE] = "the limit is raised, time",
    [STEP_RELEASE] = "releases",
    [STEP_WATCH] = "looks at its own node at last",
    [STEP_LOOK] = "looks again at the one ahead",
    [STEP_GIVE_UP] = "gives up",
    [STEP_DOWNGRADE] = "downgrades",
    [STEP_CLOSE] = "is closed",
    [STEP_HOLD_OVER] = "has held for as long as it may",
    [STEP_EXPIRE] = "has its session expired by the server",
    [STEP_CUT] = "is cut off",
    [STEP_FREEZE] = "is left with a server that is cut off",
    [STEP_LAPSE] = "runs out of lease",
    [STEP_KILL] = "an operator deletes node",
    [STEP_CHANGE] = "an operator changes node",
    [STEP_REMOVE_PARENT] = "the parent is deleted",
    [STEP_FAIL_TO_SEND] = "will fail to send",
    [STEP_TIME_OUT] = "stops to wait for its answer",
};

/* The message that a step moves, if it moves one. */
static const struct message *message_of(const struct world *world, const struct step *step)
{
    if (step->kind == STEP_DELIVER)
        return &world->clients[step->client].replies[0];
    return step->kind == STEP_APPLY ? &world->clients[step->client].requests[0] : NULL;
}

/* What happens to somebody. */
static void describe_of_client(const struct world *world, const struct step *step, struct text *out_text)
{
    const struct message *message = message_of(world, step);
    const char *number = step->argument & 8 ? ", with a negative number" : "";
    size_t size = sizeof out_text->chars;

    if (message && step->kind == STEP_DELIVER)
        snprintf(out_text->chars, size, "gets: %s %s", op_names[message->op], answer_names[message->code]);
    else if (message)
        snprintf(out_text->chars, size, "is served: %s%s", op_names[message->op], number);
    else if (step->kind == STEP_RECONNECT && step->argument)
        snprintf(out_text->chars, size, "%s, news in reverse", step_names[step->kind]);
    else
        snprintf(out_text->chars, size, "%s%s", step_names[step->kind],
                 step->kind == STEP_LATE_CREATE ? number : "");
}

void describe_step(const struct world *world, const struct step *step, char who, struct text *out_text)
{
    struct text what;

    if (step->client == NONE) {
        snprintf(out_text->chars, sizeof out_text->chars, "%s %d", step_names[step->kind], step->argument);
        return;
    }
    describe_of_client(world, step, &what);
    snprintf(out_text->chars, sizeof out_text->chars, "%c %.*s", who, (int)sizeof out_text->chars - 3,
             what.chars);
}

void describe_client(const struct world *world, const struct client *client, struct text *out_text)
{
    static const char *const links[] = {"up", "frozen", "cut", "out"};
    static const char *const lives[] = {"alive", "over", "none"};
    static const char *const leases[] = {"runs", "ended", "told"};
    char node[24] = "no node";

    if (client->own < MOST_NODES)
        snprintf(node, sizeof node, "node %d%s", client->own,
                 has_bit(world->alive, client->own) ? "" : " (gone)");
    snprintf(out_text->chars, sizeof out_text->chars,
             "%-9s %s, ahead %d, link %s, session %s, lease %s, %d/%d under way",
             zkl_state_name(client->machine.state), node, client->ahead == NONE ? -1 : client->ahead,
             links[client->link], lives[client->life], leases[client->lease], client->request_count,
             client->reply_count);
}

const char *describe_kind(enum step_kind kind)
{
    return step_names[kind];
}
