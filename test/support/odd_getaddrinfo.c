/* The odd name service's getaddrinfo, in the place of the C library's: see odd_resolver.h. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_SIZE = 256, HANG_US = 10000 };

typedef int look_up(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **out_entries);

static int ask_system(const char *host, const char *service, const struct addrinfo *hints,
                      struct addrinfo **out_entries)
{
    look_up *next = NULL;
    void *found = dlsym(RTLD_NEXT, "getaddrinfo");

    memcpy(&next, &found, sizeof(next));
    return next ? next(host, service, hints, out_entries) : EAI_FAIL;
}

static bool is_numeric(const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* One short write in append mode is one line, whoever else writes. */
static void note_question(const char *file_path, const char *host)
{
    char path[4096], line[256];
    int length = snprintf(line, sizeof(line), "%s\n", host);
    int file;

    snprintf(path, sizeof(path), "%s.asked", file_path);
    file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || write(file, line, (size_t)length) != length)
        abort();
    close(file);
}

static bool find_answer(const char *file_path, const char *host, char out_answer[ANSWER_SIZE])
{
    char line[512], known[256];
    bool is_found = false;
    FILE *file = fopen(file_path, "re");

    while (file && !is_found && fgets(line, sizeof(line), file))
        is_found = sscanf(line, "%255s %255s", known, out_answer) == 2 && strcmp(known, host) == 0;
    if (file)
        fclose(file);
    return is_found;
}

/* Each address as the system reads it, one behind the other. */
static int list_addresses(char *answer, const char *service, const struct addrinfo *hints,
                          struct addrinfo **out_entries)
{
    struct addrinfo numeric = hints ? *hints : (struct addrinfo){0};
    struct addrinfo **end = out_entries;
    char *rest = answer;

    numeric.ai_flags |= AI_NUMERICHOST;
    *out_entries = NULL;
    for (char *address = strsep(&rest, ","); address; address = strsep(&rest, ",")) {
        int failure = ask_system(address, service, &numeric, end);

        if (failure)
            return failure;
        while (*end)
            end = &(*end)->ai_next;
    }
    return 0;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **out_entries)
{
    const char *file_path = getenv("ZKLOCK_TEST_NAMES");
    char answer[ANSWER_SIZE];

    if (!file_path || !host || is_numeric(host) || (hints && (hints->ai_flags & AI_NUMERICHOST)))
        return ask_system(host, service, hints, out_entries);
    note_question(file_path, host);
    for (;;) {
        if (!find_answer(file_path, host, answer))
            return EAI_NONAME;
        if (strcmp(answer, "fail") == 0)
            return EAI_AGAIN;
        if (strcmp(answer, "hang") != 0)
            return list_addresses(answer, service, hints, out_entries);
        usleep(HANG_US);
    }
}
