#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

enum { MAX_RULES = 48, FIRST_LONG_ONLY = 1000 };

static const struct option_choice leases[] = {
    {"strict", ZKLOCK_LEASE_STRICT},
    {"standalone", ZKLOCK_LEASE_STANDALONE},
    {"cheap", ZKLOCK_LEASE_CHEAP},
    {NULL, 0},
};

/* Both tables as one, and as getopt wants them. */
struct reader {
    const char *subcommand;
    struct option_rule rules[MAX_RULES];
    int rule_count;
    struct option long_options[MAX_RULES + 1];
    char letters[2 * MAX_RULES + 4];
};

void common_options_init(struct common_options *options)
{
    *options = (struct common_options){
        .session_timeout_ms = 10000,
        .connect_timeout_ms = -1,
        .lease = ZKLOCK_LEASE_STRICT,
    };
}

void common_options_rules(struct common_options *options, struct option_rule out_rules[COMMON_RULES])
{
    const struct option_rule rules[COMMON_RULES] = {
        {"servers", 'S', OPTION_TEXT, &options->servers, {0, 0}, NULL},
        {"session-timeout", 'T', OPTION_SECONDS, &options->session_timeout_ms, {100, 86400000}, NULL},
        {"connect-timeout", 0, OPTION_SECONDS, &options->connect_timeout_ms, OPTIONS_WAIT_RANGE, NULL},
        {"lease", 0, OPTION_CHOICE, &options->lease, {0, 0}, leases},
        {"tick-time", 0, OPTION_INTEGER, &options->tick_time_ms, {1, 600000}, NULL},
        {"auth-file", 0, OPTION_TEXT, &options->auth_file, {0, 0}, NULL},
        {"tls", 0, OPTION_TEXT, &options->tls, {0, 0}, NULL},
        {"verbose", 'v', OPTION_REPEATS, &options->verbosity, {0, 0}, NULL},
        {"quiet", 'q', OPTION_FLAG, &options->is_quiet, {0, 0}, NULL},
        {"help", 'h', OPTION_HELP, NULL, {0, 0}, NULL},
        {"version", 'V', OPTION_VERSION, NULL, {0, 0}, NULL},
        {NULL, 0, OPTION_FLAG, NULL, {0, 0}, NULL},
    };

    memcpy(out_rules, rules, sizeof(rules));
}

static bool takes_value(const struct option_rule *rule)
{
    switch (rule->kind) {
    case OPTION_FLAG:
    case OPTION_REPEATS:
    case OPTION_HELP:
    case OPTION_VERSION:
        return false;
    case OPTION_TEXT:
    case OPTION_SECONDS:
    case OPTION_INTEGER:
    case OPTION_CHOICE:
    case OPTION_SIGNAL:
        break;
    }
    return true;
}

/* getopt returns the letter, or for an option without one a number of ours. */
static int rule_code(const struct reader *reader, int index)
{
    return reader->rules[index].letter ? reader->rules[index].letter : FIRST_LONG_ONLY + index;
}

/* The leading '-' has getopt hand out words in their order, whatever POSIXLY_CORRECT says; ':' keeps it
 * quiet. */
static void prepare(struct reader *reader)
{
    char *letters = stpcpy(reader->letters, "-:");

    for (int i = 0; i < reader->rule_count; i++) {
        const struct option_rule *rule = &reader->rules[i];

        reader->long_options[i] = (struct option){
            rule->name, takes_value(rule) ? required_argument : no_argument, NULL, rule_code(reader, i)};
        if (rule->letter) {
            *letters++ = rule->letter;
            if (takes_value(rule))
                *letters++ = ':';
        }
    }
    *letters = '\0';
}

static void add_rules(struct reader *reader, const struct option_rule *rules)
{
    for (; rules && rules->name && reader->rule_count < MAX_RULES; rules++)
        reader->rules[reader->rule_count++] = *rules;
}

static const struct option_rule *rule_of_code(const struct reader *reader, int code)
{
    for (int i = 0; i < reader->rule_count; i++) {
        if (rule_code(reader, i) == code)
            return &reader->rules[i];
    }
    return NULL;
}

static bool read_choice(const struct option_rule *rule, const char *text, struct number_problem *out_problem)
{
    const size_t size = sizeof(out_problem->text);
    int used = snprintf(out_problem->text, size, "'%s': unknown; give one of", text);

    for (const struct option_choice *choice = rule->choices; choice->name; choice++) {
        if (strcmp(choice->name, text) == 0) {
            *(int *)rule->target = choice->value;
            return true;
        }
        if (used > 0 && (size_t)used < size)
            used += snprintf(out_problem->text + used, size - (size_t)used, " %s", choice->name);
    }
    return false;
}

static bool store(const struct option_rule *rule, const char *text, struct number_problem *out_problem)
{
    switch (rule->kind) {
    case OPTION_FLAG: *(bool *)rule->target = true; return true;
    case OPTION_REPEATS: ++*(int *)rule->target; return true;
    case OPTION_TEXT: *(const char **)rule->target = text; return true;
    case OPTION_SECONDS: return number_parse_seconds(text, rule->range, rule->target, out_problem);
    case OPTION_INTEGER: return number_parse_integer(text, rule->range, rule->target, out_problem);
    case OPTION_CHOICE: return read_choice(rule, text, out_problem);
    case OPTION_SIGNAL: return number_parse_signal(text, rule->target, out_problem);
    case OPTION_HELP:
    case OPTION_VERSION: break;
    }
    return true;
}

static void name_option(const struct option_rule *rule, char *buffer, size_t size)
{
    if (rule->letter)
        snprintf(buffer, size, "-%c, --%s", rule->letter, rule->name);
    else
        snprintf(buffer, size, "--%s", rule->name);
}

/* What getopt refused: an option it does not know, one without its value, or a flag with one. */
static void complain(const struct reader *reader, int code, const char *text)
{
    const struct option_rule *rule = rule_of_code(reader, optopt);
    char name[64] = "";

    if (rule)
        name_option(rule, name, sizeof(name));
    if (code == ':' && rule)
        message_usage("%s: option %s needs a value; see zklock %s --help", reader->subcommand, name,
                      reader->subcommand);
    else if (rule)
        message_usage("%s: option %s takes no value", reader->subcommand, name);
    else if (optopt)
        message_usage("%s: unknown option '-%c'; see zklock %s --help", reader->subcommand, optopt,
                      reader->subcommand);
    else
        message_usage("%s: unknown option '%s'; see zklock %s --help", reader->subcommand, text,
                      reader->subcommand);
}

static enum options_result take(struct reader *reader, int code, struct words *out_words)
{
    const struct option_rule *rule = rule_of_code(reader, code);
    struct number_problem problem;
    char name[64];

    if (code == 1) {
        out_words->items[out_words->count++] = optarg;
        return OPTIONS_READ;
    }
    if (!rule)
        return OPTIONS_WRONG;
    if (rule->kind == OPTION_HELP)
        return OPTIONS_WANT_HELP;
    if (rule->kind == OPTION_VERSION)
        return OPTIONS_WANT_VERSION;
    if (store(rule, optarg, &problem))
        return OPTIONS_READ;
    name_option(rule, name, sizeof(name));
    message_usage("%s: option %s: %s", reader->subcommand, name, problem.text);
    return OPTIONS_WRONG;
}

static enum options_result read_all(struct reader *reader, int argc, char **argv, struct words *out_words)
{
    enum options_result result = OPTIONS_READ;

    opterr = 0;
    optind = 0;
    while (result == OPTIONS_READ) {
        int at = optind ? optind : 1;
        int code = getopt_long(argc, argv, reader->letters, reader->long_options, NULL);

        if (code == -1)
            break;
        if (code == '?' || code == ':') {
            complain(reader, code, argv[at < argc ? at : argc - 1]);
            return OPTIONS_WRONG;
        }
        result = take(reader, code, out_words);
    }
    while (result == OPTIONS_READ && optind < argc)
        out_words->items[out_words->count++] = argv[optind++];
    return result;
}

/* An empty variable is none. */
static void take_environment(const char *name, const char **in_out_text)
{
    const char *text = *in_out_text ? NULL : getenv(name);

    if (text && text[0])
        *in_out_text = text;
}

static bool settle_credentials(const char *subcommand, struct common_options *common)
{
    take_environment("ZKLOCK_AUTH_FILE", &common->auth_file);
    if (common->acl == ZKLOCK_ACL_OPEN || common->auth_file)
        return true;
    message_usage("%s: option --acl: rights for the creator alone need credentials; give --auth-file", subcommand);
    return false;
}

static bool settle_tls(const char *subcommand, struct common_options *common)
{
    take_environment("ZKLOCK_TLS", &common->tls);
    if (!common->tls || zklock_has_tls())
        return true;
    message_usage("%s: option --tls: this build cannot encrypt, as its ZooKeeper client library has no TLS; "
                  "use a tunnel, see zklock(1)", subcommand);
    return false;
}

static bool settle_servers(const char *subcommand, struct common_options *common)
{
    const char *from = common->servers ? "option -S, --servers" : "environment variable ZKLOCK_SERVERS";
    char problem[256];

    take_environment("ZKLOCK_SERVERS", &common->servers);
    if (!common->servers || zklock_servers_check(common->servers, problem, sizeof(problem)) == ZKLOCK_OK)
        return true;
    message_usage("%s: %s: '%s': %s", subcommand, from, common->servers, problem);
    return false;
}

static bool has_chroot(const char *servers)
{
    const char *slash = servers ? strchr(servers, '/') : NULL;

    return slash && slash[1];
}

/* "/" is a lock only as the root of a chroot. */
static bool check_root(const char *subcommand, const char *servers, const struct words *locks)
{
    for (int i = 0; locks && i < locks->count; i++) {
        if (strcmp(locks->items[i], "/") == 0 && !has_chroot(servers)) {
            message_usage("%s: path '/': the root of all is no lock; give a path below it, or a chroot with --servers",
                          subcommand);
            return false;
        }
    }
    return true;
}

bool common_options_settle(const char *subcommand, struct common_options *options, const struct words *locks)
{
    if (options->is_quiet)
        message_set_level(MESSAGE_QUIET);
    else if (options->verbosity > 1)
        message_set_level(MESSAGE_DEBUG);
    else
        message_set_level(options->verbosity ? MESSAGE_VERBOSE : MESSAGE_NORMAL);
    return settle_servers(subcommand, options) && check_root(subcommand, options->servers, locks) &&
           settle_credentials(subcommand, options) && settle_tls(subcommand, options);
}

enum options_result options_read(int argc, char **argv, const struct option_rule *rules,
                                 const struct option_rule *more, struct words *out_words)
{
    struct reader reader = {.subcommand = argv[0]};

    add_rules(&reader, rules);
    add_rules(&reader, more);
    prepare(&reader);
    out_words->count = 0;
    return read_all(&reader, argc, argv, out_words);
}

/* The reason stands behind the path, and a line has an end. */
enum { SHOWN_PATH = 200 };

bool options_check_paths(const char *subcommand, const struct words *words, int most)
{
    char problem[256];

    if (words->count == 0) {
        message_usage("%s: the lock's path is missing; see zklock %s --help", subcommand, subcommand);
        return false;
    }
    if (words->count > most) {
        message_usage("%s: '%s': too many paths; give at most %d", subcommand, words->items[most], most);
        return false;
    }
    for (int i = 0; i < words->count; i++) {
        if (zklock_path_check(words->items[i], problem, sizeof(problem)) != ZKLOCK_OK) {
            message_usage("%s: path '%.*s%s': %s", subcommand, SHOWN_PATH, words->items[i],
                          strlen(words->items[i]) > SHOWN_PATH ? "..." : "", problem);
            return false;
        }
    }
    return true;
}
