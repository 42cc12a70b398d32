/* Command lines: what is accepted keeps to its limits, means the same when it is written out in full, and leaves the
 * command behind "--" alone; what is not is refused in one line that is fit for a terminal. */
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "cli/demo_options.h"
#include "cli/exec_options.h"
#include "fuzz.h"
#include "session/path.h"

#define MOST_ARGUMENTS 80

/* ---------------------------------------------------------------- what was said, caught on its way out */

static char said[4096];
static size_t said_size;
static int lines_said;

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    EXPECT(descriptor == STDERR_FILENO && size <= sizeof said);
    memcpy(said, bytes, size);
    said_size = size;
    lines_said++;
    return (ssize_t)size;
}

/* Stands for a client library that can do everything. */
bool zklock_has_tls(void)
{
    return true;
}

int poll(struct pollfd *descriptors, nfds_t count, int limit_ms)
{
    (void)descriptors;
    (void)limit_ms;
    return (int)count;
}

static void forget_said(void)
{
    said_size = 0;
    lines_said = 0;
}

static void expect_said(enum options_result result, const char *prefix)
{
    EXPECT(lines_said == (result == OPTIONS_WRONG));
    if (result != OPTIONS_WRONG)
        return;
    EXPECT(said_size > strlen(prefix) && strncmp(said, prefix, strlen(prefix)) == 0);
    EXPECT(said[said_size - 1] == '\n');
    for (size_t i = 0; i + 1 < said_size; i++)
        EXPECT(said[i] >= ' ' && said[i] <= '~');
}

/* ---------------------------------------------------------------- a line of arguments */

struct line {
    int count;
    char *arguments[2 * MOST_ARGUMENTS + 1]; /* what is written out in full has more than what was read */
};

/* argv[0] is the subcommand; every argument is in memory of its own. */
static void take_line(struct input *input, const char *subcommand, struct line *out_line)
{
    *out_line = (struct line){1, {strdup(subcommand)}};
    while (input->size > 0 && out_line->count < MOST_ARGUMENTS / 2)
        out_line->arguments[out_line->count++] = take_text(input, 1200);
}

__attribute__((format(printf, 2, 3)))
static void add(struct line *line, const char *format, ...)
{
    va_list values;

    EXPECT(line->count < 2 * MOST_ARGUMENTS);
    va_start(values, format);
    EXPECT(vasprintf(&line->arguments[line->count++], format, values) >= 0);
    va_end(values);
}

static void add_seconds(struct line *line, const char *option, int64_t ms)
{
    char seconds[32];

    number_print_seconds(ms, seconds, sizeof seconds);
    if (ms >= 0)
        add(line, "--%s=%s", option, seconds);
}

static void clear(struct line *line)
{
    for (int i = 0; i < line->count; i++)
        free(line->arguments[i]);
}

/* ---------------------------------------------------------------- options of all subcommands */

static void expect_common(const struct common_options *common)
{
    EXPECT(common->session_timeout_ms >= 100 && common->session_timeout_ms <= 86400000);
    EXPECT(common->connect_timeout_ms >= -1 && common->connect_timeout_ms <= OPTIONS_WAIT_RANGE.most);
    EXPECT(common->acl == ZKLOCK_ACL_OPEN || (common->auth_file && common->acl <= ZKLOCK_ACL_CREATOR_READ));
    EXPECT(common->tick_time_ms >= 0 && common->tick_time_ms <= 600000);
    EXPECT(!common->servers || zklock_servers_check(common->servers, NULL, 0) == ZKLOCK_OK);
}

static void add_common(struct line *line, const struct common_options *common)
{
    static const char *const leases[] = {
        [ZKLOCK_LEASE_STRICT] = "strict", [ZKLOCK_LEASE_STANDALONE] = "standalone", [ZKLOCK_LEASE_CHEAP] = "cheap"};

    EXPECT((size_t)common->lease < sizeof leases / sizeof leases[0]);
    add(line, "--lease=%s", leases[common->lease]);
    add_seconds(line, "session-timeout", common->session_timeout_ms);
    add_seconds(line, "connect-timeout", common->connect_timeout_ms);
    if (common->tick_time_ms > 0)
        add(line, "--tick-time=%lld", (long long)common->tick_time_ms);
    if (common->servers)
        add(line, "--servers=%s", common->servers);
    if (common->auth_file)
        add(line, "--auth-file=%s", common->auth_file);
    if (common->is_quiet)
        add(line, "--quiet");
    if (common->verbosity > 0) {
        add(line, "-%*s", common->verbosity, "");
        memset(line->arguments[line->count - 1] + 1, 'v', (size_t)common->verbosity);
    }
}

static bool is_same_text(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static void expect_same_common(const struct common_options *one, const struct common_options *other)
{
    EXPECT(is_same_text(one->servers, other->servers) && is_same_text(one->auth_file, other->auth_file));
    EXPECT(one->acl == other->acl);
    EXPECT(one->session_timeout_ms == other->session_timeout_ms);
    EXPECT(one->connect_timeout_ms == other->connect_timeout_ms);
    EXPECT(one->tick_time_ms == other->tick_time_ms);
    EXPECT(one->lease == other->lease);
    EXPECT(one->verbosity == other->verbosity && one->is_quiet == other->is_quiet);
}

/* ---------------------------------------------------------------- zklock exec */

static void expect_limits(const struct exec_options *options)
{
    size_t position;

    expect_common(&options->common);
    EXPECT(options->wait_ms >= -1 && options->wait_ms <= OPTIONS_WAIT_RANGE.most);
    EXPECT(options->wait_ms < 0 || !options->is_nonblocking);
    EXPECT(options->conflict_exit >= 0 && options->conflict_exit <= 255);
    EXPECT(options->grace_ms >= -1 && options->grace_ms * 10 <= options->common.session_timeout_ms * 3);
    EXPECT(options->min_hold_ms >= 0 && options->min_hold_ms <= OPTIONS_WAIT_RANGE.most);
    EXPECT(options->hold_limit_ms == 0 || options->min_hold_ms <= options->hold_limit_ms);
    EXPECT(options->hold_limit_ms == 0 || options->on_loss == ON_LOSS_STOP);
    EXPECT(options->stop_signal >= 1 && options->stop_signal <= SIGRTMAX);
    EXPECT(options->revoke_signal >= 0 && options->revoke_signal <= SIGRTMAX);
    EXPECT(!options->is_guarded || !options->is_unguarded);
    EXPECT(!options->label || strlen(options->label) <= 200);
    EXPECT(options->path_count >= 1 && options->once_per_ms >= 0);
    EXPECT(options->once_per_ms == 0 || (options->path_count == 1 && options->persistent_parent));
    for (int i = 0; i < options->path_count; i++) {
        EXPECT(zkl_path_fault(options->paths[i], &position) == NULL);
        EXPECT(i == 0 || strcmp(options->paths[i - 1], options->paths[i]) < 0);
        EXPECT(options->path_count == 1 || !strchr(options->paths[i], ' '));
    }
}

/* Behind the first "--" stands the command, as it was. */
static void expect_command(const struct line *line, char *const *before, char *const *command)
{
    int at = 1;

    while (at < line->count && strcmp(before[at], "--") != 0)
        at++;
    EXPECT(at + 1 < line->count && command == line->arguments + at + 1);
    for (; at <= line->count; at++)
        EXPECT(line->arguments[at] == before[at]);
    EXPECT(command[0][0] != '\0');
}

static void write_out(const struct exec_options *options, struct line *out_line)
{
    static const char *const styles[] = {[ZKLOCK_STYLE_CURATOR] = "curator", [ZKLOCK_STYLE_KAZOO] = "kazoo",
                                         [ZKLOCK_STYLE_CURATOR_RW] = "curator-rw", [EXEC_STYLE_LATCH] = "curator-latch"};
    static const char *const acls[] = {"open", "creator", "creator-read"};
    static const char *const losses[] = {[ON_LOSS_STOP] = "stop", [ON_LOSS_WARN] = "warn"};

    *out_line = (struct line){1, {strdup("exec")}};
    EXPECT((size_t)options->style < sizeof styles / sizeof styles[0] && (size_t)options->on_loss < 2);
    add(out_line, "--style=%s", styles[options->style]);
    add(out_line, "--on-loss=%s", losses[options->on_loss]);
    if (options->common.auth_file)
        add(out_line, "--acl=%s", acls[options->common.acl]);
    add(out_line, "--stop-signal=%s", number_signal_name(options->stop_signal));
    if (options->revoke_signal > 0)
        add(out_line, "--revoke-signal=%s", number_signal_name(options->revoke_signal));
    add(out_line, "--conflict-exit-code=%lld", (long long)options->conflict_exit);
    add_seconds(out_line, "wait", options->wait_ms);
    add_seconds(out_line, "kill-after", options->grace_ms);
    add_seconds(out_line, "min-hold", options->min_hold_ms);
    if (options->hold_limit_ms > 0)
        add_seconds(out_line, "hold-limit", options->hold_limit_ms);
    add_common(out_line, &options->common);
    if (options->is_nonblocking)
        add(out_line, "--nonblock");
    if (options->is_shared)
        add(out_line, "--shared");
    if (options->permits >= 0)
        add(out_line, "--permits=%lld", (long long)options->permits);
    if (options->is_guarded)
        add(out_line, "--guard");
    if (options->is_unguarded)
        add(out_line, "--no-guard");
    if (options->kills_leftovers)
        add(out_line, "--kill-leftovers");
    if (options->persistent_parent)
        add(out_line, "--persistent-parent");
    if (options->label)
        add(out_line, "--label=%s", options->label);
    if (options->once_per_ms > 0)
        add_seconds(out_line, "once-per", options->once_per_ms);
    for (int i = options->path_count - 1; i >= 0; i--)
        add(out_line, "%s", options->paths[i]);
    add(out_line, "--");
    add(out_line, "%s", options->command[0]);
}

static void expect_same_in_full(const struct exec_options *options)
{
    struct exec_options again;
    struct line line;

    write_out(options, &line);
    EXPECT(exec_options_read(line.count, line.arguments, &again) == OPTIONS_READ);
    expect_same_common(&again.common, &options->common);
    EXPECT(again.is_nonblocking == options->is_nonblocking && again.is_shared == options->is_shared);
    EXPECT(again.permits == options->permits && (options->permits < 0 || !options->is_shared));
    EXPECT(again.wait_ms == options->wait_ms);
    EXPECT(again.conflict_exit == options->conflict_exit);
    EXPECT(again.grace_ms == options->grace_ms);
    EXPECT(again.min_hold_ms == options->min_hold_ms && again.hold_limit_ms == options->hold_limit_ms);
    EXPECT(again.stop_signal == options->stop_signal && again.revoke_signal == options->revoke_signal);
    EXPECT(again.is_guarded == options->is_guarded && again.is_unguarded == options->is_unguarded);
    EXPECT(again.on_loss == options->on_loss && again.style == options->style);
    EXPECT(is_same_text(again.label, options->label) && is_same_text(again.path, options->path));
    EXPECT(again.persistent_parent == options->persistent_parent);
    EXPECT(again.kills_leftovers == options->kills_leftovers);
    EXPECT(again.once_per_ms == options->once_per_ms && again.path_count == options->path_count);
    EXPECT(strcmp(again.command[0], options->command[0]) == 0);
    exec_options_clear(&again);
    clear(&line);
}

static void read_exec(struct input *input)
{
    struct exec_options options;
    struct line line;
    char *before[MOST_ARGUMENTS + 1];
    enum options_result result;

    take_line(input, "exec", &line);
    memcpy(before, line.arguments, sizeof before);
    forget_said();
    result = exec_options_read(line.count, line.arguments, &options);
    expect_said(result, "zklock: exec: ");
    if (result == OPTIONS_READ) {
        expect_limits(&options);
        expect_command(&line, before, options.command);
        expect_same_in_full(&options);
    }
    exec_options_clear(&options);
    clear(&line);
}

/* ---------------------------------------------------------------- zklock demo */

/* Whether a node of that path would stand in the lock's queue, or below it. */
static bool is_inside(const char *path, const char *lock)
{
    size_t size = strcmp(lock, "/") == 0 ? 0 : strlen(lock);

    return strncmp(path, lock, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

static void read_demo(struct input *input)
{
    struct demo_options options;
    struct line line;
    enum options_result result;
    size_t position;

    take_line(input, "demo", &line);
    forget_said();
    result = demo_options_read(line.count, line.arguments, &options);
    expect_said(result, "zklock: demo: ");
    if (result == OPTIONS_READ) {
        expect_common(&options.common);
        EXPECT(options.workers >= 1 && options.workers <= 64);
        EXPECT(options.rounds >= 1 && options.rounds <= 100000);
        EXPECT(options.think_ms >= 0 && options.think_ms <= 60000);
        EXPECT(zkl_path_fault(options.lock, &position) == NULL);
        EXPECT(zkl_path_fault(options.counter, &position) == NULL);
        EXPECT(!is_inside(options.counter, options.lock));
    }
    clear(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};

    unsetenv("ZKLOCK_SERVERS");
    unsetenv("ZKLOCK_AUTH_FILE");
    if (take_byte(&input) == 'd')
        read_demo(&input);
    else
        read_exec(&input);
    return 0;
}
