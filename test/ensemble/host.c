#include "ensemble/host.h"

#include "ensemble/tool.h"
#include "support/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct host {
    pid_t owner;        /* a process that does nothing but own the namespace */
    char entry[48];
    char cable[16];     /* this machine's end of it */
};

const char *host_missing(void)
{
    if (geteuid() != 0)
        return "network namespaces need root";
    if (!tool_works("ip", "-V") || !tool_works("iptables", "--version") || !tool_works("nsenter", "--version"))
        return "no ip, iptables or nsenter command";
    if (!tool_works("unshare", "--net", "iptables", "-A", "OUTPUT", "-j", "DROP"))
        return "no right to make network namespaces, or no iptables in them";
    return NULL;
}

static _Noreturn void own_namespace(pid_t program, int report)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != program || unshare(CLONE_NEWNET) < 0)
        _exit(1);
    if (write(report, "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static pid_t start_owner(void)
{
    pid_t program = getpid(), owner;
    int ends[2];
    char sign;

    if (pipe(ends) < 0)
        suite_abandon("no pipe: %s", strerror(errno));
    owner = fork();
    if (owner == 0)
        own_namespace(program, ends[1]);
    close(ends[1]);
    if (owner < 0 || read(ends[0], &sign, 1) != 1)
        suite_abandon("no network namespace");
    close(ends[0]);
    return owner;
}

/* Docker gives out addresses from the low end of the subnet; hosts take theirs from the high end. */
static void choose_address(const char *subnet, int number, char *out_text, size_t size)
{
    char base[64];
    struct in_addr address;
    unsigned prefix = 0;

    if (sscanf(subnet, "%63[^/]/%u", base, &prefix) != 2 || inet_pton(AF_INET, base, &address) != 1 || prefix > 24)
        suite_abandon("a subnet that was not expected: %s", subnet);
    address.s_addr |= htonl(UINT32_MAX >> prefix);
    address.s_addr = htonl(ntohl(address.s_addr) - (uint32_t)number);
    snprintf(out_text, size, "%s/%u", inet_ntop(AF_INET, &address, base, sizeof(base)), prefix);
}

struct host *host_start(const struct compose *compose, int number)
{
    struct host *host = calloc(1, sizeof(*host));
    char address[80], peer[16], owner[16];

    if (!host)
        suite_abandon("out of memory");
    host->owner = start_owner();
    snprintf(owner, sizeof(owner), "%d", host->owner);
    snprintf(host->entry, sizeof(host->entry), "--net=/proc/%d/ns/net", host->owner);
    snprintf(host->cable, sizeof(host->cable), "zt%d", host->owner);
    snprintf(peer, sizeof(peer), "zp%d", host->owner);
    choose_address(compose_subnet(compose), number, address, sizeof(address));
    tool_must("ip", "link", "add", host->cable, "type", "veth", "peer", "name", peer, "netns", owner);
    tool_must("ip", "link", "set", host->cable, "master", compose_bridge(compose), "up");
    tool_must("nsenter", host->entry, "--", "ip", "link", "set", "lo", "up");
    tool_must("nsenter", host->entry, "--", "ip", "addr", "add", address, "dev", peer);
    tool_must("nsenter", host->entry, "--", "ip", "link", "set", peer, "up");
    return host;
}

void host_free(struct host *host)
{
    if (!host)
        return;
    tool_works("ip", "link", "del", host->cable);
    kill(host->owner, SIGKILL);
    waitpid(host->owner, NULL, 0);
    free(host);
}

const char *host_entry(const struct host *host)
{
    return host->entry;
}

void host_cut(struct host *host)
{
    host_deafen(host);
    host_mute(host);
}

void host_mute(struct host *host)
{
    tool_must("nsenter", host->entry, "--", "iptables", "-I", "OUTPUT", "-j", "DROP");
}

void host_deafen(struct host *host)
{
    tool_must("nsenter", host->entry, "--", "iptables", "-I", "INPUT", "-j", "DROP");
}

void host_heal(struct host *host)
{
    tool_must("nsenter", host->entry, "--", "iptables", "-F");
}
