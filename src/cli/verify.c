/* zklock verify: is this token the holder's? Asked of a majority of the servers. */
#include <inttypes.h>

#include "commands.h"
#include "message.h"
#include "payload.h"
#include "subcommand.h"

static const char help[] =
    "Usage: zklock verify [OPTION]... PATH TOKEN\n"
    "Says whether TOKEN is that of a holder of the lock PATH, as a majority of the\n"
    "servers knows it. By the time that you read it, it may be past: for data, let\n"
    "the place that keeps them refuse a token lower than the highest it has seen.\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; or localhost:2181\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "      --auth-file FILE        with scheme:credentials; or ZKLOCK_AUTH_FILE\n"
    "      --tls CA[,CERT,KEY]     encrypt, if the client library can; or ZKLOCK_TLS\n"
    "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
    "Exit status: 0 it is; 1 it is not; 64 usage; 69 no server; 77 denied.\n";

struct verify_options {
    struct common_options common;
    uint64_t token;
};

static enum options_result read_options(int argc, char **argv, struct words *words, void *options)
{
    struct verify_options *verify = options;
    struct option_rule common[COMMON_RULES];
    struct number_problem problem;
    enum options_result result;
    struct words path;

    common_options_init(&verify->common);
    common_options_rules(&verify->common, common);
    result = options_read(argc, argv, common, NULL, words);
    if (result != OPTIONS_READ)
        return result;
    if (words->count == 1) {
        message_usage("verify: the token is missing; see zklock verify --help");
        return OPTIONS_WRONG;
    }
    path = (struct words){words->items, words->count > 2 ? words->count - 1 : words->count ? 1 : 0};
    if (!options_check_paths("verify", &path, 1))
        return OPTIONS_WRONG;
    if (!number_parse_token(words->items[1], &verify->token, &problem)) {
        message_usage("verify: token %s", problem.text);
        return OPTIONS_WRONG;
    }
    return common_options_settle("verify", &verify->common, &path) ? OPTIONS_READ : OPTIONS_WRONG;
}

static void tell_holder(zklock_session *session, const char *path, uint64_t token, int64_t limit_ms)
{
    char holder[512] = "nobody holds it";
    zklock_queue *queue;

    if (zklock_queue_read(session, path, limit_ms, &queue) != ZKLOCK_OK)
        return;
    if (queue->count > 0)
        payload_describe(queue->contenders[0], holder, sizeof(holder));
    if (queue->count > 0)
        message_error("%s: %" PRIu64 " is not the holder's token; it is %" PRIu64 " now, of %s", path, token,
                      queue->contenders[0]->token, holder);
    else
        message_error("%s: %" PRIu64 " is not the holder's token; %s", path, token, holder);
    zklock_queue_free(queue);
}

static int run(zklock_session *session, const void *options, const struct words *words)
{
    const struct verify_options *verify = options;
    const char *path = words->items[0];
    int64_t limit_ms = connection_limit_ms(&verify->common);
    zklock_status status = zklock_token_verify(session, path, verify->token, limit_ms);

    if (status == ZKLOCK_OK) {
        message_story("%s: %" PRIu64 " is the holder's token", path, verify->token);
        return 0;
    }
    if (status != ZKLOCK_NOT_HELD)
        return subcommand_fail(session, &verify->common, path, "READ", status);
    tell_holder(session, path, verify->token, limit_ms);
    return 1;
}

int verify_main(int argc, char **argv)
{
    static const struct subcommand subcommand = {help, read_options, run, NULL};
    struct verify_options options;

    return subcommand_main(argc, argv, &subcommand, &options);
}
