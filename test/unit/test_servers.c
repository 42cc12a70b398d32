/* Server lists and paths, taken apart and refused. */
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/servers.h"
#include "zklock.h"

static void expect_servers(const char *text, const char *hosts, const char *chroot)
{
    struct zkl_servers servers;
    char detail[256] = "untouched";

    CU_ASSERT_EQUAL_FATAL(zkl_servers_parse(text, &servers, detail, sizeof(detail)), ZKLOCK_OK);
    CU_ASSERT_STRING_EQUAL(servers.hosts, hosts);
    CU_ASSERT_STRING_EQUAL(servers.chroot, chroot);
    CU_ASSERT_STRING_EQUAL(detail, "untouched");
    zkl_servers_clear(&servers);
    CU_ASSERT_PTR_NULL(servers.hosts);
}

/* The complaint is compared up to the end of what is expected, so that the hint after it may be left out. */
static void expect_complaint(zklock_status status, const char *text, const char *complaint, const char *expected)
{
    CU_ASSERT_EQUAL(status, ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(strncmp(complaint, expected, strlen(expected)), 0);
    if (strncmp(complaint, expected, strlen(expected)) != 0)
        printf("\n    \"%s\": got \"%s\", expected \"%s\"", text, complaint, expected);
}

static void refuse_servers(const char *text, const char *expected)
{
    char complaint[256] = "";

    expect_complaint(zklock_servers_check(text, complaint, sizeof(complaint)), text, complaint, expected);
}

static void refuse_path(const char *path, const char *expected)
{
    char complaint[256] = "";

    expect_complaint(zklock_path_check(path, complaint, sizeof(complaint)), path ? path : "NULL", complaint, expected);
}

static void accept_path(const char *path)
{
    char complaint[256] = "untouched";

    CU_ASSERT_EQUAL(zklock_path_check(path, complaint, sizeof(complaint)), ZKLOCK_OK);
    CU_ASSERT_STRING_EQUAL(complaint, "untouched");
}

static void missing_port_is_the_default_one(void)
{
    expect_servers("localhost", "localhost:2181", "");
    expect_servers("a,b:1,c", "a:2181,b:1,c:2181", "");
    expect_servers("zk-1.example_net.org:65535", "zk-1.example_net.org:65535", "");
    expect_servers("10.0.0.1:0002181", "10.0.0.1:2181", "");
}

static void bracketed_ipv6_is_accepted(void)
{
    expect_servers("[::1]", "[::1]:2181", "");
    expect_servers("[2001:db8::1]:99,a", "[2001:db8::1]:99,a:2181", "");
    expect_servers("[fe80::1%eth0]:1/x", "[fe80::1%eth0]:1", "/x");
    expect_servers("[::ffff:10.0.0.1]:7", "[::ffff:10.0.0.1]:7", "");
}

static void chroot_follows_the_last_server(void)
{
    expect_servers("a/b", "a:2181", "/b");
    expect_servers("a:1,b:2/c/d", "a:1,b:2", "/c/d");
    expect_servers("a:1/c/d/", "a:1", "/c/d");
    expect_servers("a/", "a:2181", "");
    expect_servers("a/caf\xc3\xa9", "a:2181", "/caf\xc3\xa9");
}

static void empty_entry_is_located(void)
{
    refuse_servers(NULL, "character 1: a host is missing; write host[:port],...[/chroot]");
    refuse_servers("", "character 1: a host is missing");
    refuse_servers(",a", "character 1: a host is missing");
    refuse_servers("a,,b", "character 3: a host is missing");
    refuse_servers("a,", "character 3: a host is missing");
    refuse_servers("/a", "character 1: a host is missing");
    refuse_servers(":2181", "character 1: a host is missing");
}

static void bad_port_is_named(void)
{
    refuse_servers("a:0", "character 3: port '0' is not between 1 and 65535");
    refuse_servers("localhost:1,b:99999", "character 15: port '99999' is not between 1 and 65535");
    refuse_servers("a:99999999999999999999999999/x", "character 3: the port is not between 1 and 65535");
    refuse_servers("a:", "character 3: a port between 1 and 65535 is missing after the colon");
    refuse_servers("a:,b", "character 3: a port between 1 and 65535 is missing");
    refuse_servers("a:21x", "character 5: this character cannot stand here");
    refuse_servers("a:-1", "character 3: this character cannot stand here");
}

static void strange_character_is_located(void)
{
    refuse_servers("a, b", "character 3: white space is not allowed");
    refuse_servers(" a", "character 1: white space");
    refuse_servers("a:1 ", "character 4: white space");
    refuse_servers("a\n", "character 2: white space");
    refuse_servers("a\x01", "character 2: a control character");
    refuse_servers("a;b", "character 2: this character cannot stand here");
    refuse_servers("b\xc3\xbc" "cher.example", "character 2: host names are ASCII");
    refuse_servers("http://a", "character 6: a port between 1 and 65535 is missing");
}

static void bare_ipv6_is_refused_with_a_hint(void)
{
    refuse_servers("::1", "character 1: write an IPv6 address in brackets, such as [::1]:2181");
    refuse_servers("a,2001:db8::1", "character 3: write an IPv6 address in brackets");
    refuse_servers("::1:2181/x", "character 1: write an IPv6 address in brackets");
}

static void bad_brackets_are_located(void)
{
    refuse_servers("[::1", "character 1: the closing bracket is missing");
    refuse_servers("a,[::1,b]", "character 3: the closing bracket is missing");
    refuse_servers("[127.0.0.1]", "character 2: not an IPv6 address");
    refuse_servers("[]", "character 2: not an IPv6 address");
    refuse_servers("[::1%]", "character 2: not an IPv6 address");
    refuse_servers("[::1%e th]", "character 2: not an IPv6 address");
    refuse_servers("[::1]2181", "character 6: this character cannot stand here");
    refuse_servers("[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]", "character 2: not an IPv6 address");
}

static void bad_chroot_is_located_in_the_list(void)
{
    refuse_servers("a//b", "character 3: empty component");
    refuse_servers("a/b//", "character 4: a path must not end with a slash");
    refuse_servers("a:1/b/../c", "character 7: \"..\" is no component");
    refuse_servers("a/./b", "character 3: \".\" is no component");
    refuse_servers("a/b c\x02", "character 6: a control character");
    refuse_servers("a:1/b,c:2/b", "character 6: one chroot stands after the last server");
    refuse_servers("a/zookeeper/x", "character 2: /zookeeper is reserved by ZooKeeper");
}

static void list_may_not_be_too_long(void)
{
    char list[1024] = "";
    char name[300];

    for (int i = 0; i < ZKL_SERVERS_MAX; i++)
        strcat(list, i > 0 ? ",abc" : "abc");
    CU_ASSERT_EQUAL(zklock_servers_check(list, NULL, 0), ZKLOCK_OK);
    strcat(list, ",abc");
    refuse_servers(list, "character 253: more than 63 servers");

    memset(name, 'n', sizeof(name));
    name[253] = '\0';
    CU_ASSERT_EQUAL(zklock_servers_check(name, NULL, 0), ZKLOCK_OK);
    name[253] = 'n';
    name[254] = '\0';
    refuse_servers(name, "character 1: a host name has at most 253 characters");
}

static void complaint_is_cut_to_its_buffer(void)
{
    char small[12];

    CU_ASSERT_EQUAL(zklock_servers_check("a,,b", small, sizeof(small)), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_STRING_EQUAL(small, "character 3");
    CU_ASSERT_EQUAL(zklock_servers_check("a,,b", NULL, 0), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(zklock_path_check("x", small, 0), ZKLOCK_BAD_ARGUMENT);
    CU_ASSERT_STRING_EQUAL(small, "character 3");
}

static void good_paths_are_accepted(void)
{
    accept_path("/");
    accept_path("/a");
    accept_path("/a/b.c/..d/e../...");
    accept_path("/with blank/and,comma/[x]");
    accept_path("/zookeepers/a");
    accept_path("/a/zookeeper");
    accept_path("/\xc2\xa0/\xe6\x97\xa5\xe6\x9c\xac/\xef\xa4\x80/\xef\xbf\xaf");
}

static void malformed_path_is_located(void)
{
    refuse_path(NULL, "character 1: a path begins with a slash");
    refuse_path("", "character 1: a path begins with a slash");
    refuse_path("a/b", "character 1: a path begins with a slash");
    refuse_path("//", "character 2: empty component");
    refuse_path("/a//b", "character 4: empty component");
    refuse_path("/a/b/", "character 5: a path must not end with a slash");
    refuse_path("/.", "character 2: \".\" is no component");
    refuse_path("/a/./b", "character 4: \".\" is no component");
    refuse_path("/a/..", "character 4: \"..\" is no component");
    refuse_path("/\xc3\xa9/..", "character 4: \"..\" is no component");
}

static void reserved_path_is_refused(void)
{
    refuse_path("/zookeeper", "character 1: /zookeeper is reserved by ZooKeeper");
    refuse_path("/zookeeper/quota", "character 1: /zookeeper is reserved by ZooKeeper");
}

static void forbidden_characters_are_located(void)
{
    refuse_path("/a\x01", "character 3: a control character");
    refuse_path("/a/\x7f", "character 4: a control character");
    refuse_path("/\xc3\xa9\xc2\x85", "character 3: a control character");
    refuse_path("/\xee\x80\x80", "character 2: ZooKeeper does not allow this character");      /* U+E000 */
    refuse_path("/\xef\xa3\xbf", "character 2: ZooKeeper does not allow this character");      /* U+F8FF */
    refuse_path("/\xef\xbf\xb0", "character 2: ZooKeeper does not allow this character");      /* U+FFF0 */
    refuse_path("/\xf0\x9f\x94\x92", "character 2: ZooKeeper does not allow this character");  /* U+1F512 */
}

static void path_that_is_no_utf8_is_located(void)
{
    refuse_path("/a\x80", "character 3: not valid UTF-8");
    refuse_path("/\xc3", "character 2: not valid UTF-8");
    refuse_path("/\xc3/", "character 2: not valid UTF-8");
    refuse_path("/\xc0\xaf", "character 2: not valid UTF-8");
    refuse_path("/\xe0\x80\xaf", "character 2: not valid UTF-8");
    refuse_path("/\xed\xa0\x80", "character 2: not valid UTF-8");
    refuse_path("/\xf5\x80\x80\x80", "character 2: not valid UTF-8");
    refuse_path("/\xff", "character 2: not valid UTF-8");
}

static void path_has_at_most_nine_hundred_bytes(void)
{
    char path[902];

    memset(path, 'x', sizeof(path));
    path[0] = '/';
    path[900] = '\0';
    accept_path(path);
    path[900] = 'x';
    path[901] = '\0';
    refuse_path(path, "character 1: a path has at most 900 bytes");
}

static const struct suite_test tests[] = {
    SUITE_TEST(missing_port_is_the_default_one),
    SUITE_TEST(bracketed_ipv6_is_accepted),
    SUITE_TEST(chroot_follows_the_last_server),
    SUITE_TEST(empty_entry_is_located),
    SUITE_TEST(bad_port_is_named),
    SUITE_TEST(strange_character_is_located),
    SUITE_TEST(bare_ipv6_is_refused_with_a_hint),
    SUITE_TEST(bad_brackets_are_located),
    SUITE_TEST(bad_chroot_is_located_in_the_list),
    SUITE_TEST(list_may_not_be_too_long),
    SUITE_TEST(complaint_is_cut_to_its_buffer),
    SUITE_TEST(good_paths_are_accepted),
    SUITE_TEST(malformed_path_is_located),
    SUITE_TEST(reserved_path_is_refused),
    SUITE_TEST(forbidden_characters_are_located),
    SUITE_TEST(path_that_is_no_utf8_is_located),
    SUITE_TEST(path_has_at_most_nine_hundred_bytes),
    SUITE_END
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "servers", tests);
}
