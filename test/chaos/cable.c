/* chaos-cable HERE PID THERE
 *     joins this machine to the network namespace of process PID by a cable between two new interfaces, HERE and THERE,
 *     and says "ready". Each line "DELAY_MS JITTER_MS LOST_PERMILLE" on its input changes what becomes of the frames
 *     that come from then on, both ways; they keep their order. It ends with its input, and the interfaces with it.
 *
 * Not every kernel has a queueing discipline that delays.
 */
#include "support/eventually.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FRAME_SIZE = 2048, QUEUE_SIZE = 2048, ENDS = 2 };

struct frame {
    int64_t due_ms;
    ssize_t length;
    char bytes[FRAME_SIZE];
};

/* From one end to the other. */
struct direction {
    int from, to;
    unsigned first, count;
    struct frame frames[QUEUE_SIZE];
};

static struct direction directions[ENDS];
static long delay_ms, jitter_ms, lost_permille;

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static int make_end(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int end = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (end < 0 || ioctl(end, TUNSETIFF, &request) < 0)
        give_up(name);
    return end;
}

static int make_end_in(const char *pid, const char *name)
{
    int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), there, end;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%s/ns/net", pid);
    there = open(path, O_RDONLY | O_CLOEXEC);
    if (here < 0 || there < 0 || setns(there, CLONE_NEWNET) < 0)
        give_up(path);
    end = make_end(name);
    if (setns(here, CLONE_NEWNET) < 0)
        give_up("setns");
    close(here);
    close(there);
    return end;
}

/* False at the end of the input. */
static bool obey(void)
{
    char line[128];

    if (!fgets(line, sizeof(line), stdin))
        return false;
    if (sscanf(line, "%ld %ld %ld", &delay_ms, &jitter_ms, &lost_permille) != 3)
        fprintf(stderr, "chaos-cable: not three numbers: %s", line);
    return true;
}

static struct frame *frame_at(struct direction *direction, unsigned place)
{
    return &direction->frames[(direction->first + place) % QUEUE_SIZE];
}

/* What finds no room is lost. */
static void take(struct direction *direction)
{
    struct frame *frame = frame_at(direction, direction->count), surplus;
    struct frame *last = direction->count > 0 ? frame_at(direction, direction->count - 1) : NULL;
    bool is_lost = direction->count == QUEUE_SIZE || random() % 1000 < lost_permille;

    if (is_lost)
        frame = &surplus;
    frame->length = read(direction->from, frame->bytes, FRAME_SIZE);
    if (is_lost || frame->length <= 0)
        return;
    frame->due_ms = monotonic_ms() + delay_ms + (jitter_ms > 0 ? random() % jitter_ms : 0);
    if (last && frame->due_ms < last->due_ms)
        frame->due_ms = last->due_ms;
    direction->count++;
}

static void pass_on(struct direction *direction)
{
    int64_t now_ms = monotonic_ms();

    while (direction->count > 0 && frame_at(direction, 0)->due_ms <= now_ms) {
        struct frame *frame = frame_at(direction, 0);

        /* An end that is down takes nothing. */
        if (write(direction->to, frame->bytes, (size_t)frame->length) < 0)
            frame->length = 0;
        direction->first = (direction->first + 1) % QUEUE_SIZE;
        direction->count--;
    }
}

static int time_to_next(void)
{
    int64_t next_ms = INT64_MAX, now_ms = monotonic_ms();

    for (int i = 0; i < ENDS; i++) {
        if (directions[i].count > 0 && frame_at(&directions[i], 0)->due_ms < next_ms)
            next_ms = frame_at(&directions[i], 0)->due_ms;
    }
    return next_ms == INT64_MAX ? -1 : next_ms <= now_ms ? 0 : (int)(next_ms - now_ms);
}

int main(int argc, char **argv)
{
    struct pollfd files[ENDS + 1];

    if (argc != 4)
        return 64;
    setvbuf(stdin, NULL, _IONBF, 0);
    directions[0].from = directions[1].to = make_end(argv[1]);
    directions[0].to = directions[1].from = make_end_in(argv[2], argv[3]);
    for (int i = 0; i < ENDS; i++)
        files[i] = (struct pollfd){.fd = directions[i].from, .events = POLLIN};
    files[ENDS] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    puts("ready");
    fflush(stdout);
    while (poll(files, ENDS + 1, time_to_next()) >= 0) {
        if (files[ENDS].revents && !obey())
            break;
        for (int i = 0; i < ENDS; i++) {
            if (files[i].revents & POLLIN)
                take(&directions[i]);
            pass_on(&directions[i]);
        }
    }
    return 0;
}
