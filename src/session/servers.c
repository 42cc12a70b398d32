#include "session/servers.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/line.h"
#include "session/path.h"

/* DNS allows no longer name. */
#define HOST_BYTES_MAX 253
#define HOST_EXPECTED "write host[:port],...[/chroot]"

/* One walk over the list: where it is, what it has found, and what was wrong. */
struct parser {
    const char *text;
    const char *next;
    struct zkl_line hosts;
    int count;
    const char *fault;     /* static text; NULL: nothing is wrong */
    size_t fault_position; /* the character, from 1 */
    const char *subject;   /* what to name before the fault; not terminated, and harmless to print */
    size_t subject_size;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_character(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_';
}

static bool is_entry_end(char c)
{
    return c == '\0' || c == ',' || c == '/';
}

/* All that stands before a fault is ASCII, so that bytes are characters. */
static bool refuse(struct parser *parser, const char *at, const char *fault)
{
    parser->fault = fault;
    parser->fault_position = (size_t)(at - parser->text) + 1;
    return false;
}

/* Names what stands where a host name, a port or a comma should. */
static bool refuse_character(struct parser *parser, const char *at)
{
    unsigned char c = (unsigned char)*at;

    if (c == ' ' || (c >= '\t' && c <= '\r'))
        return refuse(parser, at, "white space is not allowed; separate servers with a comma alone");
    if (c < 0x20 || c == 0x7F)
        return refuse(parser, at, "a control character is not allowed");
    if (c >= 0x80)
        return refuse(parser, at, "host names are ASCII; write international names in their xn-- form");
    return refuse(parser, at, "this character cannot stand here; " HOST_EXPECTED);
}

static bool read_port(struct parser *parser, int *out_port)
{
    const char *start = parser->next;
    int port = 0;

    while (is_digit(*parser->next)) {
        port = port > 65535 ? port : port * 10 + (*parser->next - '0');
        parser->next++;
    }
    if (!is_entry_end(*parser->next))
        return refuse_character(parser, parser->next);
    if (parser->next == start)
        return refuse(parser, start, "a port between 1 and 65535 is missing after the colon");
    if (port < 1 || port > 65535) {
        parser->subject = start;
        parser->subject_size = (size_t)(parser->next - start);
        return refuse(parser, start, "is not between 1 and 65535");
    }
    *out_port = port;
    return true;
}

/* "::1" and "2001:db8::1" look like a host with a port at first. */
static bool has_colons(const char *entry)
{
    size_t colon = strcspn(entry, ":,/");

    return entry[colon] == ':' && entry[colon + 1 + strcspn(entry + colon + 1, ":,/")] == ':';
}

static bool read_name(struct parser *parser)
{
    const char *start = parser->next;

    if (has_colons(start))
        return refuse(parser, start, "write an IPv6 address in brackets, such as [::1]:2181");
    while (is_name_character(*parser->next))
        parser->next++;
    if (*parser->next != ':' && !is_entry_end(*parser->next))
        return refuse_character(parser, parser->next);
    if (parser->next == start)
        return refuse(parser, start, "a host is missing; " HOST_EXPECTED);
    if (parser->next - start > HOST_BYTES_MAX)
        return refuse(parser, start, "a host name has at most 253 characters");
    return true;
}

/* Whether this is an IPv6 address, perhaps with a scope as in fe80::1%eth0. */
static bool is_ipv6(const char *text, size_t size)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr binary;
    const char *scope = memchr(text, '%', size);
    size_t address_size = scope ? (size_t)(scope - text) : size;

    if (address_size >= sizeof(address))
        return false;
    for (size_t i = address_size + 1; i < size; i++) {
        if (!is_name_character(text[i]))
            return false;
    }
    /* A scope is the name of a network interface. */
    if (scope && (size - address_size < 2 || size - address_size > 16))
        return false;
    memcpy(address, text, address_size);
    address[address_size] = '\0';
    return inet_pton(AF_INET6, address, &binary) == 1;
}

static bool read_bracketed(struct parser *parser)
{
    const char *start = parser->next;
    size_t size = strcspn(start, "],");

    if (start[size] != ']')
        return refuse(parser, start, "the closing bracket is missing; write [::1]:2181");
    if (!is_ipv6(start + 1, size - 1))
        return refuse(parser, start + 1, "not an IPv6 address; only those stand in brackets");
    parser->next = start + size + 1;
    if (*parser->next != ':' && !is_entry_end(*parser->next))
        return refuse_character(parser, parser->next);
    return true;
}

static bool read_entry(struct parser *parser)
{
    const char *start = parser->next;
    int port = ZKL_DEFAULT_PORT;
    size_t size;

    if (parser->count == ZKL_SERVERS_MAX)
        return refuse(parser, start, "more than 63 servers");
    if (*start == '[' ? !read_bracketed(parser) : !read_name(parser))
        return false;
    size = (size_t)(parser->next - start);
    if (*parser->next == ':') {
        parser->next++;
        if (!read_port(parser, &port))
            return false;
    }
    zkl_line_append(&parser->hosts, "%s%.*s:%d", parser->count > 0 ? "," : "", (int)size, start, port);
    parser->count++;
    return true;
}

static bool read_hosts(struct parser *parser)
{
    for (;;) {
        if (!read_entry(parser))
            return false;
        if (*parser->next != ',')
            return true;
        parser->next++;
    }
}

/* The rest of the list, from its first slash on. `chroot` gets it without a slash at the end; "/" means none. */
static bool read_chroot(struct parser *parser, char *chroot)
{
    const char *start = parser->next;
    const char *comma = strchr(start, ',');
    size_t size = strlen(start);
    size_t position;

    if (comma)
        return refuse(parser, comma, "one chroot stands after the last server, for all of them");
    if (size > 1 && start[size - 1] == '/')
        size--;
    memcpy(chroot, start, size);
    chroot[size] = '\0';
    parser->fault = size > 0 ? zkl_path_fault(chroot, &position) : NULL;
    if (parser->fault) {
        parser->fault_position = (size_t)(start - parser->text) + position;
        return false;
    }
    if (size == 1)
        chroot[0] = '\0';
    return true;
}

/* "character 12: port '99999' is not between 1 and 65535" */
static zklock_status report(const struct parser *parser, char *detail, size_t detail_size)
{
    struct zkl_line line;

    zkl_line_init(&line, detail, detail_size);
    zkl_line_append(&line, "character %zu: ", parser->fault_position);
    if (parser->subject_size > 20)
        zkl_line_append(&line, "the port ");
    else if (parser->subject_size > 0)
        zkl_line_append(&line, "port '%.*s' ", (int)parser->subject_size, parser->subject);
    zkl_line_append(&line, "%s", parser->fault);
    return ZKLOCK_BAD_ARGUMENT;
}

/* Both texts are allocated before anything is looked at, with room for a port at each host. */
static bool allocate(struct zkl_servers *servers, size_t text_size, size_t *out_hosts_size)
{
    *out_hosts_size = text_size + (ZKL_SERVERS_MAX + 1) * sizeof(":65535");
    servers->hosts = malloc(*out_hosts_size);
    servers->chroot = malloc(text_size + 1);
    return servers->hosts && servers->chroot;
}

zklock_status zkl_servers_parse(const char *text, struct zkl_servers *out_servers, char *detail, size_t detail_size)
{
    struct parser parser = {.text = text ? text : "", .next = text ? text : ""};
    struct zkl_servers servers;
    size_t hosts_size;
    zklock_status status = ZKLOCK_NO_MEMORY;

    if (allocate(&servers, strlen(parser.text), &hosts_size)) {
        zkl_line_init(&parser.hosts, servers.hosts, hosts_size);
        status = read_hosts(&parser) && read_chroot(&parser, servers.chroot) ? ZKLOCK_OK
                                                                             : report(&parser, detail, detail_size);
    }
    if (status == ZKLOCK_OK)
        *out_servers = servers;
    else
        zkl_servers_clear(&servers);
    return status;
}

void zkl_servers_clear(struct zkl_servers *servers)
{
    free(servers->hosts);
    free(servers->chroot);
    servers->hosts = NULL;
    servers->chroot = NULL;
}

zklock_status zklock_servers_check(const char *servers, char *buffer, size_t size)
{
    struct zkl_servers parsed;
    zklock_status status = zkl_servers_parse(servers, &parsed, buffer, size);

    if (status == ZKLOCK_OK)
        zkl_servers_clear(&parsed);
    return status;
}
