#include "exec_options.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

enum { MOST_PATHS = 64, RESERVE_MS = 250 };

static const char help[] =
    "Usage: zklock exec [OPTION]... PATH... -- COMMAND [ARG...]\n"
    "Runs COMMAND while holding the lock PATH, or all of several. Options:\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; or localhost:2181\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "  -n, --nonblock              fail at once if somebody is ahead\n"
    "  -s, --shared  with others who give -s   -p, --permits N  N hold; 0: as is set\n"
    "  -w, --wait SECS             fail if not held by then, connecting included\n"
    "  -E, --conflict-exit-code N  exit status of both failures; default 1\n"
    "  -k, --kill-after SECS       from stop signal to KILL; default T/5, most 0.3 T\n"
    "      --stop-signal SIG       default TERM  --on-loss stop|warn  default stop\n"
    "      --revoke-signal SIG     for COMMAND when zklock revoke asks; default: none\n"
    "      --once-per SECS         not if it ran with success so long ago, anywhere\n"
    "      --min-hold SECS  at least so long   --hold-limit SECS  at most; then stop\n"
    "      --kill-leftovers  end what COMMAND leaves   --no-guard  no keeper (below)\n"
    "      --label TEXT            shown to others; default: COMMAND's name\n"
    "      --style curator|curator-rw|curator-latch|kazoo  --persistent-parent\n"
    "      --auth-file FILE  with credentials  --acl open|creator|creator-read\n"
    "      --lease strict|standalone|cheap  --tick-time MS  --tls CA[,CERT,KEY]\n"
    "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
    "COMMAND sees ZKLOCK_PATH, ZKLOCK_TOKEN, ZKLOCK_CONTENDER and\n"
    "ZKLOCK_SESSION_TIMEOUT_MS. Status: COMMAND's own; 1 not acquired; 64 usage;\n"
    "69 no server; 77 denied; 79 lock lost, COMMAND stopped; 126, 127 not executed.\n"
    "When zklock is killed or frozen, its keeper kills COMMAND and what it started.\n"
    "When all freezes, nobody does: let data check ZKLOCK_TOKEN.\n";

static const char elect_help[] =
    "Usage: zklock elect [OPTION]... PATH -- COMMAND [ARG...]\n"
    "Keeps campaigning for the lock PATH: starts COMMAND as leader, stops it when the\n"
    "lock is lost, and campaigns again, after a pause that grows with each loss. Ends\n"
    "with COMMAND's status when COMMAND ends by itself. Options:\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; or localhost:2181\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "  -n, --nonblock              end if somebody else is the leader\n"
    "  -w, --wait SECS             end if not elected by then, in each campaign\n"
    "  -E, --conflict-exit-code N  exit status of both; default 1\n"
    "  -k, --kill-after SECS       from stop signal to KILL; default T/5, most 0.3 T\n"
    "      --stop-signal SIG       default TERM\n"
    "      --revoke-signal SIG     for COMMAND when zklock revoke asks; default: none\n"
    "  --min-hold, --hold-limit, --kill-leftovers, --no-guard, --label, --style,\n"
    "  --acl, --auth-file, --persistent-parent, --lease, --tick-time, --tls:\n"
    "  as of zklock exec\n"
    "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
    "COMMAND finds what zklock exec gives. Exit status: COMMAND's own; else as of\n"
    "zklock exec, but that a loss (79), a contender removed by others and, after the\n"
    "first campaign, servers that cannot be reached (69) are no end.\n";

static const struct option_choice styles[] = {
    {"curator", ZKLOCK_STYLE_CURATOR},
    {"curator-rw", ZKLOCK_STYLE_CURATOR_RW},
    {"curator-latch", EXEC_STYLE_LATCH},
    {"kazoo", ZKLOCK_STYLE_KAZOO},
    {NULL, 0},
};

static const struct option_choice acls[] = {
    {"open", ZKLOCK_ACL_OPEN},
    {"creator", ZKLOCK_ACL_CREATOR},
    {"creator-read", ZKLOCK_ACL_CREATOR_READ},
    {NULL, 0},
};

static const struct option_choice loss_choices[] = {
    {"stop", ON_LOSS_STOP},
    {"warn", ON_LOSS_WARN},
    {NULL, 0},
};

int64_t exec_options_most_grace_ms(int64_t session_timeout_ms)
{
    return session_timeout_ms * 3 / 10;
}

int64_t exec_options_grace_ms(const struct exec_options *options, int64_t session_timeout_ms)
{
    return options->grace_ms >= 0 ? options->grace_ms : session_timeout_ms / 5;
}

int64_t exec_options_reserve_ms(int64_t session_timeout_ms)
{
    return session_timeout_ms / 16 < RESERVE_MS ? session_timeout_ms / 16 : RESERVE_MS;
}

bool exec_options_check_hold_limit(const struct exec_options *options, int64_t session_timeout_ms)
{
    int64_t stopping_ms = exec_options_grace_ms(options, session_timeout_ms) +
                          exec_options_reserve_ms(session_timeout_ms);
    char stopping[32];

    if (options->hold_limit_ms == 0 || options->hold_limit_ms > stopping_ms)
        return true;
    number_print_seconds(stopping_ms, stopping, sizeof(stopping));
    message_usage("%s: option --hold-limit: stopping the command takes %s s of it; give more, or a shorter -k, --kill-after",
                  options->subcommand, stopping);
    return false;
}

/* The command stands behind the first "--": from there on every byte is the command's. */
static char **find_command(int *argc, char **argv)
{
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            *argc = i;
            return argv + i + 1;
        }
    }
    return NULL;
}

static void init(struct exec_options *options)
{
    *options = (struct exec_options){
        .wait_ms = -1,
        .permits = -1,
        .conflict_exit = 1,
        .grace_ms = -1,
        .stop_signal = SIGTERM,
        .on_loss = ON_LOSS_STOP,
        .style = ZKLOCK_STYLE_CURATOR,
    };
    common_options_init(&options->common);
}

static enum options_result read_table(int argc, char **argv, struct exec_options *options,
                                      struct words *words)
{
    struct option_rule common[COMMON_RULES];
    const struct option_rule rules[] = {
        {"nonblock", 'n', OPTION_FLAG, &options->is_nonblocking, {0, 0}, NULL},
        {"wait", 'w', OPTION_SECONDS, &options->wait_ms, OPTIONS_WAIT_RANGE, NULL},
        {"shared", 's', OPTION_FLAG, &options->is_shared, {0, 0}, NULL},
        {"permits", 'p', OPTION_INTEGER, &options->permits, {0, ZKLOCK_PERMITS_MAX}, NULL},
        {"conflict-exit-code", 'E', OPTION_INTEGER, &options->conflict_exit, {0, 255}, NULL},
        {"kill-after", 'k', OPTION_SECONDS, &options->grace_ms, OPTIONS_WAIT_RANGE, NULL},
        {"stop-signal", 0, OPTION_SIGNAL, &options->stop_signal, {0, 0}, NULL},
        {"revoke-signal", 0, OPTION_SIGNAL, &options->revoke_signal, {0, 0}, NULL},
        {"on-loss", 0, OPTION_CHOICE, &options->on_loss, {0, 0}, loss_choices},
        {"min-hold", 0, OPTION_SECONDS, &options->min_hold_ms, OPTIONS_WAIT_RANGE, NULL},
        {"hold-limit", 0, OPTION_SECONDS, &options->hold_limit_ms, {1, INT64_C(315360000000)}, NULL},
        {"once-per", 0, OPTION_SECONDS, &options->once_per_ms, {1, INT64_C(315360000000)}, NULL},
        {"kill-leftovers", 0, OPTION_FLAG, &options->kills_leftovers, {0, 0}, NULL},
        {"guard", 0, OPTION_FLAG, &options->is_guarded, {0, 0}, NULL},
        {"no-guard", 0, OPTION_FLAG, &options->is_unguarded, {0, 0}, NULL},
        {"label", 0, OPTION_TEXT, &options->label, {0, 0}, NULL},
        {"style", 0, OPTION_CHOICE, &options->style, {0, 0}, styles},
        {"acl", 0, OPTION_CHOICE, &options->common.acl, {0, 0}, acls},
        {"persistent-parent", 0, OPTION_FLAG, &options->persistent_parent, {0, 0}, NULL},
        {NULL, 0, OPTION_FLAG, NULL, {0, 0}, NULL},
    };

    common_options_rules(&options->common, common);
    return options_read(argc, argv, common, rules, words);
}

static bool check_grace(const struct exec_options *options)
{
    int64_t most_ms = exec_options_most_grace_ms(options->common.session_timeout_ms);
    char most[32];

    if (options->grace_ms <= most_ms)
        return true;
    number_print_seconds(most_ms, most, sizeof(most));
    message_usage(
        "%s: option -k, --kill-after: more than 0.3 of the session timeout leaves no time to stop the "
        "command inside the lease; give at most %s, or a longer -T",
        options->subcommand, most);
    return false;
}

/* What is past its limit must not go on, whoever asks for that. */
static bool check_hold(const struct exec_options *options)
{
    if (options->hold_limit_ms > 0 && options->on_loss == ON_LOSS_WARN) {
        message_usage("%s: options --hold-limit and --on-loss warn contradict each other; give one of them",
                      options->subcommand);
        return false;
    }
    if (options->hold_limit_ms > 0 && options->min_hold_ms > options->hold_limit_ms) {
        message_usage("%s: option --min-hold: more than --hold-limit allows", options->subcommand);
        return false;
    }
    return exec_options_check_hold_limit(options, options->common.session_timeout_ms);
}

static bool check_label(const struct exec_options *options)
{
    const char *label = options->label;

    if (!label || strlen(label) <= 200)
        return true;
    message_usage("%s: option --label: %zu bytes; give at most 200", options->subcommand, strlen(label));
    return false;
}

/* A leader that goes on after the loss is what an election must prevent; and it is to be elected, not to run once. */
static bool check_election(const struct exec_options *options)
{
    const char *misfit = options->on_loss == ON_LOSS_WARN ? "--on-loss warn"
                         : options->once_per_ms > 0       ? "--once-per"
                         : options->is_shared             ? "-s, --shared"
                         : options->permits >= 0          ? "-p, --permits"
                                                          : NULL;

    if (!options->is_electing || !misfit)
        return true;
    message_usage("elect: option %s has no sense in an election; use zklock exec", misfit);
    return false;
}

/* The stamp outlives the contenders, so its node must as well. */
static bool check_once(struct exec_options *options)
{
    if (options->once_per_ms > 0 && options->path_count > 1) {
        message_usage("exec: option --once-per keeps its stamp at the path; give one path");
        return false;
    }
    if (options->once_per_ms > 0 && options->is_shared && !options->is_electing) {
        message_usage("exec: options --once-per and -s contradict each other: those who share would all run it");
        return false;
    }
    options->persistent_parent |= options->once_per_ms > 0;
    return true;
}

/* There is one leader. */
static bool check_latch(const struct exec_options *options)
{
    if (options->style != EXEC_STYLE_LATCH || !options->is_shared)
        return true;
    message_usage("exec: options --style curator-latch and -s contradict each other; give one of them");
    return false;
}

/* What else a semaphore cannot be; its path's data is the limit, so that there is no place for a stamp. */
static bool check_permits(const struct exec_options *options)
{
    const char *misfit = options->is_shared                        ? "-s, --shared"
                         : options->once_per_ms > 0                ? "--once-per"
                         : options->style != ZKLOCK_STYLE_CURATOR ? "--style other than curator"
                                                                   : NULL;

    if (options->permits < 0 || options->is_electing || !misfit)
        return true;
    message_usage("exec: options -p, --permits and %s cannot be given together", misfit);
    return false;
}

static int compare_paths(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Everybody who takes several locks takes them in one order, so that nobody waits for each other. */
static bool sort_paths(struct exec_options *options)
{
    qsort(options->paths, (size_t)options->path_count, sizeof(char *), compare_paths);
    for (int i = 0; i < options->path_count; i++) {
        if (i > 0 && strcmp(options->paths[i - 1], options->paths[i]) == 0) {
            message_usage("exec: path '%s' was given twice; a lock cannot be waited for by its holder",
                          options->paths[i]);
            return false;
        }
        if (options->path_count > 1 && strchr(options->paths[i], ' ')) {
            message_usage("exec: path '%s': a blank cannot stand in one of several paths, since ZKLOCK_PATH has blanks "
                          "between them", options->paths[i]);
            return false;
        }
    }
    return true;
}

static bool take_paths(struct exec_options *options, const struct words *words)
{
    size_t size = 1;

    for (int i = 0; i < words->count; i++)
        size += strlen(words->items[i]) + 1;
    options->paths = calloc((size_t)words->count, sizeof(char *));
    options->path = calloc(1, size);
    if (!options->paths || !options->path) {
        message_error("out of memory");
        return false;
    }
    for (int i = 0; i < words->count; i++)
        options->paths[options->path_count++] = words->items[i];
    if (!sort_paths(options))
        return false;
    for (int i = 0; i < words->count; i++) {
        strcat(options->path, i ? " " : "");
        strcat(options->path, options->paths[i]);
    }
    return true;
}

void exec_options_clear(struct exec_options *options)
{
    free(options->paths);
    free(options->path);
    options->paths = NULL;
    options->path = NULL;
    options->path_count = 0;
}

static bool check(struct exec_options *options, const struct words *words)
{
    if (!options->command) {
        message_usage("%s: the command is missing; put it behind --, as in: zklock %s PATH -- COMMAND",
                      options->subcommand, options->subcommand);
        return false;
    }
    if (!options->command[0] || options->command[0][0] == '\0') {
        message_usage("%s: the command behind -- is missing", options->subcommand);
        return false;
    }
    if (!options_check_paths(options->subcommand, words, options->is_electing ? 1 : MOST_PATHS) || !take_paths(options, words))
        return false;
    if (options->is_nonblocking && options->wait_ms >= 0) {
        message_usage("%s: options -n and -w contradict each other; give one of them", options->subcommand);
        return false;
    }
    if (options->is_guarded && options->is_unguarded) {
        message_usage("exec: options --guard and --no-guard contradict each other; give one of them");
        return false;
    }
    return check_grace(options) && check_hold(options) && check_label(options) && check_once(options) && check_election(options) &&
           check_permits(options) && check_latch(options) &&
           common_options_settle(options->subcommand, &options->common, words);
}

const char *exec_options_help(const struct exec_options *options)
{
    return options->is_electing ? elect_help : help;
}

enum options_result exec_options_read(int argc, char **argv, struct exec_options *out_options)
{
    struct words words = {calloc((size_t)argc + 1, sizeof(char *)), 0};
    enum options_result result;

    if (!words.items) {
        message_error("out of memory");
        return OPTIONS_WRONG;
    }
    init(out_options);
    out_options->subcommand = argv[0];
    out_options->is_electing = strcmp(argv[0], "elect") == 0;
    out_options->command = find_command(&argc, argv);
    result = read_table(argc, argv, out_options, &words);
    if (result == OPTIONS_READ && !check(out_options, &words))
        result = OPTIONS_WRONG;
    free(words.items);
    if (result != OPTIONS_READ)
        exec_options_clear(out_options);
    return result;
}
