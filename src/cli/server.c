/* zklock server: a private ZooKeeper in the foreground. */
#include <poll.h>
#include <stdio.h>

#include "commands.h"
#include "message.h"
#include "options.h"
#include "private_server.h"
#include "signals.h"
#include "subcommand.h"

static const char help[] =
    "Usage: zklock server [OPTION]...\n"
    "Runs a private ZooKeeper of one node on 127.0.0.1 until INT or TERM, and leaves\n"
    "nothing behind. When it serves it prints, for the shell:\n"
    "  export ZKLOCK_SERVERS=127.0.0.1:PORT\n"
    "Not for production: no replica, no access control.\n"
    "      --port N        default: a free one\n"
    "      --dir DIR       keep the data there; default: a temporary directory\n"
    "      --tick-time MS  default 500; session timeouts are at least twice as long\n"
    "  -q, --quiet   -h, --help   -V, --version\n"
    "Needs Java and Debian's package zookeeper, or ZOOKEEPER_HOME.\n"
    "Exit status: 0 ended by INT or TERM; 64 usage; 69 not started, or ended itself.\n";

struct server_options {
    int64_t port;
    int64_t tick_time_ms;
    const char *directory;
    bool is_quiet;
};

static enum options_result read_options(int argc, char **argv, struct words *words, void *options)
{
    struct server_options *own = options;
    const struct option_rule rules[] = {
        {"port", 0, OPTION_INTEGER, &own->port, {1, 65535}, NULL},
        {"dir", 0, OPTION_TEXT, &own->directory, {0, 0}, NULL},
        {"tick-time", 0, OPTION_INTEGER, &own->tick_time_ms, {50, 30000}, NULL},
        {"quiet", 'q', OPTION_FLAG, &own->is_quiet, {0, 0}, NULL},
        {"help", 'h', OPTION_HELP, NULL, {0, 0}, NULL},
        {"version", 'V', OPTION_VERSION, NULL, {0, 0}, NULL},
        {NULL, 0, OPTION_FLAG, NULL, {0, 0}, NULL},
    };
    enum options_result result;

    *own = (struct server_options){.tick_time_ms = 500};
    result = options_read(argc, argv, rules, NULL, words);
    if (result == OPTIONS_READ && words->count > 0) {
        message_usage("server: '%s': there are no arguments beside options", words->items[0]);
        return OPTIONS_WRONG;
    }
    if (result == OPTIONS_READ && own->directory && own->directory[0] == '\0') {
        message_usage("server: option --dir: is empty; give a directory");
        return OPTIONS_WRONG;
    }
    message_set_level(own->is_quiet ? MESSAGE_QUIET : MESSAGE_NORMAL);
    return result;
}

/* Until somebody ends us, or the server ends itself. */
static int serve(struct private_server *server, int signal_fd)
{
    struct pollfd signals = {signal_fd, POLLIN, 0};

    printf("export ZKLOCK_SERVERS=127.0.0.1:%d\n", server->port);
    if (commands_finish(0) != 0)
        return EXIT_SYSTEM;
    for (;;) {
        int number;

        poll(&signals, 1, -1);
        while ((number = signals_next(signal_fd)) != 0) {
            if (signals_ends_wait(number))
                return 0;
        }
        if (!private_server_is_running(server)) {
            message_error("the ZooKeeper server on port %d ended by itself", server->port);
            return EXIT_NO_SERVER;
        }
    }
}

static int run(const void *options)
{
    const struct server_options *own = options;
    struct private_server_options how = {
        .port = (int)own->port,
        .directory = own->directory,
        .tick_time_ms = (int)own->tick_time_ms,
    };
    struct private_server server;
    int status;

    if (!signals_open(&how.signal_fd)) {
        message_error("cannot receive signals");
        return EXIT_SYSTEM;
    }
    status = private_server_start(&how, &server);
    if (status)
        return status;
    status = serve(&server, how.signal_fd);
    private_server_stop(&server);
    return status;
}

int server_main(int argc, char **argv)
{
    static const struct subcommand subcommand = {help, read_options, NULL, run};
    struct server_options options;

    return subcommand_main(argc, argv, &subcommand, &options);
}
