/* zklock wait: return when nobody holds the lock. Leaves nothing behind, so that a signal may simply
 * end it. */
#include <stdio.h>

#include "clock.h"
#include "commands.h"
#include "connection.h"
#include "message.h"
#include "options.h"
#include "payload.h"
#include "subcommand.h"

enum { HOLDER_LIMIT_MS = 400, CLOSE_LIMIT_MS = 300 };

static const char help[] =
    "Usage: zklock wait [OPTION]... PATH\n"
    "Returns when nobody holds the lock PATH, without queueing for it.\n"
    "  -S, --servers HOST[:PORT],...[/CHROOT]  or ZKLOCK_SERVERS; or localhost:2181\n"
    "  -w, --wait SECS             give up after so long, connecting included\n"
    "  -T, --session-timeout SECS  default 10  --connect-timeout SECS  default as -T\n"
    "      --auth-file FILE        with scheme:credentials; or ZKLOCK_AUTH_FILE\n"
    "      --tls CA[,CERT,KEY]     encrypt, if the client library can; or ZKLOCK_TLS\n"
    "  -v, --verbose   -q, --quiet   -h, --help   -V, --version\n"
    "Exit status: 0 nobody holds it; 1 somebody still did at the limit; 64 usage;\n"
    "69 no server; 77 denied.\n";

struct wait_options {
    struct common_options common;
    int64_t wait_ms; /* negative: no limit */
    const char *path;
};

static enum options_result read_options(int argc, char **argv, struct words *words, void *options)
{
    struct wait_options *own = options;
    struct option_rule common[COMMON_RULES];
    const struct option_rule rules[] = {
        {"wait", 'w', OPTION_SECONDS, &own->wait_ms, OPTIONS_WAIT_RANGE, NULL},
        {NULL, 0, OPTION_FLAG, NULL, {0, 0}, NULL},
    };
    enum options_result result;

    common_options_init(&own->common);
    own->wait_ms = -1;
    common_options_rules(&own->common, common);
    result = options_read(argc, argv, common, rules, words);
    if (result != OPTIONS_READ)
        return result;
    if (!options_check_paths("wait", words, 1) || !common_options_settle("wait", &own->common, words))
        return OPTIONS_WRONG;
    own->path = words->items[0];
    return OPTIONS_READ;
}

static int fail_held(zklock_session *session, const struct wait_options *options)
{
    zklock_queue *queue;
    char holder[512] = "somebody";
    char limit[32];

    if (zklock_queue_read(session, options->path, HOLDER_LIMIT_MS, &queue) == ZKLOCK_OK) {
        if (queue->count > 0)
            payload_describe(queue->contenders[0], holder, sizeof(holder));
        zklock_queue_free(queue);
    }
    number_print_seconds(options->wait_ms, limit, sizeof(limit));
    message_error("%s: still held after %s s: by %s", options->path, limit, holder);
    return 1;
}

/* The limit covers connecting; the first answer tells apart "no server" and "held". */
static int await_free(zklock_session *session, const struct wait_options *options)
{
    int64_t start_ms = clock_boottime_ms();
    bool is_limited = options->wait_ms >= 0;
    int64_t connect_ms = connection_limit_ms(&options->common);
    int64_t left_ms = -1;
    zklock_status status;
    int exit_status;

    if (is_limited && (options->common.connect_timeout_ms < 0 || options->wait_ms < connect_ms))
        connect_ms = options->wait_ms;
    /* A limit of 0 means one look, and looking takes a connection. */
    if (connect_ms == 0)
        connect_ms = options->common.session_timeout_ms;
    exit_status = connection_wait(session, connect_ms);
    if (exit_status)
        return exit_status;
    if (is_limited) {
        left_ms = options->wait_ms - (clock_boottime_ms() - start_ms);
        left_ms = left_ms > HOLDER_LIMIT_MS ? left_ms : HOLDER_LIMIT_MS;
    }
    status = zklock_wait_free(session, options->path, left_ms);
    if (status == ZKLOCK_OK)
        return 0;
    if (status == ZKLOCK_TIMEOUT)
        return fail_held(session, options);
    if (status == ZKLOCK_NO_SERVER)
        return connection_fail(session, options->wait_ms);
    return subcommand_fail(session, &options->common, options->path, "READ", status);
}

static int run(const void *options)
{
    const struct wait_options *own = options;
    zklock_session *session;
    int status = connection_open(&own->common, NULL, &session);

    if (status)
        return status;
    status = await_free(session, own);
    zklock_session_close(session, CLOSE_LIMIT_MS);
    return status;
}

int wait_main(int argc, char **argv)
{
    static const struct subcommand subcommand = {help, read_options, NULL, run};
    struct wait_options options;

    return subcommand_main(argc, argv, &subcommand, &options);
}
