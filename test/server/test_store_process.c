/* The store on libzookeeper: which addresses it calls, and what it costs the process. */
#include "server/store_scene.h"
#include "support/suite.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* A port of 127.0.0.1 where nobody listens, kept from others by a bound socket. */
static int hold_port(int backlog, int family, int *out_port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    void *address = family == AF_INET ? (void *)&four : (void *)&six;
    socklen_t size = family == AF_INET ? sizeof(four) : sizeof(six);
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, address, size) != 0)
        return -1;
    CU_ASSERT_EQUAL_FATAL(getsockname(fd, address, &size), 0);
    if (backlog > 0)
        CU_ASSERT_EQUAL_FATAL(listen(fd, backlog), 0);
    *out_port = ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
    return fd;
}

static bool is_called(int listener, int timeout_ms)
{
    struct pollfd polled = {.fd = listener, .events = POLLIN};

    return poll(&polled, 1, timeout_ms) == 1;
}

static void live_server_is_found_again_among_dead_ones(void)
{
    static const char *const lists[] = {"%2$s", "127.0.0.1:%1$d,%2$s", "%2$s,127.0.0.1:%1$d",
                                        "127.0.0.1:%1$d,%2$s,127.0.0.2:%1$d",
                                        "127.0.0.1:%1$d,127.0.0.2:%1$d,%2$s,127.0.0.3:%1$d"};
    int dead_port, dead = hold_port(0, AF_INET, &dead_port);

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        char addresses[160];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(addresses, sizeof(addresses), lists[i], dead_port, zk_server_address(scene.server));
#pragma GCC diagnostic pop
        scene_open(addresses, SCENE_TIMEOUT_MS);
        scene_await_connected(1);
        for (int cut = 1; cut <= 3; cut++) {
            scene_cut();
            scene_await_connected(cut + 1);
        }
        scene_close();
    }
    close(dead);
}

static void first_address_is_tried_first(void)
{
    int first_port, second_port;
    int first = hold_port(32, AF_INET, &first_port);
    int second = hold_port(32, AF_INET, &second_port);
    char addresses[64];

    /* A listener that never answers keeps its caller for two thirds of the timeout. */
    snprintf(addresses, sizeof(addresses), "127.0.0.1:%d,127.0.0.1:%d", first_port, second_port);
    for (int i = 0; i < 10; i++) {
        scene_open(addresses, SCENE_TIMEOUT_MS);
        CU_ASSERT_TRUE(is_called(first, SCENE_LIMIT_MS));
        CU_ASSERT_FALSE(is_called(second, 0));
        scene_close();
        close(accept(first, NULL, NULL));
    }
    close(first);
    close(second);
}

static void ipv6_address_is_called(void)
{
    char addresses[64];
    int port, listener = hold_port(8, AF_INET6, &port);

    if (listener < 0)
        suite_skip("no IPv6 loopback address here");
    snprintf(addresses, sizeof(addresses), "[::1]:%d", port);
    scene_open(addresses, SCENE_TIMEOUT_MS);
    CU_ASSERT_TRUE(is_called(listener, SCENE_LIMIT_MS));
    scene_close();
    close(listener);
}

static void bad_addresses_are_refused(void)
{
    static const struct zkl_store_sink sink;
    struct zkl_store_options options = {.timeout_ms = SCENE_TIMEOUT_MS, .sink = &sink};
    const char *const bad[] = {"", "localhost:1", "127.0.0.1", "127.0.0.1:1/chroot"};
    struct zkl_store *store = NULL;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        options.addresses = bad[i];
        CU_ASSERT_EQUAL(scene.driver->open(scene.driver, &options, &store), ZKLOCK_BAD_ARGUMENT);
    }
    CU_ASSERT_PTR_NULL(store);
}

/* ---- what a store costs the process */

static int count_entries(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;

    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void closed_store_leaves_no_descriptor_and_no_thread(void)
{
    int descriptors = count_entries("/proc/self/fd");
    int threads = count_entries("/proc/self/task");

    for (int i = 0; i < 20; i++) {
        scene_open(zk_server_address(scene.server), SCENE_TIMEOUT_MS);
        if (i % 2 == 0)
            scene_await_connected(1);
        scene_close();
    }
    CU_ASSERT_EQUAL(count_entries("/proc/self/fd"), descriptors);
    CU_ASSERT_EQUAL(count_entries("/proc/self/task"), threads);
}

static void store_without_descriptors_is_refused(void)
{
    static const struct zkl_store_sink sink;
    const struct zkl_store_options options = {
        .addresses = zk_server_address(scene.server), .timeout_ms = SCENE_TIMEOUT_MS, .sink = &sink};
    struct zkl_store *store = NULL;
    struct rlimit usual, none;

    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = (struct rlimit){.rlim_cur = 3, .rlim_max = usual.rlim_max};
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    CU_ASSERT_EQUAL(scene.driver->open(scene.driver, &options, &store), ZKLOCK_SYSTEM);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &usual), 0);
    CU_ASSERT_PTR_NULL(store);
}

/* The numbers of the descriptors that a started program gets. */
static void list_inherited(char *out_list, size_t size)
{
    FILE *program = popen("ls -l /proc/self/fd | grep -oE '[0-9]+ -> (socket|pipe):.*'", "r");
    size_t length;

    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    length = fread(out_list, 1, size - 1, program);
    out_list[length] = '\0';
    pclose(program);
}

static int count_lines(const char *text)
{
    int count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void started_program_inherits_nothing_of_a_store(void)
{
    char before[4096], after[4096];

    scene_drop_observer();
    list_inherited(before, sizeof(before));
    scene_open(zk_server_address(scene.server), SCENE_TIMEOUT_MS);
    scene_await_connected(1);
    for (int cut = 1; cut <= 3; cut++) {
        list_inherited(after, sizeof(after));
        CU_ASSERT_EQUAL(count_lines(after), count_lines(before));
        scene_cut();
        scene_await_connected(cut + 1);
    }
}

/* Whether all threads but the caller's have blocked SIGTERM and the like. */
static bool are_signals_blocked_elsewhere(void)
{
    DIR *directory = opendir("/proc/self/task");
    struct dirent *entry;
    bool are_blocked = true;

    while ((entry = readdir(directory))) {
        char path[300], line[256];
        FILE *status;

        if (entry->d_name[0] == '.' || atoi(entry->d_name) == gettid())
            continue;
        snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
        status = fopen(path, "r");
        while (status && fgets(line, sizeof(line), status)) {
            uint64_t mask;

            if (sscanf(line, "SigBlk: %" SCNx64, &mask) == 1 && !(mask & UINT64_C(1) << (SIGTERM - 1)))
                are_blocked = false;
        }
        if (status)
            fclose(status);
    }
    closedir(directory);
    return are_blocked;
}

static void signals_are_blocked_in_the_threads_of_a_store(void)
{
    sigset_t own;

    scene_drop_observer();
    scene_open(zk_server_address(scene.server), SCENE_TIMEOUT_MS);
    scene_await_connected(1);
    CU_ASSERT_TRUE(are_signals_blocked_elsewhere());
    pthread_sigmask(SIG_BLOCK, NULL, &own);
    CU_ASSERT_FALSE(sigismember(&own, SIGTERM));
}

#define STARTED(function) SUITE_TEST_WITH(function, scene_start, scene_end)

static const struct suite_test tests[] = {
    STARTED(live_server_is_found_again_among_dead_ones),
    STARTED(first_address_is_tried_first),
    STARTED(ipv6_address_is_called),
    STARTED(bad_addresses_are_refused),
    STARTED(closed_store_leaves_no_descriptor_and_no_thread),
    STARTED(store_without_descriptors_is_refused),
    STARTED(started_program_inherits_nothing_of_a_store),
    STARTED(signals_are_blocked_in_the_threads_of_a_store),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "store in its process", tests);
}
