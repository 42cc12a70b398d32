/* zklock elect: campaign again after each loss. Each campaign is a fresh image of the program under the same process
 * number, so that nothing of a lost one can be left over. */
#ifndef CLI_ELECT_H
#define CLI_ELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "zklock.h"

/* Takes the number of this campaign, from 0, out of the environment. Before anything is started. */
int elect_round(void);

struct elect_end {
    int status;       /* of this campaign */
    bool was_lost;    /* leadership, while the command ran */
    zklock_status failure; /* why there was none; ZKLOCK_OK: there was, or something else came first */
    int64_t led_ms;
    int round;
    int signal_fd;
    const char *path;
};

/* With everything of this campaign closed. Returns the exit status, or does not return: after a while, the next
 * campaign begins. `argv` is the whole program's. */
int elect_conclude(const struct elect_end *end, char **argv);

#endif
