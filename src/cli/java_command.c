#include "java_command.h"

#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"

#define DEBIAN_HOME "/usr/share/zookeeper"
#define DEBIAN_JAR "/usr/share/java/zookeeper.jar"
/* Debian's jar names no back end for its log, without which every message is dropped. */
#define DEBIAN_CLASSES DEBIAN_JAR ":/usr/share/java/slf4j-simple.jar"

static bool has_match(const char *home, const char *pattern)
{
    char path[4096];
    glob_t found;
    bool is_found;

    snprintf(path, sizeof(path), "%s%s", home, pattern);
    is_found = glob(path, 0, NULL, &found) == 0;
    if (is_found)
        globfree(&found);
    return is_found;
}

/* NULL, with a message, when there is none. The caller frees it. */
static char *find_classes(void)
{
    const char *home = getenv("ZOOKEEPER_HOME");
    char *classes = NULL;

    if (home && home[0] && has_match(home, "/lib/zookeeper-*.jar"))
        return asprintf(&classes, "%s/lib/*", home) >= 0 ? classes : NULL;
    if (home && home[0] && strcmp(home, DEBIAN_HOME) != 0) {
        message_error("ZOOKEEPER_HOME is %s, but there is no lib/zookeeper-*.jar below it", home);
        return NULL;
    }
    if (access(DEBIAN_JAR, R_OK) == 0)
        return strdup(DEBIAN_CLASSES);
    message_error(
        "no ZooKeeper server here: install Debian's package zookeeper, or set ZOOKEEPER_HOME to the "
        "directory of an unpacked release");
    return NULL;
}

static bool is_on_path(const char *program)
{
    const char *path = getenv("PATH");
    char *copy = strdup(path ? path : "/usr/bin:/bin");
    char *rest = copy;
    bool is_found = false;

    for (char *directory = strsep(&rest, ":"); directory && !is_found; directory = strsep(&rest, ":")) {
        char candidate[4096];

        snprintf(candidate, sizeof(candidate), "%s/%s", directory, program);
        is_found = access(candidate, X_OK) == 0;
    }
    free(copy);
    return is_found;
}

static char *find_java(void)
{
    const char *home = getenv("JAVA_HOME");
    char *java = NULL;

    if (home && home[0] && asprintf(&java, "%s/bin/java", home) >= 0) {
        if (access(java, X_OK) == 0)
            return java;
        free(java);
    }
    if (is_on_path("java"))
        return strdup("java");
    message_error("no java on the PATH or below JAVA_HOME: install Debian's package default-jre-headless");
    return NULL;
}

__attribute__((format(printf, 2, 3)))
static void add(struct java_command *command, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (command->count < JAVA_COMMAND_WORDS &&
        vasprintf(&command->words[command->count], format, arguments) >= 0)
        command->count++;
    va_end(arguments);
    command->words[command->count] = NULL;
}

/* A server that lives for minutes wants a quick start and little memory. */
static void compose(struct java_command *command, const char *java, const char *classes,
                    const char *directory)
{
    static const char *const flags[] = {
        "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.jmx.log4j.disable=true",
        "-Dzookeeper.admin.enableServer=false", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    };

    add(command, "%s", java);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        add(command, "%s", flags[i]);
    add(command, "-Dzookeeper.log.dir=%s", directory);
    add(command, "-cp");
    /* The directory comes first: it holds the logging set-up that a release's own back ends look for. */
    add(command, "%s:%s", directory, classes);
    add(command, "org.apache.zookeeper.server.quorum.QuorumPeerMain");
    add(command, "%s/zoo.cfg", directory);
}

bool java_command_init(struct java_command *command, const char *directory)
{
    char *classes = find_classes();
    char *java = classes ? find_java() : NULL;

    *command = (struct java_command){.count = 0};
    if (java)
        compose(command, java, classes, directory);
    free(classes);
    free(java);
    return command->count > 0;
}

void java_command_clear(struct java_command *command)
{
    for (int i = 0; i < command->count; i++)
        free(command->words[i]);
    command->count = 0;
}
