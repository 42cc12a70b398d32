#include "items.h"

#include <stdio.h>
#include <stdlib.h>

#include "lock/limit.h"

static void after(struct run *run, int64_t delay_ns, event_fn *happen, void *subject, void *detail)
{
    world_post(&run->ensemble.nobody, run->world.now_ns + delay_ns, happen, subject, detail);
}

/* ---------------------------------------------------------------- users */

static void play_user(struct process *process, const struct item *item)
{
    struct contender *contender = &process->contenders[item->which];

    if (contender->is_part) {
        several_play(&process->several, item);
        return;
    }
    if (contender->crew) {
        crew_play(contender->crew, item);
        return;
    }
    switch (item->kind) {
    case ITEM_ACQUIRE:
        contender_acquire(contender, item->amount[0], item->amount[1]);
        break;
    case ITEM_CANCEL:
        contender_cancel(contender);
        break;
    case ITEM_FREE:
        if (item->amount[0])
            contender->must_free = true;
        else
            contender_renew(contender);
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------- a client's faults, and their ends */

static void end_hole(void *subject, void *detail)
{
    struct process *process = subject;
    unsigned servers = (unsigned)(uintptr_t)detail;

    process->host.holes[TO_SERVER] &= ~servers;
    process->host.holes[TO_CLIENT] &= ~servers;
    if (!process->host.actor.is_paused)
        wire_resume(&process->host);
}

static void end_pause(void *subject, void *detail)
{
    struct process *process = subject;

    (void)detail;
    if (!process->host.actor.is_paused)
        return;
    actor_resume(&process->host.actor);
    wire_resume(&process->host);
}

static void end_stall(void *subject, void *detail)
{
    (void)detail;
    driver_unstall(&((struct process *)subject)->driver);
}

static void end_slow(void *subject, void *detail)
{
    (void)detail;
    ((struct process *)subject)->host.extra_ns = 0;
}

static void restart(void *subject, void *detail)
{
    struct run *run = subject;
    int slot = (int)(uintptr_t)detail;

    if (run->slots[slot] && run->slots[slot]->departure != GONE) {
        after(run, 100 * MILLISECOND, restart, run, detail);
        return;
    }
    process_start(run, slot);
}

static void begin_hole(struct process *process, const struct item *item)
{
    for (int direction = 0; direction < 2; direction++)
        if (item->amount[1] >> direction & 1)
            process->host.holes[direction] |= (unsigned)item->which;
    after(process->run, item->amount[0], end_hole, process, (void *)(uintptr_t)item->which);
}

static void set_trap(struct process *process, const struct item *item)
{
    process->driver.trap = (enum trap)item->amount[1];
    process->driver.trap_op = (enum zkl_op)item->which;
    process->driver.trap_ns = item->amount[0];
}

static void play_client_fault(struct process *process, const struct item *item)
{
    struct run *run = process->run;

    TRACE(&run->world, "%s: %s (%d) for %.3f s", process->host.name, item_name(item->kind), item->which,
          (double)item->amount[0] / SECOND);
    switch (item->kind) {
    case ITEM_CUT:
        driver_cut(&process->driver);
        break;
    case ITEM_HOLE:
        begin_hole(process, item);
        break;
    case ITEM_PAUSE:
        actor_pause(&process->host.actor);
        after(run, item->amount[0], end_pause, process, NULL);
        break;
    case ITEM_STALL:
        process->driver.stalled_until_ns = run->world.now_ns + item->amount[0];
        after(run, item->amount[0], end_stall, process, NULL);
        break;
    case ITEM_TRAP:
        set_trap(process, item);
        break;
    case ITEM_REFUSE:
        process->driver.refusals = item->which;
        break;
    case ITEM_SLOW:
        process->host.extra_ns = item->amount[1];
        after(run, item->amount[0], end_slow, process, NULL);
        break;
    case ITEM_CRASH:
        process_crash(process, item->which);
        after(run, item->amount[0], restart, run, (void *)(uintptr_t)process->slot);
        break;
    case ITEM_CLOSE:
        process_close(process, item->amount[1]);
        after(run, item->amount[0], restart, run, (void *)(uintptr_t)process->slot);
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------- servers */

/* The network falls apart: whoever is connected to `server` reaches no other one. */
static void split(struct run *run, int server, int64_t for_ns)
{
    unsigned others = ~(1u << server) & 7u;

    for (int slot = 0; slot < MOST_CLIENTS; slot++) {
        struct process *process = run->slots[slot];
        if (!process_is_alive(process) || driver_server(&process->driver) != server)
            continue;
        process->host.holes[TO_SERVER] |= others;
        process->host.holes[TO_CLIENT] |= others;
        after(run, for_ns, end_hole, process, (void *)(uintptr_t)others);
    }
}

static void play_server_fault(struct run *run, const struct item *item)
{
    struct ensemble *ensemble = &run->ensemble;
    int server = item->subject < 0 ? ensemble->leader : ensemble_follower(ensemble, item->subject);

    if (ensemble->leader < 0)
        return;
    if (item->kind == ITEM_DEPOSE)
        server = ensemble->leader;
    else if (item->kind == ITEM_CUT_FOLLOWER)
        server = ensemble_follower(ensemble, abs(item->subject));
    if (item->is_split)
        split(run, server, item->amount[item->kind == ITEM_DEPOSE]);
    switch (item->kind) {
    case ITEM_CUT_FOLLOWER:
        ensemble_cut_follower(ensemble, server, (unsigned)item->which, item->amount[0]);
        break;
    case ITEM_PAUSE_SERVER:
        ensemble_pause(ensemble, server, item->amount[0]);
        break;
    case ITEM_RESTART_SERVER:
        ensemble_restart(ensemble, server, item->amount[0]);
        break;
    case ITEM_DEPOSE:
        ensemble_depose(ensemble, item->amount);
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------- the operator */

static struct znode *nth_contender(struct znode *parent, int which)
{
    for (struct znode *node = parent->first_child; node; node = node->next)
        if (node->dzxid == NEVER && node->owner && which-- == 0)
            return node;
    return NULL;
}

static void change_limit(struct run *run, const struct item *item)
{
    const struct lock_path *path = &run->paths[item->subject];
    char text[ZKL_LIMIT_SIZE];

    zkl_limit_write(text, (unsigned)item->which);
    if (path->permits > 0)
        operator_write(&run->ensemble, tree_find(&run->ensemble.tree, path->path, LATEST), text);
}

static void play_operator(struct run *run, const struct item *item)
{
    struct ensemble *ensemble = &run->ensemble;
    const struct lock_path *path = &run->paths[item->subject];
    char directory[64];

    if (item->kind == ITEM_LIMIT) {
        change_limit(run, item);
        return;
    }
    /* Of a semaphore, what goes wrong goes wrong in one of its directories. */
    snprintf(directory, sizeof directory, "%s%s", path->path,
             path->permits == 0 ? "" : item->which == 1 && item->kind == ITEM_REMOVE ? "/locks" : "/leases");
    struct znode *parent = tree_find(&ensemble->tree, directory, LATEST);
    if (!parent)
        return;
    switch (item->kind) {
    case ITEM_REMOVE:
        operator_remove(ensemble, nth_contender(parent, item->which));
        break;
    case ITEM_REMOVE_TREE:
        operator_remove_tree(ensemble, parent);
        break;
    case ITEM_TOUCH:
        operator_touch(ensemble, nth_contender(parent, item->which));
        break;
    case ITEM_JUMP:
        /* Of shared locks such a queue is refused. */
        if (!path->is_shared)
            operator_jump(parent, (int32_t)item->amount[0]);
        break;
    case ITEM_JUNK:
        operator_create(ensemble, parent,
                        (const char *[]){"x", "lock-12", "config", "0000000000", "-lock-99999999999"}[item->which]);
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------- */

void items_play(struct run *run, const struct item *item)
{
    bool is_client = item->kind <= ITEM_CLOSE;
    struct process *process = is_client ? run->slots[item->subject] : NULL;

    if (is_client && (!process_is_alive(process) || process->host.actor.is_paused))
        return;
    run->figures.items[item->kind]++;
    if (item->kind <= ITEM_FREE)
        play_user(process, item);
    else if (is_client)
        play_client_fault(process, item);
    else if (item->kind <= ITEM_DEPOSE)
        play_server_fault(run, item);
    else
        play_operator(run, item);
    if (is_client)
        checker_look(process);
}
