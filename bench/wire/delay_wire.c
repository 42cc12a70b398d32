/*
 * A wire with a length: moves packets between two network namespaces and keeps each for a fixed time, in order. It
 * stands where netem would, on kernels that have none. Root only.
 *
 *   bench-wire NAMESPACE_A ADDRESS_A/BITS NAMESPACE_B ADDRESS_B/BITS ONE_WAY_US
 *
 * Makes the device "wire0" in both, prints "ready", and works until its standard input ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* What can be under way in one direction at a time: beyond it packets are lost, as on any wire. */
enum { SLOTS = 4096, PACKET_MAX = 65536 };

struct packet {
    int64_t due_ns;
    size_t size;
    char *bytes;
};

/* One direction: a ring of packets, the oldest first. */
struct lane {
    int from;
    int to;
    struct packet packets[SLOTS];
    unsigned first;
    unsigned count;
};

static void fail(const char *what)
{
    fprintf(stderr, "bench-wire: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The descriptor of a device in another namespace; this process stays where it was. */
static int open_device(const char *namespace_name)
{
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI, .ifr_name = "wire0"};
    char path[256];
    int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

    snprintf(path, sizeof path, "/run/netns/%s", namespace_name);
    int other = open(path, O_RDONLY | O_CLOEXEC);
    if (own < 0 || other < 0 || setns(other, CLONE_NEWNET) != 0)
        fail(path);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0)
        fail("/dev/net/tun");
    if (setns(own, CLONE_NEWNET) != 0)
        fail("setns");
    close(own);
    close(other);
    return device;
}

static void set_up(const char *namespace_name, const char *address)
{
    char command[512];

    snprintf(command, sizeof command, "ip -n '%s' addr add '%s' dev wire0 && ip -n '%s' link set wire0 up txqueuelen 10000",
             namespace_name, address, namespace_name);
    if (system(command) != 0) /* NOLINT(cert-env33-c): the arguments are those of whoever runs this as root */
        fail("cannot set up wire0");
}

static void take_in(struct lane *lane, int64_t delay_ns)
{
    static char bytes[PACKET_MAX];

    for (;;) {
        ssize_t size = read(lane->from, bytes, sizeof bytes);
        if (size <= 0)
            return;
        if (lane->count == SLOTS)
            continue;
        struct packet *packet = &lane->packets[(lane->first + lane->count) % SLOTS];
        packet->bytes = malloc((size_t)size);
        if (!packet->bytes)
            fail("malloc");
        memcpy(packet->bytes, bytes, (size_t)size);
        packet->size = (size_t)size;
        packet->due_ns = now_ns() + delay_ns;
        lane->count++;
    }
}

/* Returns when the next one is due; INT64_MAX: none is under way. */
static int64_t let_out(struct lane *lane)
{
    while (lane->count > 0) {
        struct packet *packet = &lane->packets[lane->first];
        if (packet->due_ns > now_ns())
            return packet->due_ns;
        (void)!write(lane->to, packet->bytes, packet->size);
        free(packet->bytes);
        lane->first = (lane->first + 1) % SLOTS;
        lane->count--;
    }
    return INT64_MAX;
}

static void wake_at(int timer, int64_t when_ns)
{
    struct itimerspec when = {0};

    if (when_ns != INT64_MAX)
        when.it_value = (struct timespec){.tv_sec = when_ns / 1000000000, .tv_nsec = when_ns % 1000000000};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void run(struct lane lanes[2], int64_t delay_ns)
{
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct pollfd wait_for[] = {{.fd = lanes[0].from, .events = POLLIN},
                                {.fd = lanes[1].from, .events = POLLIN},
                                {.fd = timer, .events = POLLIN},
                                {.fd = STDIN_FILENO, .events = POLLIN}};
    uint64_t expirations;

    while (poll(wait_for, 4, -1) >= 0 || errno == EINTR) {
        if (wait_for[3].revents)
            return;
        (void)!read(timer, &expirations, sizeof expirations);
        take_in(&lanes[0], delay_ns);
        take_in(&lanes[1], delay_ns);
        int64_t one = let_out(&lanes[0]), other = let_out(&lanes[1]);
        wake_at(timer, one < other ? one : other);
    }
    fail("poll");
}

int main(int argc, char **argv)
{
    static struct lane lanes[2];

    if (argc != 6) {
        fputs("usage: bench-wire NAMESPACE_A ADDRESS_A/BITS NAMESPACE_B ADDRESS_B/BITS ONE_WAY_US\n", stderr);
        return 64;
    }
    lanes[0].from = lanes[1].to = open_device(argv[1]);
    lanes[1].from = lanes[0].to = open_device(argv[3]);
    set_up(argv[1], argv[2]);
    set_up(argv[3], argv[4]);
    puts("ready");
    fflush(stdout);
    run(lanes, strtoll(argv[5], NULL, 10) * 1000);
    return 0;
}
