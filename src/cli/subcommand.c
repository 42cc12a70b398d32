#include "subcommand.h"

#include <stdlib.h>
#include <time.h>

#include "commands.h"
#include "message.h"

enum { CLOSE_LIMIT_MS = 300 };

int64_t subcommand_wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int subcommand_deny(zklock_session *session, const char *path, const char *right)
{
    char detail[512];

    zklock_session_detail(session, detail, sizeof(detail));
    message_error("%s: %s: %s%s", path, zklock_status_text(ZKLOCK_DENIED), detail[0] ? detail : "it needs the right ",
                  detail[0] ? "" : right);
    return zklock_status_exit(ZKLOCK_DENIED);
}

int subcommand_fail(zklock_session *session, const struct common_options *common, const char *path,
                    const char *right, zklock_status status)
{
    if (status == ZKLOCK_NO_SERVER || status == ZKLOCK_TIMEOUT)
        return connection_fail(session, connection_limit_ms(common));
    if (status == ZKLOCK_DENIED)
        return subcommand_deny(session, path, right);
    message_error("%s: %s", path, zklock_status_text(status));
    return zklock_status_exit(status);
}

static int run(const struct subcommand *subcommand, const void *options, const struct words *words)
{
    const struct common_options *common = options;
    zklock_session *session;
    int status;

    if (subcommand->run_alone)
        return subcommand->run_alone(options);
    status = connection_open(common, NULL, &session);
    if (status)
        return status;
    status = connection_wait(session, connection_limit_ms(common));
    if (!status)
        status = subcommand->run(session, options, words);
    zklock_session_close(session, CLOSE_LIMIT_MS);
    return status;
}

int subcommand_main(int argc, char **argv, const struct subcommand *subcommand, void *options)
{
    struct words words = {calloc((size_t)argc + 1, sizeof(char *)), 0};
    int status = EXIT_SYSTEM;

    if (!words.items)
        return EXIT_SYSTEM;
    switch (subcommand->read(argc, argv, &words, options)) {
    case OPTIONS_READ: status = run(subcommand, options, &words); break;
    case OPTIONS_WANT_HELP: status = commands_print(subcommand->help); break;
    case OPTIONS_WANT_VERSION: status = commands_print_version(); break;
    case OPTIONS_WRONG: status = EXIT_USAGE; break;
    }
    free(words.items);
    return status;
}
