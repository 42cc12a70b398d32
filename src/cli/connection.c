#include "connection.h"

#include "auth_file.h"
#include "message.h"

/* @thread the session's notifier */
static void tell(void *arg, zklock_log_level level, const char *line)
{
    (void)arg;
    (void)level;
    message_story("%s", line);
}

static int open_session(const struct common_options *options, const char *label, const struct auth *auth,
                        zklock_session **out_session)
{
    zklock_session_options session_options;
    zklock_status status;

    zklock_session_options_init(&session_options);
    if (options->servers)
        session_options.servers = options->servers;
    session_options.session_timeout_ms = (unsigned)options->session_timeout_ms;
    session_options.tick_time_ms = (unsigned)options->tick_time_ms;
    session_options.lease = (zklock_lease)options->lease;
    session_options.label = label;
    session_options.acl = (zklock_acl)options->acl;
    session_options.tls = options->tls;
    if (auth->size > 0) {
        session_options.auth_scheme = auth->scheme;
        session_options.auth = auth->credentials;
        session_options.auth_size = auth->size;
    }
    if (message_level() >= MESSAGE_VERBOSE) {
        session_options.log = tell;
        session_options.log_level = message_level() >= MESSAGE_DEBUG ? ZKLOCK_LOG_DEBUG : ZKLOCK_LOG_INFO;
    }
    status = zklock_session_open(&session_options, out_session);
    if (status == ZKLOCK_OK)
        return 0;
    message_error("cannot open a session: %s", zklock_status_text(status));
    return zklock_status_exit(status);
}

int connection_open(const struct common_options *options, const char *label, zklock_session **out_session)
{
    struct auth_file file = {0};
    int exit_status = options->auth_file ? auth_file_read(options->auth_file, &file) : 0;

    if (!exit_status)
        exit_status = open_session(options, label, &file.auth, out_session);
    auth_file_wipe(&file);
    return exit_status;
}

int64_t connection_limit_ms(const struct common_options *options)
{
    return options->connect_timeout_ms >= 0 ? options->connect_timeout_ms : options->session_timeout_ms;
}

int connection_fail(zklock_session *session, int64_t limit_ms)
{
    char detail[512];
    char limit[32];

    zklock_session_detail(session, detail, sizeof(detail));
    number_print_seconds(limit_ms, limit, sizeof(limit));
    message_error("no usable ZooKeeper server within %s s: %s", limit, detail[0] ? detail : "no answer");
    return EXIT_NO_SERVER;
}

int connection_refuse(zklock_session *session, zklock_status status)
{
    char detail[512];

    zklock_session_detail(session, detail, sizeof(detail));
    message_error("cannot connect: %s%s%s", zklock_status_text(status), detail[0] ? ": " : "", detail);
    return zklock_status_exit(status);
}

int connection_wait(zklock_session *session, int64_t limit_ms)
{
    zklock_status status = zklock_session_wait_connected(session, limit_ms);

    if (status == ZKLOCK_OK)
        return 0;
    if (status == ZKLOCK_NO_SERVER)
        return connection_fail(session, limit_ms);
    return connection_refuse(session, status);
}
