/* zklock server: a private ZooKeeper in the foreground. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "message.h"
#include "options.h"
#include "private_server.h"
#include "signals.h"

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

static enum options_result read_options(int argc, char **argv, struct words *words,
                                        struct server_options *out_options)
{
    const struct option_rule rules[] = {
        {"port", 0, OPTION_INTEGER, &out_options->port, {1, 65535}, NULL},
        {"dir", 0, OPTION_TEXT, &out_options->directory, {0, 0}, NULL},
        {"tick-time", 0, OPTION_INTEGER, &out_options->tick_time_ms, {50, 30000}, NULL},
        {"quiet", 'q', OPTION_FLAG, &out_options->is_quiet, {0, 0}, NULL},
        {"help", 'h', OPTION_HELP, NULL, {0, 0}, NULL},
        {"version", 'V', OPTION_VERSION, NULL, {0, 0}, NULL},
        {NULL, 0, OPTION_FLAG, NULL, {0, 0}, NULL},
    };
    enum options_result result;

    *out_options = (struct server_options){.tick_time_ms = 500};
    result = options_read(argc, argv, rules, NULL, words);
    if (result == OPTIONS_READ && words->count > 0) {
        message_usage("server: '%s': there are no arguments beside options", words->items[0]);
        return OPTIONS_WRONG;
    }
    if (result == OPTIONS_READ && out_options->directory && out_options->directory[0] == '\0') {
        message_usage("server: option --dir: is empty; give a directory");
        return OPTIONS_WRONG;
    }
    message_set_level(out_options->is_quiet ? MESSAGE_QUIET : MESSAGE_NORMAL);
    return result;
}

/* Until somebody ends us, or the server ends itself. */
static int serve(struct private_server *server, int signal_fd)
{
    struct pollfd signals = {signal_fd, POLLIN, 0};

    printf("export ZKLOCK_SERVERS=127.0.0.1:%d\n", server->port);
    fflush(stdout);
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

static int run(const struct server_options *options)
{
    struct private_server_options how = {
        .port = (int)options->port,
        .directory = options->directory,
        .tick_time_ms = (int)options->tick_time_ms,
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
    struct words words = {calloc((size_t)argc + 1, sizeof(char *)), 0};
    struct server_options options;
    int status = EXIT_SYSTEM;

    if (!words.items)
        return EXIT_SYSTEM;
    switch (read_options(argc, argv, &words, &options)) {
    case OPTIONS_READ: status = run(&options); break;
    case OPTIONS_WANT_HELP: status = commands_print(help); break;
    case OPTIONS_WANT_VERSION: status = commands_print_version(); break;
    case OPTIONS_WRONG: status = EXIT_USAGE; break;
    }
    free(words.items);
    return status;
}
