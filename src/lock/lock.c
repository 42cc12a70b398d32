/* A lock object: what its attempts tell it, and what it tells its owner. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/options.h"
#include "lock/cohort.h"
#include "lock/multi.h"
#include "lock/payload.h"
#include "lock/permit.h"
#include "session/path.h"
#include "session/servers.h"

/* ---------------------------------------------------------------- what attempts tell @locks the session's, held */

/* @thread the notifier */
static void run_callback(void *key, const zklock_event *event)
{
    zklock *lock = key;

    lock->on_event(lock, event, lock->event_arg);
}

static void wake_waiters(zklock *lock)
{
    pthread_cond_broadcast(&lock->changed);
    if (lock->multi)
        zkl_multi_on_event(lock->multi);
    if (lock->cohort)
        zkl_cohort_on_event(lock->cohort);
}

static void wake_owner(zklock *lock)
{
    wake_waiters(lock);
    if (lock->event_fd >= 0)
        (void)!write(lock->event_fd, &(uint64_t){1}, sizeof(uint64_t));
}

static void call_owner(zklock *lock, zklock_event_kind kind, zklock_status status)
{
    if (!lock->on_event)
        return;
    struct zkl_notice_to_user notice = {
        .run = run_callback,
        .key = lock,
        .event = {.kind = kind, .status = status, .loss = lock->loss, .token = lock->has_token ? lock->token : 0},
    };
    zkl_session_notify(lock->session, &lock->notices, &notice);
}

/* Of what the stock is for. */
static void emit(zklock *lock, zklock_event_kind kind, zklock_status status)
{
    wake_owner(lock);
    call_owner(lock, kind, status);
}

/* Of what is left out when memory is short. `more` notices are to follow from it. */
static bool emit_if_possible(zklock *lock, zklock_event_kind kind, zklock_status status, int more)
{
    bool is_possible = !lock->on_event || zkl_notices_reserve(&lock->notices, lock->notices.count + 1 + more);

    wake_owner(lock);
    if (is_possible)
        call_owner(lock, kind, status);
    return is_possible;
}

static long long elapsed_ms(const struct zkl_attempt *attempt)
{
    return (long long)((zkl_session_now(attempt->session) - attempt->started_ns) / ZKL_NS_PER_MS);
}

static void granted(zklock *lock, struct zkl_attempt *attempt)
{
    lock->token = attempt->token;
    if (!lock->multi)
        zkl_attempt_begin_hold(attempt);
    lock->has_token = true;
    lock->is_silent = false;
    zkl_session_log(lock->session, ZKLOCK_LOG_INFO, "%s: held after %lld ms, token %llu", lock->path,
                    elapsed_ms(attempt), (unsigned long long)attempt->token);
    emit(lock, ZKLOCK_EVENT_ENDED, ZKLOCK_OK);
}

/* The limit passed behind somebody; and where the server has fallen silent meanwhile, nobody knows if he is still there. */
static void explain_timeout(zklock *lock, const struct zkl_attempt *attempt)
{
    const char *slash = attempt->ahead_path ? strrchr(attempt->ahead_path, '/') : NULL;
    char silence[128];

    zkl_session_describe(lock->session, silence, sizeof silence);
    if (attempt->permit) {
        zkl_permit_explain(attempt->permit, silence, &lock->detail);
        return;
    }
    zkl_detail_say(&lock->detail, "behind %s%s%s", slash ? slash + 1 : "others", silence[0] ? "; " : "",
             silence);
}

static void ended(zklock *lock, struct zkl_attempt *attempt)
{
    bool is_explained = attempt->result == ZKLOCK_DENIED || attempt->result == ZKLOCK_REFUSED ||
                        attempt->result == ZKLOCK_MIXED_STYLES || attempt->result == ZKLOCK_OTHER_PERMITS;

    zkl_detail_clear(&lock->detail);
    if (is_explained)
        zkl_detail_say(&lock->detail, "%s", zkl_detail_text(&attempt->detail));
    else if (attempt->result == ZKLOCK_NO_SERVER)
        zkl_session_explain(lock->session, &lock->detail);
    else if (attempt->result == ZKLOCK_TIMEOUT)
        explain_timeout(lock, attempt);
    zkl_session_log(lock->session, ZKLOCK_LOG_INFO, "%s: not acquired after %lld ms: %s", lock->path,
                    elapsed_ms(attempt), zklock_status_text(attempt->result));
    emit(lock, ZKLOCK_EVENT_ENDED, attempt->result);
}

static zklock_loss loss_of(enum zkl_outcome outcome)
{
    if (outcome == ZKL_OUTCOME_EXPIRED)
        return ZKLOCK_LOSS_EXPIRED;
    if (outcome == ZKL_OUTCOME_REMOVED)
        return ZKLOCK_LOSS_REMOVED;
    if (outcome == ZKL_OUTCOME_HOLD_LIMIT)
        return ZKLOCK_LOSS_HOLD_LIMIT;
    return outcome == ZKL_OUTCOME_CLOSED ? ZKLOCK_LOSS_CLOSED : ZKLOCK_LOSS_LEASE;
}

static void lost(zklock *lock, enum zkl_outcome outcome)
{
    lock->loss = loss_of(outcome);
    lock->is_silent = false;
    zkl_detail_say(&lock->detail, "%s", zklock_loss_text(lock->loss));
    zkl_session_log(lock->session, ZKLOCK_LOG_WARNING, "%s: the lock was lost: %s", lock->path,
                    zklock_loss_text(lock->loss));
    emit(lock, ZKLOCK_EVENT_LOST, ZKLOCK_LOST);
}

void zkl_lock_on_notice(zklock *lock, struct zkl_attempt *attempt, enum zkl_notice notice, enum zkl_outcome outcome)
{
    switch (notice) {
    case ZKL_NOTICE_GRANTED:
        granted(lock, attempt);
        break;
    case ZKL_NOTICE_ENDED:
        ended(lock, attempt);
        break;
    case ZKL_NOTICE_REQUEUED:
        zkl_session_log(lock->session, ZKLOCK_LOG_WARNING, "%s: the session is over; queued again on a fresh one",
                        lock->path);
        emit_if_possible(lock, ZKLOCK_EVENT_REQUEUED, ZKLOCK_PENDING, 0);
        break;
    case ZKL_NOTICE_LOST:
        lost(lock, outcome);
        break;
    case ZKL_NOTICE_DOWNGRADED:
        if (outcome != ZKL_OUTCOME_OK)
            zkl_detail_say(&lock->detail, "%s", zkl_detail_text(&attempt->detail));
        zkl_session_log(lock->session, ZKLOCK_LOG_INFO, "%s: %s", lock->path,
                        outcome == ZKL_OUTCOME_OK ? "held as shared from now on" : "not downgraded");
        wake_owner(lock);
        break;
    case ZKL_NOTICE_RELEASED: /* told by zkl_lock_on_gone() */
        if (attempt->detail.text && outcome != ZKL_OUTCOME_OK)
            zkl_detail_say(&lock->detail, "%s", zkl_detail_text(&attempt->detail));
        wake_waiters(lock);
        break;
    case ZKL_NOTICE_NONE:
        break;
    }
}

void zkl_lock_on_silence(zklock *lock, struct zkl_attempt *attempt, bool is_silent)
{
    if (attempt->machine.state != ZKL_HELD || lock->is_silent == is_silent)
        return;
    lock->is_silent = is_silent;
    zkl_session_log(lock->session, ZKLOCK_LOG_INFO, "%s: %s", lock->path,
                    is_silent ? "held, but the server does not answer" : "held, and the server answers again");
    /* Whoever is told to pause is told to go on, too. */
    if (is_silent)
        lock->resume_is_due = emit_if_possible(lock, ZKLOCK_EVENT_SUSPENDED, ZKLOCK_OK, 1);
    else if (lock->resume_is_due)
        emit(lock, ZKLOCK_EVENT_RESUMED, ZKLOCK_OK);
    else
        wake_owner(lock);
}

void zkl_lock_on_limit(zklock *lock)
{
    wake_waiters(lock);
}

void zkl_lock_on_move(zklock *lock)
{
    if (lock->multi)
        zkl_multi_on_move(lock->multi);
}

void zkl_lock_on_revocation(zklock *lock)
{
    lock->revocations++;
    emit_if_possible(lock, ZKLOCK_EVENT_REVOKE, ZKLOCK_OK, 0);
}

void zkl_lock_on_gone(zklock *lock, struct zkl_attempt *attempt)
{
    zklock_status status = attempt->release_result == ZKLOCK_PENDING ? attempt->result : attempt->release_result;

    emit(lock, ZKLOCK_EVENT_RELEASED, status);
}

/* ---------------------------------------------------------------- life */

/* What the options had in the first version. */
#define OLDEST_OPTIONS offsetof(zklock_options, mode)

void zklock_options_init_sized(zklock_options *options, size_t size)
{
    zklock_options defaults = {.size = sizeof defaults};

    if (options)
        zkl_options_fill(options, size, &defaults, sizeof defaults);
}

static void destroy(zklock *lock)
{
    pthread_cond_destroy(&lock->changed);
    if (lock->event_fd >= 0)
        close(lock->event_fd);
    zkl_notices_clear(&lock->notices);
    zkl_detail_clear(&lock->detail);
    free(lock->path);
    free(lock->directory);
    free(lock->payload);
    free(lock);
}

static const char *const style_names[] = {
    [ZKLOCK_STYLE_CURATOR] = "curator", [ZKLOCK_STYLE_KAZOO] = "kazoo", [ZKLOCK_STYLE_CURATOR_RW] = "curator-rw",
};

static const char *style_name(const zklock_options *options)
{
    bool is_latch = options->mode == ZKLOCK_MODE_LEADER_LATCH && options->style != ZKLOCK_STYLE_KAZOO;

    return is_latch ? "curator-latch" : style_names[options->style];
}

static bool fill(zklock *lock, const char *path, const zklock_options *options)
{
    struct zkl_runtime *runtime = zkl_session_runtime(lock->session);

    bool is_semaphore = options->mode == ZKLOCK_MODE_SEMAPHORE;

    lock->path = zkl_path_below(zkl_session_chroot(lock->session), path);
    if (lock->path)
        lock->directory = is_semaphore ? zkl_path_join(lock->path, "leases") : strdup(lock->path);
    lock->permits = options->permits;
    lock->hold_limit_ms = options->hold_limit_ms > 0 ? options->hold_limit_ms : -1;
    lock->payload = zkl_payload_new(options->label ? options->label : zkl_session_label(lock->session),
                                    zkl_session_user(lock->session),
                                    style_name(options),
                                    runtime->wall_ms(runtime));
    lock->style = options->style;
    lock->mode = options->mode;
    lock->is_persistent_parent = options->persistent_parent;
    lock->is_reentrant = options->is_reentrant;
    lock->on_event = options->on_event;
    lock->event_arg = options->event_arg;
    return lock->path && lock->directory && lock->payload;
}

zklock_status zkl_lock_check_path(const zklock_session *session, const char *path)
{
    if (!zkl_session_is_own(session))
        return ZKLOCK_FORKED;
    if (zklock_path_check(path, NULL, 0) != ZKLOCK_OK)
        return ZKLOCK_BAD_ARGUMENT;
    if (strcmp(path, "/") == 0 && zkl_session_chroot(session)[0] == '\0')
        return ZKLOCK_BAD_ARGUMENT;
    if (strlen(zkl_session_chroot(session)) + strlen(path) > ZKL_LONGEST_PATH)
        return ZKLOCK_TOO_LARGE;
    return ZKLOCK_OK;
}

static zklock_status check(zklock_session *session, const char *path, const zklock_options *options)
{
    if (!session || (unsigned)options->style > ZKLOCK_STYLE_CURATOR_RW ||
        (unsigned)options->mode > ZKLOCK_MODE_SEMAPHORE)
        return ZKLOCK_BAD_ARGUMENT;
    bool is_semaphore = options->mode == ZKLOCK_MODE_SEMAPHORE;
    if (is_semaphore ? options->style != ZKLOCK_STYLE_CURATOR : options->permits > 0)
        return ZKLOCK_BAD_ARGUMENT;
    /* One permit more is not the one that is held. */
    if (is_semaphore && options->is_reentrant)
        return ZKLOCK_BAD_ARGUMENT;
    if (options->permits > ZKLOCK_PERMITS_MAX)
        return ZKLOCK_BAD_ARGUMENT;
    return zkl_lock_check_path(session, path);
}

zklock_status zklock_new(zklock_session *session, const char *path, const zklock_options *given, zklock **out_lock)
{
    zklock_options options;

    zklock_options_init(&options);
    bool is_valid = out_lock && path && (!given || zkl_options_take(&options, sizeof options, given, OLDEST_OPTIONS));
    zklock_status status = is_valid ? check(session, path, &options) : ZKLOCK_BAD_ARGUMENT;
    if (status != ZKLOCK_OK)
        return status;
    zklock *lock = calloc(1, sizeof *lock);
    if (!lock)
        return ZKLOCK_NO_MEMORY;
    lock->session = session;
    lock->event_fd = -1;
    pthread_cond_init(&lock->changed, NULL);
    if (!fill(lock, path, &options)) {
        destroy(lock);
        return ZKLOCK_NO_MEMORY;
    }
    zkl_session_lock(session);
    bool is_closing = zkl_session_is_closing(session);
    if (!is_closing)
        zkl_session_ref(session);
    zkl_session_unlock(session);
    if (is_closing) {
        destroy(lock);
        return ZKLOCK_CLOSED;
    }
    *out_lock = lock;
    return ZKLOCK_OK;
}

void zkl_lock_abandon(zklock *lock)
{
    struct zkl_attempt *attempt = lock->attempt;

    lock->is_being_freed = true;
    if (!attempt)
        return;
    /* From here on it lives by itself, until its znode is certainly gone. */
    attempt->lock = NULL;
    zkl_attempt_give_up(attempt, ZKL_OUTCOME_CANCELLED);
    zkl_attempt_release(attempt, ZKL_NEVER);
    zkl_attempt_unref(attempt);
    lock->attempt = NULL;
}

void zklock_free(zklock *lock)
{
    if (!lock || !zkl_session_is_own(lock->session))
        return;
    zklock_session *session = lock->session;
    zkl_session_lock(session);
    zkl_lock_abandon(lock);
    zkl_session_forget_notices(session, lock);
    zkl_session_unref_unlock(session);
    destroy(lock);
}
