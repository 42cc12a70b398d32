#include "failure/scene.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "failure/fail.h"
#include "session/session_open.h"
#include "support/suite.h"

#define KEPT_PATH "/scene/kept"
enum { OTHER_LIMIT_MS = 15000, SETTLE_MS = 20000, MOST_COMPLAINTS = 5 };

struct scene scene;

static struct {
    long position, spell;
    long distance; /* to a second failure; 0: there is none */
    int complaints;
} run;

void scene_complain(const char *format, ...)
{
    va_list arguments;

    run.complaints++;
    printf("\n  at %ld, %ld times, again %ld later (%s): ", run.position, run.spell, run.distance, fail_text());
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

/* A short spell is over long before any limit: nothing is to be seen of it but a call that was refused at once. */
static bool is_long_spell(void)
{
    return run.spell > 3;
}

bool scene_expect(const char *what, zklock_status status, zklock_status wanted, unsigned tolerated)
{
    bool is_wanted = status == wanted;

    if (!is_long_spell())
        tolerated &= ~(BIT(NO_SERVER) | BIT(TIMEOUT) | BIT(UNCONFIRMED));
    if (!is_wanted && (fail_hits() == 0 || !(tolerated & 1u << status)))
        scene_complain("%s: %s instead of %s", what, zklock_status_name(status), zklock_status_name(wanted));
    return is_wanted;
}

/* ---------------------------------------------------------------- the pieces of acts */

static void on_event(zklock *lock, const zklock_event *event, void *arg)
{
    (void)lock;
    (void)arg;
    scene.ended += event->kind == ZKLOCK_EVENT_ENDED;
    scene.lost += event->kind == ZKLOCK_EVENT_LOST;
    scene.suspended += event->kind == ZKLOCK_EVENT_SUSPENDED;
    scene.resumed += event->kind == ZKLOCK_EVENT_RESUMED;
}

static void on_line(void *arg, zklock_log_level level, const char *line)
{
    (void)arg;
    (void)level;
    scene.lines += line[0] != '\0';
}

static zklock_status open_session(zklock_session **out_session)
{
    zklock_session_options options;

    zklock_session_options_init(&options);
    options.servers = "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3";
    options.session_timeout_ms = POCKET_TIMEOUT_MS;
    options.tick_time_ms = 2000;
    options.auth_scheme = "digest";
    options.auth = "a:b";
    options.auth_size = 3;
    options.log = on_line;
    options.log_level = ZKLOCK_LOG_DEBUG;
    return zkl_session_open_with(&options, world_runtime(), pocket_driver(), out_session);
}

void scene_open_session(void)
{
    scene_expect("open", open_session(&scene.session), ZKLOCK_OK, SHORTAGE);
}

void scene_options(zklock_options *options)
{
    zklock_options_init(options);
    options->on_event = on_event;
    options->mode = scene.plan->mode;
    options->style = scene.plan->style;
    options->permits = scene.plan->permits;
}

void scene_make_lock(void)
{
    zklock_options options;

    scene_options(&options);
    if (scene.session)
        scene_expect("new", zklock_new(scene.session, SCENE_PATH, &options, &scene.lock), ZKLOCK_OK, SHORTAGE);
}

/* Everywhere that a contender of the library may stand. */
static int own_contenders(void)
{
    static const char *const directories[] = {SCENE_PATH, SCENE_PATH "/locks", SCENE_PATH "/leases", SCENE_SECOND,
                                              SCENE_THIRD};
    int count = 0;

    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
        count += pocket_own_children(directories[i]);
    return count;
}

void scene_look_at_node(zklock *lock, const char *path)
{
    char node[1024];
    uint64_t token = 0;

    snprintf(node, sizeof node, "%s/", path);
    zklock_contender_name(lock, node + strlen(node), sizeof node - strlen(node));
    int64_t czxid = pocket_czxid(node);
    bool has_token = zklock_token(lock, &token) == ZKLOCK_OK;
    /* The token of what was downgraded is that of the node which the reader has replaced. */
    bool is_so = strstr(node, "-__READ__") ? token <= (uint64_t)czxid : token == (uint64_t)czxid;
    if (!has_token || czxid == 0 || !is_so)
        scene_complain("held with token %llu, but %s has %lld", (unsigned long long)token, node, (long long)czxid);
    *strrchr(node, '/') = '\0';
    if (pocket_own_children(node) != 1)
        scene_complain("held with %d contenders of its own", pocket_own_children(node));
}

bool scene_acquire(void)
{
    if (!scene.lock)
        return false;
    zklock_status status = zklock_acquire(scene.lock, SCENE_LIMIT_MS);
    scene.started += status != ZKLOCK_NO_MEMORY;
    return scene_expect("acquire", status, ZKLOCK_OK, SHORTAGE);
}

bool scene_begin(void)
{
    if (!scene.lock)
        return false;
    bool is_begun = scene_expect("begin", zklock_acquire_start(scene.lock, SCENE_LIMIT_MS), ZKLOCK_OK, BIT(NO_MEMORY));
    scene.started += is_begun;
    return is_begun;
}

void scene_await(zklock_status wanted, unsigned tolerated)
{
    scene_expect("result", zklock_wait(scene.lock), wanted, tolerated);
}

void scene_release(void)
{
    scene_expect("release", zklock_release(scene.lock, SCENE_LIMIT_MS), ZKLOCK_OK, BIT(LOST) | BIT(UNCONFIRMED));
}

/* ---------------------------------------------------------------- one run */

static void must(const char *what, zklock_status status)
{
    if (status != ZKLOCK_OK)
        scene_complain("%s: %s", what, zklock_status_name(status));
}

static void begin_scene(const struct scene_plan *plan)
{
    world_begin();
    pocket_begin();
    scene = (struct scene){.plan = plan};
    if (!plan->lock_dir_is_missing)
        pocket_create(SCENE_PATH);
    /* Data would be taken for its limit. */
    if (plan->mode == ZKLOCK_MODE_SEMAPHORE)
        pocket_set(SCENE_PATH, "");
    if (plan->act_opens_session)
        return;
    must("open", open_session(&scene.session));
    must("new", zklock_new(scene.session, KEPT_PATH, NULL, &scene.keeper));
    must("keep", zklock_acquire(scene.keeper, SCENE_LIMIT_MS));
}

static bool has_been_told(void)
{
    return scene.ended == scene.started;
}

/* With memory again: what is held can be let go, and the owner knows of every end. */
static void end_lock(void)
{
    if (!scene.lock)
        return;
    bool is_told = world_pass_until(has_been_told, SETTLE_MS);
    if (!is_told)
        scene_complain("%d acquires, but %d ends were told", scene.started, scene.ended);
    zklock_state state = zklock_state_get(scene.lock, NULL);
    if (state == ZKLOCK_STATE_HELD)
        scene_look_at_node(scene.lock, SCENE_PATH);
    if (state == ZKLOCK_STATE_LOST && scene.lost == 0)
        scene_complain("lost, and nobody was told");
    if (state == ZKLOCK_STATE_HELD && scene.suspended != scene.resumed)
        scene_complain("told to pause, and not to go on");
    if (state == ZKLOCK_STATE_HELD || state == ZKLOCK_STATE_LOST)
        scene_expect("last release", zklock_release(scene.lock, SCENE_LIMIT_MS), ZKLOCK_OK, BIT(LOST));
    zklock_free(scene.lock);
}

static void delete_strangers(void)
{
    static const char *const names[] = {
        SCENE_PATH "/stranger-lock-0000000000",     SCENE_PATH "/stranger-lock-0000000001",
        SCENE_PATH "/stranger-lock-2147483647",     SCENE_PATH "/stranger-__WRIT__0000000000",
        SCENE_PATH "/stranger-__READ__0000000000",  SCENE_PATH "/leases/stranger-lease-0000000000",
        SCENE_PATH "/locks/stranger-lock-0000000000", SCENE_SECOND "/stranger-lock-0000000000",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pocket_delete(names[i]);
}

/* Alone, that is: nobody else holds a share or a permit of it. */
static void take_another(zklock_session *session, const char *path)
{
    zklock_options options;
    zklock *lock = NULL;

    scene_options(&options);
    if (options.mode == ZKLOCK_MODE_SHARED)
        options.mode = ZKLOCK_MODE_EXCLUSIVE;
    /* With one permit, so that nobody else can have one. */
    if (options.mode == ZKLOCK_MODE_SEMAPHORE)
        must("another limit", zklock_permits_write(session, path, 1, OTHER_LIMIT_MS));
    options.permits = 0;
    options.on_event = NULL;
    must("another lock", zklock_new(session, path, &options, &lock));
    must("another acquire", zklock_acquire(lock, OTHER_LIMIT_MS));
    world_pass(SETTLE_MS);
    if (!zklock_is_held(lock))
        scene_complain("another lost what it held");
    must("another release", zklock_release(lock, SCENE_LIMIT_MS));
    zklock_free(lock);
}

/* While the first session lives on, for it holds another lock. */
static void let_another_acquire(void)
{
    zklock_session *session = NULL;

    must("another session", open_session(&session));
    take_another(session, SCENE_PATH);
    if (scene.plan->has_several_paths) {
        take_another(session, SCENE_SECOND);
        take_another(session, SCENE_THIRD);
    }
    must("another close", zklock_session_close(session, SCENE_LIMIT_MS));
    if (own_contenders() != 0)
        scene_complain("%d contenders are left while the session lives", own_contenders());
}

static void close_session(void)
{
    if (!scene.session)
        return;
    if (scene.keeper && !scene.plan->session_ends && !is_long_spell() && !zklock_is_held(scene.keeper))
        scene_complain("the other lock was lost");
    zklock_free(scene.keeper);
    must("close", zklock_session_close(scene.session, SCENE_LIMIT_MS));
}

static void look_for_remains(void)
{
    if (world_workers() > 0 || world_jobs() > 0 || pocket_stores() > 0)
        scene_complain("left: %d threads, %d jobs, %d handles", world_workers(), world_jobs(), pocket_stores());
    world_pass(SETTLE_MS);
    if (own_contenders() + pocket_own_children(KEPT_PATH) > 0)
        scene_complain("contenders are left for good");
    pocket_end();
    world_end();
    if (ledger_count() > 0) {
        scene_complain("memory is left");
        ledger_tell();
    }
}

static int lowest_free_descriptor(void)
{
    int number = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);

    close(number);
    return number;
}

static void play(const struct scene_plan *plan, long position, long spell, long distance)
{
    int descriptor = lowest_free_descriptor();

    run.position = position;
    run.spell = spell;
    run.distance = distance;
    fail_from(FAIL_FOR_EVER, 0);
    fail_stop();
    begin_scene(plan);
    if (plan->set)
        plan->set();
    fail_from(position, spell);
    if (distance > 0)
        fail_again_after(distance);
    scene.is_in_act = true;
    plan->act();
    scene.is_in_act = false;
    fail_stop();
    if (plan->end)
        plan->end();
    end_lock();
    delete_strangers();
    let_another_acquire();
    close_session();
    look_for_remains();
    if (lowest_free_descriptor() != descriptor)
        scene_complain("descriptors are left");
}

/* Failures of this length at every position; how many positions there are. */
static long sweep_spells(const struct scene_plan *plan, long spell, long *runs)
{
    long position = 0;

    do {
        play(plan, ++position, spell, 0);
        ++*runs;
    } while (fail_hits() > 0 && run.complaints < MOST_COMPLAINTS);
    return position - 1;
}

/* What survives one failure may have left itself open to a second one. */
static void sweep_pairs(const struct scene_plan *plan, long positions, long *runs)
{
    long most = plan->most_distance > 0 ? plan->most_distance : positions;

    for (long position = 1; position < positions; position++) {
        for (long distance = 2; distance <= most && run.complaints < MOST_COMPLAINTS; distance++) {
            play(plan, position, 1, distance);
            ++*runs;
        }
    }
}

void sweep(const struct scene_plan *plan)
{
    long runs = 0;

    run.complaints = 0;
    long positions = sweep_spells(plan, 1, &runs);
    sweep_spells(plan, 3, &runs);
    sweep_spells(plan, 20, &runs);
    sweep_spells(plan, FAIL_FOR_EVER, &runs);
    sweep_pairs(plan, positions, &runs);
    printf("%ld positions, %ld runs ", positions, runs);
    CU_ASSERT_EQUAL(run.complaints, 0);
    /* A scene in which nothing can fail shows nothing. */
    CU_ASSERT(positions > 0);
}
