#include "waiting.h"

#include <signal.h>
#include <sys/wait.h>

#include "signals.h"

static void reap(struct keeper *keeper)
{
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        if (keeper && pid == keeper->pid)
            keeper_forget(keeper);
    }
}

int waiting_end_signal(int signal_fd, struct keeper *keeper)
{
    int number;

    while ((number = signals_next(signal_fd)) != 0) {
        if (signals_ends_wait(number))
            return number;
        if (number == SIGCHLD)
            reap(keeper);
        else if (number == SIGTSTP && !signals_is_continue_pending())
            raise(SIGSTOP);
    }
    return 0;
}
