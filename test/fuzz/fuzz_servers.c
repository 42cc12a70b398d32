/* Lists of servers: exactly those of the documented form are accepted and read the same again; what is refused is named
 * in one line. */
#include "session/servers.h"

#include <arpa/inet.h>
#include <net/if.h>

#include "fuzz.h"
#include "session/address.h"
#include "session/path.h"

#define DIGITS "0123456789"
#define NAME_CHARACTERS DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._"

/* ---------------------------------------------------------------- a second reading */

static bool is_name(const char *text, size_t size)
{
    return size >= 1 && size <= 253 && strspn(text, NAME_CHARACTERS) >= size;
}

/* What stands in brackets: an IPv6 address, perhaps with the name of an interface. */
static bool is_ipv6(const char *text, size_t size)
{
    char address[INET6_ADDRSTRLEN] = "";
    struct in6_addr binary;
    const char *scope = memchr(text, '%', size);
    size_t address_size = scope ? (size_t)(scope - text) : size;

    if (address_size >= sizeof address)
        return false;
    memcpy(address, text, address_size);
    if (inet_pton(AF_INET6, address, &binary) != 1)
        return false;
    return !scope || (size - address_size <= IFNAMSIZ && is_name(scope + 1, size - address_size - 1));
}

static bool is_port(const char *text, size_t size)
{
    unsigned long port = strtoul(text, NULL, 10);

    return size > 0 && strspn(text, DIGITS) >= size && port >= 1 && port <= 65535;
}

static bool is_server(const char *text, size_t size)
{
    const char *bracket = text[0] == '[' ? memchr(text, ']', size) : NULL;
    const char *colon = bracket ? bracket + 1 : memchr(text, ':', size);
    const char *end = text + size;
    const char *host_end = colon ? colon : end;

    if (text[0] == '[' && !bracket)
        return false;
    if (host_end < end && (*host_end != ':' || !is_port(host_end + 1, (size_t)(end - host_end) - 1)))
        return false;
    return bracket ? is_ipv6(text + 1, (size_t)(bracket - text) - 1) : is_name(text, (size_t)(host_end - text));
}

/* Without the slash at its end. */
static bool is_chroot(const char *text)
{
    size_t size = strlen(text);
    char *copy = strndup(text, size > 1 && text[size - 1] == '/' ? size - 1 : size);
    size_t position;
    bool is_good = !strchr(text, ',') && (size == 0 || zkl_path_fault(copy, &position) == NULL);

    free(copy);
    return is_good;
}

static bool is_list(const char *text)
{
    const char *end = text + strcspn(text, "/");

    for (int count = 1;; count++) {
        size_t size = strcspn(text, ",/");
        if (count > ZKL_SERVERS_MAX || !is_server(text, size))
            return false;
        text += size;
        if (text == end)
            return is_chroot(text);
        text++;
    }
}

/* ---------------------------------------------------------------- what has to come out */

static void expect_complaint(const char *detail, size_t text_size)
{
    unsigned long position;

    for (const char *at = detail; *at; at++)
        EXPECT(*at >= ' ' && *at <= '~');
    EXPECT(sscanf(detail, "character %lu: ", &position) == 1);
    EXPECT(position >= 1 && position <= text_size + 1);
}

/* Every server of the text is there, in its order and with a port. */
static void expect_hosts(const char *text, const char *hosts)
{
    struct zkl_endpoint endpoint;
    int count = 0;

    for (; *hosts; count++) {
        size_t host_size;
        EXPECT(zkl_endpoint_next(&hosts, &endpoint));
        host_size = strlen(endpoint.host);
        text += *text == '[';
        EXPECT(strncmp(text, endpoint.host, host_size) == 0);
        text += host_size;
        text += *text == ']';
        EXPECT(atoi(endpoint.port) == (*text == ':' ? atoi(text + 1) : ZKL_DEFAULT_PORT));
        text += strcspn(text, ",/");
        text += *text == ',';
    }
    EXPECT(*text == '\0' || *text == '/');
    EXPECT(count >= 1 && count <= ZKL_SERVERS_MAX);
}

static void expect_same_again(const struct zkl_servers *servers)
{
    struct zkl_servers again;
    char *text = malloc(strlen(servers->hosts) + strlen(servers->chroot) + 1);

    EXPECT(text != NULL);
    sprintf(text, "%s%s", servers->hosts, servers->chroot);
    EXPECT(zkl_servers_parse(text, &again, NULL, 0) == ZKLOCK_OK);
    EXPECT(strcmp(again.hosts, servers->hosts) == 0);
    EXPECT(strcmp(again.chroot, servers->chroot) == 0);
    zkl_servers_clear(&again);
    free(text);
}

static void expect_accepted(const char *text, struct zkl_servers *servers)
{
    size_t position;

    EXPECT(is_list(text));
    expect_hosts(text, servers->hosts);
    EXPECT(servers->chroot[0] == '\0' || zkl_path_fault(servers->chroot, &position) == NULL);
    expect_same_again(servers);
    zkl_servers_clear(servers);
}

/* In little room the complaint is the same, cut. */
static void expect_refused(const char *text, const char *detail, size_t little)
{
    struct zkl_servers servers;
    char *cut = malloc(little + 1);

    EXPECT(cut != NULL);
    EXPECT(!is_list(text));
    expect_complaint(detail, strlen(text));
    EXPECT(zkl_servers_parse(text, &servers, cut, little) == ZKLOCK_BAD_ARGUMENT);
    EXPECT(little == 0 || (strnlen(cut, little) < little && strncmp(detail, cut, strlen(cut)) == 0));
    free(cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    char *text = take_text(&input, 2000);
    size_t little = take_byte(&input) % 64;
    char detail[300] = "";
    struct zkl_servers servers;

    if (zkl_servers_parse(text, &servers, detail, sizeof detail) == ZKLOCK_OK)
        expect_accepted(text, &servers);
    else
        expect_refused(text, detail, little);
    free(text);
    return 0;
}
