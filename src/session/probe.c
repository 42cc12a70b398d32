#include "session/probe.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/line.h"
#include "base/runtime.h"
#include "session/address.h"
#include "session/servers.h"

/* One connection being tried. The poll set has the same index; its fd is -1 once the outcome is known. */
struct attempt {
    int fd;
    int failure;      /* errno; 0: accepted, or not known yet */
    bool is_answered;
    bool is_closed;   /* accepted, and closed again at once */
};

/* How long a server may take that closes each connection, having too many of them. */
#define CLOSED_WITHIN_MS 100

struct probe {
    struct zkl_address addresses[ZKL_SERVERS_MAX];
    struct attempt attempts[ZKL_SERVERS_MAX];
    struct pollfd polled[ZKL_SERVERS_MAX];
    int count;
    int open_count; /* attempts without an answer */
};

static void settle(struct probe *probe, int i, int failure)
{
    probe->attempts[i].failure = failure;
    probe->attempts[i].is_answered = true;
    probe->polled[i].fd = -1;
    probe->open_count--;
}

static void begin(struct probe *probe, int i)
{
    const struct zkl_address *address = &probe->addresses[i];
    struct attempt *attempt = &probe->attempts[i];

    probe->open_count++;
    attempt->is_answered = false;
    attempt->is_closed = false;
    attempt->fd = socket(address->socket_address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    probe->polled[i] = (struct pollfd){.fd = attempt->fd, .events = POLLOUT};
    if (attempt->fd < 0)
        settle(probe, i, errno);
    else if (connect(attempt->fd, (const struct sockaddr *)&address->socket_address, address->size) == 0)
        settle(probe, i, 0);
    else if (errno != EINPROGRESS)
        settle(probe, i, errno);
}

/* Whoever was accepted and cut off before this thread looked has such a failure, and can read the end later. */
static bool is_cut_off(int failure)
{
    return failure == ECONNRESET || failure == EPIPE;
}

static void collect(struct probe *probe)
{
    for (int i = 0; i < probe->count; i++) {
        int failure = 0;
        socklen_t size = sizeof(failure);

        if (probe->polled[i].fd < 0 || probe->polled[i].revents == 0)
            continue;
        getsockopt(probe->attempts[i].fd, SOL_SOCKET, SO_ERROR, &failure, &size);
        settle(probe, i, is_cut_off(failure) ? 0 : failure);
    }
}

/* Nobody sends anything before he is spoken to: what can be read is the end. */
static void collect_closed(struct probe *probe)
{
    for (int i = 0; i < probe->count; i++) {
        if (probe->polled[i].fd < 0 || probe->polled[i].revents == 0)
            continue;
        probe->attempts[i].is_closed = true;
        probe->polled[i].fd = -1;
        probe->open_count--;
    }
}

static void await(struct probe *probe, int limit_ms, void (*collect_outcomes)(struct probe *probe))
{
    struct zkl_runtime *runtime = zkl_runtime_posix();
    int64_t deadline_ns = runtime->now_ns(runtime) + limit_ms * ZKL_NS_PER_MS;

    while (probe->open_count > 0) {
        int64_t left_ns = deadline_ns - runtime->now_ns(runtime);

        if (left_ns <= 0)
            break;
        /* Rounded up, so that the last millisecond is slept through and not spun through. */
        if (poll(probe->polled, (nfds_t)probe->count, (int)((left_ns + ZKL_NS_PER_MS - 1) / ZKL_NS_PER_MS)) > 0)
            collect_outcomes(probe);
    }
}

static void await_answers(struct probe *probe, int limit_ms)
{
    await(probe, limit_ms, collect);
    probe->open_count = 0;
    for (int i = 0; i < probe->count; i++) {
        bool is_accepted = probe->attempts[i].is_answered && !probe->attempts[i].failure;

        probe->polled[i] = (struct pollfd){.fd = is_accepted ? probe->attempts[i].fd : -1, .events = POLLIN};
        probe->open_count += is_accepted;
    }
    await(probe, limit_ms < CLOSED_WITHIN_MS ? limit_ms : CLOSED_WITHIN_MS, collect_closed);
}

static void say_outcome(const struct probe *probe, int i, int limit_ms, struct zkl_line *line)
{
    const struct attempt *attempt = &probe->attempts[i];
    char address[ZKL_ADDRESS_TEXT_SIZE];
    char text[128];

    zkl_address_format(&probe->addresses[i], address);
    zkl_line_append(line, "%s%s: ", i > 0 ? "; " : "", address);
    if (!attempt->is_answered)
        zkl_line_append(line, "no answer within %d ms", limit_ms);
    else if (attempt->failure)
        zkl_line_append(line, "%s", strerror_r(attempt->failure, text, sizeof(text)));
    else if (attempt->is_closed)
        zkl_line_append(line, "closes connections at once; too many from this host (maxClientCnxns)?");
    else
        zkl_line_append(line, "accepts connections but does not serve");
}

void zkl_probe_addresses(const char *addresses, int limit_ms, char *detail, size_t detail_size)
{
    struct probe probe = {.open_count = 0};
    struct zkl_line line;

    zkl_line_init(&line, detail, detail_size);
    probe.count = zkl_address_parse(addresses, probe.addresses, ZKL_SERVERS_MAX);
    for (int i = 0; i < probe.count; i++)
        begin(&probe, i);
    await_answers(&probe, limit_ms);
    for (int i = 0; i < probe.count; i++) {
        say_outcome(&probe, i, limit_ms, &line);
        if (probe.attempts[i].fd >= 0)
            close(probe.attempts[i].fd);
    }
}
