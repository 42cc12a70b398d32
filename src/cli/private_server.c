#include "private_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "java_command.h"
#include "message.h"
#include "options.h"
#include "signals.h"

enum {
    START_LIMIT_MS = 60000,
    LOOK_EVERY_MS = 50,
    ANSWER_LIMIT_MS = 1000,
    STOP_LIMIT_MS = 5000,
    STARTS_ON_FREE_PORTS = 3, /* somebody may take the port between our choice and the server's bind */
};

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* 0 when the system has none. */
static int find_free_port(void)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int port = 0;

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0)
        port = ntohs(address.sin_port);
    if (fd >= 0)
        close(fd);
    return port;
}

static bool write_file(const char *directory, const char *name, const char *text)
{
    char path[4096];
    FILE *file;
    bool is_written;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    file = fopen(path, "we");
    if (!file)
        return false;
    is_written = fputs(text, file) >= 0;
    return fclose(file) == 0 && is_written;
}

/* Releases of ZooKeeper log at DEBUG unless told otherwise. */
static bool write_set_up(const struct private_server *server, int tick_time_ms)
{
    char config[4096 + 512];

    snprintf(config, sizeof(config),
             "tickTime=%d\nminSessionTimeout=%d\nmaxSessionTimeout=60000\ndataDir=%s/data\nclientPort=%d\n"
             "clientPortAddress=127.0.0.1\nmaxClientCnxns=0\nadmin.enableServer=false\n"
             "4lw.commands.whitelist=srvr,conf,dump\n",
             tick_time_ms, 2 * tick_time_ms, server->directory, server->port);
    return write_file(server->directory, "zoo.cfg", config) &&
           write_file(server->directory, "logback.xml",
                      "<configuration><appender name=\"out\" class=\"ch.qos.logback.core.ConsoleAppender\">"
                      "<encoder><pattern>%d %-5p %m%n</pattern></encoder></appender>"
                      "<root level=\"WARN\"><appender-ref ref=\"out\"/></root></configuration>\n") &&
           write_file(server->directory, "log4j.properties",
                      "log4j.rootLogger=WARN, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n"
                      "log4j.appender.out.layout=org.apache.log4j.PatternLayout\n"
                      "log4j.appender.out.layout.ConversionPattern=%d %-5p %m%n\n");
}

static bool make_directory(const char *wanted, struct private_server *server)
{
    const char *parent = getenv("TMPDIR");

    server->is_temporary = wanted == NULL;
    if (wanted) {
        mkdir(wanted, 0700);
        server->directory = realpath(wanted, NULL);
        return server->directory && access(server->directory, W_OK | X_OK) == 0;
    }
    if (asprintf(&server->directory, "%s/zklock-private-XXXXXX", parent && parent[0] ? parent : "/tmp") < 0)
        server->directory = NULL;
    return server->directory && mkdtemp(server->directory) != NULL;
}

/* One question in four letters. Also false when the answer does not contain `expected`. */
static bool answers(int port, const char *question, const char *expected)
{
    struct sockaddr_in address = loopback(port);
    struct timeval limit = {ANSWER_LIMIT_MS / 1000, ANSWER_LIMIT_MS % 1000 * 1000L};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char answer[8192];
    size_t used = 0;
    ssize_t length = 1;

    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        send(fd, question, strlen(question), MSG_NOSIGNAL) > 0) {
        while (length > 0 && used < sizeof(answer) - 1) {
            length = recv(fd, answer + used, sizeof(answer) - 1 - used, 0);
            used += length > 0 ? (size_t)length : 0;
        }
    }
    close(fd);
    answer[used] = '\0';
    return strstr(answer, expected) != NULL;
}

/* Somebody else may have the port: only a server that works in our directory counts. */
static bool is_serving(const struct private_server *server)
{
    return answers(server->port, "srvr", "Mode:") && answers(server->port, "conf", server->directory);
}

bool private_server_is_running(struct private_server *server)
{
    if (server->child.pid > 0 && waitpid(server->child.pid, NULL, WNOHANG) != 0)
        server->child.pid = -1;
    return server->child.pid > 0;
}

/* Says why it ended: the last line of its log that tells of an error, or the last one. */
static void tell_end(struct private_server *server)
{
    char path[4096];
    char line[512];
    char last[512] = "it left no word";
    FILE *log;
    int error = child_exec_error(&server->child);

    if (error) {
        message_error("cannot execute java: %s", strerror(error));
        return;
    }
    snprintf(path, sizeof(path), "%s/server.log", server->directory);
    log = fopen(path, "re");
    while (log && fgets(line, sizeof(line), log)) {
        line[strcspn(line, "\n")] = '\0';
        if (strstr(line, "Exception") || strstr(line, "rror"))
            strcpy(last, line);
    }
    if (log)
        fclose(log);
    message_error("the ZooKeeper server on port %d ended at its start: %s", server->port, last);
}

/* Returns 0 when it serves, -1 when it ended, else an exit status. */
static int await_serving(struct private_server *server, int signal_fd)
{
    int64_t deadline_ms = clock_boottime_ms() + START_LIMIT_MS;
    struct pollfd signals = {signal_fd, POLLIN, 0};

    while (clock_boottime_ms() < deadline_ms) {
        int number;

        while ((number = signals_next(signal_fd)) != 0) {
            if (signals_ends_wait(number))
                return 128 + number;
        }
        if (!private_server_is_running(server))
            return -1;
        if (is_serving(server))
            return 0;
        poll(&signals, 1, LOOK_EVERY_MS);
    }
    message_error("the ZooKeeper server did not serve within %d s", START_LIMIT_MS / 1000);
    return EXIT_NO_SERVER;
}

static int launch(struct private_server *server)
{
    struct java_command command;
    struct child_plan plan = {.environment = environ, .terminal_fd = -1};
    char path[4096];
    int error;

    if (!java_command_init(&command, server->directory))
        return EXIT_NO_SERVER;
    snprintf(path, sizeof(path), "%s/server.log", server->directory);
    plan.argv = command.words;
    plan.output_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    error = plan.output_fd < 0 ? errno : child_start(&plan, &server->child);
    if (plan.output_fd >= 0)
        close(plan.output_fd);
    java_command_clear(&command);
    if (error == 0)
        return 0;
    message_error("cannot start the ZooKeeper server: %s", strerror(error));
    return EXIT_SYSTEM;
}

static int start_once(const struct private_server_options *options, struct private_server *server)
{
    int status;

    server->port = options->port ? options->port : find_free_port();
    if (!write_set_up(server, options->tick_time_ms)) {
        message_error("cannot write into %s: %s", server->directory, strerror(errno));
        return EXIT_SYSTEM;
    }
    status = launch(server);
    return status ? status : await_serving(server, options->signal_fd);
}

int private_server_start(const struct private_server_options *options, struct private_server *out_server)
{
    struct private_server server = {.child = {-1, -1}};
    int attempts = options->port ? 1 : STARTS_ON_FREE_PORTS;
    int status = EXIT_SYSTEM;

    if (!make_directory(options->directory, &server))
        message_error("cannot make the directory %s: %s",
                      options->directory ? options->directory : "for the server", strerror(errno));
    else
        status = start_once(options, &server);
    while (status == -1 && --attempts > 0)
        status = start_once(options, &server);
    if (status == -1) {
        tell_end(&server);
        status = EXIT_NO_SERVER;
    }
    if (status)
        private_server_stop(&server);
    else
        *out_server = server;
    return status;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

void private_server_stop(struct private_server *server)
{
    int64_t deadline_ms = clock_boottime_ms() + STOP_LIMIT_MS;

    if (private_server_is_running(server))
        kill(server->child.pid, SIGTERM);
    while (private_server_is_running(server) && clock_boottime_ms() < deadline_ms)
        poll(NULL, 0, LOOK_EVERY_MS);
    if (server->child.pid > 0) {
        kill(server->child.pid, SIGKILL);
        waitpid(server->child.pid, NULL, 0);
        server->child.pid = -1;
    }
    child_exec_error(&server->child);
    if (server->is_temporary && server->directory)
        nftw(server->directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(server->directory);
    server->directory = NULL;
}
