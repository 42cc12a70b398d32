#include "steps.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver.h"

const char *driver_violation;

struct list {
    struct step *steps;
    int count;
};

static void add(struct list *list, enum step_kind kind, int client, int argument)
{
    if (list->count == MOST_STEPS) {
        fprintf(stderr, "explorer: more steps than there is room for; raise MOST_STEPS\n");
        exit(2);
    }
    list->steps[list->count++] = (struct step){(uint8_t)kind, (uint8_t)client, (uint8_t)argument};
}

/* A create beyond the counter's limit goes one of two ways. */
static void add_create(struct list *list, const struct world *world, enum step_kind kind, struct step step)
{
    add(list, kind, step.client, step.argument);
    if (world->numbers_left == 0)
        add(list, kind, step.client, step.argument | 8);
}

static void list_session(struct list *list, const struct world *world, int index)
{
    const struct client *client = &world->clients[index];
    bool is_over = client->machine.state == ZKL_GONE;
    uint8_t dead = client->watches & (uint8_t)~world->alive;

    if (client->link == LINK_CUT || client->link == LINK_FROZEN)
        add(list, STEP_NOTICE_CUT, index, 0);
    if (client->lease == LEASE_ENDED)
        add(list, STEP_NOTICE_LAPSE, index, 0);
    if (client->life == LIFE_OVER)
        add(list, STEP_NOTICE_EXPIRY, index, 0);
    if (client->life == LIFE_NONE && !is_over && client->machine.state != ZKL_LOST)
        add(list, STEP_OPEN_FRESH, index, 0);
    if (client->link == LINK_OUT && client->life == LIFE_ALIVE) {
        add(list, STEP_RECONNECT, index, 0);
        if ((dead | client->missed) & ((dead | client->missed) - 1))
            add(list, STEP_RECONNECT, index, 1);
    }
    if (client->lease == LEASE_TOLD && client->link == LINK_UP && client->life == LIFE_ALIVE &&
        (!client->machine.has_result || client->machine.state == ZKL_LOST))
        add(list, STEP_EARN_LEASE, index, 0);
    if (client->machine.node_is_known && client->machine.state != ZKL_DELETING && client->link == LINK_UP &&
        !client->machine.goes_unreleased && !has_bit(world->alive, client->own))
        add(list, STEP_BEAT, index, 0);
}

static void list_traffic(struct list *list, const struct world *world, int index)
{
    const struct client *client = &world->clients[index];

    if (client->reply_count > 0 && client->link != LINK_OUT)
        add(list, STEP_DELIVER, index, 0);
    if (world_can_apply(world, client)) {
        if (client->requests[0].op == OP_CREATE)
            add_create(list, world, STEP_APPLY, (struct step){.client = (uint8_t)index});
        else
            add(list, STEP_APPLY, index, 0);
    }
    for (uint8_t token = 0; token < MOST_TOKENS; token++)
        if (has_bit(client->late_creates, token))
            add_create(list, world, STEP_LATE_CREATE, (struct step){STEP_LATE_CREATE, (uint8_t)index, token});
    for (int slot = 0; slot < MOST_NODES; slot++)
        if (has_bit(client->late_deletes, slot))
            add(list, STEP_LATE_DELETE, index, slot);
    for (int slot = 0; slot < MOST_NODES; slot++)
        if (has_bit(client->late_downgrades, slot))
            add(list, STEP_LATE_DOWNGRADE, index, slot);
}

static void list_owner(struct list *list, const struct world *world, int index)
{
    const struct client *client = &world->clients[index];
    enum zkl_state state = client->machine.state;

    if (state == ZKL_NEW)
        add(list, STEP_START, index, 0);
    if (world_may_guard(world, client))
        add(list, STEP_GUARD, index, 0);
    if (client->machine.watch_can_wait)
        add(list, STEP_WATCH, index, 0);
    if ((state == ZKL_HELD || state == ZKL_LOST) && !(client->told & DID_RELEASE))
        add(list, STEP_RELEASE, index, 0);
    if (client->machine.is_blocked)
        add(list, STEP_RETRY, index, 0);
    if (driver_is_blind(client))
        add(list, STEP_LOOK, index, !has_bit(world->alive, client->ahead));
    if (client->link == LINK_UP && driver_needs_sweep(world, client))
        add(list, STEP_SWEEP, index, 0);
    if (world->downgrades_left > 0 && state == ZKL_HELD && client->kind == ZKL_KIND_WRITE &&
        !(client->told & (DID_DOWNGRADE | DID_RELEASE)))
        add(list, STEP_DOWNGRADE, index, 0);
    if (world->hold_limits_left > 0 && state == ZKL_HELD)
        add(list, STEP_HOLD_OVER, index, 0);
    if (world->give_ups_left == 0)
        return;
    if (!client->machine.has_result && !(client->told & DID_GIVE_UP)) {
        add(list, STEP_GIVE_UP, index, ZKL_OUTCOME_CANCELLED);
        add(list, STEP_GIVE_UP, index, ZKL_OUTCOME_LIMIT);
    }
    if (state == ZKL_HELD || state == ZKL_LOST)
        add(list, STEP_CLOSE, index, 0);
}

static bool may_happen(const struct world *world, enum step_kind kind)
{
    return world->faults_left > 0 && (setting.kinds >> kind & 1) != 0;
}

static void list_faults_of_client(struct list *list, const struct world *world, int index)
{
    const struct client *client = &world->clients[index];
    bool is_over = client->machine.state == ZKL_GONE;

    if (client->lease != LEASE_RUNS && client->life == LIFE_ALIVE)
        add(list, STEP_EXPIRE, index, 0);
    if (client->link == LINK_UP && may_happen(world, STEP_CUT))
        add(list, STEP_CUT, index, 0);
    if (client->link == LINK_UP && world->has_parent && may_happen(world, STEP_FREEZE))
        add(list, STEP_FREEZE, index, 0);
    if (client->lease == LEASE_RUNS && !is_over && may_happen(world, STEP_LAPSE))
        add(list, STEP_LAPSE, index, 0);
    if (!client->is_failing && !is_over && may_happen(world, STEP_FAIL_TO_SEND))
        add(list, STEP_FAIL_TO_SEND, index, 0);
    if (client->machine.is_in_flight && may_happen(world, STEP_TIME_OUT))
        add(list, STEP_TIME_OUT, index, 0);
}

static void list_faults_of_world(struct list *list, const struct world *world)
{
    for (int slot = 0; slot < MOST_NODES; slot++) {
        if (has_bit(world->alive, slot) && may_happen(world, STEP_KILL))
            add(list, STEP_KILL, NONE, slot);
        if (has_bit(world->alive, slot) && may_happen(world, STEP_CHANGE))
            add(list, STEP_CHANGE, NONE, slot);
    }
    if (world->has_parent && world->alive == 0 && may_happen(world, STEP_REMOVE_PARENT))
        add(list, STEP_REMOVE_PARENT, NONE, 0);
    if (world->raises_left > 0)
        add(list, STEP_RAISE, NONE, 0);
}

int steps_list(const struct world *world, struct step out_steps[MOST_STEPS])
{
    struct list list = {out_steps, 0};

    for (int i = 0; i < setting.clients; i++) {
        list_session(&list, world, i);
        list_traffic(&list, world, i);
        list_owner(&list, world, i);
        list_faults_of_client(&list, world, i);
    }
    list_faults_of_world(&list, world);
    return list.count;
}

/* Steps of the calm course: no heartbeats, since the watches alone have to do, and no looks in vain. */
static bool is_calm(const struct step *step)
{
    return step->kind < STEP_ORDINARY_COUNT && step->kind != STEP_BEAT &&
           (step->kind != STEP_LOOK || step->argument != 0);
}

bool steps_calm(const struct world *world, struct step *out_step)
{
    struct step steps[MOST_STEPS];
    int count = steps_list(world, steps);
    int best = -1;

    for (int i = 0; i < count; i++) {
        if (is_calm(&steps[i]) && (best < 0 || steps[i].kind < steps[best].kind))
            best = i;
    }
    if (best >= 0)
        *out_step = steps[best];
    return best >= 0;
}

static void take_of_session(struct world *world, struct client *client, const struct step *step)
{
    switch ((enum step_kind)step->kind) {
    case STEP_NOTICE_CUT:
        driver_notice_cut(world, client);
        break;
    case STEP_NOTICE_LAPSE:
        client->lease = LEASE_TOLD;
        driver_tell(world, client, ZKL_EV_LAPSED);
        break;
    case STEP_NOTICE_EXPIRY:
        driver_notice_expiry(world, client);
        break;
    case STEP_OPEN_FRESH:
        client->life = LIFE_ALIVE;
        client->link = LINK_UP;
        client->lease = LEASE_RUNS;
        driver_tell(world, client, ZKL_EV_CONNECTED);
        break;
    case STEP_RECONNECT:
        world_reconnect(world, client, step->argument != 0);
        driver_tell(world, client, ZKL_EV_CONNECTED);
        break;
    case STEP_EARN_LEASE:
        client->lease = LEASE_RUNS;
        driver_tell(world, client, ZKL_EV_LEASED);
        break;
    case STEP_BEAT:
        driver_tell(world, client, ZKL_EV_OWN_GONE);
        break;
    default:
        break;
    }
}

static void take_of_owner(struct world *world, struct client *client, const struct step *step)
{
    switch ((enum step_kind)step->kind) {
    case STEP_START:
        driver_tell(world, client, ZKL_EV_START);
        break;
    case STEP_GUARD:
        driver_tell(world, client, ZKL_EV_GUARDED);
        break;
    case STEP_RETRY:
        driver_tell(world, client, ZKL_EV_RETRY);
        break;
    case STEP_LOOK:
    case STEP_WATCH:
        driver_tell(world, client, ZKL_EV_LOOK);
        break;
    case STEP_RELEASE:
        client->told |= DID_RELEASE;
        driver_tell(world, client, ZKL_EV_RELEASE);
        break;
    case STEP_GIVE_UP:
        world->give_ups_left--;
        client->told |= DID_GIVE_UP;
        driver_give_up(world, client, step->argument);
        break;
    case STEP_CLOSE:
        world->give_ups_left--;
        client->told |= DID_CLOSE;
        driver_give_up(world, client, ZKL_OUTCOME_CLOSED);
        break;
    case STEP_DOWNGRADE:
        world->downgrades_left--;
        client->told |= DID_DOWNGRADE;
        driver_tell(world, client, ZKL_EV_DOWNGRADE);
        break;
    case STEP_HOLD_OVER:
        world->hold_limits_left--;
        driver_tell(world, client, ZKL_EV_HOLD_OVER);
        break;
    case STEP_SWEEP:
        driver_sweep(world, client);
        break;
    default:
        break;
    }
}

static void take_of_server(struct world *world, struct client *client, const struct step *step)
{
    switch ((enum step_kind)step->kind) {
    case STEP_DELIVER:
        driver_deliver(world, client);
        break;
    case STEP_APPLY:
        world_apply(world, client, (step->argument & 8) != 0);
        break;
    case STEP_LATE_CREATE:
        world_apply_late_create(world, client, step->argument & 7, (step->argument & 8) != 0);
        break;
    case STEP_LATE_DELETE:
        world_apply_late_delete(world, client, step->argument);
        break;
    case STEP_LATE_DOWNGRADE:
        world_apply_late_downgrade(world, client, step->argument);
        break;
    case STEP_RAISE:
        world_raise_limit(world);
        break;
    case STEP_EXPIRE:
        world_expire(world, client);
        break;
    default:
        break;
    }
}

static void take_fault(struct world *world, struct client *client, const struct step *step)
{
    world->faults_left--;
    switch ((enum step_kind)step->kind) {
    case STEP_CUT:
        world_cut(client);
        break;
    case STEP_FREEZE:
        world_freeze(world, client);
        break;
    case STEP_LAPSE:
        client->lease = LEASE_ENDED;
        break;
    case STEP_FAIL_TO_SEND:
        client->is_failing = true;
        break;
    case STEP_TIME_OUT:
        driver_time_out(world, client);
        break;
    case STEP_KILL:
        world_kill(world, step->argument);
        break;
    case STEP_CHANGE:
        world_change(world, step->argument);
        break;
    case STEP_REMOVE_PARENT:
        world->has_parent = false;
        break;
    default:
        break;
    }
}

static sigjmp_buf before_step;

static void leave_step(int signal_number)
{
    (void)signal_number;
    siglongjmp(before_step, 1);
}

void steps_catch_assertions(void)
{
    /* Not blocked while it runs, since it does not return. */
    struct sigaction action = {.sa_handler = leave_step, .sa_flags = SA_NODEFER};

    sigaction(SIGABRT, &action, NULL);
}

const char *steps_take(struct world *world, const struct step *step)
{
    struct client *client = step->client == NONE ? NULL : &world->clients[step->client];

    driver_violation = NULL;
    if (sigsetjmp(before_step, 0) != 0)
        return "an assertion of the recipe failed";
    if (step->kind >= STEP_CUT) {
        take_fault(world, client, step);
    } else {
        take_of_session(world, client, step);
        take_of_owner(world, client, step);
        take_of_server(world, client, step);
    }
    return driver_violation;
}
