#include "exec_guard.h"

#include <signal.h>

#include "clock.h"
#include "message.h"

enum {
    KILL_TICK_MS = 20,    /* how often a job that is being stopped is looked at */
    KILL_LIMIT_MS = 3000, /* then the rest is in the kernel's hands */
    SETTLE_MS = 200,      /* for processes that die with the command, but after it */
    WARN_AFTER_MS = 500,  /* a shorter silence of the servers is not worth a word */
    IDLE_MS = 60000,
    LEASH_MOVES = 10, /* in a session timeout */
};

static int64_t least(int64_t one_ms, int64_t other_ms)
{
    return one_ms < other_ms ? one_ms : other_ms;
}

void guard_kill(struct guard *guard)
{
    guard->phase = GUARD_KILLING;
    guard->give_up_at_ms = clock_boottime_ms() + KILL_LIMIT_MS;
    job_signal_all(&guard->job, SIGKILL);
}

/* A stopped command cannot act on a stop signal, and must not be continued without the lock. */
static void start_stopping(struct guard *guard, int64_t grace_ms)
{
    if (grace_ms <= 0 || guard->job.stop_signal != 0) {
        guard_kill(guard);
        return;
    }
    guard->phase = GUARD_STOPPING;
    guard->kill_at_ms = clock_boottime_ms() + grace_ms;
    job_signal_all(&guard->job, guard->exec->options->stop_signal);
}

/* The grace, or what the lease leaves of it. After a removal there is no lease to keep to. */
static int64_t grace_inside_lease(const struct guard *guard)
{
    const struct exec *exec = guard->exec;
    int64_t spare_ms = exec_remaining_ms(exec) - exec->reserve_ms;
    zklock_loss loss = ZKLOCK_LOSS_NONE;

    if (zklock_multi_state_get(exec->hold.multi, &loss) == ZKLOCK_STATE_LOST && loss == ZKLOCK_LOSS_REMOVED)
        return exec->grace_ms;
    return least(spare_ms, exec->grace_ms);
}

/* Acts first and speaks afterwards: speaking may take its time. */
static void lose(struct guard *guard)
{
    const char *path = guard->exec->options->path;
    zklock_loss loss = ZKLOCK_LOSS_NONE;
    bool is_lost = zklock_multi_state_get(guard->exec->hold.multi, &loss) == ZKLOCK_STATE_LOST;
    bool is_at_limit = exec_is_at_hold_limit(guard->exec);

    guard->was_lost = true;
    start_stopping(guard, grace_inside_lease(guard));
    if (is_lost)
        message_error("%s: the lock was lost (%s); stopping the command", path, zklock_loss_text(loss));
    else if (is_at_limit)
        message_error("%s: was held for as long as --hold-limit allows; stopping the command", path);
    else
        message_error("%s: the servers do not answer and the lease ends soon; stopping the command", path);
}

static void warn_of_loss(struct guard *guard)
{
    zklock_loss loss = ZKLOCK_LOSS_NONE;

    if (guard->has_warned_of_loss || zklock_multi_state_get(guard->exec->hold.multi, &loss) != ZKLOCK_STATE_LOST)
        return;
    guard->has_warned_of_loss = true;
    guard->was_lost = true;
    message_warn("%s: the lock was lost (%s); the command goes on without it, as --on-loss warn asks",
                 guard->exec->options->path, zklock_loss_text(loss));
}

/* At most one warning a silence. */
static void watch_silence(struct guard *guard)
{
    int64_t now_ms = clock_boottime_ms();
    char left[32];

    if (zklock_multi_state_get(guard->exec->hold.multi, NULL) != ZKLOCK_STATE_SUSPENDED) {
        if (guard->has_warned_of_silence && zklock_multi_is_held(guard->exec->hold.multi))
            message_story("the servers answer again");
        guard->silent_since_ms = 0;
        guard->has_warned_of_silence = false;
        return;
    }
    if (guard->silent_since_ms == 0)
        guard->silent_since_ms = now_ms;
    if (guard->has_warned_of_silence || now_ms - guard->silent_since_ms < WARN_AFTER_MS)
        return;
    guard->has_warned_of_silence = true;
    number_print_seconds(zklock_multi_remaining_ms(guard->exec->hold.multi), left, sizeof(left));
    message_warn("%s: the servers do not answer; the lock is held for another %s s",
                 guard->exec->options->path, left);
}

/* A part of the reserve is left for the killing. */
int64_t exec_move_leash(struct exec *exec)
{
    int64_t now_ms = clock_boottime_ms();

    if (!keeper_is_there(&exec->keeper) || exec->options->on_loss == ON_LOSS_WARN)
        return IDLE_MS;
    keeper_move_leash(&exec->keeper, now_ms + exec_remaining_ms(exec) - exec->reserve_ms / 2);
    return exec->session_timeout_ms / LEASH_MOVES;
}

/* Looks after the lock while the command runs; returns when to look again. */
static int64_t watch_lock(struct guard *guard)
{
    struct exec *exec = guard->exec;
    bool is_lost = zklock_multi_state_get(exec->hold.multi, NULL) == ZKLOCK_STATE_LOST;
    int64_t next_ms;

    watch_silence(guard);
    if (exec->options->on_loss == ON_LOSS_WARN) {
        warn_of_loss(guard);
        next_ms = exec_remaining_ms(exec);
        next_ms = next_ms > 0 ? next_ms : IDLE_MS;
    } else if (is_lost || exec_lease_is_short(exec)) {
        lose(guard);
        return KILL_TICK_MS;
    } else {
        next_ms = least(exec_remaining_ms(exec) - exec->grace_ms - exec->reserve_ms,
                        exec_move_leash(exec));
    }
    if (guard->silent_since_ms && !guard->has_warned_of_silence && next_ms > WARN_AFTER_MS)
        next_ms = WARN_AFTER_MS;
    return next_ms;
}

static void end_stopping(struct guard *guard)
{
    int left = job_count(&guard->job);

    if (left > 0)
        message_warn("%d process%s of the command could not be killed (uninterruptible, or another user's)",
                     left, left == 1 ? "" : "es");
    guard->phase = GUARD_OVER;
}

/* Until the last member is gone, wherever it went. */
static int64_t watch_stopping(struct guard *guard)
{
    int64_t now_ms = clock_boottime_ms();

    if (job_is_gone(&guard->job))
        guard->phase = GUARD_OVER;
    else if (guard->phase == GUARD_STOPPING && now_ms >= guard->kill_at_ms)
        guard_kill(guard);
    else if (guard->phase == GUARD_KILLING && now_ms >= guard->give_up_at_ms)
        end_stopping(guard);
    else if (guard->phase == GUARD_KILLING)
        job_signal_all(&guard->job, SIGKILL);
    return KILL_TICK_MS;
}

static void note_late_loss(struct guard *guard)
{
    zklock_loss loss = ZKLOCK_LOSS_NONE;

    if (guard->was_lost)
        return;
    if (guard->job.was_leash_cut) {
        guard->was_lost = true;
        message_error("%s: zklock was stopped for so long that its keeper had to kill the command before the lease ended",
                      guard->exec->options->path);
        return;
    }
    if (zklock_multi_is_held(guard->exec->hold.multi))
        return;
    guard->was_lost = true;
    zklock_multi_state_get(guard->exec->hold.multi, &loss);
    message_error("%s: the lock was lost before the command ended (%s)", guard->exec->options->path,
                  zklock_loss_text(loss));
}

static void warn_of_leftovers(int count)
{
    message_warn(
        "the command left %d process%s running in the background, without the lock; --kill-leftovers would "
        "end %s",
        count, count == 1 ? "" : "es", count == 1 ? "it" : "them");
}

/* What the command left running is told once, or ended. */
void guard_end_command(struct guard *guard)
{
    int left = job_count(&guard->job);

    note_late_loss(guard);
    guard->phase = GUARD_OVER;
    if (left > 0 && guard->job.was_keeper_lost) {
        guard_kill(guard);
        return;
    }
    if (left > 0 && guard->exec->options->kills_leftovers) {
        start_stopping(guard, grace_inside_lease(guard));
        return;
    }
    keeper_end_job(&guard->exec->keeper);
    if (left > 0)
        left = job_settle(&guard->job, SETTLE_MS);
    if (left > 0)
        warn_of_leftovers(left);
}
int64_t guard_watch(struct guard *guard)
{
    return guard->phase == GUARD_RUNNING ? watch_lock(guard) : watch_stopping(guard);
}
