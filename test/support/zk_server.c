#include "support/zk_server.h"

#include "support/directory.h"
#include "support/eventually.h"
#include "support/four_letter.h"
#include "support/installation.h"
#include "support/suite.h"
#include "support/zk_server_internal.h"

#include <inttypes.h>
#include <signal.h>
#include <glob.h>
#include <stdio.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ANSWER_SIZE = 256 * 1024, ANSWER_PATIENCE_MS = 2000, START_ATTEMPTS = 5 };

static int or_default(int value, int fallback)
{
    return value ? value : fallback;
}

static FILE *create_file(const char *directory, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    file = fopen(path, "we");
    if (!file)
        suite_abandon("cannot write %s", path);
    return file;
}

/* Upstream's distribution brings logback or log4j, and without a set-up they log at DEBUG. */
static void write_log_setup(const char *directory)
{
    FILE *file = create_file(directory, "logback.xml");

    fputs("<configuration><appender name=\"out\" class=\"ch.qos.logback.core.ConsoleAppender\">"
          "<encoder><pattern>%d %-5p [%t] %m%n</pattern></encoder></appender>"
          "<root level=\"WARN\"><appender-ref ref=\"out\"/></root></configuration>\n", file);
    fclose(file);
    file = create_file(directory, "log4j.properties");
    fputs("log4j.rootLogger=WARN, OUT\nlog4j.appender.OUT=org.apache.log4j.ConsoleAppender\n"
          "log4j.appender.OUT.layout=org.apache.log4j.PatternLayout\n"
          "log4j.appender.OUT.layout.ConversionPattern=%d %-5p [%t] %m%n\n", file);
    fclose(file);
}

static void write_config(const struct zk_server *server, const struct zk_server_options *options,
                         const char *more_config)
{
    int tick_time_ms = or_default(options->tick_time_ms, 500);
    FILE *file = create_file(server->directory, "zoo.cfg");

    fprintf(file, "tickTime=%d\ndataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\n", tick_time_ms,
            server->data_directory, server->port.number);
    fprintf(file, "minSessionTimeout=%d\nmaxSessionTimeout=%d\n",
            or_default(options->min_session_timeout_ms, 2 * tick_time_ms),
            or_default(options->max_session_timeout_ms, 60000));
    fputs("admin.enableServer=false\n4lw.commands.whitelist=*\n", file);
    if (options->max_client_connections)
        fprintf(file, "maxClientCnxns=%d\n",
                options->max_client_connections < 0 ? 0 : options->max_client_connections);
    fprintf(file, "%s\n%s\n", more_config ? more_config : "",
            options->extra_config ? options->extra_config : "");
    fclose(file);
}

struct zk_server *server_prepare(const struct zk_server_options *options, const char *more_config)
{
    struct zk_server *server = calloc(1, sizeof(*server));

    if (!server)
        suite_abandon("out of memory");
    server->jvm.pid_fd = -1;
    server->port = port_reserve();
    snprintf(server->address, sizeof(server->address), "127.0.0.1:%d", server->port.number);
    server->directory = directory_make("zklock-server");
    if (!server->directory || asprintf(&server->config_file, "%s/zoo.cfg", server->directory) < 0
        || asprintf(&server->data_directory, "%s/data", server->directory) < 0
        || mkdir(server->data_directory, 0700) != 0)
        suite_abandon("cannot make a directory for a ZooKeeper server");
    server->jvm_flags = options->jvm_flags ? strdup(options->jvm_flags) : NULL;
    write_log_setup(server->directory);
    write_config(server, options, more_config);
    return server;
}

_Noreturn void server_give_up(struct zk_server *server, const char *complaint)
{
    char line[1024] = "";
    char path[4096];
    FILE *log;

    snprintf(path, sizeof(path), "%s/server.log", server->directory);
    log = fopen(path, "re");
    printf("\nlog of the ZooKeeper server at %s:\n", server->address);
    while (log && fgets(line, sizeof(line), log))
        fputs(line, stdout);
    suite_abandon("the ZooKeeper server at %s %s", server->address, complaint);
}

/*
 * A server that is ended just as it begins a log leaves a file without its header, and does not start on it any more:
 * an EOFException of FileHeader. Nothing was written to such a file yet.
 */
static void remove_logs_without_a_header(const struct zk_server *server)
{
    enum { HEADER_SIZE = 16 };
    struct stat status;
    char pattern[4096];
    glob_t logs;

    snprintf(pattern, sizeof(pattern), "%s/version-2/log.*", server->data_directory);
    if (glob(pattern, 0, NULL, &logs) != 0)
        return;
    for (size_t i = 0; i < logs.gl_pathc; i++) {
        if (stat(logs.gl_pathv[i], &status) == 0 && status.st_size < HEADER_SIZE)
            unlink(logs.gl_pathv[i]);
    }
    globfree(&logs);
}

void server_launch(struct zk_server *server)
{
    remove_logs_without_a_header(server);
    if (!jvm_start(&server->jvm, server->directory, server->config_file, server->jvm_flags))
        suite_abandon("cannot start a Java process for ZooKeeper");
}

/* Somebody else may have the port: only a server that works in our directory counts. */
bool server_is_serving(struct zk_server *server)
{
    char answer[4096];

    return four_letter_ask(server->port.number, "srvr", ANSWER_PATIENCE_MS, answer, sizeof(answer))
           && strstr(answer, "Mode:")
           && four_letter_ask(server->port.number, "conf", ANSWER_PATIENCE_MS, answer, sizeof(answer))
           && strstr(answer, server->directory);
}

static bool has_started_or_ended(void *context)
{
    struct zk_server *server = context;

    return !jvm_is_running(&server->jvm) || server_is_serving(server);
}

bool server_wait_serving(struct zk_server *server, int timeout_ms)
{
    return eventually(has_started_or_ended, server, timeout_ms) && jvm_is_running(&server->jvm);
}

struct zk_server *zk_server_start(const struct zk_server_options *options)
{
    static const struct zk_server_options defaults;
    const char *missing = installation_missing();

    if (missing)
        suite_skip(missing);
    for (int attempt = 1;; attempt++) {
        struct zk_server *server = server_prepare(options ? options : &defaults, NULL);

        server_launch(server);
        if (server_wait_serving(server, SERVER_PATIENCE_MS))
            return server;
        /* The port may have been taken by a program that does not keep our register. */
        if (attempt == START_ATTEMPTS)
            server_give_up(server, "does not start");
        zk_server_free(server);
    }
}

void zk_server_free(struct zk_server *server)
{
    if (!server)
        return;
    jvm_kill(&server->jvm);
    directory_remove(server->directory);
    port_release(&server->port);
    free(server->directory);
    free(server->data_directory);
    free(server->config_file);
    free(server->jvm_flags);
    free(server);
}

int zk_server_port(const struct zk_server *server)
{
    return server->port.number;
}

const char *zk_server_address(const struct zk_server *server)
{
    return server->address;
}

const char *zk_server_directory(const struct zk_server *server)
{
    return server->directory;
}

const char *zk_server_data_directory(const struct zk_server *server)
{
    return server->data_directory;
}

pid_t zk_server_pid(const struct zk_server *server)
{
    return server->jvm.pid;
}

void zk_server_stop(struct zk_server *server)
{
    jvm_stop(&server->jvm);
}

void zk_server_kill(struct zk_server *server)
{
    jvm_kill(&server->jvm);
}

void zk_server_begin(struct zk_server *server)
{
    if (!jvm_is_running(&server->jvm))
        server_launch(server);
}

void zk_server_restart(struct zk_server *server)
{
    jvm_stop(&server->jvm);
    zk_server_begin(server);
    if (!server_wait_serving(server, SERVER_PATIENCE_MS))
        server_give_up(server, "does not start again");
}

void zk_server_pause(struct zk_server *server)
{
    jvm_pause(&server->jvm);
}

void zk_server_resume(struct zk_server *server)
{
    jvm_signal(&server->jvm, SIGCONT);
}

bool zk_server_4lw(const struct zk_server *server, const char *word, char *out_text, size_t size)
{
    return four_letter_ask(server->port.number, word, ANSWER_PATIENCE_MS, out_text, size);
}

int zk_server_watch_count(const struct zk_server *server)
{
    static const char label[] = "Total watches:";
    char answer[4096];
    const char *line;

    if (!zk_server_4lw(server, "wchs", answer, sizeof(answer)))
        return -1;
    line = strstr(answer, label);
    return line ? atoi(line + sizeof(label) - 1) : -1;
}

struct watch_wish {
    const struct zk_server *server;
    int count;
};

static bool has_watch_count(void *context)
{
    struct watch_wish *wish = context;

    return zk_server_watch_count(wish->server) == wish->count;
}

bool zk_server_wait_watch_count(const struct zk_server *server, int count, int timeout_ms)
{
    struct watch_wish wish = {server, count};

    return eventually(has_watch_count, &wish, timeout_ms);
}

/* A "cons" line: " /127.0.0.1:1234[1](queued=0,recved=7,sent=7,sid=0x10000abc0000,lop=PING,...)". */
static long received_in_line(const char *line, int64_t session_id)
{
    char wanted[32];
    const char *received = strstr(line, "recved=");

    snprintf(wanted, sizeof(wanted), ",sid=0x%" PRIx64 ",", (uint64_t)session_id);
    if (!received || !strstr(line, wanted))
        return -1;
    return atol(received + strlen("recved="));
}

long zk_server_received(const struct zk_server *server, int64_t session_id)
{
    char *answer = malloc(ANSWER_SIZE);
    char *rest = answer;
    long received = -1;

    if (answer && zk_server_4lw(server, "cons", answer, ANSWER_SIZE)) {
        for (char *line = strsep(&rest, "\n"); line && received < 0; line = strsep(&rest, "\n"))
            received = received_in_line(line, session_id);
    }
    free(answer);
    return received;
}

bool zk_server_has_session(const struct zk_server *server, int64_t session_id)
{
    char *answer = malloc(ANSWER_SIZE);
    char wanted[32];
    bool is_listed = false;

    snprintf(wanted, sizeof(wanted), "0x%" PRIx64, (uint64_t)session_id);
    if (answer && zk_server_4lw(server, "dump", answer, ANSWER_SIZE)) {
        /* The second part of the answer lists sessions that own nodes; the first has them all. */
        char *owners = strstr(answer, "Sessions with Ephemerals");

        if (owners)
            *owners = '\0';
        is_listed = strstr(answer, wanted) != NULL;
    }
    free(answer);
    return is_listed;
}
