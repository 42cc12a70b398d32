/* Single parts of the library, each call in them failing once: on the product's own threads, clock and sockets. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/runtime.h"
#include "failure/fail.h"
#include "lock/payload.h"
#include "session/descriptors.h"
#include "session/probe.h"
#include "session/resolver.h"
#include "session/servers.h"
#include "support/eventually.h"
#include "support/port.h"
#include "support/probe.h"
#include "support/suite.h"

enum { PATIENCE_MS = 20000, MOST_COMPLAINTS = 5 };

static int complaints;

static void complain(const char *what)
{
    complaints++;
    printf("\n  %s: %s", fail_text(), what);
}

/* Where nothing failed only OK will do; else the others, too. */
static bool expect(zklock_status status, unsigned tolerated)
{
    bool is_tolerated = fail_hits() > 0 && (tolerated & 1u << status);

    if (status != ZKLOCK_OK && !is_tolerated)
        complain(zklock_status_name(status));
    return status == ZKLOCK_OK;
}

static int lowest_free_descriptor(void)
{
    int number = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);

    close(number);
    return number;
}

static bool is_ledger_empty(void *unused)
{
    (void)unused;
    return ledger_count() == 0;
}

static void play(void (*act)(void), long position, long count)
{
    int descriptor = lowest_free_descriptor();

    fail_from(position, count);
    act();
    fail_stop();
    /* A thread that was started last frees what it got as its last deed. */
    if (!eventually(is_ledger_empty, NULL, PATIENCE_MS)) {
        complain("memory is left");
        ledger_tell();
    }
    if (lowest_free_descriptor() != descriptor)
        complain("a descriptor is left");
}

static void sweep_part(void (*act)(void))
{
    static const long spells[] = {1, FAIL_FOR_EVER};
    long positions = 0;

    complaints = 0;
    for (size_t i = 0; i < sizeof spells / sizeof spells[0]; i++) {
        long position = 0;
        do
            play(act, ++position, spells[i]);
        while (fail_hits() > 0 && complaints < MOST_COMPLAINTS);
        positions = position - 1;
    }
    printf("%ld positions ", positions);
    CU_ASSERT_EQUAL(complaints, 0);
    CU_ASSERT(positions > 0);
}

/* ---------------------------------------------------------------- texts */

static void parse_servers(void)
{
    struct zkl_servers servers = {NULL, NULL};

    if (expect(zkl_servers_parse("a,b:2182/c", &servers, NULL, 0), 1u << ZKLOCK_NO_MEMORY) &&
        (strcmp(servers.hosts, "a:2181,b:2182") != 0 || strcmp(servers.chroot, "/c") != 0))
        complain("another list than was written");
    zkl_servers_clear(&servers);
}

static void server_list_is_parsed(void)
{
    sweep_part(parse_servers);
}

static void check_servers(void)
{
    char detail[64];

    expect(zklock_servers_check("a,b:2182/c", detail, sizeof detail), 1u << ZKLOCK_NO_MEMORY);
}

static void server_list_is_checked(void)
{
    sweep_part(check_servers);
}

/* It is the library's memory, so the library's way of freeing it has to be told. */
static void discard(char *text)
{
    ledger_remove(text);
    free(text);
}

static void resolve_hosts(void)
{
    char *addresses = NULL;
    char detail[256] = "";
    zklock_status status = zkl_resolver_resolve("127.0.0.1:1,[::1]:2", &addresses, detail, sizeof detail);

    if (expect(status, 1u << ZKLOCK_NO_MEMORY | 1u << ZKLOCK_NO_SERVER) && strchr(addresses, '?'))
        complain("an address is missing");
    if (status == ZKLOCK_NO_SERVER && detail[0] == '\0')
        complain("no host was found, and nothing is said");
    discard(addresses);
}

static void hosts_are_resolved(void)
{
    sweep_part(resolve_hosts);
}

static void make_payload(void)
{
    char *payload = zkl_payload_new("label", "user", "curator", 0);

    if (!payload && fail_hits() == 0)
        complain("no payload");
    if (payload && (payload[0] != '{' || payload[strlen(payload) - 1] != '}'))
        complain("half a payload");
    discard(payload);
}

static void payload_is_made(void)
{
    sweep_part(make_payload);
}

/* ---------------------------------------------------------------- sockets and descriptors */

static char closed_address[64];

static void probe_address(void)
{
    char detail[256] = "";

    zkl_probe_addresses(closed_address, 100, detail, sizeof detail);
    if (detail[0] == '\0' && fail_hits() == 0)
        complain("nothing is said of an address");
}

static void address_is_probed(void)
{
    struct port port = port_reserve();

    snprintf(closed_address, sizeof closed_address, "127.0.0.1:%d", port.number);
    sweep_part(probe_address);
    port_release(&port);
}

static void list_descriptors(void)
{
    struct zkl_descriptors before;

    zkl_descriptors_list(&before);
    if (!before.is_complete && fail_hits() == 0)
        complain("the list is not complete");
    zkl_descriptors_seal_new_pipes(&before);
    zkl_descriptors_clear(&before);
}

static void descriptors_are_listed(void)
{
    sweep_part(list_descriptors);
}

/* ---------------------------------------------------------------- threads */

static struct probe turns;

static int64_t take_turn(void *arg)
{
    probe_note(arg, 1);
    return ZKL_NEVER;
}

static void run_worker(void)
{
    struct zkl_runtime *runtime = zkl_runtime_posix();
    struct zkl_worker *worker = NULL;
    zklock_status status = runtime->worker_start(runtime, "worker", take_turn, &turns, &worker);

    if (!expect(status, 1u << ZKLOCK_NO_MEMORY | 1u << ZKLOCK_SYSTEM))
        return;
    probe_reset(&turns);
    runtime->worker_wake(worker, 0);
    if (!probe_wait_count(&turns, 1, PATIENCE_MS))
        complain("no turn");
    runtime->worker_stop(worker);
}

static void worker_runs(void)
{
    probe_init(&turns);
    sweep_part(run_worker);
    probe_clear(&turns);
}

static void note_job(void *arg)
{
    probe_note(arg, 1);
}

static void run_job(void)
{
    struct zkl_runtime *runtime = zkl_runtime_posix();

    probe_reset(&turns);
    zklock_status status = runtime->run_detached(runtime, note_job, &turns);
    if (expect(status, 1u << ZKLOCK_NO_MEMORY | 1u << ZKLOCK_SYSTEM) && !probe_wait_count(&turns, 1, PATIENCE_MS))
        complain("the job does not run");
    if (status != ZKLOCK_OK && probe_count(&turns) > 0)
        complain("the job runs although it was refused");
}

static void job_runs(void)
{
    probe_init(&turns);
    sweep_part(run_job);
    probe_clear(&turns);
}

static void pass_fence(void)
{
    const unsigned tolerated = 1u << ZKLOCK_NO_MEMORY | 1u << ZKLOCK_SYSTEM;
    zklock_fence *fence = NULL;
    char file[64];

    snprintf(file, sizeof file, "fence-of-%d", (int)getpid());
    if (expect(zklock_fence_open(file, &fence), tolerated) &&
        expect(zklock_fence_admit(fence, 5, -1), tolerated) && zklock_fence_admit(fence, 4, -1) != ZKLOCK_STALE)
        complain("an older token was let in");
    zklock_fence_close(fence);
    unlink(file);
}

static void fence_is_passed(void)
{
    sweep_part(pass_fence);
}

static const struct suite_test tests[] = {
    SUITE_TEST(server_list_is_parsed),
    SUITE_TEST(server_list_is_checked),
    SUITE_TEST(hosts_are_resolved),
    SUITE_TEST(payload_is_made),
    SUITE_TEST(address_is_probed),
    SUITE_TEST(descriptors_are_listed),
    SUITE_TEST(worker_runs),
    SUITE_TEST(job_runs),
    SUITE_TEST(fence_is_passed),
    SUITE_END,
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, "parts", tests);
}
