/* Who opens and closes the books of the demonstration: the process that started the workers. */
#ifndef CLI_DEMO_JUDGE_H
#define CLI_DEMO_JUDGE_H

#include "demo_counter.h"
#include "demo_options.h"

struct demo_judge {
    const struct demo_options *options;
    struct demo_counter *counter;
    zklock_session *session; /* NULL with --no-lock */
    zklock *lock;
    int lock_fd;
    int stop_fd;
};

/* Connects. Starts threads: no fork afterwards. Returns 0 or the exit status, having said why. */
int demo_judge_open(struct demo_judge *judge, const struct demo_options *options, const char *run,
                    int stop_fd);
void demo_judge_close(struct demo_judge *judge);

/* The balance at a moment at which nobody is inside: under the lock, if there is one. */
enum demo_result demo_judge_balance(struct demo_judge *judge, struct demo_balance *out_balance);

#endif
