#include "elect.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "clock.h"
#include "inherit.h"
#include "message.h"
#include "notify.h"
#include "options.h"
#include "waiting.h"

#define ROUND_VARIABLE "ZKLOCK_ELECT_ROUND"

enum { FIRST_PAUSE_MS = 500, LONGEST_PAUSE_MS = 30000, MOST_ROUNDS = 1000, CALM_MS = 60000 };

int elect_round(void)
{
    const char *text = getenv(ROUND_VARIABLE);
    int round = text ? atoi(text) : 0;

    unsetenv(ROUND_VARIABLE);
    if (round > MOST_ROUNDS)
        return MOST_ROUNDS;
    return round > 0 ? round : 0;
}

/* Doubles with each loss in a row; half of it by chance, so that those who lost together do not come back together. */
static int64_t pause_ms(int round)
{
    int64_t longest_ms = FIRST_PAUSE_MS;
    unsigned chance = 0;

    for (int i = 0; i < round && longest_ms < LONGEST_PAUSE_MS; i++)
        longest_ms *= 2;
    longest_ms = longest_ms < LONGEST_PAUSE_MS ? longest_ms : LONGEST_PAUSE_MS;
    if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) < 0)
        chance = (unsigned)clock_boottime_ns();
    return longest_ms / 2 + chance % (longest_ms / 2 + 1);
}

/* Returns the signal that ended it, or 0. */
static int pause_or_signal(int signal_fd, int64_t length_ms)
{
    int64_t until_ms = clock_boottime_ms() + length_ms;
    struct pollfd descriptor = {signal_fd, POLLIN, 0};
    int64_t left_ms;

    while ((left_ms = until_ms - clock_boottime_ms()) > 0) {
        int number;

        poll(&descriptor, 1, (int)left_ms);
        number = waiting_end_signal(signal_fd, NULL);
        if (number)
            return number;
    }
    return 0;
}

static int begin_again(int round, char **argv)
{
    char number[16];

    /* Never 0 again: only the first campaign ends where there is no server. */
    snprintf(number, sizeof(number), "%d", round < MOST_ROUNDS ? round : MOST_ROUNDS);
    setenv(ROUND_VARIABLE, number, 1);
    inherit_restore();
    execv("/proc/self/exe", argv);
    message_error("cannot begin again: %s", strerror(errno));
    return EXIT_SYSTEM;
}

int elect_conclude(const struct elect_end *end, char **argv)
{
    bool is_cut_off = end->round > 0 && end->failure == ZKLOCK_NO_SERVER;
    bool goes_on = end->was_lost || is_cut_off || end->failure == ZKLOCK_REMOVED;
    int round = end->led_ms >= CALM_MS ? 0 : end->round;
    int64_t length_ms = pause_ms(round);
    char seconds[32];
    int number;

    if (!goes_on)
        return end->status;
    number_print_seconds(length_ms, seconds, sizeof(seconds));
    notify_manager("STATUS=Campaigning again for %s", end->path);
    message_warn("%s: campaigning again in %s s", end->path, seconds);
    number = pause_or_signal(end->signal_fd, length_ms);
    return number ? 128 + number : begin_again(round + 1, argv);
}
