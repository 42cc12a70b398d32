/* chaos-contender SERVERS SESSION_TIMEOUT_MS SEED DIRECTORY KIND=PATH...
 *     takes locks at random and does under them what section.h says, until the end of its input. KIND: exclusive, rw.
 *     The line "rest" on its input lets it finish its round and keep its session; "work" lets it go on.
 *
 *     It tells its story on standard output, a line an event, with the time on CLOCK_BOOTTIME in nanoseconds:
 *         key TIME SESSION_ID PASSWORD             of a new session, in hexadecimal
 *         asks TIME LOCK MODE LIMIT_MS             begins to acquire; -1: no limit, 0: does not wait
 *         held TIME LOCK MODE TOKEN                and is inside from now on
 *         ended TIME LOCK MODE STATUS              did not get it
 *         left TIME LOCK MODE TOKEN                is outside again, and begins to release
 *         released TIME LOCK MODE STATUS
 *         requeued | lost | revoked TIME LOCK MODE REASON
 *         resting TIME, closed TIME STATUS
 *
 * chaos-contender section DIRECTORY LOCK MODE HOLD_MS
 *     is what a command runs under the lock: the same without asking anybody, with the token of ZKLOCK_TOKEN.
 */
#include "chaos/section.h"

#include "support/eventually.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "zklock.h"

enum { MOST_LOCKS = 16, BEAT_MS = 15, RELEASE_MS = 5000 };

struct contested {
    char name[64];
    struct section_place place;
    zklock *locks[SECTION_MODES];
    bool is_shareable;
};

/* What an event's line says of the lock. */
struct subject {
    const struct contested *contested;
    enum section_mode mode;
};

static struct contested contested[MOST_LOCKS];
static struct subject subjects[MOST_LOCKS][SECTION_MODES];
static int count;
static zklock_session *session;

static void say(const char *event, const char *lock, const char *mode, const char *more)
{
    char line[256];
    int length = snprintf(line, sizeof(line), "%s %" PRId64 " %s %s %s\n", event, boottime_ns(), lock, mode, more);

    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        _exit(74);
}

static void say_number(const char *event, const char *lock, enum section_mode mode, int64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRId64, number);
    say(event, lock, section_mode_name(mode), text);
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static long choose(long least, long most)
{
    return least + random() % (most - least + 1);
}

static bool happens(int percent)
{
    return random() % 100 < percent;
}

/* Mostly short, sometimes long. */
static long choose_time(long usual_ms, long most_ms)
{
    return happens(90) ? choose(1, usual_ms) : choose(usual_ms, most_ms);
}

/* ------------------------------------------------------------------------------------------ a section */

/* The clock is read before the question: what was held at the answer was held then, too. */
static bool is_inside(const struct subject *subject, const char *mark, uint64_t token)
{
    int64_t now_ns = boottime_ns();

    if (!zklock_is_held(subject->contested->locks[subject->mode]))
        return false;
    section_mark(&subject->contested->place, subject->mode, mark, now_ns, token);
    return true;
}

static void stay_inside(const struct subject *subject, uint64_t token, long hold_ms)
{
    int64_t end_ms = monotonic_ms() + hold_ms;

    if (!is_inside(subject, "start", token))
        return;
    do {
        section_write(&subject->contested->place, subject->mode, token);
        if (!is_inside(subject, "alive", token))
            return;
        sleep_ms(choose(1, BEAT_MS));
    } while (monotonic_ms() < end_ms);
    is_inside(subject, "stop", token);
}

static uint64_t token_of(zklock *lock)
{
    uint64_t token = 0;

    if (zklock_token(lock, &token) != ZKLOCK_OK)
        exit(70);
    return token;
}

/* Its writer's lock as a reader's, now and then. The lock object stays the same one. */
static void go_on_as_reader(struct subject *subject, uint64_t token)
{
    struct contested shared = *subject->contested;
    struct subject reader = {&shared, SECTION_SHARED};
    zklock_status status;

    if (!subject->contested->is_shareable || subject->mode == SECTION_SHARED || happens(70))
        return;
    shared.locks[SECTION_SHARED] = shared.locks[SECTION_EXCLUSIVE];
    status = zklock_downgrade(shared.locks[SECTION_EXCLUSIVE], RELEASE_MS);
    say("downgraded", shared.name, "exclusive", zklock_status_name(status));
    if (status == ZKLOCK_OK)
        stay_inside(&reader, token, choose_time(100, 1000));
}

static void leave(const struct subject *subject, uint64_t token)
{
    zklock *lock = subject->contested->locks[subject->mode];
    zklock_status status;

    say_number("left", subject->contested->name, subject->mode, (int64_t)token);
    status = happens(30) ? zklock_release_send(lock) : zklock_release(lock, RELEASE_MS);
    say("released", subject->contested->name, section_mode_name(subject->mode), zklock_status_name(status));
}

static void play_round(struct subject *subject)
{
    const struct contested *this = subject->contested;
    zklock *lock = this->locks[subject->mode];
    int64_t limit_ms = happens(80) ? -1 : happens(50) ? 0 : choose(50, 5000);
    zklock_status status;
    uint64_t token;

    say_number("asks", this->name, subject->mode, limit_ms);
    status = zklock_acquire(lock, limit_ms);
    if (status != ZKLOCK_OK) {
        say("ended", this->name, section_mode_name(subject->mode), zklock_status_name(status));
        return;
    }
    token = token_of(lock);
    say_number("held", this->name, subject->mode, (int64_t)token);
    stay_inside(subject, token, choose_time(120, 1500));
    go_on_as_reader(subject, token);
    leave(subject, token);
}

/* ------------------------------------------------------------------------------------------ the process */

static void tell(zklock *lock, const zklock_event *event, void *arg)
{
    const struct subject *subject = arg;
    const char *mode = section_mode_name(subject->mode);

    (void)lock;
    if (event->kind == ZKLOCK_EVENT_LOST)
        say("lost", subject->contested->name, mode, zklock_loss_text(event->loss));
    else if (event->kind == ZKLOCK_EVENT_REQUEUED)
        say("requeued", subject->contested->name, mode, "-");
    else if (event->kind == ZKLOCK_EVENT_REVOKE)
        say("revoked", subject->contested->name, mode, "-");
}

static void say_key_when_new(void)
{
    static int64_t known;
    zklock_session_key key;
    char id[32], password[2 * sizeof(key.password) + 1];

    if (zklock_session_key_get(session, &key) != ZKLOCK_OK || key.session_id == known)
        return;
    known = key.session_id;
    for (size_t i = 0; i < sizeof(key.password); i++)
        snprintf(password + 2 * i, 3, "%02x", key.password[i]);
    snprintf(id, sizeof(id), "%" PRIx64, (uint64_t)key.session_id);
    say("key", id, password, "-");
}

/* What is on the input: nothing more to do at its end, and rest in between. */
static bool is_on_duty(void)
{
    static bool is_resting;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char line[64];

    while (poll(&input, 1, is_resting ? -1 : 0) > 0) {
        if (!fgets(line, sizeof(line), stdin))
            return false;
        is_resting = strcmp(line, "rest\n") == 0;
        if (is_resting)
            say("resting", "-", "-", "-");
    }
    return true;
}

static void make_lock(int index, enum section_mode mode, const char *path)
{
    zklock_options options;

    zklock_options_init(&options);
    subjects[index][mode] = (struct subject){&contested[index], mode};
    options.on_event = tell;
    options.event_arg = &subjects[index][mode];
    options.style = contested[index].is_shareable ? ZKLOCK_STYLE_CURATOR_RW : ZKLOCK_STYLE_CURATOR;
    options.mode = mode == SECTION_SHARED ? ZKLOCK_MODE_SHARED : ZKLOCK_MODE_EXCLUSIVE;
    if (zklock_new(session, path, &options, &contested[index].locks[mode]) != ZKLOCK_OK)
        exit(70);
}

static void add_contested(const char *directory, const char *specification)
{
    const char *path = strchr(specification, '/');
    struct contested *this = &contested[count];

    if (!path || count >= MOST_LOCKS)
        exit(64);
    this->is_shareable = strncmp(specification, "rw=", 3) == 0;
    snprintf(this->name, sizeof(this->name), "%s", strrchr(path, '/') + 1);
    section_place_open(&this->place, directory, this->name);
    make_lock(count, SECTION_EXCLUSIVE, path);
    if (this->is_shareable)
        make_lock(count, SECTION_SHARED, path);
    count++;
}

static void open_session(const char *servers, const char *timeout_ms)
{
    zklock_session_options options;

    zklock_session_options_init(&options);
    options.servers = servers;
    options.session_timeout_ms = (unsigned)strtoul(timeout_ms, NULL, 10);
    if (zklock_session_open(&options, &session) != ZKLOCK_OK)
        exit(70);
}

static void close_all(void)
{
    for (int i = 0; i < count; i++) {
        for (int mode = 0; mode < SECTION_MODES; mode++)
            zklock_free(contested[i].locks[mode]);
    }
    say("closed", "-", "-", zklock_status_name(zklock_session_close(session, RELEASE_MS)));
}

static int run_section(char **argv)
{
    const char *token_text = getenv("ZKLOCK_TOKEN");
    uint64_t token = token_text ? strtoull(token_text, NULL, 10) : 0;
    enum section_mode mode = strcmp(argv[4], "shared") == 0 ? SECTION_SHARED : SECTION_EXCLUSIVE;
    struct section_place place;
    int64_t end_ms = monotonic_ms() + strtol(argv[5], NULL, 10);

    section_place_open(&place, argv[2], argv[3]);
    say_number("held", argv[3], mode, (int64_t)token);
    section_mark(&place, mode, "start", boottime_ns(), token);
    do {
        section_write(&place, mode, token);
        section_mark(&place, mode, "alive", boottime_ns(), token);
        sleep_ms(BEAT_MS);
    } while (monotonic_ms() < end_ms);
    section_mark(&place, mode, "stop", boottime_ns(), token);
    say_number("left", argv[3], mode, (int64_t)token);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "section") == 0)
        return run_section(argv);
    if (argc < 6)
        return 64;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setvbuf(stdin, NULL, _IONBF, 0);
    srandom((unsigned)strtoul(argv[3], NULL, 10));
    open_session(argv[1], argv[2]);
    for (int i = 5; i < argc; i++)
        add_contested(argv[4], argv[i]);
    while (is_on_duty()) {
        int chosen = (int)choose(0, count - 1);
        bool is_reader = contested[chosen].is_shareable && happens(70);

        say_key_when_new();
        play_round(&subjects[chosen][is_reader ? SECTION_SHARED : SECTION_EXCLUSIVE]);
        sleep_ms(choose_time(150, 1000));
    }
    close_all();
    return 0;
}
