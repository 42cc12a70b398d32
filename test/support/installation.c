#include "support/installation.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEBIAN_JAR "/usr/share/java/zookeeper.jar"
/* Without a back end slf4j drops every message; Debian's jar names none. */
#define DEBIAN_CLASS_PATH DEBIAN_JAR ":/usr/share/java/slf4j-simple.jar"

static bool has_match(const char *pattern)
{
    glob_t found;
    bool is_found = glob(pattern, 0, NULL, &found) == 0;

    if (is_found)
        globfree(&found);
    return is_found;
}

static bool is_upstream_home(const char *home)
{
    char pattern[1024];

    snprintf(pattern, sizeof(pattern), "%s/lib/zookeeper-*.jar", home);
    return has_match(pattern);
}

char *installation_class_path(void)
{
    const char *home = getenv("ZOOKEEPER_HOME");
    char *class_path = NULL;

    if (home && is_upstream_home(home)) {
        if (asprintf(&class_path, "%s/lib/*", home) < 0)
            return NULL;
        return class_path;
    }
    if (home && strcmp(home, "/usr/share/zookeeper") != 0 && home[0] != '\0')
        return NULL;
    return access(DEBIAN_JAR, R_OK) == 0 ? strdup(DEBIAN_CLASS_PATH) : NULL;
}

static bool is_on_path(const char *program)
{
    char *path = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    char *rest = path;
    bool is_found = false;

    for (char *directory = strsep(&rest, ":"); directory && !is_found; directory = strsep(&rest, ":")) {
        char candidate[4096];

        snprintf(candidate, sizeof(candidate), "%s/%s", directory, program);
        is_found = access(candidate, X_OK) == 0;
    }
    free(path);
    return is_found;
}

char *installation_java(void)
{
    const char *home = getenv("JAVA_HOME");
    char *java = NULL;

    if (home && asprintf(&java, "%s/bin/java", home) >= 0) {
        if (access(java, X_OK) == 0)
            return java;
        free(java);
    }
    return is_on_path("java") ? strdup("java") : NULL;
}

const char *installation_missing(void)
{
    char *class_path = installation_class_path();
    char *java = installation_java();
    const char *reason = NULL;

    if (!class_path && getenv("ZOOKEEPER_HOME"))
        reason = "no lib/zookeeper-*.jar below ZOOKEEPER_HOME";
    else if (!class_path)
        reason = "no ZooKeeper server here (Debian: package zookeeper, or set ZOOKEEPER_HOME)";
    else if (!java)
        reason = "no java on the PATH or below JAVA_HOME, which the ZooKeeper server needs";
    free(class_path);
    free(java);
    return reason;
}
