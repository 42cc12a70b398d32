/* Names into addresses, addresses into sockets, and what each address says. No question leaves this machine. */
#include "support/suite.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/address.h"
#include "session/descriptors.h"
#include "session/probe.h"
#include "session/resolver.h"

/* An empty label can be in no DNS name, so that the resolver knows the answer without asking. */
#define IMPOSSIBLE_HOST "no..such"

static void expect_addresses(const char *hosts, const char *expected)
{
    char detail[256] = "left over";
    char *addresses = NULL;

    CU_ASSERT_EQUAL_FATAL(zkl_resolver_resolve(hosts, &addresses, detail, sizeof(detail)), ZKLOCK_OK);
    CU_ASSERT_STRING_EQUAL(addresses, expected);
    CU_ASSERT_STRING_EQUAL(detail, "");
    free(addresses);
}

static void numeric_hosts_stay_as_they_are(void)
{
    expect_addresses("127.0.0.1:2181", "127.0.0.1:2181");
    expect_addresses("10.0.0.2:1,10.0.0.1:2", "10.0.0.2:1,10.0.0.1:2");
    expect_addresses("[::1]:2181,[2001:db8::0001]:7", "[::1]:2181,[2001:db8::1]:7");
}

static void address_stands_once(void)
{
    expect_addresses("127.0.0.1:1,127.0.0.1:2,127.0.0.1:1,[::1]:1,[0::1]:1", "127.0.0.1:1,127.0.0.1:2,[::1]:1");
}

static void localhost_is_this_machine(void)
{
    char detail[256];
    char *addresses = NULL;

    CU_ASSERT_EQUAL_FATAL(zkl_resolver_resolve("localhost:7", &addresses, detail, sizeof(detail)), ZKLOCK_OK);
    CU_ASSERT_TRUE(strcmp(addresses, "127.0.0.1:7") == 0 || strcmp(addresses, "[::1]:7,127.0.0.1:7") == 0 ||
                   strcmp(addresses, "127.0.0.1:7,[::1]:7") == 0);
    free(addresses);
}

static void bad_name_among_good_ones_is_skipped_and_named(void)
{
    char detail[256] = "";
    char *addresses = NULL;

    CU_ASSERT_EQUAL_FATAL(
        zkl_resolver_resolve("127.0.0.1:1," IMPOSSIBLE_HOST ":2,127.0.0.1:3", &addresses, detail, sizeof(detail)),
        ZKLOCK_OK);
    CU_ASSERT_STRING_EQUAL(addresses, "127.0.0.1:1,127.0.0.1:3");
    CU_ASSERT_STRING_EQUAL(detail, "cannot resolve host " IMPOSSIBLE_HOST ": Name or service not known");
    free(addresses);
}

static void bad_names_alone_are_no_server(void)
{
    char detail[256] = "";
    char *addresses = NULL;

    CU_ASSERT_EQUAL(zkl_resolver_resolve(IMPOSSIBLE_HOST ":1,not..either:2", &addresses, detail, sizeof(detail)),
                    ZKLOCK_NO_SERVER);
    CU_ASSERT_PTR_NULL(addresses);
    CU_ASSERT_STRING_EQUAL(detail, "cannot resolve host " IMPOSSIBLE_HOST ": Name or service not known; "
                                   "cannot resolve host not..either: Name or service not known");
}

static void address_list_is_read_and_written_alike(void)
{
    static const char list[] = "10.1.2.3:65535,[fe80::1]:1,[::]:2";
    struct zkl_address addresses[4];
    char text[ZKL_ADDRESS_TEXT_SIZE];
    char joined[256] = "";

    CU_ASSERT_EQUAL_FATAL(zkl_address_parse(list, addresses, 4), 3);
    for (int i = 0; i < 3; i++) {
        zkl_address_format(&addresses[i], text);
        strcat(joined, i > 0 ? "," : "");
        strcat(joined, text);
    }
    CU_ASSERT_STRING_EQUAL(joined, list);
}

static void what_is_not_numeric_is_no_address(void)
{
    struct zkl_address addresses[2];

    CU_ASSERT_EQUAL(zkl_address_parse("localhost:1", addresses, 2), -1);
    CU_ASSERT_EQUAL(zkl_address_parse("127.0.0.1", addresses, 2), -1);
    CU_ASSERT_EQUAL(zkl_address_parse("127.0.0.1:x", addresses, 2), -1);
    CU_ASSERT_EQUAL(zkl_address_parse("127.0.0.1:1,127.0.0.1:2,127.0.0.1:3", addresses, 2), -1);
    CU_ASSERT_EQUAL(zkl_address_parse("", addresses, 2), 0);
}

static void addresses_differ_by_port_and_family(void)
{
    struct zkl_address addresses[4];

    CU_ASSERT_EQUAL_FATAL(zkl_address_parse("127.0.0.1:1,127.0.0.1:2,[::1]:1,[::1]:2", addresses, 4), 4);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++)
            CU_ASSERT_EQUAL(zkl_address_equal(&addresses[i], &addresses[j]), i == j);
    }
}

/* A socket bound to a free port of 127.0.0.1, listening or not. */
static int bind_socket(int backlog, struct sockaddr_in *out_address)
{
    socklen_t size = sizeof(*out_address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memset(out_address, 0, sizeof(*out_address));
    out_address->sin_family = AF_INET;
    out_address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)out_address, size), 0);
    CU_ASSERT_EQUAL_FATAL(getsockname(fd, (struct sockaddr *)out_address, &size), 0);
    if (backlog >= 0)
        CU_ASSERT_EQUAL_FATAL(listen(fd, backlog), 0);
    return fd;
}

static void probe_names_each_outcome(void)
{
    struct sockaddr_in refusing, accepting;
    int refuser = bind_socket(-1, &refusing);
    int accepter = bind_socket(4, &accepting);
    char addresses[128], expected[256], detail[256];

    snprintf(addresses, sizeof(addresses), "127.0.0.1:%d,127.0.0.1:%d", ntohs(refusing.sin_port),
             ntohs(accepting.sin_port));
    snprintf(expected, sizeof(expected),
             "127.0.0.1:%d: Connection refused; 127.0.0.1:%d: accepts connections but does not serve",
             ntohs(refusing.sin_port), ntohs(accepting.sin_port));
    zkl_probe_addresses(addresses, 10000, detail, sizeof(detail));
    CU_ASSERT_STRING_EQUAL(detail, expected);
    close(refuser);
    close(accepter);
}

/* A listener whose queue is full hears no further callers. */
static void probe_says_when_nobody_answers(void)
{
    struct sockaddr_in address;
    int listener = bind_socket(0, &address);
    int callers[4];
    char addresses[64], expected[128], detail[256];

    for (int i = 0; i < 4; i++) {
        callers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        connect(callers[i], (const struct sockaddr *)&address, sizeof(address));
    }
    snprintf(addresses, sizeof(addresses), "127.0.0.1:%d", ntohs(address.sin_port));
    snprintf(expected, sizeof(expected), "%s: no answer within 50 ms", addresses);
    zkl_probe_addresses(addresses, 50, detail, sizeof(detail));
    CU_ASSERT_STRING_EQUAL(detail, expected);
    for (int i = 0; i < 4; i++)
        close(callers[i]);
    close(listener);
}

/* Accepts one connection and resets it at once, as a server does that has too many. */
static void *reset_caller(void *listener)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    int fd = accept4(*(int *)listener, NULL, NULL, SOCK_CLOEXEC);

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd);
    return NULL;
}

/* Whether the reset comes before or after the probe looks at the connection is up to the scheduler: often enough. */
static void probe_tells_a_reset_connection_from_a_refused_one(void)
{
    struct sockaddr_in address;
    int listener = bind_socket(4, &address);
    char addresses[64], expected[256], detail[256];

    snprintf(addresses, sizeof(addresses), "127.0.0.1:%d", ntohs(address.sin_port));
    snprintf(expected, sizeof(expected),
             "%s: closes connections at once; too many from this host (maxClientCnxns)?", addresses);
    for (int i = 0; i < 200; i++) {
        pthread_t resetter;

        CU_ASSERT_EQUAL_FATAL(pthread_create(&resetter, NULL, reset_caller, &listener), 0);
        zkl_probe_addresses(addresses, 10000, detail, sizeof(detail));
        pthread_join(resetter, NULL);
        CU_ASSERT_STRING_EQUAL_FATAL(detail, expected);
    }
    close(listener);
}

static void probe_of_a_bad_list_says_nothing(void)
{
    char detail[64] = "left over";

    zkl_probe_addresses("localhost:1", 100, detail, sizeof(detail));
    CU_ASSERT_STRING_EQUAL(detail, "");
}

static void probe_leaves_no_descriptor(void)
{
    struct zkl_descriptors before, after;
    char detail[256];

    zkl_descriptors_list(&before);
    zkl_probe_addresses("127.0.0.1:1,127.0.0.1:2,[::1]:3", 1000, detail, sizeof(detail));
    zkl_descriptors_list(&after);
    CU_ASSERT_EQUAL(before.count, after.count);
    zkl_descriptors_clear(&before);
    zkl_descriptors_clear(&after);
}

static bool is_sealed(int fd)
{
    return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

static void make_pipe(int ends[2], int flags)
{
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, flags), 0);
}

static void close_pipe(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static void only_new_pipes_that_do_not_block_are_sealed(void)
{
    struct zkl_descriptors before;
    int old[2], new[2], blocking[2], half[2];

    make_pipe(old, O_NONBLOCK);
    zkl_descriptors_list(&before);
    make_pipe(new, O_NONBLOCK);
    make_pipe(blocking, 0);
    make_pipe(half, O_NONBLOCK);
    close(half[1]);
    zkl_descriptors_seal_new_pipes(&before);
    CU_ASSERT_TRUE(is_sealed(new[0]) && is_sealed(new[1]));
    CU_ASSERT_FALSE(is_sealed(old[0]) || is_sealed(old[1]));
    CU_ASSERT_FALSE(is_sealed(blocking[0]) || is_sealed(blocking[1]));
    CU_ASSERT_FALSE(is_sealed(half[0]));
    zkl_descriptors_clear(&before);
    close(half[0]);
    close_pipe(old);
    close_pipe(new);
    close_pipe(blocking);
}

static void pipes_are_left_alone_when_the_past_is_not_known(void)
{
    struct zkl_descriptors before = {.is_complete = false};
    int new[2];

    make_pipe(new, O_NONBLOCK);
    zkl_descriptors_seal_new_pipes(&before);
    CU_ASSERT_FALSE(is_sealed(new[0]) || is_sealed(new[1]));
    close_pipe(new);
}

static int connect_to(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    CU_ASSERT_EQUAL_FATAL(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
    return fd;
}

static void only_sockets_of_these_peers_are_sealed(void)
{
    struct sockaddr_in address, other_address;
    int listener = bind_socket(4, &address);
    int other_listener = bind_socket(4, &other_address);
    int mine = connect_to(&address);
    int other = connect_to(&other_address);
    struct zkl_address peer = {.size = sizeof(address)};

    memcpy(&peer.socket_address, &address, sizeof(address));
    zkl_descriptors_seal_sockets(&peer, 1);
    CU_ASSERT_TRUE(is_sealed(mine));
    CU_ASSERT_FALSE(is_sealed(other));
    close(mine);
    close(other);
    close(listener);
    close(other_listener);
}

static const struct suite_test tests[] = {
    SUITE_TEST(numeric_hosts_stay_as_they_are),
    SUITE_TEST(address_stands_once),
    SUITE_TEST(localhost_is_this_machine),
    SUITE_TEST(bad_name_among_good_ones_is_skipped_and_named),
    SUITE_TEST(bad_names_alone_are_no_server),
    SUITE_TEST(address_list_is_read_and_written_alike),
    SUITE_TEST(what_is_not_numeric_is_no_address),
    SUITE_TEST(addresses_differ_by_port_and_family),
    SUITE_TEST(probe_names_each_outcome),
    SUITE_TEST(probe_says_when_nobody_answers),
    SUITE_TEST(probe_tells_a_reset_connection_from_a_refused_one),
    SUITE_TEST(probe_of_a_bad_list_says_nothing),
    SUITE_TEST(probe_leaves_no_descriptor),
    SUITE_TEST(only_new_pipes_that_do_not_block_are_sealed),
    SUITE_TEST(pipes_are_left_alone_when_the_past_is_not_known),
    SUITE_TEST(only_sockets_of_these_peers_are_sealed),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "resolver", tests);
}
