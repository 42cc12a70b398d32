/* zklock break and zklock revoke: what is done to somebody else's contender. Each leaves one line of audit. */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "message.h"
#include "payload.h"
#include "subcommand.h"

static const char break_help[] =
    "Usage: zklock break --contender NAME [OPTION]... PATH\n"
    "Deletes exactly the contender NAME of the lock PATH, and says whose it was; the\n"
    "next one in the queue then holds. NAME is shown by: zklock status -v PATH\n"
    "Whoever held it learns of that only afterwards, and may still be at work: ask\n"
    "first (zklock revoke PATH), or make sure that it is dead (zklock doctor PATH).\n"
    "      --contender NAME        which one; there is no default\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; or localhost:2181\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "      --auth-file FILE        with scheme:credentials; or ZKLOCK_AUTH_FILE\n"
    "      --tls CA[,CERT,KEY]     encrypt, if the client library can; or ZKLOCK_TLS\n"
    "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
    "Exit status: 0 it is gone, now or already; 1 it was written meanwhile: nothing\n"
    "was done; 64 usage; 69 no server; 77 denied.\n";

static const char revoke_help[] =
    "Usage: zklock revoke [OPTION]... PATH\n"
    "Asks whoever holds the lock PATH to let go, and returns at once. A command under\n"
    "zklock exec gets the signal that --revoke-signal chose there; without one it\n"
    "goes on. Curator's holders are told where the mutex was made revocable.\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; or localhost:2181\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "      --auth-file FILE        with scheme:credentials; or ZKLOCK_AUTH_FILE\n"
    "      --tls CA[,CERT,KEY]     encrypt, if the client library can; or ZKLOCK_TLS\n"
    "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
    "Exit status: 0 asked; 1 nobody holds it; 64 usage; 69 no server; 77 denied.\n"
    "Then: zklock wait -w 30 PATH\n";

struct break_options {
    struct common_options common;
    const char *contender; /* of break only */
};

/* "anna@host:4711" */
static void describe_ourselves(char *buffer, size_t size)
{
    const struct passwd *user = getpwuid(geteuid());
    char host[128] = "?";

    gethostname(host, sizeof(host) - 1);
    if (user)
        snprintf(buffer, size, "%s@%s:%d", user->pw_name, host, (int)getpid());
    else
        snprintf(buffer, size, "%u@%s:%d", (unsigned)geteuid(), host, (int)getpid());
}

static enum options_result read_options(int argc, char **argv, struct words *words,
                                        struct break_options *out_options, const struct option_rule *rules)
{
    struct option_rule common[COMMON_RULES];
    enum options_result result;

    common_options_init(&out_options->common);
    common_options_rules(&out_options->common, common);
    result = options_read(argc, argv, common, rules, words);
    if (result == OPTIONS_READ &&
        (!options_check_paths(argv[0], words, 1) || !common_options_settle(argv[0], &out_options->common, words)))
        return OPTIONS_WRONG;
    return result;
}

/* Every contender's name ends with the number that the server gave it: ten digits, or more for a negative one. */
static bool looks_like_a_contender(const char *name)
{
    size_t length = strlen(name);

    return length > 10 && !strchr(name, '/') && strspn(name + length - 10, "0123456789") == 10;
}

static enum options_result read_break(int argc, char **argv, struct words *words, void *options)
{
    struct break_options *own = options;
    const struct option_rule rules[] = {
        {"contender", 0, OPTION_TEXT, &own->contender, {0, 0}, NULL},
        {NULL, 0, OPTION_FLAG, NULL, {0, 0}, NULL},
    };
    enum options_result result;

    own->contender = NULL;
    result = read_options(argc, argv, words, own, rules);
    if (result != OPTIONS_READ || (own->contender && looks_like_a_contender(own->contender)))
        return result;
    if (own->contender)
        message_usage("break: option --contender: '%s' is no contender's name, which ends with ten digits; zklock status -v "
                      "%s shows them", own->contender, words->items[0]);
    else
        message_usage("break: which contender? give its name with --contender; zklock status -v %s shows them",
                      words->items[0]);
    return OPTIONS_WRONG;
}

static enum options_result read_revoke(int argc, char **argv, struct words *words, void *options)
{
    return read_options(argc, argv, words, options, NULL);
}

static const zklock_contender *find(const zklock_queue *queue, const char *name)
{
    for (size_t i = 0; i < queue->count; i++) {
        if (strcmp(queue->contenders[i]->name, name) == 0)
            return queue->contenders[i];
    }
    return NULL;
}

static int break_one(zklock_session *session, const struct break_options *options, const char *path,
                     const zklock_contender *contender)
{
    zklock_status status =
        zklock_break(session, path, contender, connection_limit_ms(&options->common));
    char owner[512];
    char who[256];

    payload_describe(contender, owner, sizeof(owner));
    describe_ourselves(who, sizeof(who));
    if (status == ZKLOCK_OK)
        message_error("%s broke %s/%s, which %s: %s", who, path, contender->name,
                      contender->is_holder ? "held the lock" : "waited", owner);
    else if (status == ZKLOCK_CHANGED)
        message_error("%s/%s was written meanwhile and is left alone (%s); look again: zklock status %s", path,
                      contender->name, owner, path);
    else
        return subcommand_fail(session, &options->common, path, "DELETE", status);
    return zklock_status_exit(status);
}

static int run_break(zklock_session *session, const void *options, const struct words *words)
{
    const struct break_options *own = options;
    const char *path = words->items[0];
    const zklock_contender *contender;
    zklock_queue *queue;
    int result = 0;
    zklock_status status = zklock_queue_read(session, path, connection_limit_ms(&own->common), &queue);

    if (status != ZKLOCK_OK)
        return subcommand_fail(session, &own->common, path, "READ", status);
    contender = find(queue, own->contender);
    if (contender)
        result = break_one(session, own, path, contender);
    else
        message_error("%s: there is no contender %s; nothing is left to be done", path, own->contender);
    zklock_queue_free(queue);
    return result;
}

/* Returns the status; NOT_HELD when it has gone meanwhile. */
static zklock_status revoke_one(zklock_session *session, const struct break_options *options,
                                const char *path, const zklock_contender *contender)
{
    zklock_status status = zklock_revoke(session, path, contender, connection_limit_ms(&options->common));
    char owner[512];
    char who[256];

    if (status != ZKLOCK_OK)
        return status;
    payload_describe(contender, owner, sizeof(owner));
    describe_ourselves(who, sizeof(who));
    message_error("%s asked to let go of %s: %s", who, path, owner);
    return ZKLOCK_OK;
}

static int run_revoke(zklock_session *session, const void *options, const struct words *words)
{
    const struct break_options *own = options;
    const char *path = words->items[0];
    int asked = 0;
    zklock_queue *queue;
    zklock_status status = zklock_queue_read(session, path, connection_limit_ms(&own->common), &queue);

    if (status != ZKLOCK_OK)
        return subcommand_fail(session, &own->common, path, "READ", status);
    for (size_t i = 0; i < queue->count && queue->contenders[i]->is_holder && status == ZKLOCK_OK; i++) {
        status = revoke_one(session, own, path, queue->contenders[i]);
        asked += status == ZKLOCK_OK;
        if (status == ZKLOCK_NOT_HELD || status == ZKLOCK_CHANGED)
            status = ZKLOCK_OK;
    }
    zklock_queue_free(queue);
    if (status != ZKLOCK_OK)
        return subcommand_fail(session, &own->common, path, "WRITE", status);
    if (asked == 0)
        message_error("%s: nobody holds it", path);
    return asked > 0 ? 0 : 1;
}

int break_main(int argc, char **argv)
{
    static const struct subcommand subcommand = {break_help, read_break, run_break, NULL};
    struct break_options options;

    return subcommand_main(argc, argv, &subcommand, &options);
}

int revoke_main(int argc, char **argv)
{
    static const struct subcommand subcommand = {revoke_help, read_revoke, run_revoke, NULL};
    struct break_options options;

    return subcommand_main(argc, argv, &subcommand, &options);
}
