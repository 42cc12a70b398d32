#include "support/odd_resolver.h"

#include "support/directory.h"
#include "support/eventually.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HOSTS = 16, ANSWER_SIZE = 256 };

static struct {
    char host[64];
    char answer[ANSWER_SIZE];
} hosts[MOST_HOSTS];
static int host_count;
static char *directory;
static char *file_path;
static char *place;

/* A new file in place of the old one, so that whoever reads sees one of them whole. */
static void write_answers(void)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s.new", file_path);
    file = fopen(path, "we");
    if (!file)
        suite_abandon("cannot write %s", path);
    for (int i = 0; i < host_count; i++)
        fprintf(file, "%s %s\n", hosts[i].host, hosts[i].answer);
    if (fclose(file) != 0 || rename(path, file_path) != 0)
        suite_abandon("cannot write %s", file_path);
}

void odd_resolver_start(void)
{
    host_count = 0;
    directory = directory_make("zklock-names");
    if (!directory || asprintf(&file_path, "%s/names", directory) < 0
        || asprintf(&place, "ZKLOCK_TEST_NAMES=%s", file_path) < 0)
        suite_abandon("cannot make a directory for the odd name service");
    write_answers();
    setenv("ZKLOCK_TEST_NAMES", file_path, 1);
}

void odd_resolver_end(void)
{
    unsetenv("ZKLOCK_TEST_NAMES");
    if (directory)
        directory_remove(directory);
    free(directory);
    free(file_path);
    free(place);
    directory = file_path = place = NULL;
}

void odd_resolver_say(const char *host, const char *answer)
{
    int at = 0;

    while (at < host_count && strcmp(hosts[at].host, host) != 0)
        at++;
    if (at == MOST_HOSTS)
        suite_abandon("too many hosts for the odd name service");
    snprintf(hosts[at].host, sizeof(hosts[at].host), "%s", host);
    snprintf(hosts[at].answer, sizeof(hosts[at].answer), "%s", answer);
    host_count += at == host_count;
    write_answers();
}

const char *odd_resolver_preload(void)
{
    return "LD_PRELOAD=" ZKLOCK_ODD_RESOLVER;
}

const char *odd_resolver_place(void)
{
    return place;
}

int odd_resolver_questions(const char *host)
{
    char path[4096], line[256];
    int count = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s.asked", file_path);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        count += strcmp(line, host) == 0;
    }
    if (file)
        fclose(file);
    return count;
}

struct awaited_questions {
    const char *host;
    int count;
};

static bool has_questions(void *context)
{
    const struct awaited_questions *awaited = context;

    return odd_resolver_questions(awaited->host) >= awaited->count;
}

bool odd_resolver_wait_questions(const char *host, int count, int timeout_ms)
{
    struct awaited_questions awaited = {host, count};

    return eventually(has_questions, &awaited, timeout_ms);
}
